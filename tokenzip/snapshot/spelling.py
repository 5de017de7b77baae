"""What a mistyped path or handle may have meant: for a message, so a look over all paths and names is no harm.

Few candidates are chosen by the letters and pairs of letters that they share with what was written; only these are compared
letter by letter.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from tokenzip.model import NO_DEFINITION, Flag, Symbol
from tokenzip.snapshot.file import File
from tokenzip.snapshot.keys import name_key
from tokenzip.store import SymbolColumns

NEAREST = 5
"""Names that an error proposes."""
_COMPARED = 60
"""Names that are compared letter by letter, for each part of what was written."""
_FILES = 12
"""Files in which a mistyped symbol is looked for."""
_OF_ONE_NAME = 200
"""Symbols of one name that are compared."""
_HALF_ALIKE = 0.5
"""Likeness below which a name is another one, however near its file."""
_ALIKE = 0.6
"""Likeness from which on one name may have been meant by another; a path that shares its ends is above it."""


class _Snapshot(Protocol):
    def paths(self) -> Iterator[str]: ...
    def files(self) -> Iterator[File]: ...
    def file(self, path: str) -> File | None: ...
    def symbol_columns(self, path: str) -> SymbolColumns | None: ...
    def paths_posted(self, hashes: Iterable[int]) -> list[str]: ...


def nearest_paths(snapshot: _Snapshot, path: str) -> list[str]:
    """The paths that resemble one most, the nearest first."""
    return _best(_paths_like(snapshot, path, NEAREST))


def nearest_names(snapshot: _Snapshot, name: str) -> list[str]:
    """Handles of symbols, and paths, that a short name may have meant."""
    return _best({**_paths_like(snapshot, name, NEAREST), **_symbols_like(snapshot, name)})


def nearest_in(snapshot: _Snapshot, paths: Sequence[str], qualified: str) -> list[str]:
    """Handles that ``path::qualified`` of one of the paths may have meant, where either part may be wrong; paths if there are
    none."""
    files: dict[str, float] = {}
    for path in paths:
        for near, likeness in _paths_like(snapshot, path, _FILES).items():
            files[near] = max(likeness, files.get(near, 0.0))
    pairs = [(likeness, symbol) for near, likeness in files.items() for symbol in _symbols_of(snapshot, near)]
    for symbol in _called(snapshot, qualified.rpartition(".")[2]):
        pairs.append((max(path_likeness(path, symbol.path) for path in paths), symbol))
    found = {
        symbol.handle: (likeness + own) / 2
        for likeness, symbol in pairs
        if (own := _symbol_likeness(qualified, symbol)) >= _HALF_ALIKE
    }
    return _best(found) or _best(files)


def nearest_folders(snapshot: _Snapshot, wanted: str, others: Iterable[str] = ()) -> list[str]:
    """The folders, and other names of modules, that resemble one most."""
    names = {*others, *(folder for path in snapshot.paths() for folder in _folders(path))}
    wanted = wanted.rstrip("/")
    namesakes = (name for name in names if posixpath.basename(name) == posixpath.basename(wanted))
    return _best({name: path_likeness(wanted, name) for name in {*_sharing_letters(wanted, names), *namesakes}})


def _folders(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


def _best(found: dict[str, float]) -> list[str]:
    likely = [name for name, likeness in found.items() if likeness >= _ALIKE]
    return heapq.nsmallest(NEAREST, likely, key=lambda name: (-round(found[name], 6), len(name), name))


# Paths.


def _paths_like(snapshot: _Snapshot, wanted: str, most: int) -> dict[str, float]:
    """The paths that resemble one most, with their likeness."""
    paths = list(snapshot.paths())
    names: dict[str, list[str]] = {}
    for path in paths:
        names.setdefault(posixpath.basename(path), []).append(path)
    near = set(_sharing_letters(wanted, paths))
    for name in _sharing_letters(posixpath.basename(wanted), names):
        near.update(names[name][:_OF_ONE_NAME])
    likeness = {path: path_likeness(wanted, path) for path in sorted(near)}
    return {path: likeness[path] for path in heapq.nsmallest(most, likeness, key=lambda path: (-likeness[path], path))}


def path_likeness(wanted: str, path: str) -> float:
    """How much a path resembles one, or the end of one: from 0 to 1. The file's own name counts as much as the whole."""
    parts = path.split("/")
    count = wanted.count("/") + 1
    tails = {"/".join(parts[-number:]) for number in (count - 1, count, count + 1, len(parts)) if 0 < number <= len(parts)}
    whole = max(name_likeness(wanted, tail) - (tail != path) / 100 for tail in tails)
    (stem, suffix), (other, other_suffix) = posixpath.splitext(posixpath.basename(wanted)), posixpath.splitext(parts[-1])
    own = name_likeness(stem, other) - (suffix.lower() != other_suffix.lower()) / 20
    return (own + whole) / 2


