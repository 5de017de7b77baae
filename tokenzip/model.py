"""The vocabulary of the graph: frozen records and typed ids, shared by every stage.

Two forms of the same facts live side by side, on purpose:

- *rows* are plain tuples of numbers and strings. They are what extraction makes, the store keeps and linking walks:
  a tuple decodes in a fifth of the time that a frozen dataclass needs (``docs/decisions/0004-records.md``).
- *records* are the frozen dataclasses that callers see (`Symbol`, `Edge`, ...), made from rows only when asked for.
"""

from __future__ import annotations

import enum
import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, NewType

BlobId = NewType("BlobId", str)
"""Hex id of a git blob: 40 digits (SHA-1) or 64 (SHA-256)."""
TreeId = NewType("TreeId", str)
CommitId = NewType("CommitId", str)

Status = Literal["parsed", "partial", "failed", "skipped"]
"""How much of a file was understood: all, all but the listed errors, nothing (a fault), nothing (on purpose)."""

# The position of a name in these tuples is what the store keeps: append, never reorder.
SYMBOL_KINDS = (
    "function", "method", "constructor", "class", "interface", "type_alias", "enum", "enum_member", "variable",
    "constant", "property", "parameter", "generic_param", "decorator", "annotation", "struct", "trait", "impl", "macro",
    "module_decl", "namespace", "import", "export", "re_export", "table", "view", "column", "index", "constraint",
    "foreign_key", "stored_procedure", "trigger", "section", "workflow_step", "diagram_node", "diagram", "list_item",
    "table_row", "code_block",
)  # fmt: skip
NO_DEFINITION = frozenset({"parameter", "generic_param", "import", "export", "re_export"})
"""Symbols that are other names of a thing, or live as long as a call."""
EDGE_KINDS = (
    "calls", "imports", "exports", "inherits", "implements", "overrides", "reads", "modifies", "references",
    "decorates", "depends_on", "foreign_key", "column_of", "belongs_to_workflow", "workflow_transition", "diagram_edge",
)  # fmt: skip
TIERS = ("exact", "typed")
"""`exact`: bound by scope or import. `typed`: bound through the type of the receiver."""
REASONS = ("external", "dynamic", "ambiguous", "missing")
"""Why a reference has no edge: it leaves the repository; the receiver's type is unknown; several candidates and no
ground to choose; the name should be in the repository and is not."""


class Flag(enum.IntFlag):
    """Properties of a symbol that a reader or a filter asks for; the bits are stored, so append only."""

    ASYNC = 1
    STATIC = 2
    CLASSMETHOD = 4
    PROPERTY = 8
    """Accessed like an attribute: Python property, JavaScript get/set accessor."""
    ABSTRACT = 16
    GENERATOR = 32
    OVERLOAD = 64
    """A signature without a body beside others of the same name."""
    EXPORTED = 128
    """Usable from other files: see `docs/adding-a-language.md` for what each language takes this to mean."""
    DEFAULT_EXPORT = 256
    PRIVATE = 512
    PROTECTED = 1024
    READONLY = 2048
    LOCAL = 4096
    """Inside a function body: no other file can name it."""
    FIXTURE = 8192
    """A test fixture that is injected by name."""
    TEST = 16384
    """A test case by the conventions of the language's usual test runners."""
    OPTIONAL = 32768
    DECLARATION = 65536
    """Declared without an implementation (ambient, stub)."""


class SymbolRow(NamedTuple):
    """One symbol as extraction says it. The store keeps the plain tuple of these fields.

    Lines are 1-based; `start`, `signature_end`, `end`, `doc_start` and `doc_end` are byte offsets into the blob, so that no
    text which git has is stored again. `signature_end` is where the body begins (`end` if there is none).
    `doc_start == doc_end` means no documentation.
    """

    name: str
    kind: str
    parent: int
    """Index of the enclosing symbol in the same file, -1 at the top level."""
    flags: int
    line: int
    """First line, decorators and modifiers included."""
    name_line: int
    end_line: int
    start: int
    signature_end: int
    end: int
    doc_start: int
    doc_end: int
    signature_hash: int
    """32 bits over the tokens of the symbol's interface (name left out; layout and comments removed)."""
    content_hash: int
    """32 bits over the tokens of signature and body (own name left out; layout, comments and docs removed)."""


