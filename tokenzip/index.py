"""From blobs to what they say: the only caller of `Language.extract`, in this process or spread over workers.

One hostile file never ends a run: what a language raises, and even a worker that dies, becomes the status of that file.
"""

from __future__ import annotations

import functools
import itertools
import logging
import operator
import os
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tokenzip.git import GitRepository
from tokenzip.languages import registry
from tokenzip.model import BlobId, FileIR, ParseProblem
from tokenzip.recent import Recent
from tokenzip.scratch import ScratchFolder
from tokenzip.store import (
    decode_interface,
    encode_interface,
    encode_ir,
    encode_pack,
    encode_symbols,
    pack_value,
    packs_of,
    unpack_value,
)
from tokenzip.words import words_of
from tokenzip.workers import Pool

_LOG = logging.getLogger(__name__)

LARGEST_FILE = 4 << 20
"""Bytes. Larger files are nodes without symbols; no hand-written source comes near."""
BATCH_BYTES = 400_000
"""Source bytes that one task of a worker holds: some hundred milliseconds of work."""
_REMEMBERED_BYTES = 256 << 10
"""Of source, of which what was extracted is remembered: that takes some fifteen times as much. A commit's check links the same
files on both of its sides, and question after question is about the same file."""
_EXTRACTED: Recent[tuple[BlobId, str], tuple[FileIR, int]] = Recent(256, _REMEMBERED_BYTES, operator.itemgetter(1))

T = TypeVar("T")


@functools.cache
def language_tag(name: str) -> bytes:
    """4 bytes for a language and its extractor's version: part of the key of a file record."""
    return zlib.crc32(f"{name}\0{registry.VERSIONS[name]}".encode()).to_bytes(4, "big")


@functools.cache
def analysis_tag() -> bytes:
    """4 bytes for all languages, their versions and the files they read: part of the key of a snapshot, since links depend on
    the first two, and which files have a place in its nodes on the last."""
    tables = (registry.VERSIONS, registry.SUFFIXES, registry.FILENAMES)
    return zlib.crc32(repr([sorted(table.items()) for table in tables]).encode()).to_bytes(4, "big")


def extract(source: bytes, language: str) -> FileIR:
    """What the bytes say, in the form that the store gives back (lists become tuples). Never raises for any input."""
    ir = _extract(source, language)
    return replace(
        ir,
        interface=decode_interface(encode_interface(ir.interface)),
        body=None if ir.body is None else unpack_value(pack_value(ir.body)),
    )


def _extract(source: bytes, language: str) -> FileIR:
    """What the bytes say, as the language gives it: good enough for what is encoded at once."""
    if len(source) > LARGEST_FILE:
        return too_large(len(source))
    try:
        return registry.get(language).extract(source)
    except RecursionError:
        return failed(source, "nested too deeply")
    except Exception as error:
        _LOG.exception("the %s extractor failed", language)
        return failed(source, f"fault in the {language} extractor: {type(error).__name__}")


ABSENT = "absent: this is a partial clone"
"""Reason of the one status that is no property of the blob: it is never stored under the blob's id."""


def too_large(size: int) -> FileIR:
    return FileIR("skipped", 0, reason=f"larger than {LARGEST_FILE >> 20} MB ({size} bytes)")


def failed(source: bytes, reason: str) -> FileIR:
    return FileIR("failed", source.count(b"\n") + 1, reason=reason, problems=(ParseProblem(1, reason),))


class Source(NamedTuple):
    """One file to read: where it lies and in which language it is read."""

    path: str
    blob: BlobId
    language: str
    size: int | None
    """Bytes; None if the repository does not hold the blob (partial clone)."""


class Spilled(NamedTuple):
    """Where a worker wrote the interface, and then symbols and body, of a file for the linking that follows."""

    file: int
    offset: int
    interface_size: int
    body_size: int


class Cut(NamedTuple):
    """Words of the contents of a batch, in columns: small where it travels between processes."""

    sources: tuple[Source, ...]
    """Files whose words these are, those without any included."""
    words: tuple[str, ...]
    counts: bytes
    """How many of `sources` hold each word (array of type I)."""
    places: bytes
    """Their places in `sources`, word by word, ascending (array of type I)."""

    def postings(self) -> Iterator[tuple[str, array[int]]]:
        """Each word with the places of the files that hold it."""
        places = array("I", self.places)
        begin = 0
        for word, count in zip(self.words, array("I", self.counts), strict=True):
            yield word, places[begin : begin + count]
            begin += count


@dataclass(frozen=True, slots=True)
class Extracted:
    """What became of a batch: packs of file records ready for the store, and where the rest was spilled."""

    packs: tuple[bytes, ...]
    placed: tuple[tuple[Source, int, int], ...]
    """(source, number of the pack in `packs`, slot)."""
    spilled: tuple[tuple[str, Spilled], ...]
    announces: tuple[tuple[str, tuple[str, ...]], ...]
    names: tuple[tuple[str, tuple[str, ...]], ...]
    """Names that the symbols of a file can be looked up by."""
    cut: Cut


class Workers:
    """A pool of processes that read this repository and spill into one folder. A context manager."""

    def __init__(self, git: GitRepository, processes: int) -> None:
        self._folder = ScratchFolder()
        top = git.root or git.git_dir  # the root: it is what `safe.directory` allows
        self._pool = Pool(processes, _start_worker, top, git.borrowed, self._folder.name)

    @property
    def folder(self) -> Path:
        """For files that last as long as the pool."""
        return Path(self._folder.name)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.__exit__()
        self._folder.cleanup()

    def map(self, work: Callable[[Any], T], tasks: Sequence[Any], on_crash: Callable[[Any], T]) -> Iterator[T]:
        """See `Pool.map`."""
        return self._pool.map(work, tasks, on_crash)


