"""Functions and what a class needs: symbols, parameters, decorators, type parameters. Bodies are walked by `statements`."""

from __future__ import annotations

from tokenzip.languages.python.annotations import annotation, type_expression
from tokenzip.languages.python.expressions import reduce
from tokenzip.languages.python.ir import (
    ASYNC,
    CLASSMETHOD,
    FIXTURE,
    IS_SETTER,
    LOCAL,
    OVERLOAD,
    PRIVATE,
    PROPERTY,
    RETURNS_ANNOTATED,
    STATIC,
    TEST,
    UNKNOWN,
)
from tokenzip.languages.python.state import KINDS, Definition, Scope, State
from tokenzip.languages.syntax import EXTRAS, Node

_CLASS_METHODS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


class DefinitionParts:
    """The children of a ``def`` or ``class`` that matter, found in one pass."""

    __slots__ = ("bases", "body", "is_async", "name", "parameters", "returns", "signature_end", "type_parameters")

    def __init__(self, node: Node) -> None:
        self.is_async = False
        self.name: Node | None = None
        self.type_parameters: Node | None = None
        self.parameters: Node | None = None
        self.bases: Node | None = None
        self.returns: Node | None = None
        self.body: Node | None = None
        self.signature_end = node.end_byte
        for child in node.children:
            kind = KINDS[child.kind_id]
            if kind == "identifier":
                self.name = self.name or child
            elif kind == "parameters":
                self.parameters = child
            elif kind == ":":
                self.signature_end = child.start_byte
            elif kind == "block":
                self.body = child
            elif kind == "type":
                self.returns = child
            elif kind == "argument_list":
                self.bases = child
            elif kind == "async":
                self.is_async = True
            elif kind == "type_parameter":
                self.type_parameters = child


def function(
    state: State, node: Node, flags: int = 0, decorators: list[tuple[int, Node, str]] | None = None, outer: Node | None = None
) -> bool:
    """A function or method; `outer` is the whole of it, its decorators included."""
    scope = state.scope
    cls = scope.cls if not scope.is_function else UNKNOWN
    parts_of = DefinitionParts(node)
    if parts_of.is_async:
        flags |= ASYNC
    made = new_definition(state, parts_of, "method" if cls >= 0 else "function", flags, outer or node)
    if made is None:
        return False
    index, symbol = made
    name = symbol.name
    if cls >= 0 and name == "__init__":
        symbol.kind = "constructor"
    if name.startswith("test") and not flags & FIXTURE:
        symbol.flags |= TEST
    if decorators:
        symbol.decorators = refer_decorators(state, index, decorators)
        _pass_to_decorators(state, index, decorators)
    inner = Scope(scope, is_function=True, symbol=index, cls=cls)
    inner.is_classmethod = bool(flags & CLASSMETHOD) or name in _CLASS_METHODS
    _read_signature(state, parts_of, inner)
    if not flags & IS_SETTER or cls < 0:
        bind_definition(state, name, index)
    else:
        _class_member(state, cls, name, index)
    if parts_of.body is not None:
        state.deferred.append((parts_of.body, inner, index, parts_of.returns is not None))
    return False


def _read_signature(state: State, parts_of: DefinitionParts, inner: Scope) -> None:
    """Type parameters, parameters and return annotation of a function, bound in its scope."""
    owner, scope = state.owner, state.scope
    state.owner = inner.symbol
    symbol = state.symbols[inner.symbol]
    if parts_of.type_parameters is not None:
        state.scope = inner
        _bind_type_parameters(state, parts_of.type_parameters)
        state.scope = scope
    symbol.parameters = _parameters(state, parts_of.parameters, inner, inner.symbol)
    if parts_of.returns is not None:
        if parts_of.type_parameters is not None:
            state.scope = inner
        symbol.returns = annotation(state, parts_of.returns)
        state.scope = scope
        symbol.flags |= RETURNS_ANNOTATED
    state.owner = owner


