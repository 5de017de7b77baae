"""Words -> ranked symbols.

First files are ranked (`files`), then the symbols of the best files (`symbols`). ``docs/search.md`` gives the measurements.
Every weight was chosen so that repositories which it was not chosen on are searched as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenzip.search.files import Files
from tokenzip.search.symbols import EXACT, Hit, hits_in
from tokenzip.search.words import LONGEST_QUESTION

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

PER_FILE = 3
"""Symbols of one file in an answer, unless more are asked for."""


@dataclass(frozen=True, slots=True)
class FileHit:
    """A file found."""

    path: str
    score: float


def search(
    snapshot: Snapshot,
    text: str,
    *,
    kinds: Collection[str] = (),
    module: str | None = None,
    limit: int = 20,
    per_file: int = PER_FILE,
) -> tuple[Hit, ...]:
    """The symbols that the text may mean, best first; of equal ones by path and position.

    `kinds` and `module` (path of a module) filter. `per_file` bounds the symbols of one file (0: no bound). Of a text only the
    first `LONGEST_QUESTION` letters count.
    """
    with snapshot.reading():
        return _bounded(hits_in(Files(snapshot, text, module), kinds), limit, per_file)


def search_files(snapshot: Snapshot, text: str, *, module: str | None = None, limit: int = 20) -> tuple[FileHit, ...]:
    """The files of code that the text may be about, best first."""
    with snapshot.reading():
        ranked = Files(snapshot, text, module).ranked()[:limit]
        return tuple(FileHit(path, round(score, 6)) for path, score in ranked)


def unread_files(snapshot: Snapshot, text: str, *, module: str | None = None, limit: int = 20) -> tuple[FileHit, ...]:
    """Those files among the best that have no symbols to be found, because no language reads them."""
    found = search_files(snapshot, text, module=module, limit=limit)
    return tuple(hit for hit in found if (file := snapshot.file(hit.path)) is not None and not file.is_source)


def _bounded(hits: Iterable[Hit], limit: int, per_file: int) -> tuple[Hit, ...]:
    taken: dict[str, int] = {}
    kept: list[Hit] = []
    for hit in hits:
        path = hit.symbol.path
        if not per_file or taken.get(path, 0) < per_file:
            taken[path] = taken.get(path, 0) + 1
            kept.append(hit)
        if limit and len(kept) >= limit:
            break
    return tuple(kept)


__all__ = ["EXACT", "LONGEST_QUESTION", "FileHit", "Hit", "search", "search_files", "unread_files"]
