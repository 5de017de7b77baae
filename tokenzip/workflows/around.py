"""What several templates ask: what a name stands for, who uses it, which tests reach it, in which order to go about files."""

from __future__ import annotations

import heapq
import posixpath
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenzip import walk
from tokenzip.errors import AmbiguousSymbol, UnknownSymbol, UsageError
from tokenzip.items import Item, one_line, signature_of
from tokenzip.model import NO_DEFINITION, Flag, Module, Symbol, SymbolKey

if TYPE_CHECKING:
    from tokenzip.impact import Impact, Reached
    from tokenzip.snapshot import Snapshot

NEAR = 5


@dataclass(frozen=True, slots=True)
class Area:
    """A module, or a directory or file that somebody calls one."""

    path: str
    name: str
    module: Module
    """The module that it is or lies in."""
    paths: tuple[str, ...]
    """Its sources, tests included."""

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and (not self.path or path == self.path or path.startswith(self.path + "/"))


def area(snapshot: Snapshot, text: str) -> Area:
    """The module or directory at that path, else the module of that name, the package (``flask.json``) or file that is called
    so. Raises UsageError.
    """
    from tokenzip.snapshot.handles import tidied
    from tokenzip.snapshot.spelling import nearest_folders

    wanted = tidied(snapshot, text).rstrip("/")
    is_path = wanted not in {"", "."} and snapshot.modules().at(wanted) is None and snapshot.is_directory(wanted)
    module = walk.find_module(snapshot, wanted) if not is_path else None
    if module is not None:
        module_of = snapshot.modules().module_of
        paths = [file.path for file in snapshot.files() if file.is_source and module_of(file.path).path == module.path]
        return Area(module.path, module.name, module, tuple(sorted(paths)))
    paths = [file.path for file in snapshot.files() if file.is_source]
    path = _directory(snapshot, wanted, paths)
    if path is None:
        names = [module.path or "." for module in snapshot.modules().all()]
        near = nearest_folders(snapshot, wanted, names) or names[:NEAR]
        raise UnknownSymbol(f"there is no module {text!r}", hint="Name a module, a directory or a file.", candidates=near)
    inside = tuple(sorted(each for each in paths if each == path or each.startswith(path + "/")))
    return Area(path, wanted, snapshot.modules().module_of(path), inside)


def _directory(snapshot: Snapshot, wanted: str, paths: Sequence[str]) -> str | None:
    """The directory or file that is called so: by its path, by the end of it, or as a package with dots."""
    folders = {folder for path in paths for folder in _folders(path)}
    for name in (wanted, wanted.replace(".", "/") if "/" not in wanted else wanted):
        if name in folders or snapshot.tree_file(name) is not None:
            return name
        stems = {posixpath.splitext(path)[0]: path for path in paths}
        ends = sorted(
            {each for each in folders if each.endswith("/" + name)}
            | {path for stem, path in stems.items() if stem == name or stem.endswith("/" + name) or path.endswith("/" + name)}
        )
        if len(ends) > 1:
            raise AmbiguousSymbol(
                f"{wanted} names {len(ends)} places", hint="Give the whole path of one.", candidates=ends[:10]
            )
        if ends:
            return ends[0]
    return None


def _folders(path: str) -> Iterable[str]:
    while path := posixpath.dirname(path):
        yield path


def area_item(snapshot: Snapshot, found: Area) -> Item:
    """An area in numbers."""
    tests = sum(walk.is_test(snapshot, SymbolKey(path)) for path in found.paths)
    item: Item = {"path": found.path or ".", "name": found.name, "files": len(found.paths) - tests, "tests": tests}
    if found.module.path != found.path:
        item["module"] = found.module.path or "."
    return item


def symbol_item(snapshot: Snapshot, key: SymbolKey) -> Item:
    """A symbol with its lines and signature; a file as its path."""
    symbol = snapshot.symbol(key)
    item: Item = {"handle": key.handle}
    if symbol is not None:
        item.update({"kind": symbol.kind, "line": symbol.line, "end_line": symbol.end_line})
        item["signature"] = one_line(signature_of(snapshot, symbol), 100)
    return item


def user_item(reached: Reached, *, inside: Collection[str] = ()) -> Item:
    """What uses something: how far away, by which edge, and whether it lies outside of these paths."""
    first = reached.path[0]
    item: Item = {"handle": reached.handle, "distance": reached.distance}
    item["edge"] = {"kind": reached.via, "line": first.line}
    item["via"] = first.target.handle
    if inside and reached.key.path not in inside:
        item["outside"] = True
    return item


MOST_SHARED = 300
"""Symbols that a question about a whole module takes in; its first files count."""


