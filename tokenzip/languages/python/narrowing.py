"""What a condition says of the names and paths in it."""

from __future__ import annotations

from tokenzip.languages.python.annotations import annotation
from tokenzip.languages.python.ir import UNKNOWN
from tokenzip.languages.python.paths import path_of
from tokenzip.languages.python.state import State
from tokenzip.languages.syntax import Node, parts

_NO_GUARDS = frozenset(
    {"callable", "len", "bool", "any", "all", "str", "int", "hasattr", "isinstance", "issubclass", "type", "id"}
)


def narrow(state: State, node: Node, *, negated: bool = False) -> None:
    """What a condition that holds (or does not, `negated`) says of names and paths: `isinstance`, alone or in and/or/not."""
    pending = [(node, negated)]
    while pending:
        node, negated = pending.pop()
        kind = node.type
        if kind == "parenthesized_expression":
            pending.extend((child, negated) for child in parts(node)[:1])
        elif kind == "not_operator":
            pending.extend((child, not negated) for child in parts(node)[:1])
        elif kind == "boolean_operator" and operator(node) == ("or" if negated else "and"):
            pending.extend([(node.children[-1], negated), (node.children[0], negated)])
        elif kind == "call" and not negated:
            _narrow_by_call(state, node)


def _narrow_by_call(state: State, node: Node) -> None:
    function, arguments = node.children[0], node.child_by_field_name("arguments")
    if arguments is None:
        return
    given = parts(arguments)
    path = path_of(state, given[0]) if given else ""
    if not path:
        return
    scope = state.scope
    if function.type == "identifier" and state.text(function) == "isinstance" and len(given) == 2:
        narrowed = instance_of(state, given[1])
    elif len(given) == 1 and function.type in ("identifier", "attribute") and "." not in path and "[" not in path:
        narrowed = state.over("guard", _quiet(state, function), scope.env.get(path, UNKNOWN))
    else:
        return
    before = scope.env.get(path)
    if narrowed >= 0 and narrowed != before:
        state.narrowed[path, narrowed] = before
        scope.env[path] = narrowed
        scope.paths = scope.paths or "." in path or "[" in path


def _quiet(state: State, node: Node) -> int:
    """The expression of a dotted name, without a note of its use."""
    if node.type == "identifier":
        name = state.text(node)
        return UNKNOWN if name in _NO_GUARDS else state.lookup(name)[0]
    if node.type == "attribute":
        return state.over("attr", _quiet(state, node.children[0]), state.text(node.children[-1]))
    return UNKNOWN


def instance_of(state: State, node: Node) -> int:
    """An instance of the class (or one of the tuple of classes) that an expression names: ``except A as e``."""
    if node.type == "tuple":
        kinds = [annotation(state, child) for child in parts(node)]
        return state.union(kinds) if UNKNOWN not in kinds else UNKNOWN
    return annotation(state, node)


def operator(node: Node) -> str:
    """The sign of a binary or boolean operator."""
    sign = node.child_by_field_name("operator")
    return sign.type if sign is not None else ""
