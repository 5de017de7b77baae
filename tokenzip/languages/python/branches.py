"""Statements with branches: the flow takes each of them, and goes on with what any may have left."""

from __future__ import annotations

from collections.abc import Callable

from tokenzip.languages.python.blocks import block, merge
from tokenzip.languages.python.expressions import reduce
from tokenzip.languages.python.narrowing import instance_of, narrow
from tokenzip.languages.python.state import Env, State
from tokenzip.languages.python.targets import bind
from tokenzip.languages.syntax import EXTRAS, Node, parts

_SUPPRESSING = ("raises", "suppress", "warns", "subTest", "assertRaises")


def if_(state: State, node: Node) -> bool:
    scope = state.scope
    state.conditional += 1
    condition = node.child_by_field_name("condition")
    checking = condition is not None and state.source.endswith(b"TYPE_CHECKING", condition.start_byte, condition.end_byte)
    state.type_checking += checking
    envs: list[Env] = []
    _arm(state, condition, node.child_by_field_name("consequence"), envs)
    state.type_checking -= checking
    has_else = False
    for child in node.named_children:
        if child.type == "elif_clause":
            _arm(state, child.child_by_field_name("condition"), child.child_by_field_name("consequence"), envs)
        elif child.type == "else_clause":
            has_else = True
            if not block(state, child.child_by_field_name("body")):
                envs.append(scope.env)
    if not has_else:
        envs.append(scope.env)
    state.conditional -= 1
    if not envs:
        return True
    merge(state, envs)
    return False


def _arm(state: State, condition: Node | None, body: Node | None, envs: list[Env]) -> None:
    """One condition with its block; afterwards the flow is that of the condition being false."""
    scope = state.scope
    reduce(state, condition)
    before = scope.env
    scope.env = dict(before)
    if condition is not None:
        narrow(state, condition)
    if not block(state, body):
        envs.append(scope.env)
    scope.env = dict(before)
    if condition is not None:
        narrow(state, condition, negated=True)


def for_(state: State, node: Node) -> bool:
    source = reduce(state, node.child_by_field_name("right"))
    kind = "aiter" if node.children[0].type == "async" else "iter"
    if source >= 0:
        state.refer(kind, source, node, "__iter__" if kind == "iter" else "__aiter__")
    element = state.over(kind, source)
    _loop(state, node, lambda: bind(state, node.child_by_field_name("left"), element), may_skip=True)
    return False


def while_(state: State, node: Node) -> bool:
    condition = node.child_by_field_name("condition")
    reduce(state, condition)
    forever = condition is not None and state.text(condition) in ("True", "1")
    return _loop(state, node, lambda: narrow(state, condition) if condition is not None else None, may_skip=not forever)


def _loop(state: State, node: Node, enter: Callable[[], None], *, may_skip: bool) -> bool:
    scope = state.scope
    state.conditional += 1
    before = scope.env
    scope.env = dict(before)
    scope.breaks.append([])
    enter()
    ended = block(state, node.child_by_field_name("body"))
    envs = [before] if may_skip else []
    if not ended and may_skip:
        envs.append(scope.env)
    otherwise = node.child_by_field_name("alternative")
    if otherwise is not None and envs:
        merge(state, envs)
        envs = [] if block(state, otherwise.child_by_field_name("body")) else [scope.env]
    envs.extend(scope.breaks.pop())
    state.conditional -= 1
    if not envs:
        return True
    merge(state, envs)
    return False


def break_(state: State, node: Node) -> bool:
    if state.scope.breaks:
        state.scope.breaks[-1].append(state.scope.env)
    return True


def with_(state: State, node: Node) -> bool:
    suppresses = False
    for clause in node.named_children:
        for item in clause.named_children if clause.type == "with_clause" else ():
            if item.type == "with_item":
                suppresses = _with_item(state, parts(item)[0], node) or suppresses
    return block(state, node.child_by_field_name("body")) and not suppresses


def _with_item(state: State, value: Node, node: Node) -> bool:
    if value.type == "parenthesized_expression" and parts(value)[0].type == "as_pattern":
        value = parts(value)[0]
    if value.type == "tuple":
        suppressing = [_with_item(state, child, node) for child in parts(value)]
        return any(suppressing)
    written = value
    if value.type == "as_pattern":
        written = parts(value)[0]
        manager = reduce(state, written)
        bind(state, value.named_children[-1], state.over("enter", manager))
    else:
        manager = reduce(state, value)
    if manager >= 0:
        state.refer("enter", manager, written, "__enter__")
    text = state.text(written)
    return any(word in text for word in _SUPPRESSING)


def try_(state: State, node: Node) -> bool:
    scope = state.scope
    state.conditional += 1
    before = dict(scope.env)
    ended = block(state, node.child_by_field_name("body"))
    after = scope.env
    clauses = node.named_children
    for clause in clauses:
        if clause.type == "else_clause":
            ended = block(state, clause.child_by_field_name("body")) or ended
            after = scope.env
    envs = [] if ended else [after]
    for clause in clauses:
        if clause.type in ("except_clause", "except_group_clause"):
            merge(state, [before, dict(after)])
            scope.env = dict(scope.env)
            if not _except(state, clause):
                envs.append(scope.env)
    state.conditional -= 1
    merge(state, envs or [after])
    scope.env = dict(scope.env)
    for clause in clauses:
        if clause.type == "finally_clause":
            for child in clause.named_children:
                ended = block(state, child) and not envs
    return not envs


def _except(state: State, clause: Node) -> bool:
    ended = False
    for child in clause.named_children:
        if child.type == "as_pattern":
            caught = parts(child)[0]
            reduce(state, caught)
            bind(state, child.named_children[-1], instance_of(state, caught))
        elif child.type == "block":
            ended = block(state, child)
        elif child.type not in EXTRAS:
            reduce(state, child)
    return ended
