"""Counting over a whole snapshot: sizes, languages, use. Kept in the store by tree, and brought up to date for a work tree.

Everything in a `Survey` is a sum over files, so that the survey of a state with uncommitted work is that of its commit, less
what the changed files gave to it, plus what they give now.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import posixpath
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tokenzip import walk
from tokenzip.errors import StoreError
from tokenzip.items import Item

if TYPE_CHECKING:
    from tokenzip.snapshot import File, Measured, Snapshot

FORMAT = 1
"""Of the kept form; grows whenever what is counted changes, so that older ones are not found."""
KEPT_USERS = 400
"""Symbols whose number of users is kept: the most used ones, far more than any answer lists."""
PACKAGE_STEMS = ("__init__", "index", "mod", "lib")
ENTRY_STEMS = ("__main__", "manage", "main", "cli", "server", "app", "wsgi", "asgi", *PACKAGE_STEMS)
"""Base names (without suffix) of files where programs and packages begin, by the customs of their languages."""
PASSING_ON = frozenset({"imports", "exports"})
Name = tuple[str, str]
"""Path and qualified name of a symbol."""


@dataclass(slots=True)
class Tally:
    """Sizes of some files, summed up."""

    files: int = 0
    lines: int = 0
    symbols: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    """Lines by language."""

    def add(self, file: Measured | File, sign: int) -> None:
        self.files += sign
        self.lines += sign * file.extent.lines
        self.symbols += sign * file.extent.symbols
        if file.is_source and file.language is not None:
            self.languages[file.language] += sign * file.extent.lines

    def join(self, other: Tally) -> None:
        """Add the sizes of other files."""
        self.files += other.files
        self.lines += other.lines
        self.symbols += other.symbols
        for language, lines in other.languages.items():
            self.languages[language] += lines

    def without(self, other: Tally) -> Tally:
        """The sizes of what remains without some of the files."""
        return Tally(self.files - other.files, self.lines - other.lines, self.symbols - other.symbols)

    def item(self) -> Item:
        return {"files": self.files, "lines": self.lines, "symbols": self.symbols}

    @property
    def main_language(self) -> str | None:
        """The language with most lines; None if no file has a known one."""
        return min(+self.languages, key=lambda name: (-self.languages[name], name), default=None)


@dataclass(slots=True)
class Survey:
    """Sums over the files of a snapshot."""

    total: Tally = field(default_factory=Tally)
    modules: dict[str, Tally] = field(default_factory=dict)
    directories: dict[str, Tally] = field(default_factory=dict)
    """By directory, everything below it."""
    languages: dict[str, Tally] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By status and reason, what was not wholly parsed."""
    resolved: Counter[str] = field(default_factory=Counter)
    """Edges by language."""
    unresolved: Counter[str] = field(default_factory=Counter)
    """References by language that may mean something in the repository and have no edge."""
    between: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Edges from one module to another."""
    weights: Counter[str] = field(default_factory=Counter)
    """Edges that lead to a file from other files."""
    users: Counter[Name] = field(default_factory=Counter)
    """How many symbols outside tests use a symbol; only those above `unknown_below` are sure to be here."""
    unknown_below: int = 0
    """A symbol that is not among `users` has no more users than this."""
    entries: Counter[str] = field(default_factory=Counter)
    """Files where a reader may begin."""
    faulty: Counter[str] = field(default_factory=Counter)
    """Source files that were read in part or not at all, against expectation."""

    def count(
        self, snapshot: Snapshot, file: Measured, module_of: Callable[[str], str], sign: int = 1, *, above: bool = True
    ) -> None:
        """Add what a file gives to each sum; with a `sign` of -1 take it away. Unless `above`, only to its own directory's."""
        module = module_of(file.path)
        for tally in self._tallies(file, module, above=above):
            tally.add(file, sign)
        status = file.extent.status
        self.statuses[status] += sign
        if status != "parsed":
            self.reasons[status, file.extent.reason or "has errors"] += sign
        if not file.is_source:
            return
        if status in {"partial", "failed"}:
            self.faulty[file.path] += sign
        if entry_rank(file.path) is not None and not file.is_test and status != "failed":
            self.entries[file.path] += sign
        if status in {"parsed", "partial"}:
            self._count_edges(snapshot, file, module, module_of, sign)

    def _tallies(self, file: Measured, module: str, *, above: bool) -> Iterator[Tally]:
        yield self.total
        yield _tally_in(self.modules, module)
        if file.is_source and file.language is not None:
            yield _tally_in(self.languages, file.language)
        directory = file.path
        while directory:
            directory = directory[: max(directory.rfind("/"), 0)]
            yield _tally_in(self.directories, directory)
            if not above:
                return

    def roll_up(self) -> None:
        """Add what was counted of each directory alone to those above it."""
        below: dict[int, list[str]] = {}
        for directory in self.directories:
            below.setdefault(_depth(directory), []).append(directory)
        for depth in range(max(below, default=0), 0, -1):
            for directory in below.get(depth, ()):
                above = directory[: max(directory.rfind("/"), 0)]
                if above not in self.directories:
                    below.setdefault(depth - 1, []).append(above)
                _tally_in(self.directories, above).join(self.directories[directory])

    def _count_edges(self, snapshot: Snapshot, file: Measured, module: str, module_of: Callable[[str], str], sign: int) -> None:
        path, language = file.path, file.language or ""
        uses = snapshot.uses(file)  # columns, not records: there may be millions
        totals: Counter[str] = Counter()
        for number, count in Counter(uses.targets).items():
            totals[uses.table[number][0]] += count
        for target, count in totals.items():
            if target != path:
                self.weights[target] += sign * count
                other = module_of(target)
                if other != module:
                    self.between[module, other] += sign * count
        if not file.is_test:
            columns = zip(uses.sources, uses.kinds, uses.targets, strict=True)
            used = {(source, target) for source, kind, target in columns if kind not in PASSING_ON}
            for number, count in Counter([target for _, target in used]).items():
                target, name = uses.table[number]
                if name:
                    self.users[sys.intern(target), name] += sign * count
        self.resolved[language] += sign * len(uses.targets)
        self.unresolved[language] += sign * sum(times for reason, times in uses.open if reason in walk.OPEN_REASONS)

    def most_used(self) -> Iterator[tuple[Name, int]]:
        """Symbols with their users, the most used first; ends where the order is no longer sure."""
        by_count: dict[int, list[Name]] = {}
        for name, count in self.users.items():
            by_count.setdefault(count, []).append(name)
        for count in sorted(by_count, reverse=True):
            if count <= max(self.unknown_below, 0):
                return
            for name in sorted(by_count[count]):
                yield name, count


