"""`Cache`: what was read from an environment lately, decoded, shared by the transactions on it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from tokenzip.store.packs import Pack

_CACHE_BYTES = 6 << 20
_CACHED_CHUNKS = 256
"""Of some 12 KB each."""


class Cache:
    """What one environment gave, decoded: packs by number (bounded by bytes), chunks of postings, blocks of paths."""

    def __init__(self) -> None:
        self.chunks: dict[bytes, Any] = {}
        self.blocks: dict[int, Sequence[str]] = {}
        self._packs: OrderedDict[int, Pack] = OrderedDict()
        self._bytes = 0
        self._damaged: set[int] = set()
        self._lock = threading.Lock()

    def pack(self, number: int, read: Callable[[], Pack]) -> Pack:
        with self._lock:
            known = self._packs.get(number)
            if known is not None:
                self._packs.move_to_end(number)
                return known
        fresh = read()
        with self._lock:
            if number not in self._packs:
                self._packs[number] = fresh
                self._bytes += sum(map(len, fresh.records))
            while self._bytes > _CACHE_BYTES and len(self._packs) > 1:
                _, dropped = self._packs.popitem(last=False)
                self._bytes -= sum(map(len, dropped.records))
            if len(self.chunks) > _CACHED_CHUNKS:
                self.chunks.clear()
        return fresh

    def is_news(self, number: int) -> bool:
        """Whether it was not known yet that this pack is damaged."""
        with self._lock:
            known = number in self._damaged
            self._damaged.add(number)
        return not known
