"""The findings of a run, packed into the parts of a `FileIR`: interface and body, with the symbols by their qualified names."""

from __future__ import annotations

from typing import Any

from tokenzip.languages import content
from tokenzip.languages.python.builtin_names import BUILTINS
from tokenzip.languages.python.ir import (
    ABSTRACT,
    ASYNC,
    CLASSMETHOD,
    FIXTURE,
    GENERATOR,
    IS_CONTEXT,
    IS_SETTER,
    LOCAL,
    MAX_CLOSED,
    MAX_ENTRIES,
    OVERLOAD,
    PROPERTY,
    RETURNS_ANNOTATED,
    STATIC,
    UNKNOWN,
    Body,
    Class,
    Function,
)
from tokenzip.languages.python.passing import passed_values
from tokenzip.languages.python.rows import pre_order, qualified_names, symbol_rows
from tokenzip.languages.python.state import NAMING, State
from tokenzip.model import FileIR, Interface, ParseProblem

_CHILDREN: dict[str, tuple[bool, ...]] = {
    "instance": (True,),
    "declared": (True, True),
    "attr": (True, False),
    "call": (True, True, False, True),
    "index": (True, False, True),
    "tuple": (True,),
    "container": (False, True),
    "record": (False, True),
    "union": (True,),
    "await": (True,),
    "enter": (True,),
    "iter": (True,),
    "aiter": (True,),
    "item": (True, False),
    "type": (True,),
    "function": (True,),
    "argument": (True, False, False),
    "guard": (True, True),
    "typevar": (False, True),
    "alias": (True,),
}
"""Which parts of an expression are expressions (or tuples of them)."""
_VALUES = ("value", "set", "bound")
_LINK_FLAGS = (
    ASYNC | STATIC | CLASSMETHOD | PROPERTY | GENERATOR | OVERLOAD | LOCAL | FIXTURE
    | ABSTRACT | IS_CONTEXT | RETURNS_ANNOTATED | IS_SETTER
)  # fmt: skip


