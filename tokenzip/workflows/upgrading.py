"""upgrade-feature: what a feature consists of, what it rests on, whom a change of it breaks, and in which order to migrate."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tokenzip import walk
from tokenzip.errors import UnknownSymbol
from tokenzip.items import Item
from tokenzip.model import Edge, Module, Progress, Symbol, SymbolKey
from tokenzip.workflows import around
from tokenzip.workflows.base import Input, Inputs, Result, Step, Template

if TYPE_CHECKING:
    from tokenzip.impact import Impact
    from tokenzip.snapshot import Snapshot

CORE = 12
DEPTH = 3
_QUIET = frozenset({"imports", "exports"})
"""Edges of files that say nothing beside those of the symbols in them."""


class UpgradeFeature:
    """One run."""

    def __init__(self, snapshot: Snapshot, inputs: Inputs, progress: Progress) -> None:
        self.snapshot = snapshot
        self.feature = around.known_words(inputs["feature"], "feature")
        self.description = inputs.get("description", "").strip()
        self.core: list[Symbol] = []
        self.inner: list[Edge] = []
        self.incoming: list[Edge] = []
        self.chain: list[walk.Reached] = []
        self.impact: Impact | None = None
        self.found_by = "name"

    def find(self) -> None:
        """The symbols of the feature: what is called so, else what the words are about."""
        try:
            target = walk.resolve(self.snapshot, self.feature)
        except UnknownSymbol:
            self._search()
            return
        if isinstance(target, Symbol):
            self.core = walk.family(self.snapshot, target)
        elif isinstance(target, Module):
            self.core = around.shared_symbols(self.snapshot, around.area(self.snapshot, self.feature).paths)
        else:
            self.core = around.shared_symbols(self.snapshot, [target.path])

    def _search(self) -> None:
        self.found_by = "search"
        text = f"{self.feature} {self.description}".strip()
        self.core = around.searched(self.snapshot, text, CORE)

    def connect(self) -> None:
        """The edges among the symbols of the feature, and those that lead to it from elsewhere."""
        from tokenzip.impact import Graph

        graph = Graph(self.snapshot)
        inside = {member.key for symbol in self.core for member in walk.nested(self.snapshot, [symbol])}
        for symbol in self.core:
            for member in walk.nested(self.snapshot, [symbol]):
                for edge in self.snapshot.edges_from(member.key):
                    if edge.target in inside and self._owner(edge.target) != self._owner(edge.source):
                        self.inner.append(edge)
                for use in graph.uses(member.key):
                    if use.user not in inside and use.edge.kind not in _QUIET:
                        self.incoming.append(use.edge)
        self.inner = sorted(set(self.inner))
        self.incoming = sorted(set(self.incoming))

    def _owner(self, key: SymbolKey) -> SymbolKey:
        """The symbol of the feature that a key is or lies in."""
        for symbol in self.core:
            if key.path == symbol.path and f"{key.qualified}.".startswith(f"{symbol.qualified_name}."):
                return symbol.key
        return key

    def descend(self) -> None:
        """What the feature rests on."""
        known = {symbol.key for symbol in self.core}
        reached: dict[SymbolKey, walk.Reached] = {}
        for symbol in self.core:
            for node in walk.closure(self.snapshot, symbol.key, DEPTH, (), backward=False):
                if node.key not in known and (node.key not in reached or node.distance < reached[node.key].distance):
                    reached[node.key] = node
        self.chain = walk.by_use(self.snapshot, reached.values())

    def reach(self) -> None:
        """Who rests on the feature."""
        from tokenzip.impact import impact

        if self.core:
            self.impact = impact(self.snapshot, [symbol.key for symbol in self.core], DEPTH)

    def result(self) -> Result:
        reached = self.impact.reached if self.impact is not None else ()
        tests = around.test_items(self.snapshot, self.impact)
        summary: Item = {"feature": self.feature, "found_by": self.found_by, "symbols": len(self.core)}
        summary["breaking_edges"] = len(self.incoming)
        if self.impact is not None:
            summary["impact"] = around.impact_numbers(self.impact)
        if packages := self._packages():
            summary["packages"] = packages
        result = Result(
            summary=summary,
            parts={
                "symbols": [around.symbol_item(self.snapshot, symbol.key) for symbol in self.core],
                "order": self._order(tests),
                "breaking": [self._breaking_item(edge) for edge in self._by_weight()],
                "edges": [_edge_item(edge) for edge in self.inner],
                "dependencies": [_chain_item(node) for node in self.chain],
                "tests": tests,
                "modules": around.counted_by("module", around.modules_of(self.snapshot, [each.key.path for each in reached])),
            },
            complete=around.completeness(self.impact),
        )
        if len(self.core) == around.MOST_SHARED:
            result.complete = {
                "why": f"only the first {around.MOST_SHARED} symbols of the feature were looked at",
                "unresolved": 0,
            }
        if not self.core:
            result.complete = {"why": "no symbol fits the feature", "unresolved": 0}
        if self.core:
            handles = [symbol.handle for symbol in self.core[:5]]
            result.calls.append({"tool": "get_impact_analysis", "arguments": {"handles": handles, "depth": DEPTH}})
        return result

    def _by_weight(self) -> list[Edge]:
        """Product before tests, other modules before the feature's own."""
        home = set(around.modules_of(self.snapshot, [symbol.path for symbol in self.core]))

        def order(edge: Edge) -> tuple[object, ...]:
            module = around.modules_of(self.snapshot, [edge.source.path])[0]
            return walk.is_test(self.snapshot, edge.source), module in home, edge.source.path, edge.line, edge.target

        return sorted(self.incoming, key=order)

    def _breaking_item(self, edge: Edge) -> Item:
        item = _edge_item(edge)
        if walk.is_test(self.snapshot, edge.source):
            item["test"] = True
        return item

    def _packages(self) -> list[str]:
        """External packages that the files of the feature import, with the versions that their module declares."""
        out: dict[str, str] = {}
        for path in sorted({symbol.path for symbol in self.core}):
            declared = {each.name.lower(): each for each in self.snapshot.modules().module_of(path).dependencies}
            for name in around.packages_of(self.snapshot, [path]):
                known = declared.get(name.lower())
                if known is not None:
                    out[known.name] = f"{known.name} {known.range}".strip()
        return list(out.values())

    def _order(self, tests: list[Item]) -> list[Item]:
        """The feature's own files, what is used first; then who uses them, the nearest first; then tests."""
        own = {symbol.path for symbol in self.core}
        steps: list[Item] = []
        for path, uses in around.dependency_first(self.snapshot, own):
            step: Item = {"do": "upgrade", "file": path}
            steps.append({**step, "after": uses} if uses else step)
        nearest: dict[str, int] = {}
        for each in self.impact.reached if self.impact is not None else ():
            if each.key.path not in own and not each.test:
                nearest.setdefault(each.key.path, each.distance)
        counts = Counter(edge.source.path for edge in self.incoming)
        for distance in sorted(set(nearest.values())):
            level = [path for path, far in nearest.items() if far == distance]
            for path, _ in around.dependency_first(self.snapshot, level):
                edges = {"edges": counts[path]} if counts[path] else {}
                steps.append({"do": "migrate" if distance == 1 else "check", "file": path, "distance": distance, **edges})
        for path in dict.fromkeys(test["handle"].partition("::")[0] for test in tests):
            steps.append({"do": "run", "file": path})
        return [{"step": number, **step} for number, step in enumerate(steps, 1)]


