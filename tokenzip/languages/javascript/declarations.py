"""Functions, classes, objects, interfaces: the definitions of a file and their members."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.javascript.expressions import FUNCTIONS, Expressions
from tokenzip.languages.javascript.scopes import ABSENT, MAX_DEPTH, Definition, Frame, Lambda
from tokenzip.languages.syntax import Node

REST, OPTIONAL, PATTERN = 1, 2, 4
_MAX_PROPERTIES = 64
"""Plain properties of one object that become symbols; a larger object is a table of data."""
_OBJECT_DEPTH = 3
_FUNCTION_DEPTH = 3
"""How much a function or class counts as nesting: it takes more calls than an expression."""
_CONTAINERS = frozenset({"class", "interface", "enum", "namespace"})


class Declarations(Expressions):
    """Makes definitions. Bodies are walked at the end of the block around them, when all its names are known."""

    # Functions

    def function_value(self, node: Node, context: int) -> int:
        """A function expression: a definition if it has a name of its own."""
        name = node.child_by_field_name("name")
        if name is not None:
            definition = self.function_definition(node, node, self.text(name), name, "function", context)
            definition.hidden = True  # its name is known inside it only
            return self.make("d", definition.order)
        lam = Lambda(self._function_flags(node), context)
        self.lambdas.append(lam)
        number = len(self.lambdas) - 1
        frame = Frame(self.frame, self.frame.symbol)
        frame.function = lam
        if node.type != "arrow_function":
            frame.this = self.make("kt", context) if context >= 0 else ABSENT
        self._queue_body(node, frame, lam, number)
        return self.make("L", number)

    def function_definition(
        self,
        whole: Node,
        node: Node,
        name: str,
        name_node: Node | None,
        kind: str,
        context: int = ABSENT,
        this: int | None = None,
    ) -> Definition:
        """A named function; `whole` is what its symbol spans, `node` the function itself."""
        definition = self.define(name, kind, whole, name_node)
        definition.node = node
        body = node.child_by_field_name("body")
        if body is not None:
            definition.head_end = body.start_byte
        definition.flags |= self._function_flags(node)
        definition.context = context
        if self.ambient:
            definition.flags |= bits.DECLARATION
        frame = Frame(self.frame, definition)
        frame.function = definition
        if node.type == "arrow_function":
            definition.this = ABSENT
        elif this is not None:
            frame.this = definition.this = this
        else:
            frame.this = definition.this = self.make("T", definition.order)
        own = node.child_by_field_name("name") if node.type in FUNCTIONS else None
        if own is not None:
            frame.env[self.text(own)] = self.make("d", definition.order)
        if not name:
            definition.hidden = True
        self._queue_body(node, frame, definition, definition.order)
        return definition

    def _function_flags(self, node: Node) -> int:
        flags = 0
        for child in node.children:
            kind = child.type
            if kind == "async":
                flags |= bits.ASYNC
            elif kind == "*":
                flags |= bits.GENERATOR
            elif child.is_named:
                if kind in ("formal_parameters", "statement_block"):
                    break
        return flags

    def _queue_body(self, node: Node, frame: Frame, function: Definition | Lambda, number: int) -> None:
        self.pending.append(lambda: self._walk_function(node, frame, function, number))

    def _walk_function(self, node: Node, frame: Frame, function: Definition | Lambda, number: int) -> None:
        if self.depth > MAX_DEPTH:
            self.too_deep = self.too_deep or node.start_point[0] + 1
            return
        saved, saved_ambient = self.frame, self.ambient
        self.frame, self.ambient = frame, False
        self.depth += _FUNCTION_DEPTH
        named = isinstance(function, Definition)
        owner = number if named else -1
        function.tparams = self.type_parameters(node.child_by_field_name("type_parameters"), owner)
        self._parameters(node, frame, function, "p" if named else "P", number)
        written = node.child_by_field_name("return_type")
        expected = ABSENT
        if written is not None:
            function.returns = 1
            function.ret = expected = self.declared(written)
        elif function.context >= 0:
            expected = self.make("kr", function.context)
        if expected >= 0 and function.flags & bits.ASYNC:
            expected = self.make("w", expected)
        frame.context = expected
        body = node.child_by_field_name("body")
        if body is not None:
            self._walk_body(body, frame, function, expected)
        self.depth -= _FUNCTION_DEPTH
        self.frame, self.ambient = saved, saved_ambient

    def _walk_body(self, body: Node, frame: Frame, function: Definition | Lambda, expected: int) -> None:
        if body.type == "statement_block":
            self.function_block(body)
        else:
            saved, self.pending = self.pending, []
            frame.returns.append(self.expect(body, expected))
            self.run_pending()
            self.pending = saved
        if function.returns:
            return
        if function.flags & bits.GENERATOR:
            function.ret = self.make("G", self.union(frame.yields))
        elif ABSENT in frame.returns and len(frame.returns) > 1:
            function.ret = self.union([value for value in frame.returns if value >= 0])
        else:
            function.ret = self.union(frame.returns)

    def function_block(self, body: Node) -> None:
        raise NotImplementedError

    def run_pending(self) -> None:
        """Walks the functions that the block created; they may create more."""
        position = 0
        while position < len(self.pending):
            self.pending[position]()
            position += 1

    def _parameters(self, node: Node, frame: Frame, function: Definition | Lambda, op: str, number: int) -> None:
        single = node.child_by_field_name("parameter")
        if single is not None:
            name = self.text(single)
            function.params.append([name, ABSENT, ABSENT, 0])
            self._bind_parameter(frame, name, self.make(op, number, 0))
            return
        parameters = node.child_by_field_name("parameters")
        for child in parameters.named_children if parameters is not None else ():
            kind = child.type
            if kind in ("required_parameter", "optional_parameter"):
                self._typed_parameter(child, frame, function, op, number)
            elif kind != "comment" and kind != "ERROR":
                self._parameter(child, None, None, 0, frame, function, op, number)

    def _typed_parameter(self, node: Node, frame: Frame, function: Definition | Lambda, op: str, number: int) -> None:
        pattern, written = node.child_by_field_name("pattern"), node.child_by_field_name("type")
        default = node.child_by_field_name("value")
        for child in node.named_children:
            if child.type == "decorator":
                self.decorator(child, None)
        if pattern is None:
            return
        if pattern.type == "this":
            frame.this = function.this = self.declared(written)
            return
        flags = OPTIONAL if node.type == "optional_parameter" else 0
        value = self._parameter(pattern, written, default, flags, frame, function, op, number)
        if isinstance(function, Definition) and function.kind == "constructor":
            self._parameter_property(node, pattern, value, function)

    def _parameter_property(self, node: Node, pattern: Node, value: int, constructor: Definition) -> None:
        modifiers = {self.text(child) for child in node.children if child.type in _MODIFIERS}
        cls = constructor.parent
        if not modifiers or pattern.type != "identifier" or cls is None:
            return
        saved = self.frame.symbol
        self.frame.symbol = cls
        definition = self.define(self.text(pattern), "property", node, pattern)
        self.frame.symbol = saved
        definition.flags = _modifier_flags(modifiers) | (cls.flags & bits.LOCAL)
        cls.members.setdefault(definition.name, []).append(("v", value, definition.order))

    def _parameter(
        self, pattern: Node, written: Node | None, default: Node | None, flags: int, frame: Frame, function: Definition | Lambda,
        op: str, number: int,
    ) -> int:  # fmt: skip
        if pattern.type == "assignment_pattern":
            default = pattern.child_by_field_name("right")
            inner = pattern.child_by_field_name("left")
            if inner is None:
                return ABSENT
            pattern = inner
        if pattern.type == "rest_pattern":
            flags |= REST
            if not pattern.named_children:
                return ABSENT
            pattern = pattern.named_children[0]
        position = len(function.params)
        annotation = self.declared(written)
        given = self.expect(default, annotation) if default is not None else ABSENT
        if default is not None:
            flags |= OPTIONAL
        name = self.text(pattern) if pattern.type == "identifier" else ""
        if not name:
            flags |= PATTERN
        function.params.append([name, annotation, given, flags])
        value = annotation if annotation >= 0 else self.make(op, number, position)
        if name:
            self._bind_parameter(frame, name, value)
            if annotation >= 0:
                frame.types.setdefault("\0" + name, annotation)
        else:
            self.bind(pattern, value, declare=True)
        return value

    def _bind_parameter(self, frame: Frame, name: str, value: int) -> None:
        self.set_in(frame, name, value)

    def bind(self, pattern: Node, value: int, declare: bool) -> None:
        raise NotImplementedError

    # Objects

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

    # Classes

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
        self.depth += _FUNCTION_DEPTH
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
        self.depth -= _FUNCTION_DEPTH
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
        definition.flags |= _modifier_flags(words)
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
        definition.flags |= _modifier_flags(words)
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
            definition.flags |= _modifier_flags(words)
            members.setdefault(definition.name, []).append(
                ("v", self.declared(node.child_by_field_name("type")), definition.order)
            )
        elif kind == "method_signature" and name_node is not None:
            definition = self.signature_definition(node, self.key_text(name_node), name_node, "method")
            words = {child.type for child in node.children}
            definition.flags |= bits.ABSTRACT | _modifier_flags(words)
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


_MODIFIERS = frozenset({"accessibility_modifier", "readonly", "override_modifier"})
_PARTS = frozenset({"formal_parameters", "statement_block", "type_annotation", "type_parameters", "decorator"})


def _is_part(node: Node) -> bool:
    return node.type in _PARTS


_FLAG_OF = {
    "static": bits.STATIC, "private": bits.PRIVATE, "protected": bits.PROTECTED, "readonly": bits.READONLY,
    "abstract": bits.ABSTRACT, "async": bits.ASYNC, "*": bits.GENERATOR, "?": bits.OPTIONAL, "declare": bits.DECLARATION,
}  # fmt: skip


def _modifier_flags(words: set[str]) -> int:
    flags = 0
    for word in words:
        flags |= _FLAG_OF.get(word, 0)
    return flags


def _holds_function(node: Node) -> bool:
    if node.type == "method_definition":
        return True
    if node.type != "pair":
        return False
    value = node.child_by_field_name("value")
    return value is not None and value.type in FUNCTIONS
