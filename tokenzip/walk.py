"""Walking the graph of one snapshot: what a handle stands for, its edges in and out, and what may be missing from them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tokenzip.errors import AmbiguousSymbol, UnknownSymbol, UsageError
from tokenzip.model import EDGE_KINDS, NO_DEFINITION, Edge, Flag, Module, Symbol, SymbolKey, Unresolved

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

_INHERITANCE = frozenset({"inherits", "implements"})
CONSTRUCTOR_NAMES = frozenset({"__init__", "__new__", "constructor"})
_RUN_UNNAMED = frozenset({"fixture", "protocol", "constructor"})
"""Details of `references` to what runs there."""
_KIND_ORDER = {kind: place for place, kind in enumerate(EDGE_KINDS)}
_BEGINNINGS = re.compile(r"(?<=[^_])_+(?=.)|[a-z0-9](?=[A-Z])")
"""Where a name may go on that is put together when the program runs: ``visit_`` of ``visit_Name``, ``on`` of ``onClick``."""
LOOKED_AT = 40
"""Files that are linked again to tell where their open references are; with more, these are only counted."""
PLACES = 3
"""Places of open references that an answer names."""
OPEN_REASONS = ("dynamic", "ambiguous", "missing")


@dataclass(slots=True)
class Reached:
    """A node that a walk arrived at: how far, over which edges, and from where."""

    key: SymbolKey
    distance: int
    edges: list[Edge] = field(default_factory=list)
    via: SymbolKey | None = None
    """The node one step nearer to the start; None next to it."""


def resolve(snapshot: Snapshot, text: str) -> Symbol | SymbolKey | Module:
    """What a handle names: a symbol, a file (as a key without a qualified name) or a module.

    Raises UnknownSymbol, with the nearest names, and AmbiguousSymbol, with the candidates.
    """
    from tokenzip.snapshot.written import bare

    if not bare(text):
        raise UsageError("the handle is empty", hint="Give path::Qualified.name, a file, or a module (. is the root).")
    try:
        key = snapshot.resolve_handle(text)
    except UnknownSymbol:
        found = _inherited(snapshot, text) or find_module(snapshot, text)
        if found is not None:
            return found
        if (folder := find_folder(snapshot, text)) is not None:
            raise UsageError(
                f"{folder} is a folder",
                hint="Name a file in it, or ask about it as a module",
                calls=[("query_module", {"module": folder})],
            ) from None
        raise
    return snapshot.symbol(key) or key


def _inherited(snapshot: Snapshot, text: str) -> Symbol | None:
    """The member that a class has from the nearest of its bases: ``Flask.route`` is written as ``Scaffold.route``."""
    owner, _, member = text.rpartition(".")
    try:
        key = snapshot.resolve_handle(owner) if owner and member else None
    except UsageError:
        return None
    pending, seen = [key] if key is not None and key.qualified else [], set[SymbolKey]()
    while pending:
        key = pending.pop(0)
        found = snapshot.symbol(SymbolKey(key.path, f"{key.qualified}.{member}"))
        if found is not None:
            return found
        for edge in snapshot.edges_from(key):
            if edge.kind in _INHERITANCE and edge.target not in seen:
                seen.add(edge.target)
                pending.append(edge.target)
    return None


def defined_as(snapshot: Snapshot, name: str) -> list[Symbol]:
    """Every symbol of that simple or dotted name, by path and position: what a search for exactly that name is about.

    Unlike `Snapshot.named` it prefers none to others. Parameters, imports and other names of a thing are no definitions.
    """
    from tokenzip.snapshot.keys import name_key

    last = name.rpartition(".")[2]
    with snapshot.reading():
        return [
            symbol
            for path in sorted(snapshot.paths_posted([name_key(last)]))
            if (file := snapshot.file(path)) is not None and file.is_source
            for symbol in file.called(last)
            if symbol.kind not in NO_DEFINITION and _is_called(symbol, name)
        ]


def _is_called(symbol: Symbol, name: str) -> bool:
    qualified = plain(symbol.qualified_name)
    return qualified == name or qualified.endswith("." + name) or symbol.name == name


def find_module(snapshot: Snapshot, text: str) -> Module | None:
    """The module of that directory (``.`` is the root) or name, None if there is none. Raises UsageError.

    What ends in a slash is a directory and no name.
    """
    from tokenzip.snapshot.handles import tidied

    if not text.strip():
        return None
    modules = snapshot.modules()
    path = tidied(snapshot, text)
    wanted = path.rstrip("/")
    here = modules.at("" if wanted in {"", "."} else wanted)
    if here is not None:
        return here
    named = modules.named(wanted) if not path.endswith("/") else ()
    if len(named) > 1:
        raise AmbiguousSymbol(
            f"{text} names {len(named)} modules",
            hint="Give the directory of one of them.",
            candidates=[module.path or "." for module in named],
        )
    return named[0] if named else None


def find_folder(snapshot: Snapshot, text: str) -> str | None:
    """The path of the folder that a text names, None if there is none. Raises UsageError for one outside the repository."""
    from tokenzip.snapshot.handles import tidied

    path = tidied(snapshot, text).rstrip("/") if text.strip() else ""
    return path if path and snapshot.is_directory(path) else None


def lies_in(snapshot: Snapshot, path: str, place: str) -> bool:
    """Whether a file belongs to the module of that path, or lies in that folder if it is no module."""
    modules = snapshot.modules()
    if modules.at(place) is not None:
        return modules.module_of(path).path == place
    return path.startswith(place + "/")


def family(snapshot: Snapshot, symbol: Symbol) -> list[Symbol]:
    """The definitions that answer to one name in one file: overloads, conditional twins, accessors, merged declarations.

    Whichever of them is asked for, a use of the name is a use of it. Locals of one name are apart: each may live in a scope
    of its own, and edges tell them apart.
    """
    if symbol.flags & Flag.LOCAL:
        return [symbol]
    base = plain(symbol.qualified_name)
    return [other for other in symbols_of(snapshot, symbol.path) if plain(other.qualified_name) == base]


def plain(qualified: str) -> str:
    """A qualified name without its ordinal (``f#2``); a leading ``#`` belongs to private names of JavaScript."""
    return re.sub(r"(?<=.)#\d+$", "", qualified)


def symbols_of(snapshot: Snapshot, path: str) -> tuple[Symbol, ...]:
    file = snapshot.file(path)
    return file.symbols if file is not None else ()


def nested(snapshot: Snapshot, symbols: Sequence[Symbol], *, local_only: bool = False) -> list[Symbol]:
    """The symbols and all that are defined inside them; with `local_only`, only what lives inside function bodies."""
    if not symbols:
        return []
    inside = {symbol.index for symbol in symbols}
    out = list(symbols)
    for other in symbols_of(snapshot, symbols[0].path):
        if other.index not in inside and other.row.parent in inside and (not local_only or other.flags & Flag.LOCAL):
            inside.add(other.index)
            out.append(other)
    return out


def constructors(snapshot: Snapshot, symbol: Symbol) -> list[Symbol]:
    """The constructors that a class defines itself."""
    if symbol.kind not in {"class", "struct", "enum"}:
        return []
    return [
        other
        for other in symbols_of(snapshot, symbol.path)
        if other.row.parent == symbol.index and (other.kind == "constructor" or other.name in CONSTRUCTOR_NAMES)
    ]


def constructed_class(snapshot: Snapshot, symbol: Symbol) -> Symbol | None:
    """The class that a constructor belongs to, None for any other symbol."""
    if symbol.kind != "constructor" and symbol.name not in CONSTRUCTOR_NAMES:
        return None
    parent = symbol.row.parent
    return symbols_of(snapshot, symbol.path)[parent] if parent >= 0 else None


def names_of(snapshot: Snapshot, symbol: Symbol) -> list[str]:
    """The names by which code calls a symbol: a constructor goes by its class; ``visit_*`` is one that is computed."""
    owner = constructed_class(snapshot, symbol)
    name = owner.name if owner is not None else symbol.name
    return [name, *(f"{name[: found.end()]}*" for found in _BEGINNINGS.finditer(name))]


def incoming(snapshot: Snapshot, key: SymbolKey) -> list[Edge]:
    """The edges that lead to a node, whichever of its names they use.

    A class is also reached through its constructors, a constructor through calls of its class.
    """
    symbol = snapshot.symbol(key) if key.qualified else None
    if symbol is None:
        return list(snapshot.edges_to(key))
    edges: list[Edge] = []
    for member in family(snapshot, symbol):
        edges.extend(snapshot.edges_to(member.key))
        for constructor in constructors(snapshot, member):
            edges.extend(snapshot.edges_to(constructor.key))
    owner = constructed_class(snapshot, symbol)
    if owner is not None:
        edges.extend(edge for edge in snapshot.edges_to(owner.key) if edge.kind == "calls")
    return edges


def outgoing(snapshot: Snapshot, key: SymbolKey) -> list[Edge]:
    """The edges that leave a node: a class with its members, a function with those inside it, a file with everything."""
    if not key.qualified:
        return list(snapshot.file_edges(key.path))
    symbol = snapshot.symbol(key)
    if symbol is None:
        return list(snapshot.edges_from(key))
    return [edge for member in bodies(snapshot, symbol) for edge in snapshot.edges_from(member.key)]


def bodies(snapshot: Snapshot, symbol: Symbol) -> list[Symbol]:
    """The symbols whose code belongs to a symbol when one asks what it uses."""
    is_container = symbol.kind in {"class", "interface", "struct", "trait", "enum", "namespace", "module_decl", "impl"}
    return nested(snapshot, family(snapshot, symbol), local_only=not is_container)


def walk_out(snapshot: Snapshot, key: SymbolKey) -> list[Edge]:
    """The edges along which execution goes on: like `outgoing`, but a class only runs its constructors and its body."""
    symbol = snapshot.symbol(key) if key.qualified else None
    if symbol is None or not constructors(snapshot, symbol):
        return outgoing(snapshot, key) if key.qualified else list(snapshot.edges_from(key))
    running = [symbol, *nested(snapshot, constructors(snapshot, symbol), local_only=True)]
    return [edge for member in running for edge in snapshot.edges_from(member.key)]


def closure(snapshot: Snapshot, start: SymbolKey, depth: int, kinds: Collection[str], *, backward: bool) -> list[Reached]:
    """Every node within `depth` steps over edges of `kinds` (all if empty), nearest first.

    A walk does not go on through module level: that a file imports a symbol says nothing about the rest of the file.
    """
    first = incoming if backward else outgoing
    later = incoming if backward else walk_out
    reached: dict[SymbolKey, Reached] = {}
    frontier = [start]
    for distance in range(1, depth + 1):
        if not frontier:
            break
        fresh: list[SymbolKey] = []
        for key in frontier:
            for edge in (first if distance == 1 else later)(snapshot, key):
                other = edge.source if backward else edge.target
                if kinds and edge.kind not in kinds:
                    continue
                if other not in reached:
                    if other == start and distance > 1:
                        continue
                    reached[other] = Reached(other, distance, [edge], key if distance > 1 else None)
                    fresh.append(other)
                elif reached[other].distance == distance and reached[other].via in {None, key}:
                    reached[other].edges.append(edge)
        frontier = [key for key in fresh if key.qualified and key != start]
    return list(reached.values())


def strongest(edges: Iterable[Edge]) -> tuple[list[Edge], list[str]]:
    """The edges of the most telling kind, and the other kinds that occur."""
    ordered = sorted(edges, key=lambda edge: (_KIND_ORDER.get(edge.kind, len(_KIND_ORDER)), edge.line))
    first = ordered[0].kind
    others = sorted({edge.kind for edge in ordered} - {first}, key=lambda kind: _KIND_ORDER.get(kind, len(_KIND_ORDER)))
    return [edge for edge in ordered if edge.kind == first], others


def by_use(snapshot: Snapshot, reached: Iterable[Reached]) -> list[Reached]:
    """In the order of use to a reader: near before far, product before tests, telling kinds and many sites first."""

    def order(node: Reached) -> tuple[object, ...]:
        edges, _ = strongest(node.edges)
        kind = _KIND_ORDER.get(edges[0].kind, len(_KIND_ORDER))
        return (node.distance, is_test(snapshot, node.key), kind, -len(edges), node.key.path, edges[0].line, node.key.qualified)

    return sorted(reached, key=order)


def is_test(snapshot: Snapshot, key: SymbolKey) -> bool:
    """Whether the node is a test or lies in a file of tests."""
    if _is_in_tests(snapshot, key.path):
        return True
    symbol = snapshot.symbol(key) if key.qualified else None
    return symbol is not None and bool(symbol.flags & Flag.TEST)


def is_test_symbol(snapshot: Snapshot, symbol: Symbol) -> bool:
    """Whether a symbol of the snapshot is a test or lies in a file of tests."""
    return bool(symbol.flags & Flag.TEST) or _is_in_tests(snapshot, symbol.path)


def _is_in_tests(snapshot: Snapshot, path: str) -> bool:
    file = snapshot.file(path)
    return file is not None and file.is_test


@dataclass(frozen=True, slots=True)
class Open:
    """References without a known target that an answer may lack."""

    count: int
    places: tuple[str, ...] = ()
    """``path:line`` of the first few, where that was cheap to find out."""
    unread: int = 0
    """How many of them are files that were not read, or only in part, and hold the name."""


NOTHING_OPEN = Open(0)


def possible_uses(
    snapshot: Snapshot, names: Collection[str], known: Iterable[Edge], kinds: Collection[str], only_in: str = ""
) -> Open:
    """References that could be uses of one of these names and that no edge in `known` explains; those of one file if asked.

    For a name that many files leave open the references are counted from the store and none is looked at one by one.
    A file that was not read, or not as a whole, counts where its text holds a name.
    """
    unread = [mention for mention in snapshot.unread_mentions(names) if only_in in {"", mention.path}]
    uses = [
        use
        for name in sorted(names)
        for use in snapshot.open_uses(name)
        if (not kinds or use.reference.kind in kinds) and only_in in {"", use.path}
    ]
    times = Counter[str]()
    for use in uses:
        times[use.path] += use.reference.times
    if len(times) > LOOKED_AT:
        return Open(times.total() + len(unread), unread=len(unread))
    rows, uncounted = _unexplained(snapshot, names, times, {(edge.source.path, edge.line) for edge in known}, kinds)
    rows += [(mention.path, mention.line) for mention in unread]
    return replace(_open(rows, len(unread)), count=len(rows) + uncounted)


def _unexplained(
    snapshot: Snapshot,
    names: Collection[str],
    times: Mapping[str, int],
    explained: Collection[tuple[str, int]],
    kinds: Collection[str],
) -> tuple[list[tuple[str, int]], int]:
    """The places of open references by these names where no edge is known; those of files that need no look are counted."""
    rows: list[tuple[str, int]] = []
    uncounted = 0
    for path in sorted(times):
        if len(rows) >= PLACES and all(path != other for other, _ in explained):
            uncounted += times[path]
        else:
            rows += [
                (path, reference.line)
                for reference in snapshot.unresolved_in(path, lambda _, name: name in names)
                if reference.reason in OPEN_REASONS
                and (not kinds or reference.kind in kinds)
                and (path, reference.line) not in explained
            ]
    return rows, uncounted


def confined_to(snapshot: Snapshot, symbol: Symbol) -> str:
    """The only file that can name a symbol: for a function inside a function its own, empty if there may be others.

    Elsewhere it is called as a value alone, and where it becomes one there is an edge (`handed_on`).
    """
    if symbol.kind != "function" or not symbol.flags & Flag.LOCAL:
        return ""
    parent = symbol.row.parent
    outer = symbols_of(snapshot, symbol.path)[parent].kind if parent >= 0 else "function"
    return symbol.path if outer in {"function", "method", "constructor"} else ""


def handed_on(snapshot: Snapshot, symbol: Symbol) -> list[Edge]:
    """Where a function is passed on or stored instead of called: unlike types, fixtures, protocols and elements of JSX, where
    who calls it is plain, `references` without a detail make a value of it.
    """
    if symbol.kind not in {"function", "method"}:
        return []
    edges = incoming(snapshot, symbol.key)
    called = {(edge.source.path, edge.line) for edge in edges if edge.kind == "calls"}
    return [
        edge for edge in edges if edge.kind == "references" and not edge.detail and (edge.source.path, edge.line) not in called
    ]


def run_unnamed(snapshot: Snapshot, symbol: Symbol) -> list[Edge]:
    """Where a function runs without being called by a name: a fixture that is handed in, what `for` and `with` run, the
    constructor of a base where an object of a class without one is made."""
    return [edge for edge in incoming(snapshot, symbol.key) if edge.kind == "references" and edge.detail in _RUN_UNNAMED]


def overridden(snapshot: Snapshot, symbol: Symbol) -> list[SymbolKey]:
    """The methods of bases and interfaces in whose place a method stands."""
    if symbol.kind != "method":
        return []
    return [edge.target for edge in snapshot.edges_from(symbol.key) if edge.kind in {"overrides", "implements"}]


def open_places(edges: Iterable[Edge]) -> Open:
    """The places of edges as something that an answer may lack."""
    return _open(sorted({(edge.source.path, edge.line) for edge in edges}))


def _open(rows: Sequence[tuple[str, int]], unread: int = 0) -> Open:
    return Open(len(rows), tuple(f"{path}:{line}" for path, line in rows[:PLACES]), unread)


def unread_places(snapshot: Snapshot, names: Collection[str]) -> Open:
    """Files that were not read, or only in part, and hold one of these names: where else it may be defined."""
    mentions = snapshot.unread_mentions(names)
    return _open([(mention.path, mention.line) for mention in mentions], len(mentions))


def open_references(snapshot: Snapshot, keys: Iterable[SymbolKey], kinds: Collection[str]) -> Open:
    """References inside these nodes that got no edge though they might lead somewhere in the repository.

    A place inside a symbol that could not be read counts as one.
    """
    inside: dict[str, set[str]] = {}
    unread: set[tuple[str, int]] = set()
    for key in keys:
        symbol = snapshot.symbol(key) if key.qualified else None
        names = {""} if symbol is None else {member.qualified_name for member in bodies(snapshot, symbol)}
        inside.setdefault(key.path, set()).update(names)
        if symbol is not None:
            unread.update((key.path, line) for line in _unread_lines(snapshot, symbol))
    if len(inside) > LOOKED_AT:
        return Open(sum(times for path in inside for times in open_counts(snapshot, path, kinds)))
    rows = [
        (path, reference.line)
        for path, names in sorted(inside.items())
        if any(open_counts(snapshot, path, kinds))
        for reference in _unresolved_of(snapshot, path, names)
        if reference.reason in OPEN_REASONS and (not kinds or reference.kind in kinds)
    ]
    return _open([*rows, *sorted(unread)], len(unread))


def _unresolved_of(snapshot: Snapshot, path: str, names: Collection[str]) -> Sequence[Unresolved]:
    """References without an edge in these symbols of a file; all of it if one is the file itself."""
    return snapshot.unresolved_in(path, None if "" in names else lambda source, _: source in names)


def _unread_lines(snapshot: Snapshot, symbol: Symbol) -> list[int]:
    """Lines of a symbol where its file could not be read."""
    file = snapshot.file(symbol.path)
    problems = file.problems if file is not None and file.status == "partial" else ()
    return [problem.line for problem in problems if symbol.line <= problem.line <= symbol.end_line]


def open_counts(snapshot: Snapshot, path: str, kinds: Collection[str] = ()) -> Iterator[int]:
    """How often each name occurs in a file as an open reference that may mean something in the repository."""
    for reference in snapshot.link(path).open:
        if reference.reason in OPEN_REASONS and (not kinds or reference.kind in kinds):
            yield reference.times


# Files and modules.


def file_edges(snapshot: Snapshot, path: str, *, backward: bool) -> Iterator[tuple[str, Edge]]:
    """Edges between the file (and its symbols) and other files, each with that other file."""
    if not backward:
        for edge in snapshot.file_edges(path):
            if edge.target.path != path:
                yield edge.target.path, edge
        return
    for edges in snapshot.edges_to_each(_keys_of_file(snapshot, path)).values():
        for edge in edges:
            if edge.source.path != path:
                yield edge.source.path, edge


def users_of_file(snapshot: Snapshot, path: str) -> dict[str, int]:
    """How many edges each other file has to the file and its symbols: what `file_edges` leads back to, counted."""
    counts = snapshot.users_of(_keys_of_file(snapshot, path))
    return {other: count for other, count in counts.items() if other != path}


def _keys_of_file(snapshot: Snapshot, path: str) -> list[SymbolKey]:
    return [SymbolKey(path), *(symbol.key for symbol in symbols_of(snapshot, path))]


def module_edges(snapshot: Snapshot, paths: Iterator[str]) -> Iterator[tuple[str, str, Edge]]:
    """The edges from these files to files of other modules, with the directories of both modules."""
    modules = snapshot.modules()
    for path in paths:
        source = modules.module_of(path).path
        for edge in snapshot.file_edges(path):
            target = modules.module_of(edge.target.path).path
            if target != source:
                yield source, target, edge
