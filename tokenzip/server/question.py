"""One call of a tool while it runs: how far it is, and what its client hears if that takes long.

A call that must index first cannot keep its client waiting: after a moment it is answered with how far the index is, and
the index goes on. A call whose answer itself takes long is waited for, but not for longer than the most impatient client
waits: then it is answered with that it is at work. Both leave their answers to the next call that asks the same.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tokenzip.budget import answer_text, counted, lay_out
from tokenzip.errors import Cancelled
from tokenzip.model import UNCOMMITTED
from tokenzip.server.alarms import Alarms
from tokenzip.server.call import Call
from tokenzip.server.indexing import Elsewhere, Job, Stage
from tokenzip.server.kept import Kept, Late, States, question_key
from tokenzip.server.protocol import Json

PATIENCE = 1.7
"""Seconds after which a call that is indexing is answered with how far it is."""

GLANCE = 0.2
"""Seconds between two looks at a call that was not indexing when the patience ended, but may begin to."""

DEADLINE = 20.0
"""Seconds after which any call is answered. The most impatient clients give up at 30."""

LONGEST_PROPOSAL = 2000
"""Characters of a call that is proposed again; one with a long text in it would break every budget."""


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
        kept: Kept | None = None,
        patience: float = PATIENCE,
        deadline: float = DEADLINE,
    ) -> None:
        """Without `kept`, a late answer is of no use to anybody."""
        self.arguments = arguments
        self._call = call
        self._tool = tool
        self._as_result = as_result
        self._patience = patience
        self._deadline = deadline
        self._kept = kept
        self._key = question_key(tool, arguments)
        self.root: object = None
        """Of the repository that was asked."""
        self.states: States = {}
        """What the answer is worked out from."""
        self._stage: Stage | None = None
        self._may_go_on = False
        self._late: Late | None = None
        self._ending = threading.Lock()
        self._has_ended = False
        self._goes_elsewhere: Callable[[int], bool] = _never

    def index_elsewhere(self, if_so: Callable[[int], bool]) -> None:
        """Whether a call that is to index so many files, or has to wait for another process, leaves that to a child."""
        self._goes_elsewhere = if_so

    def on_progress(self, stage: str, done: int, total: int) -> None:
        """The index has done so much of a stage. Raises Cancelled to stop it if nobody wants it, Elsewhere to move it."""
        if self._call.is_over and not self._may_go_on:
            raise Cancelled("The call was cancelled")
        if total and self._goes_elsewhere(total):
            raise Elsewhere
        if total or stage == UNCOMMITTED:
            self._tell((stage, done, total))
        else:  # the answer itself, on its way
            self._call.progress_of_stage(stage, done, total)

    def follow(self, job: Job) -> None:
        """Wait for a child that indexes. Raises Withdrawn once the call is over, however that came."""

        def on_stage(stage: Stage) -> None:
            if self._may_go_on:
                job.keep()
            self._call.check()
            self._tell(stage)

        job.wait(on_stage)

    def join(self) -> None:
        """Wait for the same question if an earlier call left it at work. Raises Withdrawn once the call is over."""
        late = self._kept.running(self._key) if self._kept is not None else None
        if late is None:
            return

        def on_stage(stage: Stage | None) -> None:
            self._call.check()
            if stage is not None:
                self._tell(stage)

        late.wait(on_stage)
        self._call.check()

    def kept_answer(self, repository: Any) -> Json | None:
        """What an earlier call that asked the same did not wait for, if it still holds. Raises Withdrawn."""
        late = self._kept.ready(self._key) if self._kept is not None else None
        if self._kept is None or late is None:
            return None
        holds = late.holds_in(repository)
        with self._ending:
            if holds:
                self._call.check()  # else it stays for the next call
                self._has_ended = True
            self._kept.drop(self._key, late)
        return late.answer if holds else None

    def end(self, answer: Json | None) -> None:
        """The work is over: the call gets this answer, or a later one does."""
        with self._ending:
            self._has_ended = True
            if self._may_go_on and self._late is None and answer is not None:
                self._register_late()  # when it began to be late, another's work stood there, which came to nothing
            if self._late is not None:
                self._late.end(answer, self.root, self.states)

    def _register_late(self) -> None:
        late = Late(lambda: self._stage)
        if self._kept is not None and self._kept.add(self._key, late):
            self._late = late

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
                self._answer_so_far(indexing_answer(self._tool, self.arguments, *self._stage))
            else:
                self._call.show_life(f"{self._tool} is at work")
                numbers["patience"] = alarms.set_in(GLANCE, lose_patience)

        def meet_deadline() -> None:
            seconds = round(time.monotonic() - started)
            self._answer_so_far(working_answer(self._tool, self.arguments, seconds))

        started = self._call.started
        numbers = {
            "patience": alarms.set(started + self._patience, lose_patience),
            "deadline": alarms.set(started + self._deadline, meet_deadline),
        }
        try:
            yield
        finally:
            for number in list(numbers.values()):
                alarms.call_off(number)

    def _answer_so_far(self, answer: Json) -> None:
        with self._ending:
            if self._has_ended or self._call.is_over:
                return
            self._may_go_on = True
            self._register_late()
        self._call.succeed(self._as_result(answer))


def _never(total: int) -> bool:
    return False


def indexing_answer(tool: str, arguments: Mapping[str, Any], stage: str, done: int, total: int) -> Json:
    """What can be said while the index of the revision is not there yet: how far it is, and to ask again."""
    share = f"{done}/{total}" if total else f"{done}"
    why = f"indexing {share} ({stage}); the answer is not known yet, ask again in a moment"
    return _no_answer_yet(tool, arguments, why, indexing={"stage": stage, "done": done, "total": total})


def working_answer(tool: str, arguments: Mapping[str, Any], seconds: int) -> Json:
    """What can be said while the answer itself takes long: that it is worked on, and to ask again."""
    why = f"at work for {seconds} s; the answer is not known yet, ask the same again for it"
    return _no_answer_yet(tool, arguments, why, working={"seconds": seconds})


def _no_answer_yet(tool: str, arguments: Mapping[str, Any], why: str, **state: Json) -> Json:
    """The answer without an answer. It proposes the same call again, unless that is too long to be said."""
    answer: Json = {
        "at": {"rev": arguments.get("at") or arguments.get("head") or "WORKTREE", "commit": None, "dirty": None},
        "items": [],
        "complete": {"why": why, "unresolved": None},
        **state,
        "truncated": None,
        "token_count": 0,
    }
    again = [{"tool": tool, "arguments": dict(arguments)}]
    return counted({**answer, "next": again} if len(answer_text(again)) <= LONGEST_PROPOSAL else answer)


def error_answer(code: str, message: str, hint: str = "", candidates: Sequence[str] = ()) -> Json:
    """An error in the shape that all doors give it."""
    return {"error": {"code": code, "message": message, "hint": hint, "candidates": list(candidates)}}


def as_result(answer: Json) -> Json:
    """The answer as the result of a tool call: one block of text, and no structured copy of it.

    Two clients show the model only the structured copy where there is one, three only the text: so there is one form.
    """
    return {"content": [{"type": "text", "text": lay_out(answer)}], "isError": "error" in answer}
