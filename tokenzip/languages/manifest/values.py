"""What parsers of manifests give, as plain values that any serialiser keeps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tokenzip.model import ParseProblem

MAX_DEPTH = 64
"""Levels of nesting. Deeper ones are refused before a recursive parser sees them."""
Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parsed:
    """The top level of a manifest, and what could not be read of it."""

    values: Values
    problems: tuple[ParseProblem, ...] = ()


class Malformed(Exception):
    """The file as a whole cannot be read."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.problem = ParseProblem(line, message)


def plain(values: Mapping[str, Any]) -> Values:
    """The same values as types that any serialiser keeps: see the package's docstring. What is too deep becomes None."""
    return {_text(key): _plain(value, MAX_DEPTH) for key, value in values.items()}


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -(1 << 63) <= value < (1 << 63) else _text(hex(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth == 0:
        return None
    if isinstance(value, dict):
        return {_text(str(key)): _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple([_plain(item, depth - 1) for item in value])
    return str(value)


def _text(text: str) -> str:
    r"""The text with lone surrogates (``"\ud800"`` in JSON) replaced: they cannot be written as UTF-8."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def at(value: Any, *keys: str) -> Any:
    """What is nested under these keys, or None."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
