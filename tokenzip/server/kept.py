"""Answers that came too late for their call, for the next call that asks the same.

A call that is answered with how far it is goes on. Asked again meanwhile, the question joins the work instead of beginning
it anew; asked again later, it gets the answer, if all revisions that it was worked out from are still what they were.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tokenzip.server.indexing import STEP, Stage
from tokenzip.server.protocol import Json

MOST = 8
"""Answers that are kept. An agent has rarely more than two questions under way."""

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

States = dict[tuple[Any, ...], Hashable]
"""How a revision was asked for (arguments of ``snapshot``) -> what it was at that moment."""


class Late:
    """One answer that its call did not wait for: on its way, or there."""

    def __init__(self, stage: Callable[[], Stage | None]) -> None:
        self.stage = stage
        """How far the index for it is, None if that is not what takes long."""
        self.has_ended = threading.Event()
        self.answer: Json | None = None
        """None also where the work was given up."""
        self._root: object = None
        self.states: States = {}

    def end(self, answer: Json | None, root: object, states: States) -> None:
        self.answer, self._root, self.states = answer, root, states
        self.has_ended.set()

    def holds_in(self, repository: Any) -> bool:
        """Whether the answer is what the repository would answer now. Indexes revisions that have moved since."""
        return getattr(repository, "root", None) == self._root and all(
            _state_of(repository.snapshot(*asked)) == state for asked, state in self.states.items()
        )

    def wait(self, on_stage: Callable[[Stage | None], None]) -> None:
        """Wait for the work to end, telling how far it is. What `on_stage` raises ends the waiting alone."""
        while not self.has_ended.wait(STEP):
            on_stage(self.stage())


class Kept:
    """The late answers of a server, by what was asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._late: dict[str, Late] = {}

    def add(self, question: str, late: Late) -> bool:
        """Keep what is on its way, unless another's work on the same question is, or has left its answer."""
        with self._lock:
            other = self._late.get(question)
            if other is not None and (not other.has_ended.is_set() or other.answer is not None):
                return False
            self._late.pop(question, None)
            self._late[question] = late
            while len(self._late) > MOST:
                del self._late[next(iter(self._late))]
            return True

    def running(self, question: str) -> Late | None:
        """The work on this question that is under way, if any."""
        with self._lock:
            late = self._late.get(question)
        return None if late is None or late.has_ended.is_set() else late

    def ready(self, question: str) -> Late | None:
        """The answer to this question, if one is there."""
        with self._lock:
            late = self._late.get(question)
        return late if late is not None and late.has_ended.is_set() and late.answer is not None else None

    def drop(self, question: str, late: Late) -> None:
        """An answer was given, or no longer holds."""
        with self._lock:
            if self._late.get(question) is late:
                del self._late[question]


def question_key(tool: str, arguments: Mapping[str, Any]) -> str:
    """What makes two calls the same question."""
    return json.dumps([tool, arguments], sort_keys=True)


@contextmanager
def noted(repository: Any, states: States) -> Iterator[None]:
    """While this lasts, note what the revisions are that the repository is asked for. Full commits never change."""
    own = vars(repository)
    before = own.get("snapshot")
    ask = getattr(repository, "snapshot", None)

    def snapshot(*asked: Any) -> Any:
        assert ask is not None
        found = ask(*asked)
        if not (asked and isinstance(asked[0], str) and _COMMIT.fullmatch(asked[0])):
            states.setdefault(asked, _state_of(found))
        return found

    if ask is not None:
        own["snapshot"] = snapshot
    try:
        yield
    finally:
        if before is not None:
            own["snapshot"] = before
        else:
            own.pop("snapshot", None)


def _state_of(snapshot: Any) -> Hashable:
    """All that tells one state of files from another, and what an answer says about it."""
    overlay = getattr(snapshot, "overlay", {})
    files = frozenset((path, over and (over.file.mode, over.file.blob)) for path, over in overlay.items())
    return getattr(snapshot, "at", None), getattr(snapshot, "tree", None), files
