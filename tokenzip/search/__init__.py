"""Words -> ranked symbols.

First files are ranked, then the symbols of the best files. A file is found by the words of its content and path, by the
messages of the commits that changed it, by being changed together with good files, and as the test of a good file (or what a
good test tests). A symbol is found by its name, its parents' names, its documentation and its body. ``docs/search.md`` gives
the measurements. Every weight here was chosen on the commit messages of six repositories; on others it finds less.
"""

from __future__ import annotations

import itertools
import math
import posixpath
import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenzip.errors import TokenzipError
from tokenzip.model import Flag, Symbol
from tokenzip.search.corpus import Corpus, Memory
from tokenzip.search.history import COMMITS, SHELF, History
from tokenzip.search.words import Question, bare_name, joined, nearest, path_words, question
from tokenzip.words import LONGEST, parts

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

CANDIDATES = 60
"""Files that are read for a question."""
TERMS = 24
"""Words of a question that count: the rarest for their weight."""
FILES = 7
"""Best files whose symbols are ranked."""
PER_FILE = 3
"""Symbols of one file in an answer, unless more are asked for."""
_LEANED_ON = 24
"""Symbols for which it is counted how many files lean on them, and the count that is enough."""

_BODY, _NAME, _STEM, _FOLDER = 1.0, 3.0, 4.0, 1.0
"""Weight of a word in a file's content, among its symbols' names, in its own name, in its folders."""
_SATURATION = 2.0
_LENGTH = 0.75
_SPOKEN, _ACTIVE, _TOGETHER, _PAIRED, _COMPOUND = 0.5, 0.1, 0.2, 0.5, 0.3
"""Weight of what history says and of compounds, against 1 for the best file by its words."""
_SEEDS = 5
_SHARE = 0.1
"""Part of a symbol's match that counts however good its file is."""
_PLACE = 0.2
"""Weight of a word of a file's path for each symbol in it, against 4 for one in the symbol's own name."""
_SHADOW_FROM, _SHADOW = 0.75, 0.6
"""A symbol gives way to a member that matches nearly as well: from which part of its score on, and to how much of it."""
_FEW, _GUESSES, _SPELLINGS = 3, 8, 3
"""Words up to which a question's unknown ones are guessed at; guesses of beginnings and of spellings for each."""
_PREFIX, _SPELLING = 0.5, 0.6
"""How much a word counts that only begins with the word asked for, or resembles it."""

EXACT = "exact name"
_NEVER = frozenset({"parameter", "generic_param", "import", "export", "re_export"})
"""Kinds that answer a search only when they are asked for."""
_VALUES = frozenset({"variable", "constant", "property"})


@dataclass(frozen=True, slots=True)
class Hit:
    """A symbol found."""

    symbol: Symbol
    score: float
    why: str
    """What matched, in a few words."""


@dataclass(frozen=True, slots=True)
class FileHit:
    """A file found."""

    path: str
    score: float


def search(
    snapshot: Snapshot,
    text: str,
    *,
    kinds: Collection[str] = (),
    module: str | None = None,
    limit: int = 20,
    per_file: int = PER_FILE,
) -> tuple[Hit, ...]:
    """The symbols that the text may mean, best first; of equal ones by path and position.

    `kinds` and `module` (path of a module) filter. `per_file` bounds the symbols of one file (0: no bound).
    """
    with snapshot.reading():
        ranking = _Ranking(snapshot, text, module)
        return _bounded(ranking.symbols(kinds), limit, per_file)


def search_files(snapshot: Snapshot, text: str, *, module: str | None = None, limit: int = 20) -> tuple[FileHit, ...]:
    """The source files that the text may be about, best first."""
    with snapshot.reading():
        ranking = _Ranking(snapshot, text, module)
        return tuple(FileHit(path, round(score, 6)) for path, score in ranking.files()[:limit])


