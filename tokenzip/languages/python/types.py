"""What an expression may be: tuples of alternatives, each a small tuple that begins with one of these tags.

========================================  =============================================================================
``("M", path)``                           the module in that file
``("N", directory)``                      a namespace package
``("C", path, qualified, arguments)``     a class of the project; arguments: types for its type parameters
``("I", path, qualified, arguments)``     an instance of it
``("F", path, qualified, receiver)``      a function, with the instance or class that it is bound to, or None
``("Y", dotted)``                         something outside the project, or a builtin
``("Z", dotted)``                         something that the project should have and has not
``("X", name, arguments)``                an instance of a class outside the project, by its last name; element types
``("T", items)``                          a tuple or short list, item by item
``("R", keys, values)``                   a dict whose constant keys are known
``("B", name, owner)``                    a method of an outside class on that instance
``("L", path, result)``                   a lambda
``("S", receiver)``                       ``super()`` of the receiver's class
``("V", name, bound)``                    a type variable: an instance of whatever it stands for
``("VC", name, bound)``                   likewise the class itself
``("A", path, expression)``               a type alias, to be read as annotation
========================================  =============================================================================

No alternatives at all means unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tokenzip.languages.python.ir import MAX_UNION

Alternative = tuple[Any, ...]
Types = tuple[Alternative, ...]
UNKNOWN_TYPE: Types = ()

SEQUENCES = frozenset({
    "list", "List", "set", "Set", "frozenset", "FrozenSet", "Sequence", "MutableSequence", "Iterable", "Iterator", "Collection",
    "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator", "deque", "Deque", "AbstractSet", "MutableSet", "KeysView",
    "ValuesView", "Container", "Reversible", "Counter", "tuple",
})  # fmt: skip
MAPPINGS = frozenset({
    "dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "OrderedDict", "DefaultDict", "ItemsView", "ChainMap",
})  # fmt: skip
CONTEXT_MANAGERS = frozenset({
    "ContextManager", "AbstractContextManager", "AsyncContextManager", "AbstractAsyncContextManager",
})  # fmt: skip
AWAITABLES = frozenset({"Coroutine", "Awaitable", "Future", "Task"})


def join(groups: Iterable[Types]) -> Types:
    """All alternatives once, in order, at most `MAX_UNION`."""
    found: list[Alternative] = []
    for group in groups:
        for alternative in group:
            if alternative not in found:
                found.append(alternative)
    return tuple(found[:MAX_UNION])


def has_variables(types: Types) -> bool:
    """Whether a type variable occurs anywhere in the types."""
    for alternative in types:
        tag = alternative[0]
        if tag in ("V", "VC"):
            return True
        parts: tuple[Types, ...] = ()
        if tag in ("X", "I", "C"):
            parts = alternative[-1]
        elif tag == "T":
            parts = alternative[1]
        elif tag == "F" and alternative[3] is not None:
            parts = ((alternative[3],),)
        for part in parts:
            if has_variables(part):
                return True
    return False


def substitute(types: Types, values: Mapping[str, Types]) -> Types:
    """The types with type variables replaced; those without a value stay."""
    if not has_variables(types):
        return types
    return join([_substitute_one(alternative, values) for alternative in types])


def _substitute_one(alternative: Alternative, values: Mapping[str, Types]) -> Types:
    tag = alternative[0]
    if tag == "V":
        return values.get(alternative[1], (alternative,))
    if tag == "VC":
        known = values.get(alternative[1])
        return (alternative,) if known is None else class_of(known)
    if tag in ("X", "I", "C"):
        return ((*alternative[:-1], tuple([substitute(part, values) for part in alternative[-1]])),)
    if tag == "T":
        return ((tag, tuple([substitute(part, values) for part in alternative[1]])),)
    if tag == "F" and alternative[3] is not None:
        return tuple([(*alternative[:3], receiver) for receiver in _substitute_one(alternative[3], values)])
    return (alternative,)


def class_of(types: Types) -> Types:
    """The classes of which these are instances."""
    found: list[Alternative] = []
    for alternative in types:
        if alternative[0] == "I":
            found.append(("C", *alternative[1:]))
        elif alternative[0] == "V":
            found.append(("VC", *alternative[1:]))
    return tuple(found)


MAX_NESTING = 5


def inside(types: Types) -> Types:
    """The types as an element of a container: unknown where containers would nest more than `MAX_NESTING` deep."""
    return types if _nesting(types) < MAX_NESTING else UNKNOWN_TYPE


def _nesting(types: Types) -> int:
    deepest = 0
    for alternative in types:
        tag = alternative[0]
        parts: tuple[Types, ...] = ()
        if tag in ("X", "I", "C", "R"):
            parts = alternative[-1]
        elif tag == "T":
            parts = alternative[1]
        for part in parts:
            deepest = max(deepest, 1 + _nesting(part))
    return deepest


def element(types: Types) -> Types:
    """What iteration over outside containers, tuples and dicts gives; instances of project classes are left to the caller."""
    found: list[Types] = []
    for alternative in types:
        tag = alternative[0]
        if tag == "X" and alternative[2]:
            found.append(alternative[2][0])
        elif tag == "T":
            found.append(join(alternative[1]))
    return join(found)