def _tally_in(tallies: dict[str, Tally], name: str) -> Tally:
    found = tallies.get(name)
    if found is None:
        found = tallies[name] = Tally()
    return found


def _depth(directory: str) -> int:
    return directory.count("/") + 1 if directory else 0


def entry_rank(path: str) -> int | None:
    """The place of a file's base name among those where programs and packages begin; None for any other."""
    stem = posixpath.basename(path).partition(".")[0]
    return ENTRY_STEMS.index(stem) if stem in ENTRY_STEMS else None


def survey(snapshot: Snapshot, *, whole: bool = False) -> Survey:
    """The survey of a snapshot, from the store where it is kept. `whole` counts anew, with the users of every symbol."""
    if whole or snapshot.tree is None:
        return _counted(snapshot)
    base = snapshot.with_overlay({}) if snapshot.overlay else snapshot
    kept = _kept(base)
    if not snapshot.overlay:
        return kept
    if base.modules().all() != snapshot.modules().all():
        return _counted(snapshot)
    return _brought_up_to_date(kept, base, snapshot)


def resolved_shares(seen: Survey) -> Iterator[tuple[str, int, int, float]]:
    """For each language with references inside the repository: how many have a known target, how many not, and the share."""
    for name in sorted({*+seen.resolved, *+seen.unresolved}):
        resolved, unresolved = seen.resolved[name], seen.unresolved[name]
        yield name, resolved, unresolved, round(resolved / (resolved + unresolved), 3)


