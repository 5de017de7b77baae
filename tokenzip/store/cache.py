"""`Cache`: what was read from an environment lately, decoded, shared by the transactions on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tokenzip.recent import Recent
from tokenzip.store.packs import Pack

_PACKS, _PACK_BYTES = 4096, 6 << 20
_CHUNKS = 512
"""Of some 10 KB each."""


class Cache:
    """What one environment gave, decoded: packs by number, chunks of postings, blocks of paths."""

    def __init__(self) -> None:
        self.chunks: Recent[bytes, Any] = Recent(_CHUNKS)
        self.blocks: dict[int, Sequence[str]] = {}
        self._packs: Recent[int, Pack] = Recent(_PACKS, _PACK_BYTES, lambda pack: sum(map(len, pack.records)))
        self._damaged: set[int] = set()

    def pack(self, number: int, read: Callable[[], Pack]) -> Pack:
        return self._packs.get_or_make(number, read)

    def is_news(self, number: int) -> bool:
        """Whether it was not known yet that this pack is damaged."""
        known = number in self._damaged
        self._damaged.add(number)
        return not known
