"""Value expressions: what they may stand for."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.javascript.alternatives import NOTHING, Alternative, Alternatives, environment, singular, union
from tokenzip.languages.javascript.names import ARRAYS, MAPS
from tokenzip.languages.javascript.types import Env, Types

_IN_PROGRESS: Alternatives = ()
_FUNCTIONS = frozenset({"F", "L", "C"})
_OWNERS = frozenset({"O", "o", "M", "I", "C", "F"})
_LITERALS = frozenset({"null", "undefined", "void"})


class Values(Types):
    """Reads value expressions. What the linked file's own table holds is worked out once."""

    def value(self, path: str, expr: Any, env: Env = None) -> Alternatives:
        if type(expr) is int:
            if expr < 0 or path != self.path:
                return NOTHING
            if env:
                return self._value(path, expr, self.table[expr], env)
            known = self.memo[expr]
            if known is None:
                self.memo[expr] = _IN_PROGRESS
                saved, self.own = self.own, True
                known = self.memo[expr] = self._value(path, expr, self.table[expr], None)
                self.own = saved
            return known
        if expr is None:
            return NOTHING
        return self._value(path, expr, expr, env)

    def _value(self, path: str, expr: Any, parts: Any, env: Env) -> Alternatives:
        op = parts[0]
        if op == "a":
            name = parts[2]
            base = self.value(path, parts[1], env)
            if len(base) == 1 and base[0][0] not in ("V", "S"):
                return self.member(base[0], name)
            return union([self.member(one, name) for one in self.expand(base)])
        if op == "g":
            return self.module_name(path, parts[1])
        if op in ("c", "N"):
            return self._call(path, parts, env)
        reader = _READERS.get(op)
        return reader(self, path, expr, parts, env) if reader is not None else NOTHING

    def _call(self, path: str, parts: Any, env: Env) -> Alternatives:
        callees = self.expand(self.value(path, parts[1], env))
        if env:
            arguments: tuple[Any, ...] = tuple([("=", self.value(path, argument, env)) for argument in parts[2]])
        else:
            arguments = parts[2]
        types = tuple([self.type_of(path, one, env) for one in parts[3]])
        work = self.call if parts[0] == "c" else self.construct
        if len(callees) == 1:
            return work(callees[0], arguments, types, path)
        return union([work(one, arguments, types, path) for one in callees])

    def construct(self, one: Alternative, arguments: tuple[Any, ...], types: tuple[Any, ...], path: str) -> Alternatives:
        raise NotImplementedError

    def argument(self, path: str, argument: Any) -> Alternatives:
        """The value of an argument: an expression, or what was worked out before (``= alternatives``)."""
        if type(argument) is tuple and argument and argument[0] == "=":
            return argument[1]  # type: ignore[no-any-return]
        return self.value(path, argument)

    # Leaves

    def _definition(self, path: str, _expr: Any, parts: Any, _env: Env) -> Alternatives:
        return self.defined(path, parts[1])

    def _this(self, path: str, _expr: Any, parts: Any, _env: Env) -> Alternatives:
        return (("I", path, parts[1], "this"),)

    def _parameter(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        key = (path, parts[1], f"\0{parts[2]}")
        known = env.get(key) if env else None
        return known if known is not None else (("V", *key),)

    def _lambda_parameter(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        owner = parts[1] if isinstance(parts[1], str) else f"~{parts[1]}"
        key = (path, owner, f"\0{parts[2]}")
        known = env.get(key) if env else None
        return known if known is not None else (("V", *key),)

    def _literal(self, _path: str, _expr: Any, parts: Any, _env: Env) -> Alternatives:
        return NOTHING if parts[1] in _LITERALS else (("X", parts[1], ()),)

    def _string(self, _path: str, _expr: Any, parts: Any, _env: Env) -> Alternatives:
        return (("X", "string", ((("Y", parts[1]),),)),)

    def _lambda(self, path: str, expr: Any, parts: Any, env: Env) -> Alternatives:
        return (("L", path, parts[1] if type(expr) is int else expr, self.closed(path, expr, env)),)

    def _object(self, path: str, expr: Any, _parts: Any, env: Env) -> Alternatives:
        return (("o", path, expr, self.closed(path, expr, env)),)

    def _module(self, path: str, _expr: Any, parts: Any, _env: Env) -> Alternatives:
        return self.imported(path, parts[1], "*")

    def _promised_module(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        return (("X", "Promise", (self.value(path, parts[1], env),)),)

    def _require(self, path: str, _expr: Any, parts: Any, _env: Env) -> Alternatives:
        return self.required(path, parts[1])

    def _super(self, path: str, _expr: Any, parts: Any, _env: Env) -> Alternatives:
        return (("U", path, parts[1], parts[2]),)

    # Composites

    def _union(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        return union([self.value(path, one, env) for one in parts[1]])

    def _array(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        spread = False
        elements: list[Alternatives] = []
        for item in parts[1]:
            inner = self.node(path, item)
            if inner is not None and inner[0] == "sp":
                spread = True
                elements.append(self.element(self.value(path, inner[1], env)))
            else:
                elements.append(self.value(path, item, env))
        if spread or parts[2]:
            return (("X", "Array", (union(elements),)),)
        return (("T", tuple(elements)),)

    def _awaited(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        return self.awaited(self.expand(self.value(path, parts[1], env)))

    def _iterated(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        found = self.element(self.value(path, parts[1], env))
        return self.awaited(found) if parts[0] == "I" else found

    def element(self, alternatives: Alternatives) -> Alternatives:
        found: list[Alternatives] = []
        for one in self.expand(alternatives):
            kind = one[0]
            if kind == "X" and one[2]:
                if one[1] in ARRAYS:
                    found.append(one[2][0])
                elif one[1] in MAPS and len(one[2]) > 1:
                    found.append((("T", (one[2][0], one[2][1])),))
            elif kind == "T":
                found.append(union(one[1]))
            elif kind in ("I", "O"):
                found.append(self.lookup(("iterated", one[1], one[2], one), self._iterated_object, one))
        return union(found)

    def _iterated_object(self, one: Alternative) -> Alternatives:
        """What iterating over an object yields: what its iterator does, or what `next` gives as `value` if it is one itself."""
        found: list[Alternatives] = []
        for name in ("[Symbol.iterator]", "[Symbol.asyncIterator]"):
            for function in self.member(one, name):
                iterators = self.call(function, (), (), one[1])
                found.append(self.element(tuple([each for each in iterators if each[:3] != one[:3]])))
        if not any(found):
            for function in self.member(one, "next"):
                steps = self.awaited(self.expand(self.call(function, (), (), one[1])))
                found.extend(self.member(step, "value") for step in steps if step[0] in ("o", "O"))
        return union(found)

    def _item(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        found: list[Alternatives] = []
        for one in self.expand(self.value(path, parts[1], env)):
            if one[0] == "T":
                found.append(one[1][parts[2]] if parts[2] < len(one[1]) else NOTHING)
            elif one[0] in ("O", "o"):
                found.append(self.member(one, str(parts[2])))
            else:
                found.append(singular(self.element((one,))))
        return union(found)

    def _rest(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        found: list[Alternative] = []
        for one in self.expand(self.value(path, parts[1], env)):
            found.append(("T", one[1][parts[2] :]) if one[0] == "T" else one)
        return tuple(found)

    def _slice(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        before = self.expand(self.value(path, parts[2], env))
        if not before or any(one[0] != "T" for one in before):
            return self.value(path, parts[1], env)
        return union([(("T", one[1][slice(parts[3], *parts[4:5] or (None,))]),) for one in before])

    def _any_item(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        found: list[Alternatives] = []
        for one in self.expand(self.value(path, parts[1], env)):
            if one[0] == "X" and one[1] in MAPS and len(one[2]) > 1:
                found.append(one[2][1])
            elif one[0] in ("X", "T"):
                found.append(singular(self.element((one,))))
            else:
                found.append(self.all_members(one))
        return union(found)

    def _keyed_item(self, path: str, expr: Any, parts: Any, env: Env) -> Alternatives:
        """A member by a key that is no literal: of the names that the key is known to hold, else any.

        A parameter may hold others, of which nothing is known: its members may be any, too, except functions.
        """
        keys = self.expand(self.value(path, parts[2], env))
        names = [one[2][0][0][1] for one in keys if one[0] == "X" and one[1] == "string" and one[2]]
        if not names or len(names) < len(keys):
            return self._any_item(path, expr, parts, env)
        owners = [one for one in self.expand(self.value(path, parts[1], env)) if one[0] in _OWNERS]
        found = union([self.member(one, name) for one in owners for name in names])
        key = self.node(path, parts[2])
        if found and key is not None and key[0] != "p":
            return found
        others = self._any_item(path, expr, parts, env)
        return union([found, tuple([one for one in others if one[0] not in _FUNCTIONS])]) if found else others

    def all_members(self, one: Alternative) -> Alternatives:
        kind = one[0]
        if kind == "O":
            self.note("all", one[1], one[2])
            members = self.view.interface(one[1]).members.get(one[2])
            if members is None and one[1] == self.path:
                members = self.private_members.get(one[2])
            if not members or len(members) > 8:
                return NOTHING
            return singular(union([self.object_member(one, name) for name in sorted(members)]))
        if kind == "o":
            parts = self.node(one[1], one[2])
            env = environment(one[3])
            if parts is None or len(parts[1]) > 8:
                return NOTHING
            return singular(union([self.value(one[1], value, env) for _, value in parts[1]]))
        if kind == "It":
            return self.type_member(one, "[]")
        if kind == "I":
            return self.instance_member(one, "[]")
        return NOTHING

    def _declared(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        return self.type_of(path, parts[1], env)

    def _declared_or_value(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        declared = self.value(path, parts[1], env)
        given = self.value(path, parts[2], env)
        if not declared:
            return given
        if given and given[0][0] in ("O", "F", "o", "L") and not any(one[0] in ("I", "C", "F", "O") for one in declared):
            return union([given, declared])
        return declared if any(one[0] != "Y" for one in declared) or not given else given

    def _generator(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        return (("X", "Generator", (self.value(path, parts[1], env),)),)

    def _bound_function(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        return self.value(path, parts[1], env)

    # Narrowing

    def _instance_of(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        classes = self.value(path, parts[2], env)
        wanted = [("I", one[1], one[2]) for one in classes if one[0] in ("C", "F")]
        before = self.expand(self.value(path, parts[1], env))
        if parts[3]:
            return tuple([one for one in before if one[:3] not in wanted])
        if not wanted:
            return NOTHING if classes else before
        kept = [one for one in before if one[0] == "I" and (one[:3] in wanted or self._inherits(one, wanted))]
        return tuple(kept) or tuple([(*one, ()) for one in wanted])

    def _inherits(self, one: Alternative, wanted: list[tuple[str, str, str]]) -> bool:
        return any(("I", base[0], base[1]) in wanted for base in self.bases(one[1], one[2]))

    def _type_is(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        wanted, negated = parts[2], parts[3]
        return tuple(
            [one for one in self.expand(self.value(path, parts[1], env)) if (self.typeof(one, wanted) is not bool(negated))]
        )

    def typeof(self, one: Alternative, wanted: str) -> bool | None:
        """Whether ``typeof`` gives the word (or, for ``array``, whether it is one); None if that cannot be said."""
        kind = one[0]
        if kind in ("Y", "V"):
            return None
        if wanted == "array":
            return kind == "T" or (kind == "X" and one[1] in ("Array", "ReadonlyArray"))
        if kind in ("F", "L", "Ft", "C", "Ct", "B"):
            return wanted == "function"
        if kind == "X" and one[1] in ("string", "number", "boolean", "bigint", "symbol"):
            return bool(one[1] == wanted)
        if kind == "I" and wanted == "function":
            return bool(self.find_member(one[1], one[2], "()"))
        if kind == "I" and self.definition(one[1], one[2]) is not None and self.definition(one[1], one[2])[0] == "e":
            return wanted in ("string", "number")
        return wanted == "object"

    def _discriminated(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        """``x.kind === 'a'`` leaves the alternatives whose `kind` may be that."""
        _, inner, name, literal, negated = parts
        found: list[Alternative] = []
        for one in self.expand(self.value(path, inner, env)):
            values = self.member(one, name)
            literals = [value[2][0][0][1] for value in values if value[0] == "X" and value[1] == "string" and value[2]]
            open_ended = not values or len(literals) < len(values)
            if open_ended or (len(literals) > 1 or not negated if literal in literals else negated):
                found.append(one)
        return tuple(found)

    def _has_member(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        before = self.expand(self.value(path, parts[1], env))
        if len(before) < 2:
            return before
        kept = tuple([one for one in before if bool(self.member(one, parts[2])) is not bool(parts[3])])
        return kept or before

    def _predicate(self, path: str, _expr: Any, parts: Any, env: Env) -> Alternatives:
        """After ``isThing(x)``: the type that the predicate names."""
        before = self.expand(self.value(path, parts[1], env))
        wanted: list[Alternatives] = []
        for one in self.expand(self.value(path, parts[2], env)):
            if one == ("Y", "Array.isArray"):
                return tuple([other for other in before if self.typeof(other, "array") is not bool(parts[3])])
            if one[0] == "F":
                declared = self.definition(one[1], one[2])
                ret = self.node(one[1], declared[4]) if declared is not None else None
                inner = self.node(one[1], ret[1]) if ret is not None and ret[0] == "n" else None
                if inner is not None and inner[0] == "tp":
                    wanted.append(self.type_of(one[1], inner[2]))
        if not wanted:
            return before
        named = union(wanted)
        if parts[3]:
            return tuple([one for one in before if one not in named])
        kept = tuple([one for one in before if one in named])
        return kept or named

    # Members

    def member(self, one: Alternative, name: str) -> Alternatives:
        kind = one[0]
        if kind == "I":
            return self.instance_member(one, name) or self._fallback_member(one, name)
        if kind == "O":
            return self.object_member(one, name)
        if kind in ("C", "F"):
            return self._function_member(one, name)
        if kind == "M":
            return self.exported(one[1], name)
        if kind == "Y":
            return (("Y", f"{one[1]}.{name}"),) if len(one[1]) < 200 else (one,)
        if kind == "o":
            return self._literal_member(one, name)
        if kind == "It":
            return self.type_member(one, name)
        if kind in ("X", "T"):
            return self._language_member(one, name)
        if kind == "U":
            return self._super_member(one, name)
        return NOTHING

    def _fallback_member(self, one: Alternative, name: str) -> Alternatives:
        """What a class that extends a type of the language has from it, or an object gives by any key."""
        if name in ("constructor", "[]", "()", "new()"):
            return NOTHING
        declared = self.definition(one[1], one[2])
        if declared is not None and declared[0] == "f":
            spreads: tuple[Any, ...] = declared[8]
        else:
            spreads = declared[5] if declared is not None and declared[0] == "c" else ()
        for spread in spreads:
            found = self.through(one[1], spread, name)
            if found:
                return self.bound(found, one)
        return self.instance_member(one, "[]")

    def _function_member(self, one: Alternative, name: str) -> Alternatives:
        if name == "prototype":
            return (("I", one[1], one[2], ()),)
        if name in ("bind", "call", "apply"):
            return (("B", name, one),)
        return self.static_member(one, name)

    def _literal_member(self, one: Alternative, name: str) -> Alternatives:
        _, path, expr, bound = one
        parts = self.node(path, expr)
        if parts is None:
            return NOTHING
        env = environment(bound)
        for member, value in parts[1]:
            if member == name:
                return self.value(path, value, env)
        for spread in parts[2]:
            found = union([self.member(part, name) for part in self.expand(self.value(path, spread, env))])
            if found:
                return found
        return NOTHING

    def _language_member(self, one: Alternative, name: str) -> Alternatives:
        if one[0] == "X" and one[1] == "Record" and len(one[2]) > 1:
            found: Alternatives = one[2][1]
            return found
        if name in ("length", "size"):
            return (("X", "number", ()),)
        return (("B", name, one),)

    def _super_member(self, one: Alternative, name: str) -> Alternatives:
        _, path, owner, static = one
        if static:
            declared = self.definition(path, owner)
            parents = self.direct_bases(path, declared) if declared is not None else NOTHING
            return union([self.static_member(("C", parent[1], parent[2]), name) for parent in parents if parent[0] == "I"])
        receiver: Alternative = ("I", path, owner, "this")
        return self.instance_member(("I", path, owner, ()), name, skip=1, receiver=receiver)

    # Functions

    def returned(self, path: str, name: str) -> Alternatives:
        """What a function gives, in terms of its type variables and parameters."""
        found: Alternatives = self.lookup(("return", path, name), self._returned, path, name, None)
        return found

    def _returned(self, path: str, name: str, env: Env) -> Alternatives:
        one = self.definition(path, name)
        if one is None or one[0] != "f":
            return NOTHING
        if one[9]:
            return union([self.returned(path, other) for other in one[9]])
        found = self.value(path, one[4], env)
        flags = one[1]
        if one[5]:
            return found
        if not found and one[6] not in (None, -1):
            found = self.contextual_return(path, one[6])
        if flags & bits.GENERATOR:
            return found
        if flags & bits.ASYNC:
            return (("X", "Promise", (self.awaited(found),)),)
        return found

    def contextual_return(self, path: str, context: Any) -> Alternatives:
        """The return type of the functions that a place accepts."""
        return union(
            [self.call(one, (), (), path) for one in self.expand(self.value(path, context)) if one[0] in ("Ft", "I", "It")]
        )


_V: Any = Values
_READERS: dict[str, Any] = {
    "d": _V._definition, "T": _V._this, "p": _V._parameter, "P": _V._lambda_parameter, "l": _V._literal, "s": _V._string,
    "L": _V._lambda, "o": _V._object, "m": _V._module, "w'": _V._promised_module, "R": _V._require, "y": _V._super,
    "u": _V._union, "r": _V._array, "w": _V._awaited, "i": _V._iterated, "I": _V._iterated, "q": _V._item, "Q": _V._rest,
    "x": _V._any_item, "n": _V._declared, "A": _V._declared_or_value, "G": _V._generator, "b": _V._bound_function,
    "xk": _V._keyed_item, "sl": _V._slice,
    "W": _V._instance_of, "Wt": _V._type_is, "Wd": _V._discriminated, "Wi": _V._has_member, "Wp": _V._predicate,
    "sp": _V._iterated,
    "k": lambda self, path, expr, parts, env: self.contextual_parameter(path, parts, env),
    "kr": lambda self, path, expr, parts, env: self.contextual_result(path, parts, env),
    "km": lambda self, path, expr, parts, env: self.contextual_member(path, parts, env),
    "ke": lambda self, path, expr, parts, env: self.element(self.value(path, parts[1], env)),
    "kt": lambda self, path, expr, parts, env: NOTHING,
    "cx": lambda self, path, expr, parts, env: self.contextual_argument(path, parts, env),
}  # fmt: skip
