"""Statements: the flow of what names stand for, and the symbols, imports and references on the way.

Kinds of references in the body: ``call``; ``use`` (a read of a variable or attribute, or a function or class passed on);
``type`` (mentioned in an annotation); ``modify``; ``decorate`` (source: what is decorated); ``inherit``.

Function bodies wait until what encloses them has been walked: closures see the final bindings of their surroundings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokenzip.languages.python.expressions import (
    annotation,
    bind,
    bind_name,
    forget,
    instance_of,
    narrow,
    path_of,
    reduce,
    type_expression,
)
from tokenzip.languages.python.ir import (
    ABSTRACT,
    ASYNC,
    CLASSMETHOD,
    FIXTURE,
    GENERATOR,
    IS_CONTEXT,
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
from tokenzip.languages.python.state import KINDS, MAX_DEPTH, Definition, Env, Scope, State
from tokenzip.languages.syntax import Node, parts

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
_CLASS_METHODS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"})
_ALIAS_MAKERS = frozenset({"Union", "Optional", "Callable", "Literal", "Annotated", "Type", "Dict", "List", "Tuple", "Set"})
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
                _attribute_doc(state, previous, child)
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
        elif child.type != "comment":
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
        _extend_exported(state, node)
    function = node.child(0)
    return function is not None and function.end_byte - function.start_byte < 12 and state.text(function) in _NEVER_RETURN


def _extend_exported(state: State, node: Node) -> None:
    """``__all__.extend([...])``, ``__all__.append("x")`` at module level."""
    written = state.text(node.children[0])
    arguments = node.child_by_field_name("arguments")
    if not written.startswith("__all__.") or arguments is None or not arguments.named_children:
        return
    argument = arguments.named_children[0]
    if written == "__all__.append" and argument.type == "string":
        state.exported = [*(state.exported or []), state.text(argument)[1:-1]]
    elif written in ("__all__.extend", "__all__.append", "__all__.remove"):
        _set_exported(state, argument)


def _return(state: State, node: Node) -> bool:
    values = [reduce(state, child) for child in node.named_children if child.type != "comment"]
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


def _augmented(state: State, node: Node) -> bool:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    value = reduce(state, left)
    reduce(state, right)
    if left is None:
        return False
    if left.type == "identifier":
        name = state.text(left)
        if name == "__all__" and state.scope.outer is None:
            _set_exported(state, right)
        elif state.scope.outer is None or name in state.scope.globals:
            state.refer("modify", state.make("global", name), left, name)
    elif left.type == "attribute":
        name = state.text(left.children[-1])
        base = state.expressions[value][1] if state.kind_of(value) == "attr" else reduce(state, left.children[0])
        state.use(state.make("attr", base, name), left, name, "modify")
    return False


def _assignment(state: State, node: Node) -> bool:
    targets = []
    right: Node | None = node
    while right is not None and right.type == "assignment":
        targets.append(right)
        right = right.child_by_field_name("right")
    if _names_alias(state, node, right):
        value = state.over("alias", type_expression(state, right))
    else:
        value = reduce(state, right)
    for target in targets:
        _assign(state, target, right, value)
    return False


def _names_alias(state: State, node: Node, right: Node | None) -> bool:
    """``Name = Union[...]`` outside of functions: the right side is read as an annotation, strings opened."""
    left = node.children[0]
    if right is None or state.scope.is_function or left.type != "identifier" or node.child_by_field_name("type") is not None:
        return False
    return state.text(left)[:1].isupper() and _makes_alias(state, right)


def _assign(state: State, node: Node, right: Node | None, value: int) -> None:
    left, declared = node.child_by_field_name("left"), node.child_by_field_name("type")
    if left is None:
        return
    at_module = state.scope.outer is None and left.type == "identifier"
    if at_module and state.text(left) == "__all__":
        _set_exported(state, right, anew=True)
    elif at_module and state.text(left) == "pytest_plugins":
        strings = [right] if right is not None and right.type == "string" else right.named_children if right is not None else ()
        state.plugins = [state.text(child).strip("\"'") for child in strings if child.type == "string"]
    is_alias = False
    if declared is not None:
        written = state.text(declared)
        if written.endswith("TypeAlias"):
            is_alias = True
            type_expression(state, declared)
            value = state.over("alias", type_expression(state, right))
        else:
            kind = annotation(state, declared)
            if kind >= 0:
                value = state.make("declared", kind, value) if state.kind_of(value) in ("call", "union") else kind
    if not state.scope.is_function:
        _variable_symbols(state, node, left, right, is_alias)
    if right is None and state.scope.is_function:
        if left.type == "identifier" and value >= 0:
            state.set_local(state.scope, state.text(left), value)
        elif left.type == "attribute":
            bind(state, left, value)
        return
    bind(state, left, value)


def _variable_symbols(state: State, node: Node, left: Node, right: Node | None, is_alias: bool) -> None:
    """Symbols of the names that an assignment in a module or class body binds."""
    targets, names = [left], []
    while targets:
        target = targets.pop()
        if target.type == "identifier":
            names.append(target)
        elif target.type in ("pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern"):
            targets.extend(reversed(target.named_children))
    for target in names:
        name = state.text(target)
        kind = _variable_kind(state, name, right, is_alias)
        signature_end = right.start_byte if right is not None and kind != "type_alias" else node.end_byte
        declared = node.child_by_field_name("type")
        if right is not None and kind != "type_alias":
            signature_end = declared.end_byte if declared is not None else left.end_byte
        parent = state.owner
        is_private = name.startswith("_")
        flags = PRIVATE if is_private else 0
        state.add_variable(name, target, node, signature_end, parent=parent, kind=kind, flags=flags)


def _variable_kind(state: State, name: str, right: Node | None, is_alias: bool) -> str:
    if state.scope.outer is not None:
        parent = state.symbols[state.owner] if state.owner >= 0 else None
        if parent is not None and parent.kind == "enum" and right is not None and not name.startswith("_"):
            return "enum_member"
        return "property"
    if is_alias or (right is not None and name[:1].isupper() and _makes_alias(state, right)):
        return "type_alias"
    return "constant" if name.isupper() else "variable"


def _makes_alias(state: State, right: Node) -> bool:
    if right.type != "subscript":
        return False
    return state.text(right.children[0]).rpartition(".")[2] in _ALIAS_MAKERS


def _attribute_doc(state: State, assignment: Node, doc: Node) -> None:
    """A string below an assignment documents what it binds."""
    left = assignment.child_by_field_name("left")
    if left is None or state.scope.is_function:
        return
    known = state.variables.get((state.owner, state.text(left)))
    if known is not None and state.symbols[known].start == assignment.start_byte:
        state.symbols[known].doc = doc.start_byte, doc.end_byte


def _set_exported(state: State, right: Node | None, *, anew: bool = False) -> None:
    """What an assignment to ``__all__`` says; `anew` if it is not an addition."""
    names = [] if anew or state.exported is None else state.exported
    pending = [right]
    while pending:
        node = pending.pop()
        if node is not None and node.type == "binary_operator":
            pending.extend([node.children[-1], node.children[0]])
        elif node is not None and node.type in ("list", "tuple", "parenthesized_expression"):
            for child in node.named_children:
                if child.type == "string":
                    names.append(state.text(child)[1:-1])
                elif child.type != "comment":
                    state.exported_complete = False
        else:
            state.exported_complete = False
    state.exported = names


def _type_alias(state: State, node: Node) -> bool:
    """``type X[T] = ...``"""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    named = left.named_children[0] if left is not None and left.named_children else None
    if named is None:
        return False
    if named.type == "generic_type":
        named = named.named_children[0]
    name = state.text(named)
    if not state.scope.is_function:
        state.add_variable(name, named, node, node.end_byte, parent=state.owner, kind="type_alias")
    bind_name(state, name, state.over("alias", type_expression(state, right)), named)
    return False


# ---- imports


def _import(state: State, node: Node) -> bool:
    for child in node.named_children:
        if child.type == "aliased_import":
            module, alias = state.text(child.children[0]), state.text(child.children[-1])
            _note_import(state, node, module, 0, None, alias)
            _bind_import(state, alias, ("import", module, 0, None))
        elif child.type == "dotted_name":
            module = state.text(child)
            _note_import(state, node, module, 0, None, "")
            first = module.partition(".")[0]
            _bind_import(state, first, ("import", first, 0, None))
    return False


def _from_import(state: State, node: Node) -> bool:
    module_node = node.child_by_field_name("module_name")
    if module_node is None:
        return False
    module, level = _module_of(state, module_node)
    for child in node.named_children[1:]:
        if child.type == "wildcard_import":
            _note_import(state, node, module, level, "*", "")
            state.stars.append((module, level))
        elif child.type == "aliased_import":
            name, alias = state.text(child.children[0]), state.text(child.children[-1])
            _note_import(state, child, module, level, name, alias if alias != name else "")
            _bind_import(state, alias, ("import", module, level, name))
        elif child.type == "dotted_name":
            name = state.text(child)
            _note_import(state, child, module, level, name, "")
            _bind_import(state, name, ("import", module, level, name))
    return False


def _module_of(state: State, node: Node) -> tuple[str, int]:
    if node.type != "relative_import":
        return state.text(node), 0
    prefix, *rest = node.named_children
    return (state.text(rest[0]) if rest else ""), state.text(prefix).count(".")


def _note_import(state: State, node: Node, module: str, level: int, name: str | None, alias: str) -> None:
    detail = "type" if state.type_checking else f"as {alias}" if alias else ""
    state.imports.append((state.owner, module, level, name, state.line(node), detail))


def _bind_import(state: State, name: str, expression: tuple[Any, ...]) -> None:
    scope = state.scope
    value = state.make(*expression)
    if scope.outer is None or name in scope.globals:
        scope.env[name] = value
        state.module.env[name] = value
        state.entry(name, expression)
    else:
        state.set_local(scope, name, value)
        if not scope.is_function and scope.cls >= 0:
            state.member(scope.cls, name, ("value", value))


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
    (_function if definition.type == "function_definition" else _class)(state, definition, flags, decorators, node)
    return False


def reduce_decorator(state: State, expression: Node) -> int:
    """What decorates: a bare name is no use of its own (the edge is ``decorates``)."""
    if expression.type == "identifier":
        return state.lookup(state.text(expression))[0]
    if expression.type == "attribute":
        base = reduce(state, expression.children[0])
        return state.over("attr", base, state.text(expression.children[-1]))
    return reduce(state, expression)


def _refer_decorators(state: State, symbol: int, decorators: list[tuple[int, Node, str]]) -> tuple[int, ...]:
    owner, state.owner = state.owner, symbol
    for value, node, name in decorators:
        target = state.expressions[value][1] if node.type == "call" and state.kind_of(value) == "call" else value
        state.refer("decorate", target, node, name)
    state.owner = owner
    return tuple([value for value, _, _ in decorators if value >= 0])


class _Parts:
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


def _definition(state: State, inner: _Parts, kind: str, flags: int, outer: Node) -> tuple[int, Definition] | None:
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
        if kind != "comment":
            break
    return 0, 0


def _bind_definition(state: State, name: str, symbol: int) -> None:
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


def _class(
    state: State, node: Node, flags: int = 0, decorators: list[tuple[int, Node, str]] | None = None, outer: Node | None = None
) -> bool:
    bases: list[int] = []
    written: list[str] = []
    base_nodes: list[Node] = []
    metaclass = UNKNOWN
    inner = _Parts(node)
    superclasses = inner.bases
    for child in superclasses.named_children if superclasses is not None else ():
        if child.type == "keyword_argument":
            value = reduce(state, child.children[-1])
            if state.text(child.children[0]) == "metaclass":
                metaclass = value
        elif child.type != "comment":
            bases.append(_base(state, child))
            written.append(state.text(child).partition("[")[0].rpartition(".")[2])
            base_nodes.append(child)
    kind = "enum" if any(name in _ENUMS or name.endswith("Enum") for name in written) else "class"
    made = _definition(state, inner, kind, flags, outer or node)
    if made is None:
        return False
    index, symbol = made
    symbol.bases, symbol.metaclass = tuple(bases), metaclass
    symbol.decorators = _refer_decorators(state, index, decorators or [])
    state.members[index] = {}
    owner, scope, conditional = state.owner, state.scope, state.conditional
    state.owner, state.conditional = index, 0
    for value, base_node, name in zip(bases, base_nodes, written, strict=True):
        state.refer("inherit", value, base_node, name)
    if scope.is_function:  # its own methods mention it
        state.set_local(scope, symbol.name, state.make("def", index))
    state.scope = Scope(scope, is_function=False, symbol=index, cls=index)
    symbol.type_parameters = _type_parameters(state, inner.type_parameters, superclasses)
    block(state, inner.body)
    state.owner, state.scope, state.conditional = owner, scope, conditional
    _bind_definition(state, symbol.name, index)
    return False


def _base(state: State, node: Node) -> int:
    """A base class; a generic one keeps its arguments, which are types."""
    if node.type == "subscript":
        return type_expression(state, node)
    if node.type == "identifier":
        return state.lookup(state.text(node))[0]
    if node.type == "attribute":
        return reduce_decorator(state, node)
    return reduce(state, node)


def _type_parameters(state: State, node: Node | None, superclasses: Node | None) -> tuple[str, ...]:
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


def _function(
    state: State, node: Node, flags: int = 0, decorators: list[tuple[int, Node, str]] | None = None, outer: Node | None = None
) -> bool:
    scope = state.scope
    cls = scope.cls if not scope.is_function else UNKNOWN
    parts_of = _Parts(node)
    if parts_of.is_async:
        flags |= ASYNC
    made = _definition(state, parts_of, "method" if cls >= 0 else "function", flags, outer or node)
    if made is None:
        return False
    index, symbol = made
    name = symbol.name
    if cls >= 0 and name == "__init__":
        symbol.kind = "constructor"
    if name.startswith("test") and not flags & FIXTURE:
        symbol.flags |= TEST
    if decorators:
        symbol.decorators = _refer_decorators(state, index, decorators)
        _pass_to_decorators(state, index, decorators)
    inner = Scope(scope, is_function=True, symbol=index, cls=cls)
    inner.is_classmethod = bool(flags & CLASSMETHOD) or name in _CLASS_METHODS
    owner, state.owner = state.owner, index
    if parts_of.type_parameters is not None:
        state.scope = inner
        _bind_type_parameters(state, parts_of.type_parameters)
        state.scope = scope
    symbol.parameters = _parameters(state, parts_of.parameters, inner, index)
    if parts_of.returns is not None:
        if parts_of.type_parameters is not None:
            state.scope = inner
        symbol.returns = annotation(state, parts_of.returns)
        state.scope = scope
        symbol.flags |= RETURNS_ANNOTATED
    state.owner = owner
    if not flags & IS_SETTER or cls < 0:
        _bind_definition(state, name, index)
    else:
        _class_member(state, cls, name, index)
    if parts_of.body is not None:
        state.deferred.append((parts_of.body, inner, index, parts_of.returns is not None))
    return False


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


_STATEMENTS: dict[str, Callable[[State, Node], bool]] = {
    "expression_statement": _expression,
    "assignment": _assignment,
    "augmented_assignment": _augmented,
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
    "import_statement": _import,
    "import_from_statement": _from_import,
    "type_alias_statement": _type_alias,
    "decorated_definition": _decorated,
    "class_definition": _class,
    "function_definition": _function,
    "break_statement": _break,
    "continue_statement": lambda state, node: True,
    "comment": lambda state, node: False,
    "pass_statement": lambda state, node: False,
    "future_import_statement": lambda state, node: False,
}
