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
``S alternatives``               what is assigned to a member: if it is one of several functions, none of them
================================ ===================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Alternative = tuple[Any, ...]
Alternatives = tuple[Alternative, ...]
Bound = tuple[tuple[tuple[str, str, str], Alternatives], ...]
NOTHING: Alternatives = ()
MAX_ALTERNATIVES = 8
"""Alternatives kept; the first ones, in the order of the source."""
_MAX_LEVEL = 4
"""Levels of arguments inside arguments that substitution reaches."""
_KEPT_LEVELS = 3
"""Levels of arguments inside arguments that a type keeps; types that grow with each link of a chain end here."""
_KEPT_ARGUMENTS = 4


def union(parts: Sequence[Alternatives]) -> Alternatives:
    """All alternatives, each once, the first ones if there are too many."""
    if len(parts) == 1 and len(parts[0]) < 2:
        return parts[0]
    found: list[Alternative] = []
    for part in parts:
        if not found and len(part) < 2:
            found.extend(part)
            continue
        for one in part:
            if one not in found:
                found.append(one)
                if len(found) == MAX_ALTERNATIVES:
                    return tuple(found)
    return tuple(found)


def substitute(
    alternatives: Alternatives, mapping: Mapping[tuple[str, str, str], Alternatives], level: int = 0
) -> Alternatives:
    """The alternatives with type variables replaced; those that are not in the mapping stay. Unchanged: the same object."""
    if not mapping or not alternatives or level > _MAX_LEVEL:
        return alternatives
    found: list[Alternative] | None = None  # made at the first change: most have nothing to replace
    for position, one in enumerate(alternatives):
        kind = one[0]
        if kind == "V":
            known = mapping.get(one[1:])
            if known is not None and known != (one,):
                found = list(alternatives[:position]) if found is None else found
                found.extend(known)
                continue
        elif kind in _LAST_HOLDS:
            parts = one[-1]
            if parts and parts != "this":
                new = compose(parts, mapping, level + 1) if kind in _BOUND else _substitute_all(parts, mapping, level + 1)
                if new is not parts:
                    found = list(alternatives[:position]) if found is None else found
                    found.append((*one[:-1], new))
                    continue
        if found is not None:
            found.append(one)
    if found is None:
        return alternatives
    return tuple(found) if len(found) < 2 else union((tuple(found),))


_BOUND = frozenset({"F", "Ft", "Ct", "It", "o", "L"})
_LAST_HOLDS = _BOUND | {"X", "I", "T"}


def _substitute_all(
    arguments: tuple[Alternatives, ...], mapping: Mapping[tuple[str, str, str], Alternatives], level: int
) -> tuple[Alternatives, ...]:
    found: list[Alternatives] | None = None
    for position, argument in enumerate(arguments):
        new = substitute(argument, mapping, level) if argument else argument
        if found is not None:
            found.append(new)
        elif new is not argument:
            found = [*arguments[:position], new]
    return arguments if found is None else tuple(found)


def compose(bound: Bound, mapping: Mapping[tuple[str, str, str], Alternatives], level: int = 0) -> Bound:
    """What is bound, with the mapping applied to it. (All variables of an expression are bound, at first to themselves.)"""
    found: list[tuple[tuple[str, str, str], Alternatives]] | None = None
    for position, (key, old) in enumerate(bound):
        value = substitute(old, mapping, level)
        if found is not None:
            found.append((key, value))
        elif value is not old:
            found = [*bound[:position], (key, value)]
    return bound if found is None else tuple(found)


def environment(bound: Bound) -> dict[tuple[str, str, str], Alternatives]:
    """What is bound to something else than to itself."""
    return {key: value for key, value in bound if len(value) != 1 or value[0][0] != "V" or value[0][1:] != key}


def pruned(alternatives: Alternatives, level: int = _KEPT_LEVELS) -> Alternatives:
    """As an argument of a type: the first alternatives, and only so many levels of their own arguments."""
    if not alternatives:
        return alternatives
    if len(alternatives) > _KEPT_ARGUMENTS:
        alternatives = alternatives[:_KEPT_ARGUMENTS]
    found: list[Alternative] = []
    for alternative in alternatives:
        one = alternative
        kind = one[0]
        if kind in ("X", "I") and one[-1] and one[-1] != "this":
            arguments = tuple([pruned(argument, level - 1) for argument in one[-1]]) if level > 0 else ()
            one = (*one[:-1], arguments)
        elif kind == "T":
            one = ("T", tuple([pruned(argument, level - 1) if level > 0 else NOTHING for argument in one[1]]))
        elif kind in ("Ft", "Ct", "It", "o", "L") and one[-1]:
            one = (*one[:-1], tuple([(key, pruned(value, level - 1) if level > 0 else NOTHING) for key, value in one[-1]]))
        found.append(one)
    return tuple(found)


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


def variables_in(alternatives: Alternatives, levels: int) -> set[tuple[str, str, str]]:
    """The type variables of alternatives, as far as so many levels of arguments down."""
    found: set[tuple[str, str, str]] = set()
    _add_variables(alternatives, levels, found)
    return found


def _add_variables(alternatives: Alternatives, levels: int, found: set[tuple[str, str, str]]) -> None:
    for one in alternatives:
        kind = one[0]
        if kind == "V":
            found.add(one[1:])
        elif levels > 0:
            if kind in ("X", "I"):
                if one[-1] and one[-1] != "this":
                    for argument in one[-1]:
                        _add_variables(argument, levels - 1, found)
            elif kind == "T":
                for argument in one[1]:
                    _add_variables(argument, levels - 1, found)
            elif kind in ("Ft", "Ct", "It", "o", "L"):
                for _, value in one[-1]:
                    _add_variables(value, levels - 1, found)


def singular(alternatives: Alternatives) -> Alternatives:
    """Which of several functions a registry gives cannot be said."""
    functions = [one for one in alternatives if one[0] in ("F", "L", "C")]
    return alternatives if len(functions) < 2 else tuple([one for one in alternatives if one not in functions])


def with_receiver(alternatives: Alternatives, receiver: Alternative | None) -> Alternatives:
    """`this` types replaced by the receiver; methods bound to it."""
    if receiver is None:
        return alternatives
    found: list[Alternative] = []
    for alternative in alternatives:
        one = alternative
        if one[0] == "I" and one[3] == "this":
            one = receiver
        elif one[0] == "X" and one[2]:
            one = ("X", one[1], tuple([with_receiver(argument, receiver) for argument in one[2]]))
        if one not in found:
            found.append(one)
    return tuple(found)
