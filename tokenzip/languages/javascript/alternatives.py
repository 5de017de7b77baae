"""What an expression may stand for: a tuple of alternatives, and the algebra on them.

================================ ===================================================================
``F path name this bound``       function; `this`: the receiver or None; `bound`: type variables that are known
``C path name``                  class (its constructor, its static side)
``I path name arguments``        instance of a class, or a value of an interface; arguments ``"this"``: the receiver itself
``O path name``                  object, namespace or enum with members
``M path``                       namespace of a module
``X name arguments``             a type of the language (Array, Promise ...); ``T elements``: a tuple
``o path expression bound``      object literal; ``L path lambda bound``: function without a symbol
``Ft Ct It path type bound``     function type, constructor type, object type
``V path owner name``            type variable, or parameter without a type
``B name receiver``              method of the language; ``U path name static this``: super
``Y name``                       something outside the repository
================================ ===================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Alternative = tuple[Any, ...]
Alternatives = tuple[Alternative, ...]
Bound = tuple[tuple[tuple[str, str, str], Alternatives], ...]
NOTHING: Alternatives = ()
MAX_ALTERNATIVES = 8
"""Alternatives kept; the first ones, in the order of the source."""
_MAX_LEVEL = 6
"""Levels of arguments inside arguments that a type keeps."""


def union(parts: Iterable[Alternatives]) -> Alternatives:
    """All alternatives, each once, the first ones if there are too many."""
    found: list[Alternative] = []
    for part in parts:
        for one in part:
            if one not in found:
                found.append(one)
                if len(found) == MAX_ALTERNATIVES:
                    return tuple(found)
    return tuple(found)


def substitute(alternatives: Alternatives, mapping: Mapping[tuple[str, str, str], Alternatives], level: int = 0) -> Alternatives:
    """The alternatives with type variables replaced; those that are not in the mapping stay."""
    if not mapping or not alternatives or level > _MAX_LEVEL:
        return alternatives
    found: list[Alternative] = []
    for one in alternatives:
        kind = one[0]
        if kind == "V":
            known = mapping.get(one[1:])
            for other in (one,) if known is None else known:
                if other not in found:
                    found.append(other)
            continue
        if kind in ("X", "I"):
            arguments = one[-1]
            if arguments and arguments != "this":
                one = (*one[:-1], tuple([substitute(argument, mapping, level + 1) for argument in arguments]))
        elif kind == "T":
            one = ("T", tuple([substitute(argument, mapping, level + 1) for argument in one[1]]))
        elif kind in ("F", "Ft", "Ct", "It", "o", "L"):
            if one[-1]:
                one = (*one[:-1], compose(one[-1], mapping, level + 1))
        elif kind == "B":
            one = ("B", one[1], substitute((one[2],), mapping, level + 1)[0] if one[2][0] != "V" else one[2])
        if one not in found:
            found.append(one)
    return tuple(found[:MAX_ALTERNATIVES])


def compose(bound: Bound, mapping: Mapping[tuple[str, str, str], Alternatives], level: int = 0) -> Bound:
    """What is bound, with the mapping applied to it. (All variables of an expression are bound, at first to themselves.)"""
    return tuple([(key, substitute(value, mapping, level)) for key, value in bound]) if bound else bound


def has_variables(alternatives: Alternatives, level: int = 0) -> bool:
    """Whether a type variable occurs anywhere that substitution reaches."""
    if level > _MAX_LEVEL:
        return False
    for one in alternatives:
        kind = one[0]
        if kind == "V":
            return True
        if kind in ("Ft", "Ct", "It", "o", "L"):
            if any(has_variables(value, level + 1) for _, value in one[-1]):
                return True
            continue
        if kind in ("X", "I") and one[-1] and one[-1] != "this":
            if any(has_variables(argument, level + 1) for argument in one[-1]):
                return True
        elif kind == "T" and any(has_variables(argument, level + 1) for argument in one[1]):
            return True
    return False


def with_receiver(alternatives: Alternatives, receiver: Alternative | None) -> Alternatives:
    """`this` types replaced by the receiver; methods bound to it."""
    if receiver is None:
        return alternatives
    found: list[Alternative] = []
    for one in alternatives:
        if one[0] == "I" and one[3] == "this":
            one = receiver
        elif one[0] == "X" and one[2]:
            one = ("X", one[1], tuple([with_receiver(argument, receiver) for argument in one[2]]))
        if one not in found:
            found.append(one)
    return tuple(found)
