"""The engine below every evaluator: memoised look-ups that know on which facts they rest, and that survive cycles.

A look-up may be shared between files only if its result cannot depend on where the look-ups began. Mutual recursion and
circular imports break that: what is found inside a cycle depends on the entry point. So a result that met an active
look-up, or used such a result, stays private to the file being linked; all others are shared. Both this scheme and the two
naive ones were fuzzed in the spike: the naive ones differ from scratch in 2 to 27 of 24,000 steps, this one in none
(``docs/decisions/0003-linking.md``).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from collections.abc import Set as AbstractSet
from typing import Any

from tokenzip.languages.base import View
from tokenzip.model import Fact

_NO_ACTIVE = 1 << 30
_HOP = 60
"""Nested look-ups on one thread's stack. Each costs some C stack, and code that another generated may nest thousands."""


class Lookups:
    """Memoised look-ups over one view. Language evaluators inherit from it and write their look-ups as methods.

    ``self.lookup(key, function, *arguments)`` answers from memory or calls the function; ``self.note(kind, ...)`` records a
    consulted fact. The answer of a look-up that is being computed already is `unknown`.
    """

    unknown: Any = ()

    def __init__(self, view: View) -> None:
        self.view = view
        self._shared: dict[Hashable, tuple[Any, AbstractSet[Fact]]] = {}
        self._private: dict[Hashable, tuple[Any, AbstractSet[Fact]]] = {}
        self._active: dict[Hashable, int] = {}
        self._facts: set[Fact] = set()
        self._noted: set[Hashable] = set()
        self._lowest = _NO_ACTIVE
        self._in_cycle = False

    def begin_file(self) -> None:
        """Forget what is private to the file before; call at the start of each `link`."""
        self._private = {}
        self._active = {}
        self._facts = set()
        self._noted = set()
        self._lowest = _NO_ACTIVE
        self._in_cycle = False

    @property
    def facts(self) -> set[Fact]:
        """Facts consulted since `begin_file`, directly or through remembered look-ups."""
        return self._facts

    def note(self, *fact: str) -> None:
        self._facts.add(fact)

    def lookup(self, key: Hashable, function: Callable[..., Any], *arguments: Any) -> Any:
        """The value of ``function(*arguments)``, remembered under `key` with the facts it rests on."""
        known = self._shared.get(key)
        if known is None:
            return self.look_further(key, function, arguments)
        if self._active:
            self._facts |= known[1]
        elif key not in self._noted:  # the file's own set of facts has them already
            self._noted.add(key)
            self._facts |= known[1]
        return known[0]

    def look_further(self, key: Hashable, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """The value of a look-up that is not shared (yet)."""
        known = self._private.get(key)
        if known is not None:
            self._facts |= known[1]
            self._in_cycle = True
            return known[0]
        depth = self._active.get(key)
        if depth is not None:
            self._lowest = min(self._lowest, depth)
            self._in_cycle = True
            return self.unknown
        return self._compute(key, function, arguments)

    def _compute(self, key: Hashable, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        facts, lowest, in_cycle = self._facts, self._lowest, self._in_cycle
        active = self._active
        depth = active[key] = len(active)
        found = self._facts = set()
        self._lowest, self._in_cycle = _NO_ACTIVE, False
        try:
            value = function(*arguments) if (depth + 1) % _HOP else _on_fresh_stack(function, arguments)
        except BaseException:  # a fault rests on what was consulted up to it
            self._facts |= facts  # of the innermost look-up that was under way
            raise
        del active[key]
        facts |= found
        self._facts = facts
        if not self._in_cycle:
            self._lowest, self._in_cycle = lowest, in_cycle
            self._shared[key] = (value, found)  # nothing is added to them any more: no need of a copy
            return value
        if self._lowest >= depth:  # the head of its cycle: what it found is final, but only for this file
            self._private[key] = (value, found)
            self._lowest = lowest
        else:
            self._lowest = min(lowest, self._lowest)
        return value


def _on_fresh_stack(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """The value of the call, made on a thread of its own while this one waits: a limit on depth would depend on the entry."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append((function(*arguments), None))
        except BaseException as error:  # raised again where it belongs
            outcome.append((None, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    value, error = outcome[0]
    if error is not None:
        raise error
    return value
