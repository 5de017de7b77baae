"""Which contents hold a word: an inverted index over the words of file records.

A record of the blob table has a *document number*, given when its words are posted and never used for another. So postings are
exact, however many versions of a file are posted: who asks knows the numbers of the files at hand, and the others do not count.
Words stand in the chunks as they are, in order: they are the vocabulary for guesses at beginnings and spellings.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tokenzip.store.environment import DamagedStore
from tokenzip.store.packs import compress, decompress
from tokenzip.store.segments import Encoded, Segments, segment_key

_CHUNK_ENTRIES = 1 << 14
"""Words and postings to a chunk: some 10 KB when compressed. Chunks of a quarter cost a fifth more room."""
_CACHE_BYTES = 4 << 20
_HEAD = struct.Struct("<III")

Posting = tuple[str, Sequence[int]]
"""A word and the numbers of the documents that hold it, ascending."""


class Vocabulary:
    """The index inside one transaction; what it decodes is kept until that ends."""

    def __init__(self, transaction: Any, tables: dict[str, Any]) -> None:
        self._segments = Segments(transaction, tables["words"], tables["meta"], b"word segments")
        self._listed: list[int] | None = None
        self._keys: dict[int, list[bytes]] = {}
        """The keys of the chunks of each segment."""
        self._chunks: dict[bytes, _Chunk] = {}
        self._bytes = 0

    def documents(self, word: str) -> Sequence[int]:
        """The numbers of the documents that hold the word, in no fixed order."""
        found: Sequence[int] = ()
        for key in self._keys_near(word):
            documents = self._chunk(key).documents(word)
            if documents:
                found = documents if not found else (*found, *documents)
        return found

    def beginning(self, prefix: str) -> dict[str, list[int]]:
        """The words that begin with `prefix`, with their documents."""
        found: dict[str, list[int]] = {}
        for segment in self._segments.live():
            for word, documents in self._from(segment, prefix):
                if not word.startswith(prefix):
                    break
                found.setdefault(word, []).extend(documents)
        return found

    def words(self) -> Iterator[str]:
        """All words that were ever posted, many to a text: each on a line of its own. A word may come again."""
        for segment in self._segments.live():
            for _, value in self._segments.chunks(segment):
                yield _decode(value).text

    def postings(self) -> Iterator[Posting]:
        """Everything, sorted by word, each word once."""
        return self._merged(self._segments.live())

    def add(self, postings: Iterable[Posting]) -> None:
        """Post words of new documents, sorted by word, each word once."""
        self._segments.append(_encoded(postings))
        self._segments.tidy(lambda segments: _encoded(self._merged(segments)))
        self._listed = None

    def _merged(self, segments: Sequence[int]) -> Iterator[Posting]:
        merged = heapq.merge(*map(self._all, segments), key=lambda posting: posting[0])
        for word, group in itertools.groupby(merged, key=lambda posting: posting[0]):
            yield word, sorted(itertools.chain.from_iterable(documents for _, documents in group))

    def _all(self, segment: int) -> Iterator[Posting]:
        for _, value in self._segments.chunks(segment):
            yield from _decode(value).postings_from("")

    def _from(self, segment: int, word: str) -> Iterator[Posting]:
        """Postings of a segment from `word` on."""
        keys = self._keys_of(segment)
        for key in keys[max(bisect_right(keys, _key(segment, word)) - 1, 0) :]:
            yield from self._chunk(key).postings_from(word)

    def _keys_near(self, word: str) -> Iterator[bytes]:
        """Of each segment the key of the only chunk that may hold the word."""
        for segment in self._live:
            keys = self._keys_of(segment)
            index = bisect_right(keys, _key(segment, word)) - 1
            if index >= 0:
                yield keys[index]

    @property
    def _live(self) -> list[int]:
        if self._listed is None:
            self._listed = self._segments.live()
        return self._listed

    def _keys_of(self, segment: int) -> list[bytes]:
        known = self._keys.get(segment)
        if known is None:
            known = self._keys[segment] = [key for key, _ in self._segments.chunks(segment)]
        return known

    def _chunk(self, key: bytes) -> _Chunk:
        chunk = self._chunks.get(key)
        if chunk is None:
            if self._bytes > _CACHE_BYTES:
                self._chunks.clear()
                self._bytes = 0
            chunk = self._chunks[key] = _decode(self._segments.chunk(key))
            self._bytes += chunk.size
        return chunk


class _Chunk:
    """Some neighbouring words: their text, how many documents hold each, and the steps from document to document."""

    def __init__(self, text: str, words: int, entries: int, columns: bytes) -> None:
        self.text = text
        self.size = 12 * len(text) + len(columns)  # a word and its place take about 100 bytes
        self._words, self._entries = words, entries
        self._columns = columns
        self._begins = list(itertools.accumulate(_column(columns, 0, words, 0, words), initial=0))

    @functools.cached_property
    def places(self) -> dict[str, int]:
        """Each word with its place."""
        return {word: place for place, word in enumerate(self.text.split("\n")[1:-1])}

    def documents(self, word: str) -> Sequence[int]:
        """The documents that hold the word; none if it is not here."""
        place = self.places.get(word)
        if place is None:
            return ()
        steps = _column(self._columns, 4 * self._words, self._entries, self._begins[place], self._begins[place + 1])
        return tuple(itertools.accumulate(steps))

    def postings_from(self, first: str) -> Iterator[Posting]:
        """The postings of the words from `first` on."""
        words = self.text.split("\n")[1:-1]
        start = bisect_left(words, first)
        steps = iter(_column(self._columns, 4 * self._words, self._entries, self._begins[start], self._entries))
        for place in range(start, len(words)):
            size = self._begins[place + 1] - self._begins[place]
            yield words[place], tuple(itertools.accumulate(itertools.islice(steps, size)))


def _encoded(postings: Iterable[Posting]) -> Iterator[Encoded]:
    words: list[str] = []
    counts: list[int] = []
    steps: list[int] = []
    for word, documents in postings:
        if len(words) + len(steps) >= _CHUNK_ENTRIES:
            yield _encode(words, counts, steps)
            words, counts, steps = [], [], []
        words.append(word)
        counts.append(len(documents))
        steps.extend(number - before for number, before in zip(documents, (0, *documents), strict=False))
    if words:
        yield _encode(words, counts, steps)


def _encode(words: list[str], counts: list[int], steps: list[int]) -> Encoded:
    text = compress("".join(("\n", "\n".join(words), "\n")).encode("utf-8", "surrogatepass"))
    columns = compress(_planes(counts) + _planes(steps))
    return Encoded(_first(words[0]), _HEAD.pack(len(text), len(words), len(steps)) + text + columns, len(steps))


def _decode(value: Any) -> _Chunk:
    try:
        size, words, entries = _HEAD.unpack_from(value)
        text = decompress(value[_HEAD.size : _HEAD.size + size]).decode("utf-8", "surrogatepass")
        return _Chunk(text, words, entries, decompress(value[_HEAD.size + size :]))
    except (ValueError, struct.error) as error:
        raise DamagedStore(f"a chunk of the words is damaged: {error}") from error


def _key(segment: int, word: str) -> bytes:
    return segment_key(segment, _first(word))


def _first(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")[:255]


def _planes(numbers: Sequence[int]) -> bytes:
    """32-bit numbers byte by byte: all lowest bytes, then the next ones; small numbers leave planes of zeros."""
    data = struct.pack(f"<{len(numbers)}I", *numbers)
    return data[0::4] + data[1::4] + data[2::4] + data[3::4]


def _column(data: bytes, start: int, total: int, begin: int, end: int) -> Sequence[int]:
    """The numbers from `begin` to `end` of a column of `total`, whose planes start at `start`."""
    whole = bytearray(4 * (end - begin))
    for plane in range(4):
        at = start + plane * total
        whole[plane::4] = data[at + begin : at + end]
    return struct.unpack(f"<{end - begin}I", whole)
