"""bug-fix: from what is known of a failure to where its root may be, whom a change there reaches, and what to look at first."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tokenzip import walk
from tokenzip.errors import TokenzipError, UsageError
from tokenzip.items import Item, completeness, one_line, signature_of
from tokenzip.model import Module, Progress, Symbol, SymbolKey
from tokenzip.workflows.around import is_run
from tokenzip.workflows.base import Input, Inputs, Result, Step, Template
from tokenzip.workflows.places import Place, enclosing, locate
from tokenzip.workflows.traces import Failure, Frame, Trace, parse_trace, parse_type

if TYPE_CHECKING:
    from tokenzip.history import Event
    from tokenzip.impact import Impact, Reached
    from tokenzip.snapshot import Snapshot

HIGH, MEDIUM = 6, 3
"""Points from which on a candidate has that confidence; docs/workflows.md says what gives how many."""
RADIUS_OF = 3
"""Candidates of high confidence whose impact is looked at together; where there are none, that of the best one."""
DEPTH = 3
CHAIN = 8
"""Symbols of the chain whose history is looked at, from where it was raised outwards."""
EVENTS, COMMITS, RECENT = 3, 100, 50
"""Changes of one symbol that are listed, commits of its file that are looked at for them, and commits before the state within
which a change counts as recent."""
RAISING, OUTWARDS = 6, (3, 2, 1)
CALLED, NAMED, SAYS, TYPE, ASKED, CHANGED, UNCOMMITTED = 3, 2, 4, 1, 4, 1, 3
_SEARCHED = 30
"""Files, the best for the words of a message, that are looked through for its text."""
_NAMES = 12
_QUOTED = re.compile(r"""['"`‘“]([A-Za-z_$][\w$.]{1,80})['"`’”]|\b([A-Za-z_$][\w$.]{1,80})\(\)""")
_DYNAMIC = re.compile(r"""["'`‘“][^"'`’”]{0,200}["'`’”]|\d+|[{}%<>\[\]()]|:\s""")
_SHORTEST = 8
"""Characters of a part of a message that can tell where it comes from."""
_BOUND_TO_NEXT = frozenset({"cause", "context", "member", "wrapped"})


@dataclass(slots=True)
class Candidate:
    """Where the root may be."""

    key: SymbolKey
    line: int
    points: int = 0
    reasons: list[str] = field(default_factory=list)
    is_uncertain: bool = False
    """Whether it was found by name where lines do not agree: then nothing makes it certain."""

    def add(self, points: int, reason: str) -> None:
        if reason not in self.reasons:
            self.points += points
            self.reasons.append(reason)

    @property
    def weight(self) -> int:
        """Its points; never enough for high confidence if it is uncertain."""
        return min(self.points, HIGH - 1) if self.is_uncertain else self.points

    @property
    def confidence(self) -> str:
        return "high" if self.weight >= HIGH else "medium" if self.weight >= MEDIUM else "low"


