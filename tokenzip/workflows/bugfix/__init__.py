"""bug-fix: from what is known of a failure to where its root may be, whom a change there reaches, and what to look at first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tokenzip import walk
from tokenzip.errors import UsageError
from tokenzip.items import one_line
from tokenzip.model import Module, Progress, Symbol, SymbolKey
from tokenzip.workflows.base import Input, Inputs, Result, Step, Template
from tokenzip.workflows.bugfix.answer import Findings
from tokenzip.workflows.bugfix.changes import COMMITS, EVENTS, Changes, judge_changes, look_back
from tokenzip.workflows.bugfix.judging import ASKED, HIGH, MEDIUM, Judge, Located
from tokenzip.workflows.places import Place, locate
from tokenzip.workflows.traces import Failure, Frame, Trace, parse_trace, parse_type

if TYPE_CHECKING:
    from tokenzip.impact import Impact
    from tokenzip.snapshot import Snapshot

RADIUS_OF = 3
"""Candidates of high confidence whose impact is looked at together; where there are none, that of the best one."""
DEPTH = 3
CHAIN = 8
"""Symbols whose history is looked at: candidates, then those of the frames, from where it was raised outwards."""
_LINE = re.compile(r"(.+?)(?::(\d{1,9}))?(?::\d{1,9})?")


class BugFix:
    """One run."""

    def __init__(self, snapshot: Snapshot, inputs: Inputs, progress: Progress) -> None:
        self.snapshot = snapshot
        self.inputs = inputs
        self.trace = Trace()
        self.located: Located = ()
        self.asked: list[Place] = [self._place()] if "file" in inputs or "line" in inputs else []
        self.given_symbol = self._symbol(inputs["symbol"]) if "symbol" in inputs else None
        self.judgement = Judge(snapshot)
        self.changes = Changes()
        self.impact: Impact | None = None
        self._progress = progress

    def _symbol(self, text: str) -> SymbolKey:
        found = walk.resolve(self.snapshot, text.strip())
        if isinstance(found, Module):
            raise UsageError(f"{text} is a module", hint="symbol= takes a symbol or file; a module is update-module's.")
        return found.key if isinstance(found, Symbol) else found

    def _place(self) -> Place:
        """``file`` alone, with ``line``, or as ``path:line``. Raises UsageError."""
        if "file" not in self.inputs:
            raise UsageError("line is given without file", hint="Give file=path line=N, or file=path:N.")
        found = _LINE.fullmatch(self.inputs["file"].strip())
        path, line = (found[1], found[2] or "") if found is not None else (self.inputs["file"], "")
        line = str(self.inputs.get("line", line)).strip()
        if line and not re.fullmatch(r"\d{1,9}", line):
            raise UsageError(f"{line!r} is no line number", hint="Give file=path line=N.")
        frame = Frame(path.replace("\\", "/"), int(line or 0), "", "text")
        place = locate(self.snapshot, [frame])[0]
        if place.is_here:
            return place
        return Place(
            frame, self._symbol(frame.file).path, None, "file", line=frame.line
        )  # or the error, with the nearest names

    # ---- the steps

    def read(self) -> None:
        """The text of trace and message as failures and frames."""
        trace = parse_trace(self.inputs.get("trace", ""))
        message = self.inputs.get("message", "")
        said = parse_trace(message)
        if not trace.failures and said.failures:
            trace = said
        if not trace.failures and not (trace.mentioned and not message):
            kind, rest = parse_type(one_line(message or self.inputs.get("trace", ""), 500))
            failures = (Failure(kind, rest, ()),) if kind or rest else ()
            trace = Trace(failures, trace.mentioned or said.mentioned)
        self.trace = trace

    def locate(self) -> None:
        """The places of all frames at this revision."""
        frames = [frame for failure in self.trace.failures for frame in failure.frames]
        found = iter(locate(self.snapshot, [*frames, *self.trace.mentioned]))
        self.located = [(failure, [next(found) for _ in failure.frames]) for failure in self.trace.failures]
        self.asked += [place for place in found if place.is_here or place.match == "missing"]

    def judge(self) -> None:
        """Points for what may be the root."""
        judge = self.judgement
        judge.judge_stacks(self.located)
        for place in self.asked:
            if not place.is_here:
                continue
            asked = "the place that was asked about" if "file" in self.inputs else "the place that is mentioned"
            points = HIGH if place.symbol is not None else MEDIUM if place.is_certain else MEDIUM - 1
            judge.of_place(place).add(points, asked)
            judge.judge_line(place)
        if self.given_symbol is not None:
            judge.of(self.given_symbol).add(ASKED, "the symbol that was asked about")
        judge.judge_messages(self.located)
        types = dict.fromkeys(failure.type for failure in self.trace.failures if failure.type)
        if "type" in self.inputs:
            types[self.inputs["type"].strip()] = None
        judge.judge_types(types, has_stack=any(place.is_here for _, places in self.located for place in places))

    def look_back(self) -> None:
        """The last changes of the candidates and of what else is on the stack."""
        judge = self.judgement
        ranked = [each.key for each in judge.ranked() if each.confidence != "low"]
        stack = [place.key for _, places in self.located for place in places if place.is_here and not judge.is_test(place.key)]
        self.changes = look_back(self.snapshot, list(dict.fromkeys([*ranked, *stack]))[:CHAIN], self._progress)
        judge_changes(judge, self.changes)

    def reach(self) -> None:
        """Who is reached if the best candidates change."""
        from tokenzip.impact import impact

        keys = [each.key for each in self.judgement.likely(RADIUS_OF)]
        if keys:
            self.impact = impact(self.snapshot, keys, DEPTH)

    def result(self) -> Result:
        likely = self.judgement.likely(RADIUS_OF)
        findings = Findings(
            self.snapshot, self.trace, self.located, self.asked, self.judgement, likely, self.changes, self.impact
        )
        return findings.result()


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
            f"get_git_history(limit={EVENTS}, commits={COMMITS}) for {CHAIN} symbols: candidates, then those of the frames",
            "changes, summary.changes",
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
