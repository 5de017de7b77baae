"""What the arguments of a call say about the type variables of a signature."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tokenzip.languages.javascript.alternatives import (
    NOTHING,
    Alternative,
    Alternatives,
    environment,
    has_variables,
    substitute,
    union,
    variables_in,
)
from tokenzip.languages.javascript.names import ARRAYS, PROMISES
from tokenzip.languages.javascript.types import Env
from tokenzip.languages.javascript.values import Values

Mapping = dict[tuple[str, str, str], Alternatives]
REST = 1
"""Flag of a parameter that takes all further arguments."""


class Inference(Values):
    """Inference of type arguments."""

    def infer(
        self, home: str, owner: str, tparams: Any, params: list[tuple[Any, int]], arguments: tuple[Any, ...],
        types: tuple[Any, ...], path: str, env: Env, needed: Collection[tuple[str, str, str]] | None = None, skip: int = -1,
    ) -> Mapping:  # fmt: skip
        """Type variables of a signature -> what the arguments of a call say about them; only those that are needed."""
        mapping: Mapping = {}
        if types:
            for (name, _, _), given in zip(tparams, types, strict=False):
                mapping[home, owner, name] = given
            return mapping
        wanted = {(home, owner, name) for name, _, _ in tparams}
        if needed is not None:
            wanted.intersection_update(needed)
        if not wanted:
            return mapping
        for position, argument in enumerate(arguments):
            at = min(position, len(params) - 1)
            if at < 0 or position == skip or (position > at and not params[at][1] & REST):
                continue
            written = self.type_of(home, params[at][0], env)
            if params[at][1] & REST:
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
                written = self.type_of(one[1], parts[2], environment(one[3]))
                if not wanted.isdisjoint(variables_in(written, 2)):
                    self._unify(written, self._result_of(two, one, mapping), wanted, mapping, level + 1)
        elif kind == "Ct" and two[0] in ("C", "F"):
            parts = self.node(one[1], one[2])
            if parts is not None:
                self._unify(
                    self.type_of(one[1], parts[2], environment(one[3])),
                    self.constructed(two, (), ""),
                    wanted,
                    mapping,
                    level + 1,
                )
        elif kind == "It" and two[0] in ("O", "o", "I", "It"):
            parts = self.node(one[1], one[2])
            for name, written in parts[1][:8] if parts is not None else ():
                found = self.type_of(one[1], written, environment(one[3]))
                if has_variables(found):
                    self._unify(found, self.member(two, name), wanted, mapping, level + 1)

    def _result_of(self, function: Alternative, expected: Alternative, mapping: Mapping) -> Alternatives:
        if function[0] != "L":
            return self.call(function, (), (), function[1])
        given = [substitute(self.parameter_type(expected, position), mapping) for position in range(3)]
        return self.call_lambda(function, given)

    def call_lambda(self, one: Alternative, given: list[Alternatives]) -> Alternatives:
        raise NotImplementedError
