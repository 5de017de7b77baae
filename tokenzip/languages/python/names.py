"""Definitions and module-level names of the project: what they stand for, over the closed forms of the interfaces.

Nothing in this package recurses through generators: a look-up may nest as deep as the project's functions call each other,
and frames of plain functions cost no C stack.
"""

from __future__ import annotations

from typing import Any

from tokenzip.languages.base import View
from tokenzip.languages.python.builtin_names import BUILTINS
from tokenzip.languages.python.ir import (
    CLASSMETHOD,
    FIXTURE,
    IS_CONTEXT,
    LOCAL,
    OVERLOAD,
    PROPERTY,
    STATIC,
    Class,
    Expression,
    Function,
)
from tokenzip.languages.python.resolve import Binding, Modules
from tokenzip.languages.python.types import Alternative, Types, join
from tokenzip.model import Fact

_MAX_REMEMBERED = 100_000
"""Look-ups kept for the next files. Forgetting costs time only: a look-up answers the same at any time."""
_KEEPING = PROPERTY | STATIC | CLASSMETHOD | IS_CONTEXT | OVERLOAD | FIXTURE
"""Functions that their decorators leave what they are, or whose decorators are known."""
Keywords = tuple[tuple[str, Types], ...]


class Names(Modules):
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


def _record(entry: Any) -> Function | Class:
    return Function._make(entry) if entry[0] == "function" else Class._make(entry)
