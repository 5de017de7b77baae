"""What a file says, under construction: expressions, definitions, frames of local names.

An expression is a tuple in one table, shared when equal; its parts are indexes into the table (-1: nothing is known). It is
*closed*: its leaves are module-level names, definitions of the file, `this`, parameters and literals, because the flow of
local variables was followed while it was made. The first item says what it is:

======================== =======================================================================================
``g name``               a name of the module or a global one
``d definition``         a function, class, object ... of this file (a number here, a qualified name when packed)
``a base name``          member; ``x base``: member whose key is not known; ``xk base key``: or may be a string that is
``c f args targs``       call; ``N f args targs``: new; an argument may be ``sp e``: spread
``w e`` ``i e`` ``I e``  awaited; element of an iterable, of an async one
``q e n`` ``Q e n``      n-th element of a destructured array; all from the n-th on; ``sl call e m n``: from m to before n
``u es``                 any of these
``r es many``            array (1: only its first elements); ``o ((name e) ...) spreads``: object of plain values
``l type`` ``s text``    literal
``b f n``                f with its first n arguments bound; ``B base types``: what a class extends
``L lambda``             function without a symbol; ``P lambda n``: its n-th parameter
``T class``              `this` in an instance; ``y class static``: super
``p definition n``       n-th parameter of a named function, where no type is written
``k context n``          n-th parameter of a function whose place (`context`) gives its type
``kr`` ``km`` ``ke``     what such a function returns; a member of an object, an element of an array in such a place
``cx call n``            the place of the n-th argument of a call
``n type`` ``A type e``  a value of the written type; written, but `e` says more if the type says nothing
``m spec`` ``R spec``    namespace of a module; what `require` gives; ``w' e``: the promise of a dynamic import
``G e``                  generator of e; ``kt context``: `this` of a function in such a place
``W e class not``        e after ``instanceof``; ``Wt e word not``: after ``typeof``; ``Wd e name literal not``: after a test of
                         a member; ``Wi e name not``: after ``in``; ``Wp e predicate not``: after a call of a predicate
======================== =======================================================================================

Types: ``tr name args``, ``td definition args`` (references), ``tq base name args`` (qualified), ``V owner name``
(variable), ``tu ts``, ``ti ts`` (union, intersection), ``ta t``, ``tt ts`` (array, tuple; a rest element is ``tR t``),
``tf params ret tparams`` (function), ``tn params ret tparams`` (constructor), ``to members``, ``tl name`` (primitive),
``ts text`` (literal), ``ty e`` (typeof), ``tx t key`` (indexed), ``tk t`` (keyof), ``tc a b`` (conditional),
``tm t key`` (mapped), ``th class`` (this), ``tp name t`` (predicate).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.syntax import Node

Expr = tuple[Any, ...]
MAX_UNION = 8
"""Alternatives kept of one value; more is as good as unknown."""
MAX_DEPTH = 250
"""Levels of nesting that are followed; what lies deeper is left out, and the file's status says so."""

ABSENT = -1
_NO_SOURCES = frozenset({"variable", "constant", "property", "enum_member"})
"""What is written in their initial values belongs to the function, class or module around them."""


