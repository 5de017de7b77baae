"""Merges that git finds clean and that are not."""

from __future__ import annotations

from dataclasses import dataclass

from tokenzip.diff import broken_references, compare
from tokenzip.model import BrokenReference, Change
from tokenzip.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something that a merge breaks and that neither side has broken by itself."""

    broken: BrokenReference
    """At the merge."""
    user: str
    """Which side uses it: ``ours`` or ``theirs``."""
    cause: Change | None
    """What the other side did to it."""


def conflicts(base: Snapshot, ours: Snapshot, theirs: Snapshot, merged: Snapshot) -> tuple[Conflict, ...]:
    """What one side removed, renamed or changed incompatibly and the other side newly uses, seen in the merge of both.

    `base` is their merge base, `merged` the tree that git makes of them without a conflict in the text.
    """
    found: list[Conflict] = []
    for user, side, other in (("ours", ours, theirs), ("theirs", theirs, ours)):
        done = compare(base, other)
        known = {(row.source, row.kind, row.target) for row in broken_references(base, other, done)}
        causes = {change.old_key: change for change in done.changes if change.old_key is not None}
        for row in broken_references(side, merged):
            if (row.source, row.kind, row.target) not in known:
                found.append(Conflict(row, user, causes.get(row.target)))
    return tuple(
        sorted(
            found, key=lambda conflict: (conflict.broken.source, conflict.broken.line, conflict.user, conflict.broken.target)
        )
    )
