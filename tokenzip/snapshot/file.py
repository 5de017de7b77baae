"""`File`: one file of a snapshot; and the short records of one, for looking over all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from tokenzip.languages import registry
from tokenzip.model import (
    FileIR,
    ParseProblem,
    Status,
    Symbol,
    SymbolRow,
    qualified_columns,
    qualified_names,
    qualified_names_of,
)
from tokenzip.snapshot.tree import GITLINK, SYMLINK, TreeFile
from tokenzip.store import Address, Extent, SymbolColumns


class Content(NamedTuple):
    """A file that is searched."""

    path: str
    document: int
    """The number that its words are posted under in the store; 0 if they are not (uncommitted work)."""


class Measured(NamedTuple):
    """A file with how much it holds, for counting over all of them."""

    path: str
    language: str | None
    extent: Extent
    link: Address | None = None

    @property
    def is_source(self) -> bool:
        return self.language is not None and registry.is_source(self.language)

    @property
    def is_test(self) -> bool:
        return self.language is not None and self.is_source and registry.get(self.language).is_test(self.path)


class _Snapshot(Protocol):
    def ir(self, path: str) -> FileIR: ...
    def symbol_columns(self, path: str) -> SymbolColumns | None: ...
    def size(self, path: str) -> int: ...
    def has_read(self, file: File) -> None: ...


class File:
    """One file of a snapshot; status and symbols are read when asked for."""

    __slots__ = ("_facts", "_named", "_qualified", "_snapshot", "_symbols", "blob", "language", "mode", "path")

    def __init__(self, snapshot: _Snapshot, file: TreeFile) -> None:
        self.path = file.path
        self.mode = file.mode
        self.blob = file.blob
        self.language = file.language
        self._snapshot = snapshot
        self._facts: FileIR | None = None
        self._qualified: tuple[str, ...] | None = None
        self._symbols: tuple[Symbol, ...] | None = None
        self._named: Mapping[str, Symbol] | None = None

    def _read(self) -> FileIR:
        if self._facts is None:
            unread = FileIR("skipped", 0, reason=unread_reason(self.mode))
            self._facts = self._snapshot.ir(self.path) if self.language else unread
            self._snapshot.has_read(self)
        return self._facts

    @property
    def weight(self) -> int:
        """How many symbols were read so far."""
        return 0 if self._facts is None else len(self._facts.symbols)

    @property
    def status(self) -> Status:
        return self._read().status

    @property
    def reason(self) -> str | None:
        return self._read().reason

    @property
    def problems(self) -> tuple[ParseProblem, ...]:
        return self._read().problems

    @property
    def lines(self) -> int:
        return self._read().lines

    @property
    def generated(self) -> bool:
        return self._read().generated

    @property
    def is_source(self) -> bool:
        """Whether a language with symbols reads it (manifests have none)."""
        return self.language is not None and registry.is_source(self.language)

    @property
    def is_test(self) -> bool:
        return self.is_source and self.language is not None and registry.get(self.language).is_test(self.path)

    @property
    def size(self) -> int:
        """Bytes of the content; 0 for a submodule."""
        return self._snapshot.size(self.path)

    @property
    def extent(self) -> Extent:
        """How much it holds."""
        return Extent(self.status, self.reason, self.lines, len(self.rows))

    @property
    def rows(self) -> tuple[SymbolRow, ...]:
        return self._read().symbols

    @property
    def qualified_names(self) -> tuple[str, ...]:
        """Of its symbols in their order, which are not read for it."""
        if self._qualified is None:
            columns = self._snapshot.symbol_columns(self.path) if self._facts is None else None
            self._qualified = (
                qualified_names(self.rows) if columns is None else qualified_columns(columns.names, columns.parents)
            )
        return self._qualified

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        if self._symbols is None:
            named = enumerate(zip(self.rows, self.qualified_names, strict=True))
            self._symbols = tuple([Symbol(self.path, index, name, row, self.blob) for index, (row, name) in named])
        return self._symbols

    def called(self, name: str) -> tuple[Symbol, ...]:
        """The symbols of that simple name; the others are not read."""
        columns = self._snapshot.symbol_columns(self.path) if self._symbols is None else None
        if columns is None:
            return tuple([symbol for symbol in self.symbols if symbol.name == name])
        places = qualified_names_of(name, columns.names, columns.parents)
        return tuple([Symbol(self.path, index, qualified, columns.row(index), self.blob) for index, qualified in places])

    def named(self, qualified: str) -> Symbol | None:
        """The symbol of that qualified name."""
        if self._named is None:
            self._named = {symbol.qualified_name: symbol for symbol in self.symbols}
        return self._named.get(qualified)


def unread_reason(mode: int) -> str:
    """Why no language reads a file of that mode."""
    if mode == SYMLINK:
        return "symbolic link"
    return "submodule" if mode == GITLINK else "no language reads this kind of file"
