"""What names at the top level of files stand for, through imports and exports."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.javascript.alternatives import NOTHING, Alternative, Alternatives, union
from tokenzip.languages.javascript.lookups import Definitions
from tokenzip.languages.javascript.names import GLOBALS

_NO_IMPLEMENTATION = bits.OVERLOAD | bits.DECLARATION


class Bindings(Definitions):
    """Values and types of names."""

    def member_entries(self, path: str, owner: str, name: str) -> tuple[Any, ...]:
        self._facts.add(("mem", path, owner, name))
        members = self.view.interface(path).members.get(owner)
        if members is None and path == self.path and owner in self.private:
            members = self.private_members.get(owner)
        return tuple(members.get(name, ())) if members else ()

    def module_name(self, path: str, name: str) -> Alternatives:
        """The value of a name at the top level of a file."""
        entries = self.view.interface(path).names.get(name)
        if entries and len(entries) == 1 and entries[0][0] == "d":
            self.note("sym", path, name)
            return self.defined(path, entries[0][1])
        found: Alternatives = self.lookup(("name", path, name), self._module_name, path, name)
        return found

    def _module_name(self, path: str, name: str) -> Alternatives:
        self.note("sym", path, name)
        entries = self.view.interface(path).names.get(name)
        if entries:
            return self.entries_value(path, entries)
        if name == "exports":
            found = self.module_value(path)
            if found and found[0][0] != "M":
                return found
        return self.global_name(name)

    def global_name(self, name: str) -> Alternatives:
        self.note("announced", f"js-global:{name}")
        files = self.view.announcing(f"js-global:{name}")
        parts = []
        for file in files:
            self.note("sym", file, name)
            entries = self.view.interface(file).names.get(name)
            if entries:
                parts.append(self.entries_value(file, entries))
        found = union(parts)
        if found or name not in GLOBALS:
            return found
        return (("Y", name),)

    def entries_value(self, path: str, entries: tuple[Any, ...]) -> Alternatives:
        parts: list[Alternatives] = []
        for entry in entries:
            op = entry[0]
            if op == "d":
                parts.append(self.defined(path, entry[1]))
            elif op in ("v", "s"):
                parts.append(self.value(path, entry[1]))
            elif op == "i":
                parts.append(self.imported(path, entry[1], entry[2]))
            elif op == "l":
                parts.append(self.module_name(path, entry[1]))
        return self.implementations(union(parts))

    def implementations(self, alternatives: Alternatives) -> Alternatives:
        """Without the signatures beside an implementation."""
        if len(alternatives) < 2:
            return alternatives
        kept = tuple([one for one in alternatives if one[0] != "F" or not self._is_signature(one)])
        return kept if any(one[0] == "F" for one in kept) else alternatives

    def _is_signature(self, function: Alternative) -> bool:
        one = self.definition(function[1], function[2])
        return one is not None and bool(one[1] & _NO_IMPLEMENTATION)

    def module_type(self, path: str, name: str, arguments: tuple[Alternatives, ...]) -> Alternatives:
        """The type of a name at the top level of a file."""
        if not arguments:
            level = self.alias_level
            found: Alternatives = self.lookup(("type", path, name, level), self._module_type, path, name, (), level)
            return found
        return self._module_type(path, name, arguments, self.alias_level)

    def _module_type(self, path: str, name: str, arguments: tuple[Alternatives, ...], level: int) -> Alternatives:
        self.alias_level = level
        self.note("sym", path, name)
        entries = self.view.interface(path).names.get(name)
        if entries:
            return self.entries_type(path, entries, arguments)
        return self.global_type(name, arguments)

    def global_type(self, name: str, arguments: tuple[Alternatives, ...]) -> Alternatives:
        self.note("announced", f"js-global:{name}")
        parts = []
        for file in self.view.announcing(f"js-global:{name}"):
            self.note("sym", file, name)
            entries = self.view.interface(file).names.get(name)
            if entries:
                parts.append(self.entries_type(file, entries, arguments))
        return union(parts)

    def entries_type(self, path: str, entries: tuple[Any, ...], arguments: tuple[Alternatives, ...]) -> Alternatives:
        parts: list[Alternatives] = []
        for entry in entries:
            op = entry[0]
            if op == "d":
                parts.append(self.defined_type(path, entry[1], arguments))
            elif op == "i":
                parts.append(self.imported_type(path, entry[1], entry[2], arguments))
            elif op == "l":
                parts.append(self.module_type(path, entry[1], arguments))
            elif op == "v":
                parts.append(self.value_as_type(self.value(path, entry[1]), arguments))
        return union(parts)

    def value_as_type(self, alternatives: Alternatives, arguments: tuple[Alternatives, ...]) -> Alternatives:
        """A class that was reached as a value, named in a type."""
        parts: list[Alternative] = []
        for one in alternatives:
            if one[0] == "C":
                parts.append(("I", one[1], one[2], arguments))
            elif one[0] == "Y":
                parts.append(one)
        return tuple(parts)

    # Imports

    def imported(self, path: str, specifier: str, name: str) -> Alternatives:
        state, target = self.resolve(specifier, path)
        if state != "file":
            return (("Y", specifier if name == "*" else f"{specifier}.{name}"),) if state == "external" else NOTHING
        if name == "*":
            return (("M", target),)
        return self.exported(target, name)

    def exported(self, path: str, name: str) -> Alternatives:
        """What a file exports under a name."""
        found: Alternatives = self.lookup(("export", path, name), self._exported, path, name)
        return found

    def _exported(self, path: str, name: str) -> Alternatives:
        self.note("sym", path, "=" + name)
        interface = self.view.interface(path)
        entries = interface.names.get("=" + name)
        if entries:
            return self.entries_value(path, entries)
        self.note("sym", path, "=")
        common = interface.names.get("=")
        if common:
            values = self.entries_value(path, common)
            if name == "default":
                found = union([self.member(one, "default") for one in values if one[0] == "O"])
                return found or values
            return union([self.member(one, name) for one in self.expand(values)])
        self.note("star", path)
        if name != "default":
            for _, specifier in interface.stars:
                state, target = self.resolve(specifier, path)
                if state == "file" and target != path:
                    found = self.exported(target, name)
                    if found:
                        return found
        return self._ambient_member(path, name)

    def _ambient_member(self, path: str, name: str) -> Alternatives:
        """A member of ``declare module`` in a file that exports nothing under that name."""
        if not path.endswith((".d.ts", ".d.mts", ".d.cts")):
            return NOTHING
        parts = []
        for module in self._declared_modules(path):
            parts.append(self.member(("O", path, module), name))
        return union(parts)

    def _declared_modules(self, path: str) -> tuple[str, ...]:
        """Names of the modules that a file declares (``declare module "x"``)."""
        self.note("sym", path, "*")
        return tuple(self.view.interface(path).names.get("*", ()))

    def imported_type(self, path: str, specifier: str, name: str, arguments: tuple[Alternatives, ...]) -> Alternatives:
        state, target = self.resolve(specifier, path)
        if state != "file":
            return (("Y", f"{specifier}.{name}"),) if state == "external" else NOTHING
        return self.exported_type(target, name, arguments) if name != "*" else NOTHING

    def exported_type(self, path: str, name: str, arguments: tuple[Alternatives, ...]) -> Alternatives:
        if not arguments:
            level = self.alias_level
            found: Alternatives = self.lookup(("export type", path, name, level), self._exported_type, path, name, (), level)
            return found
        origin: tuple[str, Any] | None = self.lookup(("origin", path, name), self._origin, path, name)
        return self.entries_type(origin[0], origin[1], arguments) if origin is not None else NOTHING

    def _exported_type(self, path: str, name: str, arguments: tuple[Alternatives, ...], level: int) -> Alternatives:
        self.alias_level = level
        origin: tuple[str, Any] | None = self.lookup(("origin", path, name), self._origin, path, name)
        return self.entries_type(origin[0], origin[1], arguments) if origin is not None else NOTHING

    def _origin(self, path: str, name: str) -> tuple[str, Any] | None:
        """(file, entries) under which a file exports a name, through its wildcards."""
        self.note("sym", path, "=" + name)
        interface = self.view.interface(path)
        entries = interface.names.get("=" + name)
        if entries:
            return path, entries
        self.note("sym", path, "=")
        common = interface.names.get("=")
        if common and name == "default":
            return path, common
        self.note("star", path)
        for _, specifier in interface.stars if name != "default" else ():
            state, target = self.resolve(specifier, path)
            if state == "file" and target != path:
                found: tuple[str, Any] | None = self.lookup(("origin", target, name), self._origin, target, name)
                if found:
                    return found
        return self._ambient_origin(path, name)

    def _ambient_origin(self, path: str, name: str) -> tuple[str, Any] | None:
        for owner in self._declared_modules(path):
            entries = self.member_entries(path, owner, name)
            if entries:
                return path, entries
        return None

    def required(self, path: str, specifier: str) -> Alternatives:
        """What ``require(specifier)`` gives."""
        state, target = self.resolve(specifier, path)
        if state != "file":
            return (("Y", specifier),) if state == "external" else NOTHING
        return self.module_value(target)

    def module_value(self, path: str) -> Alternatives:
        self.note("sym", path, "=")
        common = self.view.interface(path).names.get("=")
        if common:
            found: Alternatives = self.lookup(("module", path), self.entries_value, path, common)
            return found
        return (("M", path),)
