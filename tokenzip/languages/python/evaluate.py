"""What expressions may be, and what has an annotation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokenzip.languages.python.ir import STATIC, Expression, Function
from tokenzip.languages.python.parameters import Parameters
from tokenzip.languages.python.types import Alternative, Types, class_of, inside, join

_WRAPPING = frozenset({"Optional", "Union", "Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "InitVar"})


class Evaluation(Parameters):
    """The types of expressions and annotations."""

    # ---- expressions

    @property
    def rows(self) -> tuple[Expression, ...]:
        """The expressions of the file being linked."""
        return self._own

    def row(self, number: int) -> Expression | None:
        """An expression of the file being linked, None for the unknown one."""
        return self._own[number] if number >= 0 else None

    def ex(self, path: str, expression: Any) -> Types:
        """The types of an expression: a row of the file being linked (a number), or in closed form."""
        if type(expression) is int:
            known = self._own_values.get(expression)
            if known is None:
                self._own_values[expression] = ()
                row = self._own[expression]
                known = _EXPRESSIONS[row[0]](self, path, row)
                if not known and row[0] == "param":
                    known = self._passed_for(path, row)
                self._own_values[expression] = known
            return known
        return _EXPRESSIONS[expression[0]](self, path, expression) if expression is not None else ()

    def _passed_for(self, path: str, row: Expression) -> Types:
        """What the calls in this very file pass for a parameter."""
        return self.all_passed(path, self._passed.get((row[1], row[2]), ()))

    def _each(self, path: str, expressions: Any) -> list[Types]:
        found: list[Types] = []
        for expression in expressions:
            found.append(self.ex(path, expression))
        return found

    def _x_global(self, path: str, e: Expression) -> Types:
        return self.global_name(path, e[1])

    def _x_def(self, path: str, e: Expression) -> Types:
        return self.value_of(path, e[1])

    def _x_raw(self, path: str, e: Expression) -> Types:
        return (("F", path, e[1], None),)

    def _x_import(self, path: str, e: Expression) -> Types:
        found: list[Types] = []
        for binding in self.imported(path, e):
            found.append(self.bound(binding))
        return self._one_of_overloads(join(found))

    def _x_self(self, path: str, e: Expression) -> Types:
        return (("V", "Self", (("I", path, e[1], ()),)),)

    def _x_class(self, path: str, e: Expression) -> Types:
        return (("VC", "Self", (("I", path, e[1], ()),)),)

    def _x_super(self, path: str, e: Expression) -> Types:
        return (("S", ("C" if e[2] else "I", path, e[1], ())),)

    def _x_literal(self, path: str, e: Expression) -> Types:
        return (("X", e[1], ()),) if e[1] != "None" else ()

    def _x_param(self, path: str, e: Expression) -> Types:
        return self.parameter(path, e[1], e[2])

    def _x_instance(self, path: str, e: Expression) -> Types:
        return self.annotated(path, e[1])

    def _x_declared(self, path: str, e: Expression) -> Types:
        return self.ex(path, e[1]) or self.ex(path, e[2])

    def _x_attr(self, path: str, e: Expression) -> Types:
        base = self.ex(path, e[1])
        if len(base) == 1:
            return self.get_attribute(base[0], e[2])
        found: list[Types] = []
        for item in base:
            found.append(self.get_attribute(item, e[2]))
        return join(found)

    def _x_call(self, path: str, e: Expression) -> Types:
        callee = self.ex(path, e[1])
        if not callee:
            return ()
        arguments = tuple(self._each(path, e[2])) if e[2] else ()
        keywords = tuple(zip(e[3], self._each(path, e[4]), strict=True)) if len(e) > 3 else ()
        found: list[Types] = []
        for item in callee:
            found.append(self.call(item, arguments, keywords))
        return join(found)

    def _x_index(self, path: str, e: Expression) -> Types:
        found: list[Types] = []
        for item in self.ex(path, e[1]):
            tag = item[0]
            if tag == "Y":
                found.append((("A", path, e),))
            elif tag == "C":
                arguments = []
                for part in e[3]:
                    arguments.append(inside(self.annotated(path, part)))
                found.append((("C", item[1], item[2], tuple(arguments)),))
            elif tag == "A":
                found.append((item,))
            elif tag in ("I", "V"):
                for method in self.get_attribute(item, "__getitem__"):
                    if method[0] == "F":
                        found.append(self.call_function(method, ()))
            else:
                found.append(self.indexed(item, e[2]))
        return join(found)

    def _x_tuple(self, path: str, e: Expression) -> Types:
        parts = []
        for types in self._each(path, e[1]):
            parts.append(inside(types))
        return (("T", tuple(parts)),)

    def _x_container(self, path: str, e: Expression) -> Types:
        parts = []
        for types in self._each(path, e[2]):
            parts.append(inside(types))
        return (("X", e[1], tuple(parts)),)

    def _x_record(self, path: str, e: Expression) -> Types:
        parts = []
        for types in self._each(path, e[2]):
            parts.append(inside(types))
        return (("R", e[1], tuple(parts)),)

    def _x_union(self, path: str, e: Expression) -> Types:
        return join(self._each(path, e[1]))

    def _x_await(self, path: str, e: Expression) -> Types:
        return self.awaited(self.ex(path, e[1]))

    def _x_enter(self, path: str, e: Expression) -> Types:
        return self.entered(self.ex(path, e[1]))

    def _x_iter(self, path: str, e: Expression) -> Types:
        return self.iterate(self.ex(path, e[1]))

    def _x_aiter(self, path: str, e: Expression) -> Types:
        return self.iterate(self.ex(path, e[1]), asynchronous=True)

    def _x_item(self, path: str, e: Expression) -> Types:
        found: list[Types] = []
        for item in self.ex(path, e[1]):
            if item[0] == "T":
                found.append(self.indexed(item, e[2]))
            else:
                found.append(self.iterate((item,)))
        return join(found)

    def _x_type(self, path: str, e: Expression) -> Types:
        return class_of(self.ex(path, e[1]))

    def _x_function(self, path: str, e: Expression) -> Types:
        return (("L", path, e[1]),)

    def _x_argument(self, path: str, e: Expression) -> Types:
        _, callee, slot, at = e
        found: list[Types] = []
        for item in self.ex(path, callee):
            for function in self._functions_called(item):
                found.append(self._lambda_parameter(function, slot, at))
        return join(found)

    def _functions_called(self, item: Alternative) -> Types:
        if item[0] == "F":
            return (item,)
        if item[0] == "C":
            return tuple([f for f in self.attr(("I", *item[1:]), "__init__") if f[0] == "F"])
        return ()

    def _lambda_parameter(self, function: Alternative, slot: int | str, at: int) -> Types:
        """The i-th parameter of the ``Callable`` that a function declares for the slot."""
        found = self.definition(function[1], function[2])
        if not isinstance(found, Function):
            return ()
        parameters = found.parameters
        if function[3] is not None and not found.flags & STATIC:
            parameters = parameters[1:]
        annotation = None
        if type(slot) is int:
            annotation = parameters[slot][1] if slot < len(parameters) and not parameters[slot][2] else None
        else:
            for name, declared, _ in parameters:
                annotation = declared if name == slot else annotation
        result: list[Types] = []
        for item in self.ex(function[1], annotation):
            if item[0] == "X" and item[1] == "Callable" and len(item[2]) == 2 and item[2][0] and item[2][0][0][0] == "T":
                items = item[2][0][0][1]
                result.append(items[at] if at < len(items) else ())
        return join(result)

    def _x_guard(self, path: str, e: Expression) -> Types:
        found: list[Types] = []
        for item in self.ex(path, e[1]):
            if item[0] == "F":
                for made in self.returned(item[1], item[2]):
                    if made[0] == "X" and made[1] in ("TypeGuard", "TypeIs") and made[2]:
                        found.append(made[2][0])
        return join(found) or self.ex(path, e[2])

    def _x_typevar(self, path: str, e: Expression) -> Types:
        return (("VC", e[1], self.ex(path, e[2])),)

    def _x_alias(self, path: str, e: Expression) -> Types:
        return (("A", path, e[1]),)

    # ---- annotations

    def annotated(self, path: str, expression: Any) -> Types:
        """What has the annotation that an expression writes."""
        if expression is None or expression == -1:
            return ()
        e: Expression = self._own[expression] if type(expression) is int else expression
        kind = e[0]
        if kind == "union":
            found: list[Types] = []
            for part in e[1]:
                found.append(self.annotated(path, part))
            return join(found)
        if kind == "index":
            return self._annotated_generic(path, e)
        if kind == "literal":
            return () if e[1] == "None" else (("X", e[1], ()),)
        if kind == "instance":
            return self.annotated(path, e[1])
        return self._instances(self.ex(path, expression))

    def _instances(self, types: Types) -> Types:
        """Instances of what an annotation names."""
        found: list[Types] = []
        for item in types:
            tag = item[0]
            if tag == "C":
                found.append((("I", *item[1:]),))
            elif tag == "VC":
                found.append((("V", *item[1:]),))
            elif tag == "Y":
                name = item[1].rpartition(".")[2]
                if name == "Self":
                    found.append((("V", "Self", ()),))
                elif name not in ("Any", "object", "None", "NoReturn", "Never"):
                    found.append((("X", name, ()),))
            elif tag == "A":
                found.append(self._alias(item))
        return join(found)

    def _alias(self, item: Alternative) -> Types:
        _, path, expression = item
        if _is_row(expression):
            return self.annotated(path, expression)
        return self.lookup(("alias", path, expression), self.annotated, path, expression)  # type: ignore[no-any-return]

    def _annotated_generic(self, path: str, e: Expression) -> Types:
        found: list[Types] = []
        for item in self.ex(path, e[1]):
            if item[0] == "Y":
                found.append(self._outside_generic(path, item[1].rpartition(".")[2], e[3]))
            elif item[0] == "C":
                arguments = []
                for part in e[3]:
                    arguments.append(inside(self.annotated(path, part)))
                found.append((("I", item[1], item[2], tuple(arguments)),))
            elif item[0] == "A":
                found.append(self._alias(item))
        return join(found)

    def _outside_generic(self, path: str, name: str, arguments: Any) -> Types:
        parts: list[Types] = []
        if name in _WRAPPING:
            for argument in arguments:
                parts.append(self.annotated(path, argument))
            return join(parts)
        if name in ("type", "Type"):
            for argument in arguments:
                parts.append(class_of(self.annotated(path, argument)))
            return join(parts)
        if name == "Literal":
            return ()
        if name == "Callable":
            return (("X", name, self._callable_parts(path, arguments)),)
        for argument in arguments:
            parts.append(inside(self.annotated(path, argument)))
        if name in ("tuple", "Tuple"):
            if len(arguments) == 2 and not parts[1] and _is_unknown(arguments[1]):
                return (("X", "list", (parts[0],)),)
            return (("T", tuple(parts)),)
        return (("X", name, tuple(parts)),)

    def _callable_parts(self, path: str, arguments: Any) -> tuple[Types, ...]:
        parts: list[Types] = []
        for argument in arguments:
            e = self._own[argument] if type(argument) is int and argument >= 0 else argument
            if type(e) is tuple and e[0] == "tuple":
                items = []
                for item in e[1]:
                    items.append(inside(self.annotated(path, item)))
                parts.append((("T", tuple(items)),))
            else:
                parts.append(inside(self.annotated(path, argument)))
        return tuple(parts)


def _is_unknown(expression: Any) -> bool:
    return expression is None or expression == -1


def _is_row(expression: Any) -> bool:
    """Whether an aliased expression belongs to the table of the file being linked, and is not in closed form."""
    return type(expression) is int or type(expression[1]) is int


_EXPRESSIONS: dict[str, Callable[[Evaluation, str, Expression], Types]] = {
    name.removeprefix("_x_"): function for name, function in vars(Evaluation).items() if name.startswith("_x_")
}
