"""Statements: what names hold as control flows through a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tokenzip.languages.javascript.declarations import Declarations
from tokenzip.languages.javascript.expressions import FUNCTIONS
from tokenzip.languages.javascript.scopes import ABSENT, Definition, Frame
from tokenzip.languages.syntax import Node

_FUNCTION_DECLARATIONS = frozenset({"function_declaration", "generator_function_declaration"})
Slot = tuple[Definition, str]
"""A definition and the prefix of the members that are set through it."""


class Statements(Declarations):
    """Walks statements; each reader says whether control never goes on behind it."""

    declared_here: list[tuple[Frame, str, int | None]]
    """Names of the block being walked, with what they held outside."""
    in_block = False
    exports_object: Definition | None = None
    module_values: list[int]

    def function_block(self, body: Node) -> None:
        saved, self.pending = self.pending, []
        saved_declared, self.declared_here = self.declared_here, []
        saved_block, self.in_block = self.in_block, False
        self.statements(body.named_children)
        self.run_pending()
        self.pending, self.declared_here, self.in_block = saved, saved_declared, saved_block

    def statements(self, nodes: Sequence[Node]) -> bool:
        ended = False
        for node in nodes:
            if node.type in _FUNCTION_DECLARATIONS:
                self.hoist(node, node)
        for node in nodes:
            ended = self.statement(node) or ended
        return ended

    def hoist(self, whole: Node, node: Node) -> Definition | None:
        name = node.child_by_field_name("name")
        if name is None:
            return None
        definition = self.function_definition(whole, node, self.text(name), name, "function")
        self.declare(definition.name, self.make("d", definition.order), definition)
        return definition

    def statement(self, node: Node) -> bool:
        reader = STATEMENTS.get(node.type)
        if reader is None:
            self.expression(node)
            return False
        return reader(self, node)

    def block(self, node: Node) -> bool:
        """A nested block: its own names end with it."""
        self.depth += 1
        if self.depth > 250:
            self.too_deep = self.too_deep or node.start_point[0] + 1
            self.depth -= 1
            return False
        saved, self.pending = self.pending, []
        saved_declared, self.declared_here = self.declared_here, []
        saved_block, self.in_block = self.in_block, True
        saved_types = dict(self.frame.types)
        ended = self.statements(node.named_children) if node.type == "statement_block" else self.statement(node)
        self.run_pending()
        for frame, name, before in reversed(self.declared_here):
            frame.locals.discard(name)
            if before is None:
                frame.env.pop(name, None)
            else:
                frame.env[name] = before
        self.frame.types = saved_types
        self.pending, self.declared_here, self.in_block = saved, saved_declared, saved_block
        self.depth -= 1
        return ended

    def declare(self, name: str, value: int, definition: Definition | None, lexical: bool = True, typed: bool = False) -> None:
        """A name begins to exist in the current block."""
        frame = self.frame
        if self.in_block and lexical:
            self.declared_here.append((frame, name, frame.env.get(name)))
            if frame.is_module:
                frame.locals.add(name)
            frame.assigned[name] = []
        elif frame.is_module:
            is_value = definition is None or definition.kind in ("variable", "constant", "object")
            order = None if definition is None or definition.hidden else definition.order
            self.add_name(name, ("v", value, order) if is_value or definition is None else ("d", definition.order))
        elif lexical and not typed:
            frame.assigned[name] = []
        self.set_in(frame, name, value)
        frame.types.pop("\0" + name, None)

    # Declarations

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
        value = annotation if annotation >= 0 else value
        self._pattern_kind, saved = ((whole, kind, value_node), self._pattern_kind)
        self.bind(pattern, value, declare=True)
        self._pattern_kind = saved

    _pattern_kind: tuple[Node, str, Node | None] | None = None

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
        elif kind == "rest_pattern" and pattern.named_children:
            self.bind(pattern.named_children[0], value, declare)
        elif kind == "parenthesized_expression" and pattern.named_children:
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
                definition.flags |= 64  # overload
            if self.frame.is_module and not self.in_block:
                self.add_name(definition.name, ("d", definition.order))
            elif self.frame.env.get(definition.name) is None:
                self.declare(definition.name, self.make("d", definition.order), definition)
            self._sign(definition)
        return False

    def _sign(self, definition: Definition) -> None:
        return

    # Assignments

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
        place = self.make("a", base, name) if base >= 0 and name else ABSENT
        if right is not None:
            value = self._member_value(left, right, name, name_node, base_node, base, slot, place)
        found = ABSENT if value is None else value
        if place >= 0:
            self.refer("W", place, name_node, name, once=True)
        if slot is not None and name:
            self._set_member(slot, name, found)
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
            owner = self.define(name or "{}", "object", right, hidden=True)
            return self.object_value(right, owner, place)
        return self.expect(right, place)

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
        return ABSENT if value is None else value

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

    def _module_slot(self, level: int) -> Slot | None:
        for value in self.module_values:
            found = self.slot_of(value, level + 1)
            if found is not None:
                return found
        return self.commonjs(), ""

    def target_of(self, value: int) -> Definition | None:
        slot = self.slot_of(value)
        return slot[0] if slot is not None else None

    # Flow

    def return_statement(self, node: Node) -> bool:
        value = self.make("l", "undefined")
        for child in node.named_children:
            if child.type != "comment":
                value = self.expect(child, self.frame.context)
        frame: Frame | None = self.frame
        if frame is not None:
            frame.returns.append(value)
        return True

    def ending(self, node: Node) -> bool:
        for child in node.named_children:
            if child.type not in ("statement_identifier", "comment"):
                self.expression(child)
        return True

    def if_statement(self, node: Node) -> bool:
        """Else-if chains are a loop: they grow long."""
        frame = self.frame
        ends: list[dict[str, int]] = []
        all_end = True
        entry = frame.env
        one: Node | None = node
        while one is not None:
            condition, yes = one.child_by_field_name("condition"), one.child_by_field_name("consequence")
            no = one.child_by_field_name("alternative")
            if condition is None or yes is None:
                all_end = False
                break
            self.expression(condition)
            entry = frame.env
            frame.env = dict(entry)
            self.narrow(condition, False)
            if not self.block(yes):
                ends.append(frame.env)
            frame.env = dict(entry)
            self.narrow(condition, True)
            one = None
            if no is not None:
                body = next((child for child in no.named_children if child.type != "comment"), None)
                if body is not None and body.type == "if_statement":
                    one = body
                elif body is not None and self.block(body):
                    break
                else:
                    ends.append(frame.env)
                    all_end = False
            else:
                ends.append(frame.env)
                all_end = False
        if not ends:
            return all_end
        self.merge(ends)
        return False

    def merge(self, environments: list[dict[str, int]]) -> None:
        """After branches that meet again a name holds what it held in any of them."""
        frame = self.frame
        first = environments[0]
        if len(environments) == 1:
            frame.env = first
            return
        merged: dict[str, int] = {}
        names = dict.fromkeys(name for one in environments for name in one)
        for name in names:
            values = [one.get(name) for one in environments]
            value = values[0]
            if all(other == value for other in values):
                if value is not None:
                    merged[name] = value
            elif "." not in name or None not in values:
                merged[name] = self.union([one for one in values if one is not None])
        frame.env = merged

    def for_in(self, node: Node) -> bool:
        left, right, body = (node.child_by_field_name(field) for field in ("left", "right", "body"))
        if left is None or right is None:
            return False
        source = self.expression(right)
        operator = node.child_by_field_name("operator")
        if operator is not None and operator.type == "in":
            value = self.make("l", "string")
        elif source < 0:
            value = ABSENT
        else:
            value = self.make("I" if any(child.type == "await" for child in node.children) else "i", source)
        kind = node.child_by_field_name("kind")

        def begin() -> None:
            if kind is None:
                self.bind(left, value, declare=False)
            else:
                saved, self._pattern_kind = self._pattern_kind, (left, "let" if kind.type != "var" else "var", right)
                self.bind(left, value, declare=True)
                self._pattern_kind = saved

        self._loop(begin, body)
        return False

    def for_statement(self, node: Node) -> bool:
        def begin() -> None:
            for field in ("initializer", "condition"):
                part = node.child_by_field_name(field)
                if part is not None and part.is_named:
                    self.statement(part)

        increment = node.child_by_field_name("increment")
        self._loop(begin, node.child_by_field_name("body"), increment)
        return False

    def while_statement(self, node: Node) -> bool:
        condition = node.child_by_field_name("condition")

        def begin() -> None:
            if condition is not None:
                self.expression(condition)
                self.narrow(condition, False)

        self._loop(begin, node.child_by_field_name("body"))
        return False

    def _loop(self, begin: Callable[[], None], body: Node | None, after: Node | None = None) -> None:
        frame = self.frame
        saved, self.pending = self.pending, []
        saved_declared, self.declared_here = self.declared_here, []
        saved_block, self.in_block = self.in_block, True
        entry = frame.env
        frame.env = dict(entry)
        begin()
        if body is not None:
            self.block(body)
        if after is not None:
            self.expression(after)
        self.run_pending()
        for _, name, before in reversed(self.declared_here):
            frame.locals.discard(name)
            if before is None:
                frame.env.pop(name, None)
            else:
                frame.env[name] = before
        self.pending, self.declared_here, self.in_block = saved, saved_declared, saved_block
        self.merge([entry, frame.env])

    def switch_statement(self, node: Node) -> bool:
        value, body = node.child_by_field_name("value"), node.child_by_field_name("body")
        if value is None or body is None:
            return False
        self.expression(value)
        saved, self.pending = self.pending, []
        saved_declared, self.declared_here = self.declared_here, []
        saved_block, self.in_block = self.in_block, True
        frame = self.frame
        entry = frame.env
        ends: list[dict[str, int]] = []
        has_default = False
        falls: dict[str, int] | None = None
        for case in body.named_children:
            if case.type == "comment":
                continue
            frame.env = dict(entry)
            test = case.child_by_field_name("value")
            if case.type == "switch_default":
                has_default = True
            elif test is not None:
                self.expression(test)
                self.narrow_equal(value, test, False)
            if falls is not None:
                self.merge([falls, frame.env])
            statements = [child for child in case.named_children if test is None or child.id != test.id]
            ended = self.statements(statements)
            breaks = any(child.type == "break_statement" for child in statements)
            falls = None if ended else frame.env
            if not ended or breaks or _has_break(statements):
                ends.append(frame.env)
        if not has_default:
            ends.append(entry)
        self.run_pending()
        self.pending, self.declared_here, self.in_block = saved, saved_declared, saved_block
        if not ends:
            frame.env = entry
            return True
        self.merge(ends)
        return False

    def try_statement(self, node: Node) -> bool:
        frame = self.frame
        body, handler, final = (node.child_by_field_name(field) for field in ("body", "handler", "finalizer"))
        entry = dict(frame.env)
        ended = self.block(body) if body is not None else False
        after = frame.env
        ends = [] if ended else [after]
        if handler is not None:
            frame.env = dict(entry)
            self.merge([frame.env, dict(after)])
            caught = self._catch(handler)
            if not caught:
                ends.append(frame.env)
            ended = ended and caught
        if ends:
            self.merge(ends)
        else:
            frame.env = after
        if final is not None:
            inner = next((child for child in final.named_children if child.type == "statement_block"), None)
            if inner is not None:
                ended = self.block(inner) or ended
        return ended

    def _catch(self, node: Node) -> bool:
        parameter, body = node.child_by_field_name("parameter"), node.child_by_field_name("body")
        saved_declared, self.declared_here = self.declared_here, []
        saved_block, self.in_block = self.in_block, True
        if parameter is not None:
            self.bind(parameter, self.declared(node.child_by_field_name("type")), declare=True)
        ended = self.block(body) if body is not None else False
        for frame, name, before in reversed(self.declared_here):
            frame.locals.discard(name)
            if before is None:
                frame.env.pop(name, None)
            else:
                frame.env[name] = before
        self.declared_here, self.in_block = saved_declared, saved_block
        return ended

    def expression_statement(self, node: Node) -> bool:
        for child in node.named_children:
            if child.type == "internal_module":
                self.statement(child)
            else:
                self.expression(child)
        return False

    def labeled(self, node: Node) -> bool:
        body = node.child_by_field_name("body")
        if body is not None:
            self.block(body)
        return False

    def nothing(self, _node: Node) -> bool:
        return False

    # Narrowing

    def _narrow_key(self, node: Node) -> tuple[str, int]:
        """(key in the environment, value) of what a condition speaks of; an empty key if it cannot be narrowed."""
        while node.type in ("parenthesized_expression", "non_null_expression") and node.named_children:
            node = node.named_children[0]
        if node.type == "identifier":
            name = self.text(node)
            value = self.look_up(name)
            return (name, value) if value >= 0 else ("", ABSENT)
        if node.type == "member_expression":
            key = self.dotted_key(node)
            known = self.frame.env.get(key)
            if key and known is not None:
                return key, known
            if key:
                base, name_node = node.child_by_field_name("object"), node.child_by_field_name("property")
                if base is not None and name_node is not None:
                    _, value = self._narrow_key(base) if base.type != "this" else ("", self.frame.this)
                    return (key, self.make("a", value, self.text(name_node))) if value >= 0 else ("", ABSENT)
        return "", ABSENT

    def _narrowed(self, key: str, value: int) -> None:
        self.frame.env[key] = value
        if "." in key:
            self.frame.dotted = 1

    def narrow(self, node: Node, negated: bool) -> None:
        """After a condition holds (or, `negated`, does not) names are known better."""
        level = 0
        while level < 40:
            level += 1
            kind = node.type
            if kind == "parenthesized_expression" and node.named_children:
                node = node.named_children[0]
                continue
            if kind == "unary_expression":
                operator, argument = node.child_by_field_name("operator"), node.child_by_field_name("argument")
                if operator is not None and argument is not None and operator.type == "!":
                    node, negated = argument, not negated
                    continue
                return
            if kind == "binary_expression":
                operator, left, right = (node.child_by_field_name(field) for field in ("operator", "left", "right"))
                if operator is None or left is None or right is None:
                    return
                if operator.type == ("||" if negated else "&&"):
                    self.narrow(right, negated)
                    node = left
                    continue
                self._narrow_binary(operator.type, left, right, negated)
                return
            if kind == "call_expression":
                self._narrow_call(node, negated)
            return

    def _narrow_binary(self, operator: str, left: Node, right: Node, negated: bool) -> None:
        if operator == "instanceof":
            key, value = self._narrow_key(left)
            if key:
                cls = self.look_up(self.text(right)) if right.type == "identifier" else self._namespace(right)
                if cls >= 0:
                    self._narrowed(key, self.make("W", value, cls, int(negated)))
        elif operator in ("===", "==", "!==", "!="):
            self.narrow_equal(left, right, negated != operator.startswith("!"))
        elif operator == "in" and left.type == "string":
            key, value = self._narrow_key(right)
            if key:
                self._narrowed(key, self.make("Wi", value, self.text(left)[1:-1], int(negated)))

    def narrow_equal(self, left: Node, right: Node, negated: bool) -> None:
        while left.type == "parenthesized_expression" and left.named_children:
            left = left.named_children[0]
        if right.type == "unary_expression" or (left.type == "string" and right.type != "string"):
            left, right = right, left
        if left.type == "unary_expression":
            argument, operator = left.child_by_field_name("argument"), left.child_by_field_name("operator")
            if argument is not None and operator is not None and operator.type == "typeof" and right.type == "string":
                key, value = self._narrow_key(argument)
                if key:
                    self._narrowed(key, self.make("Wt", value, self.text(right)[1:-1], int(negated)))
        elif left.type == "member_expression" and right.type == "string":
            base, name = left.child_by_field_name("object"), left.child_by_field_name("property")
            if base is not None and name is not None:
                key, value = self._narrow_key(base)
                if key:
                    self._narrowed(key, self.make("Wd", value, self.text(name), self.text(right)[1:-1], int(negated)))

    def _narrow_call(self, node: Node, negated: bool) -> None:
        """``Array.isArray(x)``, ``isThing(x)`` with a type predicate."""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return
        nodes = [child for child in arguments.named_children if child.type != "comment"]
        if len(nodes) != 1:
            return
        key, value = self._narrow_key(nodes[0])
        if not key:
            return
        if self.text(function) == "Array.isArray":
            self._narrowed(key, self.make("Wt", value, "array", int(negated)))
            return
        callee = ABSENT
        if function.type == "identifier":
            callee = self.look_up(self.text(function))
        elif function.type == "member_expression":
            base, name = function.child_by_field_name("object"), function.child_by_field_name("property")
            if base is not None and name is not None and base.type in ("identifier", "this"):
                owner = self.frame.this if base.type == "this" else self.look_up(self.text(base))
                callee = self.make("a", owner, self.text(name)) if owner >= 0 else ABSENT
        if callee >= 0:
            self._narrowed(key, self.make("Wp", value, callee, int(negated)))


def _has_break(nodes: Sequence[Node]) -> bool:
    for node in nodes:
        if node.type in ("if_statement", "statement_block"):
            pending = [node]
            while pending:
                one = pending.pop()
                if one.type == "break_statement":
                    return True
                if one.type in ("if_statement", "statement_block", "else_clause"):
                    pending.extend(one.named_children)
    return False


Reader = Callable[[Statements, Node], bool]
_S: Any = Statements
STATEMENTS: dict[str, Reader] = {
    "expression_statement": _S.expression_statement, "lexical_declaration": _S.variables, "variable_declaration": _S.variables,
    "class_declaration": _S.class_statement, "abstract_class_declaration": _S.class_statement,
    "function_declaration": _S.nothing, "generator_function_declaration": _S.nothing,
    "interface_declaration": _S.interface_statement, "type_alias_declaration": _S.alias_statement,
    "enum_declaration": _S.enum_statement, "function_signature": _S.signature_statement,
    "return_statement": _S.return_statement, "throw_statement": _S.ending, "break_statement": _S.ending,
    "continue_statement": _S.ending, "if_statement": _S.if_statement, "for_in_statement": _S.for_in,
    "for_statement": _S.for_statement, "while_statement": _S.while_statement, "do_statement": _S.while_statement,
    "switch_statement": _S.switch_statement, "try_statement": _S.try_statement, "statement_block": _S.block,
    "labeled_statement": _S.labeled, "comment": _S.nothing, "empty_statement": _S.nothing, "hash_bang_line": _S.nothing,
}  # fmt: skip
