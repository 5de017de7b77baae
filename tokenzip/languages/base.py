"""What a language must offer, and what it may ask of the project.

A language says two things: what one file's bytes say (`Language.extract`, which sees nothing else), and what that means
among other files (`Language.evaluator`, which sees the project only through a `View`).

**Facts.** Whatever an evaluator looks at outside the file that it links is a *fact*, noted by its key, also when the answer
is "no such thing"; when files change, the keys whose answers differ say exactly which other files to link again:

=============================  ============================================================================
``("sym", path, name)``        `Interface.names[name]` of a file (an absent file is an empty interface)
``("def", path, qualified)``   `Interface.definitions[qualified]`
``("mem", path, class, name)`` `Interface.members[class][name]`
``("all", path, class)``       all of `Interface.members[class]`, for who looks through them
``("star", path)``             `Interface.stars`
``("path", base)``             whether `base` names a file or directory; see `path_facts` for what one path answers
``("stem", name)``             which files or directories have that base name (without suffixes), anywhere
``("announced", key)``         which interfaces announce that key, anywhere
=============================  ============================================================================
"""

from __future__ import annotations

import gc
import posixpath
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from tokenzip.model import Fact, FileIR, Interface, LinkedFile, SymbolDetail, SymbolRow


class View(Protocol):
    """One snapshot of the project as linking sees it. It answers; the evaluator notes the facts."""

    def interface(self, path: str) -> Interface:
        """The interface of a file; the empty one if the file is absent, skipped or of no known language."""
        ...

    def is_file(self, path: str) -> bool: ...

    def is_directory(self, path: str) -> bool:
        """Whether any file lies below `path` (the root, ``""``, always does)."""
        ...

    def with_stem(self, stem: str) -> tuple[str, ...]:
        """All file paths and directories whose base name without suffixes is `stem`, sorted."""
        ...

    def announcing(self, key: str) -> tuple[str, ...]:
        """All files whose interface announces `key`, sorted."""
        ...


Wanted = Callable[[int, str], bool]
"""Whether a reference is asked about: the place of the symbol that it is in (-1: none), and the name that it is to."""


class Evaluator(Protocol):
    """Links files of one language family in one view; keeps what it worked out for the next file of the same view."""

    def link(self, path: str, ir: FileIR, wanted: Wanted | None = None) -> LinkedFile:
        """Edges, open references and facts consulted of one file. Reads interfaces of other files, never their links.

        The result must not depend on which files were linked before (`design.md`, law 2). Where only some references are
        `wanted`, those of all others may be left out.
        """
        ...

    @property
    def facts(self) -> set[Fact]:
        """Facts noted since `link` began: what a fault rests on, if it raised."""
        ...


class NoEdges:
    """The evaluator of a language whose files have no edges of their own."""

    def link(self, path: str, ir: FileIR, wanted: Wanted | None = None) -> LinkedFile:
        return LinkedFile()

    @property
    def facts(self) -> set[Fact]:
        return set()


class Language(Protocol):
    """One language: see `docs/adding-a-language.md`, member by member."""

    name: str
    """As shown and stored: ``python``, ``typescript``, ``tsx`` ..."""
    family: str
    """Languages of one family link to each other and share an evaluator: ``python``, ``javascript``."""
    version: int
    """Grows whenever `extract` may answer differently for some bytes."""
    suffixes: tuple[str, ...]
    """File name endings, with the dot, lower case."""
    filenames: tuple[str, ...]
    """Whole base names or glob patterns (``tsconfig*.json``)."""
    is_source: bool
    """False for manifests and settings: they have an interface, but no symbols and no place in counts of source files."""

    def extract(self, source: bytes) -> FileIR:
        """What the bytes say. Never raises: what cannot be read is said in the status."""
        ...

    def describe(self, source: bytes, symbols: Sequence[SymbolRow]) -> tuple[SymbolDetail, ...]:
        """Parameters, return types, decorators ... of each of the symbols, which are all that `extract` said of the source."""
        ...

    def evaluator(self, view: View) -> Evaluator: ...

    def is_test(self, path: str) -> bool:
        """Whether the file holds tests, by the conventions of the language's usual runners."""
        ...


INDEX_STEMS = frozenset({"__init__", "index", "mod"})
"""A file of such a name also stands for its directory."""


def path_facts(path: str) -> tuple[Fact, ...]:
    """The ``path`` facts that a file's beginning or end may change: ``a/b.d.ts`` answers to itself, ``a/b.d`` and ``a/b``.

    An index file answers to its directory too (``a/index.ts``: also ``a``).
    """
    directory, name = posixpath.split(path)
    bases = [path]
    while (cut := name.rfind(".")) > 0:
        name = name[:cut]
        bases.append(posixpath.join(directory, name))
    if name in INDEX_STEMS:
        bases.append(directory)
    return tuple(("path", base) for base in bases)


def stem_of(path: str) -> str:
    """Base name of a file or directory up to its first dot (a leading dot is part of it)."""
    name = posixpath.basename(path)
    cut = name.find(".", 1)
    return name if cut < 0 else name[:cut]


@contextmanager
def uncollected() -> Iterator[None]:
    """Keeps the collector of cycles out of work that makes many small objects and no cycles: looking would cost a fifth."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
