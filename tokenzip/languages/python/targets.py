"""Targets of assignments, loops, ``with`` and ``except``: what is bound to a value, in which scope."""

from __future__ import annotations

from tokenzip.languages.python.ir import UNKNOWN
from tokenzip.languages.python.paths import forget, path_of
from tokenzip.languages.python.reduce import reduce
from tokenzip.languages.python.state import KINDS, MAX_DEPTH, Scope, State
from tokenzip.languages.syntax import EXTRAS, Node


def bind(state: State, node: Node | None, value: int, *, local: bool = False) -> None:
    """Bind a target to a value. `local`: the names stay inside (comprehensions)."""
    if node is None:
        return
    kind = KINDS[node.kind_id]
    if kind == "identifier":
        bind_name(state, state.text(node), value, node, local=local)
    elif kind in ("tuple_pattern", "pattern_list", "list_pattern", "tuple", "list"):
        state.depth += 1
        if state.depth > MAX_DEPTH:
            state.leave_out(node)
        else:
            _unpack(state, node, value, local)
        state.depth -= 1
    elif kind == "attribute":
        _bind_attribute(state, node, value)
    elif kind == "subscript":
        _bind_subscript(state, node, value)
    elif kind in ("parenthesized_expression", "as_pattern_target", "list_splat_pattern"):
        bind(state, node.named_children[0] if node.named_children else None, value, local=local)
    else:
        reduce(state, node)


def _unpack(state: State, node: Node, value: int, local: bool) -> None:
    targets = [child for child in node.named_children if child.type not in EXTRAS]
    items = state.expressions[value][1] if state.kind_of(value) == "tuple" else None
    starred = next((at for at, child in enumerate(targets) if child.type == "list_splat_pattern"), None)
    for at, target in enumerate(targets):
        if at == starred:
            rest = items[at : len(items) - (len(targets) - at - 1)] if items else None
            bind(state, target, state.make("tuple", rest) if rest is not None else UNKNOWN, local=local)
            continue
        place = at if starred is None or at < starred else at - len(targets)
        if items is not None:
            part = items[place] if -len(items) <= place < len(items) else UNKNOWN
        else:
            part = state.over("item", value, place)
        bind(state, target, part, local=local)


def bind_name(state: State, name: str, value: int, node: Node, *, local: bool = False) -> None:
    """Bind a plain name in the scope to which it belongs."""
    scope = state.scope
    if scope.paths:
        forget(scope.env, name)
    if local:
        scope.env[name] = value
        return
    if scope.outer is None:
        scope.env[name] = value
        state.entry(name, ("value", value))
    elif name in scope.globals:
        state.entry(name, ("value", value))
        state.module.env[name] = state.union((state.module.env.get(name, UNKNOWN), value))
        state.refer("modify", state.global_name(name), node, name)
    elif name in scope.nonlocals:
        _bind_nonlocal(scope, state, name, value)
    else:
        state.set_local(scope, name, value)
        if not scope.is_function and scope.cls >= 0:
            state.member(scope.cls, name, ("value", value))


def _bind_nonlocal(scope: Scope, state: State, name: str, value: int) -> None:
    outer = scope.outer
    while outer is not None:
        if outer.is_function and name in outer.ever:
            outer.ever[name] = state.union((outer.ever[name], value))
            break
        outer = outer.outer
    scope.env[name] = value


def _bind_attribute(state: State, node: Node, value: int) -> None:
    base_node, last = node.children[0], node.children[-1]
    base = reduce(state, base_node)
    name = state.text(last)
    if base >= 0:
        expression = state.expressions[base]
        if expression[0] in ("self", "class") and expression[1] in state.members:
            state.member(expression[1], name, ("set", value))
            _attribute_symbol(state, expression[1], name, node)
    state.use(state.make("attr", base, name), last, name, "modify")
    _bind_path(state, path_of(state, node), value)


def _attribute_symbol(state: State, cls: int, name: str, node: Node) -> None:
    """The symbol of an attribute that a method sets on self, unless the class has one."""
    if (cls, name) not in state.variables:
        statement = node.parent if node.parent is not None and node.parent.type == "assignment" else node
        state.add_variable(name, node.children[-1], statement, statement.end_byte, parent=cls, kind="property")


def _bind_subscript(state: State, node: Node, value: int) -> None:
    reduce(state, node)
    _bind_path(state, path_of(state, node), value)


def _bind_path(state: State, path: str, value: int) -> None:
    scope = state.scope
    if not path:
        return
    if scope.paths:
        forget(scope.env, path)
    if value >= 0:
        scope.env[path] = value
        scope.paths = True
    else:
        scope.env.pop(path, None)
