"""What calls give, of the project and of the standard library, and what statements get by calling."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.python.builtin_names import BUILTINS, PLAIN_BUILTINS, PLAIN_MODULES
from tokenzip.languages.python.ir import (
    ASYNC,
    CLASSMETHOD,
    GENERATOR,
    IS_CONTEXT,
    OVERLOAD,
    RETURNS_ANNOTATED,
    STATIC,
    Function,
)
from tokenzip.languages.python.members import Members
from tokenzip.languages.python.names import Keywords
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


class Calls(Members):
    """What calls, ``with``, ``for`` and ``await`` give."""

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
        asked = self.definition(path, qualified)
        if not isinstance(asked, Function) or bool(asked.flags & OVERLOAD) == ("#" in qualified):
            return ()
        return self.lookup(self._key("overloads", path, qualified), self._overloads, path, qualified)  # type: ignore[no-any-return]

    def _overloads(self, path: str, qualified: str) -> tuple[str, ...]:
        plain, _, ordinal = qualified.partition("#")
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


def _instance(receiver: Alternative) -> Types:
    """The receiver of a bound function as an instance."""
    if receiver[0] == "C":
        return (("I", *receiver[1:]),)
    if receiver[0] == "VC":
        return (("V", *receiver[1:]),)
    return (receiver,)
