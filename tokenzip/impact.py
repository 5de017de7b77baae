"""Who is reached if symbols change: dependants by distance, each with the edges that lead to it.

Followed backwards, from the symbol that is used to the one that uses it: ``calls reads modifies references decorates inherits
implements overrides imports exports foreign_key column_of``. Beyond single edges:

- a class stands for its members where the question begins: who uses ``C.m`` depends on ``C``;
- what overrides a method is reached by a change of it; and a change of the overriding one reaches the callers of what it
  overrides, since their call may end in it (edge kind ``dispatch``);
- a symbol inside a function has no name outside: its function stands for it;
- a file that only imports (or passes on) what is reached is listed, unless something in it is listed anyway, and nothing is
  followed beyond module-level code: who imports a file does not depend on all that it does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tokenzip.model import Change, Edge, Flag, Symbol, SymbolKey
from tokenzip.snapshot import Snapshot

DEPTH = 3
"""Steps that a question about symbols, files or modules follows if it does not say how many."""
DEPTH_OF_CHANGES = 1
"""The same of a question about the changes between two states: what uses them is where they are felt first."""
FOLLOWED = frozenset(
    {
        "calls", "reads", "modifies", "references", "decorates", "inherits", "implements", "overrides", "imports", "exports",
        "foreign_key", "column_of",
    }
)  # fmt: skip
"""Edge kinds along which a change travels."""
_SAID = 3
"""Names, and files, that a remark lists."""
_WEAK = frozenset({"imports", "exports"})
_FUNCTIONS = frozenset({"function", "method", "constructor"})
_CONSTRUCTORS = frozenset({"__init__", "__new__", "constructor"})
_MEMBER_OF = frozenset({"overrides", "implements"})


@dataclass(frozen=True, slots=True)
class Reached:
    """A symbol (or module-level code: a file) that a change reaches."""

    key: SymbolKey
    kind: str
    """Symbol kind, or ``file``."""
    line: int
    """Of its name; 0 for a file."""
    distance: int
    """Number of edges from the nearest changed symbol: 1 uses it directly."""
    via: str
    """Kind of the edge that leads to it, or ``dispatch``."""
    path: tuple[Edge, ...]
    """The edges from it down to a changed symbol, its own first: one of the shortest ways."""
    test: bool

    @property
    def handle(self) -> str:
        return self.key.handle


@dataclass(frozen=True, slots=True)
class Impact:
    """What a change reaches, and how far that can be trusted."""

    roots: tuple[SymbolKey, ...]
    """What the question was about, members of classes included."""
    reached: tuple[Reached, ...]
    """By distance; tests after the rest; then by path and line."""
    files: tuple[str, ...]
    modules: tuple[str, ...]
    """Names of the modules reached, by path."""
    unresolved: int
    """References by the name of a root or of something reached, without an edge: each may be one more."""
    open_names: tuple[str, ...]
    """The names of those references, the most frequent first."""
    open_files: tuple[str, ...]
    """The files that they are in."""
    depth: int | None
    """The largest distance asked for, None for all."""
    cut: bool
    """Whether more lies beyond the depth asked for."""

    @property
    def complete(self) -> bool:
        """Whether nothing can be missing."""
        return not self.cut and not self.unresolved

    def completeness(self) -> bool | dict[str, Any]:
        """True, or why something may be missing: ``{"why", "unresolved", "places"}`` as in every answer."""
        if self.complete:
            return True
        reasons = []
        if self.unresolved:
            names = ", ".join(self.open_names[:_SAID])
            more = f" and {len(self.open_names) - _SAID:,} other names" if len(self.open_names) > _SAID else ""
            reasons.append(f"unresolved uses of {names}{more} could reach more")
        if self.cut:
            reasons.append(f"more beyond {self.depth} step{'s' * (self.depth != 1)}")
        found: dict[str, Any] = {"why": "; ".join(reasons), "unresolved": self.unresolved}
        return found | ({"places": list(self.open_files[:_SAID])} if self.unresolved else {})

    @property
    def tests(self) -> tuple[Reached, ...]:
        """The tests among those reached, nearest first."""
        return tuple(reached for reached in self.reached if reached.test)


def impact(
    snapshot: Snapshot, subjects: Iterable[SymbolKey | Change], depth: int | None = None, graph: Graph | None = None
) -> Impact:
    """Who is reached if `subjects` change (for changes: their state in `snapshot`; what was removed there is passed over).

    `depth` is the largest distance asked for, None for all. `graph` saves looking the same things up for several questions.
    """
    with snapshot.reading():
        graph = graph or Graph(snapshot)
        roots = graph.roots(_keys(snapshot, subjects))
        steps, cut = _spread(graph, roots, depth)
        reached = _without_mere_imports(_reached(graph, steps))
        names, files = graph.open_references(roots, steps)
        return Impact(
            roots=tuple(sorted(roots)),
            reached=reached,
            files=tuple(sorted({item.key.path for item in reached})),
            modules=_modules(snapshot, reached),
            unresolved=names.total(),
            open_names=tuple(sorted(names, key=lambda name: (-names[name], name))),
            open_files=files,
            depth=depth,
            cut=cut,
        )


def reach_counts(
    snapshot: Snapshot, subjects: Sequence[SymbolKey | Change], depth: int | None = None, graph: Graph | None = None
) -> tuple[int, ...]:
    """How many symbols and files each subject alone reaches, counted as `impact` would list them; one pass for all."""
    with snapshot.reading():
        graph = graph or Graph(snapshot)
        masks: dict[SymbolKey, int] = {}
        for number, subject in enumerate(subjects):
            for root in graph.roots(_keys(snapshot, [subject])):
                masks[root] = masks.get(root, 0) | 1 << number
        return _counts(graph, masks, len(subjects), depth)


def _keys(snapshot: Snapshot, subjects: Iterable[SymbolKey | Change]) -> list[tuple[SymbolKey, bool]]:
    """The keys that exist in the snapshot, each once, and whether what lies inside them is meant too.

    Documentation reaches nobody, and what a file does by itself is not what its symbols do.
    """
    keys: dict[SymbolKey, bool] = {}
    for subject in subjects:
        whole = True
        if isinstance(subject, Change):
            if subject.aspects == ("docs",):
                continue
            key, whole = subject.key, subject.kind != "file" or subject.change != "body"
        else:
            key = subject
        if _exists(snapshot, key):
            keys[key] = keys.get(key, False) or whole
    return list(keys.items())


def _exists(snapshot: Snapshot, key: SymbolKey) -> bool:
    if key.qualified:
        return snapshot.symbol(key) is not None
    return snapshot.tree_file(key.path) is not None


class Step(NamedTuple):
    """How something is reached first."""

    distance: int
    edge: Edge
    via: str
    towards: SymbolKey
    """What it uses: one step nearer to a root."""


class Use(NamedTuple):
    """One way in which something is used."""

    user: SymbolKey
    edge: Edge
    via: str


def _spread(graph: Graph, roots: Iterable[SymbolKey], depth: int | None) -> tuple[dict[SymbolKey, Step], bool]:
    """How each symbol is reached first, and whether something lies beyond `depth`."""
    steps: dict[SymbolKey, Step] = {}
    known = set(roots)
    frontier = sorted(known)
    distance = 0
    while frontier:
        distance += 1
        following: dict[SymbolKey, Step] = {}
        graph.look_ahead(frontier)
        for key in frontier:
            for user, edge, via in graph.uses(key):
                step = Step(distance, edge, via, key)
                if user not in known and (user not in following or _preference(step) < _preference(following[user])):
                    following[user] = step
        if depth is not None and distance > depth:
            return steps, bool(following)
        steps.update(following)
        known.update(following)
        frontier = sorted(key for key in following if key.qualified)
    return steps, False


def _preference(step: Step) -> tuple[bool, Edge, SymbolKey]:
    """Among ways of one length, a use says more than an import; otherwise any fixed order will do."""
    return step.via in _WEAK, step.edge, step.towards


class Graph:
    """Uses of symbols, as an impact sees them; looked up once each."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._uses: dict[SymbolKey, tuple[Use, ...]] = {}
        self._edges: dict[SymbolKey, tuple[Edge, ...]] = {}

    def look_ahead(self, keys: Iterable[SymbolKey]) -> None:
        """Look up the edges to many symbols at once, which costs a fraction of asking one by one."""
        unknown = {key for key in keys if key not in self._uses and key not in self._edges}
        if len(unknown) > 1:
            self._edges.update(self.snapshot.edges_to_each(unknown))

    def _edges_to(self, key: SymbolKey) -> tuple[Edge, ...]:
        known = self._edges.get(key)
        if known is None:
            known = self._edges[key] = self.snapshot.edges_to(key)
        return known

    def roots(self, keys: Iterable[tuple[SymbolKey, bool]]) -> set[SymbolKey]:
        """The keys, where asked for what lies inside them, and for what is local to a function that function."""
        roots: set[SymbolKey] = set()
        for key, whole in keys:
            roots.update((key, self.outermost(key)))
            file = self.snapshot.file(key.path)
            inside = key.qualified + "."
            roots.update(
                symbol.key
                for symbol in (file.symbols if file is not None and whole else ())
                if not key.qualified or symbol.qualified_name.startswith(inside)
            )
        return roots

    def outermost(self, key: SymbolKey) -> SymbolKey:
        """The nearest symbol around (or of) a key that is not local to a function; itself if there is none."""
        symbol = self.snapshot.symbol(key)
        if symbol is None or not symbol.flags & Flag.LOCAL:
            return key
        parent = self._parent(symbol)
        while parent is not None and parent.flags & Flag.LOCAL:
            parent = self._parent(parent)
        return parent.key if parent is not None else key

    def _parent(self, symbol: Symbol) -> Symbol | None:
        file = self.snapshot.file(symbol.path)
        return file.symbols[symbol.row.parent] if file is not None and symbol.row.parent >= 0 else None

    def uses(self, key: SymbolKey) -> tuple[Use, ...]:
        """Who uses it, and how."""
        known = self._uses.get(key)
        if known is None:
            known = self._uses[key] = tuple(self._find_uses(key))
        return known

    def _find_uses(self, key: SymbolKey) -> Iterator[Use]:
        for edge in self._edges_to(key):
            if edge.kind in FOLLOWED:
                yield Use(self.outermost(edge.source), edge, edge.kind)
        symbol = self.snapshot.symbol(key)
        parent = self._parent(symbol) if symbol is not None else None
        if symbol is None or parent is None or parent.kind in _FUNCTIONS:
            return
        for edge in self.snapshot.edges_from(key):
            if edge.kind in _MEMBER_OF:
                yield from self._calls(edge.target, "dispatch")
        if symbol.kind == "constructor" or symbol.name in _CONSTRUCTORS:
            yield from self._calls(parent.key, "calls")

    def _calls(self, key: SymbolKey, via: str) -> Iterator[Use]:
        for edge in self._edges_to(key):
            if edge.kind == "calls":
                yield Use(self.outermost(edge.source), edge, via)

    def open_references(
        self, roots: Iterable[SymbolKey], steps: Mapping[SymbolKey, Step]
    ) -> tuple[Counter[str], tuple[str, ...]]:
        """References that could be to a root or something reached, as far as names tell: how many by name, and the files."""
        counts: Counter[str] = Counter()
        files: set[str] = set()
        names = {_last_name(key) for key in (*roots, *steps) if key.qualified}
        for use in self.snapshot.open_uses(*names):
            counts[use.reference.name] += use.reference.times
            files.add(use.path)
        for mention in self.snapshot.unread_mentions(names):
            counts[mention.name] += 1
            files.add(mention.path)
        return counts, tuple(sorted(files))


