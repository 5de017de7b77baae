"""Statements: the flow of what names stand for, and the symbols, imports and references on the way.

Kinds of references in the body: ``call``; ``use`` (a read of a variable or attribute, or a function or class passed on);
``type`` (mentioned in an annotation); ``modify``; ``decorate`` (source: what is decorated); ``inherit``.

Function bodies wait until what encloses them has been walked: closures see the final bindings of their surroundings.
"""

from __future__ import annotations

from collections.abc import Callable

from tokenzip.languages.python.bindings import (
    assignment,
    attribute_doc,
    augmented,
    extend_exported,
    import_from,
    import_names,
    type_alias,
)
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
    GENERATOR,
    IS_CONTEXT,
    IS_SETTER,
    OVERLOAD,
    PROPERTY,
    STATIC,
    UNKNOWN,
)
from tokenzip.languages.python.narrowing import instance_of, narrow
from tokenzip.languages.python.paths import forget, path_of
from tokenzip.languages.python.state import KINDS, MAX_DEPTH, Definition, Env, Scope, State
from tokenzip.languages.python.targets import bind, bind_name
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
_NO_STATEMENTS = frozenset({";", "comment"})
_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"})
_NEVER_RETURN = frozenset({"sys.exit", "pytest.skip", "pytest.fail", "os._exit"})
_SUPPRESSING = ("raises", "suppress", "warns", "subTest", "assertRaises")


def block(state: State, node: Node | None) -> bool:
    """Walk the statements of a block (or module). True if control never reaches its end."""
    if node is None:
        return False
    state.block_depth += 1
    if state.block_depth > MAX_DEPTH:
        state.leave_out(node)
        state.block_depth -= 1
        return False
    ends = False
    starts = state.starts
    previous: Node | None = None
    for child in node.children:
        kind = KINDS[child.kind_id]
        if kind in _NO_STATEMENTS:
            continue
        if kind != "string":
            starts.append(child.start_byte)
        handler = _STATEMENTS.get(kind)
        depths = state.depth, state.block_depth
        try:
            if handler is not None:
                ends = handler(state, child) or ends
            elif kind == "string" and previous is not None and previous.type == "assignment":
                attribute_doc(state, previous, child)
            else:
                reduce(state, child)
        except (AttributeError, IndexError, ValueError) as fault:
            # In a tree with syntax errors nodes lack what the grammar promises; elsewhere it is a fault of ours, and reported.
            if not state.tolerant:
                state.report(child, f"statement not understood ({type(fault).__name__}): left out")
            state.depth, state.block_depth = depths
        previous = child
    state.ends.append(node.end_byte)
    state.block_depth -= 1
    return ends


def run(state: State, root: Node) -> None:
    """Walk a module, then the function bodies that were put off, outer ones first."""
    block(state, root)
    done = 0
    while done < len(state.deferred):
        body, scope, symbol, annotated = state.deferred[done]
        done += 1
        state.scope, state.owner = scope, symbol
        state.conditional = 0
        block(state, body)
        state.bound[symbol] = frozenset(scope.ever) - scope.globals
        _settle_returns(state, state.symbols[symbol], scope, annotated)
    state.scope, state.owner = state.module, UNKNOWN


def _settle_returns(state: State, symbol: Definition, scope: Scope, annotated: bool) -> None:
    if scope.yields:
        symbol.flags |= GENERATOR
    if annotated:
        return
    if scope.yields:
        symbol.returns = state.make("container", "Generator", (state.union(scope.yields),))
        return
    none = state.literal("None")
    symbol.returns = state.union([value for value in scope.returns if value != none])


# ---- branches


def _merge(state: State, envs: list[Env]) -> None:
    """Go on with what any of the branches may have left."""
    first = envs[0]
    if len(envs) == 1 or all(env is first for env in envs):
        state.scope.env = first
        return
    merged: Env = {}
    narrowed = state.narrowed
    for name in dict.fromkeys([name for env in envs for name in env]):
        values = [env.get(name) for env in envs]
        value = values[0]
        if value is None or values.count(value) < len(values):
            values = [_widened(narrowed, name, value) for value in values] if narrowed else values
            known = list(dict.fromkeys([value for value in values if value is not None]))
            if not known or (None in values and ("." in name or "[" in name)):
                continue
            value = known[0] if len(known) == 1 else state.union(known)
        merged[name] = value
    state.scope.env = merged


def _widened(narrowed: dict[tuple[str, int], int | None], name: str, value: int | None) -> int | None:
    """The value as it was before conditions narrowed it."""
    for _ in range(MAX_DEPTH):
        if value is None or (name, value) not in narrowed:
            break
        value = narrowed[name, value]
    return value


def _if(state: State, node: Node) -> bool:
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
    _merge(state, envs)
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


def _for(state: State, node: Node) -> bool:
    source = reduce(state, node.child_by_field_name("right"))
    kind = "aiter" if node.children[0].type == "async" else "iter"
    if source >= 0:
        state.refer(kind, source, node, "__iter__" if kind == "iter" else "__aiter__")
    element = state.over(kind, source)
    _loop(state, node, lambda: bind(state, node.child_by_field_name("left"), element), may_skip=True)
    return False


