"""implement-feature: what is there already, how it hangs together, what is missing, and which files to change or create."""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tokenzip import walk
from tokenzip.errors import UsageError
from tokenzip.items import Item
from tokenzip.model import Edge, Progress, Symbol, SymbolKey
from tokenzip.workflows import around
from tokenzip.workflows.around import Area
from tokenzip.workflows.base import Input, Inputs, Result, Step, Template
from tokenzip.workflows.finding import about
from tokenzip.workflows.testing import TestHabits

if TYPE_CHECKING:
    from tokenzip.impact import Impact
    from tokenzip.snapshot import Snapshot

RELATED = 12
CHANGED = 4
"""Files to change that are told of, and the part of the best one's weight that another needs."""
SHARE_OF_BEST = 1 / 3
ENDS = 5
"""Related symbols between which paths are looked for."""
LONGEST, SHORT, MOST_NODES = 5, 2, 3000
"""Steps of a path of calls and of one of other edges, and symbols that are visited from one end."""
DEPTH = 2
NAMES = 20
NAME = re.compile(
    r"`([^`\s]{2,120})`"
    r"|(?<![\w-])((?:[\w-]++/)+[\w.-]+|[\w-]++\.(?:py|[cm]?[jt]sx?|vue|svelte|go|rs|java|kt|sql))\b"
    r"|(?<![\w$])([A-Za-z_$][\w$]*+(?:(?:\.|::)[A-Za-z_$][\w$]*+)+(?:\(\))?)|\b([A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*)\b"
    r"|\b([A-Za-z]\w*_\w+)\b|\b([a-z]+[A-Z]\w*)\b|(?<![\w$])([A-Za-z_$][\w$]*+)\(\)"
)
"""Names in prose: in backticks, paths, dotted names, CamelCase, snake_case, camelCase, and what is called.

Each begins where a run of its characters does, and no run is tried in parts: the time is in proportion to the text's length.
"""


