"""Sorted segments of an inverted index, append-only between merges: what `postings` and `vocabulary` have in common.

A write adds one segment of chunks; a chunk's key is the segment's number and the first key in it. Small segments are merged
when there are many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tokenzip.store.packs import pack_value, unpack_value

_MOST = 12
_MERGED_AT_ONCE = 1 << 18
"""Entries: some tenths of a second. Larger segments stay apart until `gc` makes one of all."""


class Encoded(NamedTuple):
    """A chunk on its way into a segment."""

    first: bytes
    """The first key in it."""
    value: bytes
    entries: int


class Segments:
    """The segments of one index inside one transaction; their list lies in `meta` under `name`, their chunks in `table`."""

    def __init__(self, transaction: Any, table: Any, meta: Any, name: bytes) -> None:
        self._transaction = transaction
        self._table = table
        self._meta = meta
        self._name = name

    def live(self, least: int = 0) -> list[int]:
        """The numbers of the segments of at least so many entries."""
        return [number for number, size in self._sizes() if size >= least]

    def chunk_of(self, segment: int, key: bytes) -> tuple[bytes, Any] | None:
        """The only chunk of a segment that may hold `key`, with its own whole key; None if all of its keys are greater."""
        wanted = segment_key(segment, key)
        with self._transaction.cursor(self._table) as cursor:
            at_end = not cursor.set_range(wanted)
            if at_end or bytes(cursor.key()) != wanted:
                moved = cursor.last() if at_end else cursor.prev()
                if not moved or bytes(cursor.key()[:4]) != wanted[:4]:
                    return None
            return bytes(cursor.key()), cursor.value()

    def chunk(self, key: bytes) -> Any:
        """The chunk of that whole key."""
        return self._transaction.get(key, db=self._table)

    def chunks(self, segment: int) -> Iterator[tuple[bytes, Any]]:
        """All chunks of a segment with their whole keys, in order."""
        prefix = segment_key(segment)
        with self._transaction.cursor(self._table) as cursor:
            if cursor.set_range(prefix):
                for key, value in cursor:
                    if bytes(key[:4]) != prefix:
                        return
                    yield bytes(key), value

    def append(self, chunks: Iterator[Encoded]) -> None:
        """Write sorted chunks as a new segment; nothing if there are none."""
        number = self._next()
        count = 0
        for first, value, entries in chunks:
            self._transaction.put(segment_key(number, first), value, db=self._table, append=True)
            count += entries
        if count:
            self._set([*self._sizes(), (number, count)], number + 1)

    def tidy(self, merge: Callable[[list[int]], Iterator[Encoded]]) -> None:
        """When there are many segments, merge the small ones; a larger one too when the smaller ones reach a quarter of it.

        So each entry is written again a few times in all, and a commit waits for no merge of what a whole tree brought in.
        """
        sizes = self._sizes()
        if len(sizes) <= _MOST:
            return
        chosen = _worth_merging(sizes)
        if not chosen:
            return
        self.append(merge([number for number, _ in chosen]))
        for number, _ in chosen:
            for key in [key for key, _ in self.chunks(number)]:
                self._transaction.delete(key, db=self._table)
        self._set([segment for segment in self._sizes() if segment not in chosen], self._next())

    def _sizes(self) -> list[tuple[int, int]]:
        """(number, entries) of each live segment."""
        value = self._transaction.get(self._name, db=self._meta)
        return [] if value is None else list(unpack_value(value)[1])

    def _next(self) -> int:
        """A number never used before: chunks are cached by it."""
        value = self._transaction.get(self._name, db=self._meta)
        return 1 if value is None else int(unpack_value(value)[0])

    def _set(self, segments: list[tuple[int, int]], next_number: int) -> None:
        self._transaction.put(self._name, pack_value((next_number, sorted(segments))), db=self._meta)


def _worth_merging(sizes: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The smallest segments, as far as none is four times as large as those before it together, and all are soon merged."""
    chosen: list[tuple[int, int]] = []
    total = 0
    for segment in sorted(sizes, key=lambda segment: (segment[1], segment[0])):
        if (chosen and segment[1] > 4 * total) or total + segment[1] > _MERGED_AT_ONCE:
            break
        chosen.append(segment)
        total += segment[1]
    return sorted(chosen) if len(chosen) > 1 else []


def segment_key(segment: int, key: bytes = b"") -> bytes:
    """The whole key of a chunk of a segment whose first key is `key`."""
    return segment.to_bytes(4, "big") + key