def _bounded(hits: Iterable[Hit], limit: int, per_file: int) -> tuple[Hit, ...]:
    taken: dict[str, int] = {}
    kept: list[Hit] = []
    for hit in hits:
        path = hit.symbol.path
        if not per_file or taken.get(path, 0) < per_file:
            taken[path] = taken.get(path, 0) + 1
            kept.append(hit)
        if limit and len(kept) >= limit:
            break
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class _Term:
    """A word of the question with everything that stands for it."""

    word: str
    value: float
    """Its weight in the question times how rare it is; of all terms together 1."""
    forms: Mapping[str, float]
    """The word itself, or others in its place, each with its factor."""


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a file's symbols, in their order."""

    counts: Mapping[str, int]
    """How many of the names hold each word."""
    total: int
    lines: str
    """The names in lower case, each between line feeds of its own."""

    def count(self, name: str) -> int:
        """How many of the names are that one, in lower case."""
        return self.lines.count(f"\n{name}\n")


# What was read lately. To read the contents of 60 files from git takes some 20 ms, to inflate them again a tenth of it.
DEFLATED: Memory[bytes] = Memory(2000, len, 2_500_000)
NAMES: Memory[_Names] = Memory(2000, lambda names: len(names.lines) + 80 * len(names.counts), 2_500_000)


@dataclass(frozen=True, slots=True)
class _Written:
    """A name of several words as the question writes it, in lower case."""

    name: str
    form: bytes
    value: float


