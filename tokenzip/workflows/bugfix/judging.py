"""What may be the root of a failure: candidates that collect points, each with its reason."""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tokenzip import walk
from tokenzip.model import Edge, SymbolKey
from tokenzip.workflows.places import Place, enclosing
from tokenzip.workflows.traces import Failure

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

HIGH, MEDIUM = 6, 3
"""Points from which on a candidate has that confidence; docs/workflows.md says what gives how many."""
RAISING, OUTWARDS = 6, (3, 2, 1)
CALLED, NAMED, SAYS, TYPE, ASKED, CHANGED, UNCOMMITTED = 3, 2, 4, 1, 4, 1, 3
BEFORE, EMPTY, ASIDE = 1, 3, 1
"""For what was called before the line that failed (more if the message speaks of an empty value, which something must have
given), and for what was called beside the next frames outwards."""
NEAREST, ASIDE_OF = 4, 3
"""Lines with calls before the one that failed, and frames outwards, that count so."""
_EMPTY = re.compile(r"\b(?:NoneType|None|undefined|null|nil|NullPointer\w*)\b")
MOST_TEXTS = 8
"""Messages and types that are looked up."""
_SEARCHED = 30
"""Files, the best for the words of a message, that are looked through for its text."""
_FEW = 3
"""Symbols of one name, and places of one text, that still tell something."""
_NAMES = 12
_QUOTED = re.compile(r"""['"`‘“]([A-Za-z_$][\w$.]{1,80})['"`’”]|\b([A-Za-z_$][\w$.]{1,80})\(\)""")
_VARIABLE = re.compile(r"""["'`‘“][^"'`’”]{0,200}["'`’”]|\d+|[{}%<>\[\]()]|:\s""")
"""What in a message is put in when the program runs."""
_SHORTEST = 8
"""Characters of a part of a message that can tell where it comes from."""
_BOUND_TO_NEXT = frozenset({"cause", "context", "member", "wrapped"})
_NO_DEFINITION = frozenset({"parameter", "import", "re_export"})

Located = Sequence[tuple[Failure, Sequence[Place]]]
"""Failures with the places of their frames."""


@dataclass(slots=True)
class Candidate:
    """Where the root may be."""

    key: SymbolKey
    line: int
    points: int = 0
    reasons: list[str] = field(default_factory=list)
    is_uncertain: bool = False
    """Whether it was found where lines and names do not agree: then nothing makes it certain."""
    doubts: list[str] = field(default_factory=list)
    """What does not agree."""

    def add(self, points: int, reason: str) -> None:
        if reason not in self.reasons:
            self.points += points
            self.reasons.append(reason)

    def doubt(self, reason: str) -> None:
        """Nothing makes it certain any more."""
        self.is_uncertain = True
        if reason and reason not in self.doubts:
            self.doubts.append(reason)

    @property
    def weight(self) -> int:
        """Its points; never enough for high confidence if it is uncertain."""
        return min(self.points, HIGH - 1) if self.is_uncertain else self.points

    @property
    def confidence(self) -> str:
        return "high" if self.weight >= HIGH else "medium" if self.weight >= MEDIUM else "low"


