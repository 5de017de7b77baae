"""`extract(source) -> FileIR` for Python: what one file says, whatever lies around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tokenzip.languages import content, syntax
from tokenzip.languages.base import uncollected
from tokenzip.languages.python import statements
from tokenzip.languages.python.builtin_names import BUILTINS
from tokenzip.languages.python.ir import (
    ABSTRACT,
    ASYNC,
    CLASSMETHOD,
    EXPORTED,
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
from tokenzip.languages.python.state import NAMING, Definition, State
from tokenzip.languages.syntax import Extent, Node
from tokenzip.model import FileIR, Interface, ParseProblem, SymbolRow

_ROW_FLAGS = ~(IS_CONTEXT | IS_SETTER | RETURNS_ANNOTATED)
# Names and numbers, one sign at a time, strings whole (f-strings too: what lies in their braces is part of the token).
# Classes are spelled out, since `\w` among other characters is tested one by one and not looked up in a table, and white
# space goes with the token before it, so that no match begins at each blank of an indentation: together a third less time.
_WORD, _BLANK = rb"0-9A-Z_a-z\x80-\xff", rb" \t\n\r\f\v"
_TOKENS = re.compile(
    rb"([" + _WORD + rb"]++|[^" + _BLANK + _WORD + rb"\\#\"'\x00]|\x00."
    rb'|"""(?:[^"\\]++|\\.|"(?!""))*+"""|\'\'\'(?:[^\'\\]++|\\.|\'(?!\'\'))*+\'\'\''
    rb"|\"(?:[^\"\\\n]++|\\.)*+\"|'(?:[^'\\\n]++|\\.)*+'|[\"'])[" + _BLANK + rb"]*+"
    rb"|#[^\n\x00\x01-\x08\x0e-\x1f]*+",
    re.DOTALL,
)


def extract(source: bytes) -> FileIR:
    """What the bytes say as Python. Never raises; see `FileIR.status`."""
    lines = syntax.line_count(source)
    reason = content.refusal(source)
    if reason is not None:
        return FileIR("skipped", lines, reason=reason)
    utf8, codec = content.as_utf8(source, coding_line=True)
    try:
        with uncollected():
            ir = _extract(utf8, lines, codec)
    except Exception as fault:  # a fault of ours in one file must not end a run; it is reported as such
        return FileIR("failed", lines, reason=f"extraction failed: {type(fault).__name__}: {fault}")
    return ir


def _extract(source: bytes, lines: int, codec: str | None) -> FileIR:
    root = syntax.parse("python", source).root_node
    state = State(source)
    state.tolerant = root.has_error
    statements.run(state, root)
    problems = tuple(sorted([*syntax.problems(root, source), *state.problems]))
    return _Packing(state).file_ir(lines, codec, problems)


class _Packing:
    """Turns what a run found into the parts of a `FileIR`: pre-order symbols, qualified names, closed expressions."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.order = _pre_order(state.symbols)
        self.position = {old: new for new, old in enumerate(self.order)}
        self.position[-1] = -1
        self.qualified = self._qualified_names()
        self.reached: list[int] = []
        self.passed = self._find_passed()

    def file_ir(self, lines: int, codec: str | None, problems: tuple[ParseProblem, ...]) -> FileIR:
        rows = self._rows(codec)
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

    # ---- symbols

    def _qualified_names(self) -> dict[int, str]:
        """As `model.qualified_names` does for the rows; by symbol number of the run."""
        plain: dict[int, str] = {-1: ""}
        seen: dict[str, int] = {}
        qualified: dict[int, str] = {}
        for old in self.order:
            symbol = self.state.symbols[old]
            prefix = plain[symbol.parent]
            name = plain[old] = f"{prefix}.{symbol.name}" if prefix else symbol.name
            count = seen[name] = seen.get(name, 0) + 1
            qualified[old] = name if count == 1 else f"{name}#{count}"
        return qualified

    def _rows(self, codec: str | None) -> tuple[SymbolRow, ...]:
        state = self.state
        symbols = [state.symbols[old] for old in self.order]
        extents = [
            Extent(
                symbol.start, symbol.name_start, symbol.name_end, max(symbol.signature_end, symbol.name_end),
                max(symbol.end, symbol.signature_end, symbol.name_end), *symbol.doc,
            )
            for symbol in symbols
        ]  # fmt: skip
        hashes = syntax.token_hashes(state.source, extents, self._marks(), _TOKENS)
        self._mark_exported()
        if codec is not None:
            moved = content.original_offsets(state.source, codec, {offset for extent in extents for offset in extent})
            extents = [Extent(*(moved[offset] for offset in extent)) for extent in extents]
        return tuple(
            SymbolRow(
                symbol.name, symbol.kind, self.position[symbol.parent], symbol.flags & _ROW_FLAGS, symbol.line,
                symbol.name_line, symbol.end_line, extent.start, extent.signature_end, extent.end, extent.doc_start,
                extent.doc_end, signature, whole,
            )
            for symbol, extent, (signature, whole) in zip(symbols, extents, hashes, strict=True)
        )  # fmt: skip

    def _marks(self) -> Iterator[tuple[int, int]]:
        """Control characters where statements begin and where blocks end (one that says how many)."""
        for start in self.state.starts:
            yield start - 1, 1
        ends: dict[int, int] = {}
        for end in self.state.ends:
            ends[end] = ends.get(end, 0x0D) + 1
        for end, mark in ends.items():
            yield end, min(mark, 0x1F)

    def _mark_exported(self) -> None:
        """Public by `__all__`, else by a name without leading underscore; members of what is public, likewise."""
        exported = self.state.exported
        for old in self.order:
            symbol = self.state.symbols[old]
            if symbol.flags & LOCAL:
                continue
            is_public = not symbol.name.startswith("_") or (symbol.name.startswith("__") and symbol.name.endswith("__"))
            if symbol.parent < 0:
                if exported is not None:
                    is_public = symbol.name in exported or (not self.state.exported_complete and is_public)
                elif symbol.name == "__all__":
                    is_public = False
            elif not self.state.symbols[symbol.parent].flags & EXPORTED:
                is_public = False
            if is_public:
                symbol.flags |= EXPORTED

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

    def _find_passed(self) -> dict[tuple[int, str], dict[int, None]]:
        """(function, parameter) -> what is passed; through parameters that are called, too, where their value is known."""
        found: dict[tuple[int, str], dict[int, None]] = {}
        through: list[tuple[tuple[int, str], tuple[int, ...], tuple[tuple[str, int], ...]]] = []
        for callee, positional, keywords in self.state.passed:
            expression = self.state.expressions[callee]
            if expression[0] == "param":
                through.append((expression[1:], positional, keywords))
            else:
                self._pass(found, *self._callee(callee), positional, keywords)
        for _ in range(_PASSING_ROUNDS if through else 0):
            for parameter, positional, keywords in through:
                for value in tuple(found.get(parameter, ())):
                    if value >= 0 and self.state.expressions[value][0] in ("global", "def", "attr"):
                        self._pass(found, *self._callee(value), positional, keywords)
        return found

    def _pass(
        self,
        found: dict[tuple[int, str], dict[int, None]],
        function: int,
        skip: int,
        positional: tuple[int, ...],
        keywords: tuple[tuple[str, int], ...],
    ) -> None:
        if function < 0:
            return
        parameters = self.state.symbols[function].parameters[skip:]
        given = list(zip(parameters, positional, strict=False))
        given += [(parameter, value) for name, value in keywords for parameter in parameters if parameter[0] == name]
        for (name, kind, star), value in given:
            if star:
                break
            if kind < 0:
                found.setdefault((function, name), {})[value] = None

    def _callee(self, number: int) -> tuple[int, int]:
        """The function of this file that an expression certainly calls, and how many parameters the receiver takes."""
        state = self.state
        expression = state.expressions[number]
        if expression[0] == "global":
            entries = state.names.get(expression[1], [])
            if len(entries) == 1 and entries[0][0] == "def":
                return self._function_or_constructor(entries[0][1])
        elif expression[0] == "def":
            return self._function_or_constructor(expression[1])
        elif expression[0] == "attr" and expression[1] >= 0:
            base = state.expressions[expression[1]]
            cls = base[1] if base[0] == "self" else self._constructed(base)
            entries = state.members.get(cls, {}).get(expression[2], []) if cls >= 0 else []
            if len(entries) == 1 and entries[0][0] == "def":
                return entries[0][1], 0 if state.symbols[entries[0][1]].flags & STATIC else 1
        return -1, 0

    def _function_or_constructor(self, symbol: int) -> tuple[int, int]:
        if symbol not in self.state.members:
            return (symbol, 0) if self.state.symbols[symbol].kind == "function" else (-1, 0)
        entries = self.state.members[symbol].get("__init__", [])
        return (entries[0][1], 1) if len(entries) == 1 and entries[0][0] == "def" else (-1, 0)

    def _constructed(self, expression: tuple[Any, ...]) -> int:
        """The class of this file of which an expression makes an instance, or -1."""
        if expression[0] != "call":
            return -1
        callee = self.state.expressions[expression[1]]
        if callee[0] == "def" and callee[1] in self.state.members:
            return int(callee[1])
        if callee[0] == "global":
            entries = self.state.names.get(callee[1], [])
            if len(entries) == 1 and entries[0][0] == "def" and entries[0][1] in self.state.members:
                return int(entries[0][1])
        return -1


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
_PASSING_ROUNDS = 3
_VALUES = ("value", "set", "bound")
_LINK_FLAGS = (
    ASYNC | STATIC | CLASSMETHOD | PROPERTY | GENERATOR | OVERLOAD | LOCAL | FIXTURE
    | ABSTRACT | IS_CONTEXT | RETURNS_ANNOTATED | IS_SETTER
)  # fmt: skip


def _pre_order(symbols: list[Definition]) -> list[int]:
    """Symbol numbers, each before those that it encloses, siblings in the order of the file."""
    children: dict[int, list[int]] = {}
    for number, symbol in enumerate(symbols):
        children.setdefault(symbol.parent, []).append(number)
    for siblings in children.values():
        siblings.sort(key=lambda number: (symbols[number].start, symbols[number].name_start))
    order: list[int] = []
    pending = list(reversed(children.get(-1, [])))
    while pending:
        number = pending.pop()
        order.append(number)
        pending.extend(reversed(children.get(number, [])))
    return order


__all__ = ["Node", "extract"]