class BugFix:
    """One run."""

    def __init__(self, snapshot: Snapshot, inputs: Inputs, progress: Progress) -> None:
        self.snapshot = snapshot
        self.inputs = inputs
        self._progress = progress
        self.trace = Trace()
        self.places: list[list[Place]] = []
        """Of the frames of each failure."""
        self.asked: list[Place] = []
        self.candidates: dict[SymbolKey, Candidate] = {}
        self.events: list[tuple[SymbolKey, Event]] = []
        self.impact: Impact | None = None
        self._age: dict[str, int] = {}
        self.given_symbol = self._symbol(inputs["symbol"]) if "symbol" in inputs else None
        self._check_place()

    # ---- what is asked about

    def _symbol(self, text: str) -> SymbolKey:
        found = walk.resolve(self.snapshot, text.strip())
        if isinstance(found, Module):
            raise UsageError(f"{text} is a module", hint="symbol= takes a symbol or file; a module is update-module's.")
        return found.key if isinstance(found, Symbol) else found

    def _check_place(self) -> None:
        """``file`` alone, with ``line``, or as ``path:line``."""
        if "line" in self.inputs and "file" not in self.inputs:
            raise UsageError("line is given without file", hint="Give file=path line=N, or file=path:N.")
        if "file" not in self.inputs:
            return
        path, _, line = self.inputs["file"].strip().partition(":")
        line = str(self.inputs.get("line", line.partition(":")[0]))
        if line and not line.strip().isdecimal():
            raise UsageError(f"{line!r} is no line number", hint="Give file=path line=N.")
        frame = Frame(path.replace("\\", "/"), int(line or 0), "", "text")
        place = locate(self.snapshot, [frame])[0]
        if not place.is_here:
            self._symbol(path)  # raises with the nearest names, where there is no such file
            place = Place(frame, self._symbol(path).path, None, "file")
        self.asked.append(place)

    # ---- the steps

    def read(self) -> None:
        """The text of trace and message as failures and frames."""
        trace = parse_trace(self.inputs.get("trace", ""))
        message = self.inputs.get("message", "")
        if message:
            said = parse_trace(message)
            if said.failures and not trace.failures:
                trace = said
            elif not trace.failures:
                kind, rest = parse_type(message)
                trace = Trace((Failure(kind, rest[:500], ()),), trace.mentioned or said.mentioned)
        if not trace.failures and self.inputs.get("trace") and not trace.mentioned:
            text = one_line(self.inputs["trace"], 500)
            trace = Trace((Failure(*parse_type(text), ()),))
        self.trace = trace

    def locate(self) -> None:
        """The places of all frames at this revision."""
        frames = [frame for failure in self.trace.failures for frame in failure.frames]
        found = iter(locate(self.snapshot, [*frames, *self.trace.mentioned]))
        self.places = [[next(found) for _ in failure.frames] for failure in self.trace.failures]
        self.asked += [place for place in found if place.is_here]

    def judge(self) -> None:
        """Points for what may be the root."""
        for root, places in self._roots():
            self._judge_chain(root, places)
        for place in self.asked:
            asked = "the place that was asked about" if "file" in self.inputs else "the place that is mentioned"
            self._candidate(place).add(HIGH if place.symbol is not None else MEDIUM, asked)
            self._judge_line(place, set())
        if self.given_symbol is not None:
            self._candidate_of(self.given_symbol).add(ASKED, "the symbol that was asked about")
        self._judge_messages()
        self._judge_types()

    def look_back(self) -> None:
        """The last changes of the symbols on the chain and of the candidates."""
        commit = self.snapshot.at.commit
        if commit is not None:
            try:
                recent = self.snapshot.git.log(commit, limit=RECENT)
                self._age = {each.id: age for age, each in enumerate(recent)}
            except TokenzipError:
                self._age = {}
        for key in self._chain():
            self._look_back_at(key)

    def reach(self) -> None:
        """Who is reached if the best candidates change."""
        from tokenzip.impact import impact

        keys = [each.key for each in self._radius_of()]
        if keys:
            self.impact = impact(self.snapshot, keys, DEPTH)

    # ---- judging

    def _roots(self) -> Iterator[tuple[Failure, list[Place]]]:
        """The failures that no other failure of the text has caused, with their places: each may have a root of its own."""
        failures = self.trace.failures
        for place, failure in enumerate(failures):
            before = failures[place - 1].relation if place else ""
            is_member = before == "member" and failure.relation == "member"
            if before not in _BOUND_TO_NEXT or is_member:
                yield failure, self.places[place]
        for place, failure in enumerate(failures):
            if place and failures[place - 1].relation in _BOUND_TO_NEXT and failures[place - 1].relation != "member":
                here = next((each for each in self.places[place] if each.is_here), None)
                if here is not None and not self._is_test(here.key):
                    self._candidate(here).add(NAMED, f"raised {_type_of(failure)} after that")

    def _judge_chain(self, failure: Failure, places: Sequence[Place]) -> None:
        """The frames of one failure, from where it was raised outwards."""
        here = [(depth, place) for depth, place in enumerate(places) if place.is_here]
        product = [(depth, place) for depth, place in here if not self._is_test(place.key)]
        seen: set[SymbolKey] = {place.key for _, place in here}
        for rank, (depth, place) in enumerate(_first_of_each(product)):
            candidate = self._candidate(place)
            if rank == 0:
                candidate.add(RAISING, _raised_reason(failure, places, depth))
            else:
                candidate.add(OUTWARDS[min(rank, len(OUTWARDS)) - 1], f"called it, {_steps(rank)} outwards")
        if here:
            self._judge_line(here[0][1], seen)

    def _judge_line(self, place: Place, seen: set[SymbolKey]) -> None:
        """What is called on the line that failed, if a test failed there or nothing was raised below."""
        if place.symbol is None or not place.is_certain or not place.frame.line:
            return
        for edge in self.snapshot.edges_from(place.symbol.key):
            if edge.line == place.frame.line and edge.kind == "calls" and edge.target not in seen:
                target = self.snapshot.symbol(edge.target)
                is_made = target is not None and target.kind == "class"
                what = "made" if is_made else "called"
                points = CALLED - is_made
                self._candidate_of(edge.target).add(points, f"{what} on the line that failed, {place.path}:{edge.line}")

    def _judge_messages(self) -> None:
        """What messages name, and where their text stands."""
        for failure, places in list(self._pairs())[:CHAIN]:
            if not failure.message:
                continue
            for key in self._named_in(failure.message):
                self._candidate_of(key).add(NAMED, "named in the message")
            if any(place.is_here for place in places):
                continue  # the stack says it better than the text
            for key, line in self._saying(failure.message):
                self._candidate_of(key, line).add(SAYS, f"the text of the message stands here, line {line}")

    def _named_in(self, message: str) -> Iterator[SymbolKey]:
        names = dict.fromkeys(name.strip(".") for found in _QUOTED.finditer(message) for name in found.groups() if name)
        for name in list(names)[:_NAMES]:
            symbols = [symbol for symbol in self.snapshot.named(name) if not self._is_test(symbol.key)]
            if 0 < len(symbols) <= 3:
                yield from (symbol.key for symbol in symbols if symbol.kind not in ("parameter", "import", "re_export"))

    def _saying(self, message: str) -> Iterator[tuple[SymbolKey, int]]:
        """Where the longest constant part of a message stands in a source, if that is in few places."""
        parts = [part.strip(" .,;!'\"") for part in _DYNAMIC.split(message.partition("\n")[0])]
        text = max(parts, key=len, default="")
        if len(text) < _SHORTEST or " " not in text:
            return
        from tokenzip.search import search_files

        wanted = text.encode("utf-8", "surrogatepass")
        found: list[tuple[SymbolKey, int]] = []
        for hit in search_files(self.snapshot, text, limit=_SEARCHED):
            if self._is_test(SymbolKey(hit.path)):
                continue
            source = self.snapshot.source(hit.path)
            at = source.find(wanted)
            if at >= 0:
                line = source.count(b"\n", 0, at) + 1
                symbol = enclosing(self.snapshot, hit.path, line)
                found.append((symbol.key if symbol is not None else SymbolKey(hit.path), line))
        if len(found) <= 3:
            yield from found

    def _judge_types(self) -> None:
        """Errors that are classes of this repository: who raises them, where no trace says it."""
        types = dict.fromkeys(failure.type for failure in self.trace.failures if failure.type)
        if "type" in self.inputs:
            types[self.inputs["type"].strip()] = None
        knows_frames = any(place.is_here for places in self.places for place in places)
        for name in list(types)[:CHAIN]:
            found = [symbol for symbol in self.snapshot.named(_last(name)) if symbol.kind == "class"]
            if len(found) != 1:
                continue
            self._candidate_of(found[0].key).add(TYPE, "the type of the error")
            users = [] if knows_frames else walk.incoming(self.snapshot, found[0].key)
            for edge in users:
                if edge.kind == "calls" and edge.source.qualified and not self._is_test(edge.source):
                    self._candidate_of(edge.source, edge.line).add(CALLED, f"makes a {_last(name)}, line {edge.line}")

    def _candidate(self, place: Place) -> Candidate:
        candidate = self._candidate_of(place.key, place.frame.line if place.is_certain else 0)
        candidate.is_uncertain = candidate.is_uncertain or not place.is_certain
        return candidate

    def _candidate_of(self, key: SymbolKey, line: int = 0) -> Candidate:
        known = self.candidates.get(key)
        if known is None:
            symbol = self.snapshot.symbol(key)
            known = self.candidates[key] = Candidate(key, line or (symbol.line if symbol is not None else 0))
        return known

    def _is_test(self, key: SymbolKey) -> bool:
        return walk.is_test(self.snapshot, key)

    # ---- history

    def _chain(self) -> list[SymbolKey]:
        """The symbols whose history tells something: candidates and frames, the best first; files that have no symbols."""
        ranked = [each.key for each in self._ranked() if each.confidence != "low"]
        frames = [
            place.key for _, places in self._pairs() for place in places if place.is_here and not self._is_test(place.key)
        ]
        return list(dict.fromkeys([*ranked, *frames]))[:CHAIN]

    def _pairs(self) -> Iterator[tuple[Failure, list[Place]]]:
        yield from zip(self.trace.failures, self.places, strict=True)

    def _look_back_at(self, key: SymbolKey) -> None:
        from tokenzip.history import symbol_log

        try:
            log = symbol_log(self.snapshot, key, most=COMMITS, progress=self._progress)
            for number, event in enumerate(log):
                if number == EVENTS:
                    break
                self.events.append((key, event))
                self._judge_event(key, event)
        except UsageError:
            return

    def _judge_event(self, key: SymbolKey, event: Event) -> None:
        candidate = self.candidates.get(key)
        if candidate is None or event.change.aspects == ("docs",):
            return
        if event.commit is None:
            candidate.add(UNCOMMITTED, "changed and not committed yet")
        elif (age := self._age.get(event.commit.id)) is not None and event.commit.parents:
            candidate.add(CHANGED, f"changed in {event.commit.id[:12]}, {_commits(age)} before this state")

    # ---- the answer

    def _ranked(self) -> list[Candidate]:
        """The best first; of equal ones those nearer to where it was raised, tests last."""
        order = {key: place for place, key in enumerate(self.candidates)}
        return sorted(self.candidates.values(), key=lambda each: (self._is_test(each.key), -each.weight, order[each.key]))

    def _radius_of(self) -> list[Candidate]:
        """The candidates whose change is thought through: those of high confidence, else the best one."""
        ranked = [each for each in self._ranked() if self.snapshot.tree_file(each.key.path) is not None]
        likely = [each for each in ranked if each.confidence == "high" and not self._is_test(each.key)]
        return likely[:RADIUS_OF] or ranked[:1]

    def result(self) -> Result:
        ranked = self._ranked()
        reached = self.impact.reached if self.impact is not None else ()
        tests = self._tests()
        changes = self._change_items()
        result = Result(
            summary=self._summary(),
            parts={
                "candidates": [self._candidate_item(each) for each in ranked],
                "order": list(self._order(ranked, changes, tests)),
                "frames": list(self._frame_items()),
                "callers": [_caller_item(each) for each in reached if not each.test],
                "tests": tests,
                "changes": changes,
                "files": _counted("file", Counter(each.key.path for each in reached)),
                "modules": _counted("module", Counter(self._module(each.key.path) for each in reached)),
            },
        )
        result.complete = self._completeness()
        if ranked:
            best = ranked[0].key
            if best.qualified:
                result.calls.append({"tool": "query_symbol", "arguments": {"handle": best.handle, "include": ["source"]}})
            else:
                result.calls.append({"tool": "query_file", "arguments": {"path": best.path}})
        if reached:
            handles = [each.key.handle for each in self._radius_of()]
            result.calls.append({"tool": "get_impact_analysis", "arguments": {"handles": handles}})
        return result

    def _module(self, path: str) -> str:
        return self.snapshot.modules().module_of(path).path or "."

    def _summary(self) -> Item:
        summary: Item = {}
        if self.trace.failures:
            summary["failures"] = [_failure_item(failure) for failure in self.trace.failures[:5]]
            if len(self.trace.failures) > 5:
                summary["more_failures"] = len(self.trace.failures) - 5
        if self.trace.others:
            summary["other_threads"] = self.trace.others
        places = [place for _, each in self._pairs() for place in each]
        if places:
            external = Counter(place.package for place in places if place.match == "external")
            frames: Item = {"total": len(places), "here": sum(place.is_here for place in places), "external": external.total()}
            frames["packages"] = dict(sorted(external.items(), key=lambda pair: (-pair[1], pair[0]))[:8])
            hidden = sum(failure.hidden for failure in self.trace.failures)
            summary["frames"] = {**frames, "hidden": hidden} if hidden else frames
        if self.impact is not None:
            direct = sum(each.distance == 1 for each in self.impact.reached)
            summary["impact"] = {
                "of": [key.handle for key in (each.key for each in self._radius_of())],
                "reached": len(self.impact.reached),
                "direct": direct,
                "transitive": len(self.impact.reached) - direct,
                "files": len(self.impact.files),
                "modules": len(self.impact.modules),
                "tests": len(self.impact.tests),
                "depth": DEPTH,
            }
        return summary

    def _candidate_item(self, candidate: Candidate) -> Item:
        symbol = self.snapshot.symbol(candidate.key)
        item: Item = {"handle": candidate.key.handle, "confidence": candidate.confidence}
        if candidate.line:
            item["line"] = candidate.line
        if symbol is not None and candidate.confidence != "low":
            item["signature"] = one_line(signature_of(self.snapshot, symbol), 120)
        item["reasons"] = list(candidate.reasons)
        return item

    def _frame_items(self) -> Iterator[Item]:
        """The frames in this repository, from where it was raised outwards, each once; and those that fit several files."""
        seen: set[tuple[str, int, str]] = set()
        for number, (_, places) in enumerate(self._pairs()):
            for place in places:
                if place.match == "external":
                    continue
                if place.match == "ambiguous":
                    item: Item = {"match": place.match, "candidates": list(place.candidates)}
                else:
                    item = {"handle": place.key.handle, "match": place.match}
                item["line"] = place.frame.line
                if (
                    place.frame.function
                    and place.frame.function.rpartition(".")[2] != walk.plain(place.key.qualified).rpartition(".")[2]
                ):
                    item["function"] = place.frame.function
                if place.note:
                    item["note"] = place.note
                if len(self.places) > 1:
                    item["failure"] = number
                mark = (place.key.handle, place.frame.line, place.note)
                if mark not in seen:
                    seen.add(mark)
                    yield item

    def _tests(self) -> list[Item]:
        """Failing tests of the trace first, then those that reach a candidate, the nearest first."""
        items: dict[str, Item] = {}
        for _, places in self._pairs():
            for place in places:
                if place.is_here and self._is_test(place.key) and (place.symbol is None or place.symbol.kind != "class"):
                    items.setdefault(
                        place.key.handle, {"handle": place.key.handle, "line": place.frame.line, "why": "on the stack"}
                    )
        for each in self.impact.tests if self.impact is not None else ():
            if not is_run(self.snapshot, each.key):
                continue
            item: Item = {"handle": each.handle}
            if each.line:
                item["line"] = each.line
            items.setdefault(each.handle, {**item, "distance": each.distance, "via": each.path[0].target.handle})
        return list(items.values())

    def _change_items(self) -> list[Item]:
        """What became of the chain lately, the newest first."""
        ordered = sorted(
            enumerate(self.events), key=lambda pair: (pair[1][1].commit is not None, -_time_of(pair[1][1]), pair[0])
        )
        return [_event_item(key, event, self._age) for _, (key, event) in ordered]

    def _order(self, ranked: Sequence[Candidate], changes: Sequence[Item], tests: Sequence[Item]) -> Iterator[Item]:
        """What to look at, one after the other."""
        steps: list[Item] = []
        told: set[str] = set()
        for candidate in [each for each in ranked if each.confidence != "low"][:4] or list(ranked[:2]):
            handle = candidate.key.handle
            steps.append({"do": "read", "handle": handle, "line": candidate.line, "why": candidate.reasons[0]})
            for change in changes:
                if change["handle"] == handle and change.get("recent") and change["commit"] not in told:
                    told.add(change["commit"])
                    steps.append(
                        {
                            "do": "compare",
                            "commit": change["commit"],
                            "handle": handle,
                            "why": f"changed its {change['change']}",
                        }
                    )
                    break
        for test in tests[:3]:
            steps.append(
                {"do": "run", "handle": test["handle"], "why": test.get("why") or f"reaches it in {_steps(test['distance'])}"}
            )
        for callers in self.impact.reached[:2] if self.impact is not None else ():
            if not callers.test and callers.handle not in {step["handle"] for step in steps}:
                steps.append({"do": "check", "handle": callers.handle, "line": callers.path[0].line, "why": "uses it directly"})
        yield from ({"step": number, **step} for number, step in enumerate(steps, 1))

    def _completeness(self) -> bool | Item:
        reasons = []
        unresolved = 0
        places: list[str] = []
        if self.impact is not None and (whole := self.impact.completeness()) is not True:
            assert isinstance(whole, dict)
            reasons.append(f"impact: {whole['why']}")
            unresolved = whole["unresolved"]
            places = whole.get("places", [])
        if any(place.match == "ambiguous" for each in self.places for place in each):
            reasons.append("some frames fit several files")
        if not self.candidates:
            reasons.append("nothing of this repository was found in the inputs")
        if not reasons:
            return True
        found = completeness(walk.Open(unresolved, tuple(places)), "; ".join(reasons))
        return found if isinstance(found, dict) else {"why": "; ".join(reasons), "unresolved": 0}


