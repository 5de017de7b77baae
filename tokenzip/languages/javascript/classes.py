"""Classes, interfaces, enums and type aliases, and their members."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.javascript.expressions import FUNCTIONS
from tokenzip.languages.javascript.functions import FUNCTION_DEPTH
from tokenzip.languages.javascript.objects import Objects
from tokenzip.languages.javascript.scopes import ABSENT, MAX_DEPTH, Definition, Frame
from tokenzip.languages.syntax import Node


class Classes(Objects):
    """Makes classes and what is like them."""

    def class_value(self, node: Node) -> int:
        name = node.child_by_field_name("name")
        definition = self.class_definition(node, node, self.text(name) if name is not None else "{class}", name)
        if name is None:
            definition.hidden = True
            definition.kind = "class"
        return self.make("d", definition.order)

    def class_definition(self, whole: Node, node: Node, name: str, name_node: Node | None) -> Definition:
        definition = self.define(name, "class", whole, name_node)
        self.class_body(definition, whole, node)
        return definition

    def class_body(self, definition: Definition, whole: Node, node: Node) -> None:
        if self.depth > MAX_DEPTH:
            self.too_deep = self.too_deep or node.start_point[0] + 1
            return
        self.depth += FUNCTION_DEPTH
        definition.node = node
        body = node.child_by_field_name("body")
        if body is not None:
            definition.head_end = body.start_byte
        if any(child.type == "abstract" for child in node.children):
            definition.flags |= bits.ABSTRACT
        saved = self.frame
        frame = Frame(saved, definition)
        frame.exposes = True
        frame.this, frame.cls, frame.static = self.make("T", definition.order), definition, False
        frame.returns, frame.yields = saved.returns, saved.yields
        self.frame = frame
        frame.types[definition.name] = self.make("d", definition.order)
        if definition.name not in saved.env:
            frame.env[definition.name] = self.make("d", definition.order)
        definition.tparams = self.type_parameters(node.child_by_field_name("type_parameters"), definition.order)
        self._heritage(definition, node)
        for child in {one.id: one for one in (*whole.children, *node.children) if one.type == "decorator"}.values():
            self.decorator(child, definition)
        if body is not None:
            self._class_members(definition, body)
        self.depth -= FUNCTION_DEPTH
        self.frame = saved

    def _heritage(self, definition: Definition, node: Node) -> None:
        heritage = next((child for child in node.named_children if child.type == "class_heritage"), None)
        if heritage is None:
            return
        self.frame.symbol = definition
        for child in heritage.named_children:
            if child.type == "extends_clause":
                self._extends(definition, child)
            elif child.type == "implements_clause":
                definition.implements.extend(self.annotation(one) for one in child.named_children if one.type != "comment")
            elif child.type != "comment":
                definition.bases.append(self.make("B", self._base(child), ()))

    def _extends(self, definition: Definition, node: Node) -> None:
        value, arguments = node.child_by_field_name("value"), node.child_by_field_name("type_arguments")
        if value is None:
            return
        base = self._base(value)
        types = tuple(self.annotation(one) for one in arguments.named_children) if arguments is not None else ()
        definition.bases.append(self.make("B", base, types))

    def _base(self, node: Node) -> int:
        if node.type == "identifier":
            return self.look_up(self.text(node))
        return self.expression(node)

    def _class_members(self, definition: Definition, body: Node) -> None:
        decorators: list[Node] = []
        for child in body.named_children:
            kind = child.type
            if kind == "decorator":
                decorators.append(child)
                continue
            if kind in ("method_definition", "method_signature", "abstract_method_signature"):
                self._method(definition, child, decorators)
            elif kind in ("public_field_definition", "field_definition"):
                self._field(definition, child, decorators)
            elif kind == "class_static_block":
                self._static_block(definition, child)
            elif kind == "index_signature":
                written = child.child_by_field_name("type")
                definition.members.setdefault("[]", []).append(("v", self.declared(written), None))
            if kind != "comment":
                decorators = []

    def _static_block(self, definition: Definition, node: Node) -> None:
        body = node.child_by_field_name("body")
        if body is None:
            return
        frame = Frame(self.frame, definition)
        frame.this, frame.static = self.make("d", definition.order), True
        outer = self.frame

        def run() -> None:
            self.frame = frame
            self.function_block(body)
            self.frame = outer

        self.pending.append(run)

    def _method(self, cls: Definition, node: Node, decorators: list[Node]) -> None:
        name_node = node.child_by_field_name("name")
        if name_node is None:
            return
        name = self._key(name_node) if name_node.type == "computed_property_name" else self.key_text(name_node)
        words = {
            child.type if child.type != "accessibility_modifier" else self.text(child)
            for child in node.children
            if not _is_part(child)
        }
        static = "static" in words
        kind = "constructor" if name == "constructor" and not static else "method"
        this = self.make("d", cls.order) if static else self.make("T", cls.order)
        if node.type == "method_definition":
            saved_static = self.frame.static
            self.frame.static = static
            definition = self.function_definition(node, node, name, name_node, kind, ABSENT, this)
            self.frame.static = saved_static
        else:
            definition = self.signature_definition(node, name, name_node, kind)
            if node.type == "method_signature" and not self.ambient:
                definition.flags |= bits.OVERLOAD
        definition.flags |= bits.of_words(words)
        if name.startswith("#"):
            definition.flags |= bits.PRIVATE
        if "get" in words or "set" in words:
            definition.flags |= bits.PROPERTY
        self._decorate(definition, node, decorators)
        entry = ("set", definition.order) if "set" in words else ("d", definition.order)
        if name:
            cls.members.setdefault(f"static {name}" if static else name, []).append(entry)

    def _decorate(self, definition: Definition, node: Node, decorators: list[Node]) -> None:
        own = [child for child in node.named_children if child.type == "decorator"]
        for decorator in (*decorators, *own):
            self.decorator(decorator, definition)
        if decorators:
            definition.start = min(definition.start, decorators[0].start_byte)

    def decorator(self, node: Node, decorated: Definition | None) -> None:
        """A decorator: its function decorates the definition; its arguments are read as usual."""
        inner = node.named_children[0] if node.named_children else None
        if inner is None:
            return
        symbol = self.frame.symbol
        if inner.type == "call_expression":
            function = inner.child_by_field_name("function")
            arguments = inner.child_by_field_name("arguments")
            value = self._decorator_function(function) if function is not None else ABSENT
            for child in arguments.named_children if arguments is not None else ():
                self.expression(child)
            name, place = self._called_name(function) if function is not None else ("", inner)
        else:
            value = self._decorator_function(inner)
            name, place = self._called_name(inner)
        if decorated is not None:
            self.frame.symbol = decorated
            decorated.decorators.append(inner)
        self.refer("e", value, place, name)
        self.frame.symbol = symbol

    def _decorator_function(self, node: Node) -> int:
        return self.look_up(self.text(node)) if node.type == "identifier" else self.expression(node)

    def signature_definition(self, node: Node, name: str, name_node: Node | None, kind: str) -> Definition:
        """A function without a body: overload, abstract or ambient."""
        definition = self.define(name, kind, node, name_node)
        saved = dict(self.frame.types)
        definition.tparams = self.type_parameters(node.child_by_field_name("type_parameters"), definition.order)
        for parameter, annotation, flags in self.signature_parameters(node.child_by_field_name("parameters")):
            value = self.make("n", annotation) if annotation >= 0 else ABSENT
            definition.params.append([parameter, value, ABSENT, flags])
        definition.ret = self.declared(node.child_by_field_name("return_type"))
        definition.returns = 1
        self.frame.types = saved
        if self.ambient:
            definition.flags |= bits.DECLARATION
        return definition

    def _field(self, cls: Definition, node: Node, decorators: list[Node]) -> None:
        name_node = node.child_by_field_name("name") or node.child_by_field_name("property")
        if name_node is None:
            return
        name = self.key_text(name_node)
        words = {
            child.type if child.type != "accessibility_modifier" else self.text(child)
            for child in node.children
            if not _is_part(child)
        }
        static = "static" in words
        annotation = self.declared(node.child_by_field_name("type"))
        value_node = node.child_by_field_name("value")
        key = f"static {name}" if static else name
        saved_this = self.frame.this
        if static:
            self.frame.this = self.make("d", cls.order)
        if value_node is not None and value_node.type in FUNCTIONS and name:
            definition = self.function_definition(node, value_node, name, name_node, "method", annotation, self.frame.this)
            entry: tuple[Any, ...] = ("d", definition.order)
        else:
            definition = self.define(name, "property", node, name_node)
            value = self.expect(value_node, annotation) if value_node is not None else ABSENT
            if value_node is not None:
                definition.head_end = value_node.start_byte
            entry = ("v", self.declared_value(annotation, value), definition.order)
        self.frame.this = saved_this
        definition.flags |= bits.of_words(words)
        if name.startswith("#"):
            definition.flags |= bits.PRIVATE
        self._decorate(definition, node, decorators)
        if name:
            cls.members.setdefault(key, []).append(entry)

    def declared_value(self, annotation: int, value: int) -> int:
        """What a variable holds that has a written type and a first value."""
        if annotation < 0 or value < 0 or self.exprs[value][0] in ("l", "s"):
            return annotation if annotation >= 0 else value
        return self.make("A", annotation, value)

    # Interfaces, enums, aliases

    def interface_definition(self, whole: Node, node: Node) -> Definition | None:
        name_node = node.child_by_field_name("name")
        if name_node is None:
            return None
        definition = self.define(self.text(name_node), "interface", whole, name_node)
        definition.node = node
        frame = Frame(self.frame, definition)
        frame.cls, frame.exposes = definition, True
        saved = self.frame
        self.frame = frame
        frame.types[definition.name] = self.make("d", definition.order)
        definition.tparams = self.type_parameters(node.child_by_field_name("type_parameters"), definition.order)
        for child in node.named_children:
            if child.type == "extends_type_clause":
                definition.bases.extend(self.annotation(one) for one in child.named_children if one.type != "comment")
        body = node.child_by_field_name("body")
        if body is not None:
            definition.head_end = body.start_byte
            for child in body.named_children:
                self._interface_member(definition, child)
        self.frame = saved
        return definition

    def _interface_member(self, owner: Definition, node: Node) -> None:
        kind = node.type
        name_node = node.child_by_field_name("name")
        members = owner.members
        if kind == "property_signature" and name_node is not None:
            definition = self.define(self.key_text(name_node), "property", node, name_node)
            words = {child.type for child in node.children}
            definition.flags |= bits.of_words(words)
            members.setdefault(definition.name, []).append(
                ("v", self.declared(node.child_by_field_name("type")), definition.order)
            )
        elif kind == "method_signature" and name_node is not None:
            definition = self.signature_definition(node, self.key_text(name_node), name_node, "method")
            words = {child.type for child in node.children}
            definition.flags |= bits.ABSTRACT | bits.of_words(words)
            if "get" in words or "set" in words:
                definition.flags |= bits.PROPERTY
            members.setdefault(definition.name, []).append(("set" if "set" in words else "d", definition.order))
        elif kind == "call_signature":
            members.setdefault("()", []).append(("v", self.make("n", self._signature(node, "tf")), None))
        elif kind == "construct_signature":
            members.setdefault("new()", []).append(("v", self.make("n", self._signature(node, "tn")), None))
        elif kind == "index_signature":
            members.setdefault("[]", []).append(("v", self.declared(node.child_by_field_name("type")), None))

    def alias_definition(self, whole: Node, node: Node) -> Definition | None:
        name_node, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name_node is None:
            return None
        definition = self.define(self.text(name_node), "type_alias", whole, name_node)
        definition.node = node
        if value is not None:
            definition.head_end = value.end_byte
        saved, saved_symbol = dict(self.frame.types), self.frame.symbol
        self.frame.symbol = definition
        definition.tparams = self.type_parameters(node.child_by_field_name("type_parameters"), definition.order)
        definition.type = self.annotation(value) if value is not None else ABSENT
        self.frame.types, self.frame.symbol = saved, saved_symbol
        return definition

    def enum_definition(self, whole: Node, node: Node) -> Definition | None:
        name_node, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name_node is None:
            return None
        definition = self.define(self.text(name_node), "enum", whole, name_node)
        definition.node = node
        if body is not None:
            definition.head_end = body.start_byte
        saved = self.frame.symbol
        self.frame.symbol = definition
        for child in body.named_children if body is not None else ():
            key = child.child_by_field_name("name") if child.type == "enum_assignment" else child
            if key is None or child.type == "comment":
                continue
            member = self.define(self.key_text(key), "enum_member", child, key)
            value = child.child_by_field_name("value")
            if value is not None:
                self.expression(value)
            definition.members.setdefault(member.name, []).append(
                ("v", self.make("n", self.make("td", definition.order, ())), member.order)
            )
        self.frame.symbol = saved
        return definition


_PARTS = frozenset({"formal_parameters", "statement_block", "type_annotation", "type_parameters", "decorator"})


def _is_part(node: Node) -> bool:
    return node.type in _PARTS