class _Ranking:
    """One question to one snapshot."""

    def __init__(self, snapshot: Snapshot, text: str, module: str | None) -> None:
        self._snapshot = snapshot
        self._question = question(text)
        self._corpus = Corpus(snapshot)
        self._history = _history(snapshot)
        self._module = module
        self._terms, self._whole = _terms(self._question, self._corpus)
        self._blobs: dict[str, str] = {}
        self._texts: dict[str, bytes] = {}
        self._named_in: dict[str, _Names] = {}

    # ---- files

    def files(self) -> list[tuple[str, float]]:
        """Paths with scores, best first."""
        spoken = self._spoken()
        by_words = self._by_words(self._candidates(spoken))
        scores = {path: score + _SPOKEN * spoken.get(path, 0.0) for path, score in by_words.items()}
        self._add_activity(scores)
        self._add_compounds(scores)
        self._add_together(scores)
        self._add_pairs(scores)
        return sorted(((path, score) for path, score in scores.items() if score > 0), key=lambda pair: (-pair[1], pair[0]))

    def _spoken(self) -> dict[str, float]:
        """How much history speaks of the files that still exist; 1 for the most."""
        weights = dict(self._question.words)
        for term in self._terms:
            if term.word not in term.forms:
                weights.update(dict.fromkeys(term.forms, weights.pop(term.word, 1.0)))
        found = {path: score for path, score in self._history.spoken_of(weights).items() if self._exists(path)}
        most = max(found.values(), default=1.0)
        return {path: math.sqrt(score / most) for path, score in found.items()}

    def _exists(self, path: str) -> bool:
        return self._corpus.position(path) is not None and self._in_module(path)

    def _in_module(self, path: str) -> bool:
        return self._module is None or self._snapshot.modules().module_of(path).path == self._module

    def _candidates(self, spoken: Mapping[str, float]) -> list[str]:
        """The files that hold the most of the question's words, weighed by their rarity, or are spoken of."""
        scores: dict[int, float] = {}
        for term in self._terms:
            for position, value in self._holding(term).items():
                scores[position] = scores.get(position, 0.0) + value
        for path, score in spoken.items():
            place = self._corpus.position(path)
            if place is not None:
                scores[place] = scores.get(place, 0.0) + _SPOKEN * score
        if self._module is not None:
            scores = {position: score for position, score in scores.items() if self._in_module(self._corpus.paths[position])}
        least = sorted(scores.values(), reverse=True)[:CANDIDATES]
        best = [position for position, score in scores.items() if score >= least[-1]] if least else []
        best.sort(key=lambda position: (-scores[position], position))
        return [self._corpus.paths[position] for position in best[:CANDIDATES]]

    def _holding(self, term: _Term) -> dict[int, float]:
        """Positions of the files that hold the term, with what it is worth there."""
        found: dict[int, float] = {}
        for form, factor in sorted(term.forms.items(), key=lambda pair: pair[1]):
            found.update(dict.fromkeys(self._corpus.with_word(form), factor * term.value))
        return found

    def _by_words(self, paths: Sequence[str]) -> dict[str, float]:
        """BM25 over content, names and path of each file; 1 for the best."""
        if not paths:
            return {}
        sizes = {path: len(self._text(path)) for path in paths}
        mean = sum(sizes.values()) / len(sizes) or 1.0
        mean_names = sum(self._names(path).total for path in paths) / len(paths) or 1.0
        written = self._written(paths)
        scores = {path: self._score(path, sizes[path] / mean, mean_names, written) for path in paths}
        most = max(scores.values()) or 1.0
        return {path: score / most for path, score in scores.items()}

    def _written(self, paths: Sequence[str]) -> list[_Written]:
        """The question's names of several words (``JsonReader``), with what they are worth by their rarity."""
        total = len(self._corpus.paths)
        found: list[_Written] = []
        for name in self._question.compounds:
            if name.isidentifier():
                form = name.encode("utf-8", "replace")
                holding = sum(form in self._text(path) for path in paths)
                if holding:
                    value = math.log(1 + (total - holding + 0.5) / (holding + 0.5)) / self._whole
                    found.append(_Written(name, form, value))
        return found

    def _score(self, path: str, size: float, mean_names: float, written: Sequence[_Written]) -> float:
        text, names = self._text(path), self._names(path)
        stem, folders = path_words(path)
        length = 1 - _LENGTH + _LENGTH * size
        names_length = 0.5 + 0.5 * names.total / mean_names
        position = self._corpus.position(path)
        assert position is not None
        total = 0.0
        for term in self._terms:
            weight = 0.0
            for form, factor in term.forms.items():
                body = text.count(form.encode("utf-8", "replace")) if self._corpus.holds(position, form) else 0
                found = _BODY * body / length + _NAME * names.counts.get(form, 0) / names_length
                weight = max(weight, factor * (found + _STEM * (form in stem) + _FOLDER * (form in folders)))
            total += term.value * weight * (_SATURATION + 1) / (weight + _SATURATION)
        whole_stem = posixpath.basename(path).partition(".")[0].lower()
        for one in written:
            weight = _BODY * text.count(one.form) / length + (_STEM if one.name == whole_stem else 0.0)
            weight += _NAME * names.count(one.name) / names_length
            total += one.value * weight * (_SATURATION + 1) / (weight + _SATURATION)
        return total

    def _text(self, path: str) -> bytes:
        """The content in lower case; empty if it cannot be read."""
        text = self._texts.get(path)
        if text is None:
            deflated = DEFLATED.get(self._blob(path), lambda: zlib.compress(_content(self._snapshot, path).lower(), 1))
            text = self._texts[path] = zlib.decompress(deflated)
        return text

    def _blob(self, path: str) -> str:
        blob = self._blobs.get(path)
        if blob is None:
            file = self._snapshot.tree_file(path)
            blob = self._blobs[path] = file.blob if file is not None else ""
        return blob

    def _names(self, path: str) -> _Names:
        names = self._named_in.get(path)
        if names is None:
            names = self._named_in[path] = NAMES.get(
                (self._blob(path), posixpath.splitext(path)[1]), lambda: _names_of(self._snapshot, path)
            )
        return names

    def _add_activity(self, scores: dict[str, float]) -> None:
        activity = self._history.activity
        most = math.log1p(max(activity.values(), default=1.0))
        for path in scores:
            scores[path] += _ACTIVE * math.log1p(activity.get(path, 0.0)) / most

    def _add_compounds(self, scores: dict[str, float]) -> None:
        """Names of several words, as they are written: in the content, or in the path."""
        total = len(self._corpus.paths)
        for compound in self._question.compounds:
            written = compound.encode("utf-8", "replace")
            in_path = {compound, compound.replace("-", "_")}
            hits: dict[str, int] = {}
            for path in scores:
                count = self._text(path).count(written) + (5 if any(form in path.lower() for form in in_path) else 0)
                if count:
                    hits[path] = count
            if hits:
                rarity = math.log(1 + total / len(hits)) / math.log(1 + total)
                for path, count in hits.items():
                    scores[path] += _COMPOUND * rarity * count / (count + 2)

    def _add_together(self, scores: dict[str, float]) -> None:
        """Files that were changed together with the best ones."""
        seeds = sorted(scores, key=lambda path: (-scores[path], path))[:_SEEDS]
        if seeds and scores[seeds[0]] > 0:
            shares = {path: scores[path] / scores[seeds[0]] for path in seeds}
            for path, share in self._history.changed_with(shares).items():
                if self._exists(path):
                    scores[path] = scores.get(path, 0.0) + _TOGETHER * share

    def _add_pairs(self, scores: dict[str, float]) -> None:
        """Tests of the best files, and what the best tests test."""
        base = dict(scores)
        best = sorted(base, key=lambda path: (-base[path], path))[: 2 * FILES]
        for path in best:
            other = self._counterpart(path)
            if other is not None and base[path] > base.get(other, 0.0):
                raised = base.get(other, 0.0) + _PAIRED * (base[path] - base.get(other, 0.0))
                scores[other] = max(scores.get(other, 0.0), raised)

    def _counterpart(self, path: str) -> str | None:
        """The nearest file of the same bare name on the other side of tests and what is tested."""
        side = self._corpus.is_test(path)
        bare = bare_name(path)
        others = [
            other for other in self._corpus.of_bare_name(bare) if self._corpus.is_test(other) != side and self._in_module(other)
        ]
        folders = set(path.split("/"))
        return min(others, key=lambda other: (-len(folders & set(other.split("/"))), other), default=None)

    # ---- symbols

    def symbols(self, kinds: Collection[str]) -> Iterator[Hit]:
        """Hits, best first."""
        files = self.files()
        most = files[0][1] if files else 1.0
        shares = {path: score / most for path, score in files[:FILES]}
        named = self._named()
        for path in sorted({symbol.path for symbol in named}):
            shares.setdefault(path, dict(files).get(path, 0.0) / most)
        exact = {symbol.handle for symbol in named}
        hits = [hit for path, share in shares.items() for hit in self._hits(path, share, kinds, exact)]
        hits = _without_shadows(hits)
        hits.sort(key=_order)
        head = [self._leaned_on(hit) for hit in hits[:_LEANED_ON]]
        head.sort(key=_order)
        yield from head
        yield from hits[_LEANED_ON:]

    def _named(self) -> list[Symbol]:
        """Symbols that have exactly a name that the question writes."""
        found = [symbol for name in self._question.names[:4] for symbol in self._snapshot.named(name)[:50]]
        return [symbol for symbol in found if self._in_module(symbol.path)]

    def _hits(self, path: str, share: float, kinds: Collection[str], exact: Collection[str]) -> Iterator[Hit]:
        file = self._snapshot.file(path)
        if file is None:
            return
        damping = (0.6 if file.is_test else 1.0) * (0.3 if file.generated else 1.0)
        text, names = self._text(path), self._names(path)
        words = [frozenset(parts(row.name)) for row in file.rows]
        place = frozenset().union(*path_words(path))
        terms = [one for term in self._terms if (one := _in_file(term, text, names.counts, place)).forms]
        for symbol in file.symbols:
            is_exact = symbol.handle in exact
            if kinds and symbol.kind not in kinds:
                continue
            if not kinds and (symbol.kind in _NEVER or (symbol.row.flags & Flag.LOCAL and symbol.kind in _VALUES)):
                continue
            match, why = _match(symbol, terms, words)
            bonus, reason = self._name_bonus(symbol, is_exact)
            if match or bonus:
                score = (match * (_SHARE + share) + bonus) * damping
                yield Hit(symbol, score, reason or why)

    def _name_bonus(self, symbol: Symbol, is_exact: bool) -> tuple[float, str]:
        """For a name that stands in the question as it is: the smaller, the less of the question it is."""
        name = symbol.name.lower()
        asked = [asked for asked in self._question.names if asked.rpartition(".")[2].lower() == name]
        if is_exact or asked:
            share = sum(term.value for term in self._terms if term.word in parts(symbol.name)) or 1.0
            written = is_exact and any(symbol.qualified_name.endswith(asked) for asked in self._question.names)
            if self._question.names[0] in (symbol.name, symbol.qualified_name) or len(self._question.words) <= 1:
                share = 1.0
            return (2.0 if written else 1.4) * share, EXACT if written else "name, in other case"
        whole = self._question.text.strip().lower()
        if len(whole) >= 2 and not any(map(str.isspace, whole)) and name.startswith(whole):
            return 0.8 * len(whole) / len(name), "beginning of the name"
        return 0.0, ""

    def _leaned_on(self, hit: Hit) -> Hit:
        """The hit with its score raised by up to a fifth for what leans on it."""
        count = _dependants(self._snapshot, hit.symbol)
        return Hit(hit.symbol, hit.score * (1 + 0.2 * math.log1p(count) / math.log1p(_LEANED_ON)), hit.why)


