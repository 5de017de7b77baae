"""The words of a question as a snapshot knows them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

from tokenzip.search.corpus import Corpus
from tokenzip.search.words import Question, inflections, joined, nearest
from tokenzip.words import LONGEST

TERMS = 24
"""Words of a question that count: the rarest for their weight."""
_FEW, _GUESSES, _SPELLINGS = 3, 8, 3
"""Words up to which a question's unknown ones are guessed at; guesses of beginnings and of spellings for each."""
_INFLECTED, _PREFIX, _SPELLING = 0.3, 0.5, 0.6
"""How much a word counts that is the word asked for in another form, that only begins with it, or that resembles it."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the question with everything that stands for it."""

    word: str
    value: float
    """Its weight in the question times how rare it is; of all terms together 1."""
    forms: Mapping[str, float]
    """The word itself, or others in its place, each with its factor."""


def terms_of(asked: Question, corpus: Corpus) -> tuple[list[Term], float]:
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
    return [Term(word, value / whole, forms) for word, value, forms in kept], whole


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
    for other in inflections(word):
        if other in corpus:
            forms.setdefault(other, _INFLECTED)
    if not forms and asked <= _FEW:
        resembling = (other for other in nearest(word[:LONGEST], corpus.resembling(word[:LONGEST])) if other in corpus)
        forms = dict.fromkeys(itertools.islice(resembling, _SPELLINGS), _SPELLING)
    return forms
