"""Statements that pass names on, as tables of imports and exports: they are no part of what a file does by itself."""

from __future__ import annotations

import re

from tokenzip.languages.shape.walk import COMMENTS
from tokenzip.languages.syntax import Node

IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})
_BRANCHES = frozenset(
    {"try_statement", "if_statement", "except_clause", "elif_clause", "else_clause", "finally_clause", "block"}
)


def passes_on(node: Node) -> bool:
    """Whether a statement only exports names: ``export { a }``, ``export default a``, ``module.exports = { a, b: c }``."""
    if node.type == "export_statement":
        value = node.child_by_field_name("value")
        return node.child_by_field_name("declaration") is None and (value is None or value.type == "identifier")
    inner = node.named_children[0] if node.type == "expression_statement" and node.named_child_count else None
    while inner is not None and inner.type == "assignment_expression" and _is_export(inner.child_by_field_name("left")):
        inner = inner.child_by_field_name("right")
        if inner is not None and _is_names(inner):
            return True
    return False


def requires(node: Node) -> bool:
    """Whether a statement is an import in another spelling: ``const a = require('b')``, ``const { c } = require('d').e``."""
    if node.type not in ("lexical_declaration", "variable_declaration"):
        return False
    values = [child.child_by_field_name("value") for child in node.named_children if child.type == "variable_declarator"]
    return bool(values) and all(value is not None and _is_required(value) for value in values)


def holds_import(node: Node) -> bool:
    """Whether an import is a branch of this statement, or in one: ``try: import a`` ``except ImportError: import b``."""
    pending = [node] if node.type in _BRANCHES else []
    while pending:
        for child in pending.pop().children:
            if child.type in IMPORTS:
                return True
            if child.type in _BRANCHES:
                pending.append(child)
    return False


def _is_required(value: Node) -> bool:
    """Whether it is ``require(...)`` or a member of that."""
    while value.type == "member_expression":
        inner = value.child_by_field_name("object")
        if inner is None:
            return False
        value = inner
    called = value.child_by_field_name("function") if value.type == "call_expression" else None
    return called is not None and called.text == b"require"


def _is_export(target: Node | None) -> bool:
    written = target.text if target is not None else None
    return written is not None and re.match(rb"(?:module\s*\.\s*)?exports\b", written) is not None


def _is_names(value: Node) -> bool:
    """Names, or objects of names; what is required is a name too."""
    pending = [value]
    while pending:
        node = pending.pop()
        if node.type == "object":
            pending.extend(child for child in node.named_children if child.type not in COMMENTS)
        elif node.type == "pair":
            value_of_pair = node.child_by_field_name("value")
            pending.extend([value_of_pair] if value_of_pair is not None else [])
        elif node.type == "call_expression":
            called = node.child_by_field_name("function")
            if called is None or called.text != b"require":
                return False
        elif node.type not in ("identifier", "shorthand_property_identifier", "member_expression"):
            return False
    return True
