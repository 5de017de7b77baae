"""Which node at the base is which at the head: one to one, and the same pairs whichever end is called the base.

Files first (same path, same blob, alike content), then symbols from the outside in: members of a pair are paired by name, and
what is left over on both sides is paired by content, wherever it lies. Nothing here depends on the order of a set or on
which side is which: ties are broken by the pair's own keys, the smaller one first.
"""

from __future__ import annotations

import itertools
import posixpath
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tokenzip.diff.side import FileSide, Node, Side

FILE_SIMILARITY = 0.5
"""Share of lines, or of source in symbols of equal content, above which a gone file and a new one are one file (as in git)."""
LARGEST_TEXT = 1_000_000
"""Bytes; larger files are one file only if they are equal."""
NAMED_SIMILARITY = 0.4
"""Likeness (`Bigrams.likeness`) above which two symbols of one name in different places are one symbol."""
NEAR_SIMILARITY = 0.6
"""The same for another name in the same container ..."""
FAR_SIMILARITY = 0.7
"""... and for another name in another place."""
BODY_SIMILARITY = 0.6
"""Another name needs that much in the body alone: decorators and parameters are alike in many a small method."""
SMALL = 12
"""Words; what has fewer is like many others, so its content alone says nothing."""
MANY = 40_000
"""Pairs to compare one by one; with more on both sides, only those with a rare pair of words in common are compared."""
RARE = 12
"""Number of symbols of one side in which a rare pair of words occurs at most."""


@dataclass
class Pairing:
    """What belongs together."""

    heads: dict[Node, Node] = field(default_factory=dict)
    """Node at the base -> node at the head, files included."""
    bases: dict[Node, Node] = field(default_factory=dict)
    removed: list[Node] = field(default_factory=list)
    added: list[Node] = field(default_factory=list)

    def join(self, base: Node, head: Node) -> None:
        self.heads[base] = head
        self.bases[head] = base

    def is_same_place(self, base: Node, head: Node) -> bool:
        """Whether the nodes above both are a pair."""
        return base.parent is not None and head.parent is not None and self.heads.get(base.parent) is head.parent


def pair(base: Side, head: Side, paths: Iterable[str]) -> Pairing:
    """Pair all files and symbols of the given paths."""
    pairing = Pairing()
    gone, new = _pair_files(pairing, base, head, paths)
    _Symbols(pairing).run(gone, new)
    return pairing


# ---- files


def _pair_files(pairing: Pairing, base: Side, head: Side, paths: Iterable[str]) -> tuple[list[FileSide], list[FileSide]]:
    """Join the files; what is left is gone or new."""
    gone: list[FileSide] = []
    new: list[FileSide] = []
    for path in sorted(set(paths)):
        before, after = base.file(path), head.file(path)
        if before is not None and after is not None:
            pairing.join(before.root, after.root)
        elif before is not None:
            gone.append(before)
        elif after is not None:
            new.append(after)
    for scored in (_same_blobs, _alike_files, _moved_with_directory):
        for one, other in _one_to_one(scored(pairing, gone, new)):
            pairing.join(one.root, other.root)
        gone = [file for file in gone if file.root not in pairing.heads]
        new = [file for file in new if file.root not in pairing.bases]
    return gone, new


_Scored = tuple[tuple[float, ...], FileSide, FileSide]


def _one_to_one(scored: Iterable[_Scored]) -> Iterator[tuple[FileSide, FileSide]]:
    """The best pairs first; each file once."""
    taken: set[tuple[bool, str]] = set()
    for _, one, other in sorted(scored, key=lambda row: (row[0], *sorted((row[1].path, row[2].path)))):
        if (False, one.path) not in taken and (True, other.path) not in taken:
            taken.update(((False, one.path), (True, other.path)))
            yield one, other


def _distance(one: FileSide, other: FileSide) -> tuple[bool, bool]:
    return (
        posixpath.basename(one.path) != posixpath.basename(other.path),
        posixpath.dirname(one.path) != posixpath.dirname(other.path),
    )


