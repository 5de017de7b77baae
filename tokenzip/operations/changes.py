"""What changed between two revisions, and who is reached by a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenzip.errors import TokenzipError
from tokenzip.operations.base import Answer, Arguments

if TYPE_CHECKING:
    from tokenzip.repository import Repository
    from tokenzip.snapshot import Snapshot


def diff_commits(repository: Repository, arguments: Arguments) -> Answer:
    """The changes from `base` to `head`, and who is reached by them."""
    raise TokenzipError("not there yet")


def get_impact_analysis(snapshot: Snapshot, arguments: Arguments) -> Answer:
    """Who is reached if these symbols or files change."""
    raise TokenzipError("not there yet")
