"""The paths of a snapshot: which share words in their names, and which hold the same rare words in their contents."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from tokenzip.recent import Recent
from tokenzip.words import words_in

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

_COMMON = 40
"""Files that hold a word up to which it says that they have to do with each other."""
_MARKS = frozenset({"test", "tests", "testing", "spec", "specs"})
"""Words of paths that tell tests from what they test, and so say nothing of what a file is about."""


class Places:
    """The files of one state, and what of them is wanted again and again: some 150 bytes a file."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.paths = list(snapshot.paths())
        positions = {path: position for position, path in enumerate(self.paths)}
        self._by_document: dict[int, list[int]] = {}
        self._loose: dict[str, list[int]] = {}
        """Word -> files that the store has no words of: uncommitted work."""
        for path, document in snapshot.contents():
            position = positions[path]
            if document:
                self._by_document.setdefault(document, []).append(position)
            else:
                for word in snapshot.words(path):
                    self._loose.setdefault(word, []).append(position)
        self._named: dict[str, array[int]] = {}
        for position, words in enumerate(map(path_words, self.paths)):
            for word in words:
                self._named.setdefault(word, array("I")).append(position)
        self._lengths = array("f", bytes(4 * len(self.paths)))
        for word, named in self._named.items():
            value = self._rarity(word) ** 2
            for position in named:
                self._lengths[position] += value

    def _rarity(self, word: str) -> float:
        return math.log(1 + len(self.paths) / len(self._named.get(word, (0,))))

    def named_alike(self, path: str) -> dict[str, float]:
        """Path -> how much of the words of both paths is the same, the rare ones counting more: from 0 to 1."""
        shared: dict[int, float] = {}
        length = 0.0
        for word in sorted(path_words(path)):
            value = self._rarity(word) ** 2
            length += value
            for position in self._named.get(word, ()):
                shared[position] = shared.get(position, 0.0) + value
        return {self.paths[at]: value / math.sqrt(length * self._lengths[at]) for at, value in shared.items()}

    def sharing_words(
        self, words: Iterable[str], documents: Callable[[str], Iterable[int]], given: Collection[str]
    ) -> Mapping[str, float]:
        """Path -> how many of the words it holds, each counting less the more files hold it; `documents` of the store do."""
        found: dict[int, float] = {}
        for word in sorted(words):
            holding = set(self._holding(word, documents))
            if len(holding) <= _COMMON:
                others = [position for position in holding if self.paths[position] not in given]
                for position in others:
                    found[position] = found.get(position, 0.0) + 1 / len(others)
        return {self.paths[position]: value for position, value in found.items()}

    def _holding(self, word: str, documents: Callable[[str], Iterable[int]]) -> Iterator[int]:
        for document in documents(word):
            yield from self._by_document.get(document, ())
        yield from self._loose.get(word, ())


def path_words(path: str) -> set[str]:
    """The words of a path without its last ending, and without what tells tests from what they test."""
    head, dot, tail = path.rpartition(".")
    return words_in(path if not dot or "/" in tail else head) - _MARKS


def places_of(snapshot: Snapshot) -> Places:
    """The places of a snapshot, inside a transaction."""
    serial, _ = snapshot.vocabulary()
    changed = tuple((path, over and over.file.blob) for path, over in sorted(snapshot.overlay.items()))
    return _KNOWN.get_or_make((serial, snapshot.tree, changed), lambda: Places(snapshot))


_KNOWN: Recent[Hashable, Places] = Recent(2)
