"""Attribute access, calls, subscripts and binary operators: what leans to the left.

Such chains (``a.b().c()``, ``a + b + c``) are walked in a loop, since real code has them a thousand long; whatever else nests
is followed down to `MAX_DEPTH`.
"""

from __future__ import annotations

from tokenzip.languages.python.invocations import call
from tokenzip.languages.python.ir import MAX_ARGUMENTS, UNKNOWN
from tokenzip.languages.python.narrowing import narrow, operator
from tokenzip.languages.python.paths import constant
from tokenzip.languages.python.reduce import reduce
from tokenzip.languages.python.state import KINDS, State
from tokenzip.languages.syntax import Node, parts

CHAINED = frozenset({"attribute", "call", "subscript", "binary_operator", "boolean_operator"})


def chain(state: State, node: Node) -> int:
    """The value of a chain: down the left side, then back up step by step."""
    links: list[tuple[Node, str]] = []
    head: Node | None = node
    kind = KINDS[node.kind_id]
    while head is not None and kind in CHAINED:
        links.append((head, kind))
        children = head.children  # made once and kept by the node: `child` would make the first of them anew
        head = children[0] if children else None
        kind = KINDS[head.kind_id] if head is not None else ""
    if kind != "identifier" or head is None:
        value, path, name = reduce(state, head), "", ""
    else:
        path = name = state.source[head.start_byte : head.end_byte].decode()
        known = state.scope.env.get(name) if state.scope.is_function else None
        if known is not None and known not in state.mentioned:
            value = known
        elif links[-1][1] == "call":  # the call will be noted: that the name is used would say the same
            value = UNKNOWN if name == "super" else state.lookup(name)[0]
        else:
            value = state.load(name, head)
    below = head
    for position in range(len(links) - 1, -1, -1):
        link, kind = links[position]
        if kind == "attribute":
            called = position > 0 and links[position - 1][1] == "call"
            value, path, name, below = _attribute(state, link, value, path, called)
        elif kind == "call":
            value, path = call(state, link, below, name, value), ""
            name, below = "", link
        else:
            if kind == "subscript":
                value, path = _subscript(state, link, value, path)
            else:
                value, path = (_binary if kind == "binary_operator" else _boolean)(state, link, value), ""
            name, below = "", link
    return value


def _attribute(state: State, node: Node, base: int, path: str, called: bool) -> tuple[int, str, str, Node]:
    """Value and path of ``base.name``, the name and its node."""
    last = node.children[-1]
    name = state.source[last.start_byte : last.end_byte].decode()
    if path:
        path = f"{path}.{name}"
        if state.scope.paths:
            known = state.scope.env.get(path)
            if known is not None:
                if not called:
                    state.use(state.make("attr", base, name), last, name)
                return known, path, name, last
    value = state.make("attr", base, name)
    if not called:
        state.use(value, last, name)
    return (value if base >= 0 else UNKNOWN), path, name, last


def _subscript(state: State, node: Node, base: int, path: str) -> tuple[int, str]:
    key: int | str | None = None
    arguments: list[int] = []
    is_slice = False
    keys = parts(node)[1:]
    for child in keys:
        if child.type == "slice":
            is_slice = True
        arguments.append(reduce(state, child))
    if len(keys) == 1:
        key = constant(state, keys[0])
    path = f"{path}[{key!r}]" if path and key is not None else ""
    if path and state.scope.paths:
        known = state.scope.env.get(path)
        if known is not None:
            return known, path
    if base < 0:
        return UNKNOWN, path
    if is_slice:
        return state.make("index", base, ":", ()), ""
    return state.make("index", base, key, tuple(arguments[:MAX_ARGUMENTS])), path


def _binary(state: State, node: Node, left: int) -> int:
    right = reduce(state, node.children[-1])
    if operator(node) == "|":
        return state.union((left, right))
    return state.literal("str") if left >= 0 and state.expressions[left] == ("literal", "str") else UNKNOWN


def _boolean(state: State, node: Node, left: int) -> int:
    scope = state.scope
    if operator(node) == "and":
        before = scope.env
        scope.env = dict(before)
        narrow(state, node.children[0])
        right = reduce(state, node.children[-1])
        for name, bound in scope.env.items():  # what `:=` bound on the right side stays
            before.setdefault(name, bound)
        scope.env = before
        return right
    return state.union((left, reduce(state, node.children[-1])))
