"""The parts of expressions: which variables occur in one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Key = tuple[str, str, str]
_FIRST = frozenset({
    "a", "n", "w", "i", "I", "x", "ke", "kr", "kt", "ta", "tR", "tk", "sp", "w'", "G", "ty", "q", "Q", "b", "Wi",
    "Wt", "Wd", "k", "km", "cx",
})  # fmt: skip
_ALL = frozenset({"u", "tu", "ti", "tt", "r"})
_TWO = frozenset({"A", "tx", "tc", "tm", "W", "Wp", "xk", "sl"})


def children(parts: Any) -> tuple[Any, ...]:
    """The expressions right below one (indexes, or nested)."""
    op = parts[0]
    if op in _FIRST:
        return (parts[1],)
    if op in ("c", "N"):
        return (parts[1], *parts[2], *parts[3])
    if op in _ALL:
        return parts[1]  # type: ignore[no-any-return]
    if op in _TWO:
        return (parts[1], parts[2])
    if op in ("tf", "tn"):
        bounds = [one for _, bound, given in parts[3] for one in (bound, given)]
        return (*[written for _, written, _ in parts[1]], parts[2], *bounds)
    if op == "to":
        return tuple([written for _, written in parts[1]])
    if op == "o":
        return (*[value for _, value in parts[1]], *parts[2])
    if op in ("tr", "td"):
        return parts[2]  # type: ignore[no-any-return]
    if op == "tq":
        return (parts[1], *parts[3])
    if op == "B":
        return (parts[1], *parts[2])
    if op == "tp":
        return (parts[2],)
    return ()


def is_eager(path: str, expr: Any, node: Callable[[str, Any], Any]) -> bool:
    """Whether what a type means depends on what its variables are when it is read (members of them are asked for)."""
    pending = [expr]
    while pending:
        parts = node(path, pending.pop())
        if parts is None:
            continue
        if parts[0] in ("tx", "ty", "tc", "tm") or (parts[0] == "tr" and parts[1] in _ASKING):
            return True
        if parts[0] not in ("tf", "tn", "to"):
            pending.extend(children(parts))
    return False


_ASKING = frozenset({"ReturnType", "InstanceType", "Parameters", "Awaited", "ConstructorParameters"})


def variables(path: str, expr: Any, node: Callable[[str, Any], Any], lambdas: tuple[Any, ...]) -> tuple[Key, ...]:
    """The type variables and parameters that occur in an expression, sorted. Those that it binds itself are among them."""
    found: set[Key] = set()
    seen: set[int] = set()
    pending = [expr]
    while pending:
        one = pending.pop()
        if type(one) is int:
            if one in seen:
                continue
            seen.add(one)
        parts = node(path, one)
        if parts is None:
            continue
        op = parts[0]
        if op == "V":
            found.add((path, parts[1], parts[2]))
        elif op == "p":
            found.add((path, parts[1], f"\0{parts[2]}"))
        elif op == "P":
            owner = parts[1] if isinstance(parts[1], str) else f"~{parts[1]}"
            found.add((path, owner, f"\0{parts[2]}"))
        elif op == "L":
            if len(parts) > 2:
                pending.append(parts[4])
                pending.extend(written for _, written, _, _ in parts[3])
            elif parts[1] < len(lambdas):
                pending.append(lambdas[parts[1]][2])
                pending.extend(parameter[1] for parameter in lambdas[parts[1]][1])
        else:
            pending.extend(children(parts))
    return tuple(sorted(found))
