"""Classes, and what is decorated: symbols, bases and decorators."""

from __future__ import annotations

from tokenzip.languages.python.blocks import block
from tokenzip.languages.python.definitions import (
    DefinitionParts,
    base_class,
    bind_definition,
    function,
    new_definition,
    reduce_decorator,
    refer_decorators,
    type_parameters_of,
)
from tokenzip.languages.python.expressions import reduce
from tokenzip.languages.python.ir import (
    ABSTRACT,
    CLASSMETHOD,
    FIXTURE,
    IS_CONTEXT,
    IS_SETTER,
    OVERLOAD,
    PROPERTY,
    STATIC,
    UNKNOWN,
)
from tokenzip.languages.python.state import Scope, State
from tokenzip.languages.syntax import EXTRAS, Node, parts

# What decorators of these names make of a function, whatever module they come from.
_DECORATOR_FLAGS: dict[str, int] = {
    "property": PROPERTY, "cached_property": PROPERTY, "abstractproperty": PROPERTY | ABSTRACT,
    "lazy_property": PROPERTY, "hybrid_property": PROPERTY, "reify": PROPERTY,
    "setter": PROPERTY | IS_SETTER, "deleter": PROPERTY | IS_SETTER, "getter": PROPERTY,
    "staticmethod": STATIC, "classmethod": CLASSMETHOD, "abstractmethod": ABSTRACT,
    "contextmanager": IS_CONTEXT, "asynccontextmanager": IS_CONTEXT, "overload": OVERLOAD,
    "fixture": FIXTURE, "yield_fixture": FIXTURE,
}  # fmt: skip
_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"})


def decorated(state: State, node: Node) -> bool:
    definition = node.child_by_field_name("definition")
    if definition is None:
        return False
    flags = 0
    decorators: list[tuple[int, Node, str]] = []
    for child in node.children:
        if child.type != "decorator" or not child.named_children:
            continue
        expression = parts(child)[0]
        written = expression.children[0] if expression.type == "call" else expression
        name = state.text(written).rpartition(".")[2]
        flags |= _DECORATOR_FLAGS.get(name, 0)
        value = reduce_decorator(state, expression)
        decorators.append((value, expression, name))
    (function if definition.type == "function_definition" else class_)(state, definition, flags, decorators, node)
    return False


def class_(
    state: State, node: Node, flags: int = 0, decorators: list[tuple[int, Node, str]] | None = None, outer: Node | None = None
) -> bool:
    inner = DefinitionParts(node)
    bases, metaclass = _bases(state, inner.bases)
    kind = "enum" if any(name in _ENUMS or name.endswith("Enum") for _, _, name in bases) else "class"
    made = new_definition(state, inner, kind, flags, outer or node)
    if made is None:
        return False
    index, symbol = made
    symbol.bases, symbol.metaclass = tuple([value for value, _, _ in bases]), metaclass
    symbol.decorators = refer_decorators(state, index, decorators or [])
    state.members[index] = {}
    owner, scope, conditional = state.owner, state.scope, state.conditional
    state.owner, state.conditional = index, 0
    for value, base_node, name in bases:
        state.refer("inherit", value, base_node, name)
    if scope.is_function:  # its own methods mention it
        state.set_local(scope, symbol.name, state.make("def", index))
    state.scope = Scope(scope, is_function=False, symbol=index, cls=index)
    symbol.type_parameters = type_parameters_of(state, inner.type_parameters, inner.bases)
    block(state, inner.body)
    state.owner, state.scope, state.conditional = owner, scope, conditional
    bind_definition(state, symbol.name, index)
    return False


def _bases(state: State, superclasses: Node | None) -> tuple[list[tuple[int, Node, str]], int]:
    """The bases of a class, each with its node and last name as written; and the metaclass."""
    bases: list[tuple[int, Node, str]] = []
    metaclass = UNKNOWN
    for child in superclasses.named_children if superclasses is not None else ():
        if child.type == "keyword_argument":
            value = reduce(state, child.children[-1])
            if state.text(child.children[0]) == "metaclass":
                metaclass = value
        elif child.type not in EXTRAS:
            bases.append((base_class(state, child), child, state.text(child).partition("[")[0].rpartition(".")[2]))
    return bases, metaclass