class Definition:
    """A function, class, interface, object ... that others may point to; most become symbols of the file."""

    __slots__ = (
        "alias", "assigned", "bases", "context", "decorators", "doc", "end", "flags", "flows", "head_end", "hidden",
        "implements", "index", "kind", "members", "name", "name_end", "name_line", "name_start", "node", "order",
        "params", "parent", "plain", "qualified", "ret", "returns", "spreads", "start", "this", "tparams", "type",
    )  # fmt: skip

    def __init__(self, name: str, kind: str, parent: Definition | None, order: int) -> None:
        self.name = name
        self.kind = kind
        self.parent = parent
        self.order = order
        self.flags = 0
        self.hidden = False
        self.start = self.end = self.head_end = self.name_start = self.name_end = self.name_line = 0
        self.doc: tuple[int, int] = (0, 0)
        self.members: dict[str, list[Expr]] = {}
        """Entries: ``d definition``, ``v expression definition-or-None``, ``s expression`` (set on this)."""
        self.params: list[list[Any]] = []
        """[name, annotation, default, flags (1 rest, 2 optional, 4 pattern)]"""
        self.flows: dict[int, list[int]] = {}
        """Parameter -> expressions that calls in this file pass."""
        self.tparams: list[tuple[str, int, int]] = []
        self.ret = ABSENT
        self.returns = 0
        """1: the return type is written."""
        self.context = ABSENT
        self.this = ABSENT
        self.bases: list[int] = []
        self.implements: list[int] = []
        self.node: Node | None = None
        """What declares it: a function, class, declarator, signature ..."""
        self.decorators: list[Node] = []
        self.spreads: list[int] = []
        """Values whose members it has too, unless it has them itself."""
        self.assigned: list[int] = []
        """Likewise, but written over its own (`Object.assign`)."""
        self.alias: Definition | None = None
        self.type = ABSENT
        self.index = -1
        self.qualified = ""
        self.plain = ""

    def visible_parent(self) -> Definition | None:
        parent = self.parent
        while parent is not None and parent.hidden:
            parent = parent.parent
        return parent


class Lambda:
    """A function without a name of its own."""

    __slots__ = ("context", "flags", "params", "ret", "returns", "this", "tparams")

    def __init__(self, flags: int, context: int) -> None:
        self.flags = flags
        self.context = context
        self.params: list[list[Any]] = []
        self.tparams: list[tuple[str, int, int]] = []
        self.ret = ABSENT
        self.returns = 0
        self.this = ABSENT


class Frame:
    """The names that are visible inside one function (or the module), with what they hold at the point reached."""

    __slots__ = (
        "assigned", "cls", "context", "dotted", "env", "exposes", "function", "is_module", "locals", "outer", "returns",
        "static", "symbol", "this", "types", "yields",
    )  # fmt: skip

    def __init__(self, outer: Frame | None, symbol: Definition | None) -> None:
        self.outer = outer
        self.symbol = symbol
        self.is_module = outer is None
        self.exposes = outer is None
        """Whether what is defined here can be named from elsewhere: module, class, namespace."""
        self.env: dict[str, int] = {}
        self.assigned: dict[str, list[int]] = {}
        self.types: dict[str, int] = {}
        self.locals: set[str] = set()
        """In the module's frame: names of the block being walked, which other files cannot see."""
        self.this: int = ABSENT if outer is None else outer.this
        self.cls: Definition | None = None if outer is None else outer.cls
        self.static: bool = False if outer is None else outer.static
        self.function: Definition | Lambda | None = None
        self.returns: list[int] = []
        self.yields: list[int] = []
        self.dotted = 0
        self.context = ABSENT


