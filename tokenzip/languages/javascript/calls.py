"""What calls and constructions give."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.base import View
from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.javascript.alternatives import (
    NOTHING,
    Alternative,
    Alternatives,
    environment,
    has_variables,
    union,
    variables_in,
    with_receiver,
)
from tokenzip.languages.javascript.inference import REST, Mapping
from tokenzip.languages.javascript.methods import Methods
from tokenzip.languages.javascript.names import MAPS

_MAX_SIGNATURES = 3
"""Signatures that are followed of those that fit a call: the first one that fits counts, and fitting is judged roughly."""
_MAX_LEVEL = 3
"""Calls inside calls that are followed with the values of their arguments."""


_TELLING = frozenset({"s", "l", "L", "o", "d"})


class Calls(Methods):
    """Calls and constructions."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self._fitted: dict[tuple[int, tuple[str, ...]], tuple[Any, list[Any]]] = {}
        """(identity of signatures, shape of a call) -> the signatures (so that they stay alive), those that fit."""

    def call(self, one: Alternative, arguments: tuple[Any, ...], types: tuple[Any, ...], path: str) -> Alternatives:
        kind = one[0]
        if kind == "F":
            return self._call_function(one, arguments, types, path)
        if kind == "Ft":
            return self._call_type(one, arguments, types, path)
        if kind == "L":
            return self.call_lambda(one, [self.argument(path, argument) for argument in arguments])
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
            home, entries = found[0][0], found[1]
            mapping = self.instance_variables(one, found[0])
        else:
            home = one[1]
            parts = self.node(one[1], one[2])
            entries = tuple([("=", value) for member, value in parts[1] if member == name]) if parts is not None else ()
            mapping = environment(one[3])
        written = self._fitting(home, entries, arguments, path) if len(entries) > 1 and arguments is not None else None
        if written is None:
            written = [entry[1] for entry in entries if entry[0] in ("v", "=")]
        return union([self.substituted(self.type_of(home, expr), mapping) for expr in written[:_MAX_SIGNATURES]])

    def _fitting(self, home: str, entries: tuple[Any, ...], arguments: tuple[Any, ...], path: str) -> list[Any]:
        """The signatures that can take such arguments; all of them if none can. Worked out once for each shape of a call."""
        shape = tuple([self._shape(path, argument) for argument in arguments])
        if type(entries[0][1]) is not tuple or entries[0][0] == "=":
            return [entry[1] for entry in entries if self._fits(home, entry[1], shape)] or [entry[1] for entry in entries]
        key = (id(entries), shape)
        known = self._fitted.get(key)
        if known is None:
            written = [entry[1] for entry in entries if entry[0] == "v"]
            known = self._fitted[key] = (entries, [expr for expr in written if self._fits(home, expr, shape)] or written)
        return known[1]

    def _shape(self, path: str, argument: Any) -> str:
        """What syntax shows of an argument: the first item of its expression, if that tells functions from strings."""
        parts = self.node(path, argument) if not (type(argument) is tuple and argument[:1] == ("=",)) else None
        return parts[0] if parts is not None and parts[0] in _TELLING else ""

    def _fits(self, home: str, expr: Any, shape: tuple[str, ...]) -> bool:
        """Whether a signature can take the arguments, judged by their number and by functions against strings."""
        parts = self.node(home, expr)
        if parts is not None and parts[0] == "n":
            parts = self.node(home, parts[1])
        if parts is None or parts[0] not in ("tf", "tn"):
            return True
        params = parts[1]
        rest = bool(params) and bool(params[-1][2] & REST)
        required = sum(1 for _, _, flags in params if not flags & 3)
        if len(shape) < required or (len(shape) > len(params) and not rest):
            return False
        for given, (_, written, flags) in zip(shape, params, strict=False):
            if flags & REST:
                break
            expected = self.node(home, written)
            if given and expected is not None and not self._may_be(home, given, expected, parts[3]):
                return False
        return True

    def _may_be(self, home: str, given: str, written: Any, variables: Any) -> bool:
        """Whether a literal argument may have the written type, as far as syntax shows."""
        if written[0] == "V":
            bound = next((self.node(home, bound) for name, bound, _ in variables if name == written[2]), None)
            if bound is None:
                return True
            written = bound
        if given in ("s", "l"):
            return written[0] not in ("tf", "ta", "tt", "to")
        if given in ("L", "o", "d"):
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
                found = self.substituted(
                    found, self.infer(home, name, declared[2], params, arguments, types, path, None, wanted)
                )
        if bound:
            found = self.substituted(found, environment(bound))
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
            rest = bool(params) and bool(params[-1][3] & REST)
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
            return self.substituted(found, mapping)
        key = ("return", home, name, tuple(sorted(mapping.items())), self.level)
        level = self.level + 1
        better: Alternatives = self.lookup(key, self._returned_with, home, name, mapping, level)
        return better or self.substituted(found, mapping)

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
        env = environment(bound)
        found = self.type_of(home, parts[2], env)
        wanted = variables_in(found, 2) if parts[3] else None
        if wanted:
            params = [(written, flags) for _, written, flags in parts[1]]
            found = self.substituted(found, self.infer(home, "", parts[3], params, arguments, types, path, env, wanted))
        return found

    def call_lambda(self, one: Alternative, given: list[Alternatives]) -> Alternatives:
        _, path, lam, bound = one
        if type(lam) is int:
            if path != self.path:
                return NOTHING
            flags, params, ret, written, _ = self.lambdas[lam]
            owner = f"~{lam}"
        else:
            _, owner, flags, params, ret, written = lam
        env = environment(bound)
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
        mapping = self.infer(cls[1], cls[2], declared[2], params, arguments, (), path, None)
        return tuple([mapping.get((cls[1], cls[2], name), NOTHING) for name, _, _ in declared[2]]) if mapping else ()
