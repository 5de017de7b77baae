"""Bringing states in: a commit or the work tree is the nearest known snapshot, with what changed linked anew.

`relink` is the heart. It says which files must be linked again (the changed ones, and those that consulted a fact whose
answer changed), links them in the new state, and drops what came out as before. `ensure_commit` stores the outcome; for
uncommitted work it stays in memory as an overlay.
"""

from __future__ import annotations

import contextlib
import posixpath
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tokenzip.errors import StoreBusy, StoreChanged
from tokenzip.git import GitRepository, MissingObject
from tokenzip.index import (
    ABSENT,
    Source,
    analysis_tag,
    extract,
    extract_blob,
    language_tag,
    searchable_names,
)
from tokenzip.languages import registry
from tokenzip.link import Linker, changed_facts, structural_facts
from tokenzip.model import (
    UNCOMMITTED,
    BlobId,
    CommitId,
    Fact,
    FileIR,
    Interface,
    LinkedFile,
    Progress,
    Revision,
    TreeId,
    no_progress,
)
from tokenzip.snapshot.graph import Overlay, OverlayFile, Snapshot
from tokenzip.snapshot.keys import consulted_by, fact_key, keys_of_content, keys_of_facts, keys_of_link, stems_of
from tokenzip.snapshot.nearest import is_whole, nearest_known
from tokenzip.snapshot.posting import post_in_time
from tokenzip.snapshot.tree import NO_LINK, Entry, StoredTree, TreeFile, language_of, write_nodes
from tokenzip.snapshot.view import SnapshotView
from tokenzip.store import (
    Address,
    Store,
    WriteTransaction,
    encode_consulted,
    encode_ir,
    encode_link,
    link_record,
)

_BULK_CHANGES = 200
"""From so many changed source files on, a whole tree is brought in anew over several processes ..."""
_BULK_SHARE = 0.3
"""... if they are this share of all its files."""
_ATTEMPTS = 5
"""How often to begin again when the store is taken away while it is filled."""
_WAIT_FOR_INDEX = 3600.0
_WAITING_STEP = 0.5
"""Seconds between two signs of life of one who waits."""


class NewFile(NamedTuple):
    """What stands at a path after a change."""

    mode: int
    blob: BlobId
    read: Callable[[], bytes]


Changes = Mapping[str, NewFile | None]
"""Path -> what stands there after the change; None: nothing does."""


@dataclass
class Relinked:
    """What `relink` found: the overlay to put over the base, and what the store wants to know about it."""

    overlay: dict[str, OverlayFile | None] = field(default_factory=dict)
    linked: dict[str, LinkedFile] = field(default_factory=dict)
    same: dict[str, LinkedFile] = field(default_factory=dict)
    """Files that were linked again and mean what they did before; but they may have looked at other things to find that."""
    begun: list[str] = field(default_factory=list)


def empty_snapshot(git: GitRepository, store: Store, rev: str) -> Snapshot:
    """The state before the first commit."""
    return Snapshot(git, store, Revision(rev, None, False), None)


def overlay_changes(base: Snapshot, changes: Changes, at: Revision, progress: Progress = no_progress) -> Snapshot:
    """`base` with changed files over it, in memory: the work tree, the index, a merge that nobody has committed."""
    if not changes:
        return base.with_overlay({}, at)

    def on_file(stage: str, done: int, total: int) -> None:
        progress(UNCOMMITTED, done, 0)  # without a total: nothing of it will be in the store

    with base.reading():
        return base.with_overlay(relink(base, changes, on_file).overlay, at)


def ensure_commit(
    git: GitRepository,
    store: Store,
    commit: CommitId | None,
    tree: TreeId,
    progress: Progress,
    *,
    processes: int | None = None,
    full: bool = False,
) -> None:
    """Bring the tree of a commit into the store, unless it is there. `full` works it all out again.

    Raises StoreBusy, StoreFull, StoreReadOnly; Cancelled from `progress`.
    """
    for _ in range(_ATTEMPTS):
        if not full and is_known(git, store, tree):
            return
        with contextlib.suppress(StoreChanged), in_turn(store, progress):  # cleaned away below us: from the start
            if full or not is_known(git, store, tree):
                _bring_in(git, store, commit, tree, progress, processes, full=full)
            return
    raise StoreChanged(f"the store in {store.folder} is replaced again and again while it is filled", hint="ask again")