def _last_name(key: SymbolKey) -> str:
    return key.qualified.rpartition(".")[2].partition("#")[0] or key.qualified


def _reached(graph: Graph, steps: Mapping[SymbolKey, Step]) -> list[Reached]:
    return sorted((_item(graph, key, steps) for key in steps), key=_order)


def _item(graph: Graph, key: SymbolKey, steps: Mapping[SymbolKey, Step]) -> Reached:
    step = steps[key]
    file, symbol = graph.snapshot.file(key.path), graph.snapshot.symbol(key)
    return Reached(
        key=key,
        kind=symbol.kind if symbol is not None else "file",
        line=symbol.line if symbol is not None else 0,
        distance=step.distance,
        via=step.via,
        path=tuple(_way(key, steps)),
        test=(file is not None and file.is_test) or (symbol is not None and bool(symbol.flags & (Flag.TEST | Flag.FIXTURE))),
    )


def _way(key: SymbolKey, steps: Mapping[SymbolKey, Step]) -> Iterator[Edge]:
    while key in steps:
        step = steps[key]
        yield step.edge
        key = step.towards


def _order(item: Reached) -> tuple[object, ...]:
    return item.distance, item.test, item.key.path, item.line, item.key.qualified


def _without_mere_imports(items: Iterable[Reached]) -> tuple[Reached, ...]:
    """Without files that only import something, where one of their symbols is listed and says more."""
    items = tuple(items)
    told = {item.key.path for item in items if item.key.qualified}
    return tuple(item for item in items if item.key.qualified or item.via not in _WEAK or item.key.path not in told)