def _same_blobs(_: Pairing, gone: list[FileSide], new: list[FileSide]) -> Iterator[_Scored]:
    by_blob: dict[str, list[FileSide]] = defaultdict(list)
    for file in new:
        by_blob[file.facts.blob].append(file)
    for file in gone:
        if file.size:
            yield from ((_distance(file, other), file, other) for other in by_blob[file.facts.blob])


def _alike_files(_: Pairing, gone: list[FileSide], new: list[FileSide]) -> Iterator[_Scored]:
    few = len(gone) * len(new) <= MANY // 10
    for one, other in itertools.product(gone, new):
        if one.facts.language != other.facts.language:
            continue
        distance = _distance(one, other)
        if few or not all(distance):
            share = _file_similarity(one, other)
            if share > FILE_SIMILARITY:
                yield (-share, *distance), one, other


def _file_similarity(one: FileSide, other: FileSide) -> float:
    largest = max(one.size, other.size)
    if not largest or largest > LARGEST_TEXT or min(one.size, other.size) < largest * FILE_SIMILARITY:
        return 0.0
    return max(_share(_contents(one), _contents(other)), _share(_lines(one), _lines(other)))


def _contents(file: FileSide) -> Counter[object]:
    """Top-level symbols by name-free content, weighed by their size."""
    weights: Counter[object] = Counter()
    for node in file.root.children:
        if node.length >= SMALL:
            weights[node.group, node.hashes[1]] += node.length
    return weights


def _lines(file: FileSide) -> Counter[object]:
    """Lines without indentation, each weighed by its length, so that lone brackets say little."""
    weights: Counter[object] = Counter()
    for line in file.source.splitlines():
        stripped = line.strip()
        weights[stripped] += len(stripped)
    return weights


def _share(one: Counter[object], other: Counter[object]) -> float:
    largest = max(one.total(), other.total())
    return (one & other).total() / largest if largest else 0.0


def _moved_with_directory(pairing: Pairing, gone: list[FileSide], new: list[FileSide]) -> Iterator[_Scored]:
    """Files of one name in directories of which most other files moved from one to the other: an empty ``__init__.py``."""
    moves = {
        (posixpath.dirname(before.file.path), posixpath.dirname(after.file.path))
        for before, after in pairing.heads.items()
        if before.symbol is None and posixpath.dirname(before.file.path) != posixpath.dirname(after.file.path)
    }
    by_name: dict[str, list[FileSide]] = defaultdict(list)
    for file in new:
        by_name[posixpath.basename(file.path)].append(file)
    for file in gone:
        for other in by_name[posixpath.basename(file.path)]:
            if (
                posixpath.dirname(file.path),
                posixpath.dirname(other.path),
            ) in moves and not file.size + other.size:
                yield (0,), file, other


# ---- symbols


