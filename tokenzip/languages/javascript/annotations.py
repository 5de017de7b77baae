"""Written types, as closed expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokenzip.languages.javascript.scopes import ABSENT, MAX_DEPTH, Expr, Frame, Tables
from tokenzip.languages.syntax import Node

_MAX_PARTS = 24
"""Parts kept of one union, tuple or object type."""
MAX_MEMBERS = 60


class Annotations(Tables):
    """Reads type syntax. Each reader gives the index of a type expression, ABSENT when the syntax says nothing to us."""

    def declared(self, node: Node | None) -> int:
        """A value of the type that an annotation writes (`: T`)."""
        if node is None:
            return ABSENT
        found = self.annotation(node)
        return self.make("n", found) if found >= 0 else ABSENT

    def annotation(self, node: Node) -> int:
        reader = TYPE_READERS.get(node.type)
        if reader is None:
            return ABSENT
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.too_deep = self.too_deep or node.start_point[0] + 1
            self.depth -= 1
            return ABSENT
        found = reader(self, node)
        self.depth -= 1
        return found

    def _inner(self, node: Node) -> int:
        for child in node.named_children:
            if child.type != "comment":
                return self.annotation(child)
        return ABSENT

    def _parts(self, node: Node) -> list[int]:
        return [self.annotation(child) for child in node.named_children if child.type != "comment"]

    def _reference(self, node: Node, arguments: tuple[int, ...] = ()) -> int:
        name = self.text(node)
        local = self.look_up_type(name)
        if local >= 0:
            parts = self.exprs[local]
            if parts[0] == "d":
                found = self.make("td", parts[1], arguments)
                self.refer("t", found, node, name, once=True)
                return found
            return local
        if not self.frame.is_module:
            return self._late_reference(node, name, arguments)
        found = self.make("tr", name, arguments)
        self.refer("t", found if not arguments else self.make("tr", name, ()), node, name, once=True)
        return found

    def _late_reference(self, node: Node, name: str, arguments: tuple[int, ...]) -> int:
        """A type that may be declared further down in the function or namespace: settled when the file has been read."""
        key = (id(self.frame), name, arguments)
        found = self.late_ids.get(key)
        if found is None:
            found = self.late_ids[key] = len(self.exprs)
            self.exprs.append(("tr", name, arguments))
            self.late.append((found, self.frame))
        self.refer("t", found, node, name, once=True)
        return found

    def settle_types(self) -> None:
        """Type names that turned out to be declared inside a function or namespace."""
        for index, frame in self.late:
            _, name, arguments = self.exprs[index]
            outer: Frame | None = frame
            while outer is not None and not outer.is_module:
                value = outer.types.get(name)
                if value is not None and self.exprs[value][0] == "d":
                    self.exprs[index] = ("td", self.exprs[value][1], arguments)
                    break
                outer = outer.outer

    def _qualified(self, node: Node, arguments: tuple[int, ...] = ()) -> int:
        base = node.child_by_field_name("module")
        name = node.child_by_field_name("name")
        if base is None or name is None:
            return ABSENT
        scope = self._namespace(base)
        found = self.make("tq", scope, self.text(name), arguments) if scope >= 0 else ABSENT
        self.refer("t", found, node, self.text(name), once=True)
        return found

    def _namespace(self, node: Node) -> int:
        """A value expression for the left side of ``A.B`` in a type."""
        if node.type in ("identifier", "type_identifier"):
            return self.look_up(self.text(node))
        if node.type in ("nested_identifier", "member_expression"):
            base, name = node.child_by_field_name("object"), node.child_by_field_name("property")
            if base is not None and name is not None:
                scope = self._namespace(base)
                return self.member(scope, self.text(name)) if scope >= 0 else ABSENT
        if node.type == "nested_type_identifier":
            base, name = node.child_by_field_name("module"), node.child_by_field_name("name")
            if base is not None and name is not None:
                scope = self._namespace(base)
                return self.member(scope, self.text(name)) if scope >= 0 else ABSENT
        return ABSENT

    def _generic(self, node: Node) -> int:
        name, arguments = node.child_by_field_name("name"), node.child_by_field_name("type_arguments")
        if name is None:
            return ABSENT
        parts = tuple(self._parts(arguments)) if arguments is not None else ()
        if name.type == "nested_type_identifier":
            return self._qualified(name, parts)
        if name.type == "member_expression":
            return self._imported(name, parts)
        return self._reference(name, parts)

    def _imported(self, node: Node, arguments: tuple[int, ...] = ()) -> int:
        """``import('./x').T``"""
        base, name = node.child_by_field_name("object"), node.child_by_field_name("property")
        if base is None or name is None:
            return ABSENT
        scope = ABSENT
        if base.type == "call_expression":
            specifier = self.import_call(base, type_only=True)
            scope = self.make("m", specifier) if specifier is not None else ABSENT
        if scope < 0:
            scope = self._namespace(base)
        return self.make("tq", scope, self.text(name), arguments) if scope >= 0 else ABSENT

    def import_call(self, node: Node, type_only: bool = False, require: bool = False) -> str | None:
        """The specifier of ``import('...')``; the import is noted."""
        raise NotImplementedError

    def _union(self, node: Node) -> int:
        return self._flat(node, "union_type", "tu")

    def _intersection(self, node: Node) -> int:
        return self._flat(node, "intersection_type", "ti")

    def _flat(self, node: Node, kind: str, op: str) -> int:
        """Unions nest to the left, one level for each part: read them without recursion."""
        parts: list[Node] = []
        pending = [node]
        while pending:
            one = pending.pop()
            if one.type == kind:
                pending.extend(reversed(one.named_children))
            elif one.type != "comment":
                parts.append(one)
        found: list[int] = []
        for part in parts:
            value = self.annotation(part)
            if value >= 0 and value not in found:
                found.append(value)
        found = found[:_MAX_PARTS]
        if len(found) == 1:
            return found[0]
        return self.make(op, tuple(found)) if found else ABSENT

    def _array(self, node: Node) -> int:
        return self.make("ta", self._inner(node))

    def _tuple(self, node: Node) -> int:
        parts: list[int] = []
        for child in node.named_children[:_MAX_PARTS]:
            if child.type in ("required_parameter", "optional_parameter"):
                name, written = child.child_by_field_name("name"), child.child_by_field_name("type")
                value = self.annotation(written) if written is not None else ABSENT
                if name is not None and name.type == "rest_pattern":
                    value = self.make("tR", value)
                parts.append(value)
            elif child.type == "rest_type":
                parts.append(self.make("tR", self._inner(child)))
            elif child.type == "optional_type":
                parts.append(self._inner(child))
            elif child.type != "comment":
                parts.append(self.annotation(child))
        return self.make("tt", tuple(parts))

    def type_parameters(self, node: Node | None, owner: int) -> list[tuple[str, int, int]]:
        """(name, constraint, default) of each, and the names bound in the current frame."""
        if node is None:
            return []
        children = [child for child in node.named_children if child.type == "type_parameter"]
        names = []
        for child in children:
            name = child.child_by_field_name("name")
            names.append(self.text(name) if name is not None else "")
        for name_text in names:
            self.frame.types[name_text] = self.make("V", owner, name_text)
        found = []
        for child, name_text in zip(children, names, strict=True):
            constraint, default = child.child_by_field_name("constraint"), child.child_by_field_name("value")
            found.append(
                (
                    name_text,
                    self._inner(constraint) if constraint is not None else ABSENT,
                    self._inner(default) if default is not None else ABSENT,
                )
            )
        return found

    def _function(self, node: Node) -> int:
        return self._signature(node, "tf")

    def _constructor(self, node: Node) -> int:
        return self._signature(node, "tn")

    def _signature(self, node: Node, op: str) -> int:
        saved = dict(self.frame.types)
        tparams = self.type_parameters(node.child_by_field_name("type_parameters"), -1)
        params = self.signature_parameters(node.child_by_field_name("parameters"))
        written = node.child_by_field_name("return_type") or node.child_by_field_name("type")
        ret = self.annotation(written) if written is not None else ABSENT
        self.frame.types = saved
        return self.make(op, tuple(params), ret, tuple(tparams))

    def signature_parameters(self, node: Node | None) -> list[tuple[str, int, int]]:
        """(name, type, flags) of each parameter but `this`."""
        params: list[tuple[str, int, int]] = []
        for child in node.named_children if node is not None else ():
            if child.type not in ("required_parameter", "optional_parameter"):
                continue
            pattern, written = child.child_by_field_name("pattern"), child.child_by_field_name("type")
            name = self.text(pattern) if pattern is not None and pattern.type == "identifier" else ""
            value = self.annotation(written) if written is not None else ABSENT
            flags = 2 if child.type == "optional_parameter" else 0
            if pattern is not None and pattern.type == "rest_pattern":
                flags |= 1
            if pattern is None or pattern.type != "this":
                params.append((name, value, flags))
        return params

    def _object(self, node: Node) -> int:
        members: list[Expr] = []
        for child in node.named_children[:MAX_MEMBERS]:
            kind = child.type
            if kind == "property_signature":
                written = child.child_by_field_name("type")
                members.append((self.property_name(child), self.annotation(written) if written is not None else ABSENT))
            elif kind == "method_signature":
                getter = any(one.type == "get" for one in child.children)
                signature = self._signature(child, "tf")
                members.append((self.property_name(child), self.exprs[signature][2] if getter else signature))
            elif kind == "call_signature":
                members.append(("()", self._signature(child, "tf")))
            elif kind == "construct_signature":
                members.append(("new()", self._signature(child, "tn")))
            elif kind == "index_signature":
                mapped = self._mapped(child)
                if mapped >= 0:
                    return mapped
                written = child.child_by_field_name("type")
                members.append(("[]", self.annotation(written) if written is not None else ABSENT))
        return self.make("to", tuple(members))

    def _mapped(self, node: Node) -> int:
        clause = next((child for child in node.named_children if child.type == "mapped_type_clause"), None)
        written = node.child_by_field_name("type")
        if clause is None:
            return ABSENT
        saved = dict(self.frame.types)
        name, keys = clause.child_by_field_name("name"), clause.child_by_field_name("type")
        key = self.annotation(keys) if keys is not None else ABSENT
        if name is not None:
            self.frame.types[self.text(name)] = self.make("V", -1, self.text(name))
        value = self.annotation(written) if written is not None else ABSENT
        self.frame.types = saved
        return self.make("tm", value, key)

    def property_name(self, node: Node) -> str:
        name = node.child_by_field_name("name") or node.child_by_field_name("property")
        return self.key_text(name) if name is not None else ""

    def key_text(self, node: Node) -> str:
        """The name that a property key stands for; empty if it is computed from anything but a string or well-known symbol."""
        kind = node.type
        if kind == "string":
            return self.text(node)[1:-1]
        if kind == "computed_property_name":
            inner = node.named_children[0] if node.named_children else None
            if inner is None:
                return ""
            if inner.type == "string":
                return self.text(inner)[1:-1]
            written = self.text(inner)
            return f"[{written}]" if written.startswith("Symbol.") else ""
        return self.text(node)

    def _primitive(self, node: Node) -> int:
        name = self.text(node)
        return ABSENT if name in ("any", "unknown", "object") else self.make("tl", name)

    def _literal(self, node: Node) -> int:
        inner = node.named_children[0] if node.named_children else None
        if inner is None:
            return ABSENT
        kind = inner.type
        if kind == "string":
            return self.make("ts", self.text(inner)[1:-1])
        if kind in ("null", "undefined"):
            return self.make("tl", kind)
        if kind in ("true", "false"):
            return self.make("tl", "boolean")
        return self.make("tl", "number")

    def _query(self, node: Node) -> int:
        inner = node.named_children[0] if node.named_children else None
        if inner is None:
            return ABSENT
        if inner.type == "call_expression":
            specifier = self.import_call(inner, type_only=True)
            return self.make("ty", self.make("m", specifier)) if specifier is not None else ABSENT
        if inner.type == "member_expression" and (base := inner.child_by_field_name("object")) is not None:
            if base.type == "call_expression" and (specifier := self.import_call(base, type_only=True)) is not None:
                name = inner.child_by_field_name("property")
                scope = self.make("m", specifier)
                return self.make("ty", self.member(scope, self.text(name))) if name is not None else ABSENT
            if base.type == "this" and self.frame.this >= 0:
                name = inner.child_by_field_name("property")
                return self.make("ty", self.member(self.frame.this, self.text(name))) if name is not None else ABSENT
        value = self._namespace(inner)
        if inner.type == "identifier":
            self.refer("r", value, inner, self.text(inner), once=True)
        return self.make("ty", value) if value >= 0 else ABSENT

    def _lookup(self, node: Node) -> int:
        parts = node.named_children
        if len(parts) != 2:
            return ABSENT
        base, key = self.annotation(parts[0]), self.annotation(parts[1])
        return self.make("tx", base, key) if base >= 0 else ABSENT

    def _keyof(self, node: Node) -> int:
        return self.make("tk", self._inner(node))

    def _conditional(self, node: Node) -> int:
        saved = dict(self.frame.types)
        for one in ("left", "right"):
            child = node.child_by_field_name(one)
            if child is not None:
                self.annotation(child)
        yes, no = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
        first = self.annotation(yes) if yes is not None else ABSENT
        second = self.annotation(no) if no is not None else ABSENT
        self.frame.types = saved
        return self.make("tc", first, second)

    def _infer(self, node: Node) -> int:
        name = next((child for child in node.named_children if child.type == "type_identifier"), None)
        if name is not None:
            self.frame.types[self.text(name)] = found = self.make("V", -1, self.text(name))
            return found
        return ABSENT

    def _this(self, node: Node) -> int:
        return self.make("th", self.frame.cls.order) if self.frame.cls is not None else ABSENT

    def _predicate(self, node: Node) -> int:
        written = node.child_by_field_name("type")
        name = node.child_by_field_name("name")
        if written is None:
            self._parts(node)
            return self.make("tl", "boolean")
        return self.make("tp", self.text(name) if name is not None else "", self.annotation(written))

    def _asserts(self, node: Node) -> int:
        self._parts(node)
        return self.make("tl", "void")

    def _template(self, node: Node) -> int:
        for child in node.named_children:
            if child.type == "template_type":
                self._parts(child)
        return self.make("tl", "string")


TypeReader = Callable[[Annotations, Node], int]
_A: Any = Annotations
TYPE_READERS: dict[str, TypeReader] = {
    "type_annotation": _A._inner, "type_identifier": _A._reference, "identifier": _A._reference, "generic_type": _A._generic,
    "nested_type_identifier": _A._qualified, "union_type": _A._union, "intersection_type": _A._intersection,
    "array_type": _A._array, "tuple_type": _A._tuple, "function_type": _A._function, "constructor_type": _A._constructor,
    "object_type": _A._object, "interface_body": _A._object, "predefined_type": _A._primitive, "literal_type": _A._literal,
    "parenthesized_type": _A._inner, "readonly_type": _A._inner, "type_query": _A._query, "lookup_type": _A._lookup,
    "index_type_query": _A._keyof, "conditional_type": _A._conditional, "infer_type": _A._infer, "this_type": _A._this,
    "type_predicate_annotation": _A._inner, "type_predicate": _A._predicate, "asserts_annotation": _A._asserts,
    "template_literal_type": _A._template, "member_expression": _A._imported, "optional_type": _A._inner,
    "constraint": _A._inner, "default_type": _A._inner,
}  # fmt: skip
