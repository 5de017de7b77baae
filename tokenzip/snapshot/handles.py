"""What a handle or a name stands for in a snapshot, and what is nearest to one that stands for nothing."""

from __future__ import annotations

import contextlib
import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from tokenzip.errors import AmbiguousSymbol, UnknownSymbol
from tokenzip.languages.base import stem_of
from tokenzip.model import Flag, Revision, Symbol, SymbolKey
from tokenzip.snapshot.file import File
from tokenzip.snapshot.keys import name_key, stem_key
from tokenzip.snapshot.tree import TreeFile
from tokenzip.store import ReadTransaction

_NEAREST_NAMES = 5


class _Snapshot(Protocol):
    at: Revision

    def reading(self) -> contextlib.AbstractContextManager[ReadTransaction]: ...
    def tree_file(self, path: str) -> TreeFile | None: ...
    def file(self, path: str) -> File | None: ...
    def files(self) -> Iterator[File]: ...
    def symbol(self, key: SymbolKey) -> Symbol | None: ...
    def paths_posted(self, hashes: Iterable[int]) -> list[str]: ...
    def may_hold_at_top(self, path: str, name: str) -> bool: ...


def resolve_handle(snapshot: _Snapshot, text: str) -> SymbolKey:
    """What a handle names: ``path::Qualified.name``, a path, or a short form of either that is unique.

    Raises UnknownSymbol with the nearest names, AmbiguousSymbol with all candidates.
    """
    with snapshot.reading():
        path, separator, qualified = text.partition("::")
        if separator:
            return _in_file(snapshot, _one_path(snapshot, path), qualified)
        if snapshot.tree_file(text) is not None:
            return SymbolKey(text)
        found = named(snapshot, text)
        if len(found) == 1:
            return found[0].key
        if found:
            raise AmbiguousSymbol(
                f"{text} names {len(found)} symbols",
                hint="give the whole handle of one of them",
                candidates=[symbol.handle for symbol in found],
            )
        return SymbolKey(_one_path(snapshot, text))


def _in_file(snapshot: _Snapshot, path: str, qualified: str) -> SymbolKey:
    key = SymbolKey(path, qualified)
    if not qualified or snapshot.symbol(key) is not None:
        return key
    file = snapshot.file(path)
    symbols = file.symbols if file is not None else ()
    suffix = [symbol for symbol in symbols if symbol.qualified_name.endswith("." + qualified)]
    if len(suffix) == 1:
        return suffix[0].key
    near = [symbol.handle for symbol in suffix] or [
        f"{path}::{name}"
        for name in difflib.get_close_matches(qualified, [symbol.qualified_name for symbol in symbols], _NEAREST_NAMES, 0.5)
    ]
    raise UnknownSymbol(f"{path} has no symbol {qualified} at {snapshot.at.rev}", hint=_nearest_hint(near), candidates=near)


def _one_path(snapshot: _Snapshot, text: str) -> str:
    """A whole path, or the only path that ends in it."""
    text = text.removeprefix("./").rstrip("/")
    if snapshot.tree_file(text) is not None:
        return text
    name = text.rpartition("/")[2]
    with snapshot.reading():
        ends = [
            path
            for path in snapshot.paths_posted([stem_key(stem_of(name))])
            if path.endswith("/" + text) and snapshot.tree_file(path) is not None
        ]
    if len(ends) == 1:
        return ends[0]
    if ends:
        raise AmbiguousSymbol(f"{text} names {len(ends)} files", hint="give a longer path", candidates=ends)
    near = _nearest(snapshot, text)
    raise UnknownSymbol(f"there is no symbol or file {text} at {snapshot.at.rev}", hint=_nearest_hint(near), candidates=near)


def _nearest(snapshot: _Snapshot, text: str) -> list[str]:
    """Names that resemble `text`: for a message, so a scan of all symbols is no harm."""
    wanted = text.rpartition(".")[2].rpartition("/")[2].lower()
    names: dict[str, str] = {}
    for file in snapshot.files():
        names.setdefault(file.path.rpartition("/")[2].lower(), file.path)
        if file.is_source:
            for symbol in file.symbols:
                names.setdefault(symbol.name.lower(), symbol.handle)
    return [names[name] for name in difflib.get_close_matches(wanted, names, _NEAREST_NAMES, 0.6)]


def _nearest_hint(near: Sequence[str]) -> str:
    return f"did you mean {' or '.join(near[:3])}?" if near else "`tokenzip search WORDS` finds symbols by words"


def named(snapshot: _Snapshot, text: str, most: int | None = None) -> tuple[Symbol, ...]:
    """Symbols whose qualified name is `text` or ends in ``.text``; if some are so at top level, only those.

    Ordered by path and position; symbols local to a function only if there are no others. The first `most` of them.
    """
    last = text.rpartition(".")[2]
    with snapshot.reading():
        paths = snapshot.paths_posted([name_key(_without_ordinal(last))])
        tops = paths
        if most is not None and len(paths) > most and text == _without_ordinal(last):
            tops = [path for path in paths if snapshot.may_hold_at_top(path, text)]
        whole = _first_shared(_called(snapshot, tops, text, whole=True), most)
        return tuple((whole or _first_shared(_called(snapshot, paths, text, whole=False), most))[:most])


def _called(snapshot: _Snapshot, paths: Iterable[str], text: str, *, whole: bool) -> Iterator[Symbol]:
    """Symbols of these files whose qualified name is `text` or, unless as a `whole`, ends in it."""
    last = _without_ordinal(text.rpartition(".")[2])
    for path in paths:
        file = snapshot.file(path)
        if file is not None and file.is_source:
            for symbol in file.called(last):
                name = symbol.qualified_name
                if name == text or (not whole and name.endswith("." + text)):
                    yield symbol


def _first_shared(symbols: Iterable[Symbol], most: int | None) -> list[Symbol]:
    """Those that are not local to a function, the first `most` of them; all, if every one is."""
    shared: list[Symbol] = []
    local: list[Symbol] = []
    for symbol in symbols:
        (local if symbol.row.flags & Flag.LOCAL else shared).append(symbol)
        if most is not None and len(shared) >= most:
            break
    return shared or local


def _without_ordinal(name: str) -> str:
    """``f`` for ``f#2``; the ``#`` of a private name of JavaScript stays."""
    return re.sub(r"(?<=.)#\d+$", "", name)
