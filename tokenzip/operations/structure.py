"""Orientation: the repository, its modules and its files."""

from __future__ import annotations

import functools
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tokenzip.errors import UnknownSymbol, UsageError
from tokenzip.model import Flag, Module, Symbol, SymbolKey
from tokenzip.operations import graph
from tokenzip.operations.base import Answer, Arguments, call
from tokenzip.operations.items import Item, file_item, listing, symbol_item
from tokenzip.operations.relations import completeness, external_packages, folded_users

if TYPE_CHECKING:
    from tokenzip.snapshot import File, Snapshot

MOST_USED = 12
AREAS = 14
SPLIT = 4
"""Directories that splitting a large one adds at least."""
ENTRY_POINTS = 12
_PASSING_ON = frozenset({"imports", "exports"})
_PACKAGE_STEMS = ("__init__", "index", "mod", "lib")
_ENTRY_STEMS = ("__main__", "manage", "main", "cli", "server", "app", "wsgi", "asgi", *_PACKAGE_STEMS)
"""Base names (without suffix) of files where programs and packages begin, by the customs of their languages."""
_OUTLINE_LEAVES_OUT = frozenset({"parameter", "generic_param", "import"})


# The repository.


@dataclass(slots=True)
class Tally:
    """Sizes of some files, summed up."""

    files: int = 0
    lines: int = 0
    symbols: int = 0
    languages: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)

    def add(self, file: File) -> None:
        self.files += 1
        self.lines += file.lines
        self.symbols += len(file.rows)
        self.statuses[file.status] += 1
        if file.language is not None and file.is_source:
            self.languages[file.language] += file.lines

    def without(self, other: Tally) -> Tally:
        """The sizes of what remains without some of the files."""
        return Tally(self.files - other.files, self.lines - other.lines, self.symbols - other.symbols)

    def item(self) -> Item:
        return {"files": self.files, "lines": self.lines, "symbols": self.symbols}

    @property
    def main_language(self) -> str | None:
        """The language with most lines; None if no file has a known one."""
        return min(self.languages, key=lambda name: (-self.languages[name], name), default=None)


@dataclass(slots=True)
class Survey:
    """Everything that one pass over the files and edges of a snapshot counts."""

    total: Tally = field(default_factory=Tally)
    modules: dict[str, Tally] = field(default_factory=dict)
    directories: dict[str, Tally] = field(default_factory=dict)
    """By directory, everything below it."""
    languages: dict[str, Tally] = field(default_factory=dict)
    resolved: Counter[str] = field(default_factory=Counter)
    unresolved: Counter[str] = field(default_factory=Counter)
    """References by language that may mean something in the repository and have no edge."""
    users: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How many symbols outside tests use a symbol, by its path and qualified name."""
    between: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Edges from one module to another."""


def survey(snapshot: Snapshot) -> Survey:
    """One pass over the whole snapshot."""
    result = Survey()
    modules = snapshot.modules()
    for file in snapshot.files():
        module = modules.module_of(file.path).path
        for tally in _tallies(result, file, module):
            tally.add(file)
        if file.is_source and file.status in {"parsed", "partial"}:
            _count_edges(snapshot, result, file, module)
    return result


def _tallies(result: Survey, file: File, module: str) -> Iterable[Tally]:
    yield result.total
    yield result.modules.setdefault(module, Tally())
    if file.language is not None and file.is_source:
        yield result.languages.setdefault(file.language, Tally())
    directory = posixpath.dirname(file.path)
    while True:
        yield result.directories.setdefault(directory, Tally())
        if not directory:
            return
        directory = posixpath.dirname(directory)


def _count_edges(snapshot: Snapshot, result: Survey, file: File, module: str) -> None:
    module_of = snapshot.modules().module_of
    path, language = file.path, file.language or ""
    edges = snapshot.link(path).edges  # rows: half a million of them are read here
    targets = Counter(edge.path for edge in edges)
    for target, count in targets.items():
        if target != path and (other := module_of(target).path) != module:
            result.between[module, other] += count
    if not file.is_test:
        used = {(edge.source, edge.path, edge.qualified) for edge in edges if edge.qualified and edge.kind not in _PASSING_ON}
        result.users.update((target, qualified) for _, target, qualified in used)
    result.resolved[language] += len(edges)
    result.unresolved[language] += sum(graph.open_counts(snapshot, path))


