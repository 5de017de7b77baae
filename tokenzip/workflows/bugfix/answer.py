"""From what was found out about a failure to lists to act on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenzip import walk
from tokenzip.items import Item, one_line, signature_of
from tokenzip.workflows import around
from tokenzip.workflows.base import Result
from tokenzip.workflows.bugfix.changes import COMMITS, EVENTS, Changes
from tokenzip.workflows.bugfix.judging import Candidate, Judge, Located, steps
from tokenzip.workflows.places import Place
from tokenzip.workflows.traces import Failure, Trace

if TYPE_CHECKING:
    from tokenzip.impact import Impact
    from tokenzip.snapshot import Snapshot

SHOWN_FAILURES = 5
SHOWN_PACKAGES = 8
READ, RUN, CHECK = 4, 3, 2
"""Candidates, tests and direct users that the order of investigation names."""


@dataclass(slots=True)
class Findings:
    """Everything that the steps have found out."""

    snapshot: Snapshot
    trace: Trace
    located: Located
    asked: Sequence[Place]
    """Places that were given or mentioned beside the stacks."""
    judge: Judge
    likely: Sequence[Candidate]
    changes: Changes
    impact: Impact | None

    def result(self) -> Result:
        """The lists, their summary, and whether they are whole."""
        ranked = self.judge.ranked()
        reached = self.impact.reached if self.impact is not None else ()
        tests, changes = self._tests(), self.changes.items()
        return Result(
            summary=self._summary(),
            parts={
                "candidates": [self._candidate_item(each) for each in ranked],
                "order": self._order(ranked, changes, tests),
                "frames": list(self._frame_items()),
                "callers": [around.user_item(each) for each in reached if not each.test],
                "tests": tests,
                "changes": changes,
                "files": around.counted_by("file", [each.key.path for each in reached]),
                "modules": around.counted_by("module", around.modules_of(self.snapshot, [each.key.path for each in reached])),
            },
            complete=self._completeness(),
            calls=list(self._calls(ranked)),
        )

    def _calls(self, ranked: Sequence[Candidate]) -> Iterator[Item]:
        for candidate in ranked[:1]:
            if candidate.key.qualified:
                yield {"tool": "query_symbol", "arguments": {"handle": candidate.key.handle, "include": ["source"]}}
            else:
                yield {"tool": "query_file", "arguments": {"path": candidate.key.path}}
        if self.impact is not None and self.impact.reached:
            yield {"tool": "get_impact_analysis", "arguments": {"handles": [each.key.handle for each in self.likely]}}

    def _summary(self) -> Item:
        summary: Item = {}
        failures = self.trace.failures
        if failures:
            summary["failures"] = [_failure_item(failure) for failure in failures[:SHOWN_FAILURES]]
            if len(failures) > SHOWN_FAILURES:
                summary["more_failures"] = len(failures) - SHOWN_FAILURES
        if self.trace.others:
            summary["other_threads"] = self.trace.others
        if places := [place for _, each in self.located for place in each]:
            summary["frames"] = self._frame_numbers(places)
        if self.impact is not None:
            summary["impact"] = {"of": [each.key.handle for each in self.likely], **around.impact_numbers(self.impact)}
        if self.changes.symbols:
            summary["changes"] = {"symbols": self.changes.symbols, "newest_of_each": EVENTS, "commits": COMMITS}
        return summary

    def _frame_numbers(self, places: Sequence[Place]) -> Item:
        external = Counter(place.package for place in places if place.match == "external")
        numbers: Item = {"total": len(places), "here": sum(place.is_here for place in places), "external": external.total()}
        if external:
            numbers["packages"] = dict(sorted(external.items(), key=lambda pair: (-pair[1], pair[0]))[:SHOWN_PACKAGES])
        if missing := sum(place.match == "missing" for place in places):
            numbers["missing"] = missing
        if hidden := sum(failure.hidden for failure in self.trace.failures):
            numbers["hidden"] = hidden
        return numbers

    def _candidate_item(self, candidate: Candidate) -> Item:
        symbol = self.snapshot.symbol(candidate.key)
        item: Item = {"handle": candidate.key.handle, "confidence": candidate.confidence}
        if candidate.line:
            item["line"] = candidate.line
        if symbol is not None and candidate.confidence != "low":
            item["signature"] = one_line(signature_of(self.snapshot, symbol), 120)
        item["reasons"] = [*candidate.reasons, *candidate.doubts]
        return item

    def _frame_items(self) -> Iterator[Item]:
        """The frames in this repository, from where it was raised outwards, each once; and those of which that is not sure.

        After them the places that were asked about, if something of them does not agree.
        """
        seen: set[str] = set()
        for number, (_, places) in enumerate(self.located):
            for place in places:
                item = _frame_item(place)
                if item and (mark := repr(item)) not in seen:
                    seen.add(mark)
                    yield {**item, "failure": number} if len(self.located) > 1 else item
        for place in self.asked:
            item = _frame_item(place) if place.note else {}
            if item and (mark := repr(item)) not in seen:
                seen.add(mark)
                yield item

    def _tests(self) -> list[Item]:
        """Tests on the stack first, then those that reach a candidate, the nearest first."""
        items: dict[str, Item] = {}
        for place in (place for _, places in self.located for place in places):
            is_class = place.symbol is not None and place.symbol.kind == "class"
            if place.is_here and self.judge.is_test(place.key) and not is_class:
                handle = place.key.handle
                items.setdefault(handle, {"handle": handle, "line": place.line or place.frame.line, "why": "on the stack"})
        for each in self.impact.tests if self.impact is not None else ():
            if around.is_run(self.snapshot, each.key):
                item: Item = {"handle": each.handle, **({"line": each.line} if each.line else {})}
                items.setdefault(each.handle, {**item, "distance": each.distance, "via": each.path[0].target.handle})
        return list(items.values())

    def _order(self, ranked: Sequence[Candidate], changes: Sequence[Item], tests: Sequence[Item]) -> list[Item]:
        """What to look at, one after the other."""
        order: list[Item] = []
        told: set[str] = set()
        for candidate in [each for each in ranked if each.confidence != "low"][:READ] or ranked[:2]:
            handle = candidate.key.handle
            order.append({"do": "read", "handle": handle, "line": candidate.line, "why": candidate.reasons[0]})
            own = (change for change in changes if change["handle"] == handle and change.get("recent"))
            change = next((change for change in own if change["commit"] not in told), None)
            if change is not None:
                told.add(change["commit"])
                why = f"changed its {change['change']}"
                order.append({"do": "compare", "commit": change["commit"], "handle": handle, "why": why})
        for test in tests[:RUN]:
            why = test.get("why") or f"reaches it in {steps(test['distance'])}"
            order.append({"do": "run", "handle": test["handle"], "why": why})
        read = {step["handle"] for step in order}
        users = [each for each in (self.impact.reached if self.impact is not None else ()) if not each.test]
        for user in [each for each in users if each.distance == 1 and each.handle not in read][:CHECK]:
            order.append({"do": "check", "handle": user.handle, "line": user.path[0].line, "why": "uses it directly"})
        return [{"step": number, **step} for number, step in enumerate(order, 1)]

    def _completeness(self) -> bool | Item:
        whole = around.completeness(self.impact)
        found: Item = {} if isinstance(whole, bool) else whole
        reasons = [f"impact: {found['why']}"] if found else []
        places = [*self.asked, *(place for _, places in self.located for place in places)]
        for matches, reason in _DOUBTS:
            if any(place.match in matches for place in places):
                reasons.append(reason)
        if self.changes.symbols and self.snapshot.git.is_shallow:
            reasons.append("history ends early in this shallow clone")
        if not self.judge.candidates:
            reasons.append("nothing of this repository was found in the inputs")
        return {"unresolved": 0, **found, "why": "; ".join(reasons)} if reasons else True


_DOUBTS = (
    (("ambiguous",), "some frames fit several files"),
    (("missing",), "some frames are in files that are not at this revision"),
    (("beyond", "changed", "moved", "name", "other"), "some lines and functions of the frames do not agree with this revision"),
)
"""How frames may match, and what an answer says of it."""


def _failure_item(failure: Failure) -> Item:
    values = (("type", failure.type), ("message", one_line(failure.message, 200)), ("relation", failure.relation))
    return {name: value for name, value in values if value}


def _frame_item(place: Place) -> Item:
    """Where a frame lies, and what does not agree; nothing for one outside of the repository."""
    if place.match == "external":
        return {}
    if place.match == "missing":
        return {"file": place.candidates[0], "match": place.match, "line": place.frame.line, "note": place.note}
    if place.match == "ambiguous":
        item: Item = {"candidates": list(place.candidates), "match": place.match, "line": place.frame.line}
    else:
        item = {"handle": place.key.handle, "match": place.match, "line": place.frame.line}
    if place.line not in (0, place.frame.line):
        item["now"] = place.line
    function = place.frame.function
    if function.rpartition(".")[2] not in ("", walk.plain(place.key.qualified).rpartition(".")[2]):
        item["function"] = function
    if place.note:
        item["note"] = place.note
    return item
