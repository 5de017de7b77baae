"""From frames, as a trace writes them, to files and symbols of one state.

A path on another machine is matched by its end: ``/app/src/shop/cart.py`` is ``shop/cart.py`` here. What stands nowhere here is
external and named by its package. Where several files fit equally, what the function and the other frames say decides; else
all of them are named and none is chosen.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenzip.model import NO_DEFINITION, Flag, Symbol, SymbolKey
from tokenzip.walk import plain, symbols_of
from tokenzip.workflows.traces import Frame

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

_RUNNING = frozenset({"function", "method", "constructor", "class", "interface", "struct", "enum", "trait", "impl", "property"})
_CLASSES = frozenset({"class", "interface", "struct", "enum", "trait", "impl"})
_PACKAGES = frozenset({"site-packages", "dist-packages"})
_OUTSIDE = re.compile(
    r"""(?:^|/)(?:
      (?P<python>lib/python\d[\d.]*/|Python\d+/lib/|python\d[\d.]*\.zip/)
    | rustc/[0-9a-f]+/(?P<rust>library/)
    | \.cargo/(?:registry/src/[^/]+|git/checkouts)/(?P<crate>[^/]+?)(?:-\d[^/]*)?/
    | pkg/mod/(?P<module>[^@]+)@[^/]+/
    | (?P<go>(?:usr/local|opt|libexec|hostedtoolcache)/(?:[^/]+/)*go(?:/[^/]+)*?/src/)
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_COMPILED = frozenset({"dist", "build", "out", "lib", "es", "esm", "cjs", "umd", ".next", "target", "bin"})
_SCRIPTS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte")
_COMPONENTS = 30
"""Parts of a path that are compared, from its end."""
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Place:
    """Where a frame lies."""

    frame: Frame
    path: str = ""
    """In the repository; empty for a frame outside of it."""
    symbol: Symbol | None = None
    match: str = "external"
    """``function``: the line lies in the function that is named; ``line``: in this symbol, no name to compare; ``text``: what
    the trace shows of the line stands in another one; ``changed``: it stands nowhere in the function; ``name``: the line lies
    elsewhere, the function was looked up by name; ``moved``: likewise, in another file; ``other``: the function that is named
    is nowhere here, this holds the line; ``beyond``: the file ends before the line; ``file``: no more is known;
    ``ambiguous``: several files fit; ``missing``: the file would be in this repository, and is not; ``external``."""
    note: str = ""
    """What does not agree."""
    package: str = ""
    """Of an external frame."""
    candidates: tuple[str, ...] = ()
    """Of an ambiguous one; where a missing one would be."""
    line: int = 0
    """The line at this revision; 0 where it is not known."""

    @property
    def is_here(self) -> bool:
        return bool(self.path)

    @property
    def key(self) -> SymbolKey:
        return self.symbol.key if self.symbol is not None else SymbolKey(self.path)

    @property
    def is_certain(self) -> bool:
        return self.match in ("function", "line", "text", "file")


def locate(snapshot: Snapshot, frames: Sequence[Frame]) -> list[Place]:
    """The place of each frame."""
    unique = list(dict.fromkeys(frames))
    search = _Search(snapshot, unique)
    places = dict(zip(unique, search.places(), strict=True))
    return [places[frame] for frame in frames]


@dataclass(frozen=True, slots=True)
class _Fit:
    """How well a file of the repository fits a path of a trace."""

    path: str
    common: int
    """Parts that agree, from the end."""
    is_whole: bool
    """Whether one of the paths is all of the end of the other."""
    roots: tuple[str, str]
    """What stands before the common end, in the trace and here."""


class _Search:
    """Finds the files of all frames of a trace together: what is sure of one helps with another."""

    def __init__(self, snapshot: Snapshot, frames: Sequence[Frame]) -> None:
        self._snapshot = snapshot
        self._frames = frames
        self._paths = _paths_named(snapshot, {name for frame in frames for name in _names_like(frame)})
        self._roots: Counter[tuple[str, str]] = Counter()
        self._lines: dict[str, list[str]] = {}

    def places(self) -> list[Place]:
        fits = [self._fits(frame) for frame in self._frames]
        for found in fits:
            if len(found) == 1 and (found[0].common > 1 or not found[0].roots[0]):
                self._roots[found[0].roots] += 1
        return [self._place(frame, found) for frame, found in zip(self._frames, fits, strict=True)]

    def _fits(self, frame: Frame) -> list[_Fit]:
        """The files that fit best by their path alone."""
        parts = _parts(frame.file)
        if not parts or frame.file.startswith(("<", "node:", "internal/")):
            return []
        marker = max((place for place, part in enumerate(parts) if part in _PACKAGES), default=-1)
        if marker >= 0:
            installed = parts[marker + 1 :]
            return [fit for fit in self._matches(installed) if len(installed) > 1 and fit.common == len(installed)][:_NAMED]
        if "node_modules" in parts:
            return self._of_package(parts[len(parts) - parts[::-1].index("node_modules") :])
        if _OUTSIDE.search(frame.file):
            return []
        fits = [fit for fit in self._matches(parts) if fit.is_whole or fit.common > 1]
        if not fits and frame.language == "jvm":
            fits = [fit for fit in self._matches(parts) if self._is_in_package(fit.path, parts[:-1])]
        best = max((fit.common for fit in fits), default=0)
        return [fit for fit in fits if fit.common == best]

    def _matches(self, parts: Sequence[str]) -> list[_Fit]:
        return [_fit(parts, path) for path in self._paths.get(parts[-1], ())] if parts else []

    def _of_package(self, parts: Sequence[str]) -> list[_Fit]:
        """A module of this repository that is used as a package: ``node_modules/@scope/name/src/a.js``."""
        length = 2 if parts and parts[0].startswith("@") else 1
        modules = [module for module in self._snapshot.modules().all() if module.name == "/".join(parts[:length])]
        paths = [posixpath.join(module.path, *parts[length:]) for module in modules]
        return [_fit(_parts(path), path) for path in paths if self._snapshot.tree_file(path) is not None]

    def _is_in_package(self, path: str, package: Sequence[str]) -> bool:
        """Whether a source of the JVM that lies in a folder of another name declares the package."""
        source = self._snapshot.source(path)[:20_000].decode("utf-8", "replace")
        return re.search(rf"^\s*package\s+{re.escape('.'.join(package))}\s*;?\s*$", source, re.MULTILINE) is not None

    def _place(self, frame: Frame, fits: Sequence[_Fit]) -> Place:
        known = [fit for fit in fits if fit.roots in self._roots] or list(fits)
        places = [(self._inside(frame, fit.path), fit) for fit in known]
        if len(places) > 1:
            agreeing = [(place, fit) for place, fit in places if place.match in ("function", "text")]
            if len(agreeing) != 1:
                paths = tuple(fit.path for fit in known[:_NAMED])
                return Place(frame, match="ambiguous", note=f"{len(places)} files fit {frame.file}", candidates=paths)
            places = agreeing
        if places and self._is_believed(*places[0]):
            return places[0][0]
        return self._compiled(frame) or self._missing(frame) or Place(frame, package=package_of(frame))

    def _missing(self, frame: Frame) -> Place | None:
        """A file that lies in a folder of this repository, or where other frames have their files of it, and is not there."""
        parts = _parts(frame.file)
        is_elsewhere = frame.file.startswith(("<", "node:", "internal/")) or _OUTSIDE.search(frame.file) is not None
        if is_elsewhere or frame.language == "jvm" or not _COMPILED.union(_PACKAGES, ("node_modules",)).isdisjoint(parts):
            return None
        path = next((path for path in self._likely_paths(frame.file) if self._snapshot.tree_file(path) is None), None)
        if path is None:
            return None
        return Place(frame, match="missing", note=f"there is no {path} at this revision", candidates=(path,))

    def _likely_paths(self, file: str) -> Iterator[str]:
        """Where a file of a trace would be here: by the folders at its end (two of an absolute path), by other frames."""
        last = file.rpartition(" ")[2]  # a sentence may stand before it
        parts = _parts(last)
        for start in range(len(parts) - 1):
            folder = "/".join(parts[start:-1])
            is_whole = start == 0 and not last.startswith("/") and ":" not in last
            if (is_whole or "/" in folder) and self._snapshot.is_directory(folder):
                yield f"{folder}/{parts[-1]}"
        whole = "/".join(_parts(file))
        for before, own in self._roots:
            if before and whole.startswith(before + "/"):
                yield posixpath.join(own, whole[len(before) + 1 :])

    def _is_believed(self, place: Place, fit: _Fit) -> bool:
        """A file at the top of the repository fits any path that ends in its name: that alone proves nothing."""
        if fit.common > 1 or not fit.roots[0] or fit.roots in self._roots:
            return True
        if place.match in ("function", "text") or place.frame.language == "jvm":
            return True
        file = self._snapshot.file(place.path)
        return not place.frame.function and not self._roots and file is not None and 0 < place.frame.line <= max(file.lines, 1)

    def _compiled(self, frame: Frame) -> Place | None:
        """The source of a compiled script: by its path without suffix and output folder, believed if it has the function."""
        if frame.language != "node" or not frame.function or frame.line == 0:
            return None
        if "node_modules" in _parts(frame.file):
            return None
        parts = _parts(frame.file)
        stem = posixpath.splitext(parts[-1])[0] if parts else ""
        parts = [part for part in parts[:-1] if part not in _COMPILED]
        found: list[tuple[int, Symbol]] = []
        for suffix in _SCRIPTS:
            for path in self._paths.get(stem + suffix, ()):
                inside = [part for part in path.split("/")[:-1] if part not in _COMPILED and part != "src"]
                common = _common([*(part for part in parts if part != "src"), stem], [*inside, stem])
                found.extend((common, symbol) for symbol in _named_in(self._snapshot, path, frame.function))
        best = max((common for common, _ in found), default=0)
        symbols = [symbol for common, symbol in found if common == best]
        if len(symbols) != 1:
            return None
        note = f"{frame.file} is compiled; the function was looked up by name in its source"
        return Place(frame, symbols[0].path, symbols[0], "name", note)

    def _inside(self, frame: Frame, path: str) -> Place:
        """The symbol of a frame in the file that it is in."""
        snapshot = self._snapshot
        file = snapshot.file(path)
        symbols = symbols_of(snapshot, path)
        if file is None or not file.is_source or not symbols:
            lines = file.lines if file is not None and file.is_source else 0
            return self._of_file(frame, path, lines)
        line, changed = self._line_now(frame, path)
        at_line = enclosing(snapshot, path, line or frame.line) if frame.line else None
        named = [symbol for symbol in _around(symbols, at_line) if not frame.function or _has_name(symbol, frame.function)]
        match = "changed" if changed and not line else "text" if changed else "function" if frame.function else "line"
        if named and at_line is not None:
            return Place(frame, path, named[0], match, changed, line=line)
        if frame.function:
            return self._by_name(frame, path, at_line, file.lines)
        if changed:
            return Place(frame, path, None, "file" if line else "changed", changed, line=line)
        return self._of_file(frame, path, file.lines)

    def _of_file(self, frame: Frame, path: str, lines: int) -> Place:
        """A frame of which no more is known than its file, which has so many lines (0: unknown)."""
        if lines and frame.line > lines:
            note = f"line {frame.line} is beyond the {lines} lines of the file at this revision"
            return Place(frame, path, None, "beyond", note)
        return Place(frame, path, None, "file", line=frame.line)

    def _line_now(self, frame: Frame, path: str) -> tuple[int, str]:
        """The line at this revision, by what the trace shows of it; 0 if that stands nowhere; and what is otherwise."""
        lines = self._lines_of(path) if frame.text and frame.line else []
        if not lines or (frame.line <= len(lines) and lines[frame.line - 1] == frame.text):
            return frame.line, ""
        same = [number for number, text in enumerate(lines, 1) if text == frame.text]
        if frame.function:
            same = [number for number in same if self._is_inside(path, number, frame.function)]
        if len(same) == 1:
            return same[0], f"line {frame.line} of the trace is line {same[0]} at this revision"
        return 0, f"what line {frame.line} of the trace shows is not there at this revision"

    def _lines_of(self, path: str) -> list[str]:
        if path not in self._lines:
            source = self._snapshot.source(path).decode("utf-8", "replace")
            self._lines[path] = [line.strip() for line in source.split("\n")]
        return self._lines[path]

    def _is_inside(self, path: str, line: int, function: str) -> bool:
        symbols = symbols_of(self._snapshot, path)
        return any(_has_name(symbol, function) for symbol in _around(symbols, enclosing(self._snapshot, path, line)))

    def _by_name(self, frame: Frame, path: str, at_line: Symbol | None, lines: int) -> Place:
        """The function that is named but is not at the line that is named."""
        last = frame.function.rpartition(".")[2].rpartition(" ")[2]
        there = f"line {frame.line} is not in {last} at this revision" if frame.line else ""
        found = _named_in(self._snapshot, path, frame.function)
        if found:
            nearest = min(found, key=lambda symbol: (abs(symbol.line - frame.line), symbol.line))
            others = f", the nearest of {len(found)}" if len(found) > 1 else ""
            note = f"{there}; it is at {nearest.line}-{nearest.end_line}{others}" if there else ""
            return Place(frame, path, nearest, "name" if there else "function", note)
        elsewhere = [symbol for symbol in self._snapshot.named(last) if _has_name(symbol, frame.function)]
        if len(elsewhere) == 1 and (frame.language != "node" or frame.line > lines):
            note = f"{path} has no {last} at this revision; {elsewhere[0].handle} is the only one of that name"
            return Place(frame, elsewhere[0].path, elsewhere[0], "moved", note)
        if at_line is not None:
            note = f"no {frame.function} in {path} at this revision; this is what holds the line"
            return Place(frame, path, at_line, "other", note, line=frame.line)
        if frame.line > lines:
            return self._of_file(frame, path, lines)
        return Place(frame, path, None, "other", f"no {frame.function} in {path} at this revision")


def _paths_named(snapshot: Snapshot, names: Collection[str]) -> dict[str, list[str]]:
    """The files of the repository with one of these base names."""
    found: dict[str, list[str]] = {}
    if names:
        for path in snapshot.paths():
            name = path[path.rfind("/") + 1 :]
            if name in names:
                found.setdefault(name, []).append(path)
    return {name: sorted(paths) for name, paths in found.items()}


def _names_like(frame: Frame) -> Iterable[str]:
    name = posixpath.basename(frame.file)
    if name:
        yield name
    if frame.language == "node" and frame.function:
        stem = posixpath.splitext(name)[0]
        yield from (stem + suffix for suffix in _SCRIPTS)


def _parts(path: str) -> list[str]:
    """The parts of a path from its end that mean something: no drive, no dots."""
    return [part for part in path.split("/") if part not in {"", ".", ".."} and not part.endswith(":")][-_COMPONENTS:]


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    count = 0
    for one, other in zip(reversed(first), reversed(second), strict=False):
        if one != other:
            break
        count += 1
    return count


def _fit(parts: Sequence[str], path: str) -> _Fit:
    own = path.split("/")
    common = _common(parts, own)
    roots = ("/".join(parts[: len(parts) - common]), "/".join(own[: len(own) - common]))
    return _Fit(path, common, common in (len(parts), len(own)), roots)


def enclosing(snapshot: Snapshot, path: str, line: int) -> Symbol | None:
    """The innermost function or class around a line; at module level whatever is defined there, None for nothing."""
    around = [
        symbol
        for symbol in symbols_of(snapshot, path)
        if symbol.row.line <= line <= symbol.end_line and symbol.kind not in NO_DEFINITION
    ]
    running = [
        symbol for symbol in around if symbol.kind in _RUNNING and not (symbol.kind == "property" and symbol.row.parent < 0)
    ]
    chosen = running or [symbol for symbol in around if symbol.row.parent < 0]
    return min(chosen, key=lambda symbol: (symbol.end_line - symbol.row.line, -symbol.index), default=None)


def _around(symbols: Sequence[Symbol], symbol: Symbol | None) -> list[Symbol]:
    """The symbol and what is around it, from the inside outwards."""
    out: list[Symbol] = []
    while symbol is not None and len(out) < 50:
        out.append(symbol)
        symbol = symbols[symbol.row.parent] if symbol.row.parent >= 0 else None
    return out


def _has_name(symbol: Symbol, function: str) -> bool:
    """Whether a symbol is what a trace calls so: by its last name; ``new Cart`` is the class or its constructor."""
    last = function.rpartition(".")[2]
    kind, _, name = last.rpartition(" ")
    if kind == "new" or last in ("constructor", "__init__"):
        owner = name if kind == "new" else function.rpartition(".")[0].rpartition(".")[2]
        is_constructor = symbol.kind == "constructor" or symbol.name in ("__init__", "constructor")
        if kind == "new":
            container = plain(symbol.qualified_name).rpartition(".")[0].rpartition(".")[2]
            is_made = symbol.kind in _CLASSES or symbol.kind == "function"
            return (is_made and symbol.name == owner) or (is_constructor and container == owner)
        return is_constructor
    return symbol.name == name


def _named_in(snapshot: Snapshot, path: str, function: str) -> list[Symbol]:
    """The functions and classes of a file that a trace may call so; those in the class that it names, if there are some."""
    found = [
        symbol
        for symbol in symbols_of(snapshot, path)
        if symbol.kind not in NO_DEFINITION
        and _has_name(symbol, function)
        and (symbol.kind in _RUNNING or symbol.row.parent < 0)
    ]
    owner = function.rpartition(".")[0]
    inside = [symbol for symbol in found if owner and plain(symbol.qualified_name).endswith(function)]
    runs = [symbol for symbol in inside or found if symbol.kind in ("function", "method", "constructor")]
    shared = [symbol for symbol in runs if not symbol.flags & Flag.LOCAL]
    return shared or runs or inside or found


def package_of(frame: Frame) -> str:
    """A name for where an external frame belongs: a package, or the language's own library."""
    file = frame.file
    parts = _parts(file)
    for marker in _PACKAGES:
        if marker in parts[:-1]:
            return posixpath.splitext(parts[len(parts) - parts[::-1].index(marker)])[0]
    if "node_modules" in parts[:-1]:
        rest = parts[len(parts) - parts[::-1].index("node_modules") :]
        return "/".join(rest[: 2 if rest[0].startswith("@") else 1])
    if file.startswith(("node:", "internal/")):
        return "node"
    found = _OUTSIDE.search(file)
    if found is not None:
        return found["crate"] or found["module"] or next(name for name in ("python", "rust", "go") if found[name])
    if frame.language == "jvm" and parts:
        return ".".join(parts[: max(1, min(3, len(parts) - 1))]) if len(parts) > 1 else parts[0]
    if not parts or file.startswith("<"):
        return {"node": "node", "jvm": "jvm"}.get(frame.language, "python") if not parts or "frozen" in file else file[:40]
    return "/".join(parts[-2:])