def process_count(asked: int | None = None) -> int:
    """How many workers: as asked, else the processors that this process may use."""
    if asked is not None:
        return max(1, asked)
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


def batches(sources: Iterable[Source]) -> list[list[Source]]:
    """Sources in order, cut into batches of about `BATCH_BYTES`."""
    out: list[list[Source]] = []
    room = 0
    for source in sources:
        size = source.size or 0
        if not out or room < size:
            out.append([])
            room = BATCH_BYTES
        out[-1].append(source)
        room -= size
    return out


# ---- inside a worker


@dataclass
class WorkerState:
    """What a worker process keeps between tasks."""

    git: GitRepository
    folder: Path
    spill: Any
    offset: int = 0


_state: WorkerState | None = None


def worker_state() -> WorkerState:
    """The state of this worker process."""
    if _state is None:
        raise RuntimeError("called outside a worker")
    return _state


def _start_worker(git_directory: str, borrowed: Sequence[str], folder: str) -> None:
    global _state
    logging.getLogger("tokenzip").addHandler(logging.NullHandler())  # faults are told in the status of their file
    spill = (Path(folder) / f"spill-{os.getpid()}").open("wb")
    git = GitRepository.discover(git_directory)
    git.borrow(borrowed)
    _state = WorkerState(git, Path(folder), spill)


def spill_path(folder: Path, process: int) -> Path:
    """The spill file of the worker with that process id."""
    return folder / f"spill-{process}"


def extract_batch(sources: Sequence[Source]) -> Extracted:
    """Worker task: read, extract, encode and spill a batch."""
    state = worker_state()
    records: list[bytes] = []
    spilled: list[tuple[str, Spilled]] = []
    announces: list[tuple[str, tuple[str, ...]]] = []
    names: list[tuple[str, tuple[str, ...]]] = []
    words: dict[Source, set[str]] = {}
    for source in sources:
        ir = _unread(source)
        if ir is None:
            content = state.git.blob(source.blob)
            ir = _extract(content, source.language)
            if registry.is_searched(source.language):
                words[source] = words_of(content)
        records.append(encode_ir(ir))
        spilled.append((source.path, _spill(state, ir)))
        if ir.interface.announces:
            announces.append((source.path, ir.interface.announces))
        names.append((source.path, searchable_names(ir)))
    state.spill.flush()
    groups = packs_of(records)
    placed = tuple((source, *place) for source, place in zip(sources, placed_in(groups), strict=True))
    return Extracted(tuple(map(encode_pack, groups)), placed, tuple(spilled), tuple(announces), tuple(names), cut(words))


def placed_in(groups: Sequence[Sequence[bytes]]) -> list[tuple[int, int]]:
    """(pack, slot) of each record of some packs, in order."""
    return [(number, slot) for number, group in enumerate(groups) for slot in range(len(group))]


def cut(words: Mapping[Source, Iterable[str]]) -> Cut:
    """The words of some files in columns."""
    holding: dict[str, list[int]] = {}
    for place, held in enumerate(words.values()):
        for word in held:
            holding.setdefault(word, []).append(place)
    counts = array("I", map(len, holding.values())).tobytes()
    return Cut(tuple(words), tuple(holding), counts, array("I", itertools.chain.from_iterable(holding.values())).tobytes())


def words_of_blob(git: GitRepository, source: Source) -> set[str] | None:
    """The words of a blob that are searched for; None if it is not read or not code."""
    if not registry.is_searched(source.language) or _unread(source) is not None:
        return None
    return words_of(git.blob(source.blob))


def extract_blob(git: GitRepository, source: Source) -> FileIR:
    """What a blob of the repository says, in the form that the store gives back."""
    unread = _unread(source)
    if unread is not None:
        return unread
    key = (source.blob, source.language)
    known = _EXTRACTED.get(key)
    if known is not None:
        return known[0]
    ir, size = extract(git.blob(source.blob), source.language), source.size or 0
    return ir if size > _REMEMBERED_BYTES else _EXTRACTED.put(key, (ir, size))[0]


def _unread(source: Source) -> FileIR | None:
    """Stands for a blob that is not read: absent in a partial clone, or too large."""
    if source.size is None:
        return FileIR("skipped", 0, reason=ABSENT)
    return too_large(source.size) if source.size > LARGEST_FILE else None


def _spill(state: WorkerState, ir: FileIR) -> Spilled:
    interface = encode_interface(ir.interface)
    body = b"" if ir.body is None else pack_value((ir.status, encode_symbols(ir.symbols), ir.body))
    state.spill.write(interface)
    state.spill.write(body)
    place = Spilled(os.getpid(), state.offset, len(interface), len(body))
    state.offset += len(interface) + len(body)
    return place


def crashed_batch(sources: Sequence[Source]) -> Extracted:
    """Stands in for a file that killed its worker twice."""
    ir = FileIR("failed", 0, reason="the parser crashed on this file")
    group = [encode_ir(ir)] * len(sources)
    placed = tuple((source, 0, slot) for slot, source in enumerate(sources))
    return Extracted((encode_pack(group),), placed, (), (), (), cut({}))


def searchable_names(ir: FileIR) -> tuple[str, ...]:
    """Names of the file's symbols, each once, sorted."""
    return tuple(sorted({row.name for row in ir.symbols}))
