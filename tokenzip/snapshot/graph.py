"""`Snapshot`: one state of the repository as a graph. Everything that answers questions reads through it.

A snapshot is a stored tree with an overlay of files that differ from it (uncommitted work); for a commit the overlay is
empty. Its methods read the store in the transaction at hand, or in one of their own: wrap several calls in
``with snapshot.reading():`` when they belong to one answer.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import hashlib
import re
import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokenzip.errors import AmbiguousSymbol, StoreChanged, UnknownSymbol
from tokenzip.git import GitRepository, MissingObject
from tokenzip.index import LARGEST_FILE, Source, analysis_tag, extract, extract_blob, language_tag, searchable_names
from tokenzip.languages import registry
from tokenzip.languages.base import stem_of
from tokenzip.link import UNREAD_NAME, Linker
from tokenzip.model import (
    NO_DETAIL,
    BlobId,
    Edge,
    EdgeRow,
    FileIR,
    Flag,
    Interface,
    LinkedFile,
    ParseProblem,
    Revision,
    Status,
    Symbol,
    SymbolDetail,
    SymbolKey,
    SymbolRow,
    TreeId,
    Unresolved,
    qualified_names,
)
from tokenzip.modules import MANIFESTS, ModuleMap, detect, manifest_paths
from tokenzip.snapshot.keys import (
    OPEN_REASONS,
    announced_key,
    edge_key,
    keys_of_content,
    keys_of_record,
    name_key,
    open_key,
    stem_key,
    stems_of,
)
from tokenzip.snapshot.tree import DIRECTORY, GITLINK, NO_LINK, SYMLINK, Directory, StoredTree, TreeFile
from tokenzip.snapshot.view import SnapshotView
from tokenzip.store import (
    Address,
    Extent,
    LinkRecord,
    OpenReference,
    ReadTransaction,
    Store,
    Uses,
    Vocabulary,
    decode_consulted,
    decode_edges_to,
    decode_extent,
    decode_ir,
    decode_link,
    decode_names,
    decode_opens,
    decode_top_names,
    decode_uses,
    link_record,
    uses_of,
)
from tokenzip.words import words_of

_REMEMBERED_FILES = 2048
_REMEMBERED_SYMBOLS = 10_000
_REMEMBERED_EDGES = 20_000
"""Of some 500 and 200 bytes each. A server is asked again and again, and keeps its snapshots."""
_REMEMBERED_REFERENCES = 5_000
"""References without an edge, of files that were linked again for their lines; some 200 bytes each."""
_REMEMBERED_ENTRIES = 8_000
"""Of directories, some 350 bytes each."""
_REMEMBERED_INTERFACES = 400_000
"""Bytes of interfaces as they are stored, a tenth of what they take when they are read."""
_LINKED_BY_ONE = 32
"""Files that one linker links again: what it remembers of other files grows with each."""
_NEAREST_NAMES = 5


@dataclass(slots=True)
class _SharedLinker:
    """A linker of one question, and how many files it has linked."""

    linker: Linker
    files: int = 0


@dataclass(frozen=True, slots=True)
class OverlayFile:
    """A file that differs from the stored tree: in content, or only in what it means."""

    file: TreeFile
    source: Callable[[], bytes]
    ir: FileIR | None = None
    """None if the blob is the stored tree's."""
    link: LinkRecord | None = None
    """None if the link record is the stored tree's."""


Overlay = Mapping[str, OverlayFile | None]
"""Path -> what stands there instead; None: nothing does."""


class OpenUse(NamedTuple):
    """A file with open references of some name."""

    path: str
    reference: OpenReference


class Content(NamedTuple):
    """A file that is searched."""

    path: str
    document: int
    """The number that its words are posted under in the store; 0 if they are not (uncommitted work)."""


class Mention(NamedTuple):
    """Where a file that was not read holds a name."""

    path: str
    line: int
    name: str


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


class File:
    """One file of a snapshot; status and symbols are read when asked for."""

    __slots__ = ("_facts", "_named", "_snapshot", "_symbols", "blob", "language", "mode", "path")

    def __init__(self, snapshot: Snapshot, file: TreeFile) -> None:
        self.path = file.path
        self.mode = file.mode
        self.blob = file.blob
        self.language = file.language
        self._snapshot = snapshot
        self._facts: FileIR | None = None
        self._symbols: tuple[Symbol, ...] | None = None
        self._named: Mapping[str, Symbol] | None = None

    def _read(self) -> FileIR:
        if self._facts is None:
            unread = FileIR("skipped", 0, reason=_unread_reason(self.mode))
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
    def symbols(self) -> tuple[Symbol, ...]:
        if self._symbols is None:
            rows = self.rows
            names = qualified_names(rows)
            self._symbols = tuple(
                Symbol(self.path, index, name, row, self.blob)
                for index, (row, name) in enumerate(zip(rows, names, strict=True))
            )
        return self._symbols

    def named(self, qualified: str) -> Symbol | None:
        """The symbol of that qualified name."""
        if self._named is None:
            self._named = {symbol.qualified_name: symbol for symbol in self.symbols}
        return self._named.get(qualified)


