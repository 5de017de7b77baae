"""A chain as plain values: its steps, and the text that they are written as."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

Value = str | int | bool | None | tuple[Any, ...]
"""What an argument of a step can be: what a literal of the text form can say."""


class Source(Protocol):
    """Where the states come from that a query is about; a `Repository`."""

    def snapshot(self, rev: str | None = None) -> Snapshot: ...
    def snapshots(self, base: str | None, head: str | None) -> tuple[Snapshot, Snapshot]: ...
    def merge_base(self, a: str, b: str) -> str: ...


class Step(NamedTuple):
    """One call of the chain."""

    name: str
    arguments: tuple[Any, ...] = ()
    options: tuple[tuple[str, Value], ...] = ()


def write(chain: Sequence[Step]) -> str:
    """The text of a chain. A predicate has no text: it shows as ``<predicate name>``, which cannot be read again."""
    return ".".join(("repo", *(f"{step.name}({_arguments(step)})" for step in chain)))


def _arguments(step: Step) -> str:
    positional = [_predicate(value) if callable(value) else _literal(value) for value in step.arguments]
    return ", ".join((*positional, *(f"{name}={_literal(value)}" for name, value in step.options)))


def _predicate(function: Any) -> str:
    name = getattr(function, "__qualname__", type(function).__name__)
    return f"<predicate {name.replace('<locals>.', '').replace('<lambda>', 'lambda')}>"


def _literal(value: Any) -> str:
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)
    if isinstance(value, tuple):
        return f"[{', '.join(map(_literal, value))}]"
    return repr(value)
