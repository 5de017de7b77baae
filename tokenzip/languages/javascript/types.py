"""Written types: what values they describe."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.base import View
from tokenzip.languages.javascript.alternatives import (
    NOTHING,
    Alternative,
    Alternatives,
    environment,
    pruned,
    union,
)
from tokenzip.languages.javascript.members import Members
from tokenzip.languages.javascript.names import ARRAYS, KNOWN_TYPES, MAPS, PROMISES, SAME
from tokenzip.languages.javascript.structure import is_eager

Env = dict[tuple[str, str, str], Alternatives] | None
_COMPOSITE = frozenset({"tr", "td", "tq", "tu", "ti", "tt", "ta", "tf", "tn", "to", "tm", "tc"})
_NO_VALUES = frozenset({"null", "undefined", "void", "never"})


class Types(Members):
    """Reads type expressions."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self._read: dict[int, tuple[Any, bool]] = {}
        """Identity of a type expression of an interface -> itself (so that it stays alive), whether it is eager."""

    def type_of(self, path: str, expr: Any, env: Env = None) -> Alternatives:
        """The alternatives of a type. Types of other files are read once for each place where they are written."""
        if type(expr) is int:
            parts = self.node(path, expr)
            return NOTHING if parts is None else self._type_of(path, expr, parts, env)
        if expr is None:
            return NOTHING
        if expr[0] not in _COMPOSITE:
            return self._type_of(path, expr, expr, env)
        known = self._read.get(id(expr))
        if known is None:
            known = self._read[id(expr)] = (expr, is_eager(path, expr, self.node))
        if known[1] and env:
            return self._type_of(path, expr, expr, env)
        level = self.alias_level
        found: Alternatives = self.lookup(("read", path, id(expr), level), self._read_type, path, expr, level)
        return self.substituted(found, env) if env else found

    def _read_type(self, path: str, expr: Any, level: int) -> Alternatives:
        self.alias_level = level
        return self._type_of(path, expr, expr, None)

    def _type_of(self, path: str, expr: Any, parts: Any, env: Env) -> Alternatives:
        op = parts[0]
        if op == "tr":
            return self._reference(path, parts[1], parts[2], env)
        if op == "td":
            return self.defined_type(path, parts[1], self._arguments(path, parts[2], env))
        if op == "V":
            key = (path, parts[1], parts[2])
            known = env.get(key) if env else None
            return known if known is not None else (("V", *key),)
        if op in ("tu", "ti"):
            return self._combined(path, parts, env)
        if op in ("tf", "tn", "to"):
            kind = {"tf": "Ft", "tn": "Ct", "to": "It"}[op]
            return ((kind, path, expr, self.closed(path, expr, env)),)
        return self._other(path, parts, env)

    def _arguments(self, path: str, arguments: tuple[Any, ...], env: Env) -> tuple[Alternatives, ...]:
        return tuple([pruned(self.type_of(path, argument, env)) for argument in arguments])

    def _other(self, path: str, parts: Any, env: Env) -> Alternatives:
        op = parts[0]
        if op == "tl":
            return NOTHING if parts[1] in _NO_VALUES else (("X", parts[1], ()),)
        if op == "ts":
            return (("X", "string", ((("Y", parts[1]),),)),)
        if op == "ta":
            return (("X", "Array", (self.type_of(path, parts[1], env),)),)
        if op == "tt":
            return self._tuple(path, parts[1], env)
        if op == "tR":
            return self.type_of(path, parts[1], env)
        if op == "tq":
            return self._qualified(path, parts, env)
        if op == "ty":
            return self.value(path, parts[1], env)
        if op == "tx":
            return self._indexed(path, parts, env)
        if op == "tk":
            return (("X", "string", ()),)
        if op == "tc":
            return union([self.type_of(path, parts[1], env), self.type_of(path, parts[2], env)])
        if op == "tm":
            return (("X", "Record", ((("X", "string", ()),), self.type_of(path, parts[1], env))),)
        if op == "th":
            return (("I", path, parts[1], "this"),)
        if op == "tp":
            return (("X", "boolean", ()),)
        if op == "n":
            return self.type_of(path, parts[1], env)
        return NOTHING

    def _tuple(self, path: str, items: tuple[Any, ...], env: Env) -> Alternatives:
        for item in items:
            parts = self.node(path, item)
            if parts is not None and parts[0] == "tR":
                elements = [self.type_of(path, one, env) for one in items]
                flat = [
                    self.element(one) if self.node(path, item)[0] == "tR" else one
                    for item, one in zip(items, elements, strict=True)
                    if self.node(path, item)
                ]
                return (("X", "Array", (union(flat),)),)
        return (("T", self._arguments(path, items, env)),)

    def element(self, alternatives: Alternatives) -> Alternatives:
        """What iteration over the alternatives yields."""
        raise NotImplementedError

    def _combined(self, path: str, parts: Any, env: Env) -> Alternatives:
        """Any part of a union; an intersection has the members of all, so its parts are alternatives too."""
        return union([self.type_of(path, one, env) for one in parts[1]])

    def _reference(self, path: str, name: str, arguments: tuple[Any, ...], env: Env) -> Alternatives:
        given = self._arguments(path, arguments, env) if arguments else ()
        found = self.module_type(path, name, given)
        if (found and found[0][0] != "Y") or self.view.interface(path).names.get(name):
            return found
        return self.language_type(name, given) or found

    def language_type(self, name: str, given: tuple[Alternatives, ...]) -> Alternatives:
        """A type that the language gives."""
        if name in SAME:
            if name == "Awaited":
                return self.awaited(given[0]) if given else NOTHING
            return given[0] if given else NOTHING
        if name == "ReturnType":
            return union([self.call(one, (), (), "") for one in given[0]]) if given else NOTHING
        if name == "InstanceType":
            return union([self.constructed(one, (), "") for one in given[0]]) if given else NOTHING
        if name == "Parameters" and given:
            return self._parameters(given[0])
        if name in KNOWN_TYPES or name in ("JSX.Element",):
            return (("X", name, given),)
        return (("Y", name),)

    def _parameters(self, functions: Alternatives) -> Alternatives:
        found = [tuple([self.parameter_type(one, position) for position in range(4)]) for one in functions]
        return tuple([("T", one) for one in found if any(one)])

    def parameter_type(self, function: Alternative, position: int) -> Alternatives:
        raise NotImplementedError

    def call(self, one: Alternative, arguments: tuple[Any, ...], types: tuple[Any, ...], path: str) -> Alternatives:
        raise NotImplementedError

    def awaited(self, alternatives: Alternatives) -> Alternatives:
        """What ``await`` gives."""
        found: list[Alternatives] = []
        for one in alternatives:
            if one[0] == "X" and one[1] in PROMISES:
                found.append(self.awaited(one[2][0]) if one[2] else NOTHING)
            else:
                found.append((one,))
        return union(found)

    def _qualified(self, path: str, parts: Any, env: Env) -> Alternatives:
        arguments = self._arguments(path, parts[3], env)
        found: list[Alternatives] = []
        for one in self.value(path, parts[1], env) or self._namespaces(path, parts[1]):
            if one[0] == "M":
                found.append(self.exported_type(one[1], parts[2], arguments))
            elif one[0] == "O":
                entries = self.member_entries(one[1], one[2], parts[2])
                found.append(self.entries_type(one[1], entries, arguments))
            elif one[0] == "Y":
                found.append((("Y", f"{one[1]}.{parts[2]}"),))
            elif one[0] in ("C", "F"):
                found.append(self._merged_type(one, parts[2], arguments))
        return union(found)

    def _namespaces(self, path: str, expr: Any) -> Alternatives:
        return NOTHING

    def _merged_type(self, one: Alternative, name: str, arguments: tuple[Alternatives, ...]) -> Alternatives:
        """A type in the namespace that is merged with a class or function."""
        _, path, owner, *_ = one
        self.note("sym", path, owner.split("#")[0])
        for entry in self.view.interface(path).names.get(owner.split("#")[0], ()):
            if entry[0] == "d":
                entries = self.member_entries(path, entry[1], name)
                if entries:
                    return self.entries_type(path, entries, arguments)
        return NOTHING

    def _indexed(self, path: str, parts: Any, env: Env) -> Alternatives:
        base = self.expand(self.type_of(path, parts[1], env))
        key = self.node(path, parts[2])
        if key is not None and key[0] == "ts":
            return union([self.member(one, key[1]) for one in base])
        if key is not None and key[0] == "tl" and key[1] == "number":
            return self.element(base)
        found: list[Alternatives] = []
        for one in base:
            if one[0] == "X" and one[1] in MAPS and len(one[2]) > 1:
                found.append(one[2][1])
            elif one[0] == "X" and one[1] in ARRAYS and one[2]:
                found.append(one[2][0])
            else:
                found.append(self.all_members(one))
        return union(found)

    def all_members(self, one: Alternative) -> Alternatives:
        """Any member of an object whose key is not known."""
        raise NotImplementedError

    def type_member(self, one: Alternative, name: str) -> Alternatives:
        """A member of an object type."""
        _, path, expr, bound = one
        parts = self.node(path, expr)
        env = environment(bound)
        for member, written in parts[1] if parts is not None else ():
            if member == name:
                return self.type_of(path, written, env)
        for member, written in parts[1] if parts is not None else ():
            if member == "[]":
                return self.type_of(path, written, env)
        return NOTHING
