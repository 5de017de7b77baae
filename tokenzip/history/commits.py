"""Commits as the history needs them."""

from __future__ import annotations

from typing import Protocol

from tokenzip.model import CommitId, TreeId

STAGE = "history"
"""What progress calls the reading of commits; how many there are is not known."""


class Commit(Protocol):
    """What is needed of a commit, as `GitRepository.log` gives it."""

    @property
    def id(self) -> CommitId: ...
    @property
    def parents(self) -> tuple[CommitId, ...]: ...
    @property
    def tree(self) -> TreeId: ...
    @property
    def author(self) -> str: ...
    @property
    def time(self) -> int: ...
    @property
    def subject(self) -> str: ...
