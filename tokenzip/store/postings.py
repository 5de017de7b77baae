"""Which files have to do with a key: an inverted index in sorted segments, append-only between merges.

A key (a fact consulted, the target of an edge, an open name, a file name's stem, a word) is kept as a 32-bit hash; its
postings are path ids. Both the hash and age make an answer a *superset*: readers verify each path in their snapshot, and a
needless hit costs a look, never an error. A write adds one segment; small segments are merged when there are many.
"""

from __future__ import annotations

import heapq
import itertools
import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

from tokenzip.store.environment import DamagedStore
from tokenzip.store.records import compress, decompress, pack_value, unpack_value

_CHUNK_ENTRIES = 1024
"""Entries to a chunk: under 2 KB when compressed, so that LMDB puts two on a page instead of giving each a page of its own."""
_MOST_SEGMENTS = 12
_SEGMENTS = b"segments"
_HEAD = struct.Struct("<II")


def key_hash(*key: str) -> int:
    """32 bits for a key. A collision costs a needless look."""
    return zlib.crc32("\0".join(key).encode("utf-8", "surrogatepass"))


class Postings:
    """The index inside one transaction. `meta` holds the list of segments, `table` the chunks."""

    def __init__(self, transaction: Any, tables: dict[str, Any], chunks: dict[bytes, Any]) -> None:
        self._transaction = transaction
        self._table = tables["postings"]
        self._meta = tables["meta"]
        self._chunks = chunks

    def paths(self, hashes: Iterable[int]) -> set[int]:
        """Path ids that are posted under any of the hashes."""
        wanted = sorted(set(hashes))
        found: set[int] = set()
        for segment, _ in self._segments():
            for number in wanted:
                found.update(self._find(segment, number))
        return found

    def _find(self, segment: int, number: int) -> tuple[int, ...]:
        with self._transaction.cursor(self._table) as cursor:
            at_end = not cursor.set_range(_chunk_key(segment, number))
            if at_end or bytes(cursor.key()) != _chunk_key(segment, number):
                moved = cursor.last() if at_end else cursor.prev()
                if not moved or bytes(cursor.key()[:4]) != segment.to_bytes(4, "big"):
                    return ()
            key = bytes(cursor.key())
            chunk = self._chunks.get(key)
            if chunk is None:
                chunk = self._chunks[key] = _decode_chunk(key, cursor.value())
        hashes, postings = chunk
        index = bisect_right(hashes, number) - 1
        if index < 0 or hashes[index] != number:
            return ()
        found: tuple[int, ...] = postings[index]
        return found

    def add(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Add a segment of (hash, path id) pairs; merge the small segments when there are many."""
        self._write_segment(iter(sorted(set(pairs))))
        segments = self._segments()
        if len(segments) > _MOST_SEGMENTS:
            self._merge(segments)

    def add_sorted(self, pairs: Iterator[tuple[int, int]]) -> None:
        """Add a segment of pairs that come ordered by hash; within a hash they are sorted here."""
        by_hash = itertools.groupby(pairs, key=lambda pair: pair[0])
        self._write_segment(pair for _, group in by_hash for pair in sorted(set(group)))

    def pairs(self) -> Iterator[tuple[int, int]]:
        """All (hash, path id) pairs, sorted, each once."""
        return self._merged(self._segments())

    def _merged(self, segments: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        merged = heapq.merge(*(self._pairs(number) for number, _ in segments))
        return (pair for pair, _ in itertools.groupby(merged))

    def _write_segment(self, pairs: Iterator[tuple[int, int]]) -> None:
        """Write sorted, distinct pairs as one segment; nothing if there are none."""
        number = self._next_segment()
        count = 0
        for key, value, size in _encode_chunks(number, pairs):
            self._transaction.put(key, value, db=self._table, append=True)
            count += size
        if count:
            self._set_segments([*self._segments(), (number, count)], number + 1)

    def _merge(self, segments: list[tuple[int, int]]) -> None:
        """Merge all small segments; the biggest too when the others reach a quarter of it."""
        biggest = max(segments, key=lambda segment: segment[1])
        others = [segment for segment in segments if segment != biggest]
        chosen = segments if 4 * sum(size for _, size in others) >= biggest[1] else others
        self._write_segment(self._merged(chosen))
        for number, _ in chosen:
            self._delete(number)
        self._set_segments([segment for segment in self._segments() if segment not in chosen], self._next_segment())

    def _pairs(self, segment: int) -> Iterator[tuple[int, int]]:
        for key, value in self._chunks_of(segment):
            hashes, postings = _decode_chunk(key, value)
            for number, posting in zip(hashes, postings, strict=True):
                for path in posting:
                    yield number, path

    def _chunks_of(self, segment: int) -> Iterator[tuple[bytes, Any]]:
        prefix = segment.to_bytes(4, "big")
        with self._transaction.cursor(self._table) as cursor:
            if cursor.set_range(prefix):
                for key, value in cursor:
                    if bytes(key[:4]) != prefix:
                        return
                    yield bytes(key), value

    def _delete(self, segment: int) -> None:
        for key in [key for key, _ in self._chunks_of(segment)]:
            self._transaction.delete(key, db=self._table)

    def _segments(self) -> list[tuple[int, int]]:
        """(number, entries) of each live segment."""
        value = self._transaction.get(_SEGMENTS, db=self._meta)
        return [] if value is None else list(unpack_value(value)[1])

    def _next_segment(self) -> int:
        """A number never used before: chunks are cached by it."""
        value = self._transaction.get(_SEGMENTS, db=self._meta)
        return 1 if value is None else int(unpack_value(value)[0])

    def _set_segments(self, segments: list[tuple[int, int]], next_number: int) -> None:
        self._transaction.put(_SEGMENTS, pack_value((next_number, sorted(segments))), db=self._meta)


def _chunk_key(segment: int, number: int) -> bytes:
    return segment.to_bytes(4, "big") + number.to_bytes(4, "big")


def _encode_chunks(segment: int, pairs: Iterator[tuple[int, int]]) -> Iterator[tuple[bytes, bytes, int]]:
    """Sorted pairs as (key, chunk, entries); all paths of a hash are in one chunk."""
    hashes: list[int] = []
    counts: list[int] = []
    steps: list[int] = []
    last_path = 0
    for number, path in pairs:
        if hashes and hashes[-1] == number:
            counts[-1] += 1
            steps.append(path - last_path)
        else:
            if len(steps) >= _CHUNK_ENTRIES:
                yield (*_encode_chunk(segment, hashes, counts, steps), len(steps))
                hashes, counts, steps = [], [], []
            hashes.append(number)
            counts.append(1)
            steps.append(path)
        last_path = path
    if steps:
        yield (*_encode_chunk(segment, hashes, counts, steps), len(steps))


def _encode_chunk(segment: int, hashes: list[int], counts: list[int], steps: list[int]) -> tuple[bytes, bytes]:
    """Three columns: steps from hash to hash, paths to each hash, and path ids (the first whole, the others as steps)."""
    gaps = [number - before for number, before in zip(hashes, (hashes[0], *hashes), strict=False)]
    columns = _planes(gaps) + _planes(counts) + _planes(steps)
    return _chunk_key(segment, hashes[0]), compress(_HEAD.pack(len(hashes), len(steps)) + columns)


def _decode_chunk(key: bytes, value: Any) -> tuple[list[int], list[tuple[int, ...]]]:
    try:
        data = decompress(value)
    except ValueError as error:
        raise DamagedStore(f"a chunk of the inverted index is damaged: {error}") from error
    count, total = _HEAD.unpack_from(data)
    gaps, counts, steps = (
        _unplaned(data, _HEAD.size, count),
        _unplaned(data, _HEAD.size + 4 * count, count),
        _unplaned(data, _HEAD.size + 8 * count, total),
    )
    hashes = list(itertools.accumulate(gaps, initial=int.from_bytes(key[4:], "big")))[1:]
    paths = iter(steps)
    return hashes, [tuple(itertools.accumulate(itertools.islice(paths, size))) for size in counts]


def _planes(numbers: list[int]) -> bytes:
    """32-bit numbers byte by byte: all lowest bytes, then the next ones; small numbers leave planes of zeros."""
    data = struct.pack(f"<{len(numbers)}I", *numbers)
    return data[0::4] + data[1::4] + data[2::4] + data[3::4]


def _unplaned(data: bytes, start: int, count: int) -> tuple[int, ...]:
    whole = bytearray(4 * count)
    for plane in range(4):
        whole[plane::4] = data[start + plane * count : start + (plane + 1) * count]
    return struct.unpack(f"<{count}I", whole)