class Packing:
    """Turns what a run found into the parts of a `FileIR`: pre-order symbols, qualified names, closed expressions."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.order = pre_order(state.symbols)
        self.position = {old: new for new, old in enumerate(self.order)}
        self.position[-1] = -1
        self.qualified = qualified_names(state, self.order)
        self.reached: list[int] = []
        self.passed = passed_values(state)

    def file_ir(self, lines: int, codec: str | None, problems: tuple[ParseProblem, ...]) -> FileIR:
        rows = symbol_rows(self.state, self.order, self.position, codec)
        interface, open_definitions = self._interface()
        body = self._body(open_definitions)
        status = "partial" if problems else "parsed"
        return FileIR(
            status,  # type: ignore[arg-type]
            lines,
            interface,
            rows,
            tuple(body),
            problems,
            problems[0].message if problems else None,
            content.is_generated(self.state.source),
        )

    # ---- interface

    def _interface(self) -> tuple[Interface, list[int]]:
        """The interface, and the definitions that it does not reach."""
        state = self.state
        names = {name: self._entries(entries, -1, name, self.closed) for name, entries in state.names.items()}
        if state.plugins:
            names["pytest_plugins"] = (("plugins", tuple(state.plugins)),)
        if state.exported is not None:
            names["__all__"] = (("all", tuple(state.exported), int(state.exported_complete)),)
        definitions: dict[str, Any] = {}
        members: dict[str, dict[str, Any]] = {}
        pending = [old for old in self.order if state.symbols[old].is_definition and not state.symbols[old].flags & LOCAL]
        pending.reverse()
        self.reached.reverse()
        pending = self.reached + pending
        seen: set[int] = set()
        while pending:
            old = pending.pop()
            if old in seen:
                continue
            seen.add(old)
            self.reached = []
            definitions[self.qualified[old]] = self._definition(old, self.closed)
            if old in state.members:
                members[self.qualified[old]] = {
                    name: self._entries(entries, old, name, self.closed) for name, entries in state.members[old].items()
                }
            pending.extend(self.reached)
        rest = [old for old in self.order if state.symbols[old].is_definition and old not in seen]
        fixtures = tuple(dict.fromkeys(f"fixture:{s.name}" for s in state.symbols if s.flags & FIXTURE and s.parent < 0))
        return Interface(names, definitions, members, tuple(dict.fromkeys(state.stars)), fixtures), rest

    def _entries(self, entries: list[tuple[Any, ...]], parent: int, name: str, form: Any) -> tuple[Any, ...]:
        """Entries with expressions in the given form, the last few different ones."""
        variable = self.state.variables.get((parent, name))
        named: tuple[str, ...] = ()
        if variable is not None:
            usual = f"{self.qualified[parent]}.{name}" if parent >= 0 else name
            named = () if self.qualified[variable] == usual else (self.qualified[variable],)
        closed: list[tuple[Any, ...]] = []
        for kind, *rest in entries:
            if kind == "def":
                self.reached.append(rest[0])
                entry: tuple[Any, ...] = ("def", self.qualified[rest[0]])
            elif kind in ("value", "set"):
                entry = (kind if variable is not None else "bound", form(rest[0]), *named)
            else:
                entry = (kind, *rest)
            if entry not in closed:
                closed.append(entry)
        if len(closed) > 1:
            known = [entry for entry in closed if entry[0] not in _VALUES or entry[1] not in (None, -1)]
            closed = known or closed[:1]
        return tuple(closed[-MAX_ENTRIES:])

    def closed(self, number: int) -> Any:
        """An expression as a nested tuple, cut where it would grow too large."""
        budget = [MAX_CLOSED]
        return self._close(number, budget)

    def _close(self, number: int, budget: list[int]) -> Any:
        budget[0] -= 1
        if number < 0 or budget[0] < 0:
            return None
        expression = self.state.expressions[number]
        kind = expression[0]
        shape = _CHILDREN.get(kind)
        if shape is None:
            if kind in NAMING:
                self.reached.append(expression[1])
                return (kind, self.qualified[expression[1]], *expression[2:])
            return expression
        parts: list[Any] = [kind]
        for is_child, part in zip(shape, expression[1:], strict=False):
            if not is_child:
                parts.append(part)
            elif type(part) is tuple:
                parts.append(tuple([self._close(child, budget) for child in part]))
            else:
                parts.append(self._close(part, budget))
        return tuple(parts)

    def _definition(self, old: int, form: Any) -> tuple[Any, ...]:
        symbol = self.state.symbols[old]
        decorators = tuple([form(value) for value in symbol.decorators])
        if symbol.kind in ("class", "enum"):
            return Class(
                "class", symbol.flags & LOCAL, tuple([form(base) for base in symbol.bases]), decorators,
                symbol.type_parameters, form(symbol.metaclass),
            )  # fmt: skip
        parameters = tuple([(name, form(kind), star) for name, kind, star in symbol.parameters])
        owner = symbol.parent if symbol.parent >= 0 and symbol.kind in ("method", "constructor") else -1
        passed = self._constructed_with(old, form) if symbol.kind == "constructor" else ()
        return Function(
            "function", symbol.flags & _LINK_FLAGS, parameters, form(symbol.returns), decorators,
            self.qualified[owner] if owner >= 0 else "", passed,
        )  # fmt: skip

    def _constructed_with(self, constructor: int, form: Any) -> tuple[tuple[str, tuple[Any, ...]], ...]:
        found = []
        for name, kind, _ in self.state.symbols[constructor].parameters[1:]:
            values = self.passed.get((constructor, name), {}) if kind < 0 else {}
            if 0 < len(values) <= MAX_ENTRIES and -1 not in values:
                found.append((name, tuple([form(value) for value in values])))
        return tuple(found)

    # ---- body

    def _body(self, rest: list[int]) -> Body:
        state = self.state
        position = self.position
        expressions = list(state.expressions)
        for number in state.naming:
            kind, symbol, *parts = expressions[number]
            expressions[number] = (kind, self.qualified[symbol], *parts)
        builtin, maybe_local = self._plain_names()
        references = []
        for source, kind, expression, line, name in state.references:
            if expression in builtin and kind in ("use", "type"):
                continue
            if expression in maybe_local and self._is_local(source, maybe_local[expression]):
                if kind in ("use", "type"):
                    continue
                expression = UNKNOWN  # noqa: PLW2901
            references.append((position[source], kind, expression, line, name))
        imports = tuple([(position[source], *rest) for source, *rest in state.imports])
        definitions = tuple([(self.qualified[old], self._definition(old, int)) for old in rest])
        members = tuple(
            [
                (self.qualified[old], name, self._entries(entries, old, name, int))
                for old in rest
                if old in state.members
                for name, entries in state.members[old].items()
            ]
        )
        return Body(tuple(expressions), tuple(references), imports, definitions, members, self._passed(), ())

    def _plain_names(self) -> tuple[set[int], dict[int, str]]:
        """Of the expressions that are module-level names: builtins, of which a mere mention says nothing, and those with the
        name of a local somewhere.
        """
        state = self.state
        local = {name for names in state.bound.values() for name in names}
        builtin: set[int] = set()
        maybe_local: dict[int, str] = {}
        for name, number in state.globals.items():
            if name in local:
                maybe_local[number] = name
            if name in BUILTINS and name not in state.names:
                builtin.add(number)
        return builtin, maybe_local

    def _is_local(self, source: int, name: str) -> bool:
        """Whether a name that was read before it is bound, by a lambda for instance, is bound in a function around."""
        while source >= 0:
            if name in self.state.bound.get(source, ()):
                return True
            source = self.state.symbols[source].parent
        return False

    def _passed(self) -> tuple[Any, ...]:
        """What the calls in this file pass for unannotated parameters of its functions."""
        return tuple(
            [
                (self.qualified[function], name, tuple(values))
                for (function, name), values in self.passed.items()
                if len(values) <= MAX_ENTRIES
            ]
        )
