"""Assignments, type aliases and imports: what they bind, and the symbols of variables."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.python.annotations import annotation, type_expression
from tokenzip.languages.python.expressions import reduce
from tokenzip.languages.python.ir import PRIVATE
from tokenzip.languages.python.state import State
from tokenzip.languages.python.targets import bind, bind_name
from tokenzip.languages.syntax import EXTRAS, Node

_ALIAS_MAKERS = frozenset({"Union", "Optional", "Callable", "Literal", "Annotated", "Type", "Dict", "List", "Tuple", "Set"})


def augmented(state: State, node: Node) -> bool:
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
            state.refer("modify", state.global_name(name), left, name)
    elif left.type == "attribute":
        name = state.text(left.children[-1])
        base = state.expressions[value][1] if state.kind_of(value) == "attr" else reduce(state, left.children[0])
        state.use(state.make("attr", base, name), left, name, "modify")
    return False


def assignment(state: State, node: Node) -> bool:
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


def attribute_doc(state: State, assignment: Node, doc: Node) -> None:
    """A string below an assignment documents what it binds."""
    left = assignment.child_by_field_name("left")
    if left is None or state.scope.is_function:
        return
    known = state.variables.get((state.owner, state.text(left)))
    if known is not None and state.symbols[known].start == assignment.start_byte:
        state.symbols[known].doc = doc.start_byte, doc.end_byte


def extend_exported(state: State, node: Node) -> None:
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
                elif child.type not in EXTRAS:
                    state.exported_complete = False
        else:
            state.exported_complete = False
    state.exported = names


def type_alias(state: State, node: Node) -> bool:
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


def import_names(state: State, node: Node) -> bool:
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


def import_from(state: State, node: Node) -> bool:
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
