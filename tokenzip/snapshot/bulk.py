"""A whole tree at once: extract every file, then link every file, over several processes; the parent only stores.

Workers never open the store. They spill interfaces and bodies into files that all of them read while linking, and hand back
packs that are ready to be stored. A run that was killed leaves file records behind, which are sound, and no snapshot.
"""

from __future__ import annotations

import io
import posixpath
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tokenzip.git import GitRepository
from tokenzip.index import (
    Cut,
    Extracted,
    Source,
    Spilled,
    Workers,
    analysis_tag,
    batches,
    crashed_batch,
    extract_batch,
    language_tag,
    placed_in,
    process_count,
    spill_path,
    worker_state,
)
from tokenzip.languages import registry
from tokenzip.languages.base import stem_of
from tokenzip.link import FAULT, Linker, unread
from tokenzip.model import BlobId, FileIR, Interface, Progress, TreeId
from tokenzip.recent import Recent
from tokenzip.snapshot.keys import consulted_by, keys_of_content, keys_of_facts, keys_of_record, stems_of
from tokenzip.snapshot.tree import NO_LINK, language_of, write_nodes
from tokenzip.store import (
    Address,
    Store,
    WriteTransaction,
    decode_interface,
    decode_pack,
    decode_symbols,
    encode_consulted,
    encode_link,
    encode_pack,
    link_record,
    pack_value,
    packs_of,
    unpack_value,
)

_LINK_BATCH = 200
_SMALLEST_LINK_BATCH = 50
_LINK_BATCHES_PER_PROCESS = 4
"""In a small tree the batches are smaller, so that no process waits long for another's last one."""
_INTERFACE_BATCH = 400
_FILES_PER_PROCESS = 150
"""Fewer files than this for each worker are not worth starting it."""
_POSTINGS_AT_ONCE = 1_000_000
_REMEMBERED_INTERFACES = 512
_FILES_PER_LINKER = 50
"""After so many files a worker forgets what it worked out; it forgets nothing that it cannot redo. On 17,000 files, forgetting
after 500 took 400 MB for each worker, after 100 it took 170 MB; after 50 it takes 150 MB, and as long."""


