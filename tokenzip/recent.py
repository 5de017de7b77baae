"""`Recent`: what was read or made lately, within bounds."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """A mapping that forgets what was asked for longest ago: bounded by the number of entries and by their weights together.

    Safe among threads. The last entry stays, however heavy it is.
    """

    def __init__(self, most: int, room: int | None = None, weigh: Callable[[V], int] = lambda _: 0) -> None:
        self._most, self._room, self._weigh = most, room, weigh
        self._lock = threading.Lock()
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._weight = 0

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def get(self, key: K) -> V | None:
        """What is kept under a key, None if nothing is."""
        with self._lock:
            known = self._entries.get(key)
            if known is None:
                return None
            self._entries.move_to_end(key)
            return known[0]

    def put(self, key: K, value: V) -> V:
        """Keep a value under a key, in place of what is there: put it again when its weight has changed."""
        weight = self._weigh(value)
        with self._lock:
            _, before = self._entries.pop(key, (None, 0))
            self._entries[key] = (value, weight)
            self._weight += weight - before
            while len(self._entries) > 1 and self._is_full():
                self._weight -= self._entries.popitem(last=False)[1][1]
        return value

    def _is_full(self) -> bool:
        return len(self._entries) > self._most or (self._room is not None and self._weight > self._room)

    def get_or_make(self, key: K, make: Callable[[], V]) -> V:
        """What is kept under a key, made if nothing is; two threads may both make it."""
        known = self.get(key)
        return self.put(key, make()) if known is None else known