def _without_shadows(hits: Sequence[Hit]) -> list[Hit]:
    """The hits, those damped that have a member which matches nearly as well: the member is what was meant."""
    best: dict[tuple[str, int], float] = {}
    for hit in hits:
        key = (hit.symbol.path, hit.symbol.row.parent)
        best[key] = max(best.get(key, 0.0), hit.score)
    return [
        Hit(hit.symbol, hit.score * _SHADOW, hit.why)
        if hit.why != EXACT and best.get((hit.symbol.path, hit.symbol.index), 0.0) >= _SHADOW_FROM * hit.score
        else hit
        for hit in hits
    ]


@dataclass(frozen=True, slots=True)
class _Form:
    """One of a term's words, in one file."""

    word: str
    factor: float
    begins: Sequence[int]
    """Where it begins in the content."""
    size: int
    """Its bytes."""

    def count(self, begin: int, end: int) -> int:
        """How often it stands in a part of the content."""
        return bisect_right(self.begins, end - self.size) - bisect_left(self.begins, begin) if self.begins else 0


@dataclass(frozen=True, slots=True)
class _Present:
    """What of a term occurs in one file."""

    term: _Term
    forms: tuple[_Form, ...]
    place: float
    """Its weight for every symbol of the file, because it is in the file's path."""