def bring_in(git: GitRepository, store: Store, tree: TreeId, progress: Progress, processes: int | None) -> None:
    """Extract, link and store the whole of a tree."""
    files = _TreeFiles.read(git, tree)
    progress("reading", 0, len(files.sources))  # before the first worker: who cannot wait here may still take it elsewhere
    count = min(process_count(processes), 1 + len(files.sources) // _FILES_PER_PROCESS)
    with Workers(git, count) as workers:
        extracted = _extract(store, workers, files, progress)
        _write_table(workers.folder, files, extracted)
        links = _link(store, workers, files, progress, _LINK_BATCHES_PER_PROCESS * count)
        _keep_interfaces(store, workers, files, links.consulted)
    _finish(git, store, tree, files, extracted, links)


@dataclass(frozen=True)
class _TreeFiles:
    """The files of a tree: all paths, and those that a language reads."""

    paths: list[str]
    sources: list[Source]

    @classmethod
    def read(cls, git: GitRepository, tree: TreeId) -> _TreeFiles:
        files = list(git.walk(tree))
        read = [
            (path, BlobId(blob), name) for path, mode, blob in files if (name := language_of(posixpath.basename(path), mode))
        ]
        sizes = git.blob_sizes([blob for _, blob, _ in read])
        sources = [Source(*file, size) for file, size in zip(read, sizes, strict=True)]
        return cls([path for path, _, _ in files], sources)


@dataclass
class _Said:
    """What the files say, as far as the parent keeps it."""

    spilled: dict[str, Spilled]
    announces: dict[str, tuple[str, ...]]
    content_keys: dict[str, bytes]
    """Hashes under which a file is posted for what it says."""


def _extract(store: Store, workers: Workers, files: _TreeFiles, progress: Progress) -> _Said:
    said = _Said({}, {}, {})
    words = _Words()
    firsts: dict[tuple[str, str], Source] = {}
    for source in files.sources:
        firsts.setdefault((source.blob, source.language), source)
    done = 0
    for result in workers.map(extract_batch, batches(firsts.values()), crashed_batch):
        store.write(partial(_store_contents, result))
        said.spilled.update(result.spilled)
        said.announces.update(result.announces)
        for path, names in result.names:
            said.content_keys[path] = array("I", keys_of_content(names, said.announces.get(path, ()))).tobytes()
        words.take(result.cut)
        if words.postings >= _POSTINGS_AT_ONCE:
            words = _posted(store, words)
        done += len(result.placed)
        progress("reading", done, len(firsts))
    _posted(store, words)
    for source in files.sources:  # equal blobs at other paths say the same
        first = firsts[source.blob, source.language].path
        if first != source.path:
            for table in (said.spilled, said.announces, said.content_keys):
                _share(table, first, source.path)
    return said


class _Words:
    """Words of contents on their way into the store: one sorted segment of many is smaller than many, and sooner searched."""

    def __init__(self) -> None:
        self.sources: list[Source] = []
        self.postings = 0
        self._places: dict[str, array[int]] = {}

    def take(self, cut: Cut) -> None:
        """Add the words of a batch."""
        begin = len(self.sources)
        for word, places in cut.postings():
            known = self._places.get(word)
            if known is None:
                known = self._places[word] = array("I")
            known.extend([begin + place for place in places])
        self.sources.extend(cut.sources)
        self.postings += len(cut.places) // array("I").itemsize

    def without(self, known: Set[int]) -> Iterator[tuple[str, Sequence[int]]]:
        """(word, places of the files that hold it) in order of the words, but for the known places: the others move up."""
        if not known:
            yield from ((word, self._places[word]) for word in sorted(self._places))
            return
        numbers = iter(range(len(self.sources)))
        places = {place: next(numbers) for place in range(len(self.sources)) if place not in known}
        for word in sorted(self._places):
            kept = [places[place] for place in self._places[word] if place in places]
            if kept:
                yield word, kept


def _posted(store: Store, words: _Words) -> _Words:
    """Post the words of files that are not posted yet; gives room for the next ones."""
    blobs = [(source.blob, language_tag(source.language)) for source in words.sources]

    def post(writing: WriteTransaction) -> None:
        known = {place for place, blob in enumerate(blobs) if writing.document(*blob)}
        fresh = [blob for place, blob in enumerate(blobs) if place not in known]
        if fresh:
            writing.post_words(fresh, words.without(known))

    store.write(post)
    return _Words()


def _share(table: dict[str, Any], first: str, path: str) -> None:
    if first in table:
        table[path] = table[first]


def _store_contents(result: Extracted, writing: WriteTransaction) -> None:
    """Store a batch, unless the store says all of it already: not of a file whose record is damaged or tells of a crash."""
    if all(_is_stored(result, *place, writing) for place in result.placed):
        return
    numbers = writing.put_packs(result.packs)
    for source, pack, slot in result.placed:
        if source.size is not None:
            writing.put_blob(source.blob, language_tag(source.language), Address(numbers[pack], slot))


def _is_stored(result: Extracted, source: Source, pack: int, slot: int, writing: WriteTransaction) -> bool:
    if source.size is None:
        return True
    address = writing.blob_address(source.blob, language_tag(source.language))
    return address is not None and writing.record(address) == decode_pack(result.packs[pack]).records[slot]


# ---- linking


@dataclass(frozen=True, slots=True)
class _Linked:
    """A linked batch: packs of link records, where each file's lies (None: empty), and the keys it is posted under."""

    packs: tuple[bytes, ...]
    placed: tuple[tuple[str, tuple[int, int] | None], ...]
    keys: tuple[bytes, ...]
    consulted: frozenset[str]
    """Files whose interfaces were looked at."""


def _write_table(folder: Path, files: _TreeFiles, said: _Said) -> None:
    announcing: dict[str, list[str]] = {}
    for path in sorted(said.announces):
        for key in said.announces[path]:
            announcing.setdefault(key, []).append(path)
    table = (files.paths, {path: tuple(place) for path, place in said.spilled.items()}, announcing)
    (folder / "table").write_bytes(pack_value(table))


@dataclass
class _Links:
    addresses: dict[str, Address]
    path_ids: dict[str, int]
    consulted: set[str]

    def unchanged(self, directory: str, tree: TreeId) -> Address | None:
        return None

    def before(self, directory: str) -> Address | None:
        return None

    def link(self, path: str) -> Address:
        return self.addresses.get(path, NO_LINK)


def _link(store: Store, workers: Workers, files: _TreeFiles, progress: Progress, tasks_wanted: int) -> _Links:
    links = _Links({}, {}, set())
    paths = [source.path for source in files.sources if registry.is_source(source.language)]
    size = min(_LINK_BATCH, max(_SMALLEST_LINK_BATCH, 1 + len(paths) // tasks_wanted))
    tasks = [paths[start : start + size] for start in range(0, len(paths), size)]
    pairs = _Pairs()
    for result in workers.map(link_batch, tasks, _crashed_links):
        store.write(partial(_store_links, result, links))
        for (path, _), keys in zip(result.placed, result.keys, strict=True):
            number = links.path_ids[path]
            pairs.add(array("I", keys), number)
        links.consulted |= result.consulted
        progress("linking", len(links.path_ids), len(paths))
        if len(pairs) >= _POSTINGS_AT_ONCE:
            store.write(pairs.post)
            pairs = _Pairs()
    store.write(pairs.post)
    return links


class _Pairs:
    """(key hash, path id) pairs on their way into the store, eight bytes each: there are tens of them to a file."""

    def __init__(self) -> None:
        self._packed = array("Q")

    def __len__(self) -> int:
        return len(self._packed)

    def add(self, keys: Iterable[int], number: int) -> None:
        self._packed.extend([key << 32 | number for key in keys])

    def post(self, writing: WriteTransaction) -> None:
        """Write them as one segment."""
        writing.post_sorted((packed >> 32, packed & 0xFFFFFFFF) for packed in sorted(self._packed))


def _store_links(result: _Linked, links: _Links, writing: WriteTransaction) -> None:
    numbers = writing.put_packs(result.packs)
    for path, place in result.placed:
        links.path_ids[path] = writing.paths.intern(path)
        if place is not None:
            links.addresses[path] = Address(numbers[place[0]], place[1])


def _crashed_links(paths: Sequence[str]) -> _Linked:
    """Stands in for a file whose linking killed its worker twice."""
    fault = link_record(unread(f"{FAULT}: the worker died"))
    packs = tuple(encode_pack([encode_link(fault, path)]) for path in paths)
    keys = tuple(array("I", sorted(keys_of_record(path, fault))).tobytes() for path in paths)
    return _Linked(packs, tuple((path, (number, 0)) for number, path in enumerate(paths)), keys, frozenset())


def link_batch(paths: Sequence[str]) -> _Linked:
    """Worker task: link files, encode the outcome, hash the keys they are posted under."""
    view = _spilled_view()
    records: list[bytes] = []
    filled: list[str] = []
    keys: list[bytes] = []
    consulted: set[str] = set()
    for path in paths:
        linked = view.linker().link(path, view.file(path))
        kept = link_record(linked)
        keys.append(array("I", sorted(keys_of_facts(path, linked) | keys_of_record(path, kept))).tobytes())
        consulted |= consulted_by(path, linked)
        record = encode_link(kept, path)
        if record:
            filled.append(path)
            records.append(record)
    groups = packs_of(records)
    where = dict(zip(filled, placed_in(groups), strict=True))
    placed = tuple((path, where.get(path)) for path in paths)
    return _Linked(tuple(map(encode_pack, groups)), placed, tuple(keys), frozenset(consulted))


@dataclass(frozen=True, slots=True)
class _Kept:
    """A batch of interfaces: packs, and where each file's lies."""

    packs: tuple[bytes, ...]
    placed: tuple[tuple[Source, int, int], ...]


def _keep_interfaces(store: Store, workers: Workers, files: _TreeFiles, consulted: set[str]) -> None:
    """Store the interfaces that some file looked at; the others are read again from the blob if that ever happens."""
    sources = list({(source.blob, source.language): source for source in files.sources if source.path in consulted}.values())
    tasks = [sources[start : start + _INTERFACE_BATCH] for start in range(0, len(sources), _INTERFACE_BATCH)]
    for kept in workers.map(interface_batch, tasks, lambda task: _Kept((), ())):
        store.write(partial(_store_interfaces, kept))


def interface_batch(sources: Sequence[Source]) -> _Kept:
    """Worker task: pack interfaces."""
    view = _spilled_view()
    groups = packs_of(encode_consulted(view.interface(source.path)) for source in sources)
    placed = tuple((source, *place) for source, place in zip(sources, placed_in(groups), strict=True))
    return _Kept(tuple(map(encode_pack, groups)), placed)


def _store_interfaces(kept: _Kept, writing: WriteTransaction) -> None:
    numbers = writing.put_packs(kept.packs)
    for source, pack, slot in kept.placed:
        writing.put_interface(source.blob, language_tag(source.language), Address(numbers[pack], slot))


_view: _SpilledView | None = None


def _spilled_view() -> _SpilledView:
    global _view
    if _view is None:
        _view = _SpilledView(worker_state().folder)
    return _view


class _SpilledView:
    """The project as all workers spilled it: the `View` of `languages.base` inside a worker."""

    def __init__(self, folder: Path) -> None:
        paths, spilled, announcing = unpack_value((folder / "table").read_bytes())
        self._folder = folder
        self._paths: frozenset[str] = frozenset(paths)
        self._spilled: Mapping[str, tuple[int, int, int, int]] = spilled
        self._announcing: Mapping[str, tuple[str, ...]] = announcing
        self._files: dict[int, io.FileIO] = {}
        self._interfaces: Recent[str, Interface] = Recent(_REMEMBERED_INTERFACES)
        self._directories = {""}
        self._stems: dict[str, set[str]] = {}
        self._linker: Linker | None = None
        self._linked = 0
        for path, _ in stems_of(paths):
            self._add(path)

    def _add(self, path: str) -> None:
        if path.endswith("/"):
            path = path[:-1]
            self._directories.add(path)
        elif path not in self._spilled:
            return
        self._stems.setdefault(stem_of(path), set()).add(path)

    def linker(self) -> Linker:
        """A linker over this view; a fresh one now and then."""
        self._linked += 1
        if self._linker is None or self._linked % _FILES_PER_LINKER == 0:
            if self._linker is not None:
                self._linker.forget()
            self._linker = Linker(self)
        return self._linker

    def file(self, path: str) -> FileIR:
        """Interface, symbols and body of a file, enough to link it."""
        place = self._spilled.get(path)
        if place is None:
            return FileIR("failed", 0)
        process, offset, interface_size, body_size = place
        if not body_size:
            return FileIR("skipped", 0)
        status, symbols, body = unpack_value(self._spilled_at(process, offset + interface_size, body_size))
        return FileIR(status, 0, self.interface(path), decode_symbols(symbols), body)

    def interface(self, path: str) -> Interface:
        return self._interfaces.get_or_make(path, lambda: self._read_interface(path))

    def _read_interface(self, path: str) -> Interface:
        place = self._spilled.get(path)
        if place is None:
            return Interface()
        process, offset, size, _ = place
        return decode_interface(self._spilled_at(process, offset, size))

    def _spilled_at(self, process: int, offset: int, size: int) -> bytes:
        """What a worker spilled. Read, not mapped: pages that are mapped count as memory of this process."""
        known = self._files.get(process)
        if known is None:
            known = self._files[process] = spill_path(self._folder, process).open("rb", buffering=0)
        known.seek(offset)
        return known.read(size)

    def is_file(self, path: str) -> bool:
        return path in self._paths

    def is_directory(self, path: str) -> bool:
        return path in self._directories

    def with_stem(self, stem: str) -> tuple[str, ...]:
        return tuple(sorted(self._stems.get(stem, ())))

    def announcing(self, key: str) -> tuple[str, ...]:
        return self._announcing.get(key, ())


# ---- the snapshot


def _finish(git: GitRepository, store: Store, tree: TreeId, files: _TreeFiles, said: _Said, links: _Links) -> None:
    def finish(writing: WriteTransaction) -> None:
        root = write_nodes(git, writing, tree, links)
        _content_postings(writing, files, said).post(writing)
        writing.put_snapshot(tree, analysis_tag(), root, sorted({each.blob for each in files.sources if each.size is None}))
        writing.put_meta("latest", bytes.fromhex(tree))

    store.write(finish)


def _content_postings(writing: WriteTransaction, files: _TreeFiles, said: _Said) -> _Pairs:
    pairs = _Pairs()
    paths = [source.path for source in files.sources]
    for path in paths:
        pairs.add(array("I", said.content_keys.get(path, b"")), writing.paths.intern(path))
    for path, key in stems_of(paths):
        pairs.add((key,), writing.paths.intern(path))
    return pairs
