"""Which words each file of a snapshot holds: read once for each blob, kept for the next question.

This is the seam for a stored index: `Corpus` needs the set of words of every file, and nothing else of the contents.
"""

from __future__ import annotations

import bisect
import functools
import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from tokenzip.model import BlobId
from tokenzip.search.words import bare_name, path_words, words_of

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

T = TypeVar("T")
ContentsOf = Callable[["Snapshot", Sequence["Entry"]], Iterator[bytes]]
"""Reads the contents of some files, in their order; empty for what cannot be read."""

_KEPT = 3
"""Corpora of different states of repositories that are kept; they share what they know of equal blobs."""
_LARGEST = 2_000_000
"""Bytes of a file whose words are looked at: larger ones are data."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a corpus."""

    path: str
    blob: BlobId
    is_test: bool


class Corpus:
    """The words of one snapshot's source files."""

    def __init__(self, files: Sequence[Entry], words: Mapping[BlobId, array[int]], vocabulary: Sequence[str]) -> None:
        self.paths = [file.path for file in files]
        self.positions = {path: position for position, path in enumerate(self.paths)}
        self._blobs = [file.blob for file in files]
        self._tests = frozenset(file.path for file in files if file.is_test)
        self._bare: dict[str, list[str]] = {}
        self._postings: dict[str, array[int]] = {}
        for position, file in enumerate(files):
            self._bare.setdefault(bare_name(file.path), []).append(file.path)
            names, folders = path_words(file.path)
            for word in {vocabulary[number] for number in words[file.blob]} | names | folders:
                self._postings.setdefault(word, array("I")).append(position)
        self._sorted = sorted(self._postings)

    def with_word(self, word: str) -> Sequence[int]:
        """Positions in `paths` of the files that hold the word in content or path, ascending."""
        return self._postings.get(word, ())

    def __contains__(self, word: object) -> bool:
        """Whether any file holds the word."""
        return word in self._postings

    def holds(self, position: int, word: str) -> bool:
        """Whether the file at that position holds the word."""
        posted = self._postings.get(word)
        if posted is None:
            return False
        index = bisect.bisect_left(posted, position)
        return index < len(posted) and posted[index] == position

    def blob(self, path: str) -> BlobId:
        """The blob at one of `paths`."""
        return self._blobs[self.positions[path]]

    def is_test(self, path: str) -> bool:
        return path in self._tests

    def of_bare_name(self, name: str) -> Sequence[str]:
        """The paths whose `bare_name` that is."""
        return self._bare.get(name, ())

    def beginning(self, prefix: str, limit: int) -> tuple[str, ...]:
        """Longer words that begin with `prefix`: those of most files first."""
        begin = bisect.bisect_right(self._sorted, prefix)
        end = bisect.bisect_left(self._sorted, prefix + "\U0010ffff")
        found = self._sorted[begin:end]
        return tuple(sorted(found, key=lambda word: (-len(self._postings[word]), word))[:limit])

    def resembling(self, word: str) -> Iterator[str]:
        """The words of about the length of `word` that share its first letter or its last two, each once."""
        for length in range(len(word) - 2, len(word) + 3):
            yield from self._shapes.get((length, word[:1]), ())
            for other in self._shapes.get((length, word[-2:]), ()):
                if other[0] != word[0]:
                    yield other

    @functools.cached_property
    def _shapes(self) -> Mapping[tuple[int, str], Sequence[str]]:
        shapes: dict[tuple[int, str], list[str]] = {}
        for word in self._sorted:
            shapes.setdefault((len(word), word[0]), []).append(word)
            shapes.setdefault((len(word), word[-2:]), []).append(word)
        return shapes


class Memory(Generic[T]):
    """What was read of blobs lately: bounded by the number of entries and by their sizes together."""

    def __init__(self, most: int, size: Callable[[T], int], room: int) -> None:
        self._lock = threading.Lock()
        self._most, self._size, self._room = most, size, room
        self._used = 0
        self._known: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        value = make()
        with self._lock:
            if key not in self._known:
                self._known[key] = value
                self._used += self._size(value)
            while len(self._known) > self._most or (self._used > self._room and len(self._known) > 1):
                self._used -= self._size(self._known.popitem(last=False)[1])
        return value


class _Library:
    """Corpora made so far, and the words of the blobs in them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._corpora: OrderedDict[object, tuple[Corpus, frozenset[BlobId]]] = OrderedDict()
        self._words: dict[BlobId, array[int]] = {}
        self._numbers: dict[str, int] = {}
        self._vocabulary: list[str] = []

    def corpus(self, key: object, snapshot: Snapshot, contents: ContentsOf) -> Corpus:
        with self._lock:
            known = self._corpora.get(key)
            if known is None:
                known = self._corpora[key] = self._made(snapshot, contents)
                if len(self._corpora) > _KEPT:
                    self._corpora.popitem(last=False)
                    self._forget()
            self._corpora.move_to_end(key)
            return known[0]

    def _made(self, snapshot: Snapshot, contents: ContentsOf) -> tuple[Corpus, frozenset[BlobId]]:
        files = [Entry(file.path, file.blob, file.is_test) for file in snapshot.files() if file.is_source]
        missing = [file for file in {file.blob: file for file in files}.values() if file.blob not in self._words]
        for file, source in zip(missing, contents(snapshot, missing), strict=True):
            self._words[file.blob] = array("I", sorted(map(self._number, words_of(source[:_LARGEST]))))
        return Corpus(files, self._words, self._vocabulary), frozenset(file.blob for file in files)

    def _number(self, word: str) -> int:
        number = self._numbers.get(word)
        if number is None:
            number = self._numbers[word] = len(self._vocabulary)
            self._vocabulary.append(word)
        return number

    def _forget(self) -> None:
        """Drop the words of blobs that no kept corpus holds."""
        held = frozenset[BlobId]().union(*(blobs for _, blobs in self._corpora.values()))
        self._words = {blob: words for blob, words in self._words.items() if blob in held}


_LIBRARY = _Library()


def corpus_of(key: object, snapshot: Snapshot, contents: ContentsOf) -> Corpus:
    """The corpus of the state that `key` names; made at the first question about it."""
    return _LIBRARY.corpus(key, snapshot, contents)
