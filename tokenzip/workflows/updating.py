"""update-module: what in a module a change is about, who is reached by it, and in which order to go about it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tokenzip import walk
from tokenzip.items import Item
from tokenzip.model import Progress, Symbol, SymbolKey
from tokenzip.workflows import around
from tokenzip.workflows.base import Input, Inputs, Result, Step, Template

if TYPE_CHECKING:
    from tokenzip.impact import Impact
    from tokenzip.snapshot import Snapshot

AFFECTED = 12
DEPTH = 2


class UpdateModule:
    """One run."""

    def __init__(self, snapshot: Snapshot, inputs: Inputs, progress: Progress) -> None:
        self.snapshot = snapshot
        self.area = around.area(snapshot, inputs["module"])
        self.description = around.known_words(inputs["description"], "description") if "description" in inputs else ""
        self.symbols: list[Symbol] = []
        self.impact: Impact | None = None
        self.dependencies: list[Item] = []
        self.packages: list[str] = []

    def search(self) -> None:
        """The symbols of the module that the description is about; without one, all that it offers."""
        if self.description:
            self.symbols = around.searched(self.snapshot, self.description, AFFECTED, inside=self.area)
        else:
            self.symbols = around.shared_symbols(self.snapshot, self.area.paths)

    def reach(self) -> None:
        """Who uses them."""
        from tokenzip.impact import impact

        if self.symbols:
            self.impact = impact(self.snapshot, [symbol.key for symbol in self.symbols], DEPTH)

    def depend(self) -> None:
        """What they use, in the repository and outside of it."""
        counts: Counter[SymbolKey] = Counter()
        for symbol in self.symbols:
            for node in walk.closure(self.snapshot, symbol.key, 1, (), backward=False):
                if node.key not in {each.key for each in self.symbols}:
                    counts[node.key] += 1
        ordered = sorted(counts, key=lambda key: (key.path in self.area, -counts[key], key))
        self.dependencies = [
            {"handle": key.handle, "used_by": counts[key], **({} if key.path in self.area else {"outside": True})}
            for key in ordered
        ]
        self.packages = around.packages_of(self.snapshot, {symbol.path for symbol in self.symbols})

    def result(self) -> Result:
        reached = self.impact.reached if self.impact is not None else ()
        tests = around.test_items(self.snapshot, self.impact)
        affected = {symbol.path for symbol in self.symbols}
        summary: Item = {"module": around.area_item(self.snapshot, self.area), "affected": len(self.symbols)}
        if self.impact is not None:
            summary["impact"] = around.impact_numbers(self.impact)
        if self.packages:
            summary["packages"] = self.packages[:20]
        users = [each for each in reached if not each.test]
        result = Result(
            summary=summary,
            parts={
                "symbols": [around.symbol_item(self.snapshot, symbol.key) for symbol in self.symbols],
                "order": self._order(affected, [each.key.path for each in users], tests),
                "dependants": [around.user_item(each, inside=self.area.paths) for each in users],
                "dependencies": self.dependencies,
                "tests": tests,
                "files": around.counted_by("file", [symbol.path for symbol in self.symbols]),
                "modules": around.counted_by("module", around.modules_of(self.snapshot, [each.key.path for each in reached])),
            },
            complete=around.completeness(self.impact),
        )
        if len(self.symbols) == around.MOST_SHARED:
            result.complete = {
                "why": f"only the first {around.MOST_SHARED} symbols of the module were looked at",
                "unresolved": 0,
            }
        if not self.symbols:
            result.complete = {"why": "no symbol of the module fits the description", "unresolved": 0}
        for symbol in self.symbols[:1]:
            result.calls.append({"tool": "query_symbol", "arguments": {"handle": symbol.handle, "include": ["source"]}})
        return result

    def _order(self, affected: set[str], users: list[str], tests: list[Item]) -> list[Item]:
        """What is used before who uses it, then the code around it, then tests."""
        names = {path: [symbol.name for symbol in self.symbols if symbol.path == path] for path in affected}
        steps: list[Item] = []
        for path, uses in around.dependency_first(self.snapshot, affected):
            step: Item = {"do": "change", "file": path, "symbols": names[path][:8]}
            steps.append({**step, "after": uses} if uses else step)
        counts = Counter(path for path in users if path not in affected)
        for path in sorted(counts, key=lambda path: (path not in self.area, -counts[path], path)):
            steps.append({"do": "check", "file": path, "uses": counts[path]})
        for path in dict.fromkeys(test["handle"].partition("::")[0] for test in tests):
            steps.append({"do": "run", "file": path})
        return [{"step": number, **step} for number, step in enumerate(steps, 1)]


UPDATE_MODULE = Template(
    name="update-module",
    summary="Before a module is changed: the symbols it is about, who uses them, what they use, tests, order of work",
    inputs=(
        Input("module", "a module, or a directory or file of one", required=True),
        Input("description", "what is to change, in words; without it, all that the module offers", is_text=True),
    ),
    steps=(
        Step(
            "search", f"search_symbols(description) in the module, the best {AFFECTED}", "symbols, files", UpdateModule.search
        ),
        Step(
            "reach",
            f"get_impact_analysis(depth={DEPTH}) for these symbols",
            "dependants, tests, modules, summary.impact",
            UpdateModule.reach,
        ),
        Step("depend", "get_dependencies of these symbols", "dependencies, summary.packages, order", UpdateModule.depend),
    ),
    begin=UpdateModule,
)
