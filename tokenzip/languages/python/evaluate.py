"""What expressions may be: types of names, attributes, calls and annotations over the closed expressions of the interfaces.

Nothing here recurses through generators: a look-up may nest as deep as the project's functions call each other, and frames
of plain functions cost no C stack.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any

from tokenzip.languages.base import View
from tokenzip.languages.python.builtin_names import BUILTINS, PLAIN_BUILTINS, PLAIN_MODULES
from tokenzip.languages.python.ir import (
    ASYNC,
    CLASSMETHOD,
    FIXTURE,
    GENERATOR,
    IS_CONTEXT,
    IS_SETTER,
    LOCAL,
    OVERLOAD,
    PROPERTY,
    RETURNS_ANNOTATED,
    STATIC,
    Class,
    Expression,
    Function,
)
from tokenzip.languages.python.resolve import Binding, Modules
from tokenzip.languages.python.types import (
    AWAITABLES,
    CONTEXT_MANAGERS,
    MAPPINGS,
    SEQUENCES,
    Alternative,
    Types,
    class_of,
    element,
    has_variables,
    inside,
    join,
    substitute,
)

Keywords = tuple[tuple[str, Types], ...]
Owner = tuple[str, str]
"""Path and qualified name of a class; ("", "") is a base class that is not known."""
_MAX_REMEMBERED = 100_000
"""Look-ups kept for the next files. Forgetting costs time only: a look-up answers the same at any time."""
_OUTSIDE: Owner = ("", "")
_TRANSPARENT = frozenset({"object", "Generic", "Protocol", "ABC"})
_ENUM_BASES = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"})
_WRAPPING = frozenset({"Optional", "Union", "Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "InitVar"})
# Builtins and functions of the standard library that give back what they are given, its elements, or what it awaits.
_SAME = frozenset({
    "copy.copy", "copy.deepcopy", "functools.partial", "functools.update_wrapper", "weakref.proxy", "asyncio.create_task",
    "asyncio.ensure_future", "asyncio.shield", "asyncio.wait_for", "typing.cast", "dataclasses.replace",
})  # fmt: skip
_AWAITING = frozenset({"asyncio.run", "anyio.run", "asgiref.sync.async_to_sync"})
_FIRST_ELEMENT = frozenset({"next", "min", "max", "random.choice", "anext"})
_ALL_ELEMENTS = frozenset({
    "reversed", "sorted", "list", "set", "tuple", "iter", "filter", "frozenset", "aiter", "collections.deque",
    "itertools.islice", "itertools.cycle", "itertools.takewhile", "itertools.dropwhile", "random.sample",
})  # fmt: skip
_ENTERING = frozenset({"enter_context", "enter_async_context"})
_STRING_METHODS = {
    "split": "list",
    "rsplit": "list",
    "splitlines": "list",
    "encode": "bytes",
    "partition": "tuple",
    "decode": "str",
}


class Evaluation(Modules):
    """Look-ups of types. Those of definitions are remembered; expressions between them are not."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self._definitions: dict[tuple[str, str], Function | Class] = {}
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

    # ---- definitions

    def definition(self, path: str, qualified: str) -> Function | Class | None:
        """A definition of a file; of the file being linked also those that no other file can reach."""
        self.note("def", path, qualified)
        known = self._definitions.get((path, qualified))
        if known is not None:
            return known
        found = self.interface(path).definitions.get(qualified)
        if found is not None:
            known = self._definitions[path, qualified] = _record(found)
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
        return self.lookup(self._key("value", path, qualified), self._value_of, path, qualified)  # type: ignore[no-any-return]

    def _value_of(self, path: str, qualified: str) -> Types:
        found = self.definition(path, qualified)
        if found is None:
            return ()
        if isinstance(found, Class):
            return (("C", path, qualified, ()),)
        value: Types = (("F", path, qualified, None),)
        if found.decorators and not found.flags & (PROPERTY | STATIC | CLASSMETHOD | IS_CONTEXT | OVERLOAD | FIXTURE):
            for decorator in reversed(found.decorators):
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
        """The method resolution order (C3); `_OUTSIDE` at the end if a base is not known."""
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
            if _OUTSIDE in above:
                unknown = True
            sequences.append([owner for owner in above if owner != _OUTSIDE] or [cls[1:3]])
            direct.append(cls[1:3])
        sequences.append(direct)
        order = [me, *_merge(sequences)]
        return tuple([*order, _OUTSIDE] if unknown else order)

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
            if owner != _OUTSIDE:
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
            if owner == _OUTSIDE:
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
        self.note("mem", path, cls, name)
        members = self.interface(path).members.get(cls)
        if members is None and path == self._path:
            members = self._local_members.get(cls)
        return members.get(name) if members else None

    def has_unknown_base(self, alternative: Alternative) -> bool:
        """Whether a class may inherit what is not known."""
        return _OUTSIDE in self.mro(alternative[1], alternative[2])

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
            definition = self.definition(*owner) if owner != _OUTSIDE else None
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

    # ---- calls

    def call(self, alternative: Alternative, arguments: tuple[Types, ...], keywords: Keywords = ()) -> Types:
        """What a call of the alternative gives."""
        tag = alternative[0]
        if tag == "C":
            return (("I", *alternative[1:]),)
        if tag == "F":
            return self.call_function(alternative, arguments, keywords)
        if tag == "I":
            return self.call_method(alternative, "__call__", arguments)
        if tag == "VC":
            return (("V", *alternative[1:]),)
        if tag == "B":
            if alternative[1] in _ENTERING and arguments:
                return self.entered(arguments[0])
            return self._call_builtin_method(alternative[1], alternative[2])
        if tag == "Y":
            return self._call_outside(alternative[1], arguments)
        if tag == "X" and alternative[1] == "Callable" and alternative[2]:
            return self._call_callable(alternative, arguments)
        if tag == "L":
            return self.ex(alternative[1], alternative[2])
        return ()

    def _call_callable(self, alternative: Alternative, arguments: tuple[Types, ...]) -> Types:
        """``Callable[[T], T]``: variables of its parameters are what is given."""
        result: Types = alternative[2][-1]
        if not has_variables(result):
            return result
        values: dict[str, Types] = {}
        parameters = alternative[2][0]
        if len(alternative[2]) == 2 and parameters and parameters[0][0] == "T":
            for parameter, argument in zip(parameters[0][1], arguments, strict=False):
                self._match(parameter, argument, values)
        return substitute(result, values)

    def call_function(self, function: Alternative, arguments: tuple[Types, ...], keywords: Keywords = ()) -> Types:
        """What a function returns, its type variables settled by receiver and arguments; of overloads, any."""
        _, path, qualified, receiver = function
        overloads = self.overloads(path, qualified)
        if not overloads:
            return self._result_of(path, qualified, receiver, arguments, keywords)
        found: list[Types] = []
        for overload in overloads:
            found.append(self._result_of(path, overload, receiver, arguments, keywords))
        return join(found)

    def _result_of(
        self,
        path: str,
        qualified: str,
        receiver: Alternative | None,
        arguments: tuple[Types, ...],
        keywords: Keywords,
    ) -> Types:
        types = self.returned(path, qualified)
        if not has_variables(types):
            return types
        return substitute(types, self._variables(path, qualified, receiver, arguments, keywords))

    def overloads(self, path: str, qualified: str) -> tuple[str, ...]:
        """The overloads of a function, asked of the implementation or of the first of them."""
        return self.lookup(self._key("overloads", path, qualified), self._overloads, path, qualified)  # type: ignore[no-any-return]

    def _overloads(self, path: str, qualified: str) -> tuple[str, ...]:
        plain, _, ordinal = qualified.partition("#")
        asked = self.definition(path, qualified)
        if not isinstance(asked, Function) or bool(asked.flags & OVERLOAD) == bool(ordinal):
            return ()
        found: list[str] = []
        while not ordinal or len(found) + 1 < int(ordinal):
            name = f"{plain}#{len(found) + 1}" if found else plain
            overload = self.definition(path, name)
            if not isinstance(overload, Function) or not overload.flags & OVERLOAD:
                break
            found.append(name)
        return tuple(found)

    def _variables(
        self,
        path: str,
        qualified: str,
        receiver: Alternative | None,
        arguments: tuple[Types, ...],
        keywords: Keywords,
    ) -> dict[str, Types]:
        found = self.definition(path, qualified)
        values: dict[str, Types] = {}
        if not isinstance(found, Function):
            return values
        parameters = found.parameters
        if receiver is not None:
            instance = _instance(receiver)
            values["Self"] = instance
            for item in instance:
                if item[0] == "I" and found.owner:
                    values.update(self.parameters_of(item, (path, found.owner)))
            if parameters and not found.flags & STATIC:
                given = class_of(instance) if found.flags & CLASSMETHOD else instance
                if parameters[0][1] is not None:
                    self._match(self.ex(path, parameters[0][1]), given, values)
                parameters = parameters[1:]
        given_by_name = [(parameter, value) for name, value in keywords for parameter in parameters if parameter[0] == name]
        for (name, annotation, star), argument in [*zip(parameters, arguments, strict=False), *given_by_name]:
            if star or not argument:
                continue
            if annotation is not None:
                self._match(self.ex(path, annotation), argument, values)
            else:
                values[f"({name}"] = argument
        return values

    def _match(self, declared: Types, given: Types, values: dict[str, Types]) -> None:
        """Settle type variables of a declared type by the type that is given for it."""
        for item in declared:
            tag = item[0]
            if tag == "V":
                values.setdefault(item[1], given)
            elif tag == "VC":
                instances = []
                for cls in given:
                    if cls[0] in ("C", "VC"):
                        instances.append(("I" if cls[0] == "C" else "V", *cls[1:]))
                if instances:
                    values.setdefault(item[1], tuple(instances))
            elif tag == "X" and item[2] and has_variables((item,)):
                self._match_outside(item, given, values)
            elif tag == "I" and item[3]:
                for other in given:
                    if other[0] == "I" and other[1:3] == item[1:3]:
                        for part, value in zip(item[3], other[3], strict=False):
                            self._match(part, value, values)

    def _match_outside(self, item: Alternative, given: Types, values: dict[str, Types]) -> None:
        if item[1] == "Callable":
            result: list[Types] = []
            for function in given:
                result.append(self.call(function, ()))
            if found := join(result):
                self._match(item[2][-1], found, values)
        elif item[1] in AWAITABLES:
            self._match(item[2][-1], self.awaited(given), values)
        elif item[1] in MAPPINGS and len(item[2]) > 1:
            for other in given:
                if other[0] == "X" and other[1] in MAPPINGS and len(other[2]) > 1:
                    self._match(item[2][1], other[2][1], values)
        elif item[1] in SEQUENCES:
            found = self.iterate(given)
            if found:
                self._match(item[2][0], found, values)

    def call_method(self, alternative: Alternative, name: str, arguments: tuple[Types, ...] = ()) -> Types:
        """What calling a method of an instance gives."""
        found: list[Types] = []
        for item in self.attr(alternative, name):
            if item[0] == "F":
                found.append(self.call_function(item, arguments))
        return join(found)

    def returned(self, path: str, qualified: str) -> Types:
        """What a function returns; `V` of name Self stands for its receiver."""
        return self.lookup(self._key("returned", path, qualified), self._returned, path, qualified)  # type: ignore[no-any-return]

    def _returned(self, path: str, qualified: str) -> Types:
        found = self.definition(path, qualified)
        if not isinstance(found, Function):
            return ()
        flags = found.flags
        types = self._result(path, qualified, found.returns)
        if not flags & RETURNS_ANNOTATED:
            types = self._stub_return(path, qualified) or types
        if flags & IS_CONTEXT:
            return (("X", "ContextManager", (inside(self.iterate(types)),)),)
        if flags & ASYNC and not flags & GENERATOR:
            return (("X", "Coroutine", (inside(types),)),)
        return types

    def _result(self, path: str, qualified: str, expression: Any) -> Types:
        """The types of a returned expression; an argument that is given back is a type variable named after it."""
        row: Any = expression
        if type(expression) is int and expression >= 0:
            row = self._own[expression]
        if type(row) is tuple and row[0] == "union":
            parts: list[Types] = []
            for part in row[1]:
                parts.append(self._result(path, qualified, part))
            return join(parts)
        types = self.ex(path, expression)
        if not types and type(row) is tuple and row[0] == "param" and row[1] == qualified:
            return (("V", f"({row[2]}", ()),)
        return types

    def _stub_return(self, path: str, qualified: str) -> Types:
        """What the stub beside a source says that a function returns."""
        if not path.endswith(".py"):
            return ()
        stub = path + "i"
        self.note("path", stub)
        return self.returned(stub, qualified) if self.view.is_file(stub) else ()

    def _call_outside(self, dotted: str, arguments: tuple[Types, ...]) -> Types:
        """Calls of builtins and of the standard library whose result follows from what they are given."""
        name = dotted.rpartition(".")[2]
        first = arguments[0] if arguments else ()
        if dotted in _SAME and first:
            return first
        if dotted in _AWAITING and first:
            return self.awaited(first)
        if name in ("closing", "nullcontext"):
            return (("X", "ContextManager", (inside(first),)),)
        if dotted in _FIRST_ELEMENT and len(arguments) == 1:
            return self.iterate(first)
        if dotted in ("weakref.ref", "weakref.WeakMethod"):
            return (("X", "Callable", (inside(first),)),)
        if name == "enumerate":
            return (("X", "list", ((("T", ((("X", "int", ()),), inside(self.iterate(first)))),),)),)
        if name == "zip":
            parts = []
            for argument in arguments:
                parts.append(inside(self.iterate(argument)))
            return (("X", "list", ((("T", tuple(parts)),),)),)
        if name == "map" and len(arguments) > 1:
            return (("X", "list", (inside(self._mapped(first)),)),)
        if dotted in _ALL_ELEMENTS and first:
            return (("X", "list", (inside(self.iterate(arguments[-1] if name == "filter" else first)),)),)
        if dotted in PLAIN_BUILTINS or dotted.partition(".")[0] in PLAIN_MODULES:
            return (("X", name, ()),)
        if name[:1].isupper() or (dotted in BUILTINS and name in ("str", "int", "float", "bytes", "bool", "dict", "open")):
            return (("X", name, ()),)
        if name in ("list", "set", "tuple", "dict", "defaultdict", "deque"):
            return (("X", name, ()),)
        return ()

    def _mapped(self, functions: Types) -> Types:
        found: list[Types] = []
        for function in functions:
            found.append(self.call(function, ()))
        return join(found)

    def _call_builtin_method(self, name: str, owner: Alternative) -> Types:
        """Methods of builtin containers that give their elements back."""
        kind = owner[1] if owner[0] == "X" else ""
        arguments: tuple[Types, ...] = owner[2] if owner[0] == "X" else ()
        if owner[0] == "R":
            kind, arguments = "dict", ((("X", "str", ()),), join(owner[2]))
        elif owner[0] == "T":
            kind, arguments = "list", (join(owner[1]),)
        if kind in MAPPINGS and len(arguments) > 1:
            if name == "items":
                return (("X", "list", ((("T", arguments[:2]),),)),)
            if name == "values":
                return (("X", "list", (arguments[1],)),)
            if name == "keys":
                return (("X", "list", (arguments[0],)),)
            if name in ("get", "pop", "setdefault"):
                return arguments[1]
            return (owner,) if name == "copy" else ()
        if kind == "ContextVar" and name == "get" and arguments:
            return arguments[0]
        if kind in SEQUENCES and arguments:
            if name in ("pop", "popleft", "__next__"):
                return arguments[0]
            return (owner,) if name in ("copy", "union", "intersection", "difference") else ()
        if kind == "str":
            made = _STRING_METHODS.get(
                name, "str" if name not in ("find", "index", "count", "startswith", "endswith") else "int"
            )
            return (("X", made, ((("X", "str", ()),),) if made in ("list", "tuple") else ()),)
        return ()

    # ---- protocols of statements

    def awaited(self, types: Types) -> Types:
        """What awaiting gives; what is no awaitable stays what it is."""
        found: list[Types] = []
        for item in types:
            if item[0] == "X" and item[1] in AWAITABLES and item[2]:
                found.append(item[2][-1])
            elif item[0] == "I" and self.member(item[1], item[2], "__await__") is not None:
                found.append(self.iterate(self.call_method(item, "__await__")))
            else:
                found.append((item,))
        return join(found)

    def entered(self, types: Types) -> Types:
        """What ``with ... as`` binds."""
        found: list[Types] = []
        for item in types:
            if item[0] in ("I", "V"):
                methods = self.get_attribute(item, "__enter__") or self.get_attribute(item, "__aenter__")
                for method in methods:
                    if method[0] == "F":
                        found.append(self.awaited(self.call_function(method, ())))
            elif item[0] == "X" and item[1] in CONTEXT_MANAGERS and item[2]:
                found.append(item[2][0])
        return join(found)

    def iterate(self, types: Types, asynchronous: bool = False) -> Types:
        """What iteration gives."""
        found: list[Types] = [element(types)]
        for item in types:
            if item[0] == "R":
                found.append((("X", "str", ()),))
            if item[0] not in ("I", "V"):
                continue
            for method in self.get_attribute(item, "__aiter__" if asynchronous else "__iter__"):
                if method[0] != "F":
                    continue
                iterators = self.call_function(method, ())
                found.append(element(iterators))
                for iterator in iterators:
                    if iterator[0] == "I":
                        following = self.call_method(iterator, "__anext__" if asynchronous else "__next__")
                        found.append(self.awaited(following))
        return join(found)

    def indexed(self, item: Alternative, key: Any) -> Types:
        """What ``item[key]`` gives for outside containers; a constant key picks one."""
        tag = item[0]
        if tag == "T":
            if key == ":":
                return (item,)
            if type(key) is int and -len(item[1]) <= key < len(item[1]):
                return item[1][key]  # type: ignore[no-any-return]
            return join(item[1])
        if tag == "R":
            if key is not None and key in item[1]:
                return item[2][item[1].index(key)]  # type: ignore[no-any-return]
            return join(item[2]) if key is None else ()
        if tag == "X" and item[2]:
            if key == ":":
                return (item,)
            return item[2][1] if item[1] in MAPPINGS and len(item[2]) > 1 else item[2][0]  # type: ignore[no-any-return]
        return ()

    # ---- expressions

    def row(self, number: int) -> Expression | None:
        """An expression of the file being linked, None for the unknown one."""
        return self._own[number] if number >= 0 else None

    def ex(self, path: str, expression: Any) -> Types:
        """The types of an expression: a row of the file being linked (a number), or in closed form."""
        if expression is None:
            return ()
        if type(expression) is int:
            if expression < 0:
                return ()
            known = self._own_values.get(expression)
            if known is None:
                self._own_values[expression] = ()
                row = self._own[expression]
                known = _EXPRESSIONS[row[0]](self, path, row)
                if not known and row[0] == "param":
                    known = self._passed_for(path, row)
                self._own_values[expression] = known
            return known
        return _EXPRESSIONS[expression[0]](self, path, expression)

    def _passed_for(self, path: str, row: Expression) -> Types:
        """What the calls in this very file pass for a parameter."""
        return self._all_passed(path, self._passed.get((row[1], row[2]), ()))

    def _all_passed(self, path: str, values: Any) -> Types:
        """What is passed for a parameter, if all of it is known."""
        found: list[Types] = []
        for value in values:
            types = self.ex(path, value)
            if not types:
                return ()
            found.append(types)
        return tuple([item for item in join(found) if item[0] in ("F", "C", "I", "V", "L", "R", "T")])

    def _each(self, path: str, expressions: Any) -> list[Types]:
        found: list[Types] = []
        for expression in expressions:
            found.append(self.ex(path, expression))
        return found

    def _x_global(self, path: str, e: Expression) -> Types:
        return self.global_name(path, e[1])

    def _x_def(self, path: str, e: Expression) -> Types:
        return self.value_of(path, e[1])

    def _x_raw(self, path: str, e: Expression) -> Types:
        return (("F", path, e[1], None),)

    def _x_import(self, path: str, e: Expression) -> Types:
        found: list[Types] = []
        for binding in self.imported(path, e):
            found.append(self.bound(binding))
        return self._one_of_overloads(join(found))

    def _x_self(self, path: str, e: Expression) -> Types:
        return (("V", "Self", (("I", path, e[1], ()),)),)

    def _x_class(self, path: str, e: Expression) -> Types:
        return (("VC", "Self", (("I", path, e[1], ()),)),)

    def _x_super(self, path: str, e: Expression) -> Types:
        return (("S", ("C" if e[2] else "I", path, e[1], ())),)

    def _x_literal(self, path: str, e: Expression) -> Types:
        return (("X", e[1], ()),) if e[1] != "None" else ()

    def _x_param(self, path: str, e: Expression) -> Types:
        return self.parameter(path, e[1], e[2])

    def _x_instance(self, path: str, e: Expression) -> Types:
        return self.annotated(path, e[1])

    def _x_declared(self, path: str, e: Expression) -> Types:
        return self.ex(path, e[1]) or self.ex(path, e[2])

    def _x_attr(self, path: str, e: Expression) -> Types:
        base = self.ex(path, e[1])
        if len(base) == 1:
            return self.get_attribute(base[0], e[2])
        found: list[Types] = []
        for item in base:
            found.append(self.get_attribute(item, e[2]))
        return join(found)

    def _x_call(self, path: str, e: Expression) -> Types:
        callee = self.ex(path, e[1])
        if not callee:
            return ()
        arguments = tuple(self._each(path, e[2])) if e[2] else ()
        keywords = tuple(zip(e[3], self._each(path, e[4]), strict=True)) if len(e) > 3 else ()
        found: list[Types] = []
        for item in callee:
            found.append(self.call(item, arguments, keywords))
        return join(found)

    def _x_index(self, path: str, e: Expression) -> Types:
        found: list[Types] = []
        for item in self.ex(path, e[1]):
            tag = item[0]
            if tag == "Y":
                found.append((("A", path, e),))
            elif tag == "C":
                arguments = []
                for part in e[3]:
                    arguments.append(inside(self.annotated(path, part)))
                found.append((("C", item[1], item[2], tuple(arguments)),))
            elif tag == "A":
                found.append((item,))
            elif tag in ("I", "V"):
                for method in self.get_attribute(item, "__getitem__"):
                    if method[0] == "F":
                        found.append(self.call_function(method, ()))
            else:
                found.append(self.indexed(item, e[2]))
        return join(found)

    def _x_tuple(self, path: str, e: Expression) -> Types:
        parts = []
        for types in self._each(path, e[1]):
            parts.append(inside(types))
        return (("T", tuple(parts)),)

    def _x_container(self, path: str, e: Expression) -> Types:
        parts = []
        for types in self._each(path, e[2]):
            parts.append(inside(types))
        return (("X", e[1], tuple(parts)),)

    def _x_record(self, path: str, e: Expression) -> Types:
        parts = []
        for types in self._each(path, e[2]):
            parts.append(inside(types))
        return (("R", e[1], tuple(parts)),)

    def _x_union(self, path: str, e: Expression) -> Types:
        return join(self._each(path, e[1]))

    def _x_await(self, path: str, e: Expression) -> Types:
        return self.awaited(self.ex(path, e[1]))

    def _x_enter(self, path: str, e: Expression) -> Types:
        return self.entered(self.ex(path, e[1]))

    def _x_iter(self, path: str, e: Expression) -> Types:
        return self.iterate(self.ex(path, e[1]))

    def _x_aiter(self, path: str, e: Expression) -> Types:
        return self.iterate(self.ex(path, e[1]), asynchronous=True)

    def _x_item(self, path: str, e: Expression) -> Types:
        found: list[Types] = []
        for item in self.ex(path, e[1]):
            if item[0] == "T":
                found.append(self.indexed(item, e[2]))
            else:
                found.append(self.iterate((item,)))
        return join(found)

    def _x_type(self, path: str, e: Expression) -> Types:
        return class_of(self.ex(path, e[1]))

    def _x_function(self, path: str, e: Expression) -> Types:
        return (("L", path, e[1]),)

    def _x_argument(self, path: str, e: Expression) -> Types:
        _, callee, slot, at = e
        found: list[Types] = []
        for item in self.ex(path, callee):
            for function in self._functions_called(item):
                found.append(self._lambda_parameter(function, slot, at))
        return join(found)

    def _functions_called(self, item: Alternative) -> Types:
        if item[0] == "F":
            return (item,)
        if item[0] == "C":
            return tuple([f for f in self.attr(("I", *item[1:]), "__init__") if f[0] == "F"])
        return ()

    def _lambda_parameter(self, function: Alternative, slot: int | str, at: int) -> Types:
        """The i-th parameter of the ``Callable`` that a function declares for the slot."""
        found = self.definition(function[1], function[2])
        if not isinstance(found, Function):
            return ()
        parameters = found.parameters
        if function[3] is not None and not found.flags & STATIC:
            parameters = parameters[1:]
        annotation = None
        if type(slot) is int:
            annotation = parameters[slot][1] if slot < len(parameters) and not parameters[slot][2] else None
        else:
            for name, declared, _ in parameters:
                annotation = declared if name == slot else annotation
        result: list[Types] = []
        for item in self.ex(function[1], annotation):
            if item[0] == "X" and item[1] == "Callable" and len(item[2]) == 2 and item[2][0] and item[2][0][0][0] == "T":
                items = item[2][0][0][1]
                result.append(items[at] if at < len(items) else ())
        return join(result)

    def _x_guard(self, path: str, e: Expression) -> Types:
        found: list[Types] = []
        for item in self.ex(path, e[1]):
            if item[0] == "F":
                for made in self.returned(item[1], item[2]):
                    if made[0] == "X" and made[1] in ("TypeGuard", "TypeIs") and made[2]:
                        found.append(made[2][0])
        return join(found) or self.ex(path, e[2])

    def _x_typevar(self, path: str, e: Expression) -> Types:
        return (("VC", e[1], self.ex(path, e[2])),)

    def _x_alias(self, path: str, e: Expression) -> Types:
        return (("A", path, e[1]),)

    # ---- annotations

    def annotated(self, path: str, expression: Any) -> Types:
        """What has the annotation that an expression writes."""
        if expression is None or expression == -1:
            return ()
        e: Expression = self._own[expression] if type(expression) is int else expression
        kind = e[0]
        if kind == "union":
            found: list[Types] = []
            for part in e[1]:
                found.append(self.annotated(path, part))
            return join(found)
        if kind == "index":
            return self._annotated_generic(path, e)
        if kind == "literal":
            return () if e[1] == "None" else (("X", e[1], ()),)
        if kind == "instance":
            return self.annotated(path, e[1])
        return self._instances(self.ex(path, expression))

    def _instances(self, types: Types) -> Types:
        """Instances of what an annotation names."""
        found: list[Types] = []
        for item in types:
            tag = item[0]
            if tag == "C":
                found.append((("I", *item[1:]),))
            elif tag == "VC":
                found.append((("V", *item[1:]),))
            elif tag == "Y":
                name = item[1].rpartition(".")[2]
                if name == "Self":
                    found.append((("V", "Self", ()),))
                elif name not in ("Any", "object", "None", "NoReturn", "Never"):
                    found.append((("X", name, ()),))
            elif tag == "A":
                found.append(self._alias(item))
        return join(found)

    def _alias(self, item: Alternative) -> Types:
        _, path, expression = item
        if _is_row(expression):
            return self.annotated(path, expression)
        return self.lookup(("alias", path, expression), self.annotated, path, expression)  # type: ignore[no-any-return]

    def _annotated_generic(self, path: str, e: Expression) -> Types:
        found: list[Types] = []
        for item in self.ex(path, e[1]):
            if item[0] == "Y":
                found.append(self._outside_generic(path, item[1].rpartition(".")[2], e[3]))
            elif item[0] == "C":
                arguments = []
                for part in e[3]:
                    arguments.append(inside(self.annotated(path, part)))
                found.append((("I", item[1], item[2], tuple(arguments)),))
            elif item[0] == "A":
                found.append(self._alias(item))
        return join(found)

    def _outside_generic(self, path: str, name: str, arguments: Any) -> Types:
        parts: list[Types] = []
        if name in _WRAPPING:
            for argument in arguments:
                parts.append(self.annotated(path, argument))
            return join(parts)
        if name in ("type", "Type"):
            for argument in arguments:
                parts.append(class_of(self.annotated(path, argument)))
            return join(parts)
        if name == "Literal":
            return ()
        if name == "Callable":
            return (("X", name, self._callable_parts(path, arguments)),)
        for argument in arguments:
            parts.append(inside(self.annotated(path, argument)))
        if name in ("tuple", "Tuple"):
            if len(arguments) == 2 and not parts[1] and _is_unknown(arguments[1]):
                return (("X", "list", (parts[0],)),)
            return (("T", tuple(parts)),)
        return (("X", name, tuple(parts)),)

    def _callable_parts(self, path: str, arguments: Any) -> tuple[Types, ...]:
        parts: list[Types] = []
        for argument in arguments:
            e = self._own[argument] if type(argument) is int and argument >= 0 else argument
            if type(e) is tuple and e[0] == "tuple":
                items = []
                for item in e[1]:
                    items.append(inside(self.annotated(path, item)))
                parts.append((("T", tuple(items)),))
            else:
                parts.append(inside(self.annotated(path, argument)))
        return tuple(parts)

    # ---- parameters without annotation

    def parameter(self, path: str, qualified: str, name: str) -> Types:
        """What an unannotated parameter is: as the base method says, or a test fixture of its name."""
        return self.lookup(  # type: ignore[no-any-return]
            self._key("parameter", path, qualified, name), self._parameter, path, qualified, name
        )

    def _parameter(self, path: str, qualified: str, name: str) -> Types:
        found = self.definition(path, qualified)
        if not isinstance(found, Function):
            return ()
        plain = qualified.rpartition(".")[2].partition("#")[0]
        if found.owner:
            types = self._parameter_of_base(path, found.owner, plain, name)
            if types:
                return types
        if (plain.startswith("test") or found.flags & FIXTURE) and not found.flags & LOCAL:
            return self.fixture(path, found.owner, name, qualified)
        for passed, values in found.passed:
            if passed == name:
                return self._all_passed(path, values)
        return ()

    def _parameter_of_base(self, path: str, cls: str, method: str, name: str) -> Types:
        above = self.member(path, cls, method, 1)
        for entry in above[2] if above is not None else ():
            function = self.definition(above[0], entry[1]) if above is not None and entry[0] == "def" else None
            if isinstance(function, Function) and above is not None:
                for parameter, annotation, star in function.parameters:
                    if parameter == name and annotation is not None and not star:
                        return self.ex(above[0], annotation)
        return ()

    # ---- fixtures of pytest

    def fixture(self, path: str, cls: str, name: str, asking: str) -> Types:
        """What the fixture of that name gives, as pytest looks it up: class, module, conftest files upwards, plugins."""
        function = self.fixture_function(path, cls, name, asking)
        return self._fixture_value(*function) if function is not None else ()

    def fixture_function(self, path: str, cls: str, name: str, asking: str) -> tuple[str, str] | None:
        """(path, qualified name) of the fixture function, or None."""
        if cls:
            found = self.member(path, cls, name)
            for entry in found[2] if found is not None else ():
                if found is not None and entry[0] == "def" and entry[1] != asking and self._is_fixture(found[0], entry[1]):
                    return found[0], entry[1]
        own = self._fixture_in(path, name, path, asking)
        if own is not None:
            return own
        directory = posixpath.dirname(path)
        above = self.lookup(("fixture", directory, name), self._fixture_above, directory, name)
        if above == (path, asking):  # a conftest's fixture that takes the one of the same name above it
            above = self._fixture_above(posixpath.dirname(directory), name) if directory else ()
        return above or None

    def _fixture_above(self, directory: str, name: str) -> tuple[str, str] | tuple[()]:
        """The fixture that tests in a directory get: of its conftest file or plugins, else of the directory above."""
        conftest = posixpath.join(directory, "conftest.py")
        function = self._fixture_in(conftest, name, "", "") or self._fixture_of_plugins(conftest, name)
        if function is not None:
            return function
        if not directory:
            return ()
        above = posixpath.dirname(directory)
        return self.lookup(("fixture", above, name), self._fixture_above, above, name)  # type: ignore[no-any-return]

    def _fixture_in(self, place: str, name: str, path: str, asking: str) -> tuple[str, str] | None:
        for binding in self.bindings(place, name):
            if binding[0] == "D" and binding[1:] != (path, asking) and self._is_fixture(binding[1], binding[2]):
                return binding[1], binding[2]
        return None

    def _fixture_of_plugins(self, conftest: str, name: str) -> tuple[str, str] | None:
        """A fixture of a module that a conftest names in ``pytest_plugins``."""
        plugins = self.lookup(("plugins", conftest), self._plugins, conftest)
        if not plugins:
            return None
        self.note("announced", f"fixture:{name}")
        for path in self.view.announcing(f"fixture:{name}"):
            if path in plugins:
                function = self._fixture_in(path, name, "", "")
                if function is not None:
                    return function
        return None

    def _plugins(self, conftest: str) -> frozenset[str]:
        """The plugin modules of a conftest, and those that they import by wildcard."""
        self.note("sym", conftest, "pytest_plugins")
        pending: list[str] = []
        for entry in self.interface(conftest).names.get("pytest_plugins", ()):
            for module in entry[1] if entry[0] == "plugins" else ():
                pending.extend(found[1] for found in self.resolve(module, 0, conftest) if found[0] == "M")
        paths: set[str] = set()
        while pending:
            path = pending.pop()
            if path in paths:
                continue
            paths.add(path)
            self.note("star", path)
            for module, level in self.interface(path).stars:
                pending.extend(found[1] for found in self.resolve(module, level, path) if found[0] == "M")
        return frozenset(paths)

    def _is_fixture(self, path: str, qualified: str) -> bool:
        found = self.definition(path, qualified)
        return isinstance(found, Function) and bool(found.flags & FIXTURE)

    def _fixture_value(self, path: str, qualified: str) -> Types:
        found = self.definition(path, qualified)
        types = self.returned(path, qualified)
        if not isinstance(found, Function):
            return ()
        if found.flags & ASYNC:
            types = self.awaited(types)
        is_iterator = any(item[0] == "X" and item[1] in SEQUENCES for item in types)
        return self.iterate(types) if found.flags & GENERATOR and is_iterator else types


def _record(entry: Any) -> Function | Class:
    return Function._make(entry) if entry[0] == "function" else Class._make(entry)


def _is_unknown(expression: Any) -> bool:
    return expression is None or expression == -1


def _is_row(expression: Any) -> bool:
    """Whether an aliased expression belongs to the table of the file being linked, and is not in closed form."""
    return type(expression) is int or type(expression[1]) is int


def _instance(receiver: Alternative) -> Types:
    """The receiver of a bound function as an instance."""
    if receiver[0] == "C":
        return (("I", *receiver[1:]),)
    if receiver[0] == "VC":
        return (("V", *receiver[1:]),)
    return (receiver,)


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


_EXPRESSIONS: dict[str, Callable[[Evaluation, str, Expression], Types]] = {
    name.removeprefix("_x_"): function for name, function in vars(Evaluation).items() if name.startswith("_x_")
}
