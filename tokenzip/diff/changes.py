"""From a pairing of nodes to the list of changes."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping

from tokenzip.diff import rules
from tokenzip.diff.aspects import Aspects, aspects
from tokenzip.diff.pairing import Pairing, are_comparable, pair
from tokenzip.diff.passing import changed_names
from tokenzip.diff.side import Node, Side
from tokenzip.model import Change, Progress, SymbolKey, no_progress
from tokenzip.snapshot import Snapshot, changed_paths
from tokenzip.snapshot.tree import GITLINK

_AHEAD = 300
"""Files of each end whose contents are read at once."""


def diff(base: Snapshot, head: Snapshot) -> tuple[Change, ...]:
    """How each symbol and file differs between two snapshots, ordered by path, file before symbols, and line.

    What did not change is not listed, however its lines shifted; nor is what only follows its file or class to a new name.
    ``diff(head, base)`` lists the same changes the other way round; only their effects may differ.
    """
    return compare(base, head).changes


class Comparison:
    """Two snapshots compared: the changes, and which key at the base is which at the head."""

    def __init__(self, base: Side, head: Side, paths: Iterable[str], progress: Progress = no_progress) -> None:
        self.base, self.head, self._progress = base, head, progress
        self.paths = tuple(paths)
        for side in (base, head):
            side.read_ahead(self.paths[:_AHEAD])
        self.pairing: Pairing = pair(base, head, self.paths)

    @functools.cached_property
    def changes(self) -> tuple[Change, ...]:
        """All that changed, in the order of `diff`."""
        return tuple(sorted(self._changes(), key=_order))

    def change_at(self, key: SymbolKey) -> Change | None:
        """The change of what is at the head under this key; None if it did not change or is not there."""
        file = self.head.file(key.path)
        node = file.named(key.qualified) if file is not None else None
        if node is None:
            return None
        base = self.pairing.bases.get(node)
        return self._pair(base, node) if base is not None else next(_lone(node, "added", self.pairing), None)

    def now(self, key: SymbolKey) -> SymbolKey | None:
        """The key at the head of a symbol or file of the base; None if it is gone."""
        return _counterpart(key, self.base, self.pairing.heads)

    def then(self, key: SymbolKey) -> SymbolKey | None:
        """The key at the base of a symbol or file of the head; None if it is new."""
        return _counterpart(key, self.head, self.pairing.bases)

    def _changes(self) -> Iterator[Change]:
        for node in self.pairing.removed:
            yield from _lone(node, "removed", self.pairing)
        for node in self.pairing.added:
            yield from _lone(node, "added", self.pairing)
        for side, other, change in ((self.base, self.pairing.heads, "removed"), (self.head, self.pairing.bases, "added")):
            for path in self.paths:
                file = side.known(path)
                if file is not None and file.root not in other:
                    yield from _lone(file.root, change, self.pairing)
        for base, head in self._pairs():
            change_of_pair = self._pair(base, head)
            if change_of_pair is not None:
                yield change_of_pair
            if base.symbol is None and base.file.facts.blob != head.file.facts.blob:
                yield from changed_names(base.file, head.file, self.now, self.then)

    def _pairs(self) -> Iterator[tuple[Node, Node]]:
        """All pairs, file by file, telling how far it is: without a total, since nothing of it is kept."""
        done = 0
        for base, head in sorted(self.pairing.heads.items(), key=lambda pair: (pair[0].file.path, pair[0].index)):
            if base.symbol is None:
                self._progress(f"comparing {len(self.paths):,} files", done, 0)
                done += 1
            yield base, head

    def _pair(self, base: Node, head: Node) -> Change | None:
        differing = aspects(base, head, self.pairing)
        names = differing.names()
        if not names or (base.is_local and head.is_local and _has_outer(base) and _has_outer(head)):
            return None
        effect, reasons = rules.verdict(self._findings(base, head, differing))
        return Change(
            key=head.key,
            old_key=base.key,
            kind=head.kind,
            change=names[0],
            also=names[1:],
            effect=effect,
            reasons=(*reasons, *_cautions(base, head)),
            line=head.line,
            old_line=base.line,
            test=head.is_test,
        )

    def _findings(self, base: Node, head: Node, differing: Aspects) -> list[rules.Finding]:
        return rules.changed(base, head, differing, self._kept(base, head, differing), self._renamed_types)

    @functools.cached_property
    def _renamed_types(self) -> dict[str, str]:
        """Old name -> new name of the types that were renamed."""
        pairs = ((base, head) for base, head in self.pairing.heads.items() if base.group == "type" and not base.is_local)
        return {base.name: head.name for base, head in pairs if base.name != head.name}

    def _kept(self, base: Node, head: Node, differing: Aspects) -> str:
        """How the old name still leads to what was renamed or moved; empty if it does not."""
        if not (differing.renamed or differing.moved) or base.symbol is None:
            return ""
        old = self.head.file(self._path_now(base.file.path))
        if old is None:
            return ""
        alias = old.named(base.plain_name)
        if alias is not None and alias is not head and rules.is_visible(alias):
            return "the old name is still there"
        if base.parent is not None and base.parent.symbol is not None:
            return self._inherited(base.parent, head) if base.name == head.name else ""
        name = base.name if old.facts.language == "python" else f"={base.name}"
        if old.path == head.file.path and name in self.head.snapshot.interface(old.path).names:
            return "the old name is still offered"
        for edge in self.head.snapshot.edges_from(SymbolKey(old.path)):
            leads = edge.target == head.key and edge.kind in ("imports", "exports")
            if leads and (edge.kind == "exports" or old.facts.language == "python") and base.name in (head.name, edge.detail):
                return "the old place passes it on"
        return ""

    def _inherited(self, container: Node, head: Node) -> str:
        """That the class which a member was in has it from where it went."""
        now = self.pairing.heads.get(container)
        pending, seen = [now.key] if now is not None else [], set[SymbolKey]()
        while pending and now is not None and head.parent is not None:
            for edge in self.head.snapshot.edges_from(pending.pop()):
                if edge.kind == "inherits" and edge.target == head.parent.key:
                    return f"`{now.name}` inherits it"
                if edge.kind == "inherits" and edge.target not in seen:
                    seen.add(edge.target)
                    pending.append(edge.target)
        return ""

    def _path_now(self, path: str) -> str:
        now = self.now(SymbolKey(path))
        return now.path if now is not None else path


def compare(base: Snapshot, head: Snapshot, paths: Iterable[str] | None = None, progress: Progress = no_progress) -> Comparison:
    """Compare two snapshots, or only the given `paths` of them. `progress` is told of each file, without a total."""
    with base.reading(), head.reading():
        return Comparison(Side(base), Side(head), changed_paths(base, head) if paths is None else paths, progress)


def _counterpart(key: SymbolKey, side: Side, paired: Mapping[Node, Node]) -> SymbolKey | None:
    file = side.known(key.path)
    if file is None:
        return key
    node = file.named(key.qualified)
    other = paired.get(node) if node is not None else None
    if other is not None:
        return other.key
    root = paired.get(file.root)
    if root is not None and (node is None or not are_comparable(file.root, root)):
        return SymbolKey(root.file.path, key.qualified)
    return None


def _lone(node: Node, change: str, pairing: Pairing) -> Iterator[Change]:
    """The change of what stands on one side only."""
    if node.is_local and _has_outer(node):
        return  # the function around it has changed, which says it
    gone = change == "removed"
    effect, reasons = rules.verdict([rules.removed(node) if gone else rules.added(node)])
    yield Change(
        key=node.key,
        old_key=node.key if gone else None,
        kind=node.kind,
        change=change,
        also=(),
        effect=effect,
        reasons=reasons,
        line=node.line,
        old_line=node.line if gone else 0,
        within=_container(node, pairing.heads if gone else pairing.bases),
        test=node.is_test,
    )


def _container(node: Node, paired: Mapping[Node, Node]) -> SymbolKey | None:
    """The class that a member comes or goes with: it has no partner, or one that cannot have members (a type alias)."""
    parent = node.parent
    if parent is None or parent.symbol is None:
        return None
    other = paired.get(parent)
    return parent.key if other is None or (other.kind != parent.kind and not other.children) else None


def _has_outer(node: Node) -> bool:
    """Whether a symbol that is not local stands around a local one."""
    above = node.parent
    while above is not None and above.symbol is not None:
        if not above.is_local:
            return True
        above = above.parent
    return False


def _cautions(base: Node, head: Node) -> Iterator[str]:
    if base.symbol is not None:
        return
    if base.file.facts.mode == head.file.facts.mode == GITLINK:
        yield f"submodule at {head.file.facts.blob[:10]}, before at {base.file.facts.blob[:10]}"
    for file, end in ((base.file, "base"), (head.file, "head")):
        if file.facts.status in ("failed", "partial") or (file.facts.language and file.facts.status == "skipped"):
            yield f"{file.facts.status} at the {end}: {file.facts.reason or 'syntax errors'}"


def _order(change: Change) -> tuple[object, ...]:
    return change.key.path, bool(change.key.qualified), change.line, change.key.qualified, change.change
