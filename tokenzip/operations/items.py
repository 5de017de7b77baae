"""From records of the graph to the items of an answer, and from items to an answer within its budget."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from tokenzip.languages import registry
from tokenzip.model import Edge, Revision, Symbol, SymbolKey
from tokenzip.operations.base import DEFAULT_MAX_TOKENS, Answer, Arguments

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

Item = dict[str, Any]
SIGNATURE_LENGTH = 160
"""Characters of a signature in a list; longer ones are cut at the end and say so with an ellipsis."""


T = TypeVar("T")


class Lazy(Sequence[Item]):
    """The items of a list, each made when it is looked at: a budget lets few of many be seen."""

    def __init__(self, subjects: Sequence[T], make: Callable[[T], Item]) -> None:
        self._subjects: Sequence[Any] = subjects
        self._make: Callable[[Any], Item] = make

    def __len__(self) -> int:
        return len(self._subjects)

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> Lazy: ...
    def __getitem__(self, place: int | slice) -> Item | Lazy:
        if isinstance(place, slice):
            return Lazy(self._subjects[place], self._make)
        return self._make(self._subjects[place])


def revision_item(revision: Revision) -> Item:
    return {"rev": revision.rev, "commit": revision.commit, "dirty": revision.dirty}


def wanted(arguments: Arguments) -> frozenset[str]:
    """What a question wants of each item: ``names`` alone or all that a list says, with ``source`` and ``doc`` on request."""
    return frozenset({*arguments.get("include", ()), arguments.get("detail", "signatures")})


def symbol_item(snapshot: Snapshot, symbol: Symbol, include: Collection[str] = ()) -> Item:
    """What a list says about a symbol."""
    item: Item = {"handle": symbol.handle}
    if "names" in include:
        item["line"] = symbol.line
    else:
        item.update(
            {
                "id": str(symbol.id),
                "kind": symbol.kind,
                "file": symbol.path,
                "line": symbol.line,
                "end_line": symbol.end_line,
            }
        )
        signature = one_line(signature_of(snapshot, symbol), SIGNATURE_LENGTH)
        if signature not in {"", symbol.name}:
            item["signature"] = signature
    if "doc" in include and (doc := snapshot.docstring(symbol)):
        item["doc"] = doc
    if "source" in include:
        item["source"] = symbol_source(snapshot, symbol)
    return item


def file_item(snapshot: Snapshot, path: str) -> Item:
    """What a list says about a file, as an end of an edge or as a thing of its own."""
    item: Item = {"handle": path, "kind": "file", "file": path}
    file = snapshot.file(path)
    if file is not None:
        item["lines"] = file.lines
        if file.status != "parsed":
            item["status"] = file.status
    return item


def key_item(snapshot: Snapshot, key: SymbolKey, include: Collection[str] = ()) -> Item:
    """The item of a symbol or, for an empty qualified name, of its file."""
    symbol = snapshot.symbol(key) if key.qualified else None
    return symbol_item(snapshot, symbol, include) if symbol is not None else file_item(snapshot, key.path)


def edge_part(edges: Sequence[Edge]) -> Item:
    """The `edge` of an item: the first of equal edges, with all lines when there are several."""
    first = edges[0]
    part: Item = {"kind": first.kind, "line": first.line, "tier": first.tier}
    lines = sorted({edge.line for edge in edges})
    if len(lines) > 1:
        part["lines"] = lines
    details = sorted({edge.detail for edge in edges if edge.detail})
    if details:
        part["detail"] = ", ".join(details)
    return part


@functools.lru_cache(maxsize=16)
def _source(snapshot: Snapshot, path: str) -> bytes:
    """The content of a file; neighbours in a list often come from one file."""
    return snapshot.source(path)


def signature_of(snapshot: Snapshot, symbol: Symbol) -> str:
    """The head of a definition on one line, without decorators, comments and the sign that opens its body."""
    text = _source(snapshot, symbol.path)[symbol.row.start : symbol.row.signature_end].decode("utf-8", "replace")
    if text.startswith("@"):  # decorators stand on lines of their own, before that of the name
        text = "".join(text.splitlines(keepends=True)[symbol.row.name_line - symbol.row.line :])
    text = registry.without_comments(text, registry.name_for_path(symbol.path))
    text = re.sub(r",?\s*\n\s*([)\]}>])", r"\1", re.sub(r"([(\[{<])\s*\n\s*", r"\1", text))
    return " ".join(text.split()).removesuffix("=>").rstrip(" ={:")


def symbol_source(snapshot: Snapshot, symbol: Symbol) -> str:
    """The text of a definition, decorators included."""
    return _source(snapshot, symbol.path)[symbol.row.start : symbol.row.end].decode("utf-8", "replace")


def one_line(text: str, length: int) -> str:
    """The text with runs of white space as single blanks, cut to `length` characters with an ellipsis."""
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1].rstrip() + "…"


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