class ImplementFeature:
    """One run."""

    def __init__(self, snapshot: Snapshot, inputs: Inputs, progress: Progress) -> None:
        self.snapshot = snapshot
        self.description = around.known_words(inputs["description"], "description")
        self.target: Area | None = around.area(snapshot, inputs["module"]) if "module" in inputs else None
        self.known: list[Item] = []
        self.missing: list[str] = []
        self.named: list[SymbolKey] = []
        self.names: set[str] = set()
        """Parts of the names that the description writes as code does."""
        self.fits: dict[Symbol, float] = {}
        """The related symbols, and how well they fit the description."""
        self.related: list[Symbol] = []
        self.routes: list[list[Edge]] = []
        self.impact: Impact | None = None

    def name(self) -> None:
        """The names that the description uses: which of them there are."""
        names = [next(name for name in found.groups() if name) for found in NAME.finditer(self.description)]
        for name in list(dict.fromkeys(name.removesuffix("()") for name in names))[:NAMES]:
            self.names.update(re.split(r"\.|::|/", name))
            try:
                found = walk.resolve(self.snapshot, name.replace("::", ".") if "/" not in name else name)
            except UsageError as error:
                if error.code == "ambiguous_symbol":
                    self.known.append({"name": name, "candidates": list(error.candidates[: around.NEAR])})
                else:
                    self.missing.append(name)
                continue
            if isinstance(found, (Symbol, SymbolKey)):
                key = found.key if isinstance(found, Symbol) else found
                self.named.append(key)
                self.known.append({"name": name, "handle": key.handle})
            else:
                self.known.append({"name": name, "module": found.path or "."})

    def search(self) -> None:
        """The symbols that the description is about: those that it names, then those of the target, then others."""
        module = self.target.module.path if self.target is not None and self.target.module.path == self.target.path else None
        found = {symbol: 1.0 for key in self.named if (symbol := self.snapshot.symbol(key)) is not None}
        if self.target is not None:
            inside = about(self.snapshot, self.description, self.names, module=module, inside=self.target.__contains__)
            found = _with_best(found, inside, RELATED)
        elsewhere = about(self.snapshot, self.description, self.names)
        found = _with_best(found, elsewhere, RELATED if self.target is None else RELATED // 2)
        self.fits = dict(list(found.items())[: RELATED * 3 // 2])
        self.related = list(self.fits)

    def connect(self) -> None:
        """The shortest ways between the first of them: over calls, else short ones over any edge."""
        ends = [symbol.key for symbol in self.related[:ENDS]]
        for start in ends:
            goals = [key for key in ends if key != start and not _is_part(key, start) and not _is_part(start, key)]
            found = _routes(self.snapshot, start, goals, LONGEST, ("calls",))
            missing = [goal for goal in goals if goal not in {route[-1].target for route in found}]
            self.routes += found + _routes(self.snapshot, start, missing, SHORT, ())
        self.routes.sort(key=len)

    def reach(self) -> None:
        """Who uses what is in the files that would change."""
        from tokenzip.impact import impact

        inside = [symbol.key for symbol in self._own()]
        if inside:
            self.impact = impact(self.snapshot, inside, DEPTH)

    def _own(self) -> list[Symbol]:
        """The related symbols of the target; without one, the best of them."""
        if self.target is None:
            return self.related[:ENDS]
        return [symbol for symbol in self.related if symbol.path in self.target] or self.related[:ENDS]

    def result(self) -> Result:
        files = self._files()
        reached = self.impact.reached if self.impact is not None else ()
        summary: Item = {"related": len(self.related), "named": len(self.known), "gaps": len(self.missing)}
        if self.target is not None:
            summary["module"] = around.area_item(self.snapshot, self.target)
        if self.impact is not None:
            summary["impact"] = around.impact_numbers(self.impact)
        result = Result(
            summary=summary,
            parts={
                "symbols": [around.symbol_item(self.snapshot, symbol.key) for symbol in self.related],
                "files": files,
                "gaps": self._gaps(),
                "named": self.known,
                "paths": [_route_item(route) for route in self.routes],
                "dependants": [around.user_item(each) for each in reached if not each.test],
                "tests": around.test_items(self.snapshot, self.impact),
            },
            complete=around.completeness(self.impact),
        )
        if not self.related:
            result.complete = {"why": "no symbol fits the description", "unresolved": 0}
        for symbol in self.related[:1]:
            result.calls.append({"tool": "query_symbol", "arguments": {"handle": symbol.handle, "include": ["source"]}})
        if files and self.snapshot.tree_file(files[0]["file"]) is not None:
            result.calls.append({"tool": "query_file", "arguments": {"path": files[0]["file"]}})
        return result

    def _files(self) -> list[Item]:
        """Files to change, those with most that is related first; then files to create, and the tests of both."""
        habits = TestHabits(self.snapshot)
        items: list[Item] = []
        for path in self._files_to_change():
            names = [symbol.name for symbol in self.related if symbol.path == path]
            items.append({"do": "change", "file": path, "symbols": names[:8]})
        home = items[0]["file"] if items else ""
        for name in self.missing:
            path = self._new_file(name, home)
            if path and path not in {item["file"] for item in items}:
                items.append({"do": "create", "file": path, "for": name})
        for item in list(items):
            test = habits.path_for(item["file"])
            if test is not None and test not in {each["file"] for each in items}:
                do = "change" if self.snapshot.tree_file(test) is not None else "create"
                items.append({"do": do, "file": test, "tests": item["file"]})
        return items

    def _files_to_change(self) -> list[str]:
        """The files whose symbols together fit best, in the target if there are some; then those that are named."""
        weights: dict[str, float] = {}
        for symbol in self._own() if self.target is not None else self.related:
            weights[symbol.path] = weights.get(symbol.path, 0.0) + self.fits[symbol]
        best = max(weights.values(), default=0.0)
        chosen = [path for path in weights if weights[path] >= best * SHARE_OF_BEST]
        chosen = sorted(chosen, key=lambda path: (-round(weights[path], 6), path))[:CHANGED]
        return list(dict.fromkeys([*chosen, *(key.path for key in self.named if not key.qualified)]))

    def _new_file(self, name: str, home: str) -> str:
        """The file that a name which stands for nothing yet is the path of; empty where it is no path."""
        if "/" in name or re.search(r"\.(?:py|[cm]?[jt]sx?|vue|svelte|go|rs|java|kt|sql)$", name):
            if "/" in name or not home:
                return name
            return posixpath.join(posixpath.dirname(home), name)
        return ""

    def _gaps(self) -> list[Item]:
        """Names with nothing behind them, each with the nearest that there are and where it may go."""
        items = []
        homes = [name for name in self.missing if "/" in name] or [symbol.path for symbol in self._own()[:1]]
        pool = {symbol.name: symbol.handle for symbol in reversed(self.related)}
        for name in self.missing:
            item: Item = {"name": name}
            near = difflib.get_close_matches(re.split(r"\.|::|/", name)[-1], pool, 3, 0.5)
            if near:
                item["near"] = [pool[each] for each in near]
            owners = self._owners(name)
            if owners:
                item["in"] = owners[0].handle if len(owners) == 1 else [owner.handle for owner in owners]
            elif "/" not in name and homes:
                item["in"] = homes[0]
            items.append(item)
        return items

    def _owners(self, name: str) -> list[Symbol]:
        """The classes that a dotted name may be a new member of."""
        owner = name.replace("::", ".").rpartition(".")[0]
        found = self.snapshot.named(owner) if owner and "/" not in name else ()
        return [symbol for symbol in found if symbol.kind not in ("import", "parameter")][: around.NEAR]


def _with_best(known: Mapping[Symbol, float], found: Mapping[Symbol, float], most: int) -> dict[Symbol, float]:
    """What is known, and the first of what was found besides."""
    fresh = [symbol for symbol in found if symbol not in known][:most]
    return {**known, **{symbol: found[symbol] for symbol in fresh}}


def _is_part(key: SymbolKey, whole: SymbolKey) -> bool:
    return key.path == whole.path and key.qualified.startswith(whole.qualified + ".")


def _routes(
    snapshot: Snapshot, start: SymbolKey, goals: Sequence[SymbolKey], longest: int, kinds: Sequence[str]
) -> list[list[Edge]]:
    """One of the shortest ways from a symbol to each of the others that it reaches, over edges of these kinds (all if none)."""
    arrived: dict[SymbolKey, tuple[SymbolKey, Edge] | None] = {start: None}
    frontier = [start]
    for _ in range(longest):
        fresh: dict[SymbolKey, tuple[SymbolKey, Edge]] = {}
        for key in frontier:
            for edge in walk.walk_out(snapshot, key):
                if edge.target.qualified and edge.target not in arrived and (not kinds or edge.kind in kinds):
                    fresh.setdefault(edge.target, (key, edge))
        arrived.update(fresh)
        frontier = sorted(fresh)
        if not frontier or len(arrived) > MOST_NODES:
            break
    return [_way(arrived, goal) for goal in goals if goal in arrived]


def _way(arrived: dict[SymbolKey, tuple[SymbolKey, Edge] | None], goal: SymbolKey) -> list[Edge]:
    edges: list[Edge] = []
    step = arrived[goal]
    while step is not None:
        edges.append(step[1])
        step = arrived[step[0]]
    return edges[::-1]


def _route_item(route: Sequence[Edge]) -> Item:
    return {
        "from": route[0].source.handle,
        "to": route[-1].target.handle,
        "distance": len(route),
        "steps": [f"{edge.kind} {edge.target.handle} at {edge.source.path}:{edge.line}" for edge in route],
    }


IMPLEMENT_FEATURE = Template(
    name="implement-feature",
    summary="Before a feature is built: related symbols, paths between them, files to change or create, names that are missing",
    inputs=(
        Input("description", "the feature, in words; names in it are looked up", required=True, is_text=True),
        Input("module", "where it is to live: a module, directory or file"),
    ),
    steps=(
        Step("name", "query_symbol for each name in the description", "named, gaps", ImplementFeature.name),
        Step(
            "search",
            "search_symbols(description) and of its first sentence, in the module first",
            "symbols",
            ImplementFeature.search,
        ),
        Step("connect", f"trace_path between the first {ENDS} symbols", "paths", ImplementFeature.connect),
        Step(
            "reach",
            f"get_impact_analysis(depth={DEPTH}) for the symbols of the module",
            "files, dependants, tests, summary.impact",
            ImplementFeature.reach,
        ),
    ),
    begin=ImplementFeature,
)