def _in_file(term: _Term, text: bytes, counts: Mapping[str, int], place: Collection[str]) -> _Present:
    forms = [_form(word, factor, text) for word, factor in term.forms.items()]
    present = tuple(form for form in forms if form.word in counts or form.word in place or form.begins)
    return _Present(term, present, max((_PLACE * form.factor for form in present if form.word in place), default=0.0))


def _form(word: str, factor: float, text: bytes) -> _Form:
    written = word.encode("utf-8", "replace")
    return _Form(word, factor, [found.start() for found in re.finditer(re.escape(written), text)], len(written))


def _match(symbol: Symbol, terms: Sequence[_Present], words: Sequence[frozenset[str]]) -> tuple[float, str]:
    """How much of the question a symbol holds, from 0 to about 1, and where most of it was found."""
    row = symbol.row
    begin = row.doc_start if row.doc_start < row.doc_end and row.doc_start < row.start else row.start
    own, above = words[symbol.index], _above(symbol, words)
    length = (row.end - begin) / 6  # words, about
    norm = 0.8 + 0.2 * length / 80
    total = in_name = 0.0
    in_text = False
    for present in terms:
        weight, named = present.place, 0.0
        for form in present.forms:
            word, factor = form.word, form.factor
            found = factor * form.count(begin, row.end) / norm
            if word in own:
                named = max(named, factor)
            weight = max(weight, found + (4 * factor if word in own else 0.0) + (factor if word in above else 0.0))
        in_text = in_text or weight > present.place
        if weight:
            total += present.term.value * weight / (weight + 1.6)
            in_name += present.term.value * named
    if not total:
        return 0.0, ""
    complete = 1.2 if own and all(any(word in present.term.forms for present in terms) for word in own) else 1.0
    why = "name" if in_name >= 0.5 * total else "text and name" if in_name else "text" if in_text else "path"
    return total * complete * (1 + 0.1 * math.log1p(length)), why + _spelling(own, terms)


