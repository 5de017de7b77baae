"""From a finished walk to the three parts of a FileIR."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.javascript.modules import Modules
from tokenzip.languages.javascript.scopes import ABSENT, Definition, Expr

MAX_NODES = 240
"""Expressions inside one value of the interface; a larger value is unknown to other files."""
MAX_ENTRIES = 8
"""Values kept of one name."""
MAX_SIGNATURES = 40
"""Call signatures kept of one interface."""
_SINGLE = frozenset({"w", "i", "I", "x", "ke", "kr", "kt", "ta", "tR", "tk", "n", "sp", "w'", "G", "ty"})
_FUNCTION_KINDS = frozenset({"function", "method", "constructor"})
_OBJECT_KINDS = frozenset({"variable", "constant", "property", "object", "enum", "namespace"})


class Packer:
    """Turns indexes into qualified names, and what other files may see into nested tuples."""

    def __init__(self, walk: Modules) -> None:
        self.walk = walk
        self.exprs = walk.exprs
        self.needed: list[Definition] = []
        self._budget = 0
        self._uids: dict[int, str] = {}
        self._owner = ""
        self._groups: dict[tuple[str, str], list[Definition]] = {}
        for one in walk.definitions:
            if one.kind in _FUNCTION_KINDS:
                self._groups.setdefault((one.plain, one.kind), []).append(one)

    # Body: same table, definitions by qualified name

    def table(self) -> tuple[Expr, ...]:
        return tuple([self._named(parts) for parts in self.exprs])

    def _named(self, parts: Expr) -> Expr:
        op = parts[0]
        if op in ("d", "T", "p", "td", "th", "y") or (op == "V" and parts[1] >= 0):
            return (op, self.walk.definitions[parts[1]].qualified, *parts[2:])
        if op == "V":
            return ("V", "", parts[2])
        return parts

    # Interface: nested

    def value(self, index: int, owner: str) -> Expr | None:
        """The whole expression below an index; None if nothing is known or it is too large."""
        if index < 0:
            return None
        self._budget, self._uids, self._owner = MAX_NODES, {}, owner
        needed = len(self.needed)
        found = self._nest(index)
        if self._budget < 0:
            del self.needed[needed:]
            return None
        return found

    def _nest(self, index: int) -> Expr | None:
        if index < 0:
            return None
        self._budget -= 1
        if self._budget < 0:
            return None
        parts = self.exprs[index]
        op = parts[0]
        if op == "a":
            return ("a", self._nest(parts[1]), parts[2])
        if op in ("g", "l", "s", "m", "R", "tl", "ts"):
            return parts
        if op in ("c", "N"):
            return (op, self._nest(parts[1]), self._all(parts[2]), self._all(parts[3]))
        if op in ("d", "T", "p", "td", "th", "y"):
            return self._definition(parts)
        if op in _SINGLE:
            return (op, self._nest(parts[1]))
        if op == "L":
            return self._lambda(parts[1])
        if op == "P":
            return ("P", self._uids.get(parts[1], "?"), parts[2])
        return self._other(op, parts)

    def _all(self, indexes: tuple[int, ...]) -> tuple[Expr | None, ...]:
        return tuple([self._nest(index) for index in indexes])

    def _definition(self, parts: Expr) -> Expr:
        definition = self.walk.definitions[parts[1]]
        self.needed.append(definition)
        if parts[0] == "td":
            return ("td", definition.qualified, self._all(parts[2]))
        return (parts[0], definition.qualified, *parts[2:])

    def _lambda(self, number: int) -> Expr | None:
        if number in self._uids:
            return None
        uid = self._uids[number] = f"{self._owner}~{len(self._uids)}"
        lam = self.walk.lambdas[number]
        params = tuple([(name, self._nest(annotation), None, flags) for name, annotation, _, flags in lam.params])
        return ("L", uid, lam.flags, params, self._nest(lam.ret), lam.returns)

    def _other(self, op: str, parts: Expr) -> Expr | None:
        if op in ("u", "tu", "ti", "tt"):
            return (op, self._all(parts[1]))
        if op in ("r",):
            return (op, self._all(parts[1]), parts[2])
        if op in ("tr",):
            return (op, parts[1], self._all(parts[2]))
        if op == "tq":
            return (op, self._nest(parts[1]), parts[2], self._all(parts[3]))
        if op == "V":
            owner = self.walk.definitions[parts[1]].qualified if parts[1] >= 0 else ""
            return ("V", owner, parts[2])
        if op in ("tf", "tn"):
            params = tuple([(name, self._nest(written), flags) for name, written, flags in parts[1]])
            tparams = tuple([(name, self._nest(bound), self._nest(given)) for name, bound, given in parts[3]])
            return (op, params, self._nest(parts[2]), tparams)
        if op == "to":
            return (op, tuple([(name, self._nest(written)) for name, written in parts[1]]))
        if op == "o":
            return (op, tuple([(name, self._nest(value)) for name, value in parts[1]]), self._all(parts[2]))
        if op in ("q", "Q", "b", "Wi", "Wt", "Wd", "k", "km", "cx"):
            return (op, self._nest(parts[1]), *parts[2:])
        if op in ("A", "tx", "tc", "tm", "W", "Wp", "xk", "sl"):
            return (op, self._nest(parts[1]), self._nest(parts[2]), *parts[3:])
        if op == "tp":
            return (op, parts[1], self._nest(parts[2]))
        if op == "B":
            return (op, self._nest(parts[1]), self._all(parts[2]))
        return None

    def own(self, one: Definition) -> int:
        return self.walk.make("d", one.order)

    # Definitions

    def definition(self, one: Definition, nested: bool) -> Expr:
        """The facts about a definition; `nested`: for the interface."""
        q = one.qualified

        def put(index: int) -> Any:
            return self.value(index, q) if nested else index

        def puts(indexes: list[int]) -> tuple[Any, ...]:
            return tuple([put(index) for index in indexes])

        tparams = tuple([(name, put(bound), put(given)) for name, bound, given in one.tparams])
        if one.kind in _FUNCTION_KINDS:
            params = tuple(
                [
                    (name, put(annotation), put(given if annotation < 0 else ABSENT), flags)
                    for name, annotation, given, flags in one.params
                ]
            )
            context = put(one.context) if not nested or (one.context >= 0 and self.exprs[one.context][0] == "n") else None
            this = put(one.this)
            return (
                "f",
                one.flags,
                tparams,
                params,
                put(one.ret),
                one.returns,
                context,
                this,
                puts(one.spreads + one.assigned),
                self._overloads(one),
            )
        if one.kind == "class":
            parent = puts(one.bases)
            return ("c", one.flags, tparams, parent, puts(one.implements), puts(one.spreads + one.assigned))
        if one.kind == "interface":
            return ("i", one.flags, tparams, puts(one.bases))
        if one.kind == "type_alias":
            return ("t", one.flags, tparams, put(one.type))
        if one.kind == "enum":
            return ("e", one.flags)
        return ("o", one.flags, puts(one.spreads), puts(one.assigned))

    def _overloads(self, one: Definition) -> tuple[str, ...]:
        """The signatures that an implementation stands for."""
        if one.flags & (bits.OVERLOAD | bits.DECLARATION) or one.kind == "constructor":
            return ()
        group = self._groups.get((one.plain, one.kind), ())
        return tuple([other.qualified for other in group if other.flags & bits.OVERLOAD]) if len(group) > 1 else ()

    def members(self, one: Definition, nested: bool) -> dict[str, tuple[Expr, ...]]:
        return {name: self.entries(entries, one.qualified, nested) for name, entries in one.members.items() if entries}

    def entries(self, entries: list[Expr], owner: str, nested: bool) -> tuple[Expr, ...]:
        """Entries of a name: (``d`` qualified), (``set`` qualified), (``v``/``s`` value qualified-or-None), imports."""
        found: list[Expr] = []
        for entry in entries[: MAX_SIGNATURES if len(entries) > MAX_ENTRIES and entries[0][0] == "v" else MAX_ENTRIES]:
            op = entry[0]
            if op in ("d", "set"):
                definition = self.walk.definitions[entry[1]]
                if nested:
                    self.needed.append(definition)
                packed: Expr = (op, definition.qualified)
            elif op in ("v", "s"):
                named = self.walk.definitions[entry[2]] if entry[2] is not None else None
                qualified = named.qualified if named is not None else None
                packed = (op, self.value(entry[1], owner) if nested else entry[1], qualified)
                if named is not None and nested and (named.members or named.assigned) and entry[1] != self.own(named):
                    found.append(("d", qualified))
                    self.needed.append(named)
            else:
                packed = entry
            if packed not in found:
                found.append(packed)
        return tuple(found)
