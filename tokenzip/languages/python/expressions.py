"""Expressions and annotations of the syntax tree, reduced to closed expressions; binding of targets.

Chains that lean to the left (``a.b().c()``, ``a + b + c``) are walked in a loop, since real code has them a thousand long;
whatever else nests is followed down to `MAX_DEPTH`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tokenzip.languages import syntax
from tokenzip.languages.python.ir import MAX_ARGUMENTS, MAX_ITEMS, UNKNOWN
from tokenzip.languages.python.state import KINDS, MAX_DEPTH, Env, Scope, State
from tokenzip.languages.syntax import EXTRAS, Node, parts

_PLAIN_NAME = re.compile(rb"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")
_ARGUMENTS = frozenset({"argument_list", "generator_expression"})
_CHAINED = frozenset({"attribute", "call", "subscript", "binary_operator", "boolean_operator"})
_TYPE_CALLS = frozenset({"TypeVar", "ParamSpec", "TypeVarTuple"})
_NO_GUARDS = frozenset(
    {"callable", "len", "bool", "any", "all", "str", "int", "hasattr", "isinstance", "issubclass", "type", "id"}
)
_LITERALS = {"string": "str", "integer": "int", "float": "float", "true": "bool", "false": "bool", "none": "None"}
_STRING_PARTS = frozenset({"string_start", "string_content", "string_end"})
_SPECIAL = _TYPE_CALLS | {"super", "cast", "getattr"}
_TELLING = frozenset({"global", "def", "import", "call", "self", "class", "attr"})
_PASSING = frozenset({"global", "def", "attr", "param"})


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
    elif kind in _CHAINED:
        result = _chain(state, node, kind)
    else:
        result = _HANDLERS.get(kind, _others)(state, node)
    state.depth -= 1
    return result


def _others(state: State, node: Node) -> int:
    for child in node.named_children:
        reduce(state, child)
    return UNKNOWN


# ---- chains


def _chain(state: State, node: Node, kind: str) -> int:
    """Attribute access, calls, subscripts and binary operators: down the left side, then back up step by step."""
    links: list[tuple[Node, str]] = []
    head: Node | None = node
    while head is not None and kind in _CHAINED:
        links.append((head, kind))
        children = head.children  # made once and kept by the node: `child` would make the first of them anew
        head = children[0] if children else None
        kind = KINDS[head.kind_id] if head is not None else ""
    if kind != "identifier" or head is None:
        value, path, name = reduce(state, head), "", ""
    else:
        path = name = state.source[head.start_byte : head.end_byte].decode()
        known = state.scope.env.get(name) if state.scope.is_function else None
        if known is not None and known not in state.mentioned:
            value = known
        elif links[-1][1] == "call":
            value = UNKNOWN if name == "super" else state.lookup(name)[0]
        else:
            value = state.load(name, head)
    below = head
    for position in range(len(links) - 1, -1, -1):
        link, kind = links[position]
        if kind == "attribute":
            called = position > 0 and links[position - 1][1] == "call"
            value, path, name, below = _attribute(state, link, value, path, called)
        elif kind == "call":
            value, path = _call(state, link, below, name, value), ""
            name, below = "", link
        else:
            if kind == "subscript":
                value, path = _subscript(state, link, value, path)
            else:
                value, path = (_binary if kind == "binary_operator" else _boolean)(state, link, value), ""
            name, below = "", link
    return value


def _attribute(state: State, node: Node, base: int, path: str, called: bool) -> tuple[int, str, str, Node]:
    """Value and path of ``base.name``, the name and its node."""
    last = node.children[-1]
    name = state.source[last.start_byte : last.end_byte].decode()
    if path:
        path = f"{path}.{name}"
        if state.scope.paths:
            known = state.scope.env.get(path)
            if known is not None:
                if not called:
                    state.use(state.make("attr", base, name), last, name)
                return known, path, name, last
    value = state.make("attr", base, name)
    if not called:
        state.use(value, last, name)
    return (value if base >= 0 else UNKNOWN), path, name, last


def _call(state: State, node: Node, below: Node | None, name: str, value: int) -> int:
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
    positional, keywords = _arguments(state, arguments, value)
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
    positional, _ = _arguments(state, arguments)
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
    positional, _ = _arguments(state, arguments)
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


def _arguments(state: State, arguments: Node | None, callee: int = UNKNOWN) -> tuple[list[int], list[tuple[str, int]]]:
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
            value = _lambda(state, children[-1], callee, name) if is_lambda else reduce(state, children[-1])
            keywords.append((name, value))
        elif kind == "lambda":
            positional.append(_lambda(state, child, callee, len(positional)))
        elif kind not in EXTRAS:
            positional.append(reduce(state, child))
    return positional, keywords


def _subscript(state: State, node: Node, base: int, path: str) -> tuple[int, str]:
    key: int | str | None = None
    arguments: list[int] = []
    is_slice = False
    keys = parts(node)[1:]
    for child in keys:
        if child.type == "slice":
            is_slice = True
        arguments.append(reduce(state, child))
    if len(keys) == 1:
        key = constant(state, keys[0])
    path = f"{path}[{key!r}]" if path and key is not None else ""
    if path and state.scope.paths:
        known = state.scope.env.get(path)
        if known is not None:
            return known, path
    if base < 0:
        return UNKNOWN, path
    if is_slice:
        return state.make("index", base, ":", ()), ""
    return state.make("index", base, key, tuple(arguments[:MAX_ARGUMENTS])), path


def constant(state: State, node: Node) -> int | str | None:
    """The value of a string or small integer literal (a string behind a quote, so that ``1`` and ``"1"`` differ)."""
    if node.type == "integer":
        digits = state.text(node)
        return int(digits) if digits.isdecimal() and len(digits) < 6 else None
    if node.type == "string" and node.named_child_count == 3 and node.end_byte - node.start_byte < 80:
        return "'" + state.text(node).strip("\"'")
    return None


def _binary(state: State, node: Node, left: int) -> int:
    right = reduce(state, node.children[-1])
    if _operator(node) == "|":
        return state.union((left, right))
    return state.literal("str") if left >= 0 and state.expressions[left] == ("literal", "str") else UNKNOWN


def _operator(node: Node) -> str:
    sign = node.child_by_field_name("operator")
    return sign.type if sign is not None else ""


def _boolean(state: State, node: Node, left: int) -> int:
    scope = state.scope
    if _operator(node) == "and":
        before = scope.env
        scope.env = dict(before)
        narrow(state, node.children[0])
        right = reduce(state, node.children[-1])
        for name, bound in scope.env.items():  # what `:=` bound on the right side stays
            before.setdefault(name, bound)
        scope.env = before
        return right
    return state.union((left, reduce(state, node.children[-1])))


# ---- the other forms


def _parenthesized(state: State, node: Node) -> int:
    result = UNKNOWN
    for child in node.named_children:
        if child.type not in EXTRAS:
            result = reduce(state, child)
    return result


def _string(state: State, node: Node) -> int:
    if node.child_count > 3 or KINDS[node.kind_id] != "string":
        for child in node.named_children:
            if KINDS[child.kind_id] not in _STRING_PARTS:
                _others(state, child)
    return state.literal("str")


def _sequence(state: State, node: Node) -> int:
    items = [reduce(state, child) for child in node.named_children if child.type not in EXTRAS]
    if node.type in ("tuple", "expression_list", "pattern_list") or (node.type == "list" and 0 < len(items) <= 4):
        return state.make("tuple", tuple(items[:MAX_ITEMS]))
    return state.make("container", "list", (state.union(items[:4]),))


def _dictionary(state: State, node: Node) -> int:
    keys: list[int | str] = []
    values: list[int] = []
    told_apart = True
    for child in node.named_children:
        if child.type != "pair":
            if child.type not in EXTRAS:
                reduce(state, child)
                told_apart = False
            continue
        key = constant(state, child.children[0])
        reduce(state, child.children[0])
        values.append(reduce(state, child.children[-1]))
        if key is None:
            told_apart = False
        else:
            keys.append(key)
    if told_apart and 0 < len(keys) <= MAX_ITEMS and any(value >= 0 for value in values):
        return state.make("record", tuple(keys), tuple(values))
    return state.make("container", "dict", (UNKNOWN, state.union(values) if len(set(values)) <= 4 else UNKNOWN))


def _comprehension(state: State, node: Node) -> int:
    scope = state.scope
    before = scope.env
    scope.env = dict(before)
    if scope.outer is None:
        # names of the module are not flow here: a comprehension's own names must not leak into `names`
        state.scope = _inner(scope)
    children = node.named_children
    for child in children[1:]:
        if child.type == "for_in_clause":
            source = reduce(state, child.child_by_field_name("right"))
            kind = "aiter" if child.children[0].type == "async" else "iter"
            bind(state, child.child_by_field_name("left"), state.over(kind, source), local=True)
        elif child.type not in EXTRAS:
            _others(state, child)
            if child.named_children:
                narrow(state, child.named_children[0])
    body = children[0]
    if body.type == "pair":
        result = state.make("container", "dict", (reduce(state, body.children[0]), reduce(state, body.children[-1])))
    else:
        result = state.make("container", "list", (reduce(state, body),))
    state.scope = scope
    scope.env = before
    return result


def _inner(outer: Scope) -> Scope:
    scope = Scope(outer, is_function=False)
    scope.env = {}
    return scope


def _lambda(state: State, node: Node, callee: int = UNKNOWN, slot: int | str = 0) -> int:
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


def _conditional(state: State, node: Node) -> int:
    operands = parts(node)
    if len(operands) != 3:
        return _others(state, node)
    when, condition, otherwise = operands
    reduce(state, condition)
    scope = state.scope
    before = scope.env
    scope.env = dict(before)
    narrow(state, condition)
    when_true = reduce(state, when)
    scope.env = dict(before)
    narrow(state, condition, negated=True)
    when_false = reduce(state, otherwise)
    scope.env = before
    return state.union((when_true, when_false))


def _comparison(state: State, node: Node) -> int:
    for child in node.named_children:
        reduce(state, child)
    return state.literal("bool")


def _not(state: State, node: Node) -> int:
    _others(state, node)
    return state.literal("bool")


def _await(state: State, node: Node) -> int:
    return state.over("await", reduce(state, parts(node)[0]))


def _yield(state: State, node: Node) -> int:
    values = [reduce(state, child) for child in node.named_children]
    value = values[0] if values else state.literal("None")
    if any(child.type == "from" for child in node.children):
        value = state.over("iter", value)
    state.scope.yields.append(value)
    return UNKNOWN


def _named(state: State, node: Node) -> int:
    value = reduce(state, node.children[-1])
    bind(state, node.children[0], value)
    return value


_HANDLERS: dict[str, Callable[[State, Node], int]] = {
    "parenthesized_expression": _parenthesized,
    "string": _string,
    "concatenated_string": _string,
    "list": _sequence,
    "tuple": _sequence,
    "set": _sequence,
    "expression_list": _sequence,
    "pattern_list": _sequence,
    "dictionary": _dictionary,
    "list_comprehension": _comprehension,
    "set_comprehension": _comprehension,
    "generator_expression": _comprehension,
    "dictionary_comprehension": _comprehension,
    "lambda": _lambda,
    "conditional_expression": _conditional,
    "comparison_operator": _comparison,
    "not_operator": _not,
    "await": _await,
    "yield": _yield,
    "named_expression": _named,
    "comment": lambda state, node: UNKNOWN,
}


# ---- annotations


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


# ---- binding


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


def forget(env: Env, path: str) -> None:
    """Drop what was known of paths below a name or path that is bound anew."""
    for known in [key for key in env if key.startswith(path) and key[len(path) : len(path) + 1] in (".", "[")]:
        del env[known]


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


def path_of(state: State, node: Node | None) -> str:
    """``a.b`` or ``a['k']`` as a key of the flow; empty if the expression is not such a path."""
    steps: list[str] = []
    while node is not None and len(steps) < 8:
        if node.type == "identifier":
            steps.append(state.text(node))
            return "".join(reversed(steps))
        if node.type == "attribute":
            steps.append("." + state.text(node.children[-1]))
        elif node.type == "subscript" and node.named_child_count == 2:
            key = constant(state, node.named_children[1])
            if key is None:
                return ""
            steps.append(f"[{key!r}]")
        else:
            return ""
        node = node.child(0)
    return ""


# ---- narrowing


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
        elif kind == "boolean_operator" and _operator(node) == ("or" if negated else "and"):
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
        narrowed = _classes(state, given[1])
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


def _classes(state: State, node: Node) -> int:
    if node.type == "tuple":
        kinds = [annotation(state, child) for child in parts(node)]
        return state.union(kinds) if UNKNOWN not in kinds else UNKNOWN
    return annotation(state, node)


def instance_of(state: State, node: Node) -> int:
    """An instance of the class (or one of the tuple of classes) that an expression names: ``except A as e``."""
    return _classes(state, node)