class Tables:
    """The tables that a walk over a file fills, and the small operations on them that every part of the walk uses."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.string: str | None = source.decode("ascii") if source.isascii() else None
        """The same where bytes and characters agree, which saves decoding each name."""
        self.exprs: list[Expr] = []
        self._ids: dict[Expr, int] = {}
        self.definitions: list[Definition] = []
        self.lambdas: list[Lambda] = []
        self.names: dict[str, list[Expr]] = {}
        self.exports: dict[str, list[Expr]] = {}
        self.stars: list[Expr] = []
        self.imports: list[tuple[int, str, tuple[tuple[str, str, int], ...], int, int]] = []
        """(source symbol order or -1, specifier, names, flags (1 type only, 2 re-export, 4 dynamic), line)"""
        self.refs: list[tuple[Any, ...]] = []
        self._seen: set[tuple[Any, ...]] = set()
        self.frame = Frame(None, None)
        self.module_frame = self.frame
        self.pending: list[Callable[[], None]] = []
        self.depth = 0
        self.too_deep = 0
        self.export_flag = 0
        self.ambient = False
        self.late: list[tuple[int, Frame]] = []
        self.late_ids: dict[tuple[Any, ...], int] = {}

    def text(self, node: Node) -> str:
        if self.string is not None:
            return self.string[node.start_byte : node.end_byte]
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def make(self, *parts: Any) -> int:
        """The index of an expression, new or known."""
        known = self._ids.get(parts)
        if known is None:
            known = self._ids[parts] = len(self.exprs)
            self.exprs.append(parts)
        return known

    def union(self, values: list[int]) -> int:
        """Any of the values; unknown ones are left out, and too many are unknown."""
        found: list[int] = []
        for value in values:
            if value < 0 or value in found:
                continue
            parts = self.exprs[value]
            if parts[0] == "u":
                found.extend(one for one in parts[1] if one not in found)
            else:
                found.append(value)
        if len(found) == 1:
            return found[0]
        if not found or len(found) > MAX_UNION:
            return ABSENT
        return self.make("u", tuple(found))

    def member(self, base: int, name: str) -> int:
        return self.make("a", base, name)

    def define(self, name: str, kind: str, node: Node, name_node: Node | None = None, *, hidden: bool = False) -> Definition:
        """A new definition inside the symbol that is being walked."""
        definition = Definition(name, kind, self.frame.symbol, len(self.definitions))
        definition.hidden = hidden
        definition.node = node
        definition.start, definition.end = node.start_byte, node.end_byte
        definition.head_end = node.end_byte
        if name_node is not None:
            definition.name_start, definition.name_end = name_node.start_byte, name_node.end_byte
            definition.name_line = name_node.start_point[0] + 1
        else:
            definition.name_start = definition.name_end = node.start_byte
            definition.name_line = node.start_point[0] + 1
        symbol = self.frame.symbol
        if not self.frame.exposes or (symbol is not None and symbol.flags & bits.LOCAL):
            definition.flags |= bits.LOCAL
        self.definitions.append(definition)
        return definition

    def refer(self, kind: str, expr: int, node: Node, name: str, once: bool = False) -> None:
        """Note a reference from the symbol being walked; `once`: only the first of equal ones."""
        if expr < 0 and kind != "c":
            return
        symbol = self.frame.symbol
        while symbol is not None and (symbol.hidden or symbol.kind in _NO_SOURCES):
            symbol = symbol.parent
        source = -1 if symbol is None else symbol.order
        if once:
            key = (source, kind, expr)
            if key in self._seen:
                return
            self._seen.add(key)
        self.refs.append((source, kind, expr, node.start_point[0] + 1, name))

    # Names

    def look_up(self, name: str) -> int:
        """What a name holds here."""
        frame: Frame | None = self.frame
        while frame is not None:
            if frame.is_module and frame is not self.frame and name not in frame.locals:
                break
            value = frame.env.get(name)
            if value is not None:
                if frame is not self.frame:
                    all_values = frame.assigned.get(name)
                    if all_values is not None and len(all_values) > 1:
                        return self.union(all_values)
                return value
            frame = frame.outer
        return self.make("g", name)

    def look_up_type(self, name: str) -> int:
        """The definition or type variable that a type name stands for inside functions, or ABSENT (then it is the module's)."""
        frame: Frame | None = self.frame
        while frame is not None:
            value = frame.types.get(name)
            if value is not None:
                return value
            frame = frame.outer
        return ABSENT

    def assign(self, name: str, value: int) -> None:
        """A name gets a new value, wherever it was declared."""
        frame = self.frame
        while name not in frame.env and frame.outer is not None:
            frame = frame.outer
        if frame.is_module and name not in frame.locals:
            self.add_name(name, ("v", value, None))
            if frame is not self.frame:
                return
        self.set_in(frame, name, value)

    def set_in(self, frame: Frame, name: str, value: int) -> None:
        frame.env[name] = value
        values = frame.assigned.setdefault(name, [])
        if value not in values:
            values.append(value)
        if frame.dotted:
            self.forget_members(frame, name)

    def forget_members(self, frame: Frame, key: str) -> None:
        prefix = key + "."
        for known in [known for known in frame.env if known.startswith(prefix)]:
            del frame.env[known]

    def add_name(self, name: str, entry: Expr) -> None:
        entries = self.names.setdefault(name, [])
        if entry not in entries:
            entries.append(entry)

    # What later parts of the walk define

    def expression(self, node: Node) -> int:
        raise NotImplementedError

    def annotation(self, node: Node) -> int:
        raise NotImplementedError