def _bring_in(
    git: GitRepository,
    store: Store,
    commit: CommitId | None,
    tree: TreeId,
    progress: Progress,
    processes: int | None,
    *,
    full: bool,
) -> None:
    progress("comparing", 0, 1)
    base = None if full else nearest_known(git, store, commit, tree)
    changes = _tree_changes(git, base, tree) if base is not None else None
    if base is not None and changes is not None and not _is_bulk(base, changes):
        _bring_in_changes(git, store, base, tree, changes, progress)
        return
    from tokenzip.snapshot import bulk  # loads what only whole trees need

    bulk.bring_in(git, store, tree, progress, processes)


@contextlib.contextmanager
def in_turn(store: Store, progress: Progress) -> Iterator[None]:
    """The place of the one who fills or renews the store. Who has to wait for it says so again and again; it may be stopped."""
    deadline = time.monotonic() + _WAIT_FOR_INDEX
    with contextlib.ExitStack() as place:
        while True:
            try:
                place.enter_context(store.single_flight(_WAITING_STEP))
                break
            except StoreBusy:
                if time.monotonic() > deadline:
                    raise
                progress("waiting for another process", 0, 1)
        yield


def is_known(git: GitRepository, store: Store, tree: TreeId) -> bool:
    """Whether the store holds the snapshot of a tree, as this version of the analysis and this clone see it.

    What a partial clone brought in without some blobs is of no use to a clone that holds any of these.
    """
    with store.reading() as reading:
        if reading.snapshot_root(tree, analysis_tag()) is None:
            return False
        absent = reading.absent(tree, analysis_tag())
    return not absent or not any(size is not None for size in git.blob_sizes(absent))


def known_trees(store: Store) -> set[TreeId]:
    """All trees whose snapshots the store holds as a whole, as this version of the analysis sees them."""
    with store.reading() as reading:
        return {tree for tree in reading.snapshots(analysis_tag()) if is_whole(reading, tree)}


def _tree_changes(git: GitRepository, base: Snapshot, tree: TreeId) -> Changes:
    changes: dict[str, NewFile | None] = {}
    for change in base.git.diff_trees(base.tree, tree):
        changes[change.path] = None if change.new is None else _blob_file(git, change.new[0], BlobId(change.new[1]))
    return changes


def _blob_file(git: GitRepository, mode: int, blob: BlobId) -> NewFile:
    return NewFile(mode, blob, lambda: git.blob(blob))


def _is_bulk(base: Snapshot, changes: Changes) -> bool:
    if len(changes) < _BULK_CHANGES:
        return False
    return len(changes) > _BULK_SHARE * sum(1 for _ in base.paths())


def _bring_in_changes(
    git: GitRepository, store: Store, base: Snapshot, tree: TreeId, changes: Changes, progress: Progress
) -> None:
    with store.reading():
        relinked = relink(base, changes, progress)
    progress("writing", 0, max(1, len(relinked.overlay)))
    store.write(lambda writing: _persist(git, writing, base, tree, relinked))


# ---- which files to link again, and what comes of it


def relink(base: Snapshot, changes: Changes, progress: Progress = no_progress) -> Relinked:
    """Link what a change touches: see the module's docstring. Needs a read transaction. Raises what `progress` does."""
    result = Relinked()
    contents: dict[str, FileIR] = {}
    for done, (path, new) in enumerate(sorted(changes.items())):
        progress("reading", done, len(changes))
        result.overlay[path] = None if new is None else _changed_file(base, path, new, contents)
    head = base.with_overlay(result.overlay)
    facts = _changed_facts(base, head, changes, result)
    affected = [path for path in _consulting(base, facts) if path not in changes]
    linker = Linker(SnapshotView(head))
    for done, path in enumerate(paths := sorted((*contents, *affected))):
        progress("linking", done, len(paths))
        ir = contents[path] if path in contents else base.extract(path)
        linked = linker.link(path, ir)
        _take(base, result, path, linked)
    return result


def _changed_file(base: Snapshot, path: str, new: NewFile, contents: dict[str, FileIR]) -> OverlayFile:
    language = language_of(posixpath.basename(path), new.mode)
    file = TreeFile(path, new.mode, new.blob, language, None)
    if language is None:
        return OverlayFile(file, new.read)
    source = Source(path, new.blob, language, base.git.blob_sizes([new.blob])[0])
    ir = contents[path] = _content(base, source, new)
    return OverlayFile(file, new.read, ir)


