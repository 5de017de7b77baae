"""The scopes of queries, from the largest to the smallest: which steps there are, and what they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from tokenzip.errors import UsageError
from tokenzip.impact import Reached
from tokenzip.model import SYMBOL_KINDS, Change
from tokenzip.query import fields
from tokenzip.query.chain import Chain, Query, R, among, depth_option, text_argument, walk_options
from tokenzip.query.records import CommitRecord, FileRecord, ModuleRecord, Reference, SymbolRecord


@dataclass(frozen=True, repr=False)
class RepositoryQuery(Chain):
    """Where chains begin: a repository at some revision."""

    SCOPE = "repositories"
    STEPS: ClassVar[tuple[str, ...]] = (
        "at", "modules", "module", "files", "file", "symbols", "symbol", "tables", "table", "docs", "doc", "sections", "diff",
        "commit", "workflow",
    )  # fmt: skip

    def at(self, rev: str) -> RepositoryQuery:
        """The same at another revision: what git understands, ``INDEX`` or ``WORKTREE``."""
        return RepositoryQuery((), self.source)._then(RepositoryQuery, "at", text_argument("a revision", rev))

    def modules(self) -> ModuleQuery:
        """All modules, by directory."""
        return self._then(ModuleQuery, "modules")

    def module(self, name: str) -> ModuleQuery:
        """The module of that name or directory."""
        return self._then(ModuleQuery, "module", text_argument("a module", name))

    def files(self) -> FileQuery:
        """All files, by path."""
        return self._then(FileQuery, "files")

    def file(self, path: str) -> FileQuery:
        """The file of that path, or of the only path that ends so."""
        return self._then(FileQuery, "file", text_argument("a path", path))

    def symbols(self) -> SymbolQuery:
        """All symbols, by file and place."""
        return self._then(SymbolQuery, "symbols")

    def symbol(self, name: str) -> SymbolQuery:
        """The symbol of that handle, or of a short form of one that is unique."""
        return self._then(SymbolQuery, "symbol", text_argument("a symbol", name))

    def tables(self) -> TableQuery:
        """All tables and views of a database."""
        return self._then(TableQuery, "tables")

    def table(self, name: str) -> TableQuery:
        """The tables of that name."""
        return self._then(TableQuery, "table", text_argument("a table", name))

    def docs(self) -> DocumentQuery:
        """All documents, by path."""
        return self._then(DocumentQuery, "docs")

    def doc(self, path: str) -> DocumentQuery:
        """The document of that path, or of the only path that ends so."""
        return self._then(DocumentQuery, "doc", text_argument("a path", path))

    def sections(self) -> SectionQuery:
        """All sections of documents."""
        return self._then(SectionQuery, "sections")

    def diff(self, base: str = "HEAD", head: str | None = None) -> ChangeQuery:
        """What changed from `base` to `head` (else this revision). ``A..B`` and ``A...B`` name both at once."""
        heads = () if head is None else (text_argument("a revision", head),)
        return self._then(ChangeQuery, "diff", text_argument("a revision", base), *heads)

    def commit(self, rev: str) -> CommitQuery:
        """One commit of git."""
        return self._then(CommitQuery, "commit", text_argument("a revision", rev))

    def workflow(self, name: str) -> SectionQuery:
        """The steps of a workflow that documents describe."""
        return self._then(SectionQuery, "workflow", text_argument("a workflow", name))


@dataclass(frozen=True, repr=False)
class ModuleQuery(Query[ModuleRecord]):
    """Modules: directories with a manifest, and the root."""

    SCOPE = "modules"
    FIELDS = fields.MODULE
    STEPS: ClassVar[tuple[str, ...]] = (
        *Query.STEPS,
        "files",
        "symbols",
        "tables",
        "docs",
        "sections",
        "dependencies",
        "dependants",
    )

    def files(self) -> FileQuery:
        """The files that belong to them; those of modules further inside do not."""
        return self._then(FileQuery, "files")

    def symbols(self) -> SymbolQuery:
        """The symbols of their files."""
        return self._then(SymbolQuery, "symbols")

    def tables(self) -> TableQuery:
        return self._then(TableQuery, "tables")

    def docs(self) -> DocumentQuery:
        return self._then(DocumentQuery, "docs")

    def sections(self) -> SectionQuery:
        return self._then(SectionQuery, "sections")

    def dependencies(self) -> ModuleQuery:
        """The modules that they use; those with most edges first."""
        return self._then(ModuleQuery, "dependencies")

    def dependants(self) -> ModuleQuery:
        """The modules that use them; those with most edges first."""
        return self._then(ModuleQuery, "dependants")


@dataclass(frozen=True, repr=False)
class InFiles(Query[R]):
    """Files and what lies in them: each belongs to a module."""

    def within_module(self, name: str) -> Self:
        """Those that belong to the module of that name or directory, with their files."""
        return self._then(type(self), "within_module", text_argument("a module", name))


@dataclass(frozen=True, repr=False)
class Code(InFiles[R]):
    """Files and symbols: what a change of them reaches, and the modules that it starts in."""

    def modules(self) -> ModuleQuery:
        """The modules that they belong to."""
        return self._then(ModuleQuery, "modules")

    def module(self) -> ModuleQuery:
        """The same as `modules`."""
        return self._then(ModuleQuery, "module")

    def impact(self, depth: int | None = None) -> ReachedQuery:
        """Who is reached if they change, up to so many steps away (3 unless said, as in `tokenzip impact`)."""
        return self._then(ReachedQuery, "impact", **depth_option(depth))


@dataclass(frozen=True, repr=False)
class Places(InFiles[R]):
    """What is found somewhere: the symbol there and its file."""

    STEPS: ClassVar[tuple[str, ...]] = (*Query.STEPS, "symbols", "files", "within_module")

    def symbols(self) -> SymbolQuery:
        """The symbols there: who uses it, what was reached, what changed as far as it is there at the newer state."""
        return self._then(SymbolQuery, "symbols")

    def files(self) -> FileQuery:
        """The files that they lie in."""
        return self._then(FileQuery, "files")


@dataclass(frozen=True, repr=False)
class FileQuery(Code[FileRecord]):
    """Files of all kinds, those included that no language reads."""

    SCOPE = "files"
    FIELDS = fields.FILE
    STEPS: ClassVar[tuple[str, ...]] = (
        *Query.STEPS, "symbols", "module", "modules", "tables", "sections", "dependencies", "dependants", "within_module",
        "impact",
    )  # fmt: skip

    def symbols(self) -> SymbolQuery:
        """Their symbols."""
        return self._then(SymbolQuery, "symbols")

    def tables(self) -> TableQuery:
        return self._then(TableQuery, "tables")

    def sections(self) -> SectionQuery:
        return self._then(SectionQuery, "sections")

    def dependencies(self, depth: int = 1, kinds: Sequence[str] = ()) -> FileQuery:
        """The files that they use, over edges of these kinds (or all), up to so many steps."""
        return self._then(FileQuery, "dependencies", **walk_options(depth, kinds))

    def dependants(self, depth: int = 1, kinds: Sequence[str] = ()) -> FileQuery:
        """The files that use them."""
        return self._then(FileQuery, "dependants", **walk_options(depth, kinds))


@dataclass(frozen=True, repr=False)
class SymbolQuery(Code[SymbolRecord]):
    """Symbols. Among what uses others, module-level code appears as a symbol of kind ``file``."""

    SCOPE = "symbols"
    FIELDS = fields.SYMBOL
    STEPS: ClassVar[tuple[str, ...]] = (
        *Query.STEPS, "callers", "callees", "dependants", "dependencies", "references", "members", "file", "files", "module",
        "modules", "within_module", "with_kind", "impact",
    )  # fmt: skip

    def callers(self, depth: int = 1) -> SymbolQuery:
        """Who calls them, up to so many steps away; nearest first, product before tests."""
        return self._then(SymbolQuery, "callers", **walk_options(depth))

    def callees(self, depth: int = 1) -> SymbolQuery:
        """What they call."""
        return self._then(SymbolQuery, "callees", **walk_options(depth))

    def dependants(self, depth: int = 1, kinds: Sequence[str] = ()) -> SymbolQuery:
        """Who uses them, over edges of these kinds (or all)."""
        return self._then(SymbolQuery, "dependants", **walk_options(depth, kinds))

    def dependencies(self, depth: int = 1, kinds: Sequence[str] = ()) -> SymbolQuery:
        """What they use, over edges of these kinds (or all)."""
        return self._then(SymbolQuery, "dependencies", **walk_options(depth, kinds))

    def references(self) -> ReferenceQuery:
        """Each place where they are used, one record a place."""
        return self._then(ReferenceQuery, "references")

    def members(self) -> SymbolQuery:
        """What is defined directly inside them."""
        return self._then(SymbolQuery, "members")

    def files(self) -> FileQuery:
        """The files that they lie in."""
        return self._then(FileQuery, "files")

    def file(self) -> FileQuery:
        """The same as `files`."""
        return self._then(FileQuery, "file")

    def with_kind(self, *kinds: str) -> Self:
        """Those of one of these kinds."""
        if not kinds:
            raise UsageError("with_kind needs a kind", hint='with_kind("function")')
        return self._then(type(self), "with_kind", *among("kind of symbol", kinds, ("file", *SYMBOL_KINDS)))


@dataclass(frozen=True, repr=False)
class TableQuery(SymbolQuery):
    """Tables and views."""

    SCOPE = "tables"
    STEPS: ClassVar[tuple[str, ...]] = (*SymbolQuery.STEPS, "columns", "referenced_by")

    def columns(self) -> TableQuery:
        """Their columns."""
        return self._then(TableQuery, "columns")

    def referenced_by(self) -> SymbolQuery:
        """What reads, changes or refers to them: code, foreign keys, views."""
        return self._then(SymbolQuery, "referenced_by")


@dataclass(frozen=True, repr=False)
class SectionQuery(SymbolQuery):
    """Sections of documents, and what lies in them."""

    SCOPE = "sections"
    STEPS: ClassVar[tuple[str, ...]] = (*SymbolQuery.STEPS, "section", "steps", "linked_symbols")

    def section(self, title: str) -> SectionQuery:
        """The sections of that title inside them."""
        return self._then(SectionQuery, "section", text_argument("a title", title))

    def steps(self) -> SectionQuery:
        """The steps of the workflows that they describe."""
        return self._then(SectionQuery, "steps")

    def linked_symbols(self) -> SymbolQuery:
        """The symbols of code that they speak of."""
        return self._then(SymbolQuery, "linked_symbols")


@dataclass(frozen=True, repr=False)
class DocumentQuery(FileQuery):
    """Documents."""

    SCOPE = "documents"
    STEPS: ClassVar[tuple[str, ...]] = (*FileQuery.STEPS, "section", "linked_symbols")

    def section(self, title: str) -> SectionQuery:
        """Their sections of that title."""
        return self._then(SectionQuery, "section", text_argument("a title", title))

    def linked_symbols(self) -> SymbolQuery:
        """The symbols of code that they speak of."""
        return self._then(SymbolQuery, "linked_symbols")


@dataclass(frozen=True, repr=False)
class ReferenceQuery(Places[Reference]):
    """Places where something is used."""

    SCOPE = "references"
    FIELDS = fields.REFERENCE


@dataclass(frozen=True, repr=False)
class ChangeQuery(Places[Change]):
    """Differences between two states; the records are those of `tokenzip.diff`."""

    SCOPE = "changes"
    FIELDS = fields.CHANGE
    STEPS: ClassVar[tuple[str, ...]] = (*Query.STEPS, "impact", "symbols", "files", "within_module")

    def impact(self, depth: int | None = None) -> ReachedQuery:
        """Who is reached by them at the newer state, up to so many steps away (1 unless said, as in `tokenzip diff`)."""
        return self._then(ReachedQuery, "impact", **depth_option(depth))


@dataclass(frozen=True, repr=False)
class ReachedQuery(Places[Reached]):
    """Who is reached by a change; the records are those of `tokenzip.impact`."""

    SCOPE = "reached"
    FIELDS = fields.REACHED


@dataclass(frozen=True, repr=False)
class CommitQuery(Query[CommitRecord]):
    """Commits of git."""

    SCOPE = "commits"
    FIELDS = fields.COMMIT
    STEPS: ClassVar[tuple[str, ...]] = (*Query.STEPS, "changes")

    def changes(self) -> ChangeQuery:
        """What they changed, against their first parent."""
        return self._then(ChangeQuery, "changes")
