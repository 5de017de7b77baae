"""From the items of an answer to an answer within its budget."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tokenzip.items import Item, revision_item
from tokenzip.operations.base import DEFAULT_MAX_TOKENS, Answer, Arguments

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot


def wanted(arguments: Arguments) -> frozenset[str]:
    """What a question wants of each item: ``names`` alone or all that a list says, with ``source`` and ``doc`` on request."""
    return frozenset({*arguments.get("include", ()), arguments.get("detail", "signatures")})


def listing(
    snapshot: Snapshot,
    arguments: Arguments,
    items: Sequence[Item],
    *,
    head: Mapping[str, Any] | None = None,
    complete: bool | Item = True,
    calls: Iterable[dict[str, Any]] = (),
) -> Answer:
    """An answer in the list shape: `items` from the cursor on, as many as the budget of the question holds.

    `head` are further fields, said before the items and never cut. At most two `calls` are proposed.
    """
    answer: Answer = {"at": revision_item(snapshot.at), **(head or {}), "items": [], "complete": complete, "truncated": None}
    answer["token_count"] = 0
    answer["next"] = list(calls)[:2]
    return fitted(answer, "items", items, arguments, shrinking=[name for name, value in (head or {}).items() if value])


def fitted(answer: Answer, field: str, items: Sequence[Item], arguments: Arguments, *, shrinking: Sequence[str] = ()) -> Answer:
    """The answer with as many `items` in `field` as fit, its cut declared and its tokens counted.

    Where a budget is too small for the rest of the answer, the fields of `shrinking` give way, the last ones first; they are
    counted in ``left_out``.
    """
    from tokenzip.budget import fit, offset_of

    question = _question(arguments)
    start = offset_of(arguments.get("cursor"), len(items), question)
    budget = arguments.get("max_tokens", DEFAULT_MAX_TOKENS)
    result = fit(answer, field, items, start=start, max_tokens=budget, question=question)
    for name in reversed(shrinking):
        for smaller, missing in _smaller(answer[name]):
            if not budget or result["token_count"] <= budget:
                return result
            known = answer.get("left_out", {})
            answer = {**answer, name: smaller, "left_out": {**known, name: known.get(name, 0) + missing}}
            result = fit(answer, field, items, start=start, max_tokens=budget, question=question)
    return result


def _smaller(value: Any) -> Iterator[tuple[Any, int]]:
    """Ever smaller versions of a field, each with how much more it leaves out: half of a list, the bare handle of an item."""
    if isinstance(value, list):
        while value:
            kept = value[: len(value) // 2]
            yield kept, len(value) - len(kept)
            value = kept
    elif isinstance(value, dict) and "first" in value:
        for first, missing in _smaller(value["first"]):
            yield {**value, "first": first}, missing
    elif isinstance(value, dict) and "handle" in value:
        for kept_names in (value.keys() - {"doc", "source", "packages"}, {"handle", "kind", "file", "line", "end_line"}):
            kept_part = {name: part for name, part in value.items() if name in kept_names}
            yield kept_part, len(value) - len(kept_part)
            value = kept_part


def within(items: Sequence[Item], tokens: int) -> list[Item]:
    """The first items that take no more than so many tokens together (0: all)."""
    from tokenzip.budget import answer_text, estimate_tokens

    if not tokens:
        return list(items)
    shown: list[Item] = []
    used = 0
    for item in items:
        used += estimate_tokens(answer_text(item) + ",")
        if used > tokens:
            break
        shown.append(item)
    return shown


def _question(arguments: Arguments) -> str:
    """What a cursor belongs to: the arguments but for those that only say which part of the answer is wanted."""
    asked = {name: value for name, value in arguments.items() if name not in {"cursor", "max_tokens"}}
    return json.dumps(asked, sort_keys=True)