def _content(base: Snapshot, source: Source, new: NewFile) -> FileIR:
    if source.size is not None:
        return extract_blob(base.git, source)
    try:
        return extract(new.read(), source.language)
    except MissingObject:
        return extract_blob(base.git, source)


def _changed_facts(base: Snapshot, head: Snapshot, changes: Changes, result: Relinked) -> set[Fact]:
    ended = []
    facts: set[Fact] = set()
    for path, new in changes.items():
        existed = base.tree_file(path) is not None
        if new is None and existed:
            ended.append(path)
        elif new is not None and not existed:
            result.begun.append(path)
        over = result.overlay[path]
        interface = over.ir.interface if over is not None and over.ir is not None else Interface()
        facts |= changed_facts(path, base.interface(path), interface)
    return facts | structural_facts(result.begun, ended, _changed_directories(base, head, (*result.begun, *ended)))


def _changed_directories(base: Snapshot, head: Snapshot, paths: Iterable[str]) -> set[str]:
    """Directories that begin or end to exist."""
    changed: set[str] = set()
    settled: set[str] = set()
    for path in paths:
        directory = posixpath.dirname(path)
        while directory and directory not in settled and directory not in changed:
            if base.is_directory(directory) == head.is_directory(directory):
                settled.add(directory)
                break
            changed.add(directory)
            directory = posixpath.dirname(directory)
    return changed


def _consulting(base: Snapshot, facts: set[Fact]) -> list[str]:
    """Files of the base that may have consulted any of the facts."""
    return [
        path
        for path in base.paths_posted([fact_key(fact) for fact in facts])
        if (file := base.tree_file(path)) is not None and file.language is not None
    ]


def _take(base: Snapshot, result: Relinked, path: str, linked: LinkedFile) -> None:
    """Keep an outcome, unless it is what the base has already."""
    record = link_record(linked)
    over = result.overlay.get(path)
    if over is not None:
        result.overlay[path] = OverlayFile(over.file, over.source, over.ir, record)
    elif base.link(path) == record:
        result.same[path] = linked
        return
    else:
        file = base.tree_file(path)
        assert file is not None
        result.overlay[path] = OverlayFile(file, lambda: base.source(path), None, record)
    result.linked[path] = linked


# ---- into the store


class _NewLinks:
    """Link addresses of a new tree: of the overlay where it says something, else of the base."""

    def __init__(self, base: Snapshot, writing: WriteTransaction, overlay: Overlay, written: Mapping[str, Address]) -> None:
        self._written = written
        self._tree = StoredTree(base.git, base.tree) if base.tree is not None else None
        self._reading = writing
        self._root = writing.snapshot_root(base.tree, analysis_tag()) if base.tree is not None else None
        if base.tree is not None and self._root is None:
            raise StoreChanged(f"the graph of tree {base.tree} is no longer in the store", hint="ask again")
        self._touched = {""}
        for path in overlay:
            directory = posixpath.dirname(path)
            while directory and directory not in self._touched:
                self._touched.add(directory)
                directory = posixpath.dirname(directory)

    def unchanged(self, directory: str, tree: TreeId) -> Address | None:
        if directory in self._touched:
            return None
        entry = self._entry(directory)
        return entry.node if entry is not None and entry.id == tree else None

    def before(self, directory: str) -> Address | None:
        if not directory:
            return self._root
        entry = self._entry(directory)
        return entry.node if entry is not None else None

    def _entry(self, directory: str) -> Entry | None:
        if self._tree is None or self._root is None:
            return None
        parent, _, name = directory.rpartition("/")
        entries = self._tree.directory(self._reading, self._root, parent)
        return entries.get(name) if entries is not None else None

    def link(self, path: str) -> Address:
        written = self._written.get(path)
        if written is not None:
            return written
        if self._tree is None or self._root is None:
            return NO_LINK
        file = self._tree.file(self._reading, self._root, path)
        return file.link if file is not None and file.link is not None else NO_LINK


