"""``match``: what the patterns bind, and what the subject is known to be where one of them fits."""

from __future__ import annotations

from tokenzip.languages.python.blocks import block, merge
from tokenzip.languages.python.expressions import reduce
from tokenzip.languages.python.ir import UNKNOWN
from tokenzip.languages.python.paths import path_of
from tokenzip.languages.python.state import MAX_DEPTH, State
from tokenzip.languages.python.targets import bind, bind_name
from tokenzip.languages.syntax import Node, parts


def match(state: State, node: Node) -> bool:
    subject = node.child_by_field_name("subject")
    value = reduce(state, subject)
    body = node.child_by_field_name("body")
    if body is None:
        return False
    scope = state.scope
    state.conditional += 1
    before = scope.env
    envs = [before]
    for case in body.named_children:
        scope.env = dict(before)
        for child in case.named_children:
            if child.type == "case_pattern":
                matched = _pattern(state, child, value)
                path = path_of(state, subject)
                if path and matched != value and matched >= 0:
                    scope.env[path] = matched
            elif child.type != "block":
                reduce(state, child)
        if not block(state, case.child_by_field_name("consequence")):
            envs.append(scope.env)
    state.conditional -= 1
    merge(state, envs)
    return False


def _pattern(state: State, node: Node, value: int) -> int:
    """Bind the names of a pattern; what the subject is known to be if it matches."""
    state.depth += 1
    result = _pattern_of(state, node, value) if state.depth <= MAX_DEPTH else UNKNOWN
    state.depth -= 1
    return result


def _pattern_of(state: State, node: Node, value: int) -> int:
    kind = node.type
    children = parts(node)
    if kind == "case_pattern":
        return _pattern(state, children[0], value) if children else value
    if kind == "as_pattern":
        matched = _pattern(state, children[0], value)
        bind(state, children[-1], matched)
        return matched
    if kind == "dotted_name":
        if len(children) == 1:
            if state.text(node) != "_":
                bind_name(state, state.text(node), value, node)
            return value
        reduce_dotted(state, node)
        return value
    if kind == "class_pattern":
        matched = state.over("instance", reduce_dotted(state, children[0]))
        for child in children[1:]:
            _pattern(state, child, UNKNOWN)
        return matched
    if kind == "keyword_pattern":
        for child in children[1:]:
            _pattern(state, child, UNKNOWN)
    elif kind == "splat_pattern":
        bind(state, children[0] if children else None, UNKNOWN)
    elif kind == "union_pattern":
        return state.union([_pattern(state, child, value) for child in children])
    elif kind in ("list_pattern", "tuple_pattern"):
        for at, child in enumerate(children):
            _pattern(state, child, state.over("item", value, at))
    elif kind == "dict_pattern":
        for child in children:
            _pattern(state, child, UNKNOWN)
    return UNKNOWN if kind != "identifier" else value


def reduce_dotted(state: State, node: Node) -> int:
    """A ``dotted_name`` node as an expression."""
    first, *rest = node.named_children
    value = state.load(state.text(first), first)
    for child in rest:
        name = state.text(child)
        value = state.over("attr", value, name)
        state.use(value, child, name)
    return value
