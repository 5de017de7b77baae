"""Declarations as statements: variables, patterns, classes, types."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.javascript.expressions import FUNCTIONS
from tokenzip.languages.javascript.flow import STATEMENTS, Flow
from tokenzip.languages.javascript.scopes import ABSENT, Definition
from tokenzip.languages.syntax import Node


class Statements(Flow):
    """Reads declarations."""

    def variables(self, node: Node) -> bool:
        kind = node.children[0].type if node.children else "var"
        kind_node = node.child_by_field_name("kind")
        if kind_node is not None:
            kind = kind_node.type
        single = sum(child.type == "variable_declarator" for child in node.named_children) == 1
        for child in node.named_children:
            if child.type == "variable_declarator":
                self._declarator(child, node if single else child, kind)
        return False

    def _declarator(self, node: Node, whole: Node, kind: str) -> None:
        name_node, value_node = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name_node is None:
            return
        annotation = self.declared(node.child_by_field_name("type"))
        if name_node.type != "identifier":
            self._destructured(name_node, value_node, whole, kind, annotation)
            return
        name = self.text(name_node)
        lexical = kind != "var"
        if value_node is None:
            value = annotation
            definition = self._variable(name, whole, name_node, kind, None)
            if not (kind == "var" and name in self.frame.env and annotation < 0):
                self.declare(name, value, definition, lexical)
        else:
            value, definition = self._initial(name, name_node, value_node, whole, kind, annotation)
            self.declare(name, value, definition, lexical)
        if annotation >= 0 and kind != "const":
            self.frame.types["\0" + name] = annotation

    def _initial(
        self, name: str, name_node: Node, value_node: Node, whole: Node, kind: str, annotation: int
    ) -> tuple[int, Definition | None]:
        node, asserted = self._unwrapped(value_node)
        if asserted is not None and node.type in (*FUNCTIONS, "class") and annotation < 0:
            annotation = self.declared(asserted)
        definition: Definition | None
        if node.type in FUNCTIONS:
            definition = self.function_definition(whole, node, name, name_node, "function", annotation)
            return self.make("d", definition.order), definition
        if node.type == "class":
            definition = self.class_definition(whole, node, name, name_node)
            return self.make("d", definition.order), definition
        definition = self._variable(name, whole, name_node, kind, value_node)
        if node.type == "object" and annotation < 0 and asserted is None:
            owner = definition
            if owner is None:
                owner = self.define(name, "object", node, hidden=True)
            value = self.object_value(node, owner, annotation)
            return value, definition
        value = self.expect(value_node, annotation) if annotation >= 0 else self.expression(value_node)
        return self.declared_value(annotation, value), definition

    def _unwrapped(self, node: Node) -> tuple[Node, Node | None]:
        """(the value inside parentheses and assertions, the type that the innermost assertion names)"""
        asserted: Node | None = None
        while node.type in ("parenthesized_expression", "as_expression", "satisfies_expression"):
            parts = [child for child in node.named_children if child.type != "comment"]
            if not parts:
                break
            if node.type != "parenthesized_expression" and len(parts) > 1:
                asserted = parts[1]
            node = parts[0]
        return node, asserted

    def _variable(self, name: str, whole: Node, name_node: Node, kind: str, value: Node | None) -> Definition | None:
        """The symbol of a variable that other files or functions may name."""
        if not self.frame.exposes or (self.in_block and kind != "var") or (value is not None and self._is_require(value)):
            return None
        definition = self.define(name, "constant" if kind == "const" else "variable", whole, name_node)
        definition.node = name_node.parent or name_node
        if value is not None:
            definition.head_end = value.start_byte
        return definition

    def _is_require(self, node: Node) -> bool:
        while node.type in ("member_expression", "call_expression"):
            inner = node.child_by_field_name("object") or node.child_by_field_name("function")
            if inner is None:
                return False
            if node.type == "call_expression" and inner.type == "identifier":
                return self.text(inner) == "require"
            node = inner
        return False

    def _destructured(self, pattern: Node, value_node: Node | None, whole: Node, kind: str, annotation: int) -> None:
        value = self.expect(value_node, annotation) if value_node is not None else ABSENT
        is_call = value_node is not None and value_node.type == "call_expression"  # not: a name for what was required before
        if is_call and pattern.type == "object_pattern" and value >= 0 and self.exprs[value][0] == "R":
            self._name_required(pattern)
        value = annotation if annotation >= 0 else value
        self._pattern_kind, saved = ((whole, kind, value_node), self._pattern_kind)
        self.bind(pattern, value, declare=True)
        self._pattern_kind = saved

    def _name_required(self, pattern: Node) -> None:
        """``const { a, b: c } = require('d')`` imports names, as ``import { a, b as c } from 'd'`` does."""
        names: list[tuple[str, str, int]] = []
        for child in pattern.named_children:
            key, local = child.child_by_field_name("key"), child.child_by_field_name("value")
            if child.type == "shorthand_property_identifier_pattern":
                names.append((self.text(child), self.text(child), 0))
            elif child.type == "pair_pattern" and key is not None and local is not None and local.type == "identifier":
                names.append((self.key_text(key), self.text(local), 0))
        source, specifier, _, flags, line = self.imports[-1]
        self.imports[-1] = (source, specifier, tuple(names), flags, line)

    def bind(self, pattern: Node, value: int, declare: bool) -> None:
        """Names of a pattern get the parts of a value; `declare`: they begin here."""
        kind = pattern.type
        if kind in ("identifier", "shorthand_property_identifier_pattern"):
            self._bind_name(pattern, value, declare)
        elif kind == "object_pattern":
            for child in pattern.named_children:
                self._bind_property(child, value, declare)
        elif kind == "array_pattern":
            position = 0
            for child in pattern.children:
                if child.type == ",":
                    position += 1
                elif child.type == "rest_pattern":
                    if child.named_children:
                        self.bind(child.named_children[0], self.make("Q", value, position) if value >= 0 else ABSENT, declare)
                elif child.is_named and child.type != "comment":
                    self.bind(child, self.make("q", value, position) if value >= 0 else ABSENT, declare)
        elif kind in ("assignment_pattern", "object_assignment_pattern"):
            left, right = pattern.child_by_field_name("left"), pattern.child_by_field_name("right")
            if left is not None and right is not None:
                default = self.expect(right, value)
                self.bind(left, self.union([value, default]) if value >= 0 else default, declare)
        elif kind in ("rest_pattern", "parenthesized_expression") and pattern.named_children:
            self.bind(pattern.named_children[0], value, declare)
        elif kind in ("member_expression", "subscript_expression", "non_null_expression"):
            self._assign_member(pattern, value, None)

    def _bind_property(self, node: Node, value: int, declare: bool) -> None:
        kind = node.type
        if kind == "shorthand_property_identifier_pattern":
            self.bind(node, self.make("a", value, self.text(node)) if value >= 0 else ABSENT, declare)
        elif kind == "pair_pattern":
            key, inner = node.child_by_field_name("key"), node.child_by_field_name("value")
            if key is not None and inner is not None:
                name = self._key(key)
                self.bind(inner, self.make("a", value, name) if value >= 0 and name else ABSENT, declare)
        elif kind == "object_assignment_pattern":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and right is not None:
                part = self.make("a", value, self.text(left)) if value >= 0 else ABSENT
                default = self.expect(right, part)
                self.bind(left, self.union([part, default]), declare)
        elif kind == "rest_pattern" and node.named_children:
            self.bind(node.named_children[0], value, declare)

    def _bind_name(self, node: Node, value: int, declare: bool) -> None:
        name = self.text(node)
        if not declare:
            self._assign_name(node, name, value)
            return
        definition = None
        lexical = True
        if self._pattern_kind is not None:
            _, kind, value_node = self._pattern_kind
            lexical = kind != "var"
            definition = self._variable(name, node, node, kind, value_node)
        self.declare(name, value, definition, lexical)

    def class_statement(self, node: Node) -> bool:
        name = node.child_by_field_name("name")
        if name is not None:
            self.declared_class(node, node)
        return False

    def declared_class(self, whole: Node, node: Node) -> Definition | None:
        name = node.child_by_field_name("name")
        if name is None:
            return None
        definition = self.define(self.text(name), "class", whole, name)
        self.declare(definition.name, self.make("d", definition.order), definition)
        self._declare_type(definition)
        self.class_body(definition, whole, node)
        return definition

    def _declare_type(self, definition: Definition | None) -> None:
        if definition is None:
            return
        if not self.frame.is_module or self.in_block:
            self.frame.types[definition.name] = self.make("d", definition.order)
        if definition.kind in ("interface", "type_alias") and self.frame.is_module and not self.in_block:
            self.add_name(definition.name, ("d", definition.order))

    def interface_statement(self, node: Node) -> bool:
        self._declare_type(self.interface_definition(node, node))
        return False

    def alias_statement(self, node: Node) -> bool:
        self._declare_type(self.alias_definition(node, node))
        return False

    def enum_statement(self, node: Node) -> bool:
        definition = self.enum_definition(node, node)
        if definition is not None:
            self.declare(definition.name, self.make("d", definition.order), definition)
            self._declare_type(definition)
        return False

    def signature_statement(self, node: Node) -> bool:
        name = node.child_by_field_name("name")
        if name is not None:
            definition = self.signature_definition(node, self.text(name), name, "function")
            if not self.ambient:
                definition.flags |= bits.OVERLOAD
            if self.frame.is_module and not self.in_block:
                self.add_name(definition.name, ("d", definition.order))
            elif self.frame.env.get(definition.name) is None:
                self.declare(definition.name, self.make("d", definition.order), definition)
        return False


_S: Any = Statements
STATEMENTS.update({
    "lexical_declaration": _S.variables, "variable_declaration": _S.variables, "class_declaration": _S.class_statement,
    "abstract_class_declaration": _S.class_statement, "interface_declaration": _S.interface_statement,
    "type_alias_declaration": _S.alias_statement, "enum_declaration": _S.enum_statement,
    "function_signature": _S.signature_statement,
})  # fmt: skip
