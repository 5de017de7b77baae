"""What a workflow template is: inputs, and a fixed sequence of steps, each of which asks the graph something.

The sequence is both what runs and what `get_workflow` shows, so that the description cannot differ from what is done.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from tokenzip.errors import UsageError
from tokenzip.items import Item
from tokenzip.model import Progress, no_progress

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

Inputs = Mapping[str, Any]
"""Checked inputs by name: texts, and lists of texts."""
MOST_ITEMS = 200
"""Items of one list that a result holds; more are counted in ``left_out``."""


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a template."""

    name: str
    description: str
    required: bool = False
    is_list: bool = False
    is_text: bool = False
    """May be long: the command line reads it from a file (``trace=@crash.log``)."""


@dataclass(slots=True)
class Result:
    """What a template found out."""

    summary: Item
    """Numbers and names that are never cut."""
    parts: dict[str, Sequence[Item]]
    """Lists by name, in the order of the answer."""
    complete: bool | Item = True
    calls: list[Item] = field(default_factory=list)
    """Ready-made calls that would help next."""

    def as_json(self) -> Item:
        """The result as plain JSON, its lists cut to `MOST_ITEMS`."""
        left_out = {name: len(items) - MOST_ITEMS for name, items in self.parts.items() if len(items) > MOST_ITEMS}
        return {
            "summary": self.summary,
            "parts": {name: list(items[:MOST_ITEMS]) for name, items in self.parts.items()},
            "complete": self.complete,
            "left_out": left_out,
            "calls": self.calls[:2],
        }


class Work(Protocol):
    """One run of a template: holds what the steps have found so far."""

    def result(self) -> Result: ...


@dataclass(frozen=True, slots=True)
class Step:
    """One query of a template."""

    name: str
    asks: str
    """What is asked, as the question of another tool where there is one."""
    gives: str
    """What it adds to the answer."""
    run: Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Template:
    """A fixed sequence of queries."""

    name: str
    summary: str
    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    begin: Callable[[Snapshot, Inputs, Progress], Work]
    """Checks the inputs against the graph and makes what the steps work on. Raises UsageError."""
    needs_any: bool = False
    """Whether at least one of the inputs must be given."""

    def run(self, snapshot: Snapshot, inputs: Inputs, progress: Progress = no_progress) -> Result:
        """The result for checked inputs. Raises UsageError where they name what is not there."""
        work = self.begin(snapshot, inputs, progress)
        for step in self.steps:
            step.run(work)
        return work.result()

    def checked(self, written: Sequence[str]) -> dict[str, Any]:
        """Inputs written as ``name=value``; what has no name is the first input; a JSON object may hold several.

        Raises UsageError: an unknown, doubled or missing input, with what there is instead.
        """
        given: dict[str, Any] = {}
        for text in written:
            for name, value in self._parted(text):
                self._put(given, name, value)
        missing = [each.name for each in self.inputs if each.required and each.name not in given]
        if missing or (self.needs_any and not given):
            needed = ", ".join(missing) if missing else f"at least one of {', '.join(each.name for each in self.inputs)}"
            raise UsageError(f"{self.name} needs {needed}", hint=f"Give inputs as name=value: {self.shown_inputs()}.")
        return given

    def shown_inputs(self) -> str:
        """All inputs in one line, optional ones in brackets."""
        return " ".join(each.name if each.required else f"[{each.name}]" for each in self.inputs)

    def _parted(self, text: str) -> Sequence[tuple[str, Any]]:
        known = {each.name for each in self.inputs}
        if text.lstrip().startswith("{") and isinstance(parsed := _parsed(text), dict) and not known.isdisjoint(parsed):
            return list(parsed.items())  # an object without any of them is a line of a log
        found = re.match(r"([A-Za-z][\w-]{0,40})=", text)
        if found is None:
            return [(self.inputs[0].name, text)]
        return [(found[1], text[found.end() :])]

    def _put(self, given: dict[str, Any], name: str, value: Any) -> None:
        known = {each.name: each for each in self.inputs}
        if name not in known:
            raise UsageError(
                f"{self.name} has no input {name!r}",
                hint=f"It takes {self.shown_inputs()}, as name=value; a text that begins so: {self.inputs[0].name}=TEXT.",
                candidates=difflib.get_close_matches(name, known, n=3, cutoff=0.5),
            )
        values = value if isinstance(value, list) else [value]
        texts = [str(each).strip("\n") if not isinstance(each, str) else each for each in values]
        if known[name].is_list:
            given[name] = [*given.get(name, ()), *(part.strip() for text in texts for part in text.split(",") if part.strip())]
            return
        if name in given:
            raise UsageError(f"input {name} of {self.name} is given twice", hint="Give it once.")
        if not any(text.strip() for text in texts):
            raise UsageError(f"input {name} of {self.name} is empty", hint=f"It is {known[name].description}.")
        given[name] = "\n".join(texts)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
