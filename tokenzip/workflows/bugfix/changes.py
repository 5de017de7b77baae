"""What became of the symbols on the chain lately."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tokenzip.errors import TokenzipError, UsageError
from tokenzip.items import Item, one_line
from tokenzip.model import Progress, SymbolKey
from tokenzip.workflows.bugfix.judging import CHANGED, UNCOMMITTED, Judge

if TYPE_CHECKING:
    from tokenzip.history import Event
    from tokenzip.snapshot import Snapshot

EVENTS, COMMITS, RECENT = 3, 100, 50
"""Changes of one symbol that are listed, commits of its file that are looked at for them, and commits before the state within
which a change counts as recent."""


@dataclass(slots=True)
class Changes:
    """The last changes of some symbols."""

    events: list[tuple[SymbolKey, Event]] = field(default_factory=list)
    symbols: int = 0
    """How many were asked about."""
    ages: dict[str, int] = field(default_factory=dict)
    """Recent commit -> how many commits came after it."""

    def items(self) -> list[Item]:
        """All of them, what is not committed first, then the newest."""

        def order(pair: tuple[int, tuple[SymbolKey, Event]]) -> tuple[bool, int, int]:
            number, (_, event) = pair
            return event.commit is not None, -(event.commit.time if event.commit is not None else 0), number

        return [self._item(key, event) for _, (key, event) in sorted(enumerate(self.events), key=order)]

    def _item(self, key: SymbolKey, event: Event) -> Item:
        commit = event.commit
        item: Item = {"handle": key.handle, "commit": commit.id[:12] if commit is not None else None}
        if commit is not None:
            item["date"] = time.strftime("%Y-%m-%d", time.gmtime(commit.time))
            item["subject"] = one_line(commit.subject, 80)
        item["change"] = ", ".join(event.change.aspects)
        if self.is_recent(event):
            item["recent"] = True
        return item

    def is_recent(self, event: Event) -> bool:
        """Whether it is among the last commits; the first commit of all changed nothing."""
        return event.commit is None or (event.commit.id in self.ages and bool(event.commit.parents))


def look_back(snapshot: Snapshot, keys: Iterable[SymbolKey], progress: Progress) -> Changes:
    """The last changes of these symbols and files."""
    from tokenzip.history import symbol_log

    changes = Changes(ages=_ages(snapshot))
    for key in keys:
        changes.symbols += 1
        try:
            for number, event in enumerate(symbol_log(snapshot, key, most=COMMITS, progress=progress), 1):
                changes.events.append((key, event))
                if number == EVENTS:
                    break
        except UsageError:  # it is nowhere in this history
            continue
    return changes


def _ages(snapshot: Snapshot) -> dict[str, int]:
    if snapshot.at.commit is None:
        return {}
    try:
        return {commit.id: age for age, commit in enumerate(snapshot.git.log(snapshot.at.commit, limit=RECENT))}
    except TokenzipError:
        return {}


def judge_changes(judge: Judge, changes: Changes) -> None:
    """Points for candidates that changed lately; a change of documentation is none."""
    for key, event in changes.events:
        candidate = judge.candidates.get(key)
        if candidate is None or event.change.aspects == ("docs",) or not changes.is_recent(event):
            continue
        if event.commit is None:
            candidate.add(UNCOMMITTED, "changed and not committed yet")
        else:
            age = changes.ages[event.commit.id]
            candidate.add(CHANGED, f"changed in {event.commit.id[:12]}, {age} commit{'s' * (age != 1)} before this state")
