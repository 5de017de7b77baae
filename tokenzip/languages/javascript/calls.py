"""What calls give, and what the place of an argument says about it."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.javascript.alternatives import (
    NOTHING,
    Alternative,
    Alternatives,
    has_variables,
    singular,
    substitute,
    union,
    variables_in,
    with_receiver,
)
from tokenzip.languages.javascript.names import ARRAYS, ELEMENT_CALLBACKS, MAPS, ONE_ELEMENT, PROMISES, SAME_ARRAY
from tokenzip.languages.javascript.types import Env
from tokenzip.languages.javascript.values import Values

_MAX_SIGNATURES = 3
"""Signatures that are followed of those that fit a call: the first one that fits counts, and fitting is judged roughly."""
_MAX_LEVEL = 3
"""Calls inside calls that are followed with the values of their arguments."""
_FOLLOWED = frozenset({
    "Promise.all", "Promise.allSettled", "Promise.resolve", "Promise.race", "Promise.any", "Array.from", "Array.of", "Set", "Map",
    "Object.values", "Object.entries", "Object.keys", "structuredClone", "Object",
})  # fmt: skip
"""Functions of the language whose result is known from their arguments."""
Mapping = dict[tuple[str, str, str], Alternatives]
_REST = 1


class Calls(Values):
    """Calls, constructions, inference of type arguments, and contextual types."""

    # Calls

    def call(self, one: Alternative, arguments: tuple[Any, ...], types: tuple[Any, ...], path: str) -> Alternatives:
        kind = one[0]
        if kind == "F":
            return self._call_function(one, arguments, types, path)
        if kind == "Ft":
            return self._call_type(one, arguments, types, path)
        if kind == "L":
            return self._call_lambda(one, [self.argument(path, argument) for argument in arguments])
        if kind == "B":
            return self._call_language(one, arguments, path)
        if kind == "Y":
            return self._call_external(one, arguments, path)
        if kind in ("I", "It"):
            return union([self.call(inner, arguments, types, path) for inner in self.signatures(one, arguments, path)])
        if kind == "X" and one[1] == "Function":
            return NOTHING
        return NOTHING

    def signatures(self, one: Alternative, arguments: tuple[Any, ...] | None, path: str, name: str = "()") -> Alternatives:
        """The call signatures of a value; those that fit the arguments, if there are several."""
        if one[0] == "I":
            found = self.find_member(one[1], one[2], name)
            if found is None:
                return NOTHING
            home, written = found[0][0], [entry[1] for entry in found[1] if entry[0] == "v"]
            mapping = self.instance_variables(one, found[0])
        else:
            home = one[1]
            parts = self.node(one[1], one[2])
            written = [value for member, value in parts[1] if member == name] if parts is not None else []
            mapping = dict(one[3])
        if len(written) > 1 and arguments is not None:
            written = [expr for expr in written if self._fits(home, expr, arguments, path)] or written
        return union([substitute(self.type_of(home, expr), mapping) for expr in written[:_MAX_SIGNATURES]])

    def _fits(self, home: str, expr: Any, arguments: tuple[Any, ...], path: str) -> bool:
        """Whether a signature can take the arguments, judged by their number and by functions against strings."""
        parts = self.node(home, expr)
        if parts is not None and parts[0] == "n":
            parts = self.node(home, parts[1])
        if parts is None or parts[0] not in ("tf", "tn"):
            return True
        params = parts[1]
        rest = bool(params) and bool(params[-1][2] & _REST)
        required = sum(1 for _, _, flags in params if not flags & 3)
        if len(arguments) < required or (len(arguments) > len(params) and not rest):
            return False
        for position, argument in enumerate(arguments):
            if position >= len(params) or params[position][2] & _REST:
                break
            inner = self.node(path, argument) if not (type(argument) is tuple and argument[:1] == ("=",)) else None
            written = self.node(home, params[position][1])
            if inner is not None and written is not None and not self._may_be(home, inner, written, parts[3]):
                return False
        return True

    def _may_be(self, home: str, given: Any, written: Any, variables: Any) -> bool:
        """Whether a literal argument may have the written type, as far as syntax shows."""
        if written[0] == "V":
            bound = next((self.node(home, bound) for name, bound, _ in variables if name == written[2]), None)
            if bound is None:
                return True
            written = bound
        if given[0] in ("s", "l"):
            return written[0] not in ("tf", "ta", "tt", "to")
        if given[0] in ("L", "o", "d"):
            return written[0] not in ("tl", "ts")
        return True

    def _call_function(self, one: Alternative, arguments: tuple[Any, ...], types: tuple[Any, ...], path: str) -> Alternatives:
        _, home, name, this, bound = one
        declared = self.definition(home, name)
        if declared is None or declared[0] != "f":
            return NOTHING
        found = self.returned(home, name)
        if declared[9]:
            found = self._overloaded(home, declared[9], arguments, types, path)
        elif not declared[5] and declared[3] and arguments:
            found = self._with_arguments(home, name, declared, found, arguments, path)
        if found and declared[2]:
            wanted = variables_in(found, 2)
            if wanted:
                params = [(parameter[1], parameter[3]) for parameter in declared[3]]
                found = substitute(found, self._infer(home, name, declared[2], params, arguments, types, path, None, wanted))
        if bound:
            found = substitute(found, dict(bound))
        return with_receiver(found, this if this is not None and this[0] == "I" else None)

    def _overloaded(
        self, home: str, names: tuple[str, ...], arguments: tuple[Any, ...], types: tuple[Any, ...], path: str
    ) -> Alternatives:
        fitting = []
        for name in names:
            declared = self.definition(home, name)
            if declared is None or declared[0] != "f":
                continue
            params = declared[3]
            required = sum(1 for parameter in params if not parameter[3] & 3)
            rest = bool(params) and bool(params[-1][3] & _REST)
            if len(arguments) < required or (len(arguments) > len(params) and not rest):
                continue
            fitting.append(name)
        return union([self.call(("F", home, name, None, ()), arguments, types, path) for name in fitting or names])

    def _with_arguments(
        self, home: str, name: str, declared: Any, found: Alternatives, arguments: tuple[Any, ...], path: str
    ) -> Alternatives:
        """What a function without written types gives for these arguments."""
        mapping: Mapping = {}
        for position in range(min(len(declared[3]), len(arguments))):
            if declared[3][position][1] in (None, -1):
                given = self.argument(path, arguments[position])
                if given:
                    mapping[home, name, f"\0{position}"] = given
        if not mapping:
            return found
        if found and not self._uncertain(found):
            return found
        if self.level >= _MAX_LEVEL:
            return substitute(found, mapping)
        key = ("return", home, name, tuple(sorted(mapping.items())), self.level)
        level = self.level + 1
        better: Alternatives = self.lookup(key, self._returned_with, home, name, mapping, level)
        return better or substitute(found, mapping)

    def _returned_with(self, path: str, name: str, mapping: Mapping, level: int) -> Alternatives:
        self.level = level
        return self._returned(path, name, mapping)

    def _uncertain(self, alternatives: Alternatives) -> bool:
        return has_variables(alternatives)

    def _call_type(self, one: Alternative, arguments: tuple[Any, ...], types: tuple[Any, ...], path: str) -> Alternatives:
        _, home, expr, bound = one
        parts = self.node(home, expr)
        if parts is None:
            return NOTHING
        env = dict(bound)
        found = self.type_of(home, parts[2], env)
        wanted = variables_in(found, 2) if parts[3] else None
        if wanted:
            params = [(written, flags) for _, written, flags in parts[1]]
            found = substitute(found, self._infer(home, "", parts[3], params, arguments, types, path, env, wanted))
        return found

    def _call_lambda(self, one: Alternative, given: list[Alternatives]) -> Alternatives:
        _, path, lam, bound = one
        if type(lam) is int:
            if path != self.path:
                return NOTHING
            flags, params, ret, written, _ = self.lambdas[lam]
            owner = f"~{lam}"
        else:
            _, owner, flags, params, ret, written = lam
        env = dict(bound)
        for position in range(min(len(params), len(given))):
            if given[position]:
                env[path, owner, f"\0{position}"] = given[position]
        if self.level >= _MAX_LEVEL:
            return NOTHING
        self.level += 1
        found = self.value(path, ret, env or None)
        self.level -= 1
        if written:
            return found
        if flags & bits.ASYNC and not flags & bits.GENERATOR:
            return (("X", "Promise", (self.awaited(found),)),)
        return found

    # Construction

    def construct(self, one: Alternative, arguments: tuple[Any, ...], types: tuple[Any, ...], path: str) -> Alternatives:
        return self.constructed(one, arguments, path, types)

    def constructed(
        self, alternative: Alternative, arguments: tuple[Any, ...], path: str, types: tuple[Any, ...] = ()
    ) -> Alternatives:
        kind = alternative[0]
        if kind == "C":
            return (("I", alternative[1], alternative[2], self._class_arguments(alternative, arguments, types, path)),)
        if kind == "F":
            return (("I", alternative[1], alternative[2], ()),)
        if kind == "Ct":
            return self._call_type(alternative, arguments, types, path)
        if kind in ("I", "It"):
            return union(
                [
                    self.constructed(one, arguments, path, types)
                    for one in self.signatures(alternative, arguments, path, "new()")
                ]
            )
        if kind == "Y":
            if alternative[1] in ("Map", "Set", "WeakMap", "Array", "WeakSet"):
                return (("X", alternative[1], types or self._collected(alternative[1], arguments, path)),)
            if alternative[1] == "Promise":
                return (("X", "Promise", types),)
            return (("Y", alternative[1] + "{}"),)
        return NOTHING

    def _collected(self, name: str, arguments: tuple[Any, ...], path: str) -> tuple[Alternatives, ...]:
        """Type arguments of a collection from what fills it."""
        elements = self.element(self.argument(path, arguments[0])) if arguments else NOTHING
        if name not in MAPS:
            return (elements,)
        pairs = [one for one in elements if one[0] == "T" and len(one[1]) > 1]
        return (union([one[1][0] for one in pairs]), union([one[1][1] for one in pairs])) if pairs else ()

    def _class_arguments(
        self, cls: Alternative, arguments: tuple[Any, ...], types: tuple[Any, ...], path: str
    ) -> tuple[Alternatives, ...]:
        declared = self.definition(cls[1], cls[2])
        if declared is None or declared[0] != "c" or not declared[2]:
            return ()
        if types:
            return types
        found = self.find_member(cls[1], cls[2], "constructor")
        if found is None or not arguments or found[0][:2] != cls[1:3]:
            return ()
        constructor = self.definition(cls[1], found[1][0][1])
        if constructor is None or constructor[0] != "f":
            return ()
        params = [(parameter[1], parameter[3]) for parameter in constructor[3]]
        mapping = self._infer(cls[1], cls[2], declared[2], params, arguments, (), path, None)
        return tuple([mapping.get((cls[1], cls[2], name), NOTHING) for name, _, _ in declared[2]]) if mapping else ()

    # Inference

    def _infer(
        self, home: str, owner: str, tparams: Any, params: list[tuple[Any, int]], arguments: tuple[Any, ...], types: tuple[Any, ...],
        path: str, env: Env, needed: set[tuple[str, str, str]] | None = None, skip: int = -1,
    ) -> Mapping:  # fmt: skip
        """Type variables of a signature -> what the arguments of a call say about them; only those that are needed."""
        mapping: Mapping = {}
        if types:
            for (name, _, _), given in zip(tparams, types, strict=False):
                mapping[home, owner, name] = given
            return mapping
        wanted = {(home, owner, name) for name, _, _ in tparams}
        if needed is not None:
            wanted &= needed
        if not wanted:
            return mapping
        for position, argument in enumerate(arguments):
            at = min(position, len(params) - 1)
            if at < 0 or position == skip or (position > at and not params[at][1] & _REST):
                continue
            written = self.type_of(home, params[at][0], env)
            if params[at][1] & _REST:
                written = self.element(written)
            if written and not wanted.isdisjoint(variables_in(written, 3)):
                self._unify(written, self.argument(path, argument), wanted, mapping)
        return mapping

    def _unify(
        self, written: Alternatives, given: Alternatives, wanted: set[tuple[str, str, str]], mapping: Mapping, level: int = 0
    ) -> None:
        """Binds the wanted variables of a written type to the parts of a value that stand in their places."""
        if level > 4 or not given:
            return
        for one in written:
            kind = one[0]
            if kind == "V":
                if one[1:] in wanted:
                    others = [
                        two
                        for two in given
                        if not any(two[0] == other[0] and two[1:2] == other[1:2] for other in written if other is not one)
                    ]
                    mapping[one[1:]] = union([mapping.get(one[1:], NOTHING), tuple(others) or given])
                continue
            for two in self.expand(given):
                self._unify_one(one, two, wanted, mapping, level)

    def _unify_one(
        self, one: Alternative, two: Alternative, wanted: set[tuple[str, str, str]], mapping: Mapping, level: int
    ) -> None:
        kind = one[0]
        if kind == "X" and one[2]:
            if one[1] in ARRAYS and two[0] in ("X", "T") and (two[0] == "T" or two[1] in ARRAYS):
                self._unify(one[2][0], self.element((two,)), wanted, mapping, level + 1)
            elif (
                two[0] == "X"
                and len(two[2]) == len(one[2])
                and (one[1] == two[1] or (one[1] in PROMISES and two[1] in PROMISES))
            ):
                for inner, other in zip(one[2], two[2], strict=True):
                    self._unify(inner, other, wanted, mapping, level + 1)
            elif one[1] == "Record" and two[0] in ("O", "o") and len(one[2]) > 1:
                self._unify(one[2][1], self.all_members(two), wanted, mapping, level + 1)
        elif kind == "T" and two[0] == "T":
            for inner, other in zip(one[1], two[1], strict=False):
                self._unify(inner, other, wanted, mapping, level + 1)
        elif kind == "I" and one[3] and one[3] != "this" and two[0] == "I":
            if one[1:3] == two[1:3] and two[3] and two[3] != "this":
                for inner, other in zip(one[3], two[3], strict=False):
                    self._unify(inner, other, wanted, mapping, level + 1)
            else:
                for base in self.bases(two[1], two[2])[1:]:
                    if base[:2] == one[1:3]:
                        for inner, other in zip(one[3], base[2], strict=False):
                            self._unify(inner, other, wanted, mapping, level + 1)
        elif kind == "Ft" and two[0] in ("F", "L", "Ft"):
            parts = self.node(one[1], one[2])
            if parts is not None:
                written = self.type_of(one[1], parts[2], dict(one[3]))
                if not wanted.isdisjoint(variables_in(written, 2)):
                    self._unify(written, self._result_of(two, one, mapping), wanted, mapping, level + 1)
        elif kind == "Ct" and two[0] in ("C", "F"):
            parts = self.node(one[1], one[2])
            if parts is not None:
                self._unify(
                    self.type_of(one[1], parts[2], dict(one[3])), self.constructed(two, (), ""), wanted, mapping, level + 1
                )
        elif kind == "It" and two[0] in ("O", "o", "I", "It"):
            parts = self.node(one[1], one[2])
            for name, written in parts[1][:8] if parts is not None else ():
                found = self.type_of(one[1], written, dict(one[3]))
                if has_variables(found):
                    self._unify(found, self.member(two, name), wanted, mapping, level + 1)

    def _result_of(self, function: Alternative, expected: Alternative, mapping: Mapping) -> Alternatives:
        if function[0] != "L":
            return self.call(function, (), (), function[1])
        given = [substitute(self.parameter_type(expected, position), mapping) for position in range(3)]
        return self._call_lambda(function, given)

    # The language's own methods

    def _callback(self, path: str, arguments: tuple[Any, ...], position: int, given: list[Alternatives]) -> Alternatives:
        """What the callback at a position gives for the values."""
        if position >= len(arguments):
            return NOTHING
        parts = []
        for one in self.expand(self.argument(path, arguments[position])):
            if one[0] == "L":
                parts.append(self._call_lambda(one, given))
            else:
                parts.append(self.call(one, tuple([("=", value) for value in given]), (), path))
        return union(parts)

    def _call_language(self, one: Alternative, arguments: tuple[Any, ...], path: str) -> Alternatives:
        _, name, receiver = one
        if name == "bind":
            return (receiver,)
        if name in ("call", "apply"):
            return self.call(receiver, arguments[1:] if name == "call" else (), (), path)
        if receiver[0] == "X" and receiver[1] in PROMISES:
            return self._call_promise(name, receiver, arguments, path)
        if receiver[0] == "T" or (receiver[0] == "X" and receiver[1] in ARRAYS):
            return self._call_array(name, receiver, arguments, path)
        if receiver[0] == "X" and receiver[1] in MAPS and len(receiver[2]) > 1:
            if name == "get":
                found: Alternatives = receiver[2][1]
                return found
            if name in ("values", "keys"):
                return (("X", "Array", (receiver[2][1 if name == "values" else 0],)),)
            if name == "entries":
                return (("X", "Array", ((("T", (receiver[2][0], receiver[2][1])),),)),)
            if name == "set":
                return (receiver,)
        if receiver[0] == "X" and receiver[1] == "string":
            if name in ("split", "match", "matchAll"):
                return (("X", "Array", ((("X", "string", ()),),)),)
            return (("X", "string", ()),)
        return NOTHING

    def _call_promise(self, name: str, receiver: Alternative, arguments: tuple[Any, ...], path: str) -> Alternatives:
        inner = receiver[2][0] if receiver[2] else NOTHING
        if name == "then":
            found = self.awaited(union([self._callback(path, arguments, 0, [inner]), self._callback(path, arguments, 1, [])]))
            return (("X", "Promise", (found,)),)
        if name == "catch":
            found = self.awaited(union([inner, self._callback(path, arguments, 0, [])]))
            return (("X", "Promise", (found,)),)
        return (receiver,) if name == "finally" else NOTHING

    def _call_array(self, name: str, receiver: Alternative, arguments: tuple[Any, ...], path: str) -> Alternatives:
        if name == "entries":
            return (("X", "Array", ((("T", ((("X", "number", ()),), self.element((receiver,)))),),)),)
        if name in SAME_ARRAY:
            if name == "concat":
                others = [self.argument(path, argument) for argument in arguments]
                return (("X", "Array", (union([self.element((receiver,)), *[self.element(other) for other in others]]),)),)
            return (("X", "Array", (self.element((receiver,)),)),) if receiver[0] == "T" else (receiver,)
        if name in ONE_ELEMENT:
            return self.element((receiver,))
        if name in ("next",):
            return (("X", "Record", ((), self.element((receiver,)))),)
        if name in ("map", "flatMap"):
            found = self._callback(path, arguments, 0, [self.element((receiver,)), (("X", "number", ()),)])
            return (("X", "Array", (self.element(found) if name == "flatMap" else found,)),)
        if name in ("reduce", "reduceRight"):
            first = self.argument(path, arguments[1]) if len(arguments) > 1 else self.element((receiver,))
            return first or self._callback(path, arguments, 0, [NOTHING, self.element((receiver,))])
        if name == "join":
            return (("X", "string", ()),)
        return NOTHING

    def _call_external(self, one: Alternative, arguments: tuple[Any, ...], path: str) -> Alternatives:
        name = one[1]
        if name not in _FOLLOWED:
            return (one,) if len(name) > 160 else (("Y", name + "()"),)
        first = self.argument(path, arguments[0]) if arguments else NOTHING
        if name in ("Promise.all", "Promise.allSettled"):
            return self._gathered(first)
        if name in ("Promise.resolve", "Promise.race", "Promise.any"):
            inner = first if name == "Promise.resolve" else self.element(first)
            return (("X", "Promise", (self.awaited(inner),)),)
        if name in ("Array.from", "Array.of", "Set", "Map"):
            elements = self.element(first) if name != "Array.of" else first
            if name == "Array.from" and len(arguments) > 1:
                elements = self._callback(path, arguments, 1, [elements])
            return (("X", "Array", (elements,)),)
        if name == "Object.values":
            return (("X", "Array", (union([self._values_of(value) for value in first]),)),)
        if name == "Object.entries":
            inner = union([self._values_of(value) for value in first])
            return (("X", "Array", ((("T", ((("X", "string", ()),), inner)),),)),)
        if name == "Object.keys":
            return (("X", "Array", ((("X", "string", ()),),)),)
        return first

    def _values_of(self, one: Alternative) -> Alternatives:
        if one[0] == "X" and one[1] in MAPS and len(one[2]) > 1:
            found: Alternatives = one[2][1]
            return found
        return self.element((one,)) if one[0] in ("X", "T") else self.all_members(one)

    def _gathered(self, values: Alternatives) -> Alternatives:
        found: list[Alternative] = []
        for one in values:
            if one[0] == "T":
                found.append(("T", tuple([self.awaited(element) for element in one[1]])))
            elif one[0] == "X" and one[2]:
                found.append(("X", "Array", (self.awaited(self.element((one,))),)))
        return (("X", "Promise", (tuple(found),)),)

    # Contexts

    def parameter_value(self, path: str, owner: str, position: int) -> Alternatives:
        """What a parameter without a written type holds: by the place of its function, by what calls in its file pass."""
        if owner.startswith("~") and owner[1:].isdigit():
            if path != self.path:
                return NOTHING
            _, params, _, _, context = self.lambdas[int(owner[1:])]
            return self._by_context(path, context, position, params)
        one = self.definition(path, owner)
        if one is None or one[0] != "f" or position >= len(one[3]):
            return NOTHING
        parts: list[Alternatives] = []
        known = self.parameters.get(owner) if path == self.path and self.own else None
        if known is not None:
            context, flows = known
            parts.append(self._by_context(path, context, position, one[3]))
            if not parts[0]:
                parts.append(singular(self.expand(union([self.value(path, flow) for flow in flows[position]]))))
        elif one[6] not in (None, -1):
            parts.append(self._by_context(path, one[6], position, one[3]))
        if not any(parts):
            parts.append(self._inherited_parameter(path, owner, position))
        default = one[3][position][2]
        if default not in (None, -1) and not (known is not None and (parts[0] or known[1][position])):
            parts.append(self.value(path, default))
        return union(parts)

    def _inherited_parameter(self, path: str, owner: str, position: int) -> Alternatives:
        """A method without written types takes them from the method that it overrides or implements."""
        return NOTHING

    def _by_context(self, path: str, context: Any, position: int, params: Any) -> Alternatives:
        if context in (None, -1):
            return NOTHING
        rest = position < len(params) and params[position][3] & _REST
        found = union([self.parameter_type(one, position, bool(rest)) for one in self.expand(self.value(path, context))])
        return self.expand(found)

    def parameter_type(self, function: Alternative, position: int, rest: bool = False) -> Alternatives:
        """The type of the n-th parameter of a function value."""
        kind = function[0]
        if kind == "Ft":
            parts = self.node(function[1], function[2])
            if parts is None:
                return NOTHING
            params = [(written, flags) for _, written, flags in parts[1]]
            return self._parameter_at(function[1], params, position, dict(function[3]), rest)
        if kind == "F":
            declared = self.definition(function[1], function[2])
            if declared is None or declared[0] != "f":
                return NOTHING
            params = [(parameter[1], parameter[3]) for parameter in declared[3]]
            return self._parameter_at(function[1], params, position, dict(function[4]), rest)
        if kind in ("I", "It"):
            return union([self.parameter_type(one, position, rest) for one in self.signatures(function, None, function[1])])
        if kind == "=":
            given: tuple[Alternatives, ...] = function[1]
            return given[position] if position < len(given) else NOTHING
        return NOTHING

    def _parameter_at(self, home: str, params: list[tuple[Any, int]], position: int, env: Mapping, rest: bool) -> Alternatives:
        if not params:
            return NOTHING
        at = min(position, len(params) - 1)
        written, flags = params[at]
        if at < position and not flags & _REST:
            return NOTHING
        found = self.type_of(home, written, env or None)
        if flags & _REST and not rest:
            return self._rest_item(found, position - at)
        return found

    def _rest_item(self, alternatives: Alternatives, position: int) -> Alternatives:
        parts = []
        for one in self.expand(alternatives):
            if one[0] == "T":
                parts.append(one[1][position] if position < len(one[1]) else NOTHING)
            else:
                parts.append(self.element((one,)))
        return union(parts)

    def contextual_parameter(self, path: str, parts: Any, env: Env) -> Alternatives:
        found = union([self.parameter_type(one, parts[2]) for one in self.expand(self.value(path, parts[1], env))])
        return self.expand(found)

    def contextual_result(self, path: str, parts: Any, env: Env) -> Alternatives:
        return union(
            [
                self.call(one, (), (), path)
                for one in self.expand(self.value(path, parts[1], env))
                if one[0] in ("Ft", "I", "It")
            ]
        )

    def contextual_member(self, path: str, parts: Any, env: Env) -> Alternatives:
        return union(
            [self.member(one, parts[2]) for one in self.expand(self.value(path, parts[1], env)) if one[0] in ("I", "It", "X")]
        )

    def contextual_argument(self, path: str, parts: Any, env: Env) -> Alternatives:
        """What the callee of a call accepts at a position."""
        call = self.node(path, parts[1])
        if call is None:
            return NOTHING
        _, callee, arguments, types = call
        position = parts[2]
        given = tuple([self.type_of(path, one, env) for one in types])
        found = []
        for one in self.expand(self.value(path, callee, env)):
            if call[0] == "N":
                found.append(self._constructor_argument(one, arguments, given, position, path))
            else:
                found.append(self._argument_of(one, arguments, given, position, path))
        return union(found)

    def _constructor_argument(
        self, one: Alternative, arguments: tuple[Any, ...], types: tuple[Any, ...], position: int, path: str
    ) -> Alternatives:
        if one[0] != "C":
            if one[0] == "Y" and one[1] == "Promise" and position == 0:
                return NOTHING
            return union(
                [
                    self._argument_of(inner, arguments, types, position, path)
                    for inner in self._constructor_signatures(one, arguments, path)
                ]
            )
        found = self.find_member(one[1], one[2], "constructor")
        if found is None:
            return NOTHING
        (base_path, base, inherited), entries = found
        declared = self.definition(base_path, entries[0][1])
        cls = self.definition(base_path, base)
        if declared is None or declared[0] != "f" or cls is None:
            return NOTHING
        params = [(parameter[1], parameter[3]) for parameter in declared[3]]
        env: Mapping = {}
        if cls[0] == "c" and cls[2]:
            own = (base_path, base) == one[1:3]
            given = types if own else inherited
            env = (
                self.bind_arguments(base_path, base, cls[2], given)
                if given
                else self._infer(base_path, base, cls[2], params, arguments, (), path, None, None, position)
            )
        return self._parameter_at(base_path, params, position, env, False)

    def _constructor_signatures(self, one: Alternative, arguments: tuple[Any, ...], path: str) -> Alternatives:
        if one[0] == "Ct":
            return (("Ft", *one[1:]),)
        return self.signatures(one, arguments, path, "new()") if one[0] in ("I", "It") else NOTHING

    def _argument_of(
        self, one: Alternative, arguments: tuple[Any, ...], types: tuple[Any, ...], position: int, path: str
    ) -> Alternatives:
        kind = one[0]
        if kind == "F":
            return self._function_argument(one, arguments, types, position, path)
        if kind == "Ft":
            _, home, expr, bound = one
            parts = self.node(home, expr)
            if parts is None:
                return NOTHING
            params = [(written, flags) for _, written, flags in parts[1]]
            env: Mapping = dict(bound)
            if parts[3]:
                wanted = self._wanted(home, params, position, env)
                env |= self._infer(home, "", parts[3], params, arguments, types, path, env, wanted, position)
            return self._parameter_at(home, params, position, env, False)
        if kind in ("I", "It"):
            return union(
                [self._argument_of(inner, arguments, types, position, path) for inner in self.signatures(one, arguments, path)]
            )
        if kind == "B":
            return self._language_argument(one, arguments, position, path)
        if kind == "Y" and one[1] == "Array.from" and position == 1 and arguments:
            return (("=", (self.element(self.argument(path, arguments[0])),)),)
        return NOTHING

    def _function_argument(
        self, one: Alternative, arguments: tuple[Any, ...], types: tuple[Any, ...], position: int, path: str
    ) -> Alternatives:
        _, home, name, this, bound = one
        declared = self.definition(home, name)
        if declared is None or declared[0] != "f":
            return NOTHING
        if declared[9]:
            others = [("F", home, other, this, bound) for other in declared[9]]
            return union([self._function_argument(other, arguments, types, position, path) for other in others])
        params = [(parameter[1], parameter[3]) for parameter in declared[3]]
        env: Mapping = dict(bound)
        if declared[2]:
            wanted = self._wanted(home, params, position, None)
            env |= self._infer(home, name, declared[2], params, arguments, types, path, None, wanted, position)
        found = self._parameter_at(home, params, position, env, False)
        return with_receiver(found, this if this is not None and this[0] == "I" else None)

    def _wanted(self, home: str, params: list[tuple[Any, int]], position: int, env: Env) -> set[tuple[str, str, str]]:
        """The variables that matter to a function in the place of an argument: those of its parameters."""
        found: set[tuple[str, str, str]] = set()
        for one in self._parameter_at(home, params, position, env or {}, False):
            if one[0] == "Ft":
                for at in range(4):
                    found |= variables_in(self.parameter_type(one, at), 2)
            else:
                found |= variables_in((one,), 2)
        return found

    def _language_argument(self, one: Alternative, arguments: tuple[Any, ...], position: int, path: str) -> Alternatives:
        """A callback of the language's own methods: ``("=", parameters)``."""
        _, name, receiver = one
        if receiver[0] == "X" and receiver[1] in PROMISES:
            if name == "then" and position == 0 and receiver[2]:
                return (("=", (receiver[2][0],)),)
            return NOTHING
        if receiver[0] == "X" and receiver[1] in MAPS and len(receiver[2]) > 1 and name == "forEach":
            return (("=", (receiver[2][1], receiver[2][0])),)
        if receiver[0] != "T" and not (receiver[0] == "X" and receiver[1] in ARRAYS):
            return NOTHING
        element = self.element((receiver,))
        if name in ELEMENT_CALLBACKS and position == 0:
            return (("=", (element, (("X", "number", ()),), (receiver,))),)
        if name in ("reduce", "reduceRight") and position == 0:
            first = self.argument(path, arguments[1]) if len(arguments) > 1 else element
            return (("=", (first, element)),)
        if name in ("sort", "toSorted") and position == 0:
            return (("=", (element, element)),)
        return NOTHING
