"""What a stack trace says, whatever language printed it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

MOST_FRAMES = 400
"""Frames of one failure that are kept, those nearest to where it was raised; of endless recursion more tell nothing."""
MOST_FAILURES = 100
"""Failures of one text that are kept: of a test run with more, the first."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One call on the stack, as written."""

    file: str
    """With forward slashes; empty where the trace names none."""
    line: int
    """1-based, 0 where it is not said."""
    function: str
    """Without arguments, class and method apart by dots (``Cart.total``, ``new Cart``); empty for module level and the like."""
    language: str
    """``python node go rust jvm``, or ``text`` for a place that a text only mentions."""
    text: str = ""
    """What stands in the line, where the trace shows it: Python does."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One exception, panic or failed test."""

    type: str
    message: str
    frames: tuple[Frame, ...]
    """Where it was raised first, then outwards."""
    relation: str = ""
    """What it is to the failure after it: ``cause``, ``context`` (it was being handled), ``member`` (of a group);
    or ``suppressed``."""
    hidden: int = 0
    """Frames that the trace leaves out (``... 12 more``) or that were too many to keep."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that a text says about failures."""

    failures: tuple[Failure, ...] = ()
    """The root cause first, what finally surfaced last."""
    mentioned: tuple[Frame, ...] = ()
    """Places (``file:line``) outside of any stack, in the order of the text; looked for only where there are no frames."""
    others: int = 0
    """Threads and goroutines besides the one that failed, and failures beyond `MOST_FAILURES`."""


@dataclass(slots=True)
class Draft:
    """A failure while it is read."""

    type: str = ""
    message: str = ""
    relation: str = ""
    hidden: int = 0
    outermost_first: bool = False
    depth: int = 0
    """Column of the failure in a group of exceptions; how deeply nested it is otherwise."""
    frames: deque[Frame] = field(default_factory=deque)

    def add(self, frame: Frame) -> None:
        """The next frame in the order of the text."""
        if len(self.frames) < MOST_FRAMES:
            self.frames.append(frame)
            return
        self.hidden += 1
        if self.outermost_first:
            self.frames.popleft()
            self.frames.append(frame)

    @property
    def is_empty(self) -> bool:
        return not self.type and not self.message and not self.frames

    def finished(self) -> Failure:
        frames = reversed(self.frames) if self.outermost_first else self.frames
        return Failure(self.type, self.message[:MOST_MESSAGE], tuple(frames), self.relation, self.hidden)


MOST_MESSAGE = 500
"""Characters of a message that are kept."""


class Reader(Protocol):
    """Reads the traces of one language, line by line."""

    others: int

    def read(self, line: str, bare: str) -> bool:
        """Take a line (and the same line without the marks of logs and quotes); whether it was understood."""
        ...

    def failures(self) -> list[Failure]:
        """What was read, root causes first."""
        ...
