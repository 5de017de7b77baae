"""Fit an ordered answer into a number of tokens, and say what was left out and how to get it.

What counts is the answer as agents get it, or, inside of `measured_by`, as its reader does.

Tokens are estimated by rule, the same everywhere, so that no tokenizer is needed at run time. The weights below were fitted to
the o200k_base encoding on answers of this program about six repositories and on their source files;
`tools/estimate` measures them again. ``docs/search.md`` has the figures, and the texts for which they do not hold. An estimate
that is a little too high costs an item; one that is too low breaks a promise.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tokenzip.errors import UsageError

Answer = dict[str, Any]

_PIECE = re.compile(
    r"""(?P<word>[a-z]+)
    | (?P<capital>[A-Z][a-z]+)
    | (?P<upper>[A-Z]+(?![a-z]))
    | (?P<number>[0-9]{1,3})
    | (?P<line>\s*\n\s*)
    | (?P<gap>[ \t]{2,})
    | (?P<before_number>[ ](?=[0-9]))
    | (?P<blank>[ ])
    | (?P<joint>(?<![!-/:-@\[-`{-~])[._/-](?=[A-Za-z]))
    | (?P<row>([!-/:-@\[-`{-~])\11{3,})
    | (?P<mark>[!-/:-@\[-`{-~]+?(?=([!-/:-@\[-`{-~])\13{3}|[^!-/:-@\[-`{-~]|\Z))
    | (?P<wide>[\u0e00-\uffff]+)
    | (?P<other>[\x80-\u0dff]+)
    | (?P<astral>[\U00010000-\U0010ffff])
    | (?P<control>.)""",
    re.VERBOSE | re.DOTALL,
)
# kind of piece -> (tokens for the piece, characters that these cover, tokens for each further character)
_WEIGHTS: Mapping[str, tuple[float, int, float]] = {
    "word": (1.04, 8, 0.24),
    "capital": (1.09, 7, 0.13),
    "upper": (1.34, 99, 0.0),
    "number": (1.0, 3, 0.0),
    "line": (1.0, 1 << 30, 0.0),
    "gap": (1.0, 1 << 30, 0.0),
    "before_number": (1.0, 1, 0.0),
    "blank": (0.0, 1, 0.0),
    "joint": (0.21, 1, 0.0),  # before a word it often is one token with it: ``_error``, ``.append``
    "row": (0.97, 64, 0.06),
    "wide": (0.83, 1, 0.83),
    "other": (0.42, 1, 0.42),
    "astral": (2.08, 1, 0.0),
    "control": (1.0, 1, 0.0),
}
_MARKS = (0.0, 0.88, 0.98, 1.02)
"""Tokens of a run of so many punctuation marks: ``":"`` is one token, and so are many other triples."""
_FURTHER_MARK = 0.33

CORE = frozenset({"at", "base", "head", "items", "complete", "truncated", "token_count"})
"""Fields that an answer keeps however small its budget is."""
SHORT_COMMIT = 12
"""Digits of a commit's id where there is no room for all."""
SHORT_WHY = 60
"""Characters of the reason why a list may be incomplete where there is no room for all."""
_NEVER_CUT = frozenset({"handle", "id", "kind", "file", "line", "end_line", "distance", "edge", "change", "cut"})


def estimate_tokens(text: str) -> int:
    """About how many tokens a language model counts in the text; rather one too many than one too few."""
    return _whole(_tokens(text))


def answer_tokens(answer: Answer) -> int:
    """`estimate_tokens` of the answer as it is laid out; lines are counted once, however often an answer is tried with them."""
    lines = lay_out(answer).split("\n")
    ends = _WEIGHTS["line"][0] * (len(lines) - 1)
    return _whole(ends + sum(_line_tokens(line) if len(line) <= LINE else _tokens(line) for line in lines))


_MEASURE: ContextVar[Callable[[Answer], int]] = ContextVar("measure", default=answer_tokens)


@contextmanager
def measured_by(measure: Callable[[Answer], int]) -> Iterator[None]:
    """Budgets hold for the tokens that `measure` counts, as of a text that is made of the answer."""
    token = _MEASURE.set(measure)
    try:
        yield
    finally:
        _MEASURE.reset(token)


def cost(answer: Answer) -> int:
    """Tokens that count against a budget."""
    return _MEASURE.get()(answer)


@functools.lru_cache(maxsize=4096)
def _line_tokens(line: str) -> float:
    return _tokens(line)


def _whole(tokens: float) -> int:
    """Rounded up, but for what adding in another order may change."""
    return math.ceil(tokens - 1e-6)


def _tokens(text: str) -> float:
    total = 0.0
    for piece in _PIECE.finditer(text):
        kind = piece.lastgroup or "control"
        length = piece.end() - piece.start()
        if kind == "mark":
            total += _MARKS[length] if length <= 3 else _MARKS[3] + _FURTHER_MARK * (length - 3)
        else:
            first, covered, further = _WEIGHTS[kind]
            total += first if length <= covered else first + further * (length - covered)
    return total


def answer_text(answer: Any) -> str:
    """The answer, or a part of it, as compact JSON on one line."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


LINE = 400
"""Characters up to which a field or an item of a laid out answer stays on one line."""


def lay_out(answer: Mapping[str, Any]) -> str:
    """The answer as the text that is sent and counted: compact JSON in many short lines.

    Agents' clients cut long answers by lines, and some drop a line above their limit altogether. So each field of the answer
    and each item of its lists has a line of its own, without the indentation that would only cost tokens.
    """
    fields = (answer_text(name) + ":" + _field_text(value) for name, value in answer.items())
    return "{" + ",\n".join(fields) + "}"


def _field_text(value: Any) -> str:
    """A field of the answer itself: its items get lines of their own however short they are."""
    is_list_of_items = isinstance(value, list) and any(isinstance(item, dict) for item in value)
    return _broken_text(value) if is_list_of_items else _value_text(value)


def _value_text(value: Any) -> str:
    flat = answer_text(value)
    return flat if len(flat) <= LINE or not isinstance(value, dict | list) else _broken_text(value)


def _broken_text(value: dict[str, Any] | list[Any]) -> str:
    if isinstance(value, dict):
        return "{" + ",\n".join(answer_text(name) + ":" + _value_text(field) for name, field in value.items()) + "}"
    return "[\n" + ",\n".join(map(_value_text, value)) + "]"


def counted(answer: Answer) -> Answer:
    """The same answer with the `token_count` of its own text, that field included; without `next` if it proposes nothing."""
    if not answer.get("next", True):
        answer = {name: value for name, value in answer.items() if name != "next"}
    count = 0
    for _ in range(4):  # the count's own digits may change it once, at a power of thousand
        answer = {**answer, "token_count": count}
        estimate = answer_tokens(answer)
        if estimate == count:
            break
        count = max(count, estimate)
    return {**answer, "token_count": count}


def fit(answer: Answer, field: str, items: Sequence[Any], *, max_tokens: int, start: int = 0, question: str = "") -> Answer:
    """The answer with as many `items` in `field`, from `start` on, as `max_tokens` hold (0: all), in their order.

    ``truncated`` says how many are shown of how many and holds the cursor of the rest; it is None when nothing follows. An
    item that could never fit is shown with its long texts cut, named in its ``cut``. When not even that fits, no item is
    shown, and the answer may be too large by what stands beside its items. `question` binds the cursor to the question: see
    `offset_of`.
    """
    draft = _Draft(answer, field, items, start, question)
    return draft.with_items(draft.most(max_tokens) if max_tokens else items[start:])


def cost_without(answer: Answer, field: str) -> int:
    """Tokens of the answer with no item in `field`, and with word of a cut."""
    mark = {"shown": 1, "total": 1000, "cursor": None}
    return cost(counted({**answer, field: [], "truncated": mark}))


def slimmer(answer: Answer) -> Iterator[Answer]:
    """The answer with ever less of what helps least: proposals, the ends of commits' ids, places of open references."""
    if "next" in answer:
        answer = {name: value for name, value in answer.items() if name != "next"}
        yield answer
    for name in ("at", "base", "head"):
        commit = answer[name].get("commit") if isinstance(answer.get(name), dict) else None
        if commit and len(commit) > SHORT_COMMIT:
            answer = {**answer, name: {**answer[name], "commit": commit[:SHORT_COMMIT]}}
            yield answer
    complete = answer.get("complete")
    if isinstance(complete, dict):
        if "places" in complete:
            complete = {name: value for name, value in complete.items() if name != "places"}
            answer = {**answer, "complete": complete}
            yield answer
        why = complete.get("why", "")
        if len(why) > SHORT_WHY:
            answer = {**answer, "complete": {**complete, "why": why[: SHORT_WHY - 1].rstrip() + "…"}}
            yield answer


def bounded(answer: Answer, max_tokens: int) -> Answer:
    """The answer, or what of it `max_tokens` hold (0: all): for what was not fitted, or has too much beside its items.

    It goes in the order of what helps least; the largest of the fields that not all answers carry go last, counted together
    in ``left_out``. Candidates of an error go from the end. A budget below what the rest takes is not kept to.
    """
    if "error" in answer:
        return _bounded_error(answer, max_tokens) if max_tokens and answer_tokens(answer) > max_tokens else answer
    if not max_tokens or cost(answer) <= max_tokens:
        return answer
    for smaller in _what_is_left(answer):
        answer = counted(smaller)
        if cost(answer) <= max_tokens:
            break
    return answer


def _what_is_left(answer: Answer) -> Iterator[Answer]:
    smaller = answer
    for smaller in slimmer(answer):
        yield smaller
    further = sorted(smaller.keys() - CORE - {"left_out"}, key=lambda name: (-len(answer_text(smaller[name])), name))
    further += [name for name in ("base", "head") if name in smaller and "at" in smaller]
    for number, name in enumerate(further, 1):
        smaller = {kept: value for kept, value in smaller.items() if kept != name} | {"left_out": {"fields": number}}
        yield smaller
    if items := smaller.get("items"):
        known = smaller.get("truncated") or {"total": len(items)}
        smaller = {**smaller, "items": [], "truncated": {"shown": 0, "total": known["total"], "cursor": None}}
        yield smaller
    yield _smallest(smaller)


def _smallest(answer: Answer) -> Answer:
    """State, whether it is complete, and how many items or fields there are: about 50 tokens."""
    at, cut = answer.get("at"), answer.get("truncated") or {"total": answer.get("left_out", {}).get("fields", 0)}
    smallest = {name: value for name, value in answer.items() if name != "left_out"}
    if isinstance(at, dict):
        rev = at["rev"] if len(at["rev"]) <= SHORT_COMMIT else at["rev"][: SHORT_COMMIT - 1] + "…"
        smallest["at"] = {"rev": rev, "commit": (at["commit"] or "")[:7]} | ({"dirty": True} if at.get("dirty") else {})
    return smallest | {"complete": answer.get("complete") is True, "truncated": {"shown": 0, "total": cut["total"]}}


def _bounded_error(answer: Answer, max_tokens: int) -> Answer:
    """The error with as many candidates as fit; then without proposals, then with its texts cut."""

    def fits(error: Mapping[str, Any]) -> bool:
        return answer_tokens({**rest, "error": error}) <= max_tokens

    error, rest = dict(answer["error"]), {name: value for name, value in answer.items() if name != "error"}
    candidates = error.get("candidates", [])
    if not fits({**error, "candidates": candidates[:1]}):
        rest = {}
    while candidates and not fits(error):
        candidates = candidates[: len(candidates) * 3 // 4]
        error["candidates"] = candidates
    for name in ("hint", "message"):
        while error[name] and not fits(error):
            error[name] = _beginning(error[name], 0.9) if len(error[name]) > 20 else ""
    return {"error": error, **rest}


class _Draft:
    """An answer whose items are not chosen yet."""

    def __init__(self, answer: Answer, field: str, items: Sequence[Any], start: int, question: str) -> None:
        self._answer = answer
        self._field = field
        self._items = items
        self._start = start
        self._question = question

    def with_items(self, shown: Sequence[Any]) -> Answer:
        end, total = self._start + len(shown), len(self._items)
        truncated = None
        if end < total:
            # With nothing shown there is nothing to go on from: the same question again would answer the same for ever.
            cursor = cursor_at(end, self._question) if shown else None
            truncated = {"shown": len(shown), "total": total, "cursor": cursor}
        return counted({**self._answer, self._field: list(shown), "truncated": truncated})

    def most(self, max_tokens: int) -> list[Any]:
        """The longest run of items from the start that fits."""
        rest = self._items[self._start :]
        if _MEASURE.get() is not answer_tokens:
            return list(rest[: self._count_that_fits(rest, max_tokens)])
        room = max_tokens - self._cost([])
        shown: list[Any] = []
        used = 0.0
        for item in rest:
            kept = item if _tokens(answer_text(item)) <= room else _cut(item, room)
            used += _tokens(answer_text(kept) + ",\n")
            if used > room and shown:
                break
            shown.append(kept)
        while shown and self._cost(shown) > max_tokens:
            shown.pop()
        while len(shown) < len(rest) and self._cost([*shown, rest[len(shown)]]) <= max_tokens:
            shown.append(rest[len(shown)])
        return shown

    def _count_that_fits(self, rest: Sequence[Any], max_tokens: int) -> int:
        """How many items fit, where nothing is known of what one of them takes."""
        low, high = 0, 1
        while high <= len(rest) and self._cost(list(rest[:high])) <= max_tokens:
            low, high = high, high * 2
        high = min(high, len(rest) + 1)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._cost(list(rest[:middle])) <= max_tokens else (low, middle)
        return low

    def _cost(self, shown: list[Any]) -> int:
        return cost(self.with_items(shown))


def _cut(item: Any, room: int) -> Any:
    """The item with its longest texts cut one after the other until it takes `room` tokens, if that is possible."""
    if not isinstance(item, dict):
        return item
    kept = dict(item)
    names = sorted((name for name in item if name not in _NEVER_CUT), key=lambda name: (-len(answer_text(item[name])), name))
    for name in names:
        excess = estimate_tokens(answer_text({**kept, "cut": [*kept.get("cut", ()), name]})) + 1 - room
        if excess <= 0:
            break
        kept["cut"] = [*kept.get("cut", ()), name]
        value = kept.pop(name)
        cost = estimate_tokens(answer_text({name: value}))
        text = _beginning(value, 1 - (excess + 4) / cost) if isinstance(value, str) and cost > excess + 8 else ""
        if text and estimate_tokens(answer_text({**kept, name: text})) < room:
            kept[name] = text
    return kept


def _beginning(text: str, share: float) -> str:
    """About that share of the text, in whole lines if it has several, with an ellipsis."""
    part = text[: max(int(len(text) * share * 0.9), 0)]
    head, newline, _ = part.rpartition("\n")
    return f"{head if newline else part}…" if part else ""


def cursor_at(offset: int, question: str = "") -> str:
    """The cursor for what follows the first `offset` items: short, and the same for the same question and offset."""
    return f"{offset:x}.{_check(offset, question)}"


def offset_of(cursor: str | None, total: int, question: str = "") -> int:
    """How many items precede the rest that a cursor stands for. Raises UsageError for one that no answer to it gave out."""
    if not cursor:
        return 0
    found = re.fullmatch(r"([0-9a-f]{1,8})\.([0-9a-f]{6})", cursor)
    offset = int(found[1], 16) if found else -1
    if found is None or found[2] != _check(offset, question):
        raise UsageError(f"cursor {cursor[:40]!r} does not belong to this question", hint="Ask again without a cursor.")
    return min(offset, total)


def _check(offset: int, question: str) -> str:
    data = f"{offset}\0{question}".encode("utf-8", "surrogateescape")
    return hashlib.blake2b(data, digest_size=3).hexdigest()
