"""Values for the variables of resource templates: modules, paths, symbols and revisions that fit what is typed."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any

ENOUGH = 1000
"""Candidates after which the search for more ends. A client is shown a hundred at most."""


def complete(repository: Any, variable: str, typed: str) -> list[str]:
    """The values of a variable (``name path id at``) that begin with what is typed, then those that contain it."""
    if variable == "at":
        return fitting(revisions(repository), typed)
    snapshot = repository.snapshot()
    if variable == "name":
        return fitting((module.name for module in snapshot.modules().all()), typed)
    if variable == "path":
        return fitting(snapshot.paths(), typed)
    return fitting(symbols(snapshot), typed)


def revisions(repository: Any) -> Iterable[str]:
    short = (name.split("/", 2)[-1] for name in sorted(repository.git.ref_tips()))
    return dict.fromkeys(chain(("WORKTREE", "INDEX", "HEAD"), short))


def symbols(snapshot: Any) -> Iterable[str]:
    return (symbol.handle for file in snapshot.files() for symbol in file.symbols)


def fitting(values: Iterable[str], typed: str) -> list[str]:
    """Those that begin with the text, then those that contain it; upper and lower case are the same."""
    wanted = typed.casefold()
    first: list[str] = []
    later: list[str] = []
    for value in values:
        folded = value.casefold()
        if folded.startswith(wanted):
            first.append(value)
        elif wanted in folded:
            later.append(value)
        if len(first) >= ENOUGH:
            break
    return (first + later)[:ENOUGH]
