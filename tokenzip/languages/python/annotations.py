"""Annotations: types as they are written, in strings too."""

from __future__ import annotations

import re

from tokenzip.languages import syntax
from tokenzip.languages.python.ir import MAX_ITEMS, UNKNOWN
from tokenzip.languages.python.reduce import reduce
from tokenzip.languages.python.state import KINDS, MAX_DEPTH, State
from tokenzip.languages.syntax import EXTRAS, Node, parts

_PLAIN_NAME = re.compile(rb"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")


def annotation(state: State, node: Node | None) -> int:
    """What has the annotation: an ``instance`` expression."""
    return state.over("instance", type_expression(state, node)) if node is not None else UNKNOWN


def type_expression(state: State, node: Node | None) -> int:
    """An annotation as written, strings opened; notes the types that it mentions."""
    if node is None:
        return UNKNOWN
    state.depth += 1
    if state.depth > MAX_DEPTH:
        state.leave_out(node)
        result = UNKNOWN
    else:
        result = _type_expression(state, node)
    state.depth -= 1
    return result


def _type_expression(state: State, node: Node) -> int:
    kind = KINDS[node.kind_id]
    if kind == "type":
        inner = node.named_child(0)
        return _type_expression(state, inner) if inner is not None else UNKNOWN
    if kind == "identifier":
        return _type_name(state, node, state.text(node))
    if kind in ("attribute", "member_type"):
        base = type_expression(state, node.named_children[0])
        name = state.text(node.named_children[-1])
        value = state.over("attr", base, name)
        state.use(value, node, name, "type")
        return value
    if kind in ("generic_type", "subscript"):
        return _generic(state, node)
    if kind in ("union_type", "binary_operator"):
        return state.union([type_expression(state, child) for child in node.named_children])
    if kind == "none":
        return state.literal("None")
    if kind == "string":
        return _quoted(state, node)
    if kind == "list":
        return state.make("tuple", tuple(type_expression(state, child) for child in node.named_children[:MAX_ITEMS]))
    if kind == "parenthesized_expression" and node.named_children:
        return type_expression(state, node.named_children[-1])
    if kind == "call":
        reduce(state, node)
    return UNKNOWN


def _type_name(state: State, node: Node, name: str) -> int:
    value, is_local = state.lookup(name)
    if not is_local:
        value = state.global_name(name)
        state.use(value, node, name, "type")
    elif state.kind_of(value) in ("def", "import"):
        state.use(value, node, name, "type")
    return value


def _generic(state: State, node: Node) -> int:
    base_node, *rest = parts(node)
    base = type_expression(state, base_node)
    written = state.text(base_node).rpartition(".")[2]
    if written == "Literal":
        return UNKNOWN
    arguments: list[Node] = []
    for child in rest:
        arguments.extend(child.named_children if child.type == "type_parameter" else [child])
    if written == "Annotated":
        for child in arguments[1:]:
            reduce(state, child.named_children[0] if child.type == "type" and child.named_children else child)
        arguments = arguments[:1]
    reduced = tuple([type_expression(state, child) for child in arguments if child.type not in EXTRAS])
    return UNKNOWN if base < 0 else state.make("index", base, None, reduced[:MAX_ITEMS])


def _quoted(state: State, node: Node) -> int:
    """An annotation inside a string."""
    contents = [child for child in node.named_children if child.type == "string_content"]
    content = b"".join(state.source[child.start_byte : child.end_byte] for child in contents).strip()
    if not content:
        return UNKNOWN
    if _PLAIN_NAME.match(content):
        first, *names = content.decode("utf-8", "replace").split(".")
        value = _type_name(state, node, first)
        for name in names:
            value = state.over("attr", value, name)
            state.use(value, node, name, "type")
        return value
    root = syntax.parse("python", b"(" + content + b")").root_node
    if root.has_error or not root.named_children:
        return UNKNOWN
    source, line_offset = state.source, state.line_offset
    state.source, state.line_offset = b"(" + content + b")", state.line(node) - 1
    try:
        return type_expression(state, root.named_children[0])
    finally:
        state.source, state.line_offset = source, line_offset