def new_definition(state: State, inner: DefinitionParts, kind: str, flags: int, outer: Node) -> tuple[int, Definition] | None:
    if inner.name is None:
        return None
    name = state.text(inner.name)
    if name.startswith("_") and not name.endswith("__"):
        flags |= PRIVATE
    if state.in_function():
        flags |= LOCAL
    symbol = Definition(name, kind, state.owner, flags, outer, inner.name, inner.signature_end)
    symbol.is_definition = True
    if inner.body is not None:
        symbol.doc = _doc(inner.body)
    return state.add_symbol(symbol), symbol


def _doc(body: Node) -> tuple[int, int]:
    for child in body.children:
        kind = KINDS[child.kind_id]
        if kind in ("string", "concatenated_string"):
            return child.start_byte, child.end_byte
        if kind not in EXTRAS:
            break
    return 0, 0


def bind_definition(state: State, name: str, symbol: int) -> None:
    scope = state.scope
    value = state.make("def", symbol)
    state.set_local(scope, name, value)
    if scope.outer is None or name in scope.globals:
        state.module.env[name] = value
        state.entry(name, ("def", symbol))
    elif not scope.is_function:
        if scope.cls >= 0:
            _class_member(state, scope.cls, name, symbol)
    elif name in scope.nonlocals:
        _outer_binding(scope, name, value)


def _outer_binding(scope: Scope, name: str, value: int) -> None:
    outer = scope.outer
    while outer is not None:
        if outer.is_function and name in outer.ever:
            outer.ever[name] = value
            return
        outer = outer.outer


def _class_member(state: State, cls: int, name: str, symbol: int) -> None:
    """A method takes the place of one of the same name before it, unless they belong together."""
    entries = state.members[cls].setdefault(name, [])
    together = OVERLOAD | PROPERTY
    if not state.conditional and not state.symbols[symbol].flags & together:
        entries[:] = [old for old in entries if old[0] != "def" or state.symbols[old[1]].flags & together]
    entries.append(("def", symbol))


def base_class(state: State, node: Node) -> int:
    """A base class; a generic one keeps its arguments, which are types."""
    if node.type == "subscript":
        return type_expression(state, node)
    if node.type == "identifier":
        return state.lookup(state.text(node))[0]
    if node.type == "attribute":
        return reduce_decorator(state, node)
    return reduce(state, node)


def type_parameters_of(state: State, node: Node | None, superclasses: Node | None) -> tuple[str, ...]:
    """Names of the type variables of a class in order: PEP 695, else of ``Generic`` or ``Protocol``, else as they appear."""
    names = _bind_type_parameters(state, node)
    if names or superclasses is None:
        return names
    found: list[str] = []
    for child in superclasses.named_children:
        if child.type == "subscript":
            parameters = [state.text(argument) for argument in child.named_children[1:] if argument.type == "identifier"]
            if state.text(child.children[0]).rpartition(".")[2] in ("Generic", "Protocol"):
                return tuple(parameters)
            found.extend(name for name in parameters if name not in found)
    return tuple(found)


def _bind_type_parameters(state: State, node: Node | None) -> tuple[str, ...]:
    names: list[str] = []
    for child in node.named_children if node is not None else ():
        if child.type != "type" or not child.named_children:
            continue
        inner = child.named_children[0]
        bound = UNKNOWN
        if inner.type == "constrained_type":
            bound = annotation(state, inner.named_children[-1])
            inner = inner.named_children[0]
            if inner.type == "type" and inner.named_children:
                inner = inner.named_children[0]
        name = state.text(inner).lstrip("*")
        state.set_local(state.scope, name, state.make("typevar", name, bound))
        names.append(name)
    return tuple(names)


