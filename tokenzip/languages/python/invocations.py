"""Calls as they are written: callee, arguments, and the few callees that extraction itself knows."""

from __future__ import annotations

from tokenzip.languages.python.annotations import annotation
from tokenzip.languages.python.ir import MAX_ARGUMENTS, UNKNOWN
from tokenzip.languages.python.paths import constant
from tokenzip.languages.python.reduce import reduce
from tokenzip.languages.python.state import KINDS, Scope, State
from tokenzip.languages.syntax import EXTRAS, Node, parts

_ARGUMENTS = frozenset({"argument_list", "generator_expression"})
_TYPE_CALLS = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple"})
_SPECIAL = _TYPE_CALLS | {"super", "cast", "getattr"}
_TELLING = frozenset({"global", "def", "import", "call", "self", "class", "attr"})
"""Kinds of keyword arguments that may say what a call gives: classes, functions, made objects."""
_PASSING = frozenset({"global", "def", "attr", "param"})
"""Kinds of callees whose parameters may be found in this file: see `State.passed`."""


def call(state: State, node: Node, below: Node | None, name: str, value: int) -> int:
    """A call of what has the value. `name`: its last name, if it was written as one; then `below` says the line."""
    last = node.children[-1]
    arguments = last if KINDS[last.kind_id] in _ARGUMENTS else node.child_by_field_name("arguments")
    at = below if name and below is not None else node
    if name in _SPECIAL:
        if name == "super" and value == UNKNOWN:
            return _super(state, arguments)
        if name == "cast" and arguments is not None and len(parts(arguments)) == 2:
            return _cast(state, arguments, value, at)
        if name in _TYPE_CALLS:
            return _type_variable(state, arguments)
        if name == "getattr" and arguments is not None and len(parts(arguments)) > 1:
            return _getattr(state, arguments, value, at)
    positional, keywords = _arguments_of(state, arguments, value)
    state.refer("call", value, at, name)
    if value < 0:
        return UNKNOWN
    if (keywords or positional) and state.expressions[value][0] in _PASSING:
        state.passed.append((value, tuple(positional), tuple(keywords)))
    if name == "type" and len(positional) == 1:
        return state.over("type", positional[0])
    telling = [pair for pair in keywords if pair[1] >= 0 and state.expressions[pair[1]][0] in _TELLING] if keywords else ()
    if not telling:
        return state.make("call", value, tuple(positional[:MAX_ARGUMENTS]))
    names, values = zip(*telling[:MAX_ARGUMENTS], strict=True)
    return state.make("call", value, tuple(positional[:MAX_ARGUMENTS]), names, values)


def _super(state: State, arguments: Node | None) -> int:
    positional, _ = _arguments_of(state, arguments)
    cls, on_class = state.enclosing_class()
    if positional and cls >= 0:
        cls = _named_class(state, positional[0], cls)
    return UNKNOWN if cls < 0 else state.make("super", cls, int(on_class))


def _named_class(state: State, number: int, otherwise: int) -> int:
    """The class of this file that an expression names."""
    kind, *rest = state.expressions[number] if number >= 0 else ("",)
    if kind == "global":
        entries = state.names.get(rest[0], [])
        kind, rest = (entries[0][0], list(entries[0][1:])) if len(entries) == 1 else ("", [])
    return rest[0] if kind == "def" and rest[0] in state.members else otherwise


def _cast(state: State, arguments: Node, callee: int, at: Node) -> int:
    kind, value = parts(arguments)
    state.refer("call", callee, at, "cast")
    reduce(state, value)
    return annotation(state, kind)


def _getattr(state: State, arguments: Node, callee: int, at: Node) -> int:
    """``getattr(base, name, default)``: a written name is an attribute, of a computed one the beginning counts."""
    positional, _ = _arguments_of(state, arguments)
    state.refer("call", callee, at, "getattr")
    if len(positional) < 2:
        return UNKNOWN
    node = parts(arguments)[1]
    name = constant(state, node)
    if type(name) is str and name[1:].isidentifier():
        value = state.make("attr", positional[0], name[1:])
        state.use(value, at, name[1:])
        if positional[0] < 0:
            return UNKNOWN
        return state.union((value, positional[2])) if len(positional) > 2 else value
    beginning = _beginning(state, node)
    if beginning.isidentifier():
        state.refer("call", UNKNOWN, at, beginning + "*")
    return UNKNOWN


def _beginning(state: State, node: Node) -> str:
    """What a computed string begins with: ``visit_`` of ``"visit_" + kind``, ``f"visit_{kind}"``, ``"visit_%s" % kind``."""
    kind = KINDS[node.kind_id]
    while kind == "binary_operator":
        node = node.children[0]
        kind = KINDS[node.kind_id]
    if kind != "string" or node.named_child_count < 2:
        return ""
    first = node.named_children[1]
    return state.text(first).partition("%")[0].partition("{")[0] if KINDS[first.kind_id] == "string_content" else ""


def _type_variable(state: State, arguments: Node | None) -> int:
    name, bound = "", UNKNOWN
    for child in arguments.named_children if arguments is not None else ():
        if child.type == "string" and not name:
            name = state.text(child).strip("\"'")
        elif child.type == "keyword_argument" and state.text(child.children[0]) == "bound":
            bound = annotation(state, child.children[-1])
    return state.make("typevar", name, bound)


def _arguments_of(state: State, arguments: Node | None, callee: int = UNKNOWN) -> tuple[list[int], list[tuple[str, int]]]:
    """Positional and keyword arguments. `callee` is what they are passed to, if that is known."""
    positional: list[int] = []
    keywords: list[tuple[str, int]] = []
    if arguments is None:
        return positional, keywords
    if KINDS[arguments.kind_id] != "argument_list":
        return [reduce(state, arguments)], keywords
    for child in arguments.named_children:
        kind = KINDS[child.kind_id]
        if kind == "keyword_argument":
            children = child.children
            name = state.text(children[0])
            is_lambda = KINDS[children[-1].kind_id] == "lambda"
            value = lambda_(state, children[-1], callee, name) if is_lambda else reduce(state, children[-1])
            keywords.append((name, value))
        elif kind == "lambda":
            positional.append(lambda_(state, child, callee, len(positional)))
        elif kind not in EXTRAS:
            positional.append(reduce(state, child))
    return positional, keywords


def lambda_(state: State, node: Node, callee: int = UNKNOWN, slot: int | str = 0) -> int:
    """A lambda; `callee` and `slot` say where it is passed, if it is, which may say what its parameters are."""
    outer = state.scope
    scope = Scope(outer, is_function=True)
    parameters = node.child_by_field_name("parameters")
    for at, child in enumerate(parts(parameters) if parameters is not None else ()):
        if child.type == "identifier":
            state.set_local(scope, state.text(child), state.over("argument", callee, slot, at))
        elif child.type == "default_parameter":
            state.set_local(scope, state.text(child.children[0]), reduce(state, child.children[-1]))
        else:
            state.set_local(scope, state.text(child).lstrip("*"), UNKNOWN)
    scope.immediate = outer.immediate
    state.depth += 1
    state.scope = scope
    result = reduce(state, node.child_by_field_name("body"))
    state.scope = outer
    state.depth -= 1
    return state.make("function", result)
