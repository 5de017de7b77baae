"""What conditions say about names."""

from __future__ import annotations

from tokenzip.languages.javascript.assignments import Assignments
from tokenzip.languages.javascript.scopes import ABSENT
from tokenzip.languages.syntax import Node


class Narrowing(Assignments):
    """Reads conditions."""

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