def refer_decorators(state: State, symbol: int, decorators: list[tuple[int, Node, str]]) -> tuple[int, ...]:
    owner, state.owner = state.owner, symbol
    for value, node, name in decorators:
        target = state.expressions[value][1] if node.type == "call" and state.kind_of(value) == "call" else value
        state.refer("decorate", target, node, name)
    state.owner = owner
    return tuple([value for value, _, _ in decorators if value >= 0])


def reduce_decorator(state: State, expression: Node) -> int:
    """What decorates: a bare name is no use of its own (the edge is ``decorates``)."""
    if expression.type == "identifier":
        return state.lookup(state.text(expression))[0]
    if expression.type == "attribute":
        base = reduce(state, expression.children[0])
        return state.over("attr", base, state.text(expression.children[-1]))
    return reduce(state, expression)


def _pass_to_decorators(state: State, function: int, decorators: list[tuple[int, Node, str]]) -> None:
    """The lowest decorator is given the function as written, each other what the one below made of it."""
    value = state.make("raw", function)
    for decorator, _, _ in reversed(decorators):
        if decorator < 0 or value < 0:
            return
        state.passed.append((decorator, (value,), ()))
        value = state.make("call", decorator, (value,))


def _parameters(state: State, node: Node | None, inner: Scope, function: int) -> tuple[tuple[str, int, str], ...]:
    """Parameters of a function, bound in its scope to what they may be."""
    found: list[tuple[str, int, str]] = []
    symbol = state.symbols[function]
    receiver = inner.cls >= 0 and not symbol.flags & STATIC
    generic = bool(inner.env)
    for child in node.named_children if node is not None else ():
        if KINDS[child.kind_id] == "identifier":
            name, kind, star, default = state.text(child), UNKNOWN, "", UNKNOWN
        else:
            parsed = _parameter(state, child, inner if generic else state.scope)
            if parsed is None:
                continue
            name, kind, star, default = parsed
        found.append((name, kind, star))
        if receiver and len(found) == 1 and not star:
            value = state.make("class" if inner.is_classmethod else "self", inner.cls)
        else:
            value = _parameter_value(state, function, name, kind, star, default)
        state.set_local(inner, name, value)
    return tuple(found)


def _parameter(state: State, node: Node, scope: Scope) -> tuple[str, int, str, int] | None:
    """Name, annotation, stars and default of one parameter."""
    kind = node.type
    if kind in ("default_parameter", "typed_default_parameter"):
        named = node.child_by_field_name("name")
        default = reduce(state, node.child_by_field_name("value"))
        return (state.text(named) if named is not None else ""), _annotation_in(state, node, scope), "", default
    if kind == "typed_parameter":
        named = node.named_children[0]
        star = {"list_splat_pattern": "*", "dictionary_splat_pattern": "**"}.get(named.type, "")
        return state.text(named).lstrip("*"), _annotation_in(state, node, scope), star, UNKNOWN
    if kind in ("list_splat_pattern", "dictionary_splat_pattern"):
        return state.text(node).lstrip("*"), UNKNOWN, "*" if kind.startswith("list") else "**", UNKNOWN
    return None


def _annotation_in(state: State, node: Node, scope: Scope) -> int:
    """An annotation sees the function's type parameters, and otherwise what surrounds the function."""
    declared = node.child_by_field_name("type")
    if declared is None:
        return UNKNOWN
    outer, state.scope = state.scope, scope
    kind = annotation(state, declared)
    state.scope = outer
    return kind


def _parameter_value(state: State, function: int, name: str, kind: int, star: str, default: int) -> int:
    if star == "*":
        return state.make("container", "list", (kind,)) if kind >= 0 else UNKNOWN
    if star == "**":
        return state.make("container", "dict", (UNKNOWN, kind)) if kind >= 0 else UNKNOWN
    if kind >= 0:
        return kind
    parameter = state.make("param", function, name)
    if default >= 0 and state.kind_of(default) not in ("literal", "container", "record"):
        return state.union((parameter, default))
    return parameter
