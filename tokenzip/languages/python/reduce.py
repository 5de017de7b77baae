"""The way into every expression of the syntax tree: `reduce` makes it a closed expression (`ir`).

Forms of expressions nest in one another, so what they all call lies below them; `expressions` is the table of them.
"""

from __future__ import annotations

from collections.abc import Callable

from tokenzip.languages.python.ir import UNKNOWN
from tokenzip.languages.python.state import KINDS, MAX_DEPTH, State
from tokenzip.languages.syntax import Node

FORMS: dict[str, Callable[[State, Node], int]] = {}
"""Kind of node -> what reduces it. `expressions` fills it: import `reduce` from there, except in the forms themselves."""
_LITERALS = {"string": "str", "integer": "int", "float": "float", "true": "bool", "false": "bool", "none": "None"}


def reduce(state: State, node: Node | None) -> int:
    """The closed expression of a node; UNKNOWN where it says nothing. Notes calls and uses on the way."""
    if node is None:
        return UNKNOWN
    kind = KINDS[node.kind_id]
    if kind == "identifier":
        name = state.source[node.start_byte : node.end_byte].decode()
        if state.scope.is_function:
            value = state.scope.env.get(name)
            if value is not None and value not in state.mentioned:
                return value
        return state.load(name, node)
    literal = _LITERALS.get(kind)
    if literal is not None and state.depth < MAX_DEPTH and (kind != "string" or node.child_count <= 3):
        return state.literal(literal)
    state.depth += 1
    if state.depth > MAX_DEPTH:
        state.leave_out(node)
        result = UNKNOWN
    else:
        result = FORMS.get(kind, reduce_children)(state, node)
    state.depth -= 1
    return result


def reduce_children(state: State, node: Node) -> int:
    """A form that says nothing itself, only its parts do."""
    for child in node.named_children:
        reduce(state, child)
    return UNKNOWN
