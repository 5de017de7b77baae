"""What CommonJS exports by assignment, as names that the file offers: values become symbols, names of others are passed on."""

from __future__ import annotations

import re
from typing import Any

from tokenzip.languages.javascript.expressions import FUNCTIONS
from tokenzip.languages.javascript.objects import Assigned
from tokenzip.languages.javascript.scopes import Definition, Expr
from tokenzip.languages.javascript.statements import Statements
from tokenzip.languages.syntax import Node

_NAME = re.compile(r"[\w$][\w$-]*")
_ROOTS = frozenset({"R", "m"})
_NAMES = frozenset({"identifier", "shorthand_property_identifier"})


class CommonJS(Statements):
    """Goes through what was set at the top level once the file is read, when it is known what the module's value is."""

    def __init__(self, source: bytes) -> None:
        super().__init__(source)
        self.set_here = []
        self.shared = []
        self.offers: list[tuple[str, Expr, int]] = []
        """(name, entry, line) of what CommonJS exports; without a name: all that the value has."""
        self._made: dict[tuple[int, str], int] = {}

    def add_export(self, name: str, entry: tuple[Any, ...]) -> None:
        """A name that other files may import."""
        raise NotImplementedError

    def offer_assigned(self) -> None:
        """Name what the module's value was given."""
        if not self.set_here and not self.shared:
            return
        holders = self._holders()
        for one in self.set_here:
            if (one.owner.order, one.prefix) in holders and one.name not in ("", "__esModule"):
                entry = self._entry(one, self._origin_of(one))
                if entry is not None:
                    self.add_export(one.name, entry)
                    self.offers.append((one.name, entry, one.node.start_point[0] + 1))
        for value, line in self.shared:
            if self._is_required(value):
                self.offers.append(("", ("v", value, None), line))

    def _holders(self) -> set[tuple[int, str]]:
        """What the module's value may be, each with the prefix of its members."""
        slots = [self.slot_of(value) for value in self.module_values]
        found = {(slot[0].order, slot[1]) for slot in slots if slot is not None}
        if self.exports_object is not None:
            found.add((self.exports_object.order, ""))
        return found

    def _origin_of(self, one: Assigned) -> Node:
        """Where a value is written: behind ``b = exports.c =`` in ``exports.a = b = exports.c = value``, or the b around it."""
        above = one.node.parent
        if above is not None and one.value_node.type not in FUNCTIONS:
            name = above.child_by_field_name("name" if above.type == "variable_declarator" else "left")
            if name is not None and name.type == "identifier" and self.text(name) in self.names:
                return name
        node = one.value_node
        while node.type in ("assignment_expression", "parenthesized_expression", "as_expression", "satisfies_expression"):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and left.type == "identifier" and self.text(left) in self.names:
                return left
            inner = right or next((child for child in node.named_children if child.type != "comment"), None)
            if inner is None:
                break
            node = inner
        return node

    def _entry(self, one: Assigned, node: Node) -> Expr | None:
        """What a name stands for; None if that is nothing yet (``exports.a = void 0``)."""
        if node.type == "undefined" or self.text(node) in ("undefined", "void 0"):
            return None
        if node.type in _NAMES and not one.is_shadowed:
            local = self.text(node)
            if local in self.names:
                self._keep_name(one, local)
                return ("l", local)
            if local in ("exports", "module") or self._is_global(one.value):
                return ("v", one.value, None)
        if self._is_required(one.value):
            return self._required(one.value)
        return self._own_value(one, node)

    def _is_global(self, value: int) -> bool:
        return value >= 0 and self.exprs[value][0] == "g"

    def _keep_name(self, one: Assigned, local: str) -> None:
        """A member that is a variable of the module under another name stays one."""
        entries = self.names[local]
        is_function = one.value >= 0 and self.exprs[one.value][0] == "d"
        if not is_function and len(entries) == 1 and entries[0][0] == "v" and entries[0][2] is not None:
            self._set_entry(one, self.make("g", local), None)

    def _set_entry(self, one: Assigned, value: int, order: int | None) -> None:
        entries = one.owner.members.get(one.prefix + one.name, [])
        for place, entry in enumerate(entries):
            if entry[0] in ("s", "v") and entry[1:] == (one.value, None):
                entries[place] = (entry[0], value, order)
                return

    def _is_required(self, value: int) -> bool:
        """Whether a value is what another module exports, or a member of that."""
        while value >= 0:
            parts = self.exprs[value]
            if parts[0] != "a":
                imported = parts[0] == "g" and any(entry[0] == "i" for entry in self.names.get(parts[1], ()))
                return parts[0] in _ROOTS or imported
            value = parts[1]
        return False

    def _required(self, value: int) -> Expr:
        parts = self.exprs[value]
        if parts[0] == "a" and parts[2] != "default" and self.exprs[parts[1]][0] == "R":
            return ("i", self.exprs[parts[1]][1], parts[2])
        return ("v", value, None)

    def _own_value(self, one: Assigned, node: Node) -> Expr | None:
        """A function or class that the assignment made, or a symbol for its value."""
        parts = self.exprs[one.value] if one.value >= 0 else ("",)
        made = self.definitions[parts[1]] if parts[0] == "d" else None
        if made is not None and (made.kind == "method" or node.type in FUNCTIONS or node.type == "class"):
            if made.hidden and made.kind == "class":
                self._name(one, made, "class")
            return ("d", made.order)
        key = (one.owner.order, one.prefix + one.name)
        if key not in self._made and self._is_named_before(one):
            return ("v", one.value, None)
        order = self._made.get(key)
        if order is None:
            if made is not None and node.type == "object":
                self._name(one, made, _kind(one))
            elif _NAME.fullmatch(one.name) is None:
                return ("v", one.value, None)
            else:
                made = self._value_symbol(one)
            order = self._made[key] = made.order
        self._set_entry(one, one.value, order)
        return ("v", one.value, order)

    def _is_named_before(self, one: Assigned) -> bool:
        """Whether a function of that name is the symbol already (``exports.f = deprecate(exports.f)``)."""
        entries = one.owner.members.get(one.prefix + one.name, ())
        return any(entry[0] == "d" and not self.definitions[entry[1]].hidden for entry in entries)

    def _name(self, one: Assigned, definition: Definition, kind: str) -> None:
        """What had no name of its own is called as it is exported."""
        if not definition.hidden or _NAME.fullmatch(one.name) is None:
            return
        definition.hidden, definition.name, definition.kind, definition.parent = False, one.name, kind, one.parent
        self._place(one, definition)

    def _value_symbol(self, one: Assigned) -> Definition:
        saved, self.frame.symbol = self.frame.symbol, one.parent
        definition = self.define(one.name, _kind(one), one.node, one.name_node)
        self.frame.symbol = saved
        self._place(one, definition)
        return definition

    def _place(self, one: Assigned, definition: Definition) -> None:
        definition.start, definition.end = one.node.start_byte, one.node.end_byte
        if definition.kind != "class":
            definition.node, definition.head_end = one.node, one.value_node.start_byte
        place = one.name_node or one.node
        definition.name_line = place.start_point[0] + 1
        definition.name_start = place.start_byte
        definition.name_end = one.name_node.end_byte if one.name_node is not None else place.start_byte


def _kind(one: Assigned) -> str:
    parent = one.parent
    while parent is not None and parent.hidden:
        parent = parent.parent
    return "variable" if parent is None else "property"