def shared_symbols(snapshot: Snapshot, paths: Iterable[str]) -> list[Symbol]:
    """What files offer to others: top-level symbols that are exported and no tests, at most `MOST_SHARED`.

    Variables come in only where there is nothing else: loggers and the like say little of a module.
    """
    found = [
        symbol
        for path in paths
        if not walk.is_test(snapshot, SymbolKey(path))
        for symbol in walk.symbols_of(snapshot, path)
        if symbol.row.parent < 0 and symbol.flags & Flag.EXPORTED and symbol.kind not in NO_DEFINITION
    ]
    telling = [symbol for symbol in found if symbol.kind not in ("variable", "constant")]
    return (telling or found)[:MOST_SHARED]


def packages_of(snapshot: Snapshot, paths: Iterable[str]) -> list[str]:
    """The external packages that files import, by the names that manifests give them as far as that shows: sorted."""
    return sorted(
        {
            _package(path, reference.detail or reference.name)
            for path in paths
            for reference in snapshot.link(path).open
            if reference.reason == "external" and reference.kind == "imports"
        }
    )


def _package(path: str, name: str) -> str:
    """``django`` of ``django.db.models``, ``@scope/name`` of ``@scope/name/part``."""
    if path.endswith((".py", ".pyi", ".pyw")):
        return name.partition(".")[0]
    return "/".join(name.split("/")[: 2 if name.startswith("@") else 1])


def searched(
    snapshot: Snapshot, text: str, limit: int, *, module: str | None = None, inside: Area | None = None
) -> list[Symbol]:
    """The symbols that a text is about, tests left out: those that match at least a third as well as the best."""
    from tokenzip.search import search

    hits = search(snapshot, text, module=module, limit=limit * (6 if inside is not None else 2))
    kept = [hit for hit in hits if (inside is None or hit.symbol.path in inside) and not walk.is_test(snapshot, hit.symbol.key)]
    best = max((hit.score for hit in kept), default=0.0)
    return [hit.symbol for hit in kept if hit.score * 3 >= best][:limit]


def test_items(snapshot: Snapshot, found: Impact | None) -> list[Item]:
    """The tests that a change reaches, the nearest first; fixtures are none."""
    items = []
    for each in found.tests if found is not None else ():
        if not is_run(snapshot, each.key):
            continue
        item: Item = {"handle": each.handle, "distance": each.distance}
        if each.line:
            item["line"] = each.line
        items.append(item)
    return items


def is_run(snapshot: Snapshot, key: SymbolKey) -> bool:
    """Whether a test is one that can be run: no fixture, and no helper among tests that are symbols."""
    symbol = snapshot.symbol(key)
    if symbol is None:
        return posixpath.basename(key.path) not in ("conftest.py", "__init__.py")
    return not symbol.flags & Flag.FIXTURE and (bool(symbol.flags & Flag.TEST) or not key.path.endswith(".py"))


def impact_numbers(found: Impact) -> Item:
    """A radius in numbers."""
    direct = sum(each.distance == 1 for each in found.reached)
    return {
        "reached": len(found.reached),
        "direct": direct,
        "transitive": len(found.reached) - direct,
        "files": len(found.files),
        "modules": len(found.modules),
        "tests": len(found.tests),
        "depth": found.depth,
    }


def counted_by(what: str, names: Iterable[str]) -> list[Item]:
    """Names with how often they occur, the most frequent first."""
    counts = Counter(names)
    return [{what: name, "reached": count} for name, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))]


def modules_of(snapshot: Snapshot, paths: Iterable[str]) -> list[str]:
    """The directory of the module of each path."""
    module_of = snapshot.modules().module_of
    return [module_of(path).path or "." for path in paths]


def dependency_first(snapshot: Snapshot, paths: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Files so that what is used comes before who uses it, each with those before it that it uses.

    Where files use each other in a circle, the one that uses fewest of the rest comes first, and waits for none of them.
    """
    wanted = sorted(set(paths))
    among = set(wanted)
    uses = {path: sorted({edge.target.path for edge in snapshot.file_edges(path)} & among - {path}) for path in wanted}
    users: dict[str, list[str]] = {path: [] for path in wanted}
    for path in wanted:
        for used in uses[path]:
            users[used].append(path)
    waits = {path: len(uses[path]) for path in wanted}
    heap = [(waits[path], path) for path in wanted]
    heapq.heapify(heap)
    out: dict[str, list[str]] = {}
    while heap:
        count, path = heapq.heappop(heap)
        if path in out or count != waits[path]:
            continue  # an entry of before
        out[path] = [used for used in uses[path] if used in out]
        for user in users[path]:
            waits[user] -= 1
            heapq.heappush(heap, (waits[user], user))
    return list(out.items())


def completeness(found: Impact | None) -> bool | Item:
    """`complete` of an answer that rests on an impact."""
    return True if found is None else found.completeness()


def known_words(text: str, what: str) -> str:
    """A text that must say something. Raises UsageError."""
    if not text.strip():
        raise UsageError(f"{what} is empty", hint=f"Describe it in a few words: {what}=...")
    return text.strip()
