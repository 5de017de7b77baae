"""What a handle or a name stands for in a snapshot, and what is nearest to one that stands for nothing."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from tokenzip.errors import AmbiguousSymbol, UnknownSymbol, UsageError
from tokenzip.git import GitRepository
from tokenzip.languages.base import stem_of
from tokenzip.model import NO_DEFINITION, Flag, Revision, Symbol, SymbolKey
from tokenzip.snapshot.file import File
from tokenzip.snapshot.keys import name_key, stem_key
from tokenzip.snapshot.spelling import nearest_in, nearest_names, nearest_paths
from tokenzip.snapshot.tree import TreeFile
from tokenzip.snapshot.written import read_handle, spellings, tidy_path
from tokenzip.store import ReadTransaction, SymbolColumns


class _Snapshot(Protocol):
    at: Revision
    git: GitRepository

    def reading(self) -> contextlib.AbstractContextManager[ReadTransaction]: ...
    def tree_file(self, path: str) -> TreeFile | None: ...
    def file(self, path: str) -> File | None: ...
    def paths(self) -> Iterator[str]: ...
    def files(self) -> Iterator[File]: ...
    def is_directory(self, path: str) -> bool: ...
    def symbol_columns(self, path: str) -> SymbolColumns | None: ...
    def symbol(self, key: SymbolKey) -> Symbol | None: ...
    def paths_posted(self, hashes: Iterable[int]) -> list[str]: ...
    def may_hold_at_top(self, path: str, name: str) -> bool: ...


def resolve_handle(snapshot: _Snapshot, text: str) -> SymbolKey:
    """What a handle names: ``path::Qualified.name``, a path, or a short form of either that is unique.

    ``path:12`` is the innermost symbol at that line. Raises UnknownSymbol with the nearest names, AmbiguousSymbol with all
    candidates, UsageError for a path that is not in the repository.
    """
    with snapshot.reading():
        if _is_file(snapshot, text):
            return SymbolKey(text)
        written = read_handle(text, lambda path: _is_file(snapshot, path))
        if written.line:
            return _at_line(snapshot, _one_path(snapshot, written.path), written.line)
        if written.qualified:
            return _in_file(snapshot, written.path, written.qualified)
        return _one_name(snapshot, written.path) or SymbolKey(_one_path(snapshot, written.path))


def tidied(snapshot: _Snapshot, path: str) -> str:
    """A path as git writes it: see `written.tidy_path`. Raises UsageError."""

    def exists(path: str) -> bool:
        return _is_file(snapshot, path) or (_is_tidy(path) and snapshot.is_directory(path))

    return tidy_path(path, snapshot.git.root, exists)


def _is_file(snapshot: _Snapshot, path: str) -> bool:
    return _is_tidy(path) and snapshot.tree_file(path) is not None


def _is_tidy(path: str) -> bool:
    """Whether git could write a path so: it has no empty parts, which a look-up goes over."""
    return bool(path) and "" not in path.split("/")


def _one_name(snapshot: _Snapshot, name: str) -> SymbolKey | None:
    """The only symbol of that name, None if there is none."""
    found = named(snapshot, name)
    if len(found) > 1:
        raise AmbiguousSymbol(
            f"{name} names {len(found)} symbols",
            hint="give the whole handle of one of them",
            candidates=[symbol.handle for symbol in found],
        )
    return found[0].key if found else None


def _at_line(snapshot: _Snapshot, path: str, line: int) -> SymbolKey:
    """The innermost definition at a line of a file, the file itself outside of all."""
    file = snapshot.file(path)
    if file is None or not file.is_source:
        return SymbolKey(path)
    if line > file.lines:
        raise UsageError(f"{path} has no line {line} at {snapshot.at.rev}: it has {file.lines}", hint=f"Ask about {path}.")
    inside = [symbol for symbol in file.symbols if symbol.line <= line <= symbol.end_line and symbol.kind not in NO_DEFINITION]
    innermost = max(inside, key=lambda symbol: (symbol.line, -symbol.end_line), default=None)
    return innermost.key if innermost is not None else SymbolKey(path)


def _in_file(snapshot: _Snapshot, path: str, qualified: str) -> SymbolKey:
    """The symbol of a file, which may be named by the end of its path where only one such file has the symbol."""
    paths = _paths(snapshot, path) if path else []
    names = spellings(qualified)
    if not paths and "/" not in path:
        key = _one_name(snapshot, f"{path}.{names[-1]}".strip("."))
        if key is not None:
            return key
    for name in names:
        found = [key for each in paths if snapshot.symbol(key := SymbolKey(each, name)) is not None]
        found = found or [symbol.key for each in paths for symbol in _ending_in(snapshot, each, name)]
        if len(found) == 1:
            return found[0]
        if found:
            raise AmbiguousSymbol(
                f"{path}::{qualified} names {len(found)} symbols",
                hint="give the whole handle of one of them",
                candidates=[key.handle for key in found],
            )
    at = paths[0] if len(paths) == 1 else path
    near = nearest_in(snapshot, paths or [path], names[-1])
    what = f"{at} has no symbol {qualified}" if paths else f"there is no file {path}"
    raise _unknown(f"{what} at {snapshot.at.rev}", near, names[-1])


def _ending_in(snapshot: _Snapshot, path: str, qualified: str) -> list[Symbol]:
    file = snapshot.file(path)
    symbols = file.symbols if file is not None and file.is_source else ()
    return [symbol for symbol in symbols if symbol.qualified_name.endswith("." + qualified)]


def _one_path(snapshot: _Snapshot, text: str) -> str:
    """A whole path, or the only path that ends in it."""
    paths = _paths(snapshot, text)
    if len(paths) == 1:
        return paths[0]
    if paths:
        raise AmbiguousSymbol(f"{text} names {len(paths)} files", hint="give a longer path", candidates=paths)
    near = nearest_paths(snapshot, text) if "/" in text else nearest_names(snapshot, text)
    raise _unknown(f"there is no symbol or file {text} at {snapshot.at.rev}", near, text)


def _paths(snapshot: _Snapshot, text: str) -> list[str]:
    """The file of that path, or else all whose path ends in it."""
    text = tidied(snapshot, text).rstrip("/")
    if _is_file(snapshot, text):
        return [text]
    posted = snapshot.paths_posted([stem_key(stem_of(text.rpartition("/")[2]))])
    return [path for path in posted if path.endswith("/" + text) and snapshot.tree_file(path) is not None]


def _unknown(message: str, near: Sequence[str], name: str) -> UnknownSymbol:
    """The error for a name that stands for nothing: with what is near, or else a search for its words."""
    if near:
        return UnknownSymbol(message, hint=f"did you mean {' or '.join(near[:3])}?", candidates=near)
    words = " ".join(re.findall(r"\w+", name)) or name
    return UnknownSymbol(message, hint="a search by words may find it", calls=[("search_symbols", {"query": words})])


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
