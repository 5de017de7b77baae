"""What the place of a function or argument says about its parameters."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.base import View
from tokenzip.languages.javascript.alternatives import (
    NOTHING,
    Alternative,
    Alternatives,
    environment,
    singular,
    union,
    variables_in,
    with_receiver,
)
from tokenzip.languages.javascript.calls import Calls
from tokenzip.languages.javascript.inference import REST, Mapping
from tokenzip.languages.javascript.names import ARRAYS, ELEMENT_CALLBACKS, MAPS, PROMISES
from tokenzip.languages.javascript.types import Env


class Contexts(Calls):
    """Contextual types."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self._kept: dict[int, Any] = {}
        """Types that look-ups know by their identity, so that they stay alive."""

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
        rest = position < len(params) and params[position][3] & REST
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
            return self._parameter_at(function[1], params, position, environment(function[3]), rest)
        if kind == "F":
            declared = self.definition(function[1], function[2])
            if declared is None or declared[0] != "f":
                return NOTHING
            params = [(parameter[1], parameter[3]) for parameter in declared[3]]
            return self._parameter_at(function[1], params, position, environment(function[4]), rest)
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
        if at < position and not flags & REST:
            return NOTHING
        found = self.type_of(home, written, env or None)
        if flags & REST and not rest:
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
                else self.infer(base_path, base, cls[2], params, arguments, (), path, None, None, position)
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
            env: Mapping = environment(bound)
            if parts[3]:
                wanted = self._wanted(home, params, position)
                env |= self.infer(home, "", parts[3], params, arguments, types, path, env, wanted, position)
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
        env: Mapping = environment(bound)
        if declared[2]:
            wanted = self._wanted(home, params, position)
            env |= self.infer(home, name, declared[2], params, arguments, types, path, None, wanted, position)
        found = self._parameter_at(home, params, position, env, False)
        return with_receiver(found, this if this is not None and this[0] == "I" else None)

    def _wanted(self, home: str, params: list[tuple[Any, int]], position: int) -> frozenset[tuple[str, str, str]]:
        """The variables that matter to a function in the place of an argument: those of its parameters."""
        if not params:
            return frozenset()
        written = params[min(position, len(params) - 1)][0]
        if type(written) is not tuple:
            return self._find_wanted(home, params, position)
        self._kept[id(written)] = written
        found: frozenset[tuple[str, str, str]] = self.lookup(
            ("wanted", home, id(written), position), self._find_wanted, home, params, position
        )
        return found

    def _find_wanted(self, home: str, params: list[tuple[Any, int]], position: int) -> frozenset[tuple[str, str, str]]:
        found: set[tuple[str, str, str]] = set()
        for one in self._parameter_at(home, params, position, {}, False):
            if one[0] == "Ft":
                for at in range(4):
                    found |= variables_in(self.parameter_type(one, at), 2)
            else:
                found |= variables_in((one,), 2)
        return frozenset(found)

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