def _edge_item(edge: Edge) -> Item:
    return {"handle": edge.source.handle, "kind": edge.kind, "line": edge.line, "target": edge.target.handle}


def _chain_item(node: walk.Reached) -> Item:
    edges, _ = walk.strongest(node.edges)
    item: Item = {"handle": node.key.handle, "distance": node.distance, "edge": {"kind": edges[0].kind, "line": edges[0].line}}
    if node.via is not None:
        item["via"] = node.via.handle
    return item


UPGRADE_FEATURE = Template(
    name="upgrade-feature",
    summary="Before a feature is replaced or migrated: its symbols, what they rest on, edges that break, migration order",
    inputs=(
        Input("feature", "a handle, file or module, or words that describe it", required=True),
        Input("description", "what it is to become; helps to find the feature by words", is_text=True),
    ),
    steps=(
        Step("find", f"query_symbol(feature), else search_symbols(feature), the best {CORE}", "symbols", UpgradeFeature.find),
        Step("connect", "get_dependants and get_dependencies of each symbol", "edges, breaking", UpgradeFeature.connect),
        Step("descend", f"get_dependencies(depth={DEPTH})", "dependencies, summary.packages", UpgradeFeature.descend),
        Step(
            "reach",
            f"get_impact_analysis(depth={DEPTH}) for the symbols together",
            "order, tests, modules, summary.impact",
            UpgradeFeature.reach,
        ),
    ),
    begin=UpgradeFeature,
)
