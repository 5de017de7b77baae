"""tokenzip: a git-native code graph for coding agents and the people who work with them.

``tokenzip.repo(path)`` is the way in; everything heavy is imported when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenzip.repository import Repository

__version__ = "0.1.0"


def repo(path: str = ".") -> Repository:
    """The repository around `path`. Raises `errors.NotARepository`."""
    from tokenzip.repository import repo as open_repository

    return open_repository(path)
