"""Definitions of the files in a view, and what their type variables are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tokenzip.languages.base import View
from tokenzip.languages.javascript.alternatives import NOTHING, Alternative, Alternatives, Bound, singular, substitute, union
from tokenzip.languages.javascript.resolve import Resolver
from tokenzip.languages.javascript.structure import Key, variables

_MAX_SUBSTITUTED = 4_000
"""Substitutions that are kept: forgetting costs time only."""
_MAX_ALIASES = 4
"""Aliases inside aliases that are followed."""


class Definitions(Resolver):
    """Looks at interfaces, and at the private part of the file that is being linked."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.path = ""
        self.table: tuple[Any, ...] = ()
        self.memo: list[Alternatives | None] = []
        self.lambdas: tuple[Any, ...] = ()
        self.private: dict[str, Any] = {}
        self.private_members: dict[str, Any] = {}
        self.parameters: dict[str, Any] = {}
        self.temporary: list[tuple[Any, ...]] = []
        self.level = 0
        self.alias_level = 0
        """Type aliases inside type aliases, up to here. Recursive ones end at a level, which is part of each key."""
        self._substituted: dict[tuple[Any, ...], tuple[Alternatives, Alternatives, tuple[Alternatives, ...]]] = {}
        """With what the keys know by its identity, so that it stays alive."""
        self._interned: dict[Alternatives, Alternatives] = {}
        self.own = False
        """Whether an expression of the linked file itself is being worked out: only then may what its calls pass count."""

    def lookup(self, key: Any, function: Callable[..., Any], *arguments: Any) -> Any:
        """As in `Lookups`. What rests on the private part of the file is forgotten with it: such keys begin with (kind, path,
        private name)."""
        if len(key) > 2 and key[1] == self.path and key[2] in self.private:
            key = (self.path, *key)
            self.temporary.append(key)
        known = self._shared.get(key)
        if known is None:
            return self.look_further(key, function, arguments)
        if self._active:
            self._facts |= known[1]
        elif key not in self._noted:
            self._noted.add(key)
            self._facts |= known[1]
        return known[0]

    def _compute(self, key: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        saved = self.own, self.level, self.alias_level
        self.own, self.level, self.alias_level = False, 0, 0
        found = super()._compute(key, function, arguments)
        self.own, self.level, self.alias_level = saved
        return found

    def substituted(self, alternatives: Alternatives, mapping: Mapping[Key, Alternatives]) -> Alternatives:
        """The alternatives with type variables replaced. A chain of calls asks the same of each signature: results are kept
        by the identity of what they were made of, and equal ones are one object, so that what is made of them is found too."""
        if not mapping or not alternatives:
            return alternatives
        values = tuple(mapping.values())
        key = (id(alternatives), *map(id, values), *mapping)
        known = self._substituted.get(key)
        if known is None:
            if len(self._substituted) > _MAX_SUBSTITUTED:
                self._substituted.clear()
                self._interned.clear()
            found = substitute(alternatives, mapping)
            found = self._interned.setdefault(found, found)
            known = self._substituted[key] = found, alternatives, values
        return known[0]

    # What the evaluators above define

    def value(self, path: str, expr: Any, env: Any = None) -> Alternatives:
        raise NotImplementedError

    def type_of(self, path: str, expr: Any, env: Any = None) -> Alternatives:
        raise NotImplementedError

    def returned(self, path: str, name: str) -> Alternatives:
        raise NotImplementedError

    # Definitions

    def definition(self, path: str, name: str) -> Any:
        self._facts.add(("def", path, name))
        found = self.view.interface(path).definitions.get(name)
        if found is None and path == self.path:
            return self.private.get(name)
        return found

    def defined(self, path: str, name: str) -> Alternatives:
        """The value that a definition is."""
        one = self.definition(path, name)
        if one is None:
            return NOTHING
        kind = one[0]
        if kind == "f":
            return (("F", path, name, None, self._outer_variables(path, name)),)
        if kind == "c":
            return (("C", path, name),)
        return (("O", path, name),) if kind in ("o", "e") else NOTHING

    def _outer_variables(self, path: str, name: str) -> Bound:
        """The type variables of the class or interface that a method belongs to, each standing for itself."""
        owner = name.rpartition(".")[0]
        outer = self.definition(path, owner) if owner else None
        if outer is None or outer[0] not in ("c", "i") or not outer[2]:
            return ()
        return tuple([((path, owner, parameter), (("V", path, owner, parameter),)) for parameter, _, _ in outer[2]])

    def defined_type(self, path: str, name: str, arguments: tuple[Alternatives, ...]) -> Alternatives:
        """The type that a definition declares, with its arguments."""
        one = self.definition(path, name)
        if one is None:
            return NOTHING
        kind = one[0]
        if kind in ("c", "i", "e"):
            return (("I", path, name, arguments),)
        if kind == "f":
            return (("I", path, name, ()),)
        if kind == "t":
            level = self.alias_level + 1
            if level > _MAX_ALIASES:
                return NOTHING
            found: Alternatives = self.lookup(("alias", path, name, level), self._alias, path, name, level)
            return self.substituted(found, self.bind_arguments(path, name, one[2], arguments)) if one[2] else found
        return NOTHING

    def _alias(self, path: str, name: str, level: int) -> Alternatives:
        self.alias_level = level
        one = self.definition(path, name)
        return self.type_of(path, one[3]) if one is not None and one[0] == "t" else NOTHING

    def bind_arguments(
        self, path: str, owner: str, parameters: tuple[Any, ...], arguments: tuple[Alternatives, ...]
    ) -> dict[tuple[str, str, str], Alternatives]:
        """Type variables of a definition -> arguments, or else their defaults."""
        mapping: dict[tuple[str, str, str], Alternatives] = {}
        for position, (name, _, given) in enumerate(parameters):
            if position < len(arguments):
                mapping[path, owner, name] = arguments[position]
            elif arguments and given not in (None, -1):
                mapping[path, owner, name] = self.substituted(self.type_of(path, given), mapping)
        return mapping

    def variable_bound(self, variable: Alternative) -> Alternatives:
        """What is known of a type variable that nothing has bound: its constraint, else its default."""
        own = self.own and variable[1] == self.path
        found: Alternatives = self.lookup(("bound", *variable[1:], own), self._variable_bound, *variable[1:], own)
        return found

    def _variable_bound(self, path: str, owner: str, name: str, own: bool) -> Alternatives:
        if name.startswith("\0"):
            self.own = own
            return self.parameter_value(path, owner, int(name[1:]))
        one = self.definition(path, owner) if owner else None
        if one is None or one[0] not in ("f", "c", "i", "t"):
            return NOTHING
        for parameter, bound, given in one[2]:
            if parameter == name:
                for part in (bound, given):
                    if part not in (None, -1):
                        found = self.type_of(path, part)
                        if found:
                            return found
        return NOTHING

    def parameter_value(self, path: str, owner: str, position: int) -> Alternatives:
        raise NotImplementedError

    def expand(self, alternatives: Alternatives) -> Alternatives:
        """With type variables replaced by what bounds them."""
        for one in alternatives:
            if one[0] in ("V", "S"):
                break
        else:
            return alternatives
        parts = []
        for one in alternatives:
            if one[0] == "V":
                parts.append(self.variable_bound(one))
            elif one[0] == "S":
                parts.append(singular(self.expand(one[1])))
            else:
                parts.append((one,))
        return union(parts)

    def closed(self, path: str, expr: Any, env: Any) -> Bound:
        """The variables of an expression with what the environment says of them; by default each stands for itself."""
        keys = variables(path, expr, self.node, self.lambdas)
        if not keys:
            return ()
        return tuple([(key, env[key] if env and key in env else (("V", *key),)) for key in keys])

    def node(self, path: str, expr: Any) -> Any:
        """The parts of an expression; None if nothing is known."""
        if isinstance(expr, int):
            return self.table[expr] if expr >= 0 and path == self.path else None
        return expr

    def constructed(self, alternative: Alternative, arguments: tuple[Any, ...], path: str) -> Alternatives:
        raise NotImplementedError

    def member(self, one: Alternative, name: str) -> Alternatives:
        """What a member of an alternative may be."""
        raise NotImplementedError
