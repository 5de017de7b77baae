"""What the calls of a file pass for the parameters of its own functions that have no annotation."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.python.ir import STATIC
from tokenzip.languages.python.state import State

Passed = dict[tuple[int, str], dict[int, None]]
"""(function, parameter) -> expressions, each once, in the order of the calls."""
_ROUNDS = 3
"""How far a value is followed through functions that call their parameters."""


def passed_values(state: State) -> Passed:
    """(function, parameter) -> what is passed; through parameters that are called, too, where their value is known."""
    found: Passed = {}
    through: list[tuple[tuple[int, str], tuple[int, ...], tuple[tuple[str, int], ...]]] = []
    for callee, positional, keywords in state.passed:
        expression = state.expressions[callee]
        if expression[0] == "param":
            through.append((expression[1:], positional, keywords))
        else:
            _pass(state, found, *_callee(state, callee), positional, keywords)
    for _ in range(_ROUNDS if through else 0):
        for parameter, positional, keywords in through:
            for value in tuple(found.get(parameter, ())):
                if value >= 0 and state.expressions[value][0] in ("global", "def", "attr"):
                    _pass(state, found, *_callee(state, value), positional, keywords)
    return found


def _pass(
    state: State,
    found: Passed,
    function: int,
    skip: int,
    positional: tuple[int, ...],
    keywords: tuple[tuple[str, int], ...],
) -> None:
    if function < 0:
        return
    parameters = state.symbols[function].parameters[skip:]
    given = list(zip(parameters, positional, strict=False))
    given += [(parameter, value) for name, value in keywords for parameter in parameters if parameter[0] == name]
    for (name, kind, star), value in given:
        if star:
            break
        if kind < 0:
            found.setdefault((function, name), {})[value] = None


def _callee(state: State, number: int) -> tuple[int, int]:
    """The function of this file that an expression certainly calls, and how many parameters the receiver takes."""
    expression = state.expressions[number]
    if expression[0] == "global":
        entries = state.names.get(expression[1], [])
        if len(entries) == 1 and entries[0][0] == "def":
            return _function_or_constructor(state, entries[0][1])
    elif expression[0] == "def":
        return _function_or_constructor(state, expression[1])
    elif expression[0] == "attr" and expression[1] >= 0:
        base = state.expressions[expression[1]]
        cls = base[1] if base[0] == "self" else _constructed(state, base)
        entries = state.members.get(cls, {}).get(expression[2], []) if cls >= 0 else []
        if len(entries) == 1 and entries[0][0] == "def":
            return entries[0][1], 0 if state.symbols[entries[0][1]].flags & STATIC else 1
    return -1, 0


def _function_or_constructor(state: State, symbol: int) -> tuple[int, int]:
    if symbol not in state.members:
        return (symbol, 0) if state.symbols[symbol].kind == "function" else (-1, 0)
    entries = state.members[symbol].get("__init__", [])
    return (entries[0][1], 1) if len(entries) == 1 and entries[0][0] == "def" else (-1, 0)


def _constructed(state: State, expression: tuple[Any, ...]) -> int:
    """The class of this file of which an expression makes an instance, or -1."""
    if expression[0] != "call":
        return -1
    callee = state.expressions[expression[1]]
    if callee[0] == "def" and callee[1] in state.members:
        return int(callee[1])
    if callee[0] == "global":
        entries = state.names.get(callee[1], [])
        if len(entries) == 1 and entries[0][0] == "def" and entries[0][1] in state.members:
            return int(entries[0][1])
    return -1
