"""What queries find: the records of the model with everything that the graph says of them, read when it is asked for.

`SymbolRecord`, `FileRecord` and `ModuleRecord` are the `Symbol`, `File` and `Module` that the rest of the program knows, and
remember the snapshot they come from. What needs the source (`doc`, `parameters`, `bases` ...) is read again from it at each
access; files are kept for a while, so neighbours cost little.
"""

from __future__ import annotations

import functools
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields

from tokenzip.impact import Reached
from tokenzip.items import signature_of
from tokenzip.languages import registry
from tokenzip.model import NO_DETAIL, Change, Edge, Flag, Module, Symbol, SymbolDetail, SymbolKey, SymbolRow
from tokenzip.recent import Recent
from tokenzip.snapshot import File, Snapshot

_REMEMBERED_DETAILS = 64
_FAMILIES = {"tsx": "typescript"}
"""Dialects, and the language that people mean when they ask for all of it."""


class View:
    """A snapshot as one query reads it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._details: Recent[str, tuple[SymbolDetail, ...]] = Recent(_REMEMBERED_DETAILS)
        self._source = ("", b"")

    def detail(self, symbol: Symbol) -> SymbolDetail:
        """Parameters, bases ... of a symbol; empty for a file that stands for its module-level code."""
        known = self._details.get_or_make(symbol.path, lambda: self.snapshot.details(symbol.path))
        return known[symbol.index] if 0 <= symbol.index < len(known) else NO_DETAIL

    def text(self, symbol: Symbol, *, whole: bool) -> bytes:
        """The source of a definition, or only of its head."""
        if self._source[0] != symbol.path:
            self._source = symbol.path, self.snapshot.source(symbol.path)
        return self._source[1][symbol.row.start : symbol.row.end if whole else symbol.row.signature_end]

    def module_of(self, path: str) -> Module:
        return self.snapshot.modules().module_of(path)

    def files(self) -> Iterator[File]:
        """Every file by path; none is held longer than it is looked at, since each keeps its symbols."""
        pending = sorted(self.snapshot.files(), key=lambda file: file.path, reverse=True)
        while pending:
            yield pending.pop()

    def symbol(self, key: SymbolKey, distance: int = 0, edges: Iterable[Edge] = ()) -> SymbolRecord | None:
        """The record of a symbol, or of a file as a symbol of kind ``file``; None if it is not there."""
        found = self.snapshot.symbol(key) if key.qualified else self._module_level(key.path)
        return self.record(found, distance, edges) if found is not None else None

    def record(self, symbol: Symbol, distance: int = 0, edges: Iterable[Edge] = ()) -> SymbolRecord:
        """The record of a symbol of this snapshot."""
        values = (symbol.path, symbol.index, symbol.qualified_name, symbol.row, symbol.blob)
        return SymbolRecord(*values, self, distance, tuple(edges))

    def _module_level(self, path: str) -> Symbol | None:
        file = self.snapshot.file(path)
        if file is None:
            return None
        row = SymbolRow(posixpath.basename(path), "file", -1, 0, 1, 1, max(file.lines, 1), 0, 0, 0, 0, 0, 0, 0)
        return Symbol(path, -1, "", row, file.blob)

    @functools.cached_property
    def tallies(self) -> Mapping[str, Counter[str]]:
        """Lines of each language (dialects as one) in the sources of each module, by its directory."""
        counts: dict[str, Counter[str]] = {}
        for file in self.files():
            if file.is_source and file.language is not None:
                language = _FAMILIES.get(file.language, file.language)
                counts.setdefault(self.module_of(file.path).path, Counter())[language] += file.lines
        return counts

    @functools.cached_property
    def file_counts(self) -> Counter[str]:
        """Files of each module, by its directory."""
        return Counter(self.module_of(path).path for path in self.snapshot.paths())


@dataclass(frozen=True, slots=True, eq=False)
class SymbolRecord(Symbol):
    """A symbol that a query found; module-level code that uses something is a symbol of kind ``file``."""

    view: View = field(repr=False)
    distance: int = 0
    """Steps from what the last relation started from; 0 where there was none."""
    edges: tuple[Edge, ...] = field(default=(), repr=False)
    """Edges by which that relation led here."""

    @property
    def file(self) -> str:
        return self.path

    @property
    def language(self) -> str:
        return registry.name_for_path(self.path) or ""

    @property
    def module(self) -> str:
        """Name of the module that the file belongs to."""
        return self.view.module_of(self.path).name

    @property
    def parent(self) -> str:
        """Handle of the symbol around it, empty at top level."""
        outer = self.qualified_name.rpartition(".")[0] if self.row.parent >= 0 else ""
        return SymbolKey(self.path, outer).handle if outer else ""

    @property
    def signature(self) -> str:
        return signature_of(self.view.snapshot, self) if self.index >= 0 else ""

    @property
    def doc(self) -> str:
        """The documentation as written."""
        return self.view.snapshot.docstring(self) if self.has_doc else ""

    @property
    def has_doc(self) -> bool:
        return self.row.doc_start < self.row.doc_end

    @property
    def lines(self) -> int:
        """Lines of the definition, decorators included."""
        return self.row.end_line - self.row.line + 1

    @property
    def visibility(self) -> str:
        if self.row.flags & Flag.PRIVATE:
            return "private"
        return "protected" if self.row.flags & Flag.PROTECTED else "public"

    @property
    def is_test(self) -> bool:
        """Whether it is a test case or lies in a file of tests."""
        if self.row.flags & Flag.TEST:
            return True
        file = self.view.snapshot.file(self.path)
        return file is not None and file.is_test

    @property
    def detail(self) -> SymbolDetail:
        return self.view.detail(self)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters; `detail` has their types and defaults."""
        return tuple(parameter.name for parameter in self.detail.parameters)

    @property
    def returns(self) -> str:
        return self.detail.returns

    @property
    def value(self) -> str:
        return self.detail.value

    @property
    def decorators(self) -> tuple[str, ...]:
        return self.detail.decorators

    @property
    def generics(self) -> tuple[str, ...]:
        return self.detail.generics

    @property
    def modifiers(self) -> tuple[str, ...]:
        return self.detail.modifiers

    @property
    def bases(self) -> tuple[str, ...]:
        """Base classes and interfaces as written."""
        return self.detail.bases

    @property
    def extends(self) -> tuple[str, ...]:
        """The bases that are no interfaces to be implemented, as written."""
        return tuple(base for base in self.bases if base not in self.implements)

    @property
    def implements(self) -> tuple[str, ...]:
        """The bases that are implemented, as written."""
        if not self.bases:
            return ()
        _, _, after = self.signature.partition(" implements ")
        listed = "".join(after.split())
        return tuple(base for base in self.bases if after and "".join(base.split()) in listed)