def query_repo_structure(snapshot: Snapshot, arguments: Arguments) -> Answer:
    """Modules, sizes, languages, entry points and the symbols that most depends on."""
    seen = survey(snapshot)
    modules = sorted(
        snapshot.modules().all(),
        key=lambda module: (not module.is_root, -seen.modules.get(module.path, Tally()).lines, module.path),
    )
    own_paths = {module.path for module in modules}
    head: dict[str, Any] = {
        "name": next((module.name for module in modules if module.is_root), "."),
        "counts": {**seen.total.item(), "modules": len(modules), "status": dict(sorted(seen.total.statuses.items()))},
        "languages": language_items(seen),
        "areas": [area for area in _areas(seen.directories) if not area["path"] or area["path"] not in own_paths],
        "entry_points": entry_points(snapshot, modules),
        "most_used": most_used(snapshot, seen.users),
        "dependencies": [
            {"from": source or ".", "to": target or ".", "edges": count}
            for (source, target), count in sorted(seen.between.items(), key=lambda pair: (-pair[1], pair[0]))[:20]
        ],
    }
    items = [_module_item(module, seen.modules.get(module.path, Tally())) for module in modules]
    calls = [call("query_symbol", handle=item["handle"], at=arguments.get("at")) for item in head["most_used"][:1]]
    if len(modules) > 1:
        calls.insert(0, call("query_module", module=modules[0].path or ".", at=arguments.get("at")))
    return listing(snapshot, arguments, items, head=head, calls=calls)


def language_items(seen: Survey) -> list[Item]:
    """Size of each language and the share of its references inside the repository that have a known target."""
    items = []
    for name, tally in sorted(seen.languages.items(), key=lambda pair: (-pair[1].lines, pair[0])):
        item: Item = {"language": name, **tally.item()}
        if total := seen.resolved[name] + seen.unresolved[name]:
            item["resolved"] = round(seen.resolved[name] / total, 3)
        items.append(item)
    return items


def _areas(directories: Mapping[str, Tally]) -> list[Item]:
    """The directories that show best where the code lies: the largest is split until there are enough.

    A directory that is split stays in the list with what remains of it: its own files and its smallest directories.
    """
    children: dict[str, list[str]] = {}
    for path, tally in directories.items():
        if path and tally.symbols:
            children.setdefault(posixpath.dirname(path), []).append(path)
    rest = {"": directories.get("", Tally())}
    unsplit = {""}
    while unsplit and len(rest) < AREAS:
        largest = min(unsplit, key=lambda path: (-rest[path].symbols, path))
        unsplit.remove(largest)
        inside = sorted(children.get(largest, ()), key=lambda path: (-directories[path].symbols, path))
        for path in inside[: max(SPLIT, AREAS - len(rest))]:
            rest[path] = directories[path]
            rest[largest] = rest[largest].without(directories[path])
            unsplit.add(path)
    return [{"path": path, **tally.item()} for path, tally in sorted(rest.items()) if tally.symbols]


def most_used(snapshot: Snapshot, users: Counter[tuple[str, str]], count: int = MOST_USED) -> list[Item]:
    """The symbols that most other symbols use, tests and locals left out."""
    items: list[Item] = []
    for (path, qualified), number in _largest_first(users):
        symbol = snapshot.symbol(SymbolKey(path, qualified))
        if symbol is None or symbol.flags & Flag.LOCAL or symbol.kind == "parameter" or graph.is_test(snapshot, symbol.key):
            continue
        items.append({"handle": symbol.handle, "kind": symbol.kind, "line": symbol.line, "used_by": number})
        if len(items) == count:
            break
    return items


