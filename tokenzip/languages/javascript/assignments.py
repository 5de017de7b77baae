"""Assignments: to names, members, patterns and `module.exports`; and where members that are set from outside are kept."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.javascript.classes import Classes
from tokenzip.languages.javascript.expressions import FUNCTIONS
from tokenzip.languages.javascript.scopes import ABSENT, Definition, Expr, Frame
from tokenzip.languages.syntax import Node

Slot = tuple[Definition, str]
"""A definition and the prefix of the members that are set through it."""


_SAME_OBJECT = frozenset({"Object.freeze", "Object.seal", "Object.preventExtensions"})
_MERGED = frozenset({"Object.assign"})


class Assignments(Classes):
    """Reads assignments."""

    in_block = False
    module_values: list[int]

    def assignment(self, node: Node) -> int:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return ABSENT
        while left.type in ("parenthesized_expression", "non_null_expression") and left.named_children:
            left = left.named_children[0]
        if left.type == "identifier":
            name = self.text(left)
            if right.type in FUNCTIONS and right.child_by_field_name("name") is None:
                definition = self.function_definition(node, right, name, left, "function")
                definition.hidden = not self.frame.is_module or self.in_block
                value = self.make("d", definition.order)
            elif right.type == "object" and name == "exports" and self._is_exports(name):
                return self.object_value(right, self.commonjs(), ABSENT)
            else:
                value = self.expect(right, self.frame.types.get("\0" + name, ABSENT))
            self._assign_name(left, name, value)
            return value
        if left.type in ("member_expression", "subscript_expression"):
            return self._assign_member(left, None, right)
        value = self.expression(right)
        self.bind(left, value, declare=False)
        return value

    def _assign_name(self, node: Node, name: str, value: int) -> None:
        if name == "exports" and self._is_exports(name):
            return
        target = self.look_up(name)
        frame: Frame | None = self.frame
        annotation = ABSENT
        while frame is not None and annotation < 0:
            annotation = frame.types.get("\0" + name, ABSENT)
            if name in frame.env:
                break
            frame = frame.outer
        if annotation >= 0 and (value < 0 or self.exprs[value][0] not in ("N", "d", "L")):
            value = annotation
        frame = self.frame
        while name not in frame.env and frame.outer is not None:
            frame = frame.outer
        if frame.is_module and name not in frame.locals:
            self.refer("w", self.make("g", name), node, name, once=True)
        self.assign(name, value)
        del target

    def augmented(self, node: Node) -> int:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return ABSENT
        before = self.expression(left)
        value = self.expression(right)
        operator = node.child_by_field_name("operator")
        if operator is not None and operator.type in ("||=", "??=", "&&="):
            value = self.union([before, value])
            self.written(left, value)
            return value
        self.written(left, self.make("l", "number"))
        return ABSENT

    def written(self, target: Node, value: int) -> None:
        if target.type == "identifier":
            name = self.text(target)
            if self.look_up(name) == self.make("g", name) or self.frame.is_module:
                self.refer("w", self.make("g", name), target, name, once=True)
            if value >= 0 and self.exprs[value][0] != "l":
                self.assign(name, value)
        elif target.type == "member_expression":
            expr = self._target_expression(target)
            name_node = target.child_by_field_name("property")
            if name_node is not None:
                self.refer("W", expr, name_node, self.text(name_node), once=True)
            if value >= 0 and self.exprs[value][0] != "l":
                self._assign_member(target, value, None)

    def _target_expression(self, node: Node) -> int:
        base, name = node.child_by_field_name("object"), node.child_by_field_name("property")
        if base is None or name is None:
            return ABSENT
        value = self.expression(base)
        return self.make("a", value, self.text(name)) if value >= 0 else ABSENT

    def _assign_member(self, left: Node, value: int | None, right: Node | None) -> int:
        """``base.name = value``; the value is known, or read from `right` in the place of the member."""
        base_node = left.child_by_field_name("object")
        name_node = left.child_by_field_name("property") or left.child_by_field_name("index")
        if base_node is None or name_node is None:
            return self.expression(right) if right is not None else ABSENT
        if left.type == "subscript_expression":
            name = (
                self.text(name_node)[1:-1]
                if name_node.type == "string"
                else self.text(name_node)
                if name_node.type == "number"
                else ""
            )
            if not name:
                key = self.expression(name_node)
                name = str(self.exprs[key][1]) if key >= 0 and self.exprs[key][0] == "s" else ""
        else:
            name = self.text(name_node)
        if (
            base_node.type == "identifier"
            and name == "exports"
            and self.text(base_node) == "module"
            and "module" not in self.names
        ):
            return self._assign_module(value, right)
        base = self.expression(base_node)
        slot = self.slot_of(base)
        is_own = slot is not None or (right is not None and right.type in FUNCTIONS)  # else of a type, which may declare it
        if slot is None and base_node.type == "identifier":
            slot = self._variable_slot(self.text(base_node))
        place = self.make("a", base, name) if base >= 0 and name else ABSENT
        if right is not None:
            value = self._member_value(left, right, name, name_node, base_node, base, slot, place)
        found = ABSENT if value is None else value
        if slot is not None and name:
            is_first = self._is_unset(slot[0].members.get(slot[1] + name))
            self._set_member(slot, name, found)
            if right is not None and self.frame.is_module:
                self.note_set(*slot, name, found, left.parent or left, name_node, right, self._named_base(base_node, slot))
                if is_first and is_own:
                    place = ABSENT  # it begins here
        if place >= 0:
            self.refer("W", place, name_node, name, once=True)
        self._remember_member(left, found)
        return found

    def _member_value(
        self, left: Node, right: Node, name: str, name_node: Node, base_node: Node, base: int, slot: Slot | None, place: int
    ) -> int:
        whole = left.parent or left
        if right.type in FUNCTIONS and name:
            saved = self.frame.symbol
            parent = self._named_base(base_node, slot)
            if parent is not None:
                self.frame.symbol = parent
            this = base if right.type != "arrow_function" else None
            if slot is not None and slot[1] == "" and slot[0].kind == "class" and base >= 0 and self.exprs[base][0] == "a":
                this = self.make("T", slot[0].order)
            if base >= 0 and self.exprs[base][0] == "a" and self.exprs[base][2] == "prototype" and slot is not None:
                this = self.make("T", slot[0].order)
            definition = self.function_definition(whole, right, name, name_node, "method", place, this)
            self.frame.symbol = saved
            return self.make("d", definition.order)
        if right.type == "assignment_expression":
            return self._alias_value(whole, right, name, name_node, base_node, slot)
        if right.type == "object" and slot is not None and name == "prototype" and slot[1]:
            return self._prototype(slot[0], right)
        if right.type == "object":
            owner = self._object_owner(whole, name, name_node, right, base_node, slot)
            return self.object_value(right, owner, place)
        return self.expect(right, place)

    def _is_unset(self, entries: list[Expr] | None) -> bool:
        """Whether a member has no value yet (``exports.a = void 0`` is none)."""
        return not entries or all(entry[1] >= 0 and self.exprs[entry[1]] == ("l", "undefined") for entry in entries)

    def _object_owner(
        self, whole: Node, name: str, name_node: Node, right: Node, base_node: Node, slot: Slot | None
    ) -> Definition:
        """What an object that is assigned to a member is: a symbol where the member is exported as far as is known yet."""
        if slot is None or slot[0] is not self.exports_object or not self.frame.is_module or not name:
            return self.define(name or "{}", "object", right, hidden=True)
        parent = self._named_base(base_node, slot)
        saved, self.frame.symbol = self.frame.symbol, parent
        owner = self.define(name, "variable" if parent is None or parent.hidden else "property", whole, name_node)
        self.frame.symbol = saved
        owner.node, owner.head_end = whole, right.start_byte
        return owner

    def _alias_value(self, whole: Node, right: Node, name: str, name_node: Node, base_node: Node, slot: Slot | None) -> int:
        """``a.get = a.header = function``: both are methods, with one body."""
        value = self.assignment(right)
        if value < 0 or not name or self.exprs[value][0] != "d":
            return value
        other = self.definitions[self.exprs[value][1]]
        parent = self._named_base(base_node, slot)
        if other.kind != "method" or parent is None:
            return value
        saved = self.frame.symbol
        self.frame.symbol = parent
        definition = self.define(name, "method", whole, name_node)
        self.frame.symbol = saved
        definition.head_end = other.head_end
        definition.alias = other.alias or other
        return self.make("d", definition.order)

    def _named_base(self, base_node: Node, slot: Slot | None) -> Definition | None:
        """The symbol that a member assigned from outside belongs to: what its base is called, else what it is."""
        node = base_node
        if node.type == "member_expression":
            inner, last = node.child_by_field_name("object"), node.child_by_field_name("property")
            if inner is not None and last is not None and self.text(last) == "prototype":
                node = inner
        if node.type == "identifier" and self.frame.is_module:
            for entry in self.names.get(self.text(node), ()):
                order = {"d": entry[1], "v": entry[-1]}.get(entry[0])
                if order is not None:
                    return self.definitions[order]
        return slot[0] if slot is not None else None

    def _prototype(self, definition: Definition, node: Node) -> int:
        saved = self.frame.symbol
        this = self.make("T", definition.order)
        for child in node.named_children:
            if child.type != "comment":
                self.frame.symbol = definition
                self._object_member(child, definition, this, ABSENT, False, 0)
        self.frame.symbol = saved
        return this

    def _set_member(self, slot: Slot, name: str, value: int) -> None:
        definition, prefix = slot
        entries = definition.members.setdefault(prefix + name, [])
        entry: tuple[Any, ...] = ("s", value, None)
        if value >= 0 and self.exprs[value][0] == "d":
            order = self.exprs[value][1]
            if self.definitions[order].kind == "method":
                entry = ("d", order)
        if entry not in entries and (value >= 0 or not entries):
            entries.append(entry)

    def _remember_member(self, left: Node, value: int) -> None:
        key = self.dotted_key(left)
        if not key:
            return
        root = key.split(".", 1)[0]
        frame = self.frame
        if root != "this" and root not in frame.env:
            return
        if frame.dotted:
            self.forget_members(frame, key)
        if value >= 0:
            frame.env[key] = value
            frame.dotted = 1
        else:
            frame.env.pop(key, None)

    def _assign_module(self, value: int | None, right: Node | None) -> int:
        if right is not None:
            node = right
            merged = self._object_arguments(node, _SAME_OBJECT) if value is None else []
            if len(merged) == 1:
                node = merged[0]  # Object.freeze({ ... })
            elif value is None and (merged := self._object_arguments(node, _MERGED)):
                return self._assign_merged(merged)
            if node.type == "object" and value is None:
                found = self.object_value(node, self.commonjs(), ABSENT)
                self._export_object(found)
                return found
            name = node.child_by_field_name("name")
            text = self.text(name) if name is not None else "exports"
            if node.type in FUNCTIONS:
                definition = self.function_definition(right.parent or right, node, text, name, "function")
                value = self.make("d", definition.order)
            elif node.type == "class":
                definition = self.class_definition(right.parent or right, node, text, name)
                value = self.make("d", definition.order)
            else:
                value = self.expression(node)
        if value is not None and value >= 0:
            self._export_object(value)
            if self.frame.is_module:
                self._share(value, right)
        return ABSENT if value is None else value

    def _assign_merged(self, nodes: list[Node]) -> int:
        """``module.exports = Object.assign({ ... }, other, { ... })``"""
        own = self.commonjs()
        found = self.object_value(nodes[0], own, ABSENT)
        own.assigned.extend(value for value in [self.assigned_object(own, node) for node in nodes[1:]] if value >= 0)
        self._export_object(found)
        return found

    def _object_arguments(self, node: Node, functions: frozenset[str]) -> list[Node]:
        """The arguments of a call of one of these functions if the first is an object that is written there; else none."""
        called, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if called is None or arguments is None or self.text(called) not in functions or "Object" in self.names:
            return []
        nodes = [child for child in arguments.named_children if child.type != "comment"]
        return nodes if nodes and nodes[0].type == "object" else []

    def _share(self, value: int, node: Node | None) -> None:
        """The module's value may be that of another."""
        if node is not None:
            self.shared.append((value, node.start_point[0] + 1))

    def _export_object(self, value: int) -> None:
        if value not in self.module_values:
            self.module_values.append(value)

    def commonjs(self) -> Definition:
        """What `module.exports` is before anything is assigned to it."""
        if self.exports_object is None:
            self.exports_object = Definition("exports", "object", None, len(self.definitions))
            self.exports_object.hidden = True
            self.definitions.append(self.exports_object)
        return self.exports_object

    def _is_exports(self, name: str) -> bool:
        return name not in self.names and self.look_up(name) == self.make("g", name)

    def slot_of(self, value: int, level: int = 0) -> Slot | None:
        """Where ``value.name = ...`` is kept."""
        if value < 0 or level > 8:
            return None
        parts = self.exprs[value]
        op = parts[0]
        if op == "d":
            definition = self.definitions[parts[1]]
            return definition, "static " if definition.kind in ("function", "class", "method", "constructor") else ""
        if op == "T":
            return self.definitions[parts[1]], ""
        if op == "N":
            slot = self.slot_of(parts[1], level + 1)
            return (slot[0], "") if slot is not None and slot[1] and slot[0].kind in ("class", "function") else None
        if op == "g":
            return self._global_slot(parts[1], level)
        if op == "a":
            if parts[2] == "prototype":
                slot = self.slot_of(parts[1], level + 1)
                return (slot[0], "") if slot is not None and slot[1] else None
            if parts[2] == "exports" and parts[1] >= 0 and self.exprs[parts[1]] == ("g", "module"):
                return self._module_slot(level)
            slot = self.slot_of(parts[1], level + 1)
            if slot is not None:
                for entry in slot[0].members.get(slot[1] + parts[2], ()):
                    found = self.slot_of(entry[1] if entry[0] != "d" else self.make("d", entry[1]), level + 1)
                    if found is not None:
                        return found
        if op == "u":
            for one in parts[1]:
                found = self.slot_of(one, level + 1)
                if found is not None:
                    return found
        return None

    def _global_slot(self, name: str, level: int) -> Slot | None:
        entries = self.names.get(name)
        if entries is None:
            if name == "exports":
                return self._module_slot(level)
            return None
        for entry in entries:
            value = self.make("d", entry[1]) if entry[0] == "d" else entry[1] if entry[0] == "v" else ABSENT
            found = self.slot_of(value, level + 1) if value != ABSENT else None
            if found is not None:
                return found
        for entry in entries:
            if entry[0] == "v" and entry[2] is not None:
                return self.definitions[entry[2]], ""
        return None

    def _variable_slot(self, name: str) -> Slot | None:
        """A variable of the module whose value says nothing about its members keeps them itself."""
        frame: Frame | None = self.frame
        while frame is not None and name not in frame.env:
            frame = frame.outer
        if frame is not None and (not frame.is_module or name in frame.locals):
            return None
        return self._global_slot(name, 0)

    def _module_slot(self, level: int) -> Slot | None:
        for value in self.module_values:
            found = self.slot_of(value, level + 1)
            if found is not None:
                return found
        return self.commonjs(), ""

    def target_of(self, value: int) -> Definition | None:
        slot = self.slot_of(value)
        return slot[0] if slot is not None else None
