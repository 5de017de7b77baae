"""From the items of an answer to an answer within its budget."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tokenzip.errors import UnknownSymbol, UsageError
from tokenzip.items import Item, revision_item
from tokenzip.model import Module, Symbol, SymbolKey
from tokenzip.operations.base import DEFAULT_MAX_TOKENS, Answer, Arguments

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot


DEPENDANT = frozenset({"names"})
DEPENDENCY = frozenset({"names", "signature"})
DEFINITION = frozenset({"names", "kind", "end_line", "signature"})
"""What an item says where no `detail` is asked for, beside its handle, file and line: what the answer is of use for."""

HEAD_SHARE = 0.75
"""Part of a budget that what stands beside the items may take where not all of them fit."""


def wanted(arguments: Arguments, default: Collection[str]) -> frozenset[str]:
    """What a question wants of each item: its `detail` or else `default`, with ``source`` and ``doc`` on request."""
    detail = {arguments["detail"]} if "detail" in arguments else default
    return frozenset({*detail, *arguments.get("include", ())})


def is_whole(include: Collection[str]) -> bool:
    """Whether everything is to be said, also what a reader can tell from the rest."""
    return "names" not in include


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

    `head` are further fields, said before the items and never cut. At most two `calls` are proposed. Where something may be
    missing, only the first page says at which places.
    """
    if isinstance(complete, dict) and "cursor" in arguments:
        complete = {name: value for name, value in complete.items() if name != "places"}
    answer: Answer = {"at": revision_item(snapshot.at), **(head or {}), "items": [], "complete": complete, "truncated": None}
    answer["token_count"] = 0
    if proposed := list(calls)[:2]:
        answer["next"] = proposed
    return fitted(answer, "items", items, arguments, shrinking=[name for name, value in (head or {}).items() if value])


def fitted(answer: Answer, field: str, items: Sequence[Item], arguments: Arguments, *, shrinking: Sequence[str] = ()) -> Answer:
    """The answer with as many `items` in `field` as fit, its cut declared and its tokens counted.

    Where the rest of the answer leaves items no room, it gives way: first what helps least of what all answers carry, then the
    fields of `shrinking`, the last ones first. What they lose is counted in ``left_out``.
    """
    from tokenzip.budget import cost, cost_without, fit, offset_of

    question = _question(arguments)
    start = offset_of(arguments.get("cursor"), len(items), question)
    budget = arguments.get("max_tokens", DEFAULT_MAX_TOKENS)
    result = fit(answer, field, items, start=start, max_tokens=budget, question=question)
    if not budget or (result["truncated"] is None and cost(result) <= budget):
        return result
    best = None
    for smaller in _ever_smaller(answer, shrinking):
        beside = cost_without(smaller, field)
        if beside > (budget if best is None else HEAD_SHARE * budget):
            continue
        result = fit(smaller, field, items, start=start, max_tokens=budget, question=question)
        if cost(result) > budget:
            continue
        if start >= len(items) or (result[field] and beside <= HEAD_SHARE * budget):
            return result
        best = best or (result if result[field] else None)
    return best or result


def _ever_smaller(answer: Answer, shrinking: Sequence[str]) -> Iterator[Answer]:
    """The answer, without its items, with ever less beside them."""
    from tokenzip.budget import slimmer

    yield answer
    smaller = answer
    for smaller in slimmer(answer):
        yield smaller
    for name in reversed(shrinking):
        for part, missing in _smaller(smaller[name]):
            known = smaller.get("left_out", {})
            smaller = {**smaller, name: part, "left_out": {**known, name: known.get(name, 0) + missing}}
            yield smaller
    emptied = [name for name in reversed(shrinking) if name in smaller.get("left_out", {}) and not smaller[name]]
    rest = [name for name in reversed(shrinking) if name not in emptied]
    for number in range(len(rest) + 1):
        dropped = {*emptied, *rest[:number]}
        if dropped:
            kept = {name: value for name, value in smaller.items() if name not in dropped}
            yield kept | {"left_out": {"fields": len(dropped)}}


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
        for names in (value.keys() - {"doc", "source", "packages"}, {"handle", "kind", "line", "end_line"}, {"handle", "kind"}):
            part = {name: each for name, each in value.items() if name in names}
            if len(part) < len(value):
                yield part, len(value) - len(part)
            value = part


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


def other_kind(text: str, target: Symbol | SymbolKey | Module) -> UsageError:
    """The error for a handle that names something of another kind than was asked about, with the question about that."""
    if isinstance(target, Module):
        return UsageError(
            f"{text} is a module", hint="ask about it as one", calls=[("query_module", {"module": target.path or "."})]
        )
    if isinstance(target, Symbol):
        return UsageError(
            f"{text} is a symbol", hint="ask about it as one", calls=[("query_symbol", {"handle": target.handle})]
        )
    return UsageError(f"{text} is a file", hint="ask about it as one", calls=[("query_file", {"path": target.path})])


def unknown_module(snapshot: Snapshot, text: str) -> UsageError:
    """The error for a module that is not there, with those that resemble it, or else with all that are."""
    from tokenzip.snapshot.spelling import nearest_folders

    modules = snapshot.modules().all()
    near = nearest_folders(snapshot, text.strip(), [name for module in modules for name in (module.path, module.name) if name])
    names = near or [module.path or "." for module in modules][:20]
    return UnknownSymbol(f"no module {text!r}", hint="name a module by its directory or its name.", candidates=names)
