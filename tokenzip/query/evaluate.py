"""A query is evaluated step by step: from the records before a step to the records after it, one by one where possible.

What the steps do stands in `steps_any`, `steps_repository`, `steps_files`, `steps_symbols` and `steps_documents`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TypeVar

from tokenzip.errors import StoreChanged, UsageError
from tokenzip.query.records import View
from tokenzip.query.steps import Source, Step
from tokenzip.query.steps_any import AnySteps
from tokenzip.query.steps_documents import DocumentSteps
from tokenzip.query.steps_files import FileSteps
from tokenzip.query.steps_repository import RepositorySteps
from tokenzip.query.work import Found, differences
from tokenzip.snapshot import Snapshot

T = TypeVar("T")

_ATTEMPTS = 3
"""How often a question is asked while other processes take away the graph that it is about."""


def evaluated(chain: tuple[Step, ...], source: Source | None, terminal: Callable[[Found], T]) -> T:
    """What a terminal makes of the records of a query, within one transaction of the store."""
    if source is None:
        raise UsageError("this query asks no repository", hint="Take it of one: `repo.query(text)`, or `query.on(repo)`.")
    for _ in range(_ATTEMPTS - 1):
        with contextlib.suppress(StoreChanged):
            return _evaluated(chain, source, terminal)
    return _evaluated(chain, source, terminal)


def _evaluated(chain: tuple[Step, ...], source: Source, terminal: Callable[[Found], T]) -> T:
    steps = list(chain)
    rev = str(steps.pop(0).arguments[0]) if steps and steps[0].name == "at" else None
    with contextlib.ExitStack() as stack:
        view = View(source.snapshot(rev))
        if steps and steps[0].name == "diff":
            base, head = two_snapshots(source, *steps.pop(0).arguments, default_head=rev)
            view = View(head)
            stack.enter_context(base.reading())
            stack.enter_context(head.reading())
            found = Found(chain, view, "changes", differences(base, head))
        else:
            stack.enter_context(view.snapshot.reading())
            found = Found(chain, view, "repository")
        run = Run(found, source, stack)
        for step in steps:
            run.take(step)
        return terminal(found)


def two_snapshots(
    source: Source, base: str | None, head: str | None = None, *, default_head: str | None = None
) -> tuple[Snapshot, Snapshot]:
    """The two ends of a comparison. ``A..B`` and ``A...B`` may stand in `base` where there is no `head`."""
    for sign in ("...", ".."):
        if base is not None and head is None and sign in base:
            base, head = (side or "HEAD" for side in base.split(sign, 1))
            if sign == "...":
                base = str(source.merge_base(base, head))
            break
    return source.snapshots(base or "HEAD", head or default_head)


class Run(AnySteps, RepositorySteps, FileSteps, DocumentSteps):
    """One evaluation, step by step. The method ``_<scope>_<step>`` does what a step does in a scope, ``_<step>`` in any."""

    def take(self, step: Step) -> None:
        """Let the records pass through one more step."""
        found, (name, arguments, options) = self.found, step
        if name in {"filter", "exclude"}:
            found.records = self._kept(found.scope, step)
        elif name != "select":
            method = getattr(self, f"_{found.scope}_{name}", None) or getattr(self, f"_{name}")
            found.scope, found.records = method(found.scope, found.records, *arguments, **dict(options))