class _Symbols:
    """Pairs the symbols of files, from the outside in."""

    def __init__(self, pairing: Pairing) -> None:
        self._pairing = pairing
        self._removed: dict[Node, None] = {}
        self._added: dict[Node, None] = {}
        self._odd: list[tuple[Node, Node]] = []
        """Same name and place, but of another kind: a pair only if neither turns up elsewhere."""
        self._opened: set[Node] = set()

    def run(self, gone: list[FileSide], new: list[FileSide]) -> None:
        """Fill the pairing."""
        open_pairs = [(before, after) for before, after in self._pairing.heads.items() if are_comparable(before, after)]
        self._removed.update((node, None) for file in gone if file.is_read for node in file.root.children)
        self._added.update((node, None) for file in new if file.is_read for node in file.root.children)
        while True:
            while open_pairs:
                open_pairs.extend(self._pair_members(*open_pairs.pop()))
            open_pairs = self._pair_by_content()
            if not open_pairs and not self._open_leftovers():
                break
        self._join_odd()
        self._join_by_members()
        self._pairing.removed = sorted((node for node in self._removed), key=lambda node: node.key)
        self._pairing.added = sorted((node for node in self._added), key=lambda node: node.key)

    def _join(self, base: Node, head: Node) -> tuple[Node, Node]:
        self._pairing.join(base, head)
        self._removed.pop(base, None)
        self._added.pop(head, None)
        return base, head

    def _pair_members(self, base: Node, head: Node) -> list[tuple[Node, Node]]:
        """Pair the members of a pair by name; the others become candidates."""
        before, after = _by_name(base, self._pairing.heads), _by_name(head, self._pairing.bases)
        pairs: list[tuple[Node, Node]] = []
        for name in before.keys() | after.keys():
            ones, others = before.get(name, []), after.get(name, [])
            for group in sorted({node.group for node in (*ones, *others)}):
                pairs += self._pair_overloads([n for n in ones if n.group == group], [n for n in others if n.group == group])
            left = [node for node in ones if node not in self._pairing.heads]
            right = [node for node in others if node not in self._pairing.bases]
            if left and right and left[0].is_attribute and right[0].is_attribute:
                pairs.append(self._join(left.pop(0), right.pop(0)))
            self._odd += zip(left, right, strict=False)
            self._removed.update((node, None) for node in left)
            self._added.update((node, None) for node in right)
        return pairs

    def _pair_overloads(self, ones: list[Node], others: list[Node]) -> list[tuple[Node, Node]]:
        """Pair symbols of one name: equal ones first, then the most alike, so that a new overload moves no neighbour."""
        if len(ones) == 1 and len(others) == 1:
            return [self._join(ones[0], others[0])]
        scored = []
        for (place, one), (other_place, other) in itertools.product(enumerate(ones), enumerate(others)):
            equal = (one.hashes == other.hashes) + (one.hashes[0] == other.hashes[0]) + (one.kind == other.kind)
            alike = 1.0 if one.hashes == other.hashes else one.bigrams.likeness(other.bigrams)
            scored.append((-equal, -alike, abs(place - other_place), place + other_place, one, other))
        scored.sort(key=lambda row: row[:4])
        pairs = []
        for *_, one, other in scored:
            if one not in self._pairing.heads and other not in self._pairing.bases:
                pairs.append(self._join(one, other))
        return pairs

    def _pair_by_content(self) -> list[tuple[Node, Node]]:
        """Pair what is left over on both sides, wherever it lies: the same content first, then the most alike."""
        pairs: list[tuple[Node, Node]] = []
        for candidates in (self._equal_candidates, self._alike_candidates):
            for _, base, head in sorted(candidates(), key=lambda row: (row[0], *sorted((row[1].key, row[2].key)))):
                if base in self._removed and head in self._added:
                    pairs.append(self._join(base, head))
        return pairs

    def _equal_candidates(self) -> Iterator[tuple[tuple[float, ...], Node, Node]]:
        before, after = _by_content(self._removed), _by_content(self._added)
        for content, ones in before.items():
            others = after.get(content, ())
            only = len(ones) == 1 and len(others) == 1
            crowd = len(ones) * len(others) > MANY
            for one, other in itertools.product(ones, others):
                same_name, near = one.name == other.name, self._pairing.is_same_place(one, other)
                if not (same_name or (not crowd and (one.length >= SMALL or (near and only)))) or _both_local(one, other):
                    continue
                yield self._rank(one, other, 1.0), one, other

    def _alike_candidates(self) -> Iterator[tuple[tuple[float, ...], Node, Node]]:
        for one, other in self._worth_comparing():
            same_name, near = one.name == other.name, self._pairing.is_same_place(one, other)
            needed = NAMED_SIMILARITY if same_name else NEAR_SIMILARITY if near else FAR_SIMILARITY
            shortest, longest = (one.length, other.length) if one.length < other.length else (other.length, one.length)
            if (shortest < SMALL and not same_name) or 2 * shortest < needed * (shortest + longest) or _both_local(one, other):
                continue
            alike = one.bigrams.likeness(other.bigrams)
            if alike >= needed and (same_name or one.body_bigrams.likeness(other.body_bigrams) >= BODY_SIMILARITY):
                yield self._rank(one, other, alike), one, other

    def _rank(self, one: Node, other: Node, alike: float) -> tuple[float, ...]:
        """Sorts the most plausible pair first: outer before inner, likeness, name, nearness, order in the file."""
        return (
            -round(alike + 0.2 * (one.name == other.name), 6),
            not self._pairing.is_same_place(one, other),
            one.file.path != other.file.path,
            one.kind != other.kind,
            abs(one.index - other.index),
        )

    def _worth_comparing(self) -> Iterator[tuple[Node, Node]]:
        """Pairs of one group and language: all of them, or where those are many, those with something rare in common."""
        others = _by_group(self._added)
        for group, left in _by_group(self._removed).items():
            right = others.get(group, [])
            yield from itertools.product(left, right) if len(left) * len(right) <= MANY else _with_something_rare(left, right)

    def _open_leftovers(self) -> bool:
        """Members of what found no partner become candidates themselves; False if there are none."""
        opened = False
        for pool in (self._removed, self._added):
            for node in [node for node in pool if node not in self._opened]:
                self._opened.add(node)
                opened = opened or bool(node.children)
                pool.update((child, None) for child in node.children)
        return opened

    def _join_odd(self) -> None:
        """What kept its name and place but became another kind of thing, and was found nowhere else."""
        for base, head in self._odd:
            if base in self._removed and head in self._added:
                self._join(base, head)

    def _join_by_members(self) -> None:
        """Classes in the same place that are left over, and most of whose members are pairs."""
        shared = Counter(
            (base.parent, head.parent)
            for base, head in self._pairing.heads.items()
            if base.parent in self._removed and head.parent in self._added
        )
        for (base, head), count in sorted(shared.items(), key=lambda row: (-row[1], *(node.key for node in row[0] if node))):
            if base is None or head is None or base not in self._removed or head not in self._added:
                continue
            largest = max(len(base.children), len(head.children))
            if base.group == head.group and self._pairing.is_same_place(base, head) and 2 * count > largest:
                self._join(base, head)