# Symbols.


def _symbols_like(snapshot: _Snapshot, wanted: str) -> dict[str, float]:
    """Symbols anywhere whose name, or its end, resembles one."""
    names = {name for file in snapshot.files() if file.is_source for name in _names_in(snapshot, file)}
    last = wanted.rpartition(".")[2]
    near = dict.fromkeys([last, *_sharing_letters(last, names)])
    return {symbol.handle: _symbol_likeness(wanted, symbol) for name in near for symbol in _called(snapshot, name)}


def _names_in(snapshot: _Snapshot, file: File) -> Iterable[str]:
    columns = snapshot.symbol_columns(file.path)
    return columns.names if columns is not None else [row.name for row in file.rows]


def _called(snapshot: _Snapshot, name: str) -> Iterator[Symbol]:
    """The first symbols of that simple name."""
    count = 0
    for path in snapshot.paths_posted([name_key(name)]):
        file = snapshot.file(path)
        for symbol in file.called(name) if file is not None and file.is_source else ():
            if symbol.kind not in NO_DEFINITION and count < _OF_ONE_NAME:
                count += 1
                yield symbol


def _symbols_of(snapshot: _Snapshot, path: str) -> Iterator[Symbol]:
    file = snapshot.file(path)
    if file is not None and file.is_source:
        yield from (symbol for symbol in file.symbols if symbol.kind not in NO_DEFINITION)


def _symbol_likeness(wanted: str, symbol: Symbol) -> float:
    """How much the name of a symbol, or its end, resembles one; a wrong owner matters less than a wrong name."""
    qualified = symbol.qualified_name
    parts, count = qualified.split("."), wanted.count(".") + 1
    tail = ".".join(parts[-count:])
    whole = name_likeness(wanted, tail) - (tail != qualified) / 100
    own = name_likeness(wanted.rpartition(".")[2], parts[-1])
    return max(whole, 0.75 * own) - (0.05 if symbol.flags & Flag.LOCAL else 0)


# Letters.


def _sharing_letters(wanted: str, names: Iterable[str]) -> list[str]:
    """Those of the names that share most letters and pairs of letters with one."""
    marks = _marks(wanted)
    rated = ((2 * len(marks & own) / (len(marks) + len(own)), name) for name in names if (own := _marks(name)))
    return [name for _, name in heapq.nsmallest(_COMPARED, rated, key=lambda pair: (-pair[0], pair[1]))]


def _marks(name: str) -> set[str]:
    lower = f"^{name.lower()}$"
    return {*lower, *map("".join, itertools.pairwise(lower))}


@functools.lru_cache(maxsize=8192)
def name_likeness(one: str, other: str) -> float:
    """From 0 to 1: one less the slips between two names, in parts of the longer one. Case counts for next to nothing."""
    longest = max(len(one), len(other))
    if not longest:
        return 1.0
    return 1 - slips(one.lower(), other.lower()) / longest - (one != other) / 1000


def slips(one: str, other: str) -> int:
    """How many letters are left out, put in, mistaken or swapped with the next between two texts (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        earlier, before, row = before, row, [at]
        for place, match in enumerate(other, 1):
            cost = min(before[place] + 1, row[-1] + 1, before[place - 1] + (letter != match))
            if at > 1 and place > 1 and letter == other[place - 2] and one[at - 2] == match:
                cost = min(cost, earlier[place - 2] + 1)
            row.append(cost)
    return row[-1]
