"""Object literals: plain values, or definitions whose members others may name."""

from __future__ import annotations

from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.javascript.expressions import FUNCTIONS
from tokenzip.languages.javascript.functions import Functions
from tokenzip.languages.javascript.scopes import ABSENT, Definition
from tokenzip.languages.syntax import Node

_MAX_PROPERTIES = 64
"""Plain properties of one object that become symbols; a larger object is a table of data."""
_OBJECT_DEPTH = 3


class Objects(Functions):
    """Reads object literals and property descriptors."""

    def object_value(self, node: Node, owner: Definition | None, context: int, level: int = 0) -> int:
        """An object literal: a definition if it holds functions or belongs to a named variable, else a plain value."""
        children = [child for child in node.named_children if child.type != "comment"]
        if owner is None:
            if not any(_holds_function(child) for child in children):
                return self._plain_object(children, context)
            owner = self.define("{}", "object", node, hidden=True)
        this = self.make("d", owner.order)
        saved = self.frame.symbol
        named = not owner.hidden and not owner.flags & bits.LOCAL and len(children) <= _MAX_PROPERTIES
        for child in children:
            self.frame.symbol = owner
            self._object_member(child, owner, this, context, named, level)
        self.frame.symbol = saved
        return this

    def _plain_object(self, children: list[Node], context: int) -> int:
        members: list[tuple[str, int]] = []
        spreads: list[int] = []
        for child in children:
            kind = child.type
            if kind == "pair":
                key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is None or value is None:
                    continue
                name = self._key(key)
                place = self.make("km", context, name) if context >= 0 and name else ABSENT
                members.append((name, self.expect(value, place)))
            elif kind == "shorthand_property_identifier":
                members.append((self.text(child), self.expression(child)))
            elif kind == "spread_element" and child.named_children:
                spreads.append(self.expression(child.named_children[0]))
            else:
                self.expression(child)
        known = tuple((name, value) for name, value in members[:32] if name and value >= 0)
        return self.make("o", known, tuple(value for value in reversed(spreads) if value >= 0))

    def _key(self, node: Node) -> str:
        if node.type == "computed_property_name":
            for child in node.named_children:
                value = self.expression(child)
                if value >= 0 and self.exprs[value][0] == "s":
                    return str(self.exprs[value][1])
        return self.key_text(node)

    def _object_member(self, node: Node, owner: Definition, this: int, context: int, named: bool, level: int) -> None:
        kind = node.type
        if kind == "spread_element":
            value = self.expression(node.named_children[0]) if node.named_children else ABSENT
            if value >= 0:
                owner.spreads.append(value)
            return
        if kind == "shorthand_property_identifier":
            owner.members.setdefault(self.text(node), []).append(("v", self.expression(node), None))
            return
        key = node.child_by_field_name("key") or node.child_by_field_name("name")
        if key is None:
            self.expression(node)
            return
        name = self._key(key)
        place = self.make("km", context, name) if context >= 0 and name else ABSENT
        if kind == "method_definition":
            self._object_method(node, node, name, key, owner, place, this)
            return
        value_node = node.child_by_field_name("value")
        if value_node is None:
            return
        if value_node.type in FUNCTIONS and name:
            self._object_method(node, value_node, name, key, owner, place, this)
            return
        definition = None
        if named and name:
            definition = self.define(name, "property", node, key)
            definition.flags |= owner.flags & (bits.LOCAL | bits.EXPORTED)
            definition.head_end = value_node.start_byte
        if definition is not None and value_node.type == "object" and level < _OBJECT_DEPTH:
            value = self.object_value(value_node, definition, place, level + 1)
        else:
            value = self.expect(value_node, place)
        if name:
            owner.members[name] = [("v", value, None if definition is None else definition.order)]

    def _object_method(
        self, node: Node, function: Node, name: str, key: Node, owner: Definition, place: int, this: int
    ) -> None:
        accessor = next((child.type for child in node.children if child.type in ("get", "set")), "") if node is function else ""
        definition = self.function_definition(node, function, name, key, "method", place, this)
        definition.flags |= owner.flags & bits.EXPORTED
        if accessor:
            definition.flags |= bits.PROPERTY
        if name:
            entry = ("set", definition.order) if accessor == "set" else ("d", definition.order)
            if accessor:
                owner.members.setdefault(name, []).append(entry)
            else:
                owner.members[name] = [entry]

    def described_member(self, target: Definition, name: str, which: str, node: Node, this: int) -> None:
        value = node.child_by_field_name("value") or node
        saved = self.frame.symbol
        if value.type in FUNCTIONS or value.type == "method_definition":
            self.frame.symbol = target
            definition = self.function_definition(node, value, name, None, "method", ABSENT, this)
            self.frame.symbol = saved
            if which != "value":
                definition.flags |= bits.PROPERTY
            target.members.setdefault(name, []).append(("set" if which == "set" else "d", definition.order))
            return
        found = self.expression(value)
        if which == "get" and found >= 0:
            found = self.make("c", found, (), ())
        if which != "set":
            target.members.setdefault(name, []).append(("v", found, None))


def _holds_function(node: Node) -> bool:
    if node.type == "method_definition":
        return True
    if node.type != "pair":
        return False
    value = node.child_by_field_name("value")
    return value is not None and value.type in FUNCTIONS
