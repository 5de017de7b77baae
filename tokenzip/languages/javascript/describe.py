"""Parameters, return types, decorators of each symbol, read again from the source when somebody looks closely."""

from __future__ import annotations

from tokenzip.languages import content
from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.javascript.components import Framework
from tokenzip.languages.javascript.extract import Grammar, definitions
from tokenzip.languages.javascript.scopes import Definition
from tokenzip.languages.syntax import Node, text
from tokenzip.model import Parameter, SymbolDetail

_MAX_VALUE = 200
_MODIFIERS = (
    (bits.EXPORTED, "export"), (bits.DEFAULT_EXPORT, "default"), (bits.DECLARATION, "declare"), (bits.ABSTRACT, "abstract"),
    (bits.PRIVATE, "private"), (bits.PROTECTED, "protected"), (bits.STATIC, "static"), (bits.READONLY, "readonly"),
    (bits.ASYNC, "async"), (bits.GENERATOR, "generator"),
)  # fmt: skip
_ACCESSORS = frozenset({"get", "set", "accessor", "override"})


def describe(grammar: Grammar, source: bytes, framework: Framework | None = None) -> tuple[SymbolDetail, ...]:
    """One detail for each symbol of the file, in order."""
    utf8, _ = content.as_utf8(source)
    return tuple([_detail(one, utf8) for one in definitions(grammar, source, framework)])


def _detail(one: Definition, source: bytes) -> SymbolDetail:
    node = one.node
    if node is None:
        return SymbolDetail()
    return SymbolDetail(
        parameters=_parameters(node, source),
        returns=_written(node.child_by_field_name("return_type") or node.child_by_field_name("type"), source),
        decorators=tuple([text(decorator, source) for decorator in one.decorators]),
        generics=_generics(node, source),
        bases=_bases(node, source),
        value=_value(one, node, source),
        modifiers=_modifiers(one, node),
    )


def _written(node: Node | None, source: bytes) -> str:
    """A written type without its colon."""
    return text(node, source).lstrip(":").strip() if node is not None else ""


def _parameters(node: Node, source: bytes) -> tuple[Parameter, ...]:
    single = node.child_by_field_name("parameter")
    if single is not None:
        return (Parameter(text(single, source)),)
    found = node.child_by_field_name("parameters")
    nodes = [child for child in found.named_children if child.type not in ("comment", "ERROR")] if found is not None else []
    return tuple([_parameter(child, source) for child in nodes])


def _parameter(node: Node, source: bytes) -> Parameter:
    pattern = node.child_by_field_name("pattern") or node.child_by_field_name("left") or node
    default = node.child_by_field_name("value") or node.child_by_field_name("right")
    variadic = pattern.type == "rest_pattern"
    if variadic and pattern.named_children:
        pattern = pattern.named_children[0]
    return Parameter(
        text(pattern, source),
        _written(node.child_by_field_name("type"), source),
        text(default, source)[:_MAX_VALUE] if default is not None else "",
        variadic,
        optional=variadic or default is not None or node.type == "optional_parameter",
    )


def _generics(node: Node, source: bytes) -> tuple[str, ...]:
    found = node.child_by_field_name("type_parameters")
    return (
        tuple([text(child, source) for child in found.named_children if child.type == "type_parameter"])
        if found is not None
        else ()
    )


def _bases(node: Node, source: bytes) -> tuple[str, ...]:
    found: list[str] = []
    for child in node.named_children:
        if child.type == "extends_type_clause":
            found.extend(text(one, source) for one in child.named_children if one.type != "comment")
        elif child.type == "class_heritage":
            for clause in child.named_children:
                if clause.type == "implements_clause":
                    found.extend(text(one, source) for one in clause.named_children if one.type != "comment")
                elif clause.type == "extends_clause":
                    found.append(text(clause, source).removeprefix("extends").strip())
                elif clause.type != "comment":
                    found.append(text(clause, source))
    return tuple(found)


def _value(one: Definition, node: Node, source: bytes) -> str:
    if one.kind not in ("variable", "constant", "property", "enum_member", "type_alias"):
        return ""
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    return text(value, source)[:_MAX_VALUE] if value is not None else ""


def _modifiers(one: Definition, node: Node) -> tuple[str, ...]:
    found = [word for bit, word in _MODIFIERS if one.flags & bit]
    found.extend(child.type for child in node.children if child.type in _ACCESSORS)
    return tuple(found)