def are_comparable(before: Node, after: Node) -> bool:
    """Whether both files could be read: symbols that a syntax error hid have not been removed."""
    return before.file.is_read and after.file.is_read


def _by_name(container: Node, paired: Mapping[Node, Node]) -> dict[str, list[Node]]:
    names: dict[str, list[Node]] = defaultdict(list)
    for node in container.children:
        if node not in paired:
            names[node.name].append(node)
    return names


def _by_content(nodes: Iterable[Node]) -> dict[tuple[str, int], list[Node]]:
    contents: dict[tuple[str, int], list[Node]] = defaultdict(list)
    for node in nodes:
        contents[node.group, node.hashes[1]].append(node)
    return contents


def _by_group(nodes: Iterable[Node]) -> dict[tuple[str, str | None], list[Node]]:
    groups: dict[tuple[str, str | None], list[Node]] = defaultdict(list)
    for node in nodes:
        groups[node.group, node.file.facts.language].append(node)
    return groups


def _with_something_rare(left: Collection[Node], right: Collection[Node]) -> Iterator[tuple[Node, Node]]:
    """Pairs with a name or a rare pair of words in common, each once."""
    seen: set[tuple[Node, Node]] = set()
    for keys_of in (_name_of, _bigrams_of):
        before, after = _rare(left, keys_of), _rare(right, keys_of)
        for key, ones in before.items():
            for candidate in itertools.product(ones, after.get(key, ())):
                if candidate not in seen:
                    seen.add(candidate)
                    yield candidate


def _name_of(node: Node) -> Iterable[object]:
    return (node.name,)


def _bigrams_of(node: Node) -> Iterable[object]:
    return node.bigrams.counts


def _rare(nodes: Collection[Node], keys_of: Callable[[Node], Iterable[object]]) -> dict[object, list[Node]]:
    holders: dict[object, list[Node]] = defaultdict(list)
    for node in nodes:
        for key in keys_of(node):
            holders[key].append(node)
    return {key: found for key, found in holders.items() if len(found) <= RARE}


def _both_local(one: Node, other: Node) -> bool:
    return one.is_local and other.is_local