def _first_of_each(places: Iterable[tuple[int, Place]]) -> Iterator[tuple[int, Place]]:
    """Each symbol once, where the stack first meets it: recursion is no evidence."""
    seen: set[SymbolKey] = set()
    for depth, place in places:
        if place.key not in seen:
            seen.add(place.key)
            yield depth, place


def _raised_reason(failure: Failure, places: Sequence[Place], depth: int) -> str:
    kind = _type_of(failure)
    inner = places[:depth]
    if not inner:
        return f"raised {kind}"
    external = [place for place in inner if not place.is_here]
    if not external:
        return f"the last code before the test that raised {kind}"
    packages = ", ".join(dict.fromkeys(place.package for place in external if place.package))
    return f"the last frame of this repository before {kind} was raised in {packages or 'code outside of it'}"


def _type_of(failure: Failure) -> str:
    return _last(failure.type) or "the error"


def _last(name: str) -> str:
    return re.split(r"\.|::|\$", name)[-1]


def _steps(count: int) -> str:
    return f"{count} step{'s' * (count != 1)}"


def _commits(age: int) -> str:
    return f"{age} commit{'s' * (age != 1)}"


def _failure_item(failure: Failure) -> Item:
    item: Item = {}
    for name, value in (("type", failure.type), ("message", one_line(failure.message, 200)), ("relation", failure.relation)):
        if value:
            item[name] = value
    return item


