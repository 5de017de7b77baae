"""`Snapshot`: one state of the repository as a graph. Everything that answers questions reads through it.

A snapshot is a stored tree with an overlay of files that differ from it (uncommitted work); for a commit the overlay is
empty. Its methods read the store in the transaction at hand, or in one of their own: wrap several calls in
``with snapshot.reading():`` when they belong to one answer. What is worked out from these lies in `handles`, `edges` and
`references`; this room holds where each thing is read from, and how much of it is remembered.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import operator
import weakref
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tokenzip.errors import UnknownSymbol
from tokenzip.git import GitRepository, MissingObject
from tokenzip.index import LARGEST_FILE, Source, extract, extract_blob, language_tag
from tokenzip.languages import registry
from tokenzip.languages.base import Wanted, stem_of
from tokenzip.link import Linker
from tokenzip.model import (
    NO_DETAIL,
    BlobId,
    Edge,
    EdgeRow,
    FileIR,
    Interface,
    LinkedFile,
    Revision,
    Symbol,
    SymbolDetail,
    SymbolKey,
    TreeId,
    Unresolved,
)
from tokenzip.modules import MANIFESTS, ModuleMap, detect, manifest_paths
from tokenzip.recent import Recent
from tokenzip.snapshot import edges, handles, references
from tokenzip.snapshot.file import Content, File, Measured, unread_reason
from tokenzip.snapshot.keys import announced_key, stem_key
from tokenzip.snapshot.overlay import Overlay, OverlayFile, directories_of, postings_of, removed_below
from tokenzip.snapshot.references import Mention, OpenUse
from tokenzip.snapshot.tree import GITLINK, NO_LINK, TreeFile, TreeReader
from tokenzip.snapshot.view import SnapshotView
from tokenzip.store import (
    Address,
    Extent,
    LinkRecord,
    OpenReference,
    ReadTransaction,
    Store,
    SymbolColumns,
    Uses,
    Vocabulary,
    decode_columns,
    decode_consulted,
    decode_edges_to,
    decode_extent,
    decode_ir,
    decode_link,
    decode_opens,
    decode_uses,
    link_record,
    uses_of,
)
from tokenzip.words import words_of

__all__ = ["Overlay", "OverlayFile", "Snapshot", "changed_paths"]

_REMEMBERED_FILES = 2048
_REMEMBERED_SYMBOLS = 10_000
_REMEMBERED_EDGES = 20_000
"""Of some 500 and 200 bytes each. A server is asked again and again, and keeps its snapshots."""
_REMEMBERED_REFERENCES = 5_000
"""References without an edge, of files that were linked again for their lines; some 200 bytes each."""
_REMEMBERED_INTERFACES = 400_000
"""Bytes of interfaces as they are stored, a tenth of what they take when they are read."""
_LINKED_BY_ONE = 32
"""Files that one linker links again: what it remembers of other files grows with each."""


@dataclass(slots=True)
class _SharedLinker:
    """A linker of one question, and how many files it has linked."""

    linker: Linker
    files: int = 0


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
        self._stored = TreeReader(git, tree) if tree is not None else None
        self._files: Recent[str, File] = Recent(_REMEMBERED_FILES, _REMEMBERED_SYMBOLS, lambda file: file.weight)
        self._links: Recent[str, LinkRecord] = Recent(_REMEMBERED_FILES, _REMEMBERED_EDGES, lambda link: len(link.edges))
        self._unresolved: Recent[str, tuple[Unresolved, ...]] = Recent(_REMEMBERED_FILES, _REMEMBERED_REFERENCES, len)
        self._interfaces: Recent[tuple[BlobId, str], tuple[Interface, int]] = Recent(
            _REMEMBERED_FILES, _REMEMBERED_INTERFACES, operator.itemgetter(1)
        )
        self._linkers: weakref.WeakKeyDictionary[ReadTransaction, _SharedLinker] = weakref.WeakKeyDictionary()

    def with_overlay(self, overlay: Overlay, at: Revision | None = None) -> Snapshot:
        """The same stored tree under another overlay."""
        return Snapshot(self.git, self.store, at or self.at, self.tree, overlay)

    def reading(self) -> contextlib.AbstractContextManager[ReadTransaction]:
        """One read transaction for several calls."""
        return self.store.reading()

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
            for file in self._stored.files(reading) if self._stored is not None else ():
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
            return Measured(file.path, None, Extent("skipped", unread_reason(file.mode), 0, 0))
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
        with self.reading() as reading:
            return self._stored.file(reading, path)

    def file(self, path: str) -> File | None:
        """The file at a path, None if there is none."""
        known = self._files.get(path)
        if known is None and (found := self.tree_file(path)) is not None:
            known = self._remember(found)
        return known

    def _remember(self, file: TreeFile) -> File:
        return self._files.get_or_make(file.path, lambda: File(self, file))

    def has_read(self, file: File) -> None:
        """Called by a file that has read its symbols: the oldest files make room for them."""
        if self._files.get(file.path) is file:
            self._files.put(file.path, file)

    def is_directory(self, path: str) -> bool:
        """Whether any file lies below `path`."""
        if not path or path in self._overlay_directories:
            return True
        if self._stored is None:
            return False
        with self.reading() as reading:
            if self._stored.directory(reading, path) is None:
                return False
            removed = self._removed_below.get(path)
            return not removed or any(name not in removed for name in self._below(reading, path))

    @functools.cached_property
    def _overlay_directories(self) -> frozenset[str]:
        return directories_of(self.overlay)

    @functools.cached_property
    def _removed_below(self) -> Mapping[str, set[str]]:
        return removed_below(self.overlay)

    def _below(self, reading: ReadTransaction, directory: str) -> Iterator[str]:
        assert self._stored is not None
        pending = [directory]
        while pending:
            here = pending.pop()
            for name, entry in (self._stored.directory(reading, here) or {}).items():
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
        columns = self.symbol_columns(path)
        if columns is not None:
            return columns.names
        file = self.tree_file(path)
        return tuple([row.name for row in self.ir(path).symbols]) if file is not None and file.language is not None else ()

    def symbol_columns(self, path: str) -> SymbolColumns | None:
        """The symbols of a file as the store has them; None for uncommitted work, and where no language reads it."""
        over, file = self.overlay.get(path), self.tree_file(path)
        if file is None or file.language is None or (over is not None and over.ir is not None):
            return None
        record = self._ir_record(file.blob, file.language)
        return decode_columns(record) if record is not None else None

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
        return self._interfaces.get_or_make((file.blob, file.language), lambda: self._read_interface(file))[0]

    def _read_interface(self, file: TreeFile) -> tuple[Interface, int]:
        """The interface of a file, with about how many bytes it is in the store."""
        assert file.language is not None
        with self.reading() as reading:
            address = reading.interface_address(file.blob, language_tag(file.language))
            record = reading.record(address) if address is not None else None
        return (self.extract(file.path).interface, 1000) if record is None else (decode_consulted(record), 100 + len(record))

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
        return registry.get(file.language).describe(self.source(path), file.rows)

    def docstring(self, symbol: Symbol) -> str:
        """The symbol's documentation as written, empty if there is none."""
        return self.source(symbol.path)[symbol.row.doc_start : symbol.row.doc_end].decode("utf-8", "replace")

    # ---- what files mean

    def link(self, path: str) -> LinkRecord:
        """Edges out of a file and its open references."""
        over = self.overlay.get(path)
        if over is not None and over.link is not None:
            return over.link
        return self._links.get_or_make(path, lambda: self._read_link(path))

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

    def relink(self, path: str, wanted: Wanted | None = None) -> LinkedFile:
        """Link a file again: for the lines of its open references, which are not stored. What is not `wanted` may be left out.

        Files that one question has linked share a linker, as those of a whole tree do.
        """
        with self.reading() as reading:
            shared = self._linkers.get(reading)
            if shared is None or shared.files >= _LINKED_BY_ONE:
                shared = self._linkers[reading] = _SharedLinker(Linker(SnapshotView(self)))
            shared.files += 1
            return shared.linker.link(path, self.extract(path), wanted)

    def file_edges(self, path: str) -> tuple[Edge, ...]:
        """All edges out of a file, by source symbol and line."""
        return edges.file_edges(self, path)

    def edges_unlike(self, other: Snapshot, path: str) -> tuple[Edge, ...]:
        """The edges out of a file that it does not have in another snapshot, which holds the same content there."""
        return edges.edges_unlike(self, other, path)

    def edges_from(self, key: SymbolKey) -> tuple[Edge, ...]:
        """Edges whose source is exactly this symbol; with an empty name, those of the file's module level."""
        return edges.edges_from(self, key)

    def edges_to(self, key: SymbolKey) -> tuple[Edge, ...]:
        """Edges whose target is exactly this symbol, or this file; ordered by path and line."""
        return edges.edges_to(self, key)

    def edges_to_each(self, keys: Collection[SymbolKey]) -> dict[SymbolKey, tuple[Edge, ...]]:
        """`edges_to` for many at once: each file that uses any is looked at once, and only what leads to them is read."""
        return edges.edges_to_each(self, keys)

    def users_of(self, keys: Collection[SymbolKey]) -> dict[str, int]:
        """How many edges each file has to any of these, by path."""
        return edges.users_of(self, keys)

    def rows_to(self, path: str, wanted: Container[tuple[str, str]]) -> list[EdgeRow]:
        """The rows of a file's link record to these targets."""
        record = self._encoded_link(path)
        if record is not None:
            return decode_edges_to(record, path, wanted)
        return [row for row in self.link(path).edges if (row.path, row.qualified) in wanted]

    def _encoded_link(self, path: str) -> bytes | None:
        """A file's link record as it is stored, to decode no more of it than is needed; None where it is not from there."""
        return self._stored_link(path) if self._is_unread(path) else None

    def unresolved_in(self, path: str, wanted: Callable[[str, str], bool] | None = None) -> tuple[Unresolved, ...]:
        """References of a file that have no edge, with their lines; the file is linked again for them.

        Those that are `wanted`, by the qualified name of the symbol that they are in and the name they are to, are sooner had
        than all.
        """
        if wanted is None:
            return self._unresolved.get_or_make(path, lambda: self._read_unresolved(path, None))
        known = self._unresolved.get(path)
        rows = known if known is not None else self._read_unresolved(path, wanted)
        return tuple([row for row in rows if wanted(row.source.qualified, row.name)])

    def _read_unresolved(self, path: str, wanted: Callable[[str, str], bool] | None) -> tuple[Unresolved, ...]:
        file = self.file(path)
        if file is None or not file.is_source or file.status not in ("parsed", "partial"):
            return ()
        names = (*file.qualified_names, "")  # -1, the last: in no symbol
        linked = self.relink(path, None if wanted is None else lambda source, name: wanted(names[source], name))
        return tuple(
            Unresolved(SymbolKey(path, names[row.source]), row.kind, row.line, row.name, row.reason, row.detail)
            for row in linked.unresolved
        )

    def open_uses(self, *names: str) -> tuple[OpenUse, ...]:
        """Files with references of these names which may mean a symbol of the repository (dynamic, ambiguous, missing)."""
        return references.open_uses(self, *names)

    def unread_mentions(self, names: Collection[str]) -> tuple[Mention, ...]:
        """Sources that were not read (skipped, failed) and hold one of these names as a word, with the first place.

        What this clone does not hold, and what is too large to look through, counts as holding them.
        """
        return references.unread_mentions(self, names)

    def unresolved_named(self, name: str) -> tuple[Unresolved, ...]:
        """The references of `open_uses` one by one, with their lines: each of the files is linked again."""
        return references.unresolved_named(self, name)

    def opens(self, path: str) -> tuple[OpenReference, ...]:
        """The open references of a file."""
        record = self._encoded_link(path)
        return self.link(path).open if record is None else decode_opens(record)

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
        return postings_of(self.overlay)

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
        return handles.resolve_handle(self, text)

    def named(self, text: str, most: int | None = None) -> tuple[Symbol, ...]:
        """Symbols whose qualified name is `text` or ends in ``.text``; if some are so at top level, only those.

        Ordered by path and position; symbols local to a function only if there are no others. The first `most` of them.
        """
        return handles.named(self, text, most)

    def may_hold_at_top(self, path: str, name: str) -> bool:
        """Whether a symbol of that name may be in no other: sooner told than by reading all symbols of a file."""
        columns = self.symbol_columns(path)
        return columns is None or name in columns.top_names()

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


def changed_paths(base: Snapshot, head: Snapshot) -> tuple[str, ...]:
    """Paths whose blob, mode or existence differs between two snapshots, sorted."""
    paths = {change.path for change in base.git.diff_trees(base.tree, head.tree)}
    paths.update(base.overlay, head.overlay)
    return tuple(path for path in sorted(paths) if _content_of(base, path) != _content_of(head, path))


def _content_of(snapshot: Snapshot, path: str) -> tuple[int, str] | None:
    file = snapshot.tree_file(path)
    return None if file is None else (file.mode, file.blob)