class Snapshot:
    """One state of the repository as a graph."""

    def __init__(
        self, git: GitRepository, store: Store, at: Revision, tree: TreeId | None, overlay: Overlay | None = None
    ) -> None:
        self.git = git
        self.store = store
        self.at = at
        self.tree = tree
        self.overlay: Overlay = overlay or {}
        self._stored = StoredTree(git, tree) if tree is not None else None
        self._files: OrderedDict[str, File] = OrderedDict()
        self._symbols_read = 0
        self._links: OrderedDict[str, LinkRecord] = OrderedDict()
        self._edges_read = 0
        self._unresolved: OrderedDict[str, tuple[Unresolved, ...]] = OrderedDict()
        self._references_read = 0
        self._interfaces: dict[tuple[BlobId, str], tuple[Interface, int]] = {}
        self._interface_bytes = 0
        self._rooted_in: Callable[[], ReadTransaction | None] = _nowhere
        self._known_root = NO_LINK
        self._entries_read = 0
        self._serial: int | None = None
        self._directories: dict[str, Directory | None] = {}
        self._walked: weakref.WeakKeyDictionary[ReadTransaction, StoredTree] = weakref.WeakKeyDictionary()
        """Whole walks read every directory: that is kept as long as a question, not as long as a snapshot."""
        self._linkers: weakref.WeakKeyDictionary[ReadTransaction, _SharedLinker] = weakref.WeakKeyDictionary()

    def with_overlay(self, overlay: Overlay, at: Revision | None = None) -> Snapshot:
        """The same stored tree under another overlay."""
        return Snapshot(self.git, self.store, at or self.at, self.tree, overlay)

    def reading(self) -> contextlib.AbstractContextManager[ReadTransaction]:
        """One read transaction for several calls."""
        return self.store.reading()

    def _root(self, reading: ReadTransaction) -> Address:
        assert self.tree is not None
        if self._rooted_in() is reading:
            return self._known_root
        self._directories.clear()
        if self._entries_read > _REMEMBERED_ENTRIES or self._serial != reading.serial:  # addresses are those of one store
            self._stored, self._entries_read, self._serial = StoredTree(self.git, self.tree), 0, reading.serial
        root = reading.snapshot_root(self.tree, analysis_tag())
        if root is None:
            raise StoreChanged(f"the graph of tree {self.tree} is no longer in the store", hint="ask again")
        self._rooted_in, self._known_root = weakref.ref(reading), root
        return root

    # ---- files

    def paths(self) -> Iterator[str]:
        """Every path, links and submodules included, in a fixed order."""
        return (file.path for file in self._tree_files())

    def files(self) -> Iterator[File]:
        """Every file, in the order of `paths`."""
        with self.reading():
            for file in self._tree_files():
                yield self._remember(file)

    def _tree_files(self) -> Iterator[TreeFile]:
        with self.reading() as reading:
            if self.tree is not None:
                walked = self._walked.setdefault(reading, StoredTree(self.git, self.tree))
                for file in walked.files(reading, self._root(reading)):
                    if file.path not in self.overlay:
                        yield file
            for path in sorted(self.overlay):
                over = self.overlay[path]
                if over is not None:
                    yield over.file

    def measured(self) -> Iterator[Measured]:
        """How much each file holds, in the order of `paths`. Nothing of it is remembered."""
        with self.reading():
            for file in self._tree_files():
                yield self._measure(file)

    def measure(self, path: str) -> Measured | None:
        """How much the file at a path holds, None if there is none."""
        file = self.tree_file(path)
        return self._measure(file) if file is not None else None

    def _measure(self, file: TreeFile) -> Measured:
        if file.language is None:
            return Measured(file.path, None, Extent("skipped", _unread_reason(file.mode), 0, 0))
        over = self.overlay.get(file.path)
        record = self._ir_record(file.blob, file.language) if over is None or over.ir is None else None
        if record is not None:
            return Measured(file.path, file.language, decode_extent(record), file.link)
        ir = self.ir(file.path)
        return Measured(file.path, file.language, Extent(ir.status, ir.reason, ir.lines, len(ir.symbols)), file.link)

    def tree_file(self, path: str) -> TreeFile | None:
        """Mode, blob and language of a path; None if no file is there."""
        if path in self.overlay:
            over = self.overlay[path]
            return over.file if over is not None else None
        if self._stored is None:
            return None
        parent, _, name = path.rpartition("/")
        with self.reading() as reading:
            entries = self._directory(reading, parent)
        entry = entries.get(name) if entries is not None else None
        if entry is None or entry.mode == DIRECTORY:
            return None
        return TreeFile(path, entry.mode, BlobId(entry.id), entry.language, entry.link)

    def _directory(self, reading: ReadTransaction, path: str) -> Directory | None:
        """A directory of the stored tree, remembered as long as the transaction: files are mostly asked for by directory."""
        root = self._root(reading)
        if path in self._directories:
            return self._directories[path]
        assert self._stored is not None
        entries = self._directories[path] = self._stored.directory(reading, root, path)
        self._entries_read += len(entries or ())
        return entries

    def file(self, path: str) -> File | None:
        """The file at a path, None if there is none."""
        known = self._files.get(path)
        if known is not None:
            self._files.move_to_end(path)
            return known
        found = self.tree_file(path)
        return self._remember(found) if found is not None else None

    def _remember(self, file: TreeFile) -> File:
        known = self._files.get(file.path)
        if known is None:
            known = self._files[file.path] = File(self, file)
            if len(self._files) > _REMEMBERED_FILES:
                self._forget_file()
        return known

    def has_read(self, file: File) -> None:
        """Called by a file that has read its symbols: the oldest files make room for them."""
        if self._files.get(file.path) is file:
            self._symbols_read += file.weight
            while self._symbols_read > _REMEMBERED_SYMBOLS and len(self._files) > 1:
                self._forget_file()

    def _forget_file(self) -> None:
        _, file = self._files.popitem(last=False)
        self._symbols_read -= file.weight

    def is_directory(self, path: str) -> bool:
        """Whether any file lies below `path`."""
        if not path or path in self._overlay_directories:
            return True
        if self._stored is None:
            return False
        with self.reading() as reading:
            if self._directory(reading, path) is None:
                return False
            removed = self._removed_below.get(path)
            return not removed or any(name not in removed for name in self._below(reading, path))

    @functools.cached_property
    def _overlay_directories(self) -> frozenset[str]:
        return frozenset(parent for path, over in self.overlay.items() if over is not None for parent in _parents(path))

    @functools.cached_property
    def _removed_below(self) -> Mapping[str, set[str]]:
        removed: dict[str, set[str]] = {}
        for path, over in self.overlay.items():
            if over is None:
                for parent in _parents(path):
                    removed.setdefault(parent, set()).add(path)
        return removed

    def _below(self, reading: ReadTransaction, directory: str) -> Iterator[str]:
        assert self._stored is not None
        pending = [directory]
        while pending:
            here = pending.pop()
            for name, entry in (self._directory(reading, here) or {}).items():
                if entry.node is not None:
                    pending.append(f"{here}/{name}")
                else:
                    yield f"{here}/{name}"

    def source(self, path: str) -> bytes:
        """The content of a file. Raises UnknownSymbol if there is none."""
        over = self.overlay.get(path)
        if over is not None:
            return over.source()
        file = self.tree_file(path)
        if file is None:
            raise UnknownSymbol(f"there is no file {path} at {self.at.rev}")
        return b"" if file.mode == GITLINK else self.git.blob(file.blob)

    def size(self, path: str) -> int:
        """Bytes of a file's content."""
        over = self.overlay.get(path)
        if over is not None and over.ir is not None:
            return len(over.source())
        file = self.tree_file(path)
        return (self.git.blob_sizes([file.blob])[0] or 0) if file is not None and file.mode != GITLINK else 0

    # ---- what files say

    def ir(self, path: str) -> FileIR:
        """Status and symbols of a file that a language reads (its interface and body are left out)."""
        over = self.overlay.get(path)
        if over is not None and over.ir is not None:
            return over.ir
        file = self.tree_file(path)
        if file is None or file.language is None:
            raise UnknownSymbol(f"there is no readable file {path} at {self.at.rev}")
        record = self._ir_record(file.blob, file.language)
        return decode_ir(record) if record is not None else self.extract(path)

    def names(self, path: str) -> tuple[str, ...]:
        """The names of a file's symbols, in their order: sooner read than the symbols; none if no language reads it."""
        over, file = self.overlay.get(path), self.tree_file(path)
        if file is None or file.language is None:
            return ()
        record = self._ir_record(file.blob, file.language) if over is None or over.ir is None else None
        return decode_names(record) if record is not None else tuple([row.name for row in self.ir(path).symbols])

    def _ir_record(self, blob: BlobId, language: str) -> bytes | None:
        with self.reading() as reading:
            address = reading.blob_address(blob, language_tag(language))
            return reading.record(address) if address is not None else None

    def interface(self, path: str) -> Interface:
        """What other files may look at in a file; empty if no language reads it."""
        over = self.overlay.get(path)
        if over is not None and over.ir is not None:
            return over.ir.interface
        file = self.tree_file(path)
        if file is None or file.language is None:
            return Interface()
        known = self._interfaces.pop((file.blob, file.language), None) or self._read_interface(file)
        self._interfaces[file.blob, file.language] = known  # the last one again
        return known[0]

    def _read_interface(self, file: TreeFile) -> tuple[Interface, int]:
        """The interface of a file, with about how many bytes it is in the store."""
        assert file.language is not None
        with self.reading() as reading:
            address = reading.interface_address(file.blob, language_tag(file.language))
            record = reading.record(address) if address is not None else None
        read = (self.extract(file.path).interface, 1000) if record is None else (decode_consulted(record), 100 + len(record))
        self._interface_bytes += read[1]
        while self._interface_bytes > _REMEMBERED_INTERFACES and self._interfaces:
            self._interface_bytes -= self._interfaces.pop(next(iter(self._interfaces)))[1]
        return read

    def kept_interface(self, file: TreeFile) -> Interface | None:
        """The interface of a file as the store has it; None if no file ever looked at it."""
        if file.language is None:
            return None
        with self.reading() as reading:
            address = reading.interface_address(file.blob, language_tag(file.language))
            record = reading.record(address) if address is not None else None
        return decode_consulted(record) if record is not None else None

    def extract(self, path: str) -> FileIR:
        """The whole of what a file says, body included, read again from its bytes."""
        over = self.overlay.get(path)
        if over is not None and over.ir is not None and over.ir.body is not None:
            return over.ir
        file = self.tree_file(path)
        if file is None or file.language is None:
            raise UnknownSymbol(f"there is no readable file {path} at {self.at.rev}")
        if over is not None and over.ir is not None:
            return extract(over.source(), file.language)
        return extract_blob(self.git, Source(path, file.blob, file.language, self.git.blob_sizes([file.blob])[0]))

    def symbol(self, key: SymbolKey) -> Symbol | None:
        """The symbol of that path and qualified name, None if there is none (or the name is empty)."""
        file = self.file(key.path)
        if file is None or not key.qualified:
            return None
        return file.named(key.qualified)

    def detail(self, symbol: Symbol) -> SymbolDetail:
        """Parameters, return type, decorators ..., read again from the source."""
        details = self.details(symbol.path)
        return details[symbol.index] if symbol.index < len(details) else NO_DETAIL

    def details(self, path: str) -> tuple[SymbolDetail, ...]:
        """`detail` of each symbol of a file."""
        file = self.file(path)
        if file is None or file.language is None or file.status not in ("parsed", "partial"):
            return ()
        return registry.get(file.language).describe(self.source(path))

    def docstring(self, symbol: Symbol) -> str:
        """The symbol's documentation as written, empty if there is none."""
        return self.source(symbol.path)[symbol.row.doc_start : symbol.row.doc_end].decode("utf-8", "replace")

    # ---- what files mean

    def link(self, path: str) -> LinkRecord:
        """Edges out of a file and its open references."""
        over = self.overlay.get(path)
        if over is not None and over.link is not None:
            return over.link
        known = self._links.get(path)
        if known is None:
            known = self._links[path] = self._read_link(path)
            self._edges_read += len(known.edges)
            while len(self._links) > _REMEMBERED_FILES or (self._edges_read > _REMEMBERED_EDGES and len(self._links) > 1):
                _, forgotten = self._links.popitem(last=False)
                self._edges_read -= len(forgotten.edges)
        return known

    def _read_link(self, path: str) -> LinkRecord:
        stored = self._stored_link(path)
        return decode_link(stored, path) if stored is not None else link_record(self.relink(path))

    def _stored_link(self, path: str) -> bytes | None:
        """The link record of a file of the stored tree, as the store has it; None where it is lost."""
        file = self.tree_file(path)
        return self._link_bytes(file.language, file.link) if file is not None else b""

    def _link_bytes(self, language: str | None, link: Address | None) -> bytes | None:
        if language is None or link is None or link == NO_LINK:
            return b""
        with self.reading() as reading:
            return reading.record(link)

    def uses(self, file: Measured) -> Uses:
        """What a file uses, in columns: for counting over many files. Nothing of it is remembered."""
        stored = self._link_bytes(file.language, file.link) if self._is_unread(file.path) else None
        return decode_uses(stored, file.path) if stored is not None else uses_of(self.link(file.path))

    def _is_unread(self, path: str) -> bool:
        """Whether the link record of a file is that of the stored tree, and was not decoded yet."""
        over = self.overlay.get(path)
        return path not in self._links and (over is None or over.link is None)

    def relink(self, path: str) -> LinkedFile:
        """Link a file again: for the lines of its open references, which are not stored.

        Files that one question has linked share a linker, as those of a whole tree do.
        """
        with self.reading() as reading:
            shared = self._linkers.get(reading)
            if shared is None or shared.files >= _LINKED_BY_ONE:
                shared = self._linkers[reading] = _SharedLinker(Linker(SnapshotView(self)))
            shared.files += 1
            return shared.linker.link(path, self.extract(path))

    def file_edges(self, path: str) -> tuple[Edge, ...]:
        """All edges out of a file, by source symbol and line."""
        edges = self.link(path).edges
        if not edges:
            return ()
        file = self.file(path)
        names = {symbol.index: symbol.qualified_name for symbol in file.symbols} if file is not None else {}
        return tuple(_edge(path, names, row) for row in edges)

    def edges_from(self, key: SymbolKey) -> tuple[Edge, ...]:
        """Edges whose source is exactly this symbol; with an empty name, those of the file's module level."""
        if not key.qualified:
            return tuple(edge for edge in self.file_edges(key.path) if edge.source == key)
        symbol = self.symbol(key)
        if symbol is None:
            return ()
        names = {symbol.index: key.qualified}
        return tuple(_edge(key.path, names, row) for row in self.link(key.path).edges if row.source == symbol.index)

    def edges_to(self, key: SymbolKey) -> tuple[Edge, ...]:
        """Edges whose target is exactly this symbol, or this file; ordered by path and line."""
        with self.reading():
            candidates = {key.path, *self.paths_posted([edge_key(key.path, key.qualified)])}
            wanted = {(key.path, key.qualified)}
            return tuple(edge for path in sorted(candidates) for edge in self._edges_between(path, wanted))

    def _edges_between(self, path: str, wanted: Container[tuple[str, str]]) -> Iterator[Edge]:
        """The edges from one file to these targets."""
        rows = self._rows_to(path, wanted)
        file = self.file(path) if rows else None
        symbols = file.symbols if file is not None else ()
        names = {row.source: symbols[row.source].qualified_name for row in rows if 0 <= row.source < len(symbols)}
        return (_edge(path, names, row) for row in rows)

    def edges_to_each(self, keys: Collection[SymbolKey]) -> dict[SymbolKey, tuple[Edge, ...]]:
        """`edges_to` for many at once: each file that uses any is looked at once, and only what leads to them is read."""
        wanted = {(key.path, key.qualified) for key in keys}
        found: dict[SymbolKey, list[Edge]] = {key: [] for key in keys}
        with self.reading():
            posted = self.paths_posted([edge_key(key.path, key.qualified) for key in keys])
            for path in sorted({key.path for key in keys}.union(posted)):
                for edge in self._edges_between(path, wanted):
                    found[edge.target].append(edge)
        return {key: tuple(edges) for key, edges in found.items()}

    def _rows_to(self, path: str, wanted: Container[tuple[str, str]]) -> list[EdgeRow]:
        """The rows of a file's link record to these targets."""
        record = self._encoded_link(path)
        if record is not None:
            return decode_edges_to(record, path, wanted)
        return [row for row in self.link(path).edges if (row.path, row.qualified) in wanted]

    def _encoded_link(self, path: str) -> bytes | None:
        """A file's link record as it is stored, to decode no more of it than is needed; None where it is not from there."""
        return self._stored_link(path) if self._is_unread(path) else None

    def unresolved_in(self, path: str) -> tuple[Unresolved, ...]:
        """Every reference of a file that has no edge, with its line; the file is linked again for it."""
        known = self._unresolved.get(path)
        if known is None:
            known = self._unresolved[path] = self._read_unresolved(path)
            self._references_read += len(known)
            while self._references_read > _REMEMBERED_REFERENCES and len(self._unresolved) > 1:
                _, forgotten = self._unresolved.popitem(last=False)
                self._references_read -= len(forgotten)
        return known

    def _read_unresolved(self, path: str) -> tuple[Unresolved, ...]:
        file = self.file(path)
        if file is None or not file.is_source or file.status not in ("parsed", "partial"):
            return ()
        names = [symbol.qualified_name for symbol in file.symbols]
        return tuple(
            Unresolved(
                SymbolKey(path, names[row.source] if row.source >= 0 else ""),
                row.kind,
                row.line,
                row.name,
                row.reason,
                row.detail,
            )
            for row in self.relink(path).unresolved
        )

    def open_uses(self, *names: str) -> tuple[OpenUse, ...]:
        """Files with references of these names which may mean a symbol of the repository (dynamic, ambiguous, missing)."""
        wanted = frozenset(names)
        with self.reading():
            return tuple(
                OpenUse(path, reference)
                for path in self.paths_posted(map(open_key, wanted))
                for reference in self._opens(path)
                if reference.name in wanted and reference.reason in OPEN_REASONS
            )

    def _opens(self, path: str) -> tuple[OpenReference, ...]:
        record = self._encoded_link(path)
        return self.link(path).open if record is None else decode_opens(record)

    def unread_mentions(self, names: Collection[str]) -> tuple[Mention, ...]:
        """Sources that were not read (skipped, failed) and hold one of these names as a word, with the first place.

        What this clone does not hold, and what is too large to look through, counts as holding them.
        """
        unread = self.open_uses(UNREAD_NAME) if names else ()
        if not unread:
            return ()
        written = [re.escape(name.encode("utf-8", "surrogatepass")) for name in sorted(names)]
        word = re.compile(rb"(?<![\w$])(?:" + b"|".join(written) + rb")(?![\w$])")
        mentions = (self._mention(use.path, word, min(names)) for use in unread)
        return tuple(mention for mention in mentions if mention is not None)

    def _mention(self, path: str, word: re.Pattern[bytes], otherwise: str) -> Mention | None:
        file = self.tree_file(path)
        over = self.overlay.get(path)
        size = self.git.blob_sizes([file.blob])[0] if file is not None and (over is None or over.ir is None) else 0
        if size is None or size > LARGEST_FILE:
            return Mention(path, 1, otherwise)
        try:
            source = self.source(path)
        except MissingObject:
            return Mention(path, 1, otherwise)
        match = word.search(source)
        if match is None:
            return None
        return Mention(path, source.count(b"\n", 0, match.start()) + 1, match.group().decode("utf-8", "surrogatepass"))

    def unresolved_named(self, name: str) -> tuple[Unresolved, ...]:
        """The references of `open_uses` one by one, with their lines: each of the files is linked again."""
        paths = sorted({use.path for use in self.open_uses(name)})
        return tuple(
            row for path in paths for row in self.unresolved_in(path) if row.name == name and row.reason in OPEN_REASONS
        )

    def paths_posted(self, hashes: Iterable[int]) -> list[str]:
        """Files of this snapshot that may be posted under any of the key hashes, sorted; to be verified by the caller."""
        return [path for path in self._posted(hashes) if self.tree_file(path) is not None]

    def _posted(self, hashes: Iterable[int]) -> list[str]:
        """Paths (a directory's ends in a slash) under any of the hashes, those of other snapshots included."""
        wanted = set(hashes)
        with self.reading() as reading:
            posted = set(reading.paths_posted(wanted))
        if self.overlay:
            posted.update(path for number in wanted for path in self._overlay_postings.get(number, ()))
        return sorted(posted)

    @functools.cached_property
    def _overlay_postings(self) -> Mapping[int, set[str]]:
        """What the store's inverted index is for the stored tree, for the overlay; facts consulted are not in it."""
        postings: dict[int, set[str]] = {}
        standing = {path: over for path, over in self.overlay.items() if over is not None}
        for path, key in stems_of(standing):
            postings.setdefault(key, set()).add(path)
        for path, over in standing.items():
            keys = keys_of_record(path, over.link) if over.link is not None else set()
            if over.ir is not None:
                keys |= keys_of_content(searchable_names(over.ir), over.ir.interface.announces)
            for key in keys:
                postings.setdefault(key, set()).add(path)
        return postings

    def with_stem(self, stem: str) -> tuple[str, ...]:
        """Files that a language reads, and directories, whose base name up to the first dot is `stem`; sorted."""
        with self.reading():
            posted = self._posted([stem_key(stem)])
            return tuple(
                sorted({path.rstrip("/") for path in posted if stem_of(path.rstrip("/")) == stem and self._stands(path)})
            )

    def _stands(self, path: str) -> bool:
        if path.endswith("/"):
            return self.is_directory(path[:-1])
        file = self.tree_file(path)
        return file is not None and file.language is not None

    def announcing(self, key: str) -> tuple[str, ...]:
        """Files whose interface announces `key`, sorted."""
        return tuple(path for path in self.paths_posted([announced_key(key)]) if key in self.interface(path).announces)

    # ---- words

    def contents(self) -> Iterator[Content]:
        """Every file that is searched, in the order of `paths`."""
        with self.reading() as reading:
            for file in self._tree_files():
                if file.language is not None and registry.is_searched(file.language):
                    over = self.overlay.get(file.path)
                    is_stored = over is None or over.ir is None
                    yield Content(file.path, reading.document(file.blob, language_tag(file.language)) if is_stored else 0)

    def words(self, path: str) -> set[str]:
        """The words of a file's content, read from it; none if this clone does not hold it, or if it is too large."""
        try:
            content = self.source(path)
        except MissingObject:
            return set()
        return words_of(content) if len(content) <= LARGEST_FILE else set()

    def vocabulary(self) -> tuple[int, Vocabulary]:
        """The words of all contents in the store, inside a transaction; and which store: numbers mean nothing in another."""
        with self.reading() as reading:
            return reading.serial, reading.words

    # ---- names

    def resolve_handle(self, text: str) -> SymbolKey:
        """What a handle names: ``path::Qualified.name``, a path, or a short form of either that is unique.

        Raises UnknownSymbol with the nearest names, AmbiguousSymbol with all candidates.
        """
        with self.reading():
            path, separator, qualified = text.partition("::")
            if separator:
                return self._in_file(self._one_path(path), qualified)
            if self.tree_file(text) is not None:
                return SymbolKey(text)
            found = self.named(text)
            if len(found) == 1:
                return found[0].key
            if found:
                raise AmbiguousSymbol(
                    f"{text} names {len(found)} symbols",
                    hint="give the whole handle of one of them",
                    candidates=[symbol.handle for symbol in found],
                )
            return SymbolKey(self._one_path(text))

    def _in_file(self, path: str, qualified: str) -> SymbolKey:
        key = SymbolKey(path, qualified)
        if not qualified or self.symbol(key) is not None:
            return key
        file = self.file(path)
        symbols = file.symbols if file is not None else ()
        suffix = [symbol for symbol in symbols if symbol.qualified_name.endswith("." + qualified)]
        if len(suffix) == 1:
            return suffix[0].key
        near = [symbol.handle for symbol in suffix] or [
            f"{path}::{name}"
            for name in difflib.get_close_matches(qualified, [symbol.qualified_name for symbol in symbols], _NEAREST_NAMES, 0.5)
        ]
        raise UnknownSymbol(f"{path} has no symbol {qualified} at {self.at.rev}", hint=_nearest_hint(near), candidates=near)

    def _one_path(self, text: str) -> str:
        """A whole path, or the only path that ends in it."""
        text = text.removeprefix("./").rstrip("/")
        if self.tree_file(text) is not None:
            return text
        name = text.rpartition("/")[2]
        with self.reading():
            ends = [
                path
                for path in self.paths_posted([stem_key(stem_of(name))])
                if path.endswith("/" + text) and self.tree_file(path) is not None
            ]
        if len(ends) == 1:
            return ends[0]
        if ends:
            raise AmbiguousSymbol(f"{text} names {len(ends)} files", hint="give a longer path", candidates=ends)
        near = self._nearest(text)
        raise UnknownSymbol(f"there is no symbol or file {text} at {self.at.rev}", hint=_nearest_hint(near), candidates=near)

    def named(self, text: str, most: int | None = None) -> tuple[Symbol, ...]:
        """Symbols whose qualified name is `text` or ends in ``.text``; if some are so at top level, only those.

        Ordered by path and position; symbols local to a function only if there are no others. The first `most` of them.
        """
        last = text.rpartition(".")[2]
        with self.reading():
            paths = self.paths_posted([name_key(_without_ordinal(last))])
            tops = paths
            if most is not None and len(paths) > most and text == _without_ordinal(last):
                tops = [path for path in paths if self._may_hold_at_top(path, text)]
            whole = _first_shared(self._called(tops, text, whole=True), most)
            return tuple((whole or _first_shared(self._called(paths, text, whole=False), most))[:most])

    def _called(self, paths: Iterable[str], text: str, *, whole: bool) -> Iterator[Symbol]:
        """Symbols of these files whose qualified name is `text` or, unless as a `whole`, ends in it."""
        for path in paths:
            file = self.file(path)
            if file is not None and file.is_source:
                for symbol in file.symbols:
                    name = symbol.qualified_name
                    if name == text or (not whole and name.endswith("." + text)):
                        yield symbol

    def _may_hold_at_top(self, path: str, name: str) -> bool:
        """Whether a symbol of that name may be in no other: sooner told than by reading all symbols of a file."""
        over, file = self.overlay.get(path), self.tree_file(path)
        if file is None or file.language is None or (over is not None and over.ir is not None):
            return True
        record = self._ir_record(file.blob, file.language)
        return record is None or name in decode_top_names(record)

    def _nearest(self, text: str) -> list[str]:
        """Names that resemble `text`: for a message, so a scan of all symbols is no harm."""
        wanted = text.rpartition(".")[2].rpartition("/")[2].lower()
        names: dict[str, str] = {}
        for file in self.files():
            names.setdefault(file.path.rpartition("/")[2].lower(), file.path)
            if file.is_source:
                for symbol in file.symbols:
                    names.setdefault(symbol.name.lower(), symbol.handle)
        return [names[name] for name in difflib.get_close_matches(wanted, names, _NEAREST_NAMES, 0.6)]

    def modules(self) -> ModuleMap:
        """The modules of this state, from its manifests."""
        return self._modules

    @functools.cached_property
    def _modules(self) -> ModuleMap:
        with self.reading():
            return detect(self._manifests(), self.interface, self.source)

    def _manifests(self) -> list[str]:
        """Paths of the manifests, in the order of `paths`; found by their names, without a look at all other files."""
        posted = manifest_paths(self._posted({stem_key(stem_of(name)) for name in MANIFESTS}))
        found = sorted(filter(self._stands, posted), key=lambda path: path.encode("utf-8", "surrogateescape"))
        return sorted(found, key=lambda path: path in self.overlay)

    def digest(self) -> str:
        """A digest of the whole graph: equal for equal states, however they were reached."""
        total = hashlib.blake2b(digest_size=16)
        with self.reading():
            for file in sorted(self.files(), key=lambda file: file.path):
                if file.language is None:
                    record: object = (file.path, file.mode, file.blob)
                else:
                    link = self.link(file.path)
                    record = (file.path, file.mode, file.blob, file.status, file.reason, link.edges, link.open)
                total.update(repr(record).encode("utf-8", "surrogateescape"))
        return total.hexdigest()