def _modules(snapshot: Snapshot, items: Iterable[Reached]) -> tuple[str, ...]:
    modules = snapshot.modules()
    return tuple(dict.fromkeys(modules.module_of(path).name for path in sorted({item.key.path for item in items})))


# ---- many subjects at once


def _counts(graph: Graph, roots: Mapping[SymbolKey, int], number: int, depth: int | None) -> tuple[int, ...]:
    """Spread sets of subjects, as bit masks, backwards along the edges; then count bits."""
    reached, weak = _spread_masks(graph, roots, depth)
    told: dict[str, int] = {}
    for key, mask in reached.items():
        if key.qualified:
            told[key.path] = told.get(key.path, 0) | mask
    counts = [0] * number
    for key in reached.keys() | weak.keys():
        mask = reached.get(key, 0) | (weak.get(key, 0) & ~told.get(key.path, 0))
        while mask:
            lowest = mask & -mask
            counts[lowest.bit_length() - 1] += 1
            mask ^= lowest
    return tuple(counts)


def _spread_masks(
    graph: Graph, roots: Mapping[SymbolKey, int], depth: int | None
) -> tuple[dict[SymbolKey, int], dict[SymbolKey, int]]:
    """Subjects that reach each symbol or file, and those that reach a file only by its imports."""
    reached: dict[SymbolKey, int] = {}
    weak: dict[SymbolKey, int] = {}
    frontier = dict(roots)
    distance = 0
    while frontier and (depth is None or distance < depth):
        distance += 1
        following: dict[SymbolKey, int] = {}
        graph.look_ahead(frontier)
        for key, mask in frontier.items():
            for user, _, via in graph.uses(key):
                fresh = mask & ~roots.get(user, 0)
                if not user.qualified and via in _WEAK:
                    weak[user] = weak.get(user, 0) | fresh
                    continue
                fresh &= ~reached.get(user, 0)
                if fresh:
                    reached[user] = reached.get(user, 0) | fresh
                    if user.qualified:
                        following[user] = following.get(user, 0) | fresh
        frontier = following
    return reached, weak
