"""Values, as closed expressions; the calls and uses that are met on the way are noted."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tokenzip.languages.javascript.annotations import Annotations
from tokenzip.languages.javascript.scopes import ABSENT, MAX_DEPTH, Definition
from tokenzip.languages.syntax import Node

_MAX_ARGUMENTS = 8
_MAX_ELEMENTS = 8
_LINKS = frozenset({"member_expression", "call_expression", "subscript_expression", "non_null_expression"})
FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function", "function"})
_TRANSPARENT = frozenset({"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"})


class Expressions(Annotations):
    """Reads expressions. `expression` gives the index of the closed expression, ABSENT when nothing is known."""

    def expression(self, node: Node) -> int:
        kind = node.type
        leaf = LEAVES.get(kind)
        if leaf is not None:
            return leaf(self, node)
        reader = READERS.get(kind)
        if reader is None:
            if node.named_child_count:
                return self._others(node)
            return ABSENT
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.too_deep = self.too_deep or node.start_point[0] + 1
            self.depth -= 1
            return ABSENT
        found = reader(self, node)
        self.depth -= 1
        return found

    def _others(self, node: Node) -> int:
        for child in node.named_children:
            self.expression(child)
        return ABSENT

    def expect(self, node: Node, context: int) -> int:
        """A value in a place whose type is known: functions and objects take their parameters' types from there."""
        kind = node.type
        if kind in FUNCTIONS:
            return self.function_value(node, context)
        if context >= 0:
            if kind == "object":
                return self.object_value(node, None, context)
            if kind == "array":
                return self._array_literal(node, self.make("ke", context))
            if kind == "parenthesized_expression" and node.named_child_count == 1:
                return self.expect(node.named_children[0], context)
            if kind == "ternary_expression":
                return self._ternary(node, context)
        return self.expression(node)

    # Names and members

    def _identifier(self, node: Node) -> int:
        name = self.text(node)
        if name == "undefined":
            return self.make("l", "undefined")
        value = self.look_up(name)
        if value >= 0 and self.exprs[value][0] in ("g", "d"):
            self.refer("r", value, node, name, once=True)
        return value

    def this_value(self, _node: Node) -> int:
        return self.frame.this

    def _chain(self, node: Node) -> int:
        """``a.b().c[d]!.e``: read from the inside without recursion, because fluent chains grow long."""
        links: list[tuple[str, Node]] = []
        kind = node.type
        while kind in _LINKS:
            links.append((kind, node))
            children = node.children
            if not children:
                return ABSENT
            node = children[0]
            kind = node.type
        name, place = "", node
        if kind == "identifier":
            name = self.text(node)
            special = self._special(links, name) if name in _SPECIAL else None
            if special is not None:
                value, done = special
                del links[-done:]
            else:
                value = self.look_up(name)
                if links[-1][0] != "call_expression" and value >= 0 and self.exprs[value][0] in ("g", "d"):
                    self.refer("r", value, node, name, once=True)
        elif kind == "this":
            value = self.frame.this
        elif kind == "import":
            specifier = self.import_call(links[-1][1])
            value = self.make("w'", self.make("m", specifier)) if specifier is not None else ABSENT
            links.pop()
        elif kind in FUNCTIONS and links[-1][0] == "call_expression":
            value = self.function_value(node, ABSENT)
        elif kind == "super":
            name = "super"
            value = ABSENT if self.frame.cls is None else self.make("y", self.frame.cls.order, int(self.frame.static))
        else:
            value = self.expression(node)
            name, place = self._called_name(node)
        while links:
            kind, link = links.pop()
            if kind == "member_expression":
                place = link.children[-1]
                name = self.text(place)
                value = self._member(link, value, bool(links) and links[-1][0] == "call_expression", name, place)
            elif kind == "call_expression":
                if name in _INDIRECT and value >= 0 and self.exprs[value][0] == "a":
                    value = self._indirect_call(link, value, name, node)
                else:
                    self.refer("c", value, place, name)
                    called = value
                    value = self._finish_call("c", link, value)
                    if name == "slice" and value >= 0 and self.exprs[called][0] == "a":
                        value = self._sliced(link, value, self.exprs[called][1])
                name, place = "", link
            elif kind == "subscript_expression":
                value = self._subscript(link, value)
                name, place = "", link
            node = link
        return value

    def _special(self, links: list[tuple[str, Node]], name: str) -> tuple[int, int] | None:
        """What a call of a well-known global means: (value, links used)."""
        if self.look_up(name) != self.make("g", name):
            return None
        if name == "require":
            if links[-1][0] == "call_expression":
                specifier = self.import_call(links[-1][1], require=True)
                if specifier is not None:
                    return self.make("R", specifier), 1
            return None
        if len(links) > 1 and links[-1][0] == "member_expression" and links[-2][0] == "call_expression":
            return self._object_function([links[-1][1], links[-2][1]])
        return None

    def _object_function(self, links: list[Node]) -> tuple[int, int] | None:
        """``Object.assign`` and its like: the target gets the members of the others."""
        property_node, arguments = links[0].child_by_field_name("property"), links[1].child_by_field_name("arguments")
        if property_node is None or arguments is None:
            return None
        name = self.text(property_node)
        nodes = [child for child in arguments.named_children if child.type != "comment"]
        if name == "assign" and nodes:
            values = [self.expression(nodes[0])]
            target = self.target_of(values[0])
            values.extend(self.assigned_object(target, node) for node in nodes[1:])
            if target is not None:
                target.assigned.extend(value for value in values[1:] if value >= 0)
                return values[0], 2
            return self.make("o", (), tuple(value for value in reversed(values) if value >= 0)), 2
        if name == "create" and nodes:
            values = [self.expression(node) for node in nodes]
            owner = self.define("{}", "object", links[1], hidden=True)  # what is assigned to it later is its own
            if values[0] >= 0:
                owner.spreads.append(values[0])
            return self.make("d", owner.order), 2
        if name in ("freeze", "seal", "preventExtensions") and nodes:
            value = self.expression(nodes[0])
            for node in nodes[1:]:
                self.expression(node)
            return value, 2
        if name == "setPrototypeOf" and len(nodes) == 2:
            values = [self.expression(node) for node in nodes]
            target = self.target_of(values[0])
            if target is not None and values[1] >= 0:
                target.spreads.append(values[1])
            return values[0], 2
        if name in ("defineProperty", "defineProperties"):
            return self._define_property(name, nodes)
        return None

    def _define_property(self, name: str, nodes: list[Node]) -> tuple[int, int] | None:
        if name == "defineProperty" and len(nodes) == 3 and nodes[1].type == "string":
            base = self.expression(nodes[0])
            self._describe_property(base, self.text(nodes[1])[1:-1], nodes[2])
            return base, 2
        if name == "defineProperties" and len(nodes) == 2 and nodes[1].type == "object":
            base = self.expression(nodes[0])
            for pair in nodes[1].named_children:
                key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
                if key is not None and value is not None:
                    self._describe_property(base, self.key_text(key), value)
            return base, 2
        return None

    def _describe_property(self, base: int, name: str, node: Node) -> None:
        target = self.target_of(base)
        if node.type != "object" or target is None or not name:
            self.expression(node)
            return
        for child in node.named_children:
            key = child.child_by_field_name("key") or child.child_by_field_name("name")
            which = self.key_text(key) if key is not None else ""
            if which in ("get", "value", "set") and child.type in ("pair", "method_definition"):
                self.described_member(target, name, which, child, base)
            else:
                self.expression(child)

    def described_member(self, target: Definition, name: str, which: str, node: Node, this: int) -> None:
        """A member from a property descriptor."""
        raise NotImplementedError

    def _member(self, node: Node, base: int, callee: bool, name: str, name_node: Node) -> int:
        if self.frame.dotted:
            key = self.dotted_key(node)
            known = self.frame.env.get(key) if key else None
            if known is not None:
                return known
        if name == "exports" and base >= 0 and self.exprs[base] == ("g", "module") and "module" not in self.names:
            return self.make("g", "exports")
        value = self.make("a", base, name)
        if not callee and base >= 0:
            self.refer("m", value, name_node, name, once=True)
        return value

    def dotted_key(self, node: Node) -> str:
        """``a.b.c`` for a chain of plain members (also ``a['b']``, ``a[0]``) of a name or this; empty otherwise."""
        parts: list[str] = []
        while node.type in ("member_expression", "subscript_expression") and len(parts) < 4:
            inner = node.child_by_field_name("object")
            name = node.child_by_field_name("property") or node.child_by_field_name("index")
            if inner is None or name is None:
                return ""
            if node.type == "subscript_expression":
                if name.type == "string":
                    parts.append(self.text(name)[1:-1])
                elif name.type == "number":
                    parts.append(self.text(name))
                else:
                    return ""
            else:
                parts.append(self.text(name))
            node = inner
        if node.type in ("identifier", "this"):
            parts.append(self.text(node))
            return ".".join(reversed(parts))
        return ""

    def _subscript(self, node: Node, base: int) -> int:
        index = node.child_by_field_name("index")
        if index is None:
            return ABSENT
        if self.frame.dotted:
            key_text = self.dotted_key(node)
            known = self.frame.env.get(key_text) if key_text else None
            if known is not None:
                return known
        if index.type == "string":
            return self.make("a", base, self.text(index)[1:-1])
        if index.type == "number" and base >= 0:
            written = self.text(index)
            if written.isdigit():
                return self.make("q", base, int(written))
        key = self.expression(index)
        if key >= 0 and self.exprs[key][0] == "s":
            return self.make("a", base, self.exprs[key][1])
        if base < 0:
            return ABSENT
        return self.make("xk", base, key) if key >= 0 and self.exprs[key][0] in _KEYS else self.make("x", base)

    # Calls

    def _called_name(self, node: Node) -> tuple[str, Node]:
        """The last component of what is called, and where it is written."""
        while node.type in _TRANSPARENT and node.named_child_count:
            node = node.named_children[0]
        if node.type == "member_expression":
            last = node.child_by_field_name("property")
            if last is not None:
                return self.text(last), last
        if node.type in ("identifier", "super"):
            return self.text(node), node
        return "", node

    def _finish_call(self, op: str, node: Node, callee: int) -> int:
        """Reads the arguments; functions among them take their parameters' types from the callee's."""
        children = node.children
        arguments = children[-1]
        types: tuple[int, ...] = ()
        if len(children) > 2:
            for child in children:
                if child.type == "type_arguments":
                    types = tuple([self.annotation(one) for one in child.named_children])
        if arguments.type != "arguments":
            if arguments.type == "template_string":
                self.expression(arguments)
            return self.make(op, callee, (), types) if callee >= 0 else ABSENT
        if callee < 0:
            for child in arguments.named_children:
                self.expression(child)
            return ABSENT
        call = len(self.exprs)
        self.exprs.append((op, callee, (), types))  # filled in below: the place of an argument names its call
        values: list[int] = []
        for child in arguments.named_children:
            kind = child.type
            if kind in _PLACED:
                values.append(self.expect(child, self.make("cx", call, len(values))))
            elif kind == "spread_element":
                spread = self.expression(child.named_children[0]) if child.named_children else ABSENT
                values.append(self.make("sp", spread) if spread >= 0 else ABSENT)
            elif kind != "comment":
                values.append(self.expression(child))
        self.exprs[call] = (op, callee, tuple(values[:_MAX_ARGUMENTS]), types)
        self.note_flow(callee, values)
        return call

    def note_flow(self, callee: int, values: list[int]) -> None:
        """What a call in this file passes to the parameters of a function of this file."""
        raise NotImplementedError

    def _sliced(self, node: Node, call: int, base: int) -> int:
        """``base.slice(1, -1)``: of an array that is known, these elements."""
        arguments = node.child_by_field_name("arguments")
        nodes = [child for child in arguments.named_children if child.type != "comment"] if arguments is not None else []
        bounds = [self.text(child) for child in nodes]
        if not 1 <= len(bounds) <= 2 or any(_BOUND.fullmatch(bound) is None for bound in bounds):
            return call
        return self.make("sl", call, base, *[int(bound) for bound in bounds])

    def _indirect_call(self, node: Node, callee: int, name: str, inner: Node) -> int:
        """``f.call(this, a)``, ``f.apply(this, as)`` call f; ``f.bind(this)`` is f."""
        function = self.exprs[callee][1]
        target = inner.child_by_field_name("object")
        written, place = self._called_name(target) if target is not None else ("", node)
        arguments = node.child_by_field_name("arguments")
        nodes = [child for child in arguments.named_children if child.type != "comment"] if arguments is not None else []
        values = [self.expression(child) for child in nodes]
        if name == "bind":
            return function if len(values) < 2 else self.make("b", function, len(values) - 1)
        self.refer("c", function if function >= 0 else callee, place, written or name)
        if function < 0:
            return ABSENT
        passed = tuple(values[1 : 1 + _MAX_ARGUMENTS]) if name == "call" else ()
        self.note_flow(function, list(passed))
        return self.make("c", function, passed, ())

    def _new(self, node: Node) -> int:
        constructor = node.child_by_field_name("constructor")
        if constructor is None:
            return self._others(node)
        if constructor.type == "identifier":
            callee = self.look_up(self.text(constructor))
        else:
            callee = self.expression(constructor)
        name, place = self._called_name(constructor)
        self.refer("n", callee, place, name)
        return self._finish_call("N", node, callee)

    # Operators

    def _parenthesized(self, node: Node) -> int:
        found = ABSENT
        for child in node.named_children:
            if child.type != "comment":
                found = self.expression(child)
        return found

    def _sequence(self, node: Node) -> int:
        parts: list[Node] = []
        pending = [node]
        while pending:
            one = pending.pop()
            if one.type == "sequence_expression":
                pending.extend(reversed(one.named_children))
            else:
                parts.append(one)
        found = ABSENT
        for part in parts:
            found = self.expression(part)
        return found

    def _binary(self, node: Node) -> int:
        """Long sums and conditions nest to the left: read from the inside without recursion."""
        chain: list[Node] = []
        while node.type == "binary_expression":
            chain.append(node)
            left = node.child_by_field_name("left")
            if left is None:
                return ABSENT
            node = left
        value = self.expression(node)
        while chain:
            one = chain.pop()
            value = self._operate(one, value)
        return value

    def _operate(self, node: Node, left: int) -> int:
        operator, right = node.child_by_field_name("operator"), node.child_by_field_name("right")
        if operator is None or right is None:
            return ABSENT
        sign = operator.type
        if sign == "&&":
            saved = self.frame.env
            self.frame.env = dict(saved)
            first = node.child_by_field_name("left")
            if first is not None:
                self.narrow(first, False)
            value = self.expression(right)
            self.frame.env = self._kept(saved, self.frame.env)
            return value
        if sign in ("||", "??"):
            return self.union([left, self.expression(right)])
        value = self.expression(right)
        if sign == "+":
            string = self.make("l", "string")
            is_string = string in (left, value) or any(one >= 0 and self.exprs[one][0] == "s" for one in (left, value))
            return string if is_string else ABSENT
        if sign in ("-", "*", "/", "%", "**", "|", "&", "^", "<<", ">>", ">>>"):
            return self.make("l", "number")
        return self.make("l", "boolean")

    def _kept(self, before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
        """After a condition: what was assigned in it may hold, what was merely narrowed does not."""
        return before

    def narrow(self, node: Node, negated: bool) -> None:
        raise NotImplementedError

    def _ternary(self, node: Node, context: int = ABSENT) -> int:
        """Nested choices grow to the right: a loop over the alternatives."""
        values: list[int] = []
        saved = self.frame.env
        one: Node = node
        while True:
            condition = one.child_by_field_name("condition")
            yes, no = one.child_by_field_name("consequence"), one.child_by_field_name("alternative")
            if condition is None or yes is None or no is None:
                break
            self.expression(condition)
            before = self.frame.env
            self.frame.env = dict(before)
            self.narrow(condition, False)
            values.append(self.expect(yes, context))
            self.frame.env = dict(before)
            self.narrow(condition, True)
            if no.type != "ternary_expression":
                values.append(self.expect(no, context))
                break
            one = no
        self.frame.env = saved
        return self.union(values)

    def _unary(self, node: Node) -> int:
        self._others(node)
        operator = node.child_by_field_name("operator")
        sign = operator.type if operator is not None else ""
        return self.make(
            "l", {"typeof": "string", "!": "boolean", "delete": "boolean", "void": "undefined"}.get(sign, "number")
        )

    def _update(self, node: Node) -> int:
        argument = node.child_by_field_name("argument")
        if argument is not None:
            self.written(argument, self.make("l", "number"))
        return self.make("l", "number")

    def written(self, target: Node, value: int) -> None:
        """An assignment to a target that is also read (``+=``, ``++``)."""
        raise NotImplementedError

    def _await(self, node: Node) -> int:
        value = ABSENT
        for child in node.named_children:
            value = self.expression(child)
        if value >= 0 and self.exprs[value][0] == "w'":
            return int(self.exprs[value][1])
        return self.make("w", value) if value >= 0 else ABSENT

    def _yield(self, node: Node) -> int:
        value = ABSENT
        for child in node.named_children:
            value = self.expression(child)
        delegated = any(child.type == "*" for child in node.children)
        self.frame.yields.append(self.make("i", value) if delegated and value >= 0 else value)
        return ABSENT

    def _as(self, node: Node) -> int:
        parts = [child for child in node.named_children if child.type != "comment"]
        if not parts:
            return ABSENT
        if len(parts) == 1:  # as const
            return self.expression(parts[0])
        written = self.annotation(parts[1])
        value = self.expect(parts[0], self.make("n", written) if written >= 0 else ABSENT)
        if written < 0:
            return ABSENT if self.text(parts[1]) == "any" else value
        return self.make("n", written)

    def _satisfies(self, node: Node) -> int:
        parts = [child for child in node.named_children if child.type != "comment"]
        if len(parts) < 2:
            return self._others(node)
        written = self.annotation(parts[1])
        return self.expect(parts[0], self.make("n", written) if written >= 0 else ABSENT)

    def _assertion(self, node: Node) -> int:
        parts = [child for child in node.named_children if child.type != "comment"]
        if len(parts) < 2 or not parts[0].named_children:
            return self._others(node)
        written = self.annotation(parts[0].named_children[0])
        self.expression(parts[-1])
        return self.make("n", written) if written >= 0 else ABSENT

    # Literals

    def _string(self, node: Node) -> int:
        if node.end_byte - node.start_byte < 42:
            return self.make("s", self.text(node)[1:-1])
        return self.make("l", "string")

    def _template(self, node: Node) -> int:
        for child in node.named_children:
            if child.type == "template_substitution":
                self._others(child)
        return self.make("l", "string")

    def _number(self, _node: Node) -> int:
        return self.make("l", "number")

    def _boolean(self, _node: Node) -> int:
        return self.make("l", "boolean")

    def _null(self, _node: Node) -> int:
        return self.make("l", "null")

    def _regex(self, _node: Node) -> int:
        return self.make("l", "RegExp")

    def _array(self, node: Node) -> int:
        return self._array_literal(node, ABSENT)

    def _array_literal(self, node: Node, context: int) -> int:
        values: list[int] = []
        for child in node.named_children:
            if child.type == "comment":
                continue
            if child.type == "spread_element":
                value = self.expression(child.named_children[0]) if child.named_children else ABSENT
                values.append(self.make("sp", value) if value >= 0 else ABSENT)
            elif context >= 0:
                values.append(self.expect(child, context))
            else:
                values.append(self.expression(child))
        if len(values) > _MAX_ELEMENTS:
            return self.make("r", (self.union(values[:_MAX_ELEMENTS]),), 1)
        return self.make("r", tuple(values), 0)

    def _object(self, node: Node) -> int:
        return self.object_value(node, None, ABSENT)

    def object_value(self, node: Node, owner: Definition | None, context: int) -> int:
        raise NotImplementedError

    def _function(self, node: Node) -> int:
        return self.function_value(node, ABSENT)

    def function_value(self, node: Node, context: int) -> int:
        raise NotImplementedError

    def class_value(self, node: Node) -> int:
        raise NotImplementedError

    def assignment(self, node: Node) -> int:
        raise NotImplementedError

    def augmented(self, node: Node) -> int:
        raise NotImplementedError

    def assigned_object(self, target: Definition | None, node: Node) -> int:
        """An object whose members are given to a target; ABSENT if they were set there one by one."""
        raise NotImplementedError

    def target_of(self, value: int) -> Definition | None:
        """The definition of this file whose members an assignment through the value sets."""
        raise NotImplementedError

    # JSX

    def _jsx(self, node: Node) -> int:
        for child in node.named_children:
            kind = child.type
            if kind == "jsx_opening_element":
                self._jsx_tag(child)
            elif kind in ("jsx_text", "jsx_closing_element"):
                continue
            else:
                self.expression(child)
        return self.make("l", "JSX.Element")

    def _jsx_tag(self, node: Node) -> int:
        name = node.child_by_field_name("name")
        component = ABSENT
        if name is not None:
            written = self.text(name)
            if name.type == "identifier" and not written[:1].islower():
                component = self.look_up(written)
            elif name.type in ("member_expression", "nested_identifier"):
                component = self._jsx_member(name)
            if component >= 0:
                self.refer("j", component, name, written.rsplit(".", 1)[-1])
        for child in node.named_children:
            if child.type == "jsx_attribute":
                self._jsx_attribute(child, component)
            elif child.type == "jsx_expression":
                self._others(child)
        return self.make("l", "JSX.Element")

    def _jsx_attribute(self, node: Node, component: int) -> None:
        parts = node.named_children
        for child in parts[1:]:
            if child.type == "jsx_expression" and child.named_child_count == 1 and component >= 0:
                context = self.make("km", self.make("k", component, 0), self.text(parts[0]))
                self.expect(child.named_children[0], context)
            else:
                self.expression(child)

    def _jsx_member(self, node: Node) -> int:
        if node.type == "identifier":
            return self.look_up(self.text(node))
        base, name = node.child_by_field_name("object"), node.child_by_field_name("property")
        if base is None or name is None:
            return ABSENT
        if base.type == "this":
            return self.make("a", self.frame.this, self.text(name))
        return self.make("a", self._jsx_member(base), self.text(name))

    def _nothing(self, _node: Node) -> int:
        return ABSENT


_SPECIAL = frozenset({"require", "Object"})
_BOUND = re.compile(r"-?\d{1,3}")
_KEYS = frozenset({"g", "p", "a"})
"""Names, parameters and members may hold a string that is known."""
_INDIRECT = frozenset({"call", "apply", "bind"})
_PLACED = FUNCTIONS | {"object", "array", "parenthesized_expression", "ternary_expression"}
Reader = Callable[[Expressions, Node], int]
_E: Any = Expressions
LEAVES: dict[str, Reader] = {
    "identifier": _E._identifier, "this": _E.this_value, "string": _E._string, "number": _E._number, "true": _E._boolean,
    "false": _E._boolean, "null": _E._null, "undefined": _E._identifier, "regex": _E._regex, "comment": _E._nothing,
    "jsx_text": _E._nothing, "meta_property": _E._nothing, "type_arguments": _E._nothing,
    "shorthand_property_identifier": _E._identifier,
}  # fmt: skip
READERS: dict[str, Reader] = {
    "member_expression": _E._chain, "call_expression": _E._chain,
    "subscript_expression": _E._chain, "non_null_expression": _E._chain, "new_expression": _E._new,
    "parenthesized_expression": _E._parenthesized, "sequence_expression": _E._sequence, "binary_expression": _E._binary,
    "ternary_expression": _E._ternary, "unary_expression": _E._unary, "update_expression": _E._update,
    "await_expression": _E._await, "yield_expression": _E._yield, "as_expression": _E._as,
    "satisfies_expression": _E._satisfies,
    "type_assertion": _E._assertion, "template_string": _E._template,
    "array": _E._array, "object": _E._object, "arrow_function": _E._function, "function_expression": _E._function,
    "generator_function": _E._function, "function": _E._function,
    "class": lambda walk, node: walk.class_value(node), "assignment_expression": lambda walk, node: walk.assignment(node),
    "augmented_assignment_expression": lambda walk, node: walk.augmented(node),
    "jsx_element": _E._jsx, "jsx_fragment": _E._jsx, "jsx_self_closing_element": _E._jsx_tag,
}  # fmt: skip
