"""Paths and their numbers, which the inverted index speaks of: given in order, and never again for another path.

Neighbours share a compressed block: beginnings of paths are long and alike. New paths wait until their transaction ends, so
that a block is written once for all of them.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from tokenzip.store.environment import DamagedStore
from tokenzip.store.packs import compress, decompress

_BLOCK = 128
"""Paths to a block: 2 KB when compressed."""
_CACHED_BLOCKS = 256


class Paths:
    """The paths inside one transaction. `blocks` keeps what was decoded; blocks grow, so a kept one may lack its end."""

    def __init__(self, transaction: Any, tables: dict[str, Any], blocks: dict[int, Sequence[str]]) -> None:
        self._transaction = transaction
        self._numbers = tables["path_id"]
        self._table = tables["path"]
        self._blocks = blocks
        self._fresh: dict[str, int] = {}
        self._next: int | None = None

    def path(self, number: int) -> str:
        """The path of a number. Raises DamagedStore for a number that no path has."""
        if self._next is not None and number > self._next - 1 - len(self._fresh):
            return next(itertools.islice(self._fresh, number - self._next + len(self._fresh), None))
        block, place = divmod(number - 1, _BLOCK)
        known = self._blocks.get(block, ())
        if place >= len(known):
            known = self._block(block)
            if len(self._blocks) >= _CACHED_BLOCKS:
                self._blocks.clear()
            self._blocks[block] = known
        if number < 1 or place >= len(known):
            raise DamagedStore(f"path {number} is not in the store")
        return known[place]

    def number(self, path: str) -> int | None:
        """The number of a path, None if it has none."""
        fresh = self._fresh.get(path)
        if fresh is not None:
            return fresh
        value = self._transaction.get(_digest(path), db=self._numbers)
        return None if value is None else int.from_bytes(value, "big")

    def all(self) -> Iterator[tuple[int, str]]:
        """Every number with its path."""
        for block in range(-(-self._count() // _BLOCK)):
            yield from enumerate(self._block(block), 1 + block * _BLOCK)

    def intern(self, path: str) -> int:
        """The number of a path, given now if it has none."""
        known = self.number(path)
        if known is not None:
            return known
        if self._next is None:
            self._next = 1 + self._count()
        self._fresh[path] = number = self._next
        self._next += 1
        return number

    def flush(self) -> None:
        """Write the paths that were given numbers."""
        if not self._fresh:
            return
        fresh, self._fresh = self._fresh, {}
        paths = list(fresh)
        number = fresh[paths[0]]
        while paths:
            block, place = divmod(number - 1, _BLOCK)
            standing = self._block(block)[:place] if place else ()
            here, paths = paths[: _BLOCK - place], paths[_BLOCK - place :]
            value = compress("\0".join((*standing, *here)).encode("utf-8", "surrogateescape"))
            self._transaction.put(block.to_bytes(4, "big"), value, db=self._table)
            number += len(here)
        self._write_numbers(fresh)

    def _write_numbers(self, fresh: dict[str, int]) -> None:
        """In order of their keys: a table that was empty gets full pages."""
        is_first = not self._transaction.stat(db=self._numbers)["entries"]
        for key, number in sorted((_digest(path), number) for path, number in fresh.items()):
            self._transaction.put(key, number.to_bytes(4, "big"), db=self._numbers, append=is_first)

    def _count(self) -> int:
        """How many paths are written."""
        count: int = self._transaction.stat(db=self._numbers)["entries"]
        return count

    def _block(self, block: int) -> Sequence[str]:
        value = self._transaction.get(block.to_bytes(4, "big"), db=self._table)
        if value is None:
            return ()
        try:
            return decompress(value).decode("utf-8", "surrogateescape").split("\0")
        except ValueError as error:
            raise DamagedStore(f"block {block} of the paths is damaged: {error}") from error


def _digest(path: str) -> bytes:
    return hashlib.blake2b(path.encode("utf-8", "surrogateescape"), digest_size=8).digest()
