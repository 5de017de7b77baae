"""Which files have to do with a key: an inverted index in sorted segments, append-only between merges.

A key (a fact consulted, the target of an edge, an open name, a file name's stem) is kept as a hash; its
postings are path ids. Both the hash and age make an answer a *superset*: readers verify each path in their snapshot, and a
needless hit costs a look, never an error. A write adds one segment; small segments are merged when there are many.
"""

from __future__ import annotations

import heapq
import itertools
import struct
import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tokenzip.recent import Recent
from tokenzip.store.environment import DamagedStore
from tokenzip.store.packs import compress, decompress
from tokenzip.store.segments import Encoded, Segments

_CHUNK_ENTRIES = 1024
"""Entries to a chunk: under 2 KB when compressed, so that LMDB puts two on a page instead of giving each a page of its own."""
_LARGE = 4 * _CHUNK_ENTRIES
"""Entries of a segment that is worth looking into before its pairs are written again."""
_HEAD = struct.Struct("<II")


def key_hash(*key: str) -> int:
    """26 bits for a key: six more cost a tenth of the index. A collision costs a needless look."""
    return zlib.crc32("\0".join(key).encode("utf-8", "surrogatepass")) >> 6


class Postings:
    """The index inside one transaction."""

    def __init__(self, transaction: Any, tables: dict[str, Any], chunks: Recent[bytes, _Chunk]) -> None:
        self._segments = Segments(transaction, tables["postings"], tables["meta"], b"segments")
        self._chunks = chunks

    def paths(self, hashes: Iterable[int]) -> set[int]:
        """Path ids that are posted under any of the hashes."""
        wanted = sorted(set(hashes))
        found: set[int] = set()
        for segment in self._segments.live():
            for number in wanted:
                found.update(self._find(segment, number))
        return found

    def _find(self, segment: int, number: int) -> Sequence[int]:
        at = self._segments.chunk_of(segment, number.to_bytes(4, "big"))
        if at is None:
            return ()
        return self._chunks.get_or_make(at[0], lambda: _Chunk(*at)).paths(number)

    def add(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Add a segment of the (hash, path id) pairs that are news; merge the small segments when there are many."""
        self._segments.append(_encode_chunks(iter(sorted(self._news(set(pairs))))))
        self._segments.tidy(lambda segments: _encode_chunks(self._merged(segments)))

    def _news(self, pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
        """Those that no large segment has: a file that is linked again consults mostly what it did before."""
        by_hash: dict[int, set[int]] = {}
        for number, path in pairs:
            by_hash.setdefault(number, set()).add(path)
        for segment in self._segments.live(_LARGE):
            for number in sorted(by_hash):
                by_hash[number].difference_update(self._find(segment, number))
        return {(number, path) for number, paths in by_hash.items() for path in paths}

    def add_sorted(self, pairs: Iterator[tuple[int, int]]) -> None:
        """Add a segment of pairs that come ordered by hash; within a hash they are sorted here."""
        by_hash = itertools.groupby(pairs, key=lambda pair: pair[0])
        self._segments.append(_encode_chunks(pair for _, group in by_hash for pair in sorted(set(group))))

    def pairs(self) -> Iterator[tuple[int, int]]:
        """All (hash, path id) pairs, sorted, each once."""
        return self._merged(self._segments.live())

    def _merged(self, segments: Sequence[int]) -> Iterator[tuple[int, int]]:
        merged = heapq.merge(*map(self._pairs, segments))
        return (pair for pair, _ in itertools.groupby(merged))

    def _pairs(self, segment: int) -> Iterator[tuple[int, int]]:
        for key, value in self._segments.chunks(segment):
            yield from _Chunk(key, value).pairs()


class _Chunk:
    """Neighbouring hashes and the path ids under each. What lies under one is read when it is asked for."""

    __slots__ = ("_counts", "_steps", "hashes")

    def __init__(self, key: bytes, value: Any) -> None:
        try:
            data = decompress(value)
            count, total = _HEAD.unpack_from(data)
            gaps = _Planes(data, _HEAD.size, count)
            self._counts = _Planes(data, _HEAD.size + 4 * count, count)
            self._steps = _Planes(data, _HEAD.size + 8 * count, total)
            first = int.from_bytes(key[4:], "big")
            self.hashes = array("I", itertools.accumulate(gaps.numbers(1, count), initial=first))
        except (ValueError, OverflowError, struct.error) as error:
            raise DamagedStore(f"a chunk of the inverted index is damaged: {error}") from error

    def paths(self, number: int) -> Sequence[int]:
        """The path ids under a hash, ascending; none if it is not here."""
        index = bisect_left(self.hashes, number)
        if index == len(self.hashes) or self.hashes[index] != number:
            return ()
        begin = self._counts.sum_before(index)
        (count,) = self._counts.numbers(index, index + 1)
        return tuple(itertools.accumulate(self._steps.numbers(begin, begin + count)))

    def pairs(self) -> Iterator[tuple[int, int]]:
        """All (hash, path id) pairs, in order."""
        steps = iter(self._steps.numbers(0, self._steps.count))
        for number, count in zip(self.hashes, self._counts.numbers(0, len(self.hashes)), strict=True):
            for path in itertools.accumulate(itertools.islice(steps, count)):
                yield number, path


def _encode_chunks(pairs: Iterator[tuple[int, int]]) -> Iterator[Encoded]:
    """Sorted, distinct pairs as chunks; all paths of a hash are in one chunk."""
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
                yield _encode_chunk(hashes, counts, steps)
                hashes, counts, steps = [], [], []
            hashes.append(number)
            counts.append(1)
            steps.append(path)
        last_path = path
    if steps:
        yield _encode_chunk(hashes, counts, steps)


def _encode_chunk(hashes: list[int], counts: list[int], steps: list[int]) -> Encoded:
    """Three columns: steps from hash to hash, paths to each hash, and path ids (the first whole, the others as steps)."""
    gaps = [number - before for number, before in zip(hashes, (hashes[0], *hashes), strict=False)]
    columns = _planes(gaps) + _planes(counts) + _planes(steps)
    value = compress(_HEAD.pack(len(hashes), len(steps)) + columns)
    return Encoded(hashes[0].to_bytes(4, "big"), value, len(steps))


def _planes(numbers: list[int]) -> bytes:
    """32-bit numbers byte by byte: all lowest bytes, then the next ones; small numbers leave planes of zeros."""
    data = struct.pack(f"<{len(numbers)}I", *numbers)
    return data[0::4] + data[1::4] + data[2::4] + data[3::4]


class _Planes:
    """Numbers that `_planes` wrote into some data, read as far as they are asked for."""

    __slots__ = ("_data", "_start", "count")

    def __init__(self, data: bytes, start: int, count: int) -> None:
        if start + 4 * count > len(data):
            raise ValueError("it is too short")
        self._data, self._start, self.count = data, start, count

    def _plane(self, plane: int, begin: int, end: int) -> bytes:
        start = self._start + plane * self.count
        return self._data[start + begin : start + end]

    def numbers(self, begin: int, end: int) -> array[int]:
        """The numbers from one place up to another."""
        whole = bytearray(4 * (end - begin))
        for plane in range(4):
            whole[plane::4] = self._plane(plane, begin, end)
        numbers = array("I", bytes(whole))
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers

    def sum_before(self, end: int) -> int:
        """The sum of the numbers up to a place."""
        return sum(sum(self._plane(plane, 0, end)) << (8 * plane) for plane in range(4))