class Judge:
    """Gives points."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.candidates: dict[SymbolKey, Candidate] = {}

    def ranked(self) -> list[Candidate]:
        """The best first; of equal ones those nearer to where it was raised, tests last."""
        order = {key: place for place, key in enumerate(self.candidates)}
        return sorted(self.candidates.values(), key=lambda each: (self.is_test(each.key), -each.weight, order[each.key]))

    def likely(self, most: int) -> list[Candidate]:
        """The candidates whose change is worth thinking through: those of high confidence, else the best one."""
        ranked = [each for each in self.ranked() if self.snapshot.tree_file(each.key.path) is not None]
        high = [each for each in ranked if each.confidence == "high" and not self.is_test(each.key)]
        return high[:most] or ranked[:1]

    def is_test(self, key: SymbolKey) -> bool:
        return walk.is_test(self.snapshot, key)

    def of_place(self, place: Place) -> Candidate:
        candidate = self.of(place.key, place.line if place.is_certain else 0)
        if not place.is_certain:
            candidate.doubt(place.note)
        return candidate

    def of(self, key: SymbolKey, line: int = 0) -> Candidate:
        known = self.candidates.get(key)
        if known is None:
            symbol = self.snapshot.symbol(key)
            known = self.candidates[key] = Candidate(key, line or (symbol.line if symbol is not None else 0))
        return known

    # ---- stacks

    def judge_stacks(self, located: Located) -> None:
        """The frames of failures that no other one caused; then where the others were raised."""
        for failure, places in _roots(located):
            self._judge_chain(failure, places)
        for (before, _), (failure, places) in itertools.pairwise(located):
            if before.relation in _BOUND_TO_NEXT and before.relation != "member":
                here = next((each for each in places if each.is_here), None)
                if here is not None and not self.is_test(here.key):
                    self.of_place(here).add(NAMED, f"raised {_type_of(failure)} after that")

    def _judge_chain(self, failure: Failure, places: Sequence[Place]) -> None:
        """The frames of one failure, from where it was raised outwards."""
        here = [(depth, place) for depth, place in enumerate(places) if place.is_here]
        product = [(depth, place) for depth, place in here if not self.is_test(place.key)]
        for rank, (depth, place) in enumerate(_first_of_each(product)):
            if rank == 0:
                raising = self.of_place(place)
                raising.add(RAISING, _raised_reason(failure, places[:depth]))
                for inner in places[:depth]:
                    if inner.match == "missing":
                        raising.doubt(inner.note)
            else:
                self.of_place(place).add(OUTWARDS[min(rank, len(OUTWARDS)) - 1], f"called it, {steps(rank)} outwards")
        if not here:
            return
        known = {place.key for _, place in here}
        nearest, *outer = dict.fromkeys(place for _, place in here)
        is_empty = _EMPTY.search(failure.message) is not None
        self.judge_line(nearest, known)
        self._judge_before(nearest, known, EMPTY if is_empty else BEFORE)
        for place in outer[:1] if is_empty else ():
            self._judge_before(place, known, EMPTY - 1)
        for place in outer[:ASIDE_OF]:
            self._judge_aside(place, known)

    def judge_line(self, place: Place, known: Container[SymbolKey] = ()) -> None:
        """What is called, or made, on a line, if that is not on the stack anyway."""
        for edge in self._calls(place, known):
            if edge.line == place.line:
                is_made = self._is_class(edge.target)
                what = "made" if is_made else "called"
                self.of(edge.target).add(CALLED - is_made, f"{what} on the line that failed, {place.path}:{edge.line}")

    def _judge_before(self, place: Place, known: Container[SymbolKey], points: int) -> None:
        """What the function had called before the line: the nearest lines may have given what it could not work with."""
        calls = [edge for edge in self._calls(place, known) if edge.line < place.line and not self._is_class(edge.target)]
        nearest = sorted({edge.line for edge in calls})[-NEAREST:]
        for edge in calls:
            if edge.line in nearest:
                self.of(edge.target).add(points, f"called before the line that failed, {place.path}:{edge.line}")

    def _judge_aside(self, place: Place, known: Container[SymbolKey]) -> None:
        """What else was called on the line of a caller: it may have made an argument."""
        for edge in self._calls(place, known):
            if edge.line == place.line:
                self.of(edge.target).add(ASIDE, f"called beside it, {place.path}:{edge.line}")

    def _is_class(self, key: SymbolKey) -> bool:
        symbol = self.snapshot.symbol(key)
        return symbol is not None and symbol.kind == "class"

    def _calls(self, place: Place, known: Container[SymbolKey]) -> list[Edge]:
        """The calls in the symbol of a frame, if it is certain; those of what is on the stack anyway and of tests left out.

        So are those that decorate what is defined inside: they give nothing that the code goes on with.
        """
        if place.symbol is None or not place.is_certain or not place.line:
            return []
        inside = walk.nested(self.snapshot, [place.symbol])[1:]
        decorating = {line for symbol in inside for line in range(symbol.row.line, symbol.row.name_line)}
        edges = (edge for edge in self.snapshot.edges_from(place.symbol.key) if edge.kind == "calls")
        return [
            edge for edge in edges if edge.target not in known and edge.line not in decorating and not self.is_test(edge.target)
        ]

    # ---- words

    def judge_messages(self, located: Located) -> None:
        """What messages name, and where their text stands; the latter only where no stack says it better."""
        for failure, places in located[:MOST_TEXTS]:
            if not failure.message:
                continue
            for key in self._named_in(failure.message):
                self.of(key).add(NAMED, "named in the message")
            if not any(place.is_here for place in places):
                for key, line in self._saying(failure.message):
                    self.of(key, line).add(SAYS, f"the text of the message stands here, line {line}")

    def _named_in(self, message: str) -> Iterator[SymbolKey]:
        names = dict.fromkeys(name.strip(".") for found in _QUOTED.finditer(message) for name in found.groups() if name)
        for name in list(names)[:_NAMES]:
            symbols = [symbol for symbol in self.snapshot.named(name) if not self.is_test(symbol.key)]
            if len(symbols) <= _FEW:
                yield from (symbol.key for symbol in symbols if symbol.kind not in _NO_DEFINITION)

    def _saying(self, message: str) -> Iterator[tuple[SymbolKey, int]]:
        """Where the longest constant part of a message stands in a source, if that is in few places."""
        parts = [part.strip(" .,;!'\"") for part in _VARIABLE.split(message.partition("\n")[0])]
        text = max(parts, key=len, default="")
        if len(text) < _SHORTEST or " " not in text:
            return
        from tokenzip.search import search_files

        wanted = text.encode("utf-8", "surrogatepass")
        found: list[tuple[SymbolKey, int]] = []
        for hit in search_files(self.snapshot, text, limit=_SEARCHED):
            if self.is_test(SymbolKey(hit.path)):
                continue
            source = self.snapshot.source(hit.path)
            at = source.find(wanted)
            if at >= 0:
                line = source.count(b"\n", 0, at) + 1
                symbol = enclosing(self.snapshot, hit.path, line)
                found.append((symbol.key if symbol is not None else SymbolKey(hit.path), line))
        if len(found) <= _FEW:
            yield from found

    def judge_types(self, types: Iterable[str], *, has_stack: bool) -> None:
        """Errors that are classes of this repository: who makes them, where no stack says it."""
        for name in list(types)[:MOST_TEXTS]:
            found = [symbol for symbol in self.snapshot.named(_last(name)) if symbol.kind == "class"]
            for symbol in found if len(found) <= _FEW else ():
                self.of(symbol.key).add(TYPE, "the type of the error")
                for edge in () if has_stack else walk.incoming(self.snapshot, symbol.key):
                    if edge.kind == "calls" and edge.source.qualified and not self.is_test(edge.source):
                        self.of(edge.source, edge.line).add(CALLED, f"makes a {_last(name)}, line {edge.line}")


def steps(count: int) -> str:
    return f"{count} step{'s' * (count != 1)}"


def _roots(located: Located) -> Iterator[tuple[Failure, Sequence[Place]]]:
    """The failures that no other failure of the text has caused: each may have a root of its own."""
    before = ""
    for failure, places in located:
        if before not in _BOUND_TO_NEXT or (before == failure.relation == "member"):
            yield failure, places
        before = failure.relation


def _first_of_each(places: Iterable[tuple[int, Place]]) -> Iterator[tuple[int, Place]]:
    """Each symbol once, where the stack first meets it: recursion is no evidence."""
    seen: set[SymbolKey] = set()
    for depth, place in places:
        if place.key not in seen:
            seen.add(place.key)
            yield depth, place


def _raised_reason(failure: Failure, inner: Sequence[Place]) -> str:
    """What stands between a frame and the place where it was raised."""
    kind = _type_of(failure)
    if not inner:
        return f"raised {kind}"
    if missing := [place.candidates[0] for place in inner if place.match == "missing"]:
        return f"the last frame that is here before {kind} was raised in {missing[0]}"
    packages = dict.fromkeys(place.package for place in inner if place.match == "external")
    if packages:
        return f"the last frame of this repository before {kind} was raised in {', '.join(packages)}"
    if any(place.match == "ambiguous" for place in inner):
        return f"the last frame that is sure before {kind} was raised"
    return f"the last code before the test that raised {kind}"


def _type_of(failure: Failure) -> str:
    return _last(failure.type) or "the error"


def _last(name: str) -> str:
    return re.split(r"\.|::|\$", name)[-1]