def _largest_first(counts: Counter[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], int]]:
    """The counts from the largest down, equal ones by key; most callers want a few, so they are not all sorted."""
    by_count: dict[int, list[tuple[str, str]]] = {}
    for key, count in counts.items():
        by_count.setdefault(count, []).append(key)
    for count in sorted(by_count, reverse=True):
        for key in sorted(by_count[count]):
            yield key, count


def entry_points(snapshot: Snapshot, modules: Sequence[Module]) -> list[Item]:
    """Files where a reader begins: mains, servers, and the files that stand for a package, nearest to their module's root.

    The modules come in the order given, each with a few.
    """
    place = {module.path: number for number, module in enumerate(modules)}
    found: dict[str, list[tuple[int, int, str]]] = {module.path: [] for module in modules}
    for path in snapshot.paths():
        rank = _entry_rank(path)
        file = snapshot.file(path) if rank is not None else None
        if file is None or rank is None or not file.is_source or file.is_test or file.status == "failed":
            continue
        root = snapshot.modules().module_of(path).path
        below = [part for part in posixpath.dirname(path)[len(root) :].split("/") if part and part not in {"src", "lib"}]
        stands_for_package = _ENTRY_STEMS[rank] in _PACKAGE_STEMS
        if root in place and len(below) <= 1 and not (stands_for_package and root != "" and below):
            found[root].append((len(below), rank, path))
    paths = [
        path
        for module in modules
        for _, _, path in sorted(found[module.path])[: 2 if place[module.path] else ENTRY_POINTS // 2]
    ]
    return [{"handle": path, "kind": "file"} for path in paths[:ENTRY_POINTS]]


def _entry_rank(path: str) -> int | None:
    """The place of a file's base name among those where programs and packages begin; None for any other."""
    stem = posixpath.basename(path).partition(".")[0]
    return _ENTRY_STEMS.index(stem) if stem in _ENTRY_STEMS else None


def _module_item(module: Module, tally: Tally) -> Item:
    item: Item = {"handle": module.path or ".", "kind": "module", "name": module.name}
    if module.manifest:
        item["file"] = module.manifest
    item.update(tally.item())
    if tally.main_language:
        item["language"] = tally.main_language
    if module.description:
        item["description"] = module.description
    return item


# One module.


def query_module(snapshot: Snapshot, arguments: Arguments) -> Answer:
    """One module: its files, packages and neighbours."""
    module = graph.find_module(snapshot, arguments["module"])
    if module is None:
        raise unknown_module(snapshot, arguments["module"])
    module_of = snapshot.modules().module_of
    files = [file for path in snapshot.paths() if module_of(path).path == module.path and (file := snapshot.file(path))]
    tally = Tally()
    for file in files:
        tally.add(file)
    uses, used_by, users, weights = _module_neighbours(snapshot, module)
    head: dict[str, Any] = {"module": _described_module(snapshot, module, tally)}
    head["uses"] = _module_counts(uses)
    head["used_by"] = _module_counts(used_by)
    head["entry_points"] = [item for item in entry_points(snapshot, [module]) if module_of(item["handle"]).path == module.path]
    head["most_used"] = most_used(snapshot, users)
    source = [file for file in files if file.is_source and file.rows]
    source.sort(key=lambda file: (file.is_test, -weights[file.path], file.path))
    items = [_module_file_item(file, weights[file.path]) for file in source]
    calls = [call("query_file", path=items[0]["handle"], at=arguments.get("at"))] if items else []
    return listing(snapshot, arguments, items, head=head, calls=calls)


def unknown_module(snapshot: Snapshot, text: str) -> UsageError:
    """The error for a module that is not there, with all modules that are."""
    names = [module.path or "." for module in snapshot.modules().all()]
    return UnknownSymbol(f"no module {text!r}", hint="Name a module by its directory or its name.", candidates=names[:20])


def _described_module(snapshot: Snapshot, module: Module, tally: Tally) -> Item:
    item = _module_item(module, tally)
    for name, value in (("manifest", module.kind), ("version", module.version), ("parent", module.parent)):
        if value is not None and value != "":
            item[name] = value
    if module.dependencies:
        item["packages"] = [
            {"name": each.name, "range": each.range, "source": each.source, **({"dev": True} if each.dev else {})}
            for each in module.dependencies
        ]
    inside = [other.path for other in snapshot.modules().all() if other.parent == module.path and other.path != module.path]
    if inside:
        item["modules"] = sorted(inside)
    return item


def _module_neighbours(
    snapshot: Snapshot, module: Module
) -> tuple[Counter[str], Counter[str], Counter[tuple[str, str]], Counter[str]]:
    """Edges to other modules, edges from others, and how often each symbol and file of this one is used from other files."""
    module_of = functools.cache(lambda path: snapshot.modules().module_of(path).path)
    uses, used_by = Counter[str](), Counter[str]()
    symbols, files = Counter[tuple[str, str]](), Counter[str]()
    for path in snapshot.paths():
        here = module_of(path)
        for edge in snapshot.link(path).edges:
            if edge.path == path:
                continue
            there = module_of(edge.path)
            if there == module.path:
                files[edge.path] += 1
                if edge.qualified and edge.kind not in _PASSING_ON:
                    symbols[edge.path, edge.qualified] += 1
            if here != there:
                uses[there] += here == module.path
                used_by[here] += there == module.path
    return +uses, +used_by, symbols, files


def _module_counts(counts: Counter[str]) -> list[Item]:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [{"module": path or ".", "edges": count} for path, count in ordered]


def _module_file_item(file: File, weight: int) -> Item:
    top = [symbol.name for symbol in file.symbols if symbol.row.parent < 0 and symbol.flags & Flag.EXPORTED]
    item: Item = {"handle": file.path, "kind": "file", "lines": file.lines, "symbols": len(file.symbols), "used_by": weight}
    if top:
        item["exports"] = top[:8]
    if file.is_test:
        item["test"] = True
    return item


# One file.


def query_file(snapshot: Snapshot, arguments: Arguments) -> Answer:
    """One file: its symbols, imports and problems."""
    target = graph.resolve(snapshot, arguments["path"])
    if not isinstance(target, SymbolKey):
        what = "symbol" if isinstance(target, Symbol) else "module"
        raise UsageError(f"{arguments['path']} is a {what}", hint=f"Ask query_{what} instead.")
    file = snapshot.file(target.path)
    assert file is not None, "a resolved path exists"
    include = arguments.get("include", ())
    items = [
        symbol_item(snapshot, symbol, include)
        for symbol in file.symbols
        if symbol.kind not in _OUTLINE_LEAVES_OUT and not symbol.flags & Flag.LOCAL
    ]
    imports = [edge for edge in snapshot.file_edges(file.path) if edge.kind == "imports" and edge.target.path != file.path]
    names: dict[str, list[str]] = {}
    for edge in imports:
        names.setdefault(edge.target.path, []).extend([edge.target.qualified] if edge.target.qualified else [])
    head: dict[str, Any] = {"file": described_file(snapshot, file)}
    head["imports"] = [{"file": path, "names": sorted(set(names[path]))} for path in sorted(names)]
    if external := external_packages(snapshot, file.path):
        head["external"] = external
    head["used_by"] = folded_users(snapshot, file.path)
    possible = graph.open_references(snapshot, [target], ())
    calls = [call("get_dependants", handle=file.path, at=arguments.get("at"))]
    complete = completeness(possible, "references in the file have unknown targets")
    return listing(snapshot, arguments, items, head=head, complete=complete, calls=calls)


def described_file(snapshot: Snapshot, file: File) -> Item:
    """Everything that is known of a file itself."""
    item: Item = {**file_item(snapshot, file.path), "status": file.status, "size": file.size, "blob": file.blob}
    module = snapshot.modules().module_of(file.path)
    item["module"] = module.path or "."
    for name, value in (("language", file.language), ("reason", file.reason)):
        if value:
            item[name] = value
    for name, flag in (("generated", file.generated), ("test", file.is_test)):
        if flag:
            item[name] = True
    if file.problems:
        item["problems"] = [{"line": problem.line, "message": problem.message} for problem in file.problems]
    return item