def _while(state: State, node: Node) -> bool:
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
        _merge(state, envs)
        envs = [] if block(state, otherwise.child_by_field_name("body")) else [scope.env]
    envs.extend(scope.breaks.pop())
    state.conditional -= 1
    if not envs:
        return True
    _merge(state, envs)
    return False


def _break(state: State, node: Node) -> bool:
    if state.scope.breaks:
        state.scope.breaks[-1].append(state.scope.env)
    return True


def _with(state: State, node: Node) -> bool:
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


def _try(state: State, node: Node) -> bool:
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
            _merge(state, [before, dict(after)])
            scope.env = dict(scope.env)
            if not _except(state, clause):
                envs.append(scope.env)
    state.conditional -= 1
    _merge(state, envs or [after])
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


def _match(state: State, node: Node) -> bool:
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
    _merge(state, envs)
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


# ---- simple statements


def _expression(state: State, node: Node) -> bool:
    for child in node.named_children:
        reduce(state, child)
    return False


def _call_statement(state: State, node: Node) -> bool:
    reduce(state, node)
    if state.scope.outer is None:
        extend_exported(state, node)
    function = node.child(0)
    return function is not None and function.end_byte - function.start_byte < 12 and state.text(function) in _NEVER_RETURN


def _return(state: State, node: Node) -> bool:
    values = [reduce(state, child) for child in node.named_children if child.type not in EXTRAS]
    state.scope.returns.append(values[0] if values else state.literal("None"))
    return True


def _raise(state: State, node: Node) -> bool:
    for child in node.named_children:
        reduce(state, child)
    return True


def _assert(state: State, node: Node) -> bool:
    for child in node.named_children:
        reduce(state, child)
    if node.named_children:
        narrow(state, node.named_children[0])
    return False


def _global(state: State, node: Node) -> bool:
    state.scope.globals |= {state.text(child) for child in node.named_children}
    return False


def _nonlocal(state: State, node: Node) -> bool:
    state.scope.nonlocals |= {state.text(child) for child in node.named_children}
    return False


def _delete(state: State, node: Node) -> bool:
    for child in node.named_children:
        for target in child.named_children if child.type in ("expression_list", "tuple") else [child]:
            path = path_of(state, target)
            reduce(state, target)
            if path and path in state.scope.env and "." in path:
                del state.scope.env[path]
                forget(state.scope.env, path)
    return False


# ---- definitions


def _decorated(state: State, node: Node) -> bool:
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
    (function if definition.type == "function_definition" else _class)(state, definition, flags, decorators, node)
    return False


def _class(
    state: State, node: Node, flags: int = 0, decorators: list[tuple[int, Node, str]] | None = None, outer: Node | None = None
) -> bool:
    bases: list[int] = []
    written: list[str] = []
    base_nodes: list[Node] = []
    metaclass = UNKNOWN
    inner = DefinitionParts(node)
    superclasses = inner.bases
    for child in superclasses.named_children if superclasses is not None else ():
        if child.type == "keyword_argument":
            value = reduce(state, child.children[-1])
            if state.text(child.children[0]) == "metaclass":
                metaclass = value
        elif child.type not in EXTRAS:
            bases.append(base_class(state, child))
            written.append(state.text(child).partition("[")[0].rpartition(".")[2])
            base_nodes.append(child)
    kind = "enum" if any(name in _ENUMS or name.endswith("Enum") for name in written) else "class"
    made = new_definition(state, inner, kind, flags, outer or node)
    if made is None:
        return False
    index, symbol = made
    symbol.bases, symbol.metaclass = tuple(bases), metaclass
    symbol.decorators = refer_decorators(state, index, decorators or [])
    state.members[index] = {}
    owner, scope, conditional = state.owner, state.scope, state.conditional
    state.owner, state.conditional = index, 0
    for value, base_node, name in zip(bases, base_nodes, written, strict=True):
        state.refer("inherit", value, base_node, name)
    if scope.is_function:  # its own methods mention it
        state.set_local(scope, symbol.name, state.make("def", index))
    state.scope = Scope(scope, is_function=False, symbol=index, cls=index)
    symbol.type_parameters = type_parameters_of(state, inner.type_parameters, superclasses)
    block(state, inner.body)
    state.owner, state.scope, state.conditional = owner, scope, conditional
    bind_definition(state, symbol.name, index)
    return False


_STATEMENTS: dict[str, Callable[[State, Node], bool]] = {
    "expression_statement": _expression,
    "assignment": assignment,
    "augmented_assignment": augmented,
    "call": _call_statement,
    "return_statement": _return,
    "raise_statement": _raise,
    "if_statement": _if,
    "for_statement": _for,
    "while_statement": _while,
    "with_statement": _with,
    "try_statement": _try,
    "match_statement": _match,
    "assert_statement": _assert,
    "global_statement": _global,
    "nonlocal_statement": _nonlocal,
    "delete_statement": _delete,
    "import_statement": import_names,
    "import_from_statement": import_from,
    "type_alias_statement": type_alias,
    "decorated_definition": _decorated,
    "class_definition": _class,
    "function_definition": function,
    "break_statement": _break,
    "continue_statement": lambda state, node: True,
    "comment": lambda state, node: False,
    "pass_statement": lambda state, node: False,
    "future_import_statement": lambda state, node: False,
}
