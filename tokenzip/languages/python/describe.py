"""`describe(source)`: parameters, annotations, decorators and values of each symbol, read again when somebody looks closely."""

from __future__ import annotations

from collections.abc import Sequence

from tokenzip.languages import content, syntax
from tokenzip.languages.syntax import EXTRAS, Node
from tokenzip.model import NO_DETAIL, Flag, Parameter, SymbolDetail, SymbolRow

_MODIFIERS = {
    Flag.ASYNC: "async",
    Flag.STATIC: "static",
    Flag.CLASSMETHOD: "classmethod",
    Flag.PROPERTY: "property",
    Flag.ABSTRACT: "abstract",
    Flag.OVERLOAD: "overload",
    Flag.GENERATOR: "generator",
}
_BINDINGS = ("assignment", "type_alias_statement")


def describe(source: bytes, rows: Sequence[SymbolRow]) -> tuple[SymbolDetail, ...]:
    """The details of each of these symbols; empty for a source that is not read."""
    if content.refusal(source) is not None:
        return ()
    utf8, codec = content.as_utf8(source, coding_line=True)
    root = syntax.parse("python", utf8).root_node
    return tuple([_detail(row, root, utf8) for row in (rows if codec is None else _moved(rows, source, codec))])


def _moved(rows: Sequence[SymbolRow], source: bytes, codec: str) -> list[SymbolRow]:
    """The symbols with offsets into the source's form in UTF-8."""
    places = content.utf8_offsets(source, codec, [offset for row in rows for offset in (row.start, row.end)])
    return [row._replace(start=places[row.start], end=places[row.end]) for row in rows]


def _detail(row: SymbolRow, root: Node, source: bytes) -> SymbolDetail:
    node = root.descendant_for_byte_range(row.start, max(row.start, row.end - 1))
    if node is not None and node.type == "decorated_definition":
        node = node.child_by_field_name("definition")
    if node is None:
        return NO_DETAIL
    if node.type == "class_definition":
        return _class(row, node, source)
    if node.type == "function_definition":
        return _function(row, node, source)
    return _binding(node, source)


def _function(row: SymbolRow, node: Node, source: bytes) -> SymbolDetail:
    returns = node.child_by_field_name("return_type")
    return SymbolDetail(
        parameters=_parameters(node.child_by_field_name("parameters"), source),
        returns=syntax.text(returns, source) if returns is not None else "",
        decorators=_decorators(node, source),
        generics=_generics(node, source),
        modifiers=_modifiers(row),
    )


def _class(row: SymbolRow, node: Node, source: bytes) -> SymbolDetail:
    superclasses = node.child_by_field_name("superclasses")
    bases = [child for child in superclasses.named_children if child.type not in EXTRAS] if superclasses is not None else []
    return SymbolDetail(
        decorators=_decorators(node, source),
        generics=_generics(node, source),
        bases=tuple([syntax.text(base, source) for base in bases]),
        modifiers=_modifiers(row),
    )


def _binding(node: Node, source: bytes) -> SymbolDetail:
    """A variable, attribute or alias: its annotation and value."""
    statement: Node | None = node
    while statement is not None and statement.type not in _BINDINGS:
        statement = statement.parent
    if statement is None:
        return NO_DETAIL
    declared = statement.child_by_field_name("type")
    right = statement.child_by_field_name("right")
    return SymbolDetail(
        returns=syntax.text(declared, source) if declared is not None else "",
        value=syntax.text(right, source) if right is not None else "",
    )


def _modifiers(row: SymbolRow) -> tuple[str, ...]:
    return tuple([name for flag, name in _MODIFIERS.items() if row.flags & flag.value])


def _decorators(node: Node, source: bytes) -> tuple[str, ...]:
    outer = node.parent
    if outer is None or outer.type != "decorated_definition":
        return ()
    return tuple([syntax.text(child, source)[1:].strip() for child in outer.children if child.type == "decorator"])


def _generics(node: Node, source: bytes) -> tuple[str, ...]:
    parameters = node.child_by_field_name("type_parameters")
    if parameters is None:
        return ()
    return tuple([syntax.text(child, source) for child in parameters.named_children])


def _parameters(node: Node | None, source: bytes) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    keyword_only = False
    for child in node.named_children if node is not None else ():
        kind = child.type
        if kind == "positional_separator":
            found = [Parameter(p.name, p.annotation, p.default, p.variadic, p.keyword_only, True, p.optional) for p in found]
        elif kind == "keyword_separator":
            keyword_only = True
        elif kind not in EXTRAS:
            parameter = _parameter(child, keyword_only, source)
            found.append(parameter)
            keyword_only = keyword_only or parameter.name.startswith("*")
    return tuple(found)


def _parameter(node: Node, keyword_only: bool, source: bytes) -> Parameter:
    declared = node.child_by_field_name("type")
    value = node.child_by_field_name("value")
    named = node.child_by_field_name("name")
    if named is None and node.type == "typed_parameter":
        named = node.named_children[0]
    name = syntax.text(named if named is not None else node, source)
    variadic = name.startswith("*")
    return Parameter(
        name=name,
        annotation=syntax.text(declared, source) if declared is not None else "",
        default=syntax.text(value, source) if value is not None else "",
        variadic=variadic,
        keyword_only=keyword_only and not variadic,
        optional=variadic or value is not None,
    )