def _unread_reason(mode: int) -> str:
    if mode == SYMLINK:
        return "symbolic link"
    return "submodule" if mode == GITLINK else "no language reads this kind of file"


def _first_shared(symbols: Iterable[Symbol], most: int | None) -> list[Symbol]:
    """Those that are not local to a function, the first `most` of them; all, if every one is."""
    shared: list[Symbol] = []
    local: list[Symbol] = []
    for symbol in symbols:
        (local if symbol.row.flags & Flag.LOCAL else shared).append(symbol)
        if most is not None and len(shared) >= most:
            break
    return shared or local


def _nowhere() -> None:
    return None


def _without_ordinal(name: str) -> str:
    """``f`` for ``f#2``; the ``#`` of a private name of JavaScript stays."""
    return re.sub(r"(?<=.)#\d+$", "", name)


def _parents(path: str) -> Iterator[str]:
    """The directories above a path, the nearest first, without the root."""
    while (cut := path.rfind("/")) > 0:
        path = path[:cut]
        yield path


def _nearest_hint(near: Sequence[str]) -> str:
    return f"did you mean {' or '.join(near[:3])}?" if near else "`tokenzip search WORDS` finds symbols by words"


def _edge(path: str, names: Mapping[int, str], row: EdgeRow) -> Edge:
    source = SymbolKey(path, names.get(row.source, ""))
    return Edge(source, SymbolKey(row.path, row.qualified), row.kind, row.tier, row.line, row.detail)


def changed_paths(base: Snapshot, head: Snapshot) -> tuple[str, ...]:
    """Paths whose blob, mode or existence differs between two snapshots, sorted."""
    paths = {change.path for change in base.git.diff_trees(base.tree, head.tree)}
    paths.update(base.overlay, head.overlay)
    return tuple(path for path in sorted(paths) if _content_of(base, path) != _content_of(head, path))


def _content_of(snapshot: Snapshot, path: str) -> tuple[int, str] | None:
    file = snapshot.tree_file(path)
    return None if file is None else (file.mode, file.blob)