def _spelling(own: frozenset[str], terms: Sequence[_Present]) -> str:
    """Words that were read instead of others, if the name holds them."""
    read = [
        form.word
        for present in terms
        if present.term.word not in present.term.forms
        for form in present.forms
        if form.word in own
    ]
    return f" (read as {', '.join(read)})" if read else ""


def _order(hit: Hit) -> tuple[float, str, int]:
    return (-round(hit.score, 9), hit.symbol.path, hit.symbol.index)


def _above(symbol: Symbol, words: Sequence[frozenset[str]]) -> frozenset[str]:
    parent = symbol.row.parent
    return words[parent] if 0 <= parent < len(words) else frozenset()


def _dependants(snapshot: Snapshot, symbol: Symbol) -> int:
    """Other files with an edge to the symbol, counted up to `_LEANED_ON`."""
    from tokenzip.snapshot.keys import edge_key

    count = 0
    for path in snapshot.paths_posted([edge_key(symbol.path, symbol.qualified_name)]):
        rows = snapshot.link(path).edges if path != symbol.path else ()
        count += any(row.path == symbol.path and row.qualified == symbol.qualified_name for row in rows)
        if count >= _LEANED_ON:
            break
    return count


def _names_of(snapshot: Snapshot, path: str) -> _Names:
    names = snapshot.names(path)
    counts: dict[str, int] = {}
    for name in names:
        for word in set(parts(name)):
            counts[word] = counts.get(word, 0) + 1
    lines = "".join(f"\n{name}\n" for name in names).lower()
    return _Names(counts, sum(counts.values()), lines)


# ---- what a question is read with


def _terms(asked: Question, corpus: Corpus) -> tuple[list[_Term], float]:
    """The question's words as the corpus knows them: a word that is nowhere is read as what it may be the beginning of, or
    a misspelling of."""
    total = len(corpus.paths)
    found: list[tuple[str, float, dict[str, float]]] = []
    for word, weight in _known(asked, corpus).items():
        forms = _forms(word, corpus, len(asked.words))
        count = max((len(corpus.with_word(form)) for form in forms), default=0)
        if count:
            found.append((word, weight * math.log(1 + (total - count + 0.5) / (count + 0.5)), forms))
    kept = sorted(found, key=lambda one: (-one[1], one[0]))[:TERMS]
    whole = sum(value for _, value, _ in kept) or 1.0
    return [_Term(word, value / whole, forms) for word, value, forms in kept], whole


def _known(asked: Question, corpus: Corpus) -> dict[str, float]:
    """The question's words; one that is nowhere but is made of words that are somewhere stands for these."""
    words: dict[str, float] = {}
    for word, weight in asked.words.items():
        pieces = () if word in corpus else joined(word[:LONGEST], corpus)
        for piece in pieces or (word,):
            words[piece] = max(words.get(piece, 0.0), weight)
    return words


def _forms(word: str, corpus: Corpus, asked: int) -> dict[str, float]:
    """What the word may stand for, with factors. Only in questions of few words is there anything to guess."""
    forms = {word: 1.0} if word in corpus else {}
    if len(word) >= 3 and (asked == 1 or (not forms and asked <= _FEW)):
        forms.update(dict.fromkeys(corpus.beginning(word, _GUESSES), _PREFIX))
    if not forms and asked <= _FEW:
        resembling = (other for other in nearest(word[:LONGEST], corpus.resembling(word[:LONGEST])) if other in corpus)
        forms = dict.fromkeys(itertools.islice(resembling, _SPELLINGS), _SPELLING)
    return forms


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


__all__ = ["FileHit", "Hit", "search", "search_files"]
