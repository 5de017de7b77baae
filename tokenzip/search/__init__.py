"""Words -> ranked symbols.

First files are ranked (`files`), then the symbols of the best files (`symbols`). ``docs/search.md`` gives the measurements.
Every weight was chosen so that repositories which it was not chosen on are searched as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenzip.search.files import Files
from tokenzip.search.symbols import EXACT, Hit, hits_in
from tokenzip.search.words import LONGEST_QUESTION

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

PER_FILE = 3
"""Symbols of one file in an answer, unless more are asked for."""
BEST_FILES = 10
"""Best files among which those without symbols are answered."""
_AS_A_SYMBOL = 0.7
"""Score of the best file among symbols: as of one that has the question in its text."""


@dataclass(frozen=True, slots=True)
class FileHit:
    """A file found."""

    path: str
    score: float
    symbol: None = None
    """What tells it from a symbol found."""
    why: str = "text"


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


def find(
    snapshot: Snapshot, text: str, *, kinds: Collection[str] = (), module: str | None = None, limit: int = 20
) -> tuple[Hit | FileHit, ...]:
    """What `search` finds and, unless kinds are asked for, the best files of which no language reads the symbols."""
    with snapshot.reading():
        files = Files(snapshot, text, module)
        hits: list[Hit | FileHit] = [*_bounded(hits_in(files, kinds), limit, PER_FILE)]
        if not kinds:
            hits.extend(_unread(files))
        return tuple(sorted(hits, key=lambda hit: -round(hit.score, 9))[: limit or None])


def _unread(files: Files) -> Iterator[FileHit]:
    ranked = files.ranked()[:BEST_FILES]
    for path, score in ranked:
        file = files.snapshot.file(path)
        if file is not None and not file.is_source:
            share = score / ranked[0][1]
            yield FileHit(path, _AS_A_SYMBOL * share * share)


def search_files(snapshot: Snapshot, text: str, *, module: str | None = None, limit: int = 20) -> tuple[FileHit, ...]:
    """The files of code that the text may be about, best first."""
    with snapshot.reading():
        ranked = Files(snapshot, text, module).ranked()[:limit]
        return tuple(FileHit(path, round(score, 6)) for path, score in ranked)


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


__all__ = ["EXACT", "LONGEST_QUESTION", "FileHit", "Hit", "find", "search", "search_files"]
