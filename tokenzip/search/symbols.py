"""Which symbols of the best files a question is about.

A symbol is found by its name, its parents' names, its documentation and its body.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenzip.model import NO_DEFINITION, Flag, Symbol, TreeId
from tokenzip.recent import Recent
from tokenzip.search.files import Files
from tokenzip.search.terms import Term
from tokenzip.search.words import path_words
from tokenzip.words import parts

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

FILES = 7
"""Best files whose symbols are ranked."""
_LEANED_ON = 12
"""Symbols for which it is counted how many files lean on them, and the count that is enough."""
_COUNTS: Recent[tuple[TreeId | None, str], int] = Recent(4000)
"""How many files lean on a symbol of a snapshot without uncommitted work."""

_SHARE = 0.1
"""Part of a symbol's match that counts however good its file is."""
_KNOWN = 0.5
"""How good the file of a symbol is at least that has a name of the question."""
_PLACE = 0.2
"""Weight of a word of a file's path for each symbol in it, against 4 for one in the symbol's own name."""
_SHADOW_FROM, _SHADOW = 0.75, 0.6
"""A symbol gives way to a member that matches nearly as well: from which part of its score on, and to how much of it."""
_ASIDE, _GENERATED = 0.6, 0.3
"""What is left of a symbol's score in tests, examples and the like, and in what a program made."""
_NAMED = 0.3
"""How much more a symbol is worth whose name holds all of the question."""

_JOINED = 1.0
"""What is added for a name that is made of all words of the question in their order; half more if it is no
member; for a name that the question writes, 2."""

EXACT = "exact name"
_VALUES = frozenset({"variable", "constant", "property"})


@dataclass(frozen=True, slots=True)
class Hit:
    """A symbol found."""

    symbol: Symbol
    score: float
    why: str
    """What matched, in a few words."""

    @property
    def path(self) -> str:
        """The file that it is in."""
        return self.symbol.path


def hits_in(files: Files, kinds: Collection[str] = ()) -> Iterator[Hit]:
    """The symbols of the best files and those that have a name which the question writes, best first."""
    ranked = files.ranked()
    most = ranked[0][1] if ranked else 1.0
    known = {path: score / most for path, score in ranked}
    named = _named(files)
    shares = {path: known[path] for path, _ in ranked[:FILES]}
    shares.update((path, known.get(path, 0.0)) for path in sorted({symbol.path for symbol in named}))
    asked = _Asked(files, frozenset((symbol.path, symbol.index) for symbol in named))
    hits = [hit for path, share in shares.items() for hit in _hits(asked, path, share, kinds)]
    hits = _without_shadows(hits)
    hits.sort(key=_order)
    head = [_leaned_on(files.snapshot, hit) for hit in hits[:_LEANED_ON]]
    head.sort(key=_order)
    yield from head
    yield from hits[_LEANED_ON:]


def _named(files: Files) -> list[Symbol]:
    """Symbols that have exactly a name that the question writes."""
    names = (*files.question.names[:4], *files.question.joined)
    found = [symbol for name in names for symbol in files.snapshot.named(name, 50)]
    return [symbol for symbol in found if files.in_module(symbol.path)]


class _Asked:
    """What names are compared with."""

    def __init__(self, files: Files, exact: Collection[tuple[str, int]]) -> None:
        question = files.question
        self.files = files
        self.exact = exact
        """Path and place of the symbols that have a name of the question."""
        self.values = {term.word: term.value for term in files.terms}
        self.names = question.names
        self.joined = frozenset(question.joined)
        self.last = frozenset(name.rpartition(".")[2].lower() for name in question.names)
        self.is_one_word = len(question.words) <= 1
        whole = question.text.strip().lower()
        self.beginning = whole if len(whole) >= 2 and not any(map(str.isspace, whole)) else None

    def bonus(self, symbol: Symbol) -> tuple[float, str]:
        """For a name that stands in the question as it is: the smaller, the less of the question it is."""
        name = symbol.name.lower()
        if name in self.last:
            is_exact = (symbol.path, symbol.index) in self.exact
            share = sum(self.values.get(word, 0.0) for word in set(parts(symbol.name))) or 1.0
            written = is_exact and any(symbol.qualified_name.endswith(asked) for asked in self.names)
            if self.names[0] in (symbol.name, symbol.qualified_name) or self.is_one_word:
                share = 1.0
            return (2.0 if written else 1.4) * share, EXACT if written else "name, in other case"
        if symbol.name in self.joined:
            return _JOINED * (1.0 if symbol.row.parent >= 0 else 1.5), "name"
        if self.beginning is not None and name.startswith(self.beginning):
            return 0.8 * len(self.beginning) / len(name), "beginning of the name"
        return 0.0, ""


def _hits(asked: _Asked, path: str, share: float, kinds: Collection[str]) -> Iterator[Hit]:
    files = asked.files
    file = files.snapshot.file(path)
    if file is None or not file.is_source:
        return
    damping = (_ASIDE if files.is_aside(path) else 1.0) * (_GENERATED if file.generated else 1.0)
    text, names = files.text(path), files.names(path)
    words = [frozenset(parts(row.name)) for row in file.rows]
    place = frozenset().union(*path_words(path))
    terms = [one for term in files.terms if (one := _in_file(term, text, names.counts, place)).forms]
    for symbol in file.symbols:
        if kinds and symbol.kind not in kinds:
            continue
        if not kinds and (symbol.kind in NO_DEFINITION or (symbol.row.flags & Flag.LOCAL and symbol.kind in _VALUES)):
            continue
        match, why = _match(symbol, terms, words)
        bonus, reason = asked.bonus(symbol)
        if match or bonus:
            near = max(share, _KNOWN) if bonus and (path, symbol.index) in asked.exact else share
            yield Hit(symbol, (match * (_SHARE + near) + bonus) * damping, reason or why)


def _leaned_on(snapshot: Snapshot, hit: Hit) -> Hit:
    """The hit with its score raised by up to a fifth for what leans on it."""
    count = _dependants(snapshot, hit.symbol)
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

    term: Term
    forms: tuple[_Form, ...]
    place: float
    """Its weight for every symbol of the file, because it is in the file's path."""


def _in_file(term: Term, text: bytes, counts: Mapping[str, int], place: Collection[str]) -> _Present:
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
    return total * complete * (1 + _NAMED * in_name) * (1 + 0.1 * math.log1p(length)), why + _spelling(own, terms)


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
    if snapshot.overlay:
        return _counted(snapshot, symbol)
    return _COUNTS.get_or_make((snapshot.tree, symbol.handle), lambda: _counted(snapshot, symbol))


def _counted(snapshot: Snapshot, symbol: Symbol) -> int:
    from tokenzip.snapshot.keys import edge_key

    count = 0
    target = {(symbol.path, symbol.qualified_name)}
    for path in snapshot.paths_posted([edge_key(symbol.path, symbol.qualified_name)]):
        count += path != symbol.path and bool(snapshot.rows_to(path, target))
        if count >= _LEANED_ON:
            break
    return count
