"""Which files of a snapshot hold a word, in content or path.

The store says it of contents (`tokenzip.store.vocabulary`), for every version of every file. What is kept here between
questions is which of its numbers are files of the snapshot, and their paths: some 250 bytes a file. Only what the store does
not have (uncommitted work) is read and cut.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from array import array
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tokenzip.languages import registry
from tokenzip.recent import Recent
from tokenzip.search.words import bare_name, folder_words, stem_words
from tokenzip.words import words_in

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

_KEPT = 2
"""Tables of different states of repositories that are kept."""
_WORDS, _WORDS_POSITIONS = 500, 200_000
"""Words that were looked for in the names of files, and positions found, which are kept with a table."""


class Corpus:
    """The words of one snapshot's source files, for one question: inside one read transaction."""

    def __init__(self, snapshot: Snapshot) -> None:
        serial, self._vocabulary = snapshot.vocabulary()
        changed = tuple((path, over and over.file.blob) for path, over in sorted(snapshot.overlay.items()))
        self._table = _TABLES.get_or_make((serial, snapshot.tree, changed), lambda: _Table(snapshot))
        self._snapshot = snapshot
        self._known: dict[str, Sequence[int]] = {}
        self.paths = self._table.paths

    def with_word(self, word: str) -> Sequence[int]:
        """Positions in `paths` of the files that hold the word in content or path, ascending."""
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = self._holding(word, self._vocabulary.documents(word))
        return known

    def _holding(self, word: str, documents: Iterable[int]) -> Sequence[int]:
        found = self._table.positions(documents)
        found.update(
            self._table.loose.get(word, ()), self._table.with_path_word(word) if word in self._table.path_word_set else ()
        )
        return sorted(found)

    def __contains__(self, word: object) -> bool:
        """Whether any file holds the word."""
        if word in self._table.path_word_set or word in self._table.loose:
            return True
        return isinstance(word, str) and self._table.holds_any(self._vocabulary.documents(word))

    def holds(self, position: int, word: str) -> bool:
        """Whether the file at that position holds the word."""
        posted = self.with_word(word)
        index = bisect.bisect_left(posted, position)
        return index < len(posted) and posted[index] == position

    def position(self, path: str) -> int | None:
        """Where a path stands in `paths`; None if it is not a source file of the snapshot."""
        index = bisect.bisect_left(self.paths, path)
        return index if index < len(self.paths) and self.paths[index] == path else None

    def is_test(self, path: str) -> bool:
        """By its path alone, in whatever language."""
        return _is_test(path)

    def of_bare_name(self, name: str) -> Sequence[str]:
        """The paths whose `bare_name` that is."""
        return [self.paths[position] for position in self._table.with_name(name) if bare_name(self.paths[position]) == name]

    def with_name_word(self, word: str) -> Iterable[int]:
        """Positions of the files that hold the word in their own name, in any order."""
        return self._table.with_name_word(word) if word in self._table.path_word_set else ()

    def beginning(self, prefix: str, limit: int) -> tuple[str, ...]:
        """Longer words that begin with `prefix`: those of most files first."""
        posted = self._vocabulary.beginning(prefix)
        others = [word for word in (*self._table.loose, *self._table.path_word_set) if word.startswith(prefix)]
        for word in {*posted, *others} - self._known.keys():
            self._known[word] = self._holding(word, posted.get(word, ()))
        found = [word for word in {*posted, *others} if word != prefix and self._known[word]]
        return tuple(sorted(found, key=lambda word: (-len(self._known[word]), word))[:limit])

    def resembling(self, word: str) -> Iterator[str]:
        """Words of about the length of `word` that share its first letter or its last two; no file needs to hold them."""
        first, last, length = re.escape(word[:1]), re.escape(word[-2:]), len(word)
        shapes = (
            rf"{first}.{{{max(length - 3, 0)},{length + 1}}}",
            rf"(?!{first}).{{{max(length - 4, 0)},{length}}}{last}",
        )
        shape = re.compile(rf"^(?:{'|'.join(shapes)})$", re.MULTILINE)
        texts = itertools.chain(self._vocabulary.words(), (self._table.path_words, "\n".join(self._table.loose)))
        return iter({found for text in texts for found in shape.findall(text)})


