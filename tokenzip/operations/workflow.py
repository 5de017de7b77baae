"""The workflow templates as questions: what there is, and what one of them finds out about a state."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tokenzip.items import Item, revision_item
from tokenzip.operations.base import DEFAULT_MAX_TOKENS, Answer, Arguments
from tokenzip.operations.items import listing

if TYPE_CHECKING:
    from tokenzip.repository import Repository
    from tokenzip.snapshot import Snapshot
    from tokenzip.workflows import Template

STRIDE = 5
"""Items of one list that come in turn with those of the others: a small answer has the best of each."""
STAMP = 12
"""Digits of the name of a state that a stamp shows."""


def get_workflow(snapshot: Snapshot, arguments: Arguments) -> Answer:
    """All templates with their inputs; of one, also its steps."""
    from tokenzip.workflows import TEMPLATES, template

    if "name" not in arguments:
        items = [{"handle": each.name, "summary": each.summary, "inputs": each.shown_inputs()} for each in TEMPLATES.values()]
        return listing(snapshot, arguments, items)
    chosen = template(arguments["name"])
    head = {"workflow": chosen.name, "summary": chosen.summary, "inputs": [_input_item(chosen, each) for each in chosen.inputs]}
    steps = [{"step": step.name, "asks": step.asks, "gives": step.gives} for step in chosen.steps]
    return listing(snapshot, arguments, steps, head=head)


def _input_item(chosen: Template, each: Any) -> Item:
    item: Item = {"name": each.name, "is": each.description}
    if each.required:
        item["required"] = True
    if each.is_list:
        item["list"] = True
    return item


def execute_workflow_template(repository: Repository, arguments: Arguments) -> Answer:
    """What a template finds out, from the store if it was asked before about the same state."""
    from tokenzip.workflows import kept, key_of, state_of, template

    chosen = template(arguments["name"])
    inputs = chosen.checked(arguments.get("inputs", ()))
    snapshot = repository.snapshot(arguments.get("at"))
    with snapshot.reading():
        key = key_of(snapshot, chosen.name, inputs)
        found = kept(repository, key, lambda: chosen.run(snapshot, inputs, repository.progress).as_json())
        result = found.result
        answer: Answer = {
            "at": revision_item(snapshot.at),
            "workflow": chosen.name,
            "stamp": {"snapshot": state_of(snapshot)[:STAMP], "made": found.made},
            "summary": result["summary"],
            **{name: [] for name in result["parts"]},
            "complete": result["complete"],
            "truncated": None,
            "token_count": 0,
        }
    if result["left_out"]:
        answer["left_out"] = result["left_out"]
    if result["calls"]:
        answer["next"] = [_at(call, arguments) for call in result["calls"]]
    return _fitted(answer, result["parts"], arguments)


def _at(call: Item, arguments: Arguments) -> Item:
    return {**call, "arguments": {**call["arguments"], **({"at": arguments["at"]} if "at" in arguments else {})}}


def _fitted(answer: Answer, parts: Mapping[str, Sequence[Item]], arguments: Arguments) -> Answer:
    """The answer with as many items of its lists as its budget holds, from the cursor on, the best of each list first.

    A list of which nothing is shown is left out, so that none looks empty that is not; ``truncated.left`` counts what follows.
    """
    from tokenzip.budget import cost, counted, cursor_at, offset_of

    question = json.dumps([arguments["name"], arguments.get("inputs"), arguments.get("at")])
    ordered = list(_in_turn(parts))
    start = offset_of(arguments.get("cursor"), len(ordered), question)
    budget = arguments.get("max_tokens", DEFAULT_MAX_TOKENS)

    def with_items(count: int) -> Answer:
        shown: dict[str, list[Item]] = {}
        for name, item in ordered[start : start + count]:
            shown.setdefault(name, []).append(item)
        end = start + count
        kept = {name: shown.get(name, []) for name in parts if name in shown or not (parts[name] or start)}
        fresh: Answer = {name: kept.get(name, value) for name, value in answer.items() if name not in parts or name in kept}
        if end < len(ordered):
            left = Counter(name for name, _ in ordered[end:])
            cursor = cursor_at(end, question) if count else None
            fresh["truncated"] = {"shown": count, "total": len(ordered), "left": dict(left), "cursor": cursor}
        return counted(fresh)

    most = len(ordered) - start
    result = with_items(most)
    if not budget or cost(result) <= budget:
        return result
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        low, most = (middle, most) if cost(with_items(middle)) <= budget else (low, middle - 1)
    result = with_items(low)
    return result if cost(result) <= budget else _smallest(result, budget)


def _in_turn(parts: Mapping[str, Sequence[Item]]) -> Iterator[tuple[str, Item]]:
    """All items, `STRIDE` of each list at a time."""
    for start in range(0, max(map(len, parts.values()), default=0), STRIDE):
        for name, items in parts.items():
            yield from ((name, item) for item in items[start : start + STRIDE])


def _smallest(answer: Answer, budget: int) -> Answer:
    """An answer without items in which other fields give way, the last ones first."""
    from tokenzip.budget import cost, counted

    answer = counted({name: value for name, value in answer.items() if name != "next"})
    summary = dict(answer["summary"])
    left_out = dict(answer.get("left_out", {}))
    while cost(answer) > budget and summary:
        summary.popitem()
        left_out["summary"] = left_out.get("summary", 0) + 1
        answer = counted({**answer, "summary": summary, "left_out": left_out})
    return answer