def _counted(what: str, counts: Counter[str]) -> list[Item]:
    return [{what: name, "reached": count} for name, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))]


def _caller_item(reached: Reached) -> Item:
    item: Item = {"handle": reached.handle, "distance": reached.distance}
    first = reached.path[0]
    item["edge"] = {"kind": reached.via, "line": first.line}
    item["via"] = first.target.handle
    return item


def _time_of(event: Event) -> int:
    return event.commit.time if event.commit is not None else 0


def _event_item(key: SymbolKey, event: Event, ages: dict[str, int]) -> Item:
    commit = event.commit
    item: Item = {"handle": key.handle, "commit": commit.id[:12] if commit is not None else None}
    if commit is not None:
        item["date"] = time.strftime("%Y-%m-%d", time.gmtime(commit.time))
        item["subject"] = one_line(commit.subject, 80)
    item["change"] = ", ".join(event.change.aspects)
    if commit is None or (commit.id in ages and commit.parents):
        item["recent"] = True
    return item


BUG_FIX = Template(
    name="bug-fix",
    summary="From an error, stack trace, place or symbol: where the root may be, whom a fix reaches, what to look at first",
    inputs=(
        Input("trace", "the stack trace as pasted, with whatever is around it", is_text=True),
        Input("message", "the error message", is_text=True),
        Input("file", "where it shows: a path, or path:line"),
        Input("line", "the line in file"),
        Input("symbol", "a handle: what is wrong there"),
        Input("type", "the type of the error"),
    ),
    steps=(
        Step(
            "read",
            "nothing of the graph: the text, as Python, Node, Go, Rust, Java and Kotlin write traces",
            "summary.failures",
            BugFix.read,
        ),
        Step(
            "locate",
            "query_file for each frame: the file by the end of its path, the symbol by the line, or else by name",
            "frames, summary.frames",
            BugFix.locate,
        ),
        Step(
            "judge",
            "get_dependencies of the line that failed; search_symbols for what the message names and says",
            "candidates",
            BugFix.judge,
        ),
        Step(
            "look_back",
            f"get_git_history(limit={EVENTS}, commits={COMMITS}) for the first {CHAIN} symbols of the chain",
            "changes",
            BugFix.look_back,
        ),
        Step(
            "reach",
            f"get_impact_analysis(depth={DEPTH}) for the first {RADIUS_OF} candidates of high confidence, else for the best",
            "callers, tests, files, modules, order, summary.impact",
            BugFix.reach,
        ),
    ),
    begin=BugFix,
    needs_any=True,
)
