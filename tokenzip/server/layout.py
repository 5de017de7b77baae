"""How an answer is written for an agent: compact JSON in many short lines.

Clients cut long answers by lines, and some drop a line that is longer than their limit altogether. So each field of the
answer and each item of its lists has a line of its own, without the indentation that would only cost tokens.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

LINE = 400
"""Characters up to which a field or an item stays on one line."""


def lay_out(answer: dict[str, Any]) -> str:
    """The JSON text of the answer. Parsing it gives the answer back."""
    fields = (_flat(name) + ":" + "".join(_field(value)) for name, value in answer.items())
    return "{" + ",\n".join(fields) + "}"


def _field(value: Any) -> Iterator[str]:
    """A field of the answer itself: its items get lines of their own however short they are."""
    is_list_of_items = isinstance(value, list) and any(isinstance(item, dict) for item in value)
    yield from _broken(value) if is_list_of_items else _pieces(value)


def _pieces(value: Any) -> Iterator[str]:
    flat = _flat(value)
    if len(flat) <= LINE or not isinstance(value, (dict, list)):
        yield flat
    else:
        yield from _broken(value)


def _broken(value: dict[str, Any] | list[Any]) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{" + ",\n".join(_flat(name) + ":" + "".join(_pieces(field)) for name, field in value.items()) + "}"
    else:
        yield "[\n" + ",\n".join("".join(_pieces(item)) for item in value) + "]"


def _flat(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
