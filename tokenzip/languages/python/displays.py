"""Strings, and displays of tuples, lists, sets and dicts, comprehensions among them."""

from __future__ import annotations

from tokenzip.languages.python.ir import MAX_ITEMS, UNKNOWN
from tokenzip.languages.python.narrowing import narrow
from tokenzip.languages.python.paths import constant
from tokenzip.languages.python.reduce import reduce, reduce_children
from tokenzip.languages.python.state import KINDS, Scope, State
from tokenzip.languages.python.targets import bind
from tokenzip.languages.syntax import EXTRAS, Node

_STRING_PARTS = frozenset({"string_start", "string_content", "string_end"})


def string(state: State, node: Node) -> int:
    if node.child_count > 3 or KINDS[node.kind_id] != "string":
        for child in node.named_children:
            if KINDS[child.kind_id] not in _STRING_PARTS:
                reduce_children(state, child)
    return state.literal("str")


def sequence(state: State, node: Node) -> int:
    items = [reduce(state, child) for child in node.named_children if child.type not in EXTRAS]
    if node.type in ("tuple", "expression_list", "pattern_list") or (node.type == "list" and 0 < len(items) <= 4):
        return state.make("tuple", tuple(items[:MAX_ITEMS]))
    return state.make("container", "list", (state.union(items[:4]),))


def dictionary(state: State, node: Node) -> int:
    keys: list[int | str] = []
    values: list[int] = []
    told_apart = True
    for child in node.named_children:
        if child.type != "pair":
            if child.type not in EXTRAS:
                reduce(state, child)
                told_apart = False
            continue
        key = constant(state, child.children[0])
        reduce(state, child.children[0])
        values.append(reduce(state, child.children[-1]))
        if key is None:
            told_apart = False
        else:
            keys.append(key)
    if told_apart and 0 < len(keys) <= MAX_ITEMS and any(value >= 0 for value in values):
        return state.make("record", tuple(keys), tuple(values))
    return state.make("container", "dict", (UNKNOWN, state.union(values) if len(set(values)) <= 4 else UNKNOWN))


def comprehension(state: State, node: Node) -> int:
    scope = state.scope
    before = scope.env
    scope.env = dict(before)
    if scope.outer is None:
        # names of the module are not flow here: a comprehension's own names must not leak into `names`
        state.scope = Scope(scope, is_function=False)
    children = node.named_children
    for child in children[1:]:
        if child.type == "for_in_clause":
            source = reduce(state, child.child_by_field_name("right"))
            kind = "aiter" if child.children[0].type == "async" else "iter"
            bind(state, child.child_by_field_name("left"), state.over(kind, source), local=True)
        elif child.type not in EXTRAS:
            reduce_children(state, child)
            if child.named_children:
                narrow(state, child.named_children[0])
    body = children[0]
    if body.type == "pair":
        result = state.make("container", "dict", (reduce(state, body.children[0]), reduce(state, body.children[-1])))
    else:
        result = state.make("container", "list", (reduce(state, body),))
    state.scope = scope
    scope.env = before
    return result