def _persist(git: GitRepository, writing: WriteTransaction, base: Snapshot, tree: TreeId, relinked: Relinked) -> None:
    overlay = relinked.overlay
    _write_contents(writing, base, overlay)
    _write_interfaces(writing, base, relinked)
    written = _write_links(writing, base, overlay)
    root = write_nodes(git, writing, tree, _NewLinks(base, writing, overlay, written))
    writing.post(_postings(writing, relinked))
    standing = [over for over in overlay.values() if over is not None and over.ir is not None]
    absent = sorted({over.file.blob for over in standing if over.ir is not None and over.ir.reason == ABSENT})
    writing.put_snapshot(tree, analysis_tag(), root, absent)
    writing.put_meta("latest", bytes.fromhex(tree))


def _write_contents(writing: WriteTransaction, base: Snapshot, overlay: Overlay) -> None:
    fresh: dict[tuple[BlobId, str], tuple[str, FileIR]] = {}
    for path, over in overlay.items():
        if over is None or over.ir is None or over.file.language is None or over.ir.reason == ABSENT:
            continue
        if writing.blob_address(over.file.blob, language_tag(over.file.language)) is None:
            fresh[over.file.blob, over.file.language] = (path, over.ir)
    earlier = [_earlier(base, path, writing.blob_address) for path, _ in fresh.values()]
    addresses = writing.put_records([encode_ir(ir) for _, ir in fresh.values()], earlier)
    for (blob, language), address in zip(fresh, addresses, strict=True):
        writing.put_blob(blob, language_tag(language), address)
    read = [path for (_, language), (path, _) in fresh.items() if registry.is_searched(language)]
    post_in_time(writing, base.git, base.with_overlay(overlay), read)


def _earlier(base: Snapshot, path: str, address: Callable[[BlobId, bytes], Address | None]) -> Address | None:
    """Where the record of a path's blob in the base lies."""
    file = base.tree_file(path)
    return address(file.blob, language_tag(file.language)) if file is not None and file.language is not None else None


def _write_interfaces(writing: WriteTransaction, base: Snapshot, relinked: Relinked) -> None:
    """Keep the interfaces that were looked at, and those of changed files whose old ones were."""
    head = base.with_overlay(relinked.overlay)
    wanted = {path for path, linked in {**relinked.linked, **relinked.same}.items() for path in consulted_by(path, linked)}
    wanted.update(path for path in relinked.overlay if _earlier(base, path, writing.interface_address) is not None)
    fresh: dict[tuple[BlobId, bytes], tuple[str, bytes]] = {}
    for path in sorted(wanted):
        file = head.tree_file(path)
        if file is not None and file.language is not None and head.kept_interface(file) is None:
            fresh[file.blob, language_tag(file.language)] = (path, encode_consulted(head.interface(path)))
    earlier = [_earlier(base, path, writing.interface_address) for path, _ in fresh.values()]
    addresses = writing.put_records([record for _, record in fresh.values()], earlier)
    for (blob, tag), address in zip(fresh, addresses, strict=True):
        writing.put_interface(blob, tag, address)


def _write_links(writing: WriteTransaction, base: Snapshot, overlay: Overlay) -> dict[str, Address]:
    records = {
        path: encode_link(over.link, path) for path, over in overlay.items() if over is not None and over.link is not None
    }
    filled = [path for path, record in records.items() if record]
    earlier = [file.link if (file := base.tree_file(path)) is not None else None for path in filled]
    addresses = writing.put_records([records[path] for path in filled], earlier)
    return {**dict.fromkeys(records, NO_LINK), **dict(zip(filled, addresses, strict=True))}


def _postings(writing: WriteTransaction, relinked: Relinked) -> set[tuple[int, int]]:
    pairs: set[tuple[int, int]] = set()
    for path, linked in relinked.linked.items():
        over = relinked.overlay[path]
        keys = keys_of_link(path, linked)
        if over is not None and over.ir is not None:
            keys |= keys_of_content(searchable_names(over.ir), over.ir.interface.announces)
        number = writing.paths.intern(path)
        pairs.update((key, number) for key in keys)
    for path, linked in relinked.same.items():
        number = writing.paths.intern(path)
        pairs.update((key, number) for key in keys_of_facts(path, linked))
    for path, key in stems_of(path for path in relinked.begun if language_of(posixpath.basename(path), 0o100644)):
        pairs.add((key, writing.paths.intern(path)))
    return pairs
