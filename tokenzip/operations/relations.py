"""Who uses whom: dependants, dependencies, and paths from one symbol to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tokenzip import walk
from tokenzip.errors import UsageError
from tokenzip.items import Item, Lazy, completeness, edge_part, file_item, key_item, symbol_item
from tokenzip.model import Edge, Module, Symbol, SymbolKey
from tokenzip.operations.base import Answer, Arguments, call
from tokenzip.operations.items import DEPENDANT, DEPENDENCY, is_whole, listing, wanted

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

USED_NAMES = 12
BRIEF_USED_NAMES = 2
"""Names that an answer lists beside an item: in full, and in short."""
TRACE_NODES = 50_000
"""Nodes that a search for paths visits at most; an answer cut by it says so."""


def get_dependants(snapshot: Snapshot, arguments: Arguments) -> Answer:
    """Everything that uses the symbol, file or module, nearest first."""
    return _relations(snapshot, arguments, backward=True)


def get_dependencies(snapshot: Snapshot, arguments: Arguments) -> Answer:
    """Everything that the symbol, file or module uses, nearest first."""
    return _relations(snapshot, arguments, backward=False)


def _relations(snapshot: Snapshot, arguments: Arguments, *, backward: bool) -> Answer:
    target = walk.resolve(snapshot, arguments["handle"])
    depth = arguments.get("depth", 1)
    if depth < 1:
        raise UsageError("depth must be at least 1", hint="Leave it out for direct edges only.")
    kinds = tuple(arguments.get("kinds", ()))
    if isinstance(target, Symbol):
        return _symbol_relations(snapshot, arguments, target, depth, kinds, backward=backward)
    if isinstance(target, Module):
        return _module_relations(snapshot, arguments, target, kinds, backward=backward)
    return _file_relations(snapshot, arguments, target.path, depth, kinds, backward=backward)


def _symbol_relations(
    snapshot: Snapshot, arguments: Arguments, symbol: Symbol, depth: int, kinds: Sequence[str], *, backward: bool
) -> Answer:
    reached = walk.by_use(snapshot, walk.closure(snapshot, symbol.key, depth, kinds, backward=backward))
    include = wanted(arguments, DEPENDANT if backward else DEPENDENCY) | ({"distance"} if depth > 1 else set())
    head = _head(symbol_item(snapshot, symbol, include | {"kind"}), arguments)
    include |= _said_once(kinds, (edge for node in reached for edge in node.edges), head, include)
    items = Lazy(reached, lambda node: _reached_item(snapshot, node, include))
    direct = [edge for node in reached if node.distance == 1 for edge in node.edges]
    if backward:
        names, home = walk.names_of(snapshot, symbol), walk.confined_to(snapshot, symbol)
        possible = walk.possible_uses(snapshot, names, direct, kinds, home)
        why = f"unresolved uses of the name {symbol.name} may belong here"
        if "calls" in kinds and not possible.count:
            possible, why = _calls_out_of_sight(snapshot, symbol, kinds)
    else:
        possible = walk.open_references(snapshot, [symbol.key], kinds)
        why = "unresolved references inside could lead to more"
        if external := _external(snapshot, symbol, kinds):
            head["external"] = external
    calls = []
    if kinds and not reached and (others := _other_kinds(snapshot, symbol.key, backward=backward)):
        head["other_kinds"] = others
        calls = [call("get_dependants" if backward else "get_dependencies", handle=symbol.handle, at=arguments.get("at"))]
    return listing(snapshot, arguments, items, head=head, complete=completeness(possible, why), calls=calls)


def _said_once(kinds: Sequence[str], edges: Iterable[Edge], head: dict[str, Any], include: Collection[str]) -> set[str]:
    """``one kind`` where a short answer need not say of each edge what the question, or else its head, says of them all."""
    if not kinds or is_whole(include):
        return set()
    found = {edge.kind for edge in edges}
    if len(kinds) > 1 and len(found) == 1:
        head["edge_kind"] = found.pop()
    return {"one kind"} if len(kinds) == 1 or "edge_kind" in head else set()


def _head(of: Item, arguments: Arguments) -> dict[str, Any]:
    """What the answer is about: left out of a short answer where the question named it in full."""
    return {} if of["handle"] == arguments["handle"] and arguments.get("detail") != "signatures" else {"of": of}


def _calls_out_of_sight(snapshot: Snapshot, symbol: Symbol, kinds: Collection[str]) -> tuple[walk.Open, str]:
    """What else may call a symbol that nothing calls by an unknown name, with the reason; a list of calls cannot show it."""
    if "references" not in kinds and (handed := walk.handed_on(snapshot, symbol)):
        why = "handed on as a value there; later callers are unknown"
        return walk.open_places(handed), why
    if "references" not in kinds and (runs := walk.run_unnamed(snapshot, symbol)):
        how = " and ".join(sorted({edge.detail for edge in runs}))
        return walk.open_places(runs), f"runs there too, without a call of its name ({how})"
    for above in walk.overridden(snapshot, symbol):
        if calls := [edge for edge in snapshot.edges_to(above) if edge.kind == "calls"]:
            return walk.open_places(calls), f"calls of {above.handle}, which it overrides, may arrive here"
    return walk.NOTHING_OPEN, ""


def _other_kinds(snapshot: Snapshot, key: SymbolKey, *, backward: bool) -> dict[str, int]:
    """The kinds of edge that there are where those asked for are missing, with the number of symbols at their other ends."""
    nodes = walk.closure(snapshot, key, 1, (), backward=backward)
    counts = Counter(kind for node in nodes for kind in {edge.kind for edge in node.edges})
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _reached_item(snapshot: Snapshot, node: walk.Reached, include: Collection[str]) -> Item:
    item = key_item(snapshot, node.key, include)
    edges, others = walk.strongest(node.edges)
    item["edge"] = edge_part(edges, include)
    if others:
        item["edge"]["also"] = others
    whole = is_whole(include)
    if whole or "distance" in include:
        item["distance"] = node.distance
    if node.via is not None:
        item["via"] = node.via.handle if whole else node.via.qualified or node.via.path
    if whole and walk.is_test(snapshot, node.key):
        item["test"] = True
    return item


def _external(snapshot: Snapshot, symbol: Symbol, kinds: Collection[str]) -> list[str]:
    """Names outside the repository that the symbol uses, as far as they are known."""
    inside = {member.qualified_name for member in walk.bodies(snapshot, symbol)}
    return sorted(
        {
            reference.detail
            for reference in snapshot.unresolved_in(symbol.path, lambda source, _: source in inside)
            if reference.reason == "external" and reference.detail and (not kinds or reference.kind in kinds)
        }
    )


# Files and modules: the same edges, folded to the size of the question.


@dataclass(slots=True)
class _Fold:
    """The edges between the subject and one other file or module."""

    edges: list[Edge]
    names: Counter[str]


def _file_relations(
    snapshot: Snapshot, arguments: Arguments, path: str, depth: int, kinds: Sequence[str], *, backward: bool
) -> Answer:
    include = wanted(arguments, DEPENDANT) | ({"distance"} if depth > 1 else set())
    include |= {"one kind"} if len(kinds) == 1 else set()
    distance_of = {path: 0}
    frontier = [path]
    items: list[Item] = []
    for distance in range(1, depth + 1):
        folds: dict[str, _Fold] = {}
        for origin in frontier:
            for other, edge in walk.file_edges(snapshot, origin, backward=backward):
                if other not in distance_of and (not kinds or edge.kind in kinds):
                    fold = folds.setdefault(other, _Fold([], Counter()))
                    fold.edges.append(edge)
                    fold.names[walk.plain(edge.target.qualified)] += 1
        distance_of.update(dict.fromkeys(folds, distance))
        frontier = sorted(folds)
        items.extend(_folded_items(snapshot, folds, distance, include))
    possible = walk.NOTHING_OPEN if backward else walk.open_references(snapshot, [SymbolKey(path)], kinds)
    head = _head(file_item(snapshot, path), arguments)
    if not backward and (packages := external_packages(snapshot, path)):
        head["external"] = packages
    complete = completeness(possible, "unresolved references in the file could lead to more")
    return listing(snapshot, arguments, items, head=head, complete=complete)


def _folded_items(snapshot: Snapshot, folds: dict[str, _Fold], distance: int, include: Collection[str]) -> list[Item]:
    def order(path: str) -> tuple[object, ...]:
        return (walk.is_test(snapshot, SymbolKey(path)), -len(folds[path].edges), path)

    return [_folded_item(snapshot, path, folds[path], distance, include) for path in sorted(folds, key=order)]


def _folded_item(snapshot: Snapshot, path: str, fold: _Fold, distance: int, include: Collection[str]) -> Item:
    """A file at the other end: its import if there is one, else the most telling edge, and the names that are used."""
    edges = [edge for edge in fold.edges if edge.kind == "imports"] or walk.strongest(fold.edges)[0]
    first = min(edges, key=lambda edge: edge.line)
    item = file_item(snapshot, path, include)
    item["edge"] = edge_part([first], include)
    if also := sorted({edge.kind for edge in fold.edges} - {first.kind}):
        item["edge"]["also"] = also
    if uses := [name for name, _ in sorted(fold.names.items(), key=lambda pair: (-pair[1], pair[0])) if name]:
        most = USED_NAMES if is_whole(include) else BRIEF_USED_NAMES
        item["uses"] = uses[:most]
        if len(uses) > most:
            item["used_names"] = len(uses)
    if is_whole(include) or "distance" in include:
        item["distance"] = distance
    if is_whole(include) and walk.is_test(snapshot, SymbolKey(path)):
        item["test"] = True
    return item


def folded_users(snapshot: Snapshot, path: str) -> Item:
    """How many files use this one, and the first few of them."""
    counts = walk.users_of_file(snapshot, path)
    ordered = sorted(counts, key=lambda other: (walk.is_test(snapshot, SymbolKey(other)), -counts[other], other))
    return {"total": len(ordered), "first": ordered[:USED_NAMES]}


def external_packages(snapshot: Snapshot, path: str) -> list[str]:
    """External names that the file imports."""
    return sorted(
        {
            reference.detail or reference.name
            for reference in snapshot.link(path).open
            if reference.reason == "external" and reference.kind == "imports"
        }
    )


def _module_relations(
    snapshot: Snapshot, arguments: Arguments, module: Module, kinds: Sequence[str], *, backward: bool
) -> Answer:
    counts: Counter[str] = Counter()
    for source, target, edge in walk.module_edges(snapshot, snapshot.paths()):
        mine, other = (target, source) if backward else (source, target)
        if mine == module.path and (not kinds or edge.kind in kinds):
            counts[other] += 1
    names = {each.path: each for each in snapshot.modules().all()}
    items = [
        {"handle": path or ".", "kind": "module", "name": names[path].name, "edges": count, "distance": 1}
        for path, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    ]
    head = _head({"handle": module.path or ".", "kind": "module", "name": module.name}, arguments)
    return listing(snapshot, arguments, items, head=head)


# Paths.


def trace_path(snapshot: Snapshot, arguments: Arguments) -> Answer:
    """The shortest paths from one symbol to another: along calls if there are any, else along every kind of edge."""
    start = _end_of_path(snapshot, arguments["from"])
    goal = _end_of_path(snapshot, arguments["to"])
    goals = _names_for(snapshot, goal)
    limit, depth = arguments.get("limit", 3), arguments.get("depth", 12)
    search = _Search(snapshot, start, goals, depth, ("calls",))
    if not search.found:
        search = _Search(snapshot, start, goals, depth, ())
    items = [_path_item(snapshot, start, path) for path in search.paths(limit)]
    head = {"from": start.handle, "to": goal.handle, "over": "calls" if search.kinds else "all edges"}
    complete: bool | Item = True
    if not items:
        opened = search.open_references()
        complete = completeness(opened, "no path is known, but references on the way have unknown targets")
    if search.cut:
        complete = {"why": f"the search stopped after {search.cut}", "unresolved": 0}
    back = call("trace_path", **{"from": goal.handle, "to": start.handle, "at": arguments.get("at")})
    return listing(snapshot, arguments, items, head=head, complete=complete, calls=[] if items else [back])


def _end_of_path(snapshot: Snapshot, text: str) -> SymbolKey:
    target = walk.resolve(snapshot, text)
    if isinstance(target, Module):
        raise UsageError(f"{text} is a module; a path joins symbols or files", hint="Name a symbol: path::Qualified.name")
    return target.key if isinstance(target, Symbol) else target


def _names_for(snapshot: Snapshot, key: SymbolKey) -> set[SymbolKey]:
    """All keys whose reaching counts as reaching `key`: its twins, and a class for its constructor or the other way round."""
    symbol = snapshot.symbol(key) if key.qualified else None
    if symbol is None:
        return {key}
    keys = {member.key for member in walk.family(snapshot, symbol)}
    keys.update(constructor.key for constructor in walk.constructors(snapshot, symbol))
    owner = walk.constructed_class(snapshot, symbol)
    return keys | {owner.key} if owner is not None else keys


class _Search:
    """Breadth-first search that keeps, for every node, the nodes and edges by which it was first reached."""

    def __init__(self, snapshot: Snapshot, start: SymbolKey, goals: set[SymbolKey], depth: int, kinds: Sequence[str]) -> None:
        self.snapshot = snapshot
        self.kinds = kinds
        self.found: list[SymbolKey] = []
        self.cut = ""
        self._start = start
        self._arrivals: dict[SymbolKey, list[tuple[SymbolKey, Edge]]] = {start: []}
        frontier = [start]
        for _ in range(depth):
            frontier = self._step(frontier)
            self.found = [key for key in frontier if key in goals]
            if self.found or not frontier:
                return
            if len(self._arrivals) > TRACE_NODES:
                self.cut = f"{TRACE_NODES} symbols"
                return
        self.cut = f"{depth} steps"

    def _step(self, frontier: Sequence[SymbolKey]) -> list[SymbolKey]:
        fresh: dict[SymbolKey, list[tuple[SymbolKey, Edge]]] = {}
        for key in frontier:
            for edge in walk.walk_out(self.snapshot, key):
                if (not self.kinds or edge.kind in self.kinds) and edge.target not in self._arrivals:
                    arrivals = fresh.setdefault(edge.target, [])
                    if all(origin != key for origin, _ in arrivals):
                        arrivals.append((key, edge))
        self._arrivals.update(fresh)
        return sorted(fresh)

    def paths(self, limit: int) -> list[list[Edge]]:
        """Up to `limit` shortest paths, each as its edges from start to goal."""
        out: list[list[Edge]] = []
        pending: list[tuple[SymbolKey, list[Edge]]] = [(key, []) for key in reversed(self.found)]
        while pending and len(out) < limit:
            key, rest = pending.pop()
            if key == self._start:
                out.append(rest)
                continue
            pending.extend((origin, [edge, *rest]) for origin, edge in reversed(self._arrivals[key]))
        return out

    def open_references(self) -> walk.Open:
        """References with unknown targets in everything that the search visited."""
        return walk.open_references(self.snapshot, [key for key in sorted(self._arrivals) if key.qualified], self.kinds)


def _path_item(snapshot: Snapshot, start: SymbolKey, path: Sequence[Edge]) -> Item:
    steps = [key_item(snapshot, start, DEPENDENCY)]
    for edge in path:
        step = key_item(snapshot, edge.target, DEPENDENCY)
        step["edge"] = edge_part([edge], DEPENDENCY)
        step["edge"]["file"] = edge.source.path
        steps.append(step)
    return {"distance": len(path), "steps": steps}
