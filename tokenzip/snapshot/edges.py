"""Edges of a snapshot by what they start from and what they lead to, from the link records of its files."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from typing import Protocol

from tokenzip.model import Edge, EdgeRow, Symbol, SymbolKey
from tokenzip.snapshot.file import File
from tokenzip.snapshot.keys import edge_key
from tokenzip.store import LinkRecord, ReadTransaction


class _Snapshot(Protocol):
    def reading(self) -> contextlib.AbstractContextManager[ReadTransaction]: ...
    def file(self, path: str) -> File | None: ...
    def symbol(self, key: SymbolKey) -> Symbol | None: ...
    def link(self, path: str) -> LinkRecord: ...
    def rows_to(self, path: str, wanted: Container[tuple[str, str]]) -> list[EdgeRow]: ...
    def paths_posted(self, hashes: Iterable[int]) -> list[str]: ...


def file_edges(snapshot: _Snapshot, path: str) -> tuple[Edge, ...]:
    """All edges out of a file, by source symbol and line."""
    edges = snapshot.link(path).edges
    if not edges:
        return ()
    file = snapshot.file(path)
    names = file.qualified_names if file is not None else ()
    return tuple(_edge(path, names, row) for row in edges)


def edges_unlike(snapshot: _Snapshot, other: _Snapshot, path: str) -> tuple[Edge, ...]:
    """The edges out of a file that it does not have in another snapshot, which holds the same content there."""
    known = frozenset(other.link(path).edges)
    rows = [row for row in snapshot.link(path).edges if row not in known]
    file = snapshot.file(path) if rows else None
    names = file.qualified_names if file is not None else ()
    return tuple([_edge(path, names, row) for row in rows])


def edges_from(snapshot: _Snapshot, key: SymbolKey) -> tuple[Edge, ...]:
    """Edges whose source is exactly this symbol; with an empty name, those of the file's module level."""
    if not key.qualified:
        return tuple(edge for edge in file_edges(snapshot, key.path) if edge.source == key)
    symbol = snapshot.symbol(key)
    if symbol is None:
        return ()
    return tuple([_edge_from(key, row) for row in snapshot.link(key.path).edges if row.source == symbol.index])


def edges_to(snapshot: _Snapshot, key: SymbolKey) -> tuple[Edge, ...]:
    """Edges whose target is exactly this symbol, or this file; ordered by path and line."""
    with snapshot.reading():
        candidates = {key.path, *snapshot.paths_posted([edge_key(key.path, key.qualified)])}
        wanted = {(key.path, key.qualified)}
        return tuple(edge for path in sorted(candidates) for edge in _edges_between(snapshot, path, wanted))


def _edges_between(snapshot: _Snapshot, path: str, wanted: Container[tuple[str, str]]) -> Iterator[Edge]:
    """The edges from one file to these targets."""
    rows = snapshot.rows_to(path, wanted)
    file = snapshot.file(path) if rows else None
    names = file.qualified_names if file is not None else ()
    return (_edge(path, names, row) for row in rows)


def edges_to_each(snapshot: _Snapshot, keys: Collection[SymbolKey]) -> dict[SymbolKey, tuple[Edge, ...]]:
    """`edges_to` for many at once: each file that uses any is looked at once, and only what leads to them is read."""
    wanted = {(key.path, key.qualified) for key in keys}
    found: dict[SymbolKey, list[Edge]] = {key: [] for key in keys}
    with snapshot.reading():
        posted = snapshot.paths_posted([edge_key(key.path, key.qualified) for key in keys])
        for path in sorted({key.path for key in keys}.union(posted)):
            for edge in _edges_between(snapshot, path, wanted):
                found[edge.target].append(edge)
    return {key: tuple(edges) for key, edges in found.items()}


def users_of(snapshot: _Snapshot, keys: Collection[SymbolKey]) -> dict[str, int]:
    """How many edges each file has to any of these, by path."""
    wanted = {(key.path, key.qualified) for key in keys}
    with snapshot.reading():
        posted = snapshot.paths_posted([edge_key(*each) for each in wanted])
        counts = ((path, len(snapshot.rows_to(path, wanted))) for path in sorted({key.path for key in keys}.union(posted)))
        return {path: count for path, count in counts if count}


def _edge(path: str, names: Sequence[str], row: EdgeRow) -> Edge:
    """The edge of a row, by the qualified names of its file's symbols."""
    return _edge_from(SymbolKey(path, names[row.source] if 0 <= row.source < len(names) else ""), row)


def _edge_from(source: SymbolKey, row: EdgeRow) -> Edge:
    return Edge(source, SymbolKey(row.path, row.qualified), row.kind, row.tier, row.line, row.detail)
