"""Every error that tokenzip raises on purpose.

::

    TokenzipError              a message for people, and a hint: what to do next
    ├── UsageError             the caller asked for something that cannot be: exit code 2
    │   ├── UnknownRevision    no such commit, branch or tag
    │   ├── UnknownSymbol      no such symbol, file or module; carries the nearest names
    │   ├── AmbiguousSymbol    several symbols answer to the name; carries all of them
    │   └── NotARepository     no git repository here
    ├── GitError               git or libgit2 could not do what was asked
    │   └── MissingObject      an object that this clone does not hold (partial, shallow or damaged)
    │       └── FileVanished   a file of the work tree went away between being listed and being read: asking again helps
    ├── StoreError             the store cannot be used
    │   ├── StoreBusy          another process holds the writer's place
    │   ├── StoreChanged       another process replaced the store in the middle of something: asking again helps
    │   ├── StoreFull          no room on the disk
    │   └── StoreReadOnly      the store's folder cannot be written
    └── Cancelled              the caller withdrew the question

Anything else that escapes is a bug.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class TokenzipError(Exception):
    """An error with a cause that a person can mend."""

    code = "error"

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        candidates: Sequence[str] = (),
        calls: Sequence[tuple[str, Mapping[str, object]]] = (),
    ) -> None:
        """`calls`: questions that would help, as an operation's name and its arguments; each door says in its own words how
        they are asked, so that the hint names neither tools nor commands."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.candidates = tuple(candidates)
        self.calls = tuple(calls)


class UsageError(TokenzipError):
    code = "usage"


class UnknownRevision(UsageError):
    code = "unknown_revision"


class UnknownSymbol(UsageError):
    code = "unknown_symbol"


class AmbiguousSymbol(UsageError):
    code = "ambiguous_symbol"


class NotARepository(UsageError):
    code = "not_a_repository"


class GitError(TokenzipError):
    code = "git"


class MissingObject(GitError):
    code = "missing_object"


class FileVanished(MissingObject):
    pass


class StoreError(TokenzipError):
    code = "store"


class StoreBusy(StoreError):
    code = "store_busy"


class StoreChanged(StoreError):
    code = "store_changed"


class StoreFull(StoreError):
    code = "store_full"


class StoreReadOnly(StoreError):
    code = "store_read_only"


class Cancelled(TokenzipError):
    code = "cancelled"
