"""One call of a tool while it runs: how far it is, and what its client hears if that takes long.

A call that must index first cannot keep its client waiting: after a moment it is answered with how far the index is, and
the index goes on. A call that takes longer than the most impatient client waits gets an error that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tokenzip.budget import counted, lay_out
from tokenzip.errors import Cancelled
from tokenzip.server.alarms import Alarms
from tokenzip.server.indexing import Elsewhere, Job, Stage
from tokenzip.server.protocol import Call, Json

PATIENCE = 1.7
"""Seconds after which a call that is indexing is answered with how far it is."""

GLANCE = 0.2
"""Seconds between two looks at a call that was not indexing when the patience ended, but may begin to."""

DEADLINE = 50.0
"""Seconds after which any call is answered. The most impatient clients give up at 60."""


Answered = Callable[[Json], Json]
"""From an answer to the result that carries it."""


class Question:
    """What one call asks of the repository, answered by its own thread or, when that takes too long, by an alarm."""

    def __init__(
        self,
        call: Call,
        tool: str,
        arguments: Json,
        as_result: Answered,
        *,
        patience: float = PATIENCE,
        deadline: float = DEADLINE,
    ) -> None:
        self.arguments = arguments
        self._call = call
        self._tool = tool
        self._as_result = as_result
        self._patience = patience
        self._deadline = deadline
        self._stage: Stage | None = None
        self._may_go_on = False
        self._goes_elsewhere: Callable[[int], bool] = _never

    def index_elsewhere(self, if_so: Callable[[int], bool]) -> None:
        """Whether a call that is to index so many files, or has to wait for another process, leaves that to a child."""
        self._goes_elsewhere = if_so

    def on_progress(self, stage: str, done: int, total: int) -> None:
        """The index has done so much of a stage. Raises Cancelled to stop it if nobody wants it, Elsewhere to move it."""
        if self._call.is_over and not self._may_go_on:
            raise Cancelled("The call was cancelled")
        if not total:  # work that leaves nothing in the store: done again it would not be faster
            return
        if self._goes_elsewhere(total):
            raise Elsewhere
        self._tell((stage, done, total))

    def follow(self, job: Job) -> None:
        """Wait for a child that indexes. Raises Withdrawn once the call is over, however that came."""

        def on_stage(stage: Stage) -> None:
            if self._may_go_on:
                job.keep()
            self._call.check()
            self._tell(stage)

        job.wait(on_stage)

    def _tell(self, stage: Stage) -> None:
        if stage == self._stage:
            return
        name, done, total = stage
        if self._stage is None:
            self._call.log("info", f"indexing: {name} {done}/{total}")
        self._stage = stage
        self._call.progress_of_stage(name, done, total)

    @contextmanager
    def alarmed(self, alarms: Alarms) -> Iterator[None]:
        """While the question runs, alarms answer in its stead when it is due."""

        def lose_patience() -> None:
            if self._call.is_over:
                return
            if self._stage is not None:
                self._answer_so_far(*self._stage)
            else:
                numbers["patience"] = alarms.set_in(GLANCE, lose_patience)

        started = self._call.started
        numbers = {
            "patience": alarms.set(started + self._patience, lose_patience),
            "deadline": alarms.set(started + self._deadline, self._answer_overdue),
        }
        try:
            yield
        finally:
            for number in list(numbers.values()):
                alarms.call_off(number)

    def _answer_so_far(self, stage: str, done: int, total: int) -> None:
        self._may_go_on = True
        self._call.succeed(self._as_result(indexing_answer(self._tool, self.arguments, stage, done, total)))

    def _answer_overdue(self) -> None:
        message = f"{self._tool} took more than {self._deadline:.0f} s and was given up"
        answer = error_answer("deadline", message, "Ask for less: fewer steps, one module, one file.")
        self._call.succeed(self._as_result(answer))


def _never(total: int) -> bool:
    return False


def indexing_answer(tool: str, arguments: Mapping[str, Any], stage: str, done: int, total: int) -> Json:
    """What can be said while the index of the revision is not there yet: how far it is, and to ask again."""
    why = f"indexing {done}/{total} ({stage}); the answer is not known yet, ask again in a moment"
    return counted(
        {
            "at": {"rev": arguments.get("at", "WORKTREE"), "commit": None, "dirty": None},
            "items": [],
            "complete": {"why": why, "unresolved": None},
            "indexing": {"stage": stage, "done": done, "total": total},
            "truncated": None,
            "token_count": 0,
            "next": [{"tool": tool, "arguments": dict(arguments)}],
        }
    )


def error_answer(code: str, message: str, hint: str = "", candidates: Sequence[str] = ()) -> Json:
    """An error in the shape that all doors give it."""
    return {"error": {"code": code, "message": message, "hint": hint, "candidates": list(candidates)}}


def as_result(answer: Json) -> Json:
    """The answer as the result of a tool call: one block of text, and no structured copy of it.

    Two clients show the model only the structured copy where there is one, three only the text: so there is one form.
    """
    return {"content": [{"type": "text", "text": lay_out(answer)}], "isError": "error" in answer}
