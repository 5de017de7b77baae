"""What the methods and functions of the language itself give."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.javascript.alternatives import NOTHING, Alternative, Alternatives, union
from tokenzip.languages.javascript.inference import Inference
from tokenzip.languages.javascript.names import ARRAYS, MAPS, ONE_ELEMENT, PROMISES, SAME_ARRAY

_FOLLOWED = frozenset({
    "Promise.all", "Promise.allSettled", "Promise.resolve", "Promise.race", "Promise.any", "Array.from", "Array.of",
    "Set", "Map",
    "Object.values", "Object.entries", "Object.keys", "structuredClone", "Object",
})  # fmt: skip
"""Functions of the language whose result is known from their arguments."""


class Methods(Inference):
    """Calls of what the language gives."""

    def _callback(self, path: str, arguments: tuple[Any, ...], position: int, given: list[Alternatives]) -> Alternatives:
        """What the callback at a position gives for the values."""
        if position >= len(arguments):
            return NOTHING
        parts = []
        for one in self.expand(self.argument(path, arguments[position])):
            if one[0] == "L":
                parts.append(self.call_lambda(one, given))
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
