"""The symbols one step away from some files: what these use, who uses them, their tests, types and documentation.

Within a role the strongest edges come first: of a telling kind, with many sites, to files that go with the given ones anyway.
The roles come in rounds, so that any beginning of the list holds of each what its need deserves.
"""

from __future__ import annotations

import math
import posixpath
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenzip import walk
from tokenzip.context.related import DOCUMENTS, Related
from tokenzip.impact import Graph
from tokenzip.model import NO_DEFINITION, Edge, Flag, SymbolKey
from tokenzip.snapshot.keys import OPEN_REASONS, open_key

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

ROLES: Mapping[str, int] = {"uses": 8, "used_by": 5, "test": 3, "type": 3, "doc": 1}
"""The roles in the order of need, and how many of each a round of the list has while there are some."""
_TYPES = frozenset({"class", "interface", "type_alias", "enum", "struct", "trait"})
_KINDS = {
    "inherits": 1.0,
    "implements": 1.0,
    "calls": 1.0,
    "overrides": 1.0,
    "references": 0.8,
    "decorates": 0.8,
    "imports": 0.3,
    "exports": 0.3,
}
_OTHER_KIND = 0.6
_WEAK = frozenset({"imports", "exports"})
_LOOKED_AT = 100
"""Files in which open references are counted one by one."""
_UNNAMED = "protocol"
"""Detail of edges to what ``with`` and ``for`` call."""
_ASKED = 1000.0
"""More than any weight: what is next to a symbol that was asked about."""


@dataclass(frozen=True, slots=True)
class Need:
    """A symbol (or module-level code: a file) next to the given files."""

    key: SymbolKey
    role: str
    """One of `ROLES`."""
    edges: tuple[Edge, ...]
    """Between it and the given files."""

    @property
    def is_backward(self) -> bool:
        """Whether it uses the given files; else it is used by them."""
        return self.role in {"used_by", "test", "doc"}

    @property
    def own(self) -> tuple[SymbolKey, ...]:
        """The ends of its edges inside the given files, the most frequent first."""
        ends = [edge.target if self.is_backward else edge.source for edge in self.edges]
        return tuple(sorted(set(ends), key=lambda end: (-ends.count(end), end)))


def needed(snapshot: Snapshot, given: Collection[str], related: Related, about: Collection[SymbolKey] = ()) -> tuple[Need, ...]:
    """All symbols one step away, in the order of need; of each role those next to the symbols that it is `about` first."""
    about_them = frozenset(about)
    with snapshot.reading():
        best = max((each.score for each in related.files), default=1.0) or 1.0
        closeness = {each.path: max(each.score, 0.0) / best for each in related.files}
        roles: dict[str, list[tuple[float, Need]]] = {role: [] for role in ROLES}
        for need in (*_outgoing(snapshot, given), *_incoming(snapshot, related)):
            weight = _weight(need, closeness.get(need.key.path, 0.0))
            roles[need.role].append((weight + (_ASKED if not about_them.isdisjoint(need.own) else 0.0), need))
        return tuple(_merged(roles))


def _weight(need: Need, closeness: float) -> float:
    kinds = {edge.kind for edge in need.edges}
    strength = max(_KINDS.get(kind, _OTHER_KIND) for kind in kinds)
    sites = len({(edge.source, edge.line) for edge in need.edges})
    return strength * (1 + math.log1p(sites)) * (0.5 + closeness)


def _merged(roles: Mapping[str, list[tuple[float, Need]]]) -> Iterator[Need]:
    """One list of all in rounds, each with the next few of every role in the order of need."""
    order = list(ROLES)
    placed: list[tuple[int, int, int, Need]] = []
    for role, found in roles.items():
        found.sort(key=lambda pair: (-round(pair[0], 9), pair[1].key))
        placed.extend((place // ROLES[role], order.index(role), place, need) for place, (_, need) in enumerate(found))
    placed.sort(key=lambda each: each[:3])
    return (need for *_, need in placed)


def _outgoing(snapshot: Snapshot, given: Collection[str]) -> Iterator[Need]:
    """What the given files use: not the files that they merely import, nor what a statement calls without naming it."""
    ends: dict[SymbolKey, list[Edge]] = {}
    for path in given:
        for edge in snapshot.file_edges(path):
            if edge.target.path not in given and edge.target.qualified and edge.detail != _UNNAMED:
                ends.setdefault(edge.target, []).append(edge)
    for key, edges in sorted(ends.items()):
        symbol = snapshot.symbol(key)
        if symbol is not None and symbol.kind not in NO_DEFINITION:
            is_called = any(edge.kind == "calls" for edge in edges)
            yield Need(key, "type" if symbol.kind in _TYPES and not is_called else "uses", tuple(edges))


def _incoming(snapshot: Snapshot, related: Related) -> Iterator[Need]:
    """Who uses the given files."""
    graph = Graph(snapshot)
    ends: dict[SymbolKey, list[Edge]] = {}
    for path, rows in related.users.items():
        symbols = walk.symbols_of(snapshot, path)
        for row in rows:
            source = symbols[row.source].key if 0 <= row.source < len(symbols) else SymbolKey(path)
            edge = Edge(source, SymbolKey(row.path, row.qualified), row.kind, row.tier, row.line, row.detail)
            ends.setdefault(graph.outermost(source), []).append(edge)
    told = {key.path for key in ends if key.qualified}
    for key, edges in sorted(ends.items()):
        if not key.qualified and key.path in told and all(edge.kind in _WEAK for edge in edges):
            continue  # it imports something, and one of its symbols says what for
        yield Need(key, _role_of_user(snapshot, key), tuple(edges))


def _role_of_user(snapshot: Snapshot, key: SymbolKey) -> str:
    if posixpath.splitext(key.path)[1].lower() in DOCUMENTS:
        return "doc"
    return "test" if walk.is_test(snapshot, key) else "used_by"


def open_count(snapshot: Snapshot, given: Collection[str], related: Related) -> int:
    """References without a known target that could be more: those in the given files, and those elsewhere by their names.

    Of many files with the latter some are looked at, first those that use the given ones; the others count as one each.
    """
    with snapshot.reading():
        inside = sum(times for path in given for times in walk.open_counts(snapshot, path))
        names = {
            symbol.name
            for path in given
            for symbol in walk.symbols_of(snapshot, path)
            if symbol.kind not in NO_DEFINITION and not symbol.flags & Flag.LOCAL
        }
        paths = [path for path in snapshot.paths_posted(map(open_key, names)) if path not in given]
        paths.sort(key=lambda path: (path not in related.users, path))
        outside = sum(
            reference.times
            for path in paths[:_LOOKED_AT]
            for reference in snapshot.link(path).open
            if reference.name in names and reference.reason in OPEN_REASONS
        )
        return inside + outside + len(paths[_LOOKED_AT:])
