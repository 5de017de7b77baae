"""Functions: definitions and lambdas, their parameters and bodies."""

from __future__ import annotations

from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.javascript.expressions import FUNCTIONS, Expressions
from tokenzip.languages.javascript.scopes import ABSENT, MAX_DEPTH, Definition, Frame, Lambda
from tokenzip.languages.syntax import Node

REST, OPTIONAL, PATTERN = 1, 2, 4
FUNCTION_DEPTH = 3
"""How much a function or class counts as nesting: it takes more calls than an expression."""
_MODIFIERS = frozenset({"accessibility_modifier", "readonly", "override_modifier"})


class Functions(Expressions):
    """Makes functions. Bodies are walked at the end of the block around them, when all its names are known."""

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
            elif kind in ("formal_parameters", "statement_block"):
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
        self.depth += FUNCTION_DEPTH
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
        self.depth -= FUNCTION_DEPTH
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
            elif kind not in ("comment", "ERROR"):
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
        definition.flags = bits.of_words(modifiers) | (cls.flags & bits.LOCAL)
        cls.members.setdefault(definition.name, []).append(("v", value, definition.order))

    def _parameter(
        self, pattern: Node, written: Node | None, default: Node | None, flags: int, frame: Frame,
        function: Definition | Lambda, op: str, number: int,
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

    def decorator(self, node: Node, decorated: Definition | None) -> None:
        raise NotImplementedError

    def bind(self, pattern: Node, value: int, declare: bool) -> None:
        raise NotImplementedError