class ParseProblem(NamedTuple):
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Interface:
    """What other files may look at. No positions and no indexes: an edit inside a body leaves it equal.

    The values are opaque outside the language that made them: plain tuples, strings, numbers, None and (in manifests)
    dicts and lists, compared for equality only. Each entry answers to one fact key (`languages.base`).
    """

    names: Mapping[str, Any] = field(default_factory=dict)
    """Module-level name -> entries. Fact ``("sym", path, name)``. ``__all__`` style lists are names too."""
    definitions: Mapping[str, Any] = field(default_factory=dict)
    """Qualified name -> definition. Fact ``("def", path, qualified)``."""
    members: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Qualified name of a class-like symbol -> member name -> entries. Fact ``("mem", path, class, name)``."""
    stars: tuple[Any, ...] = ()
    """Wildcard imports and re-exports. Fact ``("star", path)``."""
    announces: tuple[str, ...] = ()
    """Keys under which this file is found from anywhere (``package:@scope/core``). Fact ``("announced", key)``."""


EMPTY_INTERFACE = Interface()


@dataclass(frozen=True, slots=True)
class FileIR:
    """What one blob says, read as one language: a function of bytes, language and extractor version alone."""

    status: Status
    lines: int
    interface: Interface = EMPTY_INTERFACE
    symbols: tuple[SymbolRow, ...] = ()
    body: tuple[Any, ...] | None = None
    """References and closed expressions for linking; opaque outside the language; None when it was not kept."""
    problems: tuple[ParseProblem, ...] = ()
    reason: str | None = None
    """Why the status is not `parsed`."""
    generated: bool = False
    """Recognised by content as made by a program."""


class EdgeRow(NamedTuple):
    """One edge out of a file. `source` is a symbol index in that file, -1 for module level."""

    source: int
    kind: str
    tier: str
    line: int
    path: str
    """File of the target."""
    qualified: str
    """Qualified name of the target with its ordinal (``f``, ``f#2``); empty for the file itself."""
    detail: str = ""
    """What `model.md` says an edge of this kind carries, in short: ``type`` (type-only import), ``default``, an alias ..."""


class UnresolvedRow(NamedTuple):
    """A reference that got no edge, with the reason. `name` is the last component as written (``save`` in ``x.y.save()``)."""

    source: int
    kind: str
    line: int
    name: str
    reason: str
    detail: str = ""
    """For `external`: the dotted external name, as far as it is known (``os.path.join``, ``react``)."""


Fact = tuple[str, ...]
"""A key that linking consulted: see `languages.base` for the kinds."""


@dataclass(frozen=True, slots=True)
class LinkedFile:
    """What one file means in one project: its edges, what stayed open, and every fact that was consulted."""

    edges: tuple[EdgeRow, ...] = ()
    unresolved: tuple[UnresolvedRow, ...] = ()
    facts: frozenset[Fact] = frozenset()


class SymbolKey(NamedTuple):
    """Names a symbol inside one snapshot; an empty qualified name is the file itself."""

    path: str
    qualified: str = ""

    @property
    def handle(self) -> str:
        return f"{self.path}::{self.qualified}" if self.qualified else self.path


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol as callers see it. Lines are 1-based, offsets are bytes into the blob."""

    path: str
    index: int
    qualified_name: str
    row: SymbolRow
    blob: BlobId

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def kind(self) -> str:
        return self.row.kind

    @property
    def flags(self) -> Flag:
        return Flag(self.row.flags)

    @property
    def line(self) -> int:
        return self.row.name_line

    @property
    def end_line(self) -> int:
        return self.row.end_line

    @property
    def key(self) -> SymbolKey:
        return SymbolKey(self.path, self.qualified_name)

    @property
    def handle(self) -> str:
        return self.key.handle

    @property
    def id(self) -> uuid.UUID:
        """Path half (path, qualified name, kind) and content half (normalised content): see `design.md` 3.4."""
        path_half = hashlib.blake2b(
            f"{self.path}\0{self.qualified_name}\0{self.kind}".encode("utf-8", "surrogateescape"), digest_size=8
        ).digest()
        content_half = hashlib.blake2b(f"{self.kind}\0{self.row.content_hash}".encode(), digest_size=8).digest()
        return uuid.UUID(bytes=path_half + content_half)


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """One edge of a snapshot, both ends named."""

    source: SymbolKey
    target: SymbolKey
    kind: str
    tier: str
    line: int
    """Line in the source's file."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A reference without an edge, as callers see it."""

    source: SymbolKey
    kind: str
    line: int
    name: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Revision:
    """Which state an answer speaks of."""

    rev: str
    """As asked for: ``main``, ``HEAD~3``, ``WORKTREE``, ``INDEX``."""
    commit: CommitId | None
    """The commit it stands for; for WORKTREE and INDEX the HEAD below them; None on an unborn branch."""
    dirty: bool
    """Whether files differ from that commit."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """An external package that a manifest declares."""

    name: str
    range: str
    dev: bool
    source: str
    """``npm pip cargo go maven``."""


@dataclass(frozen=True, slots=True)
class Module:
    """A directory with a manifest (or the root without one)."""

    path: str
    """Directory, empty for the root."""
    name: str
    manifest: str | None
    """Path of the manifest file, None for a root without one."""
    kind: str | None
    """Base name of the manifest: ``package.json``, ``pyproject.toml`` ..."""
    is_root: bool
    parent: str | None
    """Path of the enclosing module."""
    version: str = ""
    description: str = ""
    dependencies: tuple[Dependency, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    annotation: str = ""
    default: str = ""
    """Source text of the default, empty when there is none."""
    variadic: bool = False
    keyword_only: bool = False
    positional_only: bool = False
    optional: bool = False
    """May be left out by callers (has a default, ``x?:``, or is variadic)."""


@dataclass(frozen=True, slots=True)
class SymbolDetail:
    """What is read again from the source when somebody looks closely; never stored."""

    parameters: tuple[Parameter, ...] = ()
    returns: str = ""
    decorators: tuple[str, ...] = ()
    generics: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    value: str = ""
    """Source text of the initial value of a constant or enum member."""
    modifiers: tuple[str, ...] = ()


NO_DETAIL = SymbolDetail()


CHANGES = ("added", "removed", "renamed", "moved", "signature", "modifiers", "body", "docs")
"""What can change about a symbol, the weightiest first: `Change.change` is the first that applies, `Change.also` the rest."""
Effect = Literal["breaking", "compatible", "internal"]
"""Whether code that used the old state still works: not all of it; all of it; nothing that it can see has changed.
The rules are in `docs/diff.md`."""


@dataclass(frozen=True, slots=True)
class Change:
    """How one symbol (or file: kind ``file``) differs between two snapshots."""

    key: SymbolKey
    """At the head; for a removed one, at the base."""
    old_key: SymbolKey | None
    """At the base; None for an added one."""
    kind: str
    """Symbol kind at the head (for a removed one, at the base), or ``file``."""
    change: str
    """One of `CHANGES`."""
    also: tuple[str, ...]
    """What else changed about it, in the order of `CHANGES`: a symbol can be renamed and edited at once."""
    effect: Effect
    reasons: tuple[str, ...]
    """What the effect rests on, in words: ``parameter `limit` is new and required``."""
    line: int
    """Of the name, in the file of `key`; 0 for a file."""
    old_line: int
    """Of the name, in the file of `old_key`; 0 for an added one."""
    within: SymbolKey | None = None
    """For a member of an added or removed container: that container, whose own change says it all."""
    test: bool = False
    """Lies in a test file or is a test case."""

    @property
    def handle(self) -> str:
        return self.key.handle

    @property
    def old_handle(self) -> str | None:
        """The handle at the base where it differs from that at the head."""
        return self.old_key.handle if self.old_key is not None and self.old_key != self.key else None

    @property
    def file(self) -> str:
        return self.key.path

    @property
    def breaking(self) -> bool:
        return self.effect == "breaking"

    @property
    def aspects(self) -> tuple[str, ...]:
        """All that changed about it, the weightiest first."""
        return (self.change, *self.also)


@dataclass(frozen=True, slots=True)
class BrokenReference:
    """A place at the head that still uses what is gone, or what changed incompatibly."""

    source: SymbolKey
    """Who uses it, at the head; an empty qualified name is module level."""
    target: SymbolKey
    """What is used, named as at the base."""
    now: SymbolKey | None
    """Where the target went, if it lives on under another name or in another place."""
    kind: str
    """Kind of the edge that resolved at the base."""
    line: int
    """In the source's file, at the head."""
    why: str
    """``removed renamed moved``: the target is gone from there; ``unresolved``: the target is there, but the way to it is not
    (a re-export was dropped); ``incompatible``: the target changed incompatibly and the user of it did not change at all."""

    @property
    def file(self) -> str:
        return self.source.path


Progress = Callable[[str, int, int], None]
"""Called with a stage's name, how much of it is done and how much there is (0: not known); raises `Cancelled` to stop it."""


UNCOMMITTED = "uncommitted"
"""What progress calls the linking of what is in no commit: work that leaves nothing in the store."""


def no_progress(stage: str, done: int, total: int) -> None:
    """Tell nobody."""


def qualified_names(symbols: Sequence[SymbolRow]) -> tuple[str, ...]:
    """The qualified name of each symbol, equal ones told apart by an ordinal (``f``, ``f#2``) in file order."""
    return qualified_columns([symbol.name for symbol in symbols], [symbol.parent for symbol in symbols])


def qualified_columns(names: Sequence[str], parents: Sequence[int]) -> tuple[str, ...]:
    """`qualified_names` from the names of the symbols and the places of what encloses them."""
    plain: list[str] = []
    seen: dict[str, int] = {}
    out: list[str] = []
    for index, (own, parent) in enumerate(zip(names, parents, strict=True)):
        if parent < index:  # as in every file that we wrote: what encloses it has its name already
            prefix = plain[parent] if parent >= 0 else ""
            name = f"{prefix}.{own}" if prefix else own
        else:
            name = _plain_name(index, names, parents)
        plain.append(name)
        count = seen[name] = seen.get(name, 0) + 1
        out.append(name if count == 1 else f"{name}#{count}")
    return tuple(out)


def qualified_names_of(name: str, names: Sequence[str], parents: Sequence[int]) -> list[tuple[int, str]]:
    """Place and qualified name of each symbol of one simple name, as `qualified_names` tells them for all."""
    ending = name.rpartition(".")[2]  # of what may have the same qualified name, if names hold dots themselves
    seen: dict[str, int] = {}
    found: list[tuple[int, str]] = []
    for index in [index for index, each in enumerate(names) if each.endswith(ending)]:
        plain = _plain_name(index, names, parents)
        count = seen[plain] = seen.get(plain, 0) + 1
        if names[index] == name:
            found.append((index, plain if count == 1 else f"{plain}#{count}"))
    return found


def _plain_name(index: int, names: Sequence[str], parents: Sequence[int]) -> str:
    chain: list[int] = []
    while index >= 0 and index not in chain:
        chain.append(index)
        index = parents[index]
    prefix = ""
    for link in reversed(chain):
        prefix = f"{prefix}.{names[link]}" if prefix else names[link]
    return prefix
