"""Orientation: the repository, its modules and its files."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tokenzip import walk
from tokenzip.items import Item, Lazy, completeness, file_item, symbol_item
from tokenzip.model import Flag, Module, Symbol, SymbolKey
from tokenzip.operations.base import Answer, Arguments, call
from tokenzip.operations.items import DEFINITION, listing, other_kind, unknown_module, wanted
from tokenzip.operations.relations import external_packages, folded_users
from tokenzip.operations.survey import ENTRY_STEMS, PACKAGE_STEMS, PASSING_ON, Name, Survey, Tally, entry_rank, survey

if TYPE_CHECKING:
    from tokenzip.snapshot import File, Snapshot

MOST_USED = 12
AREAS = 14
SPLIT = 4
"""Directories that splitting a large one adds at least."""
ENTRY_POINTS = 12
ASKED_SYMBOLS = 1000
"""Symbols of a module about which the store is asked one by one; for more, everything is counted."""
_OUTLINE_LEAVES_OUT = frozenset({"parameter", "generic_param", "import"})


# The repository.


def query_repo_structure(snapshot: Snapshot, arguments: Arguments) -> Answer:
    """Modules, sizes, languages, entry points and the symbols that most depends on."""
    seen = survey(snapshot)
    module_of = _directory_of_module(snapshot)
    modules = sorted(
        snapshot.modules().all(),
        key=lambda module: (not module.is_root, -seen.modules.get(module.path, Tally()).lines, module.path),
    )
    own_paths = {module.path for module in modules}
    head: dict[str, Any] = {
        "name": next((module.name for module in modules if module.is_root), "."),
        "counts": {**seen.total.item(), "modules": len(modules), "status": dict(sorted((+seen.statuses).items()))},
        "languages": language_items(seen),
        "areas": [area for area in _areas(seen.directories) if not area["path"] or area["path"] not in own_paths],
        "entry_points": entry_points(seen, modules, module_of),
        "most_used": most_used(snapshot, seen),
        "dependencies": [
            {"from": source or ".", "to": target or ".", "edges": count}
            for (source, target), count in sorted((+seen.between).items(), key=lambda pair: (-pair[1], pair[0]))[:20]
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
        if not tally.files:
            continue
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


def most_used(snapshot: Snapshot, seen: Survey, count: int = MOST_USED) -> list[Item]:
    """The symbols that most other symbols use, tests and locals left out."""
    items = _first_used(snapshot, seen.most_used(), count)
    if len(items) < count and seen.unknown_below:
        items = _first_used(snapshot, survey(snapshot, whole=True).most_used(), count)
    return items


def most_used_of_module(snapshot: Snapshot, seen: Survey, module: Module, count: int = MOST_USED) -> list[Item]:
    """The same among the symbols of one module: by the survey, or for small modules by asking for each symbol."""
    module_of = _directory_of_module(snapshot)

    def inside(counts: Iterable[tuple[Name, int]]) -> Iterator[tuple[Name, int]]:
        return ((name, number) for name, number in counts if module_of(name[0]) == module.path)

    items = _first_used(snapshot, inside(seen.most_used()), count)
    if len(items) == count or not seen.unknown_below:
        return items
    tally = seen.modules.get(module.path, Tally())
    if tally.symbols > ASKED_SYMBOLS:
        return _first_used(snapshot, inside(survey(snapshot, whole=True).most_used()), count)
    files = [file for file in snapshot.files() if file.is_source and module_of(file.path) == module.path]
    counts = {(file.path, symbol.qualified_name): users_of(snapshot, symbol) for file in files for symbol in file.symbols}
    return _first_used(snapshot, sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])), count)


def _first_used(snapshot: Snapshot, counts: Iterable[tuple[Name, int]], count: int) -> list[Item]:
    items: list[Item] = []
    for (path, qualified), number in counts:
        symbol = snapshot.symbol(SymbolKey(path, qualified))
        if symbol is None or symbol.flags & Flag.LOCAL or symbol.kind == "parameter" or walk.is_test(snapshot, symbol.key):
            continue
        if number <= 0 or len(items) == count:
            break
        items.append({"handle": symbol.handle, "kind": symbol.kind, "line": symbol.line, "used_by": number})
    return items


def users_of(snapshot: Snapshot, symbol: Symbol) -> int:
    """How many symbols outside tests use a symbol: what a survey counts, by one question to the store."""
    sources = {edge.source for edge in snapshot.edges_to(symbol.key) if edge.kind not in PASSING_ON}
    return sum(1 for source in sources if (file := snapshot.file(source.path)) is not None and not file.is_test)


def entry_points(seen: Survey, modules: Sequence[Module], module_of: Callable[[str], str]) -> list[Item]:
    """Files where a reader begins: mains, servers, and the files that stand for a package, nearest to their module's root.

    The modules come in the order given, each with a few.
    """
    found: dict[str, list[tuple[int, int, str]]] = {module.path: [] for module in modules}
    for path in +seen.entries:
        root, rank = module_of(path), entry_rank(path)
        below = [part for part in posixpath.dirname(path)[len(root) :].split("/") if part and part not in {"src", "lib"}]
        stands_for_package = rank is not None and ENTRY_STEMS[rank] in PACKAGE_STEMS
        if root in found and len(below) <= 1 and not (stands_for_package and root != "" and below):
            found[root].append((len(below), rank or 0, path))
    few = [ENTRY_POINTS // 2 if len(modules) > 1 else ENTRY_POINTS, *[2] * len(modules)]
    paths = [path for module, most in zip(modules, few, strict=False) for _, _, path in sorted(found[module.path])[:most]]
    return [{"handle": path, "kind": "file"} for path in paths[:ENTRY_POINTS]]


def _directory_of_module(snapshot: Snapshot) -> Callable[[str], str]:
    modules = snapshot.modules()
    return lambda path: modules.module_of(path).path


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
    module = walk.find_module(snapshot, arguments["module"])
    if module is None:
        folder = walk.find_folder(snapshot, arguments["module"])
        if folder is None:
            raise unknown_module(snapshot, arguments["module"])
        return _query_folder(snapshot, folder, arguments)
    seen, module_of = survey(snapshot), _directory_of_module(snapshot)
    between = +seen.between
    head: dict[str, Any] = {
        "module": _described_module(snapshot, module, seen.modules.get(module.path, Tally())),
        "uses": _module_counts({target: count for (source, target), count in between.items() if source == module.path}),
        "used_by": _module_counts({source: count for (source, target), count in between.items() if target == module.path}),
        "entry_points": entry_points(seen, [module], module_of),
        "most_used": most_used_of_module(snapshot, seen, module),
    }
    files = [file for file in snapshot.files() if file.is_source and module_of(file.path) == module.path]
    files.sort(key=lambda file: (file.is_test, -seen.weights[file.path], file.path))
    items = Lazy(files, lambda file: _module_file_item(file, seen.weights[file.path]))
    calls = [call("query_file", path=files[0].path, at=arguments.get("at"))] if files else []
    return listing(snapshot, arguments, items, head=head, calls=calls)


def _query_folder(snapshot: Snapshot, folder: str, arguments: Arguments) -> Answer:
    """A folder that is no module of its own: its files, what it uses and who uses it, by folder, and its most used symbols."""
    seen, module_of = survey(snapshot), _directory_of_module(snapshot)
    files = [file for file in snapshot.files() if file.is_source and file.path.startswith(folder + "/")]
    files.sort(key=lambda file: (file.is_test, -seen.weights[file.path], file.path))
    tally = seen.directories.get(folder, Tally())
    described: Item = {"handle": folder, "kind": "folder", "name": posixpath.basename(folder), **tally.item()}
    if language := _main_language(files):
        described["language"] = language
    described["parent"] = module_of(folder + "/.") or "."
    head: dict[str, Any] = {"module": described, "uses": _folder_counts(snapshot, folder, files, backward=False)}
    complete: bool | Item = True
    if tally.symbols > ASKED_SYMBOLS:
        why = "who uses so large a folder is not counted; ask about those in it, or about its files"
        complete = {"why": why, "unresolved": 0}
    else:
        head["used_by"] = _folder_counts(snapshot, folder, files, backward=True)
        names = [(file.path, symbol) for file in files for symbol in file.symbols]
        counts = {(path, symbol.qualified_name): users_of(snapshot, symbol) for path, symbol in names}
        head["most_used"] = _first_used(snapshot, sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])), MOST_USED)
    items = Lazy(files, lambda file: _module_file_item(file, seen.weights[file.path]))
    return listing(snapshot, arguments, items, head=head, complete=complete)


def _folder_counts(snapshot: Snapshot, folder: str, files: Iterable[File], *, backward: bool) -> list[Item]:
    """The folders at the other ends of the edges that lead out of a folder, or into it, with their number."""
    counts: Counter[str] = Counter()
    for file in files:
        for other, _ in walk.file_edges(snapshot, file.path, backward=backward):
            if not other.startswith(folder + "/"):
                counts[posixpath.dirname(other) or "."] += 1
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [{"module": path, "edges": count} for path, count in ordered[:MOST_USED]]


def _main_language(files: Iterable[File]) -> str | None:
    tally = Tally()
    for file in files:
        tally.add(file, 1)
    return tally.main_language


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


def _module_counts(counts: Mapping[str, int]) -> list[Item]:
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
    """One file, which a place in it names as well: its symbols, imports and problems."""
    target = walk.resolve(snapshot, arguments["path"])
    if isinstance(target, Symbol) and ":" in arguments["path"]:
        target = SymbolKey(target.path)
    if not isinstance(target, SymbolKey):
        raise other_kind(arguments["path"], target)
    file = snapshot.file(target.path)
    assert file is not None, "a resolved path exists"
    include = wanted(arguments, DEFINITION)
    outline = [symbol for symbol in file.symbols if symbol.kind not in _OUTLINE_LEAVES_OUT and not symbol.flags & Flag.LOCAL]
    items = Lazy(outline, lambda symbol: symbol_item(snapshot, symbol, include))
    imports = [edge for edge in snapshot.file_edges(file.path) if edge.kind == "imports" and edge.target.path != file.path]
    names: dict[str, list[str]] = {}
    for edge in imports:
        names.setdefault(edge.target.path, []).extend([edge.target.qualified] if edge.target.qualified else [])
    head: dict[str, Any] = {"file": described_file(snapshot, file)}
    head["imports"] = [{"file": path, "names": sorted(set(names[path]))} for path in sorted(names)]
    if external := external_packages(snapshot, file.path):
        head["external"] = external
    head["used_by"] = used_by = folded_users(snapshot, file.path)
    possible = walk.Open(sum(walk.open_counts(snapshot, file.path)))  # their lines would cost linking the whole file again
    calls = (
        [call("get_dependants", handle=file.path, at=arguments.get("at"))] if used_by["total"] > len(used_by["first"]) else []
    )
    complete = completeness(possible, "unresolved references in the file")
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
