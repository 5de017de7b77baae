"""Definitions, names, classes and attributes of the project: what they are, over the closed forms of the interfaces.

Nothing in this package recurses through generators: a look-up may nest as deep as the project's functions call each other,
and frames of plain functions cost no C stack.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokenzip.languages.base import View
from tokenzip.languages.python.builtin_names import BUILTINS
from tokenzip.languages.python.ir import (
    CLASSMETHOD,
    FIXTURE,
    IS_CONTEXT,
    IS_SETTER,
    LOCAL,
    OVERLOAD,
    PROPERTY,
    STATIC,
    Class,
    Expression,
    Function,
)
from tokenzip.languages.python.resolve import Binding, Modules
from tokenzip.languages.python.types import Alternative, Types, class_of, has_variables, join, substitute
from tokenzip.model import Fact

Owner = tuple[str, str]
"""Path and qualified name of a class; ("", "") is a base class that is not known."""
OUTSIDE: Owner = ("", "")
_MAX_REMEMBERED = 100_000
"""Look-ups kept for the next files. Forgetting costs time only: a look-up answers the same at any time."""
_TRANSPARENT = frozenset({"object", "Generic", "Protocol", "ABC"})
_ENUM_BASES = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"})
_KEEPING = PROPERTY | STATIC | CLASSMETHOD | IS_CONTEXT | OVERLOAD | FIXTURE
"""Functions that their decorators leave what they are, or whose decorators are known."""
Keywords = tuple[tuple[str, Types], ...]


class Members(Modules):
    """Look-ups of definitions: remembered for all files of a view. Expressions between them are not."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self._definitions: dict[Fact, Function | Class] = {}
        self._path = ""
        self._own: tuple[Expression, ...] = ()
        self._own_values: dict[int, Types] = {}
        self._local: dict[str, Any] = {}
        self._local_members: dict[str, dict[str, Any]] = {}
        self._passed: dict[tuple[str, str], tuple[int, ...]] = {}
        self._temporary: list[tuple[Any, ...]] = []

    def forget(self) -> None:
        """Drop what only the file linked last could reach, and everything once it has grown large."""
        for key in self._temporary:
            self._shared.pop(key, None)
        self._temporary.clear()
        if len(self._shared) > _MAX_REMEMBERED:
            self._shared.clear()
            self._interfaces.clear()
            self._definitions.clear()
            self._modules.clear()

    # ---- what the layers above define

    def ex(self, path: str, expression: Any) -> Types:
        """The types of an expression: a row of the file being linked (a number), or in closed form."""
        raise NotImplementedError

    def call(self, alternative: Alternative, arguments: tuple[Types, ...], keywords: Keywords = ()) -> Types:
        """What a call of the alternative gives."""
        raise NotImplementedError

    def call_method(self, alternative: Alternative, name: str, arguments: tuple[Types, ...] = ()) -> Types:
        """What calling a method of an instance gives."""
        raise NotImplementedError

    # ---- definitions

    def definition(self, path: str, qualified: str) -> Function | Class | None:
        """A definition of a file; of the file being linked also those that no other file can reach."""
        fact = ("def", path, qualified)
        self._facts.add(fact)
        known = self._definitions.get(fact)
        if known is not None:
            return known
        found = self.interface(path).definitions.get(qualified)
        if found is not None:
            known = self._definitions[fact] = _record(found)
            return known
        found = self._local.get(qualified) if path == self._path else None
        return _record(found) if found is not None else None

    def _key(self, kind: str, path: str, qualified: str, *rest: Any) -> tuple[Any, ...]:
        """The key of a look-up about a definition: what only the file being linked can reach is forgotten after it."""
        key = (kind, path, qualified, *rest)
        if path == self._path and qualified in self._local:
            self._temporary.append(key)
        return key

    def value_of(self, path: str, qualified: str) -> Types:
        """What the name of a definition stands for: the class or function, or what its decorators made of it."""
        found = self.definition(path, qualified)
        if found is None:
            return ()
        if isinstance(found, Class):
            return (("C", path, qualified, ()),)
        if not found.decorators or found.flags & _KEEPING:
            return (("F", path, qualified, None),)
        return self.lookup(self._key("value", path, qualified), self._decorated, path, qualified, found.decorators)  # type: ignore[no-any-return]

    def is_decorated(self, path: str, qualified: str) -> bool:
        """Whether a class has decorators, which may give it members of their own."""
        found = self.definition(path, qualified)
        return isinstance(found, Class) and bool(found.decorators)

    def _decorated(self, path: str, qualified: str, decorators: tuple[Any, ...]) -> Types:
        value: Types = (("F", path, qualified, None),)
        for decorator in reversed(decorators):
            value = self._decorate(self.ex(path, decorator), value)
        return value

    def _decorate(self, decorators: Types, value: Types) -> Types:
        """A decorator that gives an instance, or its own inner function in plain sight, changes what is called.

        Any other keeps the function, as ``functools.wraps`` says of a wrapper.
        """
        for decorator in decorators:
            if decorator[0] in ("F", "C", "X", "I"):
                given = self.call(decorator, (value,))
                made = [item for item in given if item[0] == "I" or item in value or self._is_plain_wrapper(item)]
                if made:
                    return tuple(made)
        return value

    def _is_plain_wrapper(self, item: Alternative) -> bool:
        """Whether an alternative is a function made inside another, itself undecorated."""
        found = self.definition(item[1], item[2]) if item[0] == "F" else None
        return isinstance(found, Function) and bool(found.flags & LOCAL) and not found.decorators

    # ---- names

    def global_name(self, path: str, name: str) -> Types:
        """The types of a module-level name of a file; ``Y`` for a builtin."""
        return self.lookup(("global", path, name), self._global_name, path, name)  # type: ignore[no-any-return]

    def _global_name(self, path: str, name: str) -> Types:
        bindings = self.bindings(path, name)
        if not bindings:
            if name in BUILTINS and not self.interface(path).names.get(name):
                return (("Y", name),)
            return ()
        found: list[Types] = []
        for binding in bindings:
            found.append(self.bound(binding))
        return self._one_of_overloads(join(found))

    def bound(self, binding: Binding) -> Types:
        """The types of what a binding names."""
        if binding[0] == "D":
            return self.value_of(binding[1], binding[2])
        if binding[0] in ("W", "U"):
            return self.variable(binding[1], binding[2].partition("#")[0])
        return (binding,)

    def variable(self, path: str, name: str) -> Types:
        """The types of a module-level variable: declared ones if it is annotated, else of all that is assigned."""
        return self.lookup(("variable", path, name), self._variable, path, name)  # type: ignore[no-any-return]

    def _variable(self, path: str, name: str) -> Types:
        self.note("sym", path, name)
        entries = [entry for entry in self.interface(path).names.get(name, ()) if entry[0] in ("value", "bound")]
        return self._assigned(path, entries)

    def _assigned(self, path: str, entries: list[Any]) -> Types:
        declared = [entry for entry in entries if entry[1] is not None and self._is_declared(entry[1])]
        found: list[Types] = []
        for entry in declared or entries:
            found.append(self.ex(path, entry[1]))
        return join(found)

    def _is_declared(self, expression: Any) -> bool:
        if type(expression) is int:
            return expression >= 0 and self._own[expression][0] in ("instance", "declared")
        return expression[0] in ("instance", "declared")

    def _one_of_overloads(self, types: Types) -> Types:
        """Of overloads the implementation, or where there is none the first."""
        if len(types) < 2:
            return types
        kept: list[Alternative] = []
        overloads: list[Alternative] = []
        for alternative in types:
            found = self.definition(alternative[1], alternative[2]) if alternative[0] == "F" else None
            (overloads if found is not None and found.flags & OVERLOAD else kept).append(alternative)
        if overloads and not any(alternative[0] == "F" for alternative in kept):
            kept.append(overloads[0])
        return tuple(kept)

    # ---- classes

    def mro(self, path: str, qualified: str) -> tuple[Owner, ...]:
        """The method resolution order (C3); `OUTSIDE` at the end if a base is not known."""
        return self.lookup(self._key("mro", path, qualified), self._mro, path, qualified) or ((path, qualified),)

    def _mro(self, path: str, qualified: str) -> tuple[Owner, ...]:
        me = (path, qualified)
        found = self.definition(path, qualified)
        if not isinstance(found, Class):
            return (me,)
        sequences: list[list[Owner]] = []
        direct: list[Owner] = []
        unknown = False
        for base in found.bases:
            types = self.ex(path, base)
            cls = next((item for item in types if item[0] == "C" and item[1:3] != me), None)
            if cls is None:
                unknown = unknown or not self._is_transparent(types)
                continue
            above = [owner for owner in self.mro(cls[1], cls[2]) if owner != me]
            if OUTSIDE in above:
                unknown = True
            sequences.append([owner for owner in above if owner != OUTSIDE] or [cls[1:3]])
            direct.append(cls[1:3])
        sequences.append(direct)
        order = [me, *_merge(sequences)]
        return tuple([*order, OUTSIDE] if unknown else order)

    def _is_transparent(self, types: Types) -> bool:
        """Whether a base outside the project adds no members that matter (``Generic[T]``, say)."""
        for item in types:
            if item[0] == "A":
                return self._is_transparent(self.ex(item[1], item[2][1])) if item[2] and item[2][0] == "index" else False
            if item[0] == "Y" and item[1].rpartition(".")[2] in _TRANSPARENT:
                return True
        return False

    def bases(self, path: str, qualified: str) -> tuple[Types, ...]:
        """The types of each base of a class."""
        return self.lookup(self._key("bases", path, qualified), self._bases, path, qualified)  # type: ignore[no-any-return]

    def _bases(self, path: str, qualified: str) -> tuple[Types, ...]:
        found = self.definition(path, qualified)
        if not isinstance(found, Class):
            return ()
        bases: list[Types] = []
        for base in found.bases:
            bases.append(self.ex(path, base))
        return tuple(bases)

    def is_enum(self, path: str, qualified: str) -> bool:
        """Whether a class derives from an enumeration of the standard library."""
        return self.lookup(self._key("enum", path, qualified), self._is_enum, path, qualified) is True

    def _is_enum(self, path: str, qualified: str) -> bool:
        for owner in self.mro(path, qualified):
            if owner != OUTSIDE:
                for base in self.bases(*owner):
                    for item in base:
                        if item[0] == "Y" and item[1].rpartition(".")[2] in _ENUM_BASES:
                            return True
        return False

    def member(self, path: str, qualified: str, name: str, skip: int = 0) -> tuple[str, str, Any] | None:
        """(path, class, entries) of the member of a class or its bases; None if there is none that is known."""
        return self.lookup(self._key("member", path, qualified, name, skip), self._member, path, qualified, name, skip) or None

    def _member(self, path: str, qualified: str, name: str, skip: int) -> tuple[str, str, Any] | None:
        for owner in self.mro(path, qualified)[skip:]:
            if owner == OUTSIDE:
                return None
            entries = self.entries(owner[0], owner[1], name) or self._mangled_entries(owner, name)
            if entries:
                return owner[0], owner[1], entries
        return None

    def _mangled_entries(self, owner: Owner, name: str) -> Any:
        """``_C__x`` is how the outside names the member ``__x`` of a class C."""
        if name[:1] != "_" or name[:2] == "__" or "__" not in name[2:]:
            return None
        prefix = "_" + owner[1].rpartition(".")[2].partition("#")[0].lstrip("_")
        return self.entries(owner[0], owner[1], name[len(prefix) :]) if name.startswith(prefix + "__") else None

    def entries(self, path: str, cls: str, name: str) -> Any:
        """The entries of a member in the class itself."""
        self._facts.add(("mem", path, cls, name))
        members = self.interface(path).members.get(cls)
        if members is None and path == self._path:
            members = self._local_members.get(cls)
        return members.get(name) if members else None

    def has_unknown_base(self, alternative: Alternative) -> bool:
        """Whether a class may inherit what is not known."""
        return OUTSIDE in self.mro(alternative[1], alternative[2])

    def parameters_of(self, alternative: Alternative, owner: Owner) -> Mapping[str, Types]:
        """What the type parameters of `owner`, a base of the alternative's class, stand for in it."""
        key = self._key("parameters", alternative[1], alternative[2], alternative[3], owner)
        return self.lookup(key, self._parameters_of, alternative, owner) or {}

    def _parameters_of(self, alternative: Alternative, owner: Owner) -> Mapping[str, Types]:
        path, qualified, arguments = alternative[1:4]
        found = self.definition(path, qualified)
        if not isinstance(found, Class):
            return {}
        values: dict[str, Types] = dict(zip(found.type_parameters, arguments, strict=False))
        if (path, qualified) == owner:
            return values
        for base in self.bases(path, qualified):
            for item in base:
                if item[0] == "C" and item[1:3] != (path, qualified) and owner in self.mro(item[1], item[2]):
                    given = tuple([substitute(part, values) for part in item[3]])
                    return self.parameters_of((item[0], item[1], item[2], given), owner)
        return {}

    # ---- attributes

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


def _record(entry: Any) -> Function | Class:
    return Function._make(entry) if entry[0] == "function" else Class._make(entry)


def _merge(sequences: list[list[Owner]]) -> list[Owner]:
    """C3 merge; where no order satisfies all, the first head goes on (Python would refuse the class)."""
    order: list[Owner] = []
    while sequences := [sequence for sequence in sequences if sequence]:
        head = sequences[0][0]
        for sequence in sequences:
            if not any(sequence[0] in other[1:] for other in sequences):
                head = sequence[0]
                break
        order.append(head)
        sequences = [[owner for owner in sequence if owner != head] for sequence in sequences]
    return order