class _Table:
    """The source files of a snapshot, small enough to be kept."""

    def __init__(self, snapshot: Snapshot) -> None:
        files = sorted(snapshot.contents())
        self.paths = [path for path, _ in files]
        self._positions = array("I", bytes(4 * (1 + max((document for _, document in files), default=0))))
        """By document number: 1 + the position of the file, 0 for what is not of this snapshot."""
        self._copies: dict[int, list[int]] = {}
        """Document number -> positions of further files of that content."""
        self.loose: dict[str, array[int]] = {}
        """Word -> positions of the files that the store has no words of."""
        for position, (path, document) in enumerate(files):
            if not document:
                for word in snapshot.words(path):
                    self.loose.setdefault(word, array("I")).append(position)
            elif self._positions[document]:
                self._copies.setdefault(document, []).append(position)
            else:
                self._positions[document] = 1 + position
        self._with_name_word: Recent[str, array[int]] = Recent(_WORDS, _WORDS_POSITIONS, len)
        self._place_names()

    def _place_names(self) -> None:
        folders: dict[str, int] = {}
        names: list[str] = []
        self._in_folder: list[array[int]] = []
        for position, path in enumerate(self.paths):
            folder, _, name = path.rpartition("/")
            number = folders.setdefault(folder, len(folders))
            if number == len(self._in_folder):
                self._in_folder.append(array("I"))
            self._in_folder[number].append(position)
            names.append(name)
        self._folders, self._names = _Lines(folders), _Lines(names)
        stems = "\n".join(name.rpartition(".")[0] or name for name in set(names))
        self.path_words = "\n".join(sorted(words_in(stems) | words_in("\n".join(folders))))
        """The words of all paths, each on a line."""
        self.path_word_set = frozenset(self.path_words.split("\n"))

    def holds_any(self, documents: Iterable[int]) -> bool:
        """Whether one of the documents is a file of this snapshot."""
        size = len(self._positions)
        return any(document < size and self._positions[document] for document in documents)

    def positions(self, documents: Iterable[int]) -> set[int]:
        """Positions of the files of this snapshot among the documents."""
        positions, copies = self._positions, self._copies
        size = len(positions)
        found = {positions[document] - 1 for document in documents if document < size and positions[document]}
        if copies:
            found.update(position for document in copies.keys() & set(documents) for position in copies[document])
        return found

    def with_path_word(self, word: str) -> Iterable[int]:
        """Positions of the files that hold the word in their path, in any order."""
        numbers = [number for number in self._folders.holding(word) if word in folder_words(self._folders.line(number))]
        return itertools.chain(self.with_name_word(word), *[self._in_folder[number] for number in numbers])

    def with_name_word(self, word: str) -> Iterable[int]:
        """Positions of the files that hold the word in their own name, in any order."""
        return self._with_name_word.get_or_make(word, lambda: array("I", self._holding_in_name(word)))

    def _holding_in_name(self, word: str) -> Iterator[int]:
        for position in self._names.holding(word):
            if word in stem_words(self._names.line(position)):
                yield position

    def with_name(self, text: str) -> Iterator[int]:
        """Positions of the files whose name may hold the text, in whatever case."""
        return self._names.holding(text)


@functools.lru_cache(1 << 13)
def _is_test(path: str) -> bool:
    language = registry.name_for_path(path)
    return language is not None and registry.get(language).is_test(path)


class _Lines:
    """Many short texts as one, to be looked through quickly."""

    def __init__(self, lines: Iterable[str]) -> None:
        lines = list(lines)
        self._text = "\n".join(lines)
        self._begins = array("I", itertools.accumulate((1 + len(line) for line in lines), initial=0))
        lower = self._text.lower()
        self._lower = lower if len(lower) == len(self._text) else None
        """None where lower case has other lengths: every line is a candidate then."""
        self._odd = frozenset(number for number, line in enumerate(lines) if not line.isascii())

    def line(self, number: int) -> str:
        return self._text[self._begins[number] : self._begins[number + 1] - 1]

    def holding(self, text: str) -> Iterator[int]:
        """Numbers of the lines that may hold the lower-case text: all that do, and those with other letters than ASCII."""
        if self._lower is None:
            yield from range(len(self._begins) - 1)
            return
        yield from self._odd
        at = self._lower.find(text)
        while at >= 0:
            number = bisect.bisect_right(self._begins, at) - 1
            if number not in self._odd:
                yield number
            at = self._lower.find(text, self._begins[number + 1])


_TABLES: Recent[Hashable, _Table] = Recent(_KEPT)
