"""Object literals: plain values, or definitions whose members others may name."""

from __future__ import annotations

from dataclasses import dataclass

from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.javascript.expressions import FUNCTIONS
from tokenzip.languages.javascript.functions import Functions
from tokenzip.languages.javascript.scopes import ABSENT, Definition
from tokenzip.languages.syntax import Node

_MAX_PROPERTIES = 64
"""Plain properties of one object that become symbols; a larger object is a table of data."""
_OBJECT_DEPTH = 3


@dataclass(slots=True)
class Assigned:
    """A member that is set at the top level of a file: ``exports.a = 3``, the ``a: 3`` of ``module.exports = { a: 3 }``."""

    owner: Definition
    prefix: str
    """Of the member's key: ``static`` for what is set on a function or class."""
    name: str
    value: int
    node: Node
    """All of it: what its symbol spans."""
    name_node: Node | None
    value_node: Node
    parent: Definition | None
    is_shadowed: bool
    """Whether the value is a name of the block around it, which the module does not know."""


class Objects(Functions):
    """Reads object literals and property descriptors."""

    exports_object: Definition | None = None
    """What `module.exports` is before anything is assigned to it, and the object that is written there."""
    set_here: list[Assigned]
    """What members are set to at the top level."""
    shared: list[tuple[int, int]]
    """Values whose members the module's value gets, each with its line."""

    def note_set(
        self, owner: Definition, prefix: str, name: str, value: int, node: Node, name_node: Node | None, value_node: Node,
        parent: Definition | None,
    ) -> None:  # fmt: skip
        """A member of something that turns out at the end to be exported, or not."""
        shadowed = value_node.type == "identifier" and self.text(value_node) in self.module_frame.locals
        self.set_here.append(Assigned(owner, prefix, name, value, node, name_node, value_node, parent, shadowed))

    def object_value(self, node: Node, owner: Definition | None, context: int, level: int = 0) -> int:
        """An object literal: a definition if it holds functions or belongs to a named variable, else a plain value."""
        children = [child for child in node.named_children if child.type != "comment"]
        if owner is None:
            if not any(_holds_function(child) for child in children):
                return self._plain_object(children, context)
            owner = self.define("{}", "object", node, hidden=True)
        this = self.make("d", owner.order)
        saved = self.frame.symbol
        named = (
            (not owner.hidden or (owner is self.exports_object and self.frame.is_module))
            and not owner.flags & bits.LOCAL
            and len(children) <= _MAX_PROPERTIES
        )
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
                if self._is_exported(owner):
                    self.shared.append((value, node.start_point[0] + 1))
            return
        if kind == "shorthand_property_identifier":
            name, value = self.text(node), self.expression(node)
            owner.members.setdefault(name, []).append(("v", value, None))
            if self._is_exported(owner):
                self.note_set(owner, "", name, value, node, node, node, owner)
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
        exported = owner is self.exports_object and self.frame.is_module
        if named and name and (not exported or value_node.type == "object"):
            definition = self.define(name, "variable" if exported else "property", node, key)
            definition.flags |= owner.flags & (bits.LOCAL | bits.EXPORTED)
            definition.head_end = value_node.start_byte
        if definition is not None and value_node.type == "object" and level < _OBJECT_DEPTH:
            value = self.object_value(value_node, definition, place, level + 1)
        else:
            value = self.expect(value_node, place)
        if name:
            owner.members[name] = [("v", value, None if definition is None else definition.order)]
            if exported and (named or value_node.type == "identifier"):
                self.note_set(owner, "", name, value, node, key, value_node, owner)

    def assigned_object(self, target: Definition | None, node: Node) -> int:
        if target is None or not self._is_exported(target):
            return self.expression(node)
        if node.type == "object":
            self.object_value(node, target, ABSENT)
            return ABSENT
        value = self.expression(node)
        if value >= 0:
            self.shared.append((value, node.start_point[0] + 1))
        return value

    def _is_exported(self, owner: Definition) -> bool:
        return owner is self.exports_object and self.frame.is_module

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
            if owner is self.exports_object and self.frame.is_module:
                self.note_set(owner, "", name, self.make("d", definition.order), node, key, function, owner)

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
        if which == "value" and self.frame.is_module:
            self.note_set(target, "", name, found, node, None, value, target)


def _holds_function(node: Node) -> bool:
    if node.type == "method_definition":
        return True
    if node.type != "pair":
        return False
    value = node.child_by_field_name("value")
    return value is not None and value.type in FUNCTIONS