def _counted(snapshot: Snapshot) -> Survey:
    result = Survey()
    module_of = _module_of(snapshot)
    for file in snapshot.measured():
        result.count(snapshot, file, module_of, above=False)
    result.roll_up()
    return result


def _module_of(snapshot: Snapshot) -> Callable[[str], str]:
    """The directory of the module that a path belongs to, remembered by path."""
    modules = snapshot.modules()
    return functools.cache(lambda path: modules.module_of(path).path)


def _brought_up_to_date(kept: Survey, base: Snapshot, snapshot: Snapshot) -> Survey:
    """The survey of the base with the files of the overlay exchanged."""
    result = copy.deepcopy(kept)
    known = set(result.users)
    module_of = _module_of(snapshot)
    for path in sorted(snapshot.overlay):
        for state, sign in ((base, -1), (snapshot, 1)):
            file = state.measure(path)
            if file is not None:
                result.count(state, file, module_of, sign)
    gained = max((count for name, count in result.users.items() if name not in known), default=0)
    if kept.unknown_below:
        result.users = Counter({name: count for name, count in result.users.items() if name in known})
        result.unknown_below += max(gained, 0)
    return result


# The kept form: JSON, compressed.


def _kept(snapshot: Snapshot) -> Survey:
    from tokenzip.index import analysis_tag

    key = f"survey {FORMAT} {analysis_tag().hex()} {snapshot.tree}"
    with snapshot.reading() as reading:
        data = reading.meta(key)
    if data is not None:
        return _loaded(json.loads(zlib.decompress(data)))
    result = _counted(snapshot)
    if len(result.users) > KEPT_USERS:
        ordered = result.users.most_common()
        floor = ordered[KEPT_USERS][1]
        result.users = Counter({name: count for name, count in ordered[:KEPT_USERS] if count > floor})
        result.unknown_below = floor
    data = zlib.compress(json.dumps(_dumped(result)).encode())
    with contextlib.suppress(StoreError):  # a store that cannot be written to only has to count again
        snapshot.store.write(lambda writing: writing.put_meta(key, data), patience=1.0)
    return result


_TALLIES = ("modules", "directories", "languages")
_BY_NAME = ("statuses", "resolved", "unresolved", "weights", "entries", "faulty")
_BY_PAIR = ("reasons", "between", "users")


def _dumped(result: Survey) -> dict[str, Any]:
    def tally(each: Tally) -> list[Any]:
        return [each.files, each.lines, each.symbols, dict(each.languages)]

    return {
        "total": tally(result.total),
        "unknown_below": result.unknown_below,
        **{name: {key: tally(each) for key, each in getattr(result, name).items()} for name in _TALLIES},
        **{name: dict(getattr(result, name)) for name in _BY_NAME},
        **{name: [[*pair, count] for pair, count in getattr(result, name).items()] for name in _BY_PAIR},
    }


def _loaded(held: dict[str, Any]) -> Survey:
    def tally(row: list[Any]) -> Tally:
        return Tally(row[0], row[1], row[2], Counter(row[3]))

    result = Survey(total=tally(held["total"]), unknown_below=held["unknown_below"])
    for name in _TALLIES:
        setattr(result, name, {key: tally(row) for key, row in held[name].items()})
    for name in _BY_NAME:
        setattr(result, name, Counter(held[name]))
    for name in _BY_PAIR:
        setattr(result, name, Counter({(first, second): count for first, second, count in held[name]}))
    return result
