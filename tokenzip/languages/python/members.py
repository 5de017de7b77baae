"""Attributes of instances, classes, modules and type variables: their types, bound to what they are reached through."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.python.inheritance import OUTSIDE, Inheritance
from tokenzip.languages.python.ir import (
    IS_SETTER,
    PROPERTY,
    STATIC,
    Class,
)
from tokenzip.languages.python.types import Alternative, Types, class_of, has_variables, join, substitute


class Members(Inheritance):
    """Look-ups of attributes."""

    def attr(self, alternative: Alternative, name: str, skip: int = 0) -> Types:
        """The types of an attribute of an instance (I) or class (C) of the project."""
        key = self._key("attr", alternative[1], alternative[2], alternative[0], alternative[3], name, skip)
        return self.lookup(key, self._attr, alternative, name, skip)  # type: ignore[no-any-return]

    def _attr(self, alternative: Alternative, name: str, skip: int) -> Types:
        found = self.member(alternative[1], alternative[2], name, skip)
        if found is None:
            return self._fallback(alternative, name, skip)
        path, cls, entries = found
        on_instance = alternative[0] == "I"
        types = self._member_types(path, cls, name, entries, alternative, on_instance)
        if on_instance and any(item[0] == "I" for item in types):
            types = self._through_descriptors(types)
        if has_variables(types):
            values = dict(self.parameters_of(alternative, (path, cls)))
            values["Self"] = (("I", *alternative[1:]),)
            types = substitute(types, values)
        return types

    def _fallback(self, alternative: Alternative, name: str, skip: int) -> Types:
        """``__getattr__`` where it says what it returns; for classes the metaclass."""
        if skip or name.startswith("__"):
            return ()
        if alternative[0] == "I":
            found = self.member(alternative[1], alternative[2], "__getattr__")
            return self.call_method(alternative, "__getattr__") if found is not None else ()
        for owner in self.mro(alternative[1], alternative[2]):
            definition = self.definition(*owner) if owner != OUTSIDE else None
            if isinstance(definition, Class) and definition.metaclass is not None:
                for meta in self.ex(owner[0], definition.metaclass):
                    if meta[0] == "C" and self.member(meta[1], meta[2], name) is not None:
                        return self.attr(("I", *meta[1:]), name)
        return ()

    def _member_types(self, path: str, cls: str, name: str, entries: Any, alternative: Alternative, on_instance: bool) -> Types:
        if not on_instance and self.is_enum(path, cls) and any(entry[0] == "value" for entry in entries):
            return (("I", path, cls, ()),)
        found: list[Types] = []
        assigned = [entry for entry in entries if entry[0] != "def"]
        getters = [entry for entry in entries if entry[0] == "def"]
        for entry in getters:
            bound: list[Types] = []
            for item in self.value_of(path, entry[1]):
                bound.append(self._bind(item, alternative, on_instance))
            found.append(join(bound))
        if assigned and not (getters and all(self._is_property(path, entry[1]) for entry in getters)):
            types = self._assigned(path, assigned)
            if not types and not getters:
                types = self._inherited_annotation(path, cls, name)
            found.append(types)
        return self._one_of_overloads(join(found))

    def _inherited_annotation(self, path: str, cls: str, name: str) -> Types:
        """A bare assignment in a subclass keeps the declaration of the base."""
        above = self.member(path, cls, name, 1)
        if above is None:
            return ()
        entries = [entry for entry in above[2] if entry[0] != "def"]
        return self._assigned(above[0], entries) if entries else ()

    def _is_property(self, path: str, qualified: str) -> bool:
        found = self.definition(path, qualified)
        return found is not None and bool(found.flags & PROPERTY)

    def _bind(self, item: Alternative, alternative: Alternative, on_instance: bool) -> Types:
        """A function found in a class, bound to what it was reached through; a property gives what it returns."""
        if item[0] != "F":
            return (item,)
        found = self.definition(item[1], item[2])
        flags = found.flags if found is not None else 0
        if flags & IS_SETTER:
            return ()
        if flags & PROPERTY:
            return self.call(("F", item[1], item[2], alternative), ()) if on_instance else ()
        return (("F", item[1], item[2], None if flags & STATIC else alternative),)

    def _through_descriptors(self, types: Types) -> Types:
        """Instances with ``__get__`` give what that returns."""
        found: list[Types] = []
        for item in types:
            if item[0] == "I" and self.member(item[1], item[2], "__get__") is not None:
                found.append(self.call_method(item, "__get__") or (item,))
            else:
                found.append((item,))
        return join(found)

    def get_attribute(self, alternative: Alternative, name: str) -> Types:
        """The types of ``alternative.name``."""
        tag = alternative[0]
        if name == "__class__" and tag in ("I", "V"):
            return class_of((alternative,))
        if tag in ("I", "C"):
            return self.attr(alternative, name)
        if tag == "M":
            return self.module_attribute(alternative, name)
        if tag == "N":
            return self.submodule(alternative, name) or (("Y", f"{alternative[1].replace('/', '.')}.{name}"),)
        if tag == "Y":
            return (("Y", f"{alternative[1]}.{name}"),)
        if tag == "S":
            return self.attr(alternative[1], name, 1)
        if tag in ("X", "R", "T"):
            return (("B", name, alternative),)
        if tag in ("V", "VC"):
            return self._variable_attribute(alternative, name)
        return ()

    def module_attribute(self, module: Alternative, name: str) -> Types:
        """The types of a name of a module, or its submodule."""
        found = self.bindings(module[1], name)
        if found:
            types: list[Types] = []
            for binding in found:
                types.append(self.bound(binding))
            return self._one_of_overloads(join(types))
        if self.interface(module[1]).names.get(name):
            return ()
        below = self.submodule(module, name)
        if below:
            return below
        return () if self.is_open(module[1]) or name.startswith("__") else (("Z", name),)

    def _variable_attribute(self, variable: Alternative, name: str) -> Types:
        """An attribute of a type variable is one of its bound; what it is bound to stays the variable."""
        found: list[Types] = []
        for bound in variable[2]:
            if bound[0] == "I":
                for item in self.attr(bound if variable[0] == "V" else ("C", *bound[1:]), name):
                    is_bound = item[0] == "F" and item[3] is not None
                    found.append(((*item[:3], variable) if is_bound else item,))
        return join(found)
