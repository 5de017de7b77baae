"""Which files a question is about.

A file is found by the words of its content and path, by the messages of the commits that changed it, and as the test of a good
file (or what a good test tests).
"""

from __future__ import annotations

import math
import posixpath
import re
import zlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenzip import walk
from tokenzip.errors import TokenzipError
from tokenzip.languages.base import INDEX_STEMS
from tokenzip.recent import Recent
from tokenzip.search.corpus import Corpus
from tokenzip.search.history import COMMITS, SHELF, History
from tokenzip.search.terms import Term, terms_of
from tokenzip.search.words import bare_name, path_words, question
from tokenzip.words import parts

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

CANDIDATES = 50
"""Files that are read for a question."""
_HEAD = 1 << 16
"""Bytes of a file in which words are counted to rank it; from a longer one they are scaled up."""
_BODY, _NAME, _STEM, _FOLDER = 1.0, 3.0, 4.0, 1.0
"""Weight of a word in a file's content, among its symbols' names, in its own name, in its folders."""
_SATURATION = 3.0
_LENGTH = 0.75
_SPOKEN, _PAIRED, _COMPOUND = 0.5, 0.5, 0.3
"""Weight of what history says and of compounds, against 1 for the best file by its words."""
_PROMISE = 0.5
"""What a word in a file's own name is worth beside being in the file, when it is decided which files are read."""
_PAIRS = 14
"""Best files whose tests are looked for."""
_ASIDE, _BUILT = 0.9, 0.5
_IS_ASIDE = re.compile(r"(?:^|/)(?:tests?|examples?|samples?|demos?|bench(?:mark)?s?|fixtures?)/")
_IS_BUILT = re.compile(r"(?:^|/)(?:dist|_?vendor(?:ed)?|third_party|node_modules)/|\.min\.\w+$")
"""Paths by which what others wrote, or programs made, is told in any language."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a file's symbols, in their order."""

    counts: Mapping[str, int]
    """How many of the names hold each word."""
    total: int
    lines: str
    """The names in lower case, each between line feeds of its own."""

    def count(self, name: str) -> int:
        """How many of the names are that one, in lower case."""
        return self.lines.count(f"\n{name}\n")


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is kept of a content."""

    head: bytes
    """The first `_HEAD` bytes in lower case, deflated."""
    size: int
    """Bytes of all."""


def _kept_of(content: bytes) -> _Kept:
    return _Kept(zlib.compress(content[:_HEAD].lower(), 1), len(content))


# What was read lately. To read the contents of 60 files from git takes some 20 ms, to inflate them again a tenth of it.
HEADS: Recent[Hashable, _Kept] = Recent(2000, 2_500_000, lambda kept: len(kept.head))
NAMES: Recent[Hashable, Names] = Recent(2000, 2_500_000, lambda names: len(names.lines) + 80 * len(names.counts))


@dataclass(frozen=True, slots=True)
class _Written:
    """A name of several words as the question writes it, in lower case."""

    name: str
    form: bytes
    value: float


class Files:
    """One question to one snapshot."""

    def __init__(self, snapshot: Snapshot, text: str, module: str | None) -> None:
        self.snapshot = snapshot
        self.question = question(text)
        self.corpus = Corpus(snapshot)
        self._history = _history(snapshot)
        self._module = module
        self.terms, self._whole = terms_of(self.question, self.corpus)
        self._ranked: list[tuple[str, float]] | None = None
        self._blobs: dict[str, str] = {}
        self._heads: dict[str, bytes] = {}
        self._named_in: dict[str, Names] = {}

    def ranked(self) -> list[tuple[str, float]]:
        """Paths with scores, best first."""
        if self._ranked is None:
            scores = ((path, score * self.damping(path)) for path, score in self._scores().items() if score > 0)
            self._ranked = sorted(scores, key=lambda pair: (-pair[1], pair[0]))
        return self._ranked

    def damping(self, path: str) -> float:
        """What is left of a file's score if it is beside the product, or made by a program."""
        return (_ASIDE if self.is_aside(path) else 1.0) * (_BUILT if _IS_BUILT.search(path) else 1.0)

    def is_aside(self, path: str) -> bool:
        """Whether a file is beside the product: a test, an example, a benchmark."""
        return self.corpus.is_test(path) or _IS_ASIDE.search(path) is not None

    def _scores(self) -> dict[str, float]:
        spoken = self._spoken()
        by_words = self._by_words(self._candidates(spoken))
        scores = {path: score + _SPOKEN * spoken.get(path, 0.0) for path, score in by_words.items()}
        self._add_compounds(scores)
        self._add_pairs(scores)
        return scores

    def _spoken(self) -> dict[str, float]:
        """How much history speaks of the files that still exist; 1 for the most."""
        weights = dict(self.question.words)
        for term in self.terms:
            if term.word not in term.forms:
                weights.update(dict.fromkeys(term.forms, weights.pop(term.word, 1.0)))
        found = {path: score for path, score in self._history.spoken_of(weights).items() if self._exists(path)}
        most = max(found.values(), default=1.0)
        return {path: math.sqrt(score / most) for path, score in found.items()}

    def _exists(self, path: str) -> bool:
        return self.corpus.position(path) is not None and self.in_module(path)

    def in_module(self, path: str) -> bool:
        return self._module is None or walk.lies_in(self.snapshot, path, self._module)

    def _candidates(self, spoken: Mapping[str, float]) -> list[str]:
        """The files that hold the most of the question's words, weighed by their rarity, or are spoken of."""
        scores: dict[int, float] = {}
        for term in self.terms:
            for position, value in self._holding(term).items():
                scores[position] = scores.get(position, 0.0) + value
            if term.word in term.forms:
                for position in self.corpus.with_name_word(term.word):
                    scores[position] = scores.get(position, 0.0) + _PROMISE * term.value
        for path, score in spoken.items():
            place = self.corpus.position(path)
            if place is not None:
                scores[place] = scores.get(place, 0.0) + _SPOKEN * score
        if self._module is not None:
            scores = {position: score for position, score in scores.items() if self.in_module(self.corpus.paths[position])}
        least = sorted(scores.values(), reverse=True)[:CANDIDATES]
        best = [position for position, score in scores.items() if score >= least[-1]] if least else []
        best.sort(key=lambda position: (-scores[position], position))
        return [self.corpus.paths[position] for position in best[:CANDIDATES]]

    def _holding(self, term: Term) -> dict[int, float]:
        """Positions of the files that hold the term, with what it is worth there."""
        found: dict[int, float] = {}
        for form, factor in sorted(term.forms.items(), key=lambda pair: pair[1]):
            found.update(dict.fromkeys(self.corpus.with_word(form), factor * term.value))
        return found

    def _by_words(self, paths: Sequence[str]) -> dict[str, float]:
        """BM25 over content, names and path of each file; 1 for the best."""
        if not paths:
            return {}
        sizes = {path: self._size(path) for path in paths}
        mean = sum(sizes.values()) / len(sizes) or 1.0
        mean_names = sum(self.names(path).total for path in paths) / len(paths) or 1.0
        written = self._written(paths)
        scores = {path: self._score(path, sizes[path], mean, mean_names, written) for path in paths}
        most = max(scores.values()) or 1.0
        return {path: score / most for path, score in scores.items()}

    def _written(self, paths: Sequence[str]) -> list[_Written]:
        """The question's names of several words (``JsonReader``), with what they are worth by their rarity."""
        total = len(self.corpus.paths)
        found: list[_Written] = []
        for name in self.question.compounds:
            if name.isidentifier():
                form = name.encode("utf-8", "replace")
                holding = sum(form in self._head(path) for path in paths)
                if holding:
                    value = math.log(1 + (total - holding + 0.5) / (holding + 0.5)) / self._whole
                    found.append(_Written(name, form, value))
        return found

    def _score(self, path: str, size: int, mean: float, mean_names: float, written: Sequence[_Written]) -> float:
        text, names = self._head(path), self.names(path)
        stem, folders = path_words(path)
        per_count = _BODY * max(1.0, size / _HEAD) / (1 - _LENGTH + _LENGTH * size / mean)
        per_name = _NAME / (0.5 + 0.5 * names.total / mean_names)
        position = self.corpus.position(path)
        assert position is not None
        total = 0.0
        for term in self.terms:
            weight = 0.0
            for form, factor in term.forms.items():
                if self.corpus.holds(position, form):
                    found = per_count * text.count(form.encode("utf-8", "replace")) + per_name * names.counts.get(form, 0)
                    weight = max(weight, factor * (found + _STEM * (form in stem) + _FOLDER * (form in folders)))
            total += term.value * weight * (_SATURATION + 1) / (weight + _SATURATION)
        whole_stem = posixpath.basename(path).partition(".")[0].lower()
        for one in written:
            weight = per_count * text.count(one.form) + per_name * names.count(one.name)
            weight += _STEM if one.name == whole_stem else 0.0
            total += one.value * weight * (_SATURATION + 1) / (weight + _SATURATION)
        return total

    def _head(self, path: str) -> bytes:
        """The beginning of the content in lower case; empty if it cannot be read."""
        head = self._heads.get(path)
        if head is None:
            head = self._heads[path] = zlib.decompress(self._kept(path).head)
        return head

    def _size(self, path: str) -> int:
        return self._kept(path).size

    def _kept(self, path: str) -> _Kept:
        return HEADS.get_or_make(self._blob(path), lambda: _kept_of(_content(self.snapshot, path)))

    def text(self, path: str) -> bytes:
        """The content in lower case; empty if it cannot be read."""
        return self._head(path) if self._size(path) <= _HEAD else _content(self.snapshot, path).lower()

    def _blob(self, path: str) -> str:
        blob = self._blobs.get(path)
        if blob is None:
            file = self.snapshot.tree_file(path)
            blob = self._blobs[path] = file.blob if file is not None else ""
        return blob

    def names(self, path: str) -> Names:
        names = self._named_in.get(path)
        if names is None:
            names = self._named_in[path] = NAMES.get_or_make(
                (self._blob(path), posixpath.splitext(path)[1]), lambda: _names_of(self.snapshot, path)
            )
        return names

    def _add_compounds(self, scores: dict[str, float]) -> None:
        """Names of several words, as they are written: in the content, or in the path."""
        total = len(self.corpus.paths)
        for compound in self.question.compounds:
            written = compound.encode("utf-8", "replace")
            in_path = {compound, compound.replace("-", "_")}
            hits: dict[str, int] = {}
            for path in scores:
                count = self._head(path).count(written) + (5 if any(form in path.lower() for form in in_path) else 0)
                if count:
                    hits[path] = count
            if hits:
                rarity = math.log(1 + total / len(hits)) / math.log(1 + total)
                for path, count in hits.items():
                    scores[path] += _COMPOUND * rarity * count / (count + 2)

    def _add_pairs(self, scores: dict[str, float]) -> None:
        """Tests of the best files, and what the best tests test."""
        base = dict(scores)
        best = sorted(base, key=lambda path: (-base[path], path))[:_PAIRS]
        for path in best:
            other = self._counterpart(path)
            if other is not None and base[path] > base.get(other, 0.0):
                raised = base.get(other, 0.0) + _PAIRED * (base[path] - base.get(other, 0.0))
                scores[other] = max(scores.get(other, 0.0), raised)

    def _counterpart(self, path: str) -> str | None:
        """The nearest file of the same bare name on the other side of tests and what is tested."""
        side = self.corpus.is_test(path)
        bare = bare_name(path)
        if bare in INDEX_STEMS:
            return None
        others = [
            other for other in self.corpus.of_bare_name(bare) if self.corpus.is_test(other) != side and self.in_module(other)
        ]
        folders = set(path.split("/"))
        return min(others, key=lambda other: (-len(folders & set(other.split("/"))), other), default=None)


def _names_of(snapshot: Snapshot, path: str) -> Names:
    names = snapshot.names(path)
    counts: dict[str, int] = {}
    for name in names:
        for word in set(parts(name)):
            counts[word] = counts.get(word, 0) + 1
    lines = "".join(f"\n{name}\n" for name in names).lower()
    return Names(counts, sum(counts.values()), lines)


def _content(snapshot: Snapshot, path: str) -> bytes:
    """The bytes of a file; none if this clone does not hold them."""
    try:
        return snapshot.source(path)
    except TokenzipError:
        return b""


def _history(snapshot: Snapshot) -> History:
    """The history before the snapshot's commit; an empty one where there is none."""
    commit = snapshot.at.commit
    if commit is None:
        return History(())
    known = SHELF.get(commit)
    if known is None:
        try:
            commits = [*snapshot.git.messages(commit, COMMITS)]
        except TokenzipError:  # a partial clone without trees cannot say which files a commit changed
            commits = []
        known = SHELF.put(commit, History(commits))
    return known
