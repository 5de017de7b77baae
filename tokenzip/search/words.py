"""The words of a question, of paths, and words that resemble others."""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from tokenzip.words import identifiers, parts, words_in

_COMPOUND = re.compile(r"[^\W\d]\w*(?:[.\-]\w+)+|[^\W\d]\w*")
_CALLED = re.compile(r"`([^`\n]+)`|(?<![\w.])([^\W\d][\w.]*)\(")
_CAMEL = re.compile(r"[a-z0-9][A-Z]")
LONGEST_QUESTION = 4000
"""Letters of a question that are read: more than any commit message that says what it is about."""
_LONGEST_INFLECTED = 20
_MOST_JOINED = 4
_LATER_LINES = 0.5
"""Weight of words after the first line of a question: in commit messages the first line says more."""

# Words that say how a question is asked or that something is to be done, not about what.
STOP_WORDS = frozenset(
    """a add added adding all allow also an and any are as at be been but by can change changed could did do docs does feat fix
    fixed fixes fixing for from had has have if improve in instead into is it its just made make more no not now of on only or
    refactor remove removed should so some support test tests than that the their then there these this those to update updated
    use used using was were when where which while will with would""".split()  # noqa: SIM905 (a page of one-word strings is no easier to read)
)


def path_words(path: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a file's name (without its last ending) and of its folders."""
    folder, _, name = path.rpartition("/")
    return stem_words(name), folder_words(folder)


@functools.lru_cache(1 << 11)
def stem_words(name: str) -> frozenset[str]:
    """The words of a file's name without its last ending."""
    return frozenset(words_in(name.rpartition(".")[0] or name))


@functools.lru_cache(1 << 9)
def folder_words(folder: str) -> frozenset[str]:
    """The words of a folder's path."""
    return frozenset(words_in(folder))


_TEST_MARK = re.compile(r"[._-]?(?:tests?|spec)$|^tests?[._-]")


def bare_name(path: str) -> str:
    """The name of a file without endings and marks of tests: ``test_app.py``, ``app.spec.ts`` and ``AppTest.java``: app."""
    name = posixpath.basename(path).rpartition(".")[0].lower() or posixpath.basename(path).lower()
    return _TEST_MARK.sub("", name) or name


@dataclass(frozen=True, slots=True)
class Question:
    """What a text asks for."""

    text: str
    words: Mapping[str, float]
    """Word -> weight, in the order of the text."""
    compounds: tuple[str, ...]
    """Names of several words as written, lower case: ``make_response``, ``res.status``, ``lambda-edge``."""
    names: tuple[str, ...]
    """What may be the name of a symbol, as written: the whole text if it is one token, and what looks like code."""
    joined: tuple[str, ...]
    """The names that a few words may be spelt out of: ``ProductVariant``, ``productVariant``, ``product_variant``."""


def question(text: str) -> Question:
    """Words of the text but stop words (these count too where they are code, and where there is nothing else)."""
    text = text[:LONGEST_QUESTION]
    code = _code(text)
    first, _, rest = text.partition("\n")
    weights = _weights(first, code, 1.0, {})
    weights = _weights(rest, code, _LATER_LINES, weights)
    if not weights:
        weights = dict.fromkeys((word for name in identifiers(text) for word in parts(name)), 1.0)
    compounds = [found for found in _COMPOUND.findall(text) if len(parts_of(found)) > 1]
    whole = text.strip()
    names = [whole] if whole and not any(map(str.isspace, whole)) else []
    names += [found for found in compounds if "-" not in found] + sorted(code)
    return Question(text, weights, _distinct(map(str.lower, compounds)), _distinct(names), _spelt_together(text.split()))


def _spelt_together(words: list[str]) -> tuple[str, ...]:
    if not 2 <= len(words) <= _MOST_JOINED or not all(word.isalnum() for word in words):
        return ()
    lower = [word.lower() for word in words]
    humps = "".join(map(str.capitalize, lower))
    return _distinct((humps, lower[0] + humps[len(lower[0]) :], "_".join(lower)))


def parts_of(compound: str) -> tuple[str, ...]:
    """The words of a dotted or hyphenated name."""
    return tuple(word for name in re.split(r"\W+", compound) for word in parts(name))


def _code(text: str) -> set[str]:
    """Identifiers that stand in the text as code: dotted, called, between back-ticks, with an underscore or a hump."""
    code: set[str] = set()
    for ticked, called in _CALLED.findall(text):
        code.update(identifiers(ticked or called))
    for compound in _COMPOUND.findall(text):
        if "." in compound or "_" in compound.strip("_") or _CAMEL.search(compound):
            code.update(identifiers(compound))
    return code


def _weights(text: str, code: set[str], weight: float, known: dict[str, float]) -> dict[str, float]:
    """Each word once; one that is repeated counts a little more, up to twice."""
    weights = dict(known)
    for name in identifiers(text):
        is_code = name in code
        for word in parts(name):
            if is_code or (word not in STOP_WORDS and name.lower() not in STOP_WORDS):
                weights[word] = min(weights[word] + 0.3 * weight, 2.0) if word in weights else weight
    return weights


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "er", "ies", "ed", "es", "s", "ly", "e")


@functools.lru_cache(1 << 12)
def root(word: str) -> str:
    """A word without its ending, roughly: handler, handles and handling are handl."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) >= len(ending) + 3:
            word = word[: -len(ending)] + ("y" if ending == "ies" else "")
            break
    doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl"
    return word[:-1] if doubled else word


@functools.lru_cache(1 << 10)
def inflections(word: str) -> tuple[str, ...]:
    """Other words of the same root, whether there are such words or not; sorted."""
    if not (word.isascii() and word.isalpha() and 3 <= len(word) <= _LONGEST_INFLECTED):
        return ()
    base = root(word)
    stems = {base, base + base[-1], base[:-1] + "i" if base.endswith("y") else base}
    others = {stem + ending for stem in stems for ending in ("", *_ENDINGS)}
    return tuple(sorted(other for other in others if other != word and root(other) == base))


def joined(word: str, vocabulary: Container[str]) -> tuple[str, ...]:
    """The fewest known words of at least three letters that `word` is made of (``userservice``: user, service); none: empty."""
    best: list[tuple[str, ...] | None] = [()] + [None] * len(word)
    for end in range(3, len(word) + 1):
        for begin in range(max(0, end - 24), end - 2):
            before = best[begin]
            known = best[end]
            if before is not None and word[begin:end] in vocabulary and (known is None or len(before) + 1 < len(known)):
                best[end] = (*before, word[begin:end])
    return best[-1] or ()


def nearest(word: str, vocabulary: Iterable[str]) -> list[str]:
    """The words that a typing error or two may have made `word` of: nearest first, then by name.

    One error in words of up to seven letters, two in longer ones; a swap of neighbours is one. Words of three letters or less
    have too many neighbours to guess.
    """
    most = 1 if len(word) <= 7 else 2
    if len(word) <= 3:
        return []
    found = [
        (distance, other)
        for other in vocabulary
        if abs(len(other) - len(word)) <= most and (distance := edit_distance(word, other, most)) <= most
    ]
    return [other for _, other in sorted(found)]


def edit_distance(one: str, other: str, most: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between two words; ``most + 1`` for any more."""
    before: list[int] = []
    previous = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        current = [row]
        for column, against in enumerate(other, 1):
            cost = min(previous[column] + 1, current[-1] + 1, previous[column - 1] + (letter != against))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == against:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) > most and (not before or min(previous) > most):
            return most + 1
        before, previous = previous, current
    return min(previous[-1], most + 1)