class FileRecord(File):
    """A file that a query found."""

    __slots__ = ("distance", "edges", "view")

    def __init__(self, view: View, file: File, distance: int = 0, edges: Iterable[Edge] = ()) -> None:
        for name in File.__slots__:
            setattr(self, name, getattr(file, name))
        self.view = view
        self.distance = distance
        """Steps from what the last relation started from; 0 where there was none."""
        self.edges = tuple(edges)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FileRecord) and (self.path, self.blob) == (other.path, other.blob)

    def __hash__(self) -> int:
        return hash((self.path, self.blob))

    def __repr__(self) -> str:
        return f"FileRecord({self.path!r})"

    @property
    def key(self) -> SymbolKey:
        return SymbolKey(self.path)

    @property
    def handle(self) -> str:
        return self.path

    @property
    def name(self) -> str:
        return posixpath.basename(self.path)

    @property
    def ext(self) -> str:
        """The extension with its dot, in small letters: ``.tsx``."""
        return posixpath.splitext(self.path)[1].lower()

    @property
    def module(self) -> str:
        """Name of the module that it belongs to."""
        return self.view.module_of(self.path).name


@dataclass(frozen=True, slots=True, eq=False)
class ModuleRecord(Module):
    """A module that a query found."""

    view: View | None = field(default=None, repr=False)
    distance: int = 0
    edges: tuple[Edge, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, view: View, module: Module, distance: int = 0, edges: Iterable[Edge] = ()) -> ModuleRecord:
        """The record of a module of that snapshot."""
        values = {each.name: getattr(module, each.name) for each in fields(Module)}
        return cls(**values, view=view, distance=distance, edges=tuple(edges))

    @property
    def handle(self) -> str:
        return self.path or "."

    @property
    def language(self) -> str:
        """The language with most lines, empty if it has no sources."""
        counts = self._view.tallies.get(self.path, Counter())
        return min(counts, key=lambda name: (-counts[name], name), default="")

    @property
    def files(self) -> int:
        return self._view.file_counts[self.path]

    @property
    def packages(self) -> tuple[str, ...]:
        """Names of the external packages that its manifests declare."""
        return tuple(dependency.name for dependency in self.dependencies)

    @property
    def _view(self) -> View:
        assert self.view is not None
        return self.view


@dataclass(frozen=True, slots=True)
class Reference:
    """One place where something is used."""

    edge: Edge
    user: str
    """Kind of the symbol that uses it, ``file`` for module-level code."""

    @property
    def handle(self) -> str:
        """Of who uses it."""
        return self.edge.source.handle

    @property
    def target(self) -> str:
        """Handle of what is used."""
        return self.edge.target.handle

    @property
    def kind(self) -> str:
        """Kind of the edge."""
        return self.edge.kind

    @property
    def tier(self) -> str:
        return self.edge.tier

    @property
    def detail(self) -> str:
        return self.edge.detail

    @property
    def file(self) -> str:
        return self.edge.source.path

    @property
    def line(self) -> int:
        return self.edge.line


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """A commit of git."""

    id: str
    parents: tuple[str, ...]
    author: str
    email: str
    date: str
    """Of the author, ISO 8601 in UTC."""
    subject: str

    @property
    def short_id(self) -> str:
        return self.id[:10]

    @property
    def handle(self) -> str:
        return self.short_id


Record = SymbolRecord | FileRecord | ModuleRecord | Reference | Change | Reached | CommitRecord
"""Whatever a query can find."""


def family(language: str | None) -> tuple[str, ...]:
    """The names by which a language may be asked for: ``tsx`` is also ``typescript``."""
    if not language:
        return ()
    return (language, _FAMILIES[language]) if language in _FAMILIES else (language,)
