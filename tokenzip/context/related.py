"""Which files go with the given ones, the most likely to be needed first.

A file's score is a sum over what speaks for it; the weights were chosen by cross-validation over thirteen repositories, with
one file of a commit as the question and the others as the answer. ``docs/context.md`` has the figures.
"""

from __future__ import annotations

import math
import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tokenzip.context.cochange import Together, cochange_before
from tokenzip.context.places import Places, places_of
from tokenzip.languages import registry
from tokenzip.snapshot.keys import edge_key

if TYPE_CHECKING:
    from tokenzip.model import EdgeRow
    from tokenzip.snapshot import Snapshot

_SHARES = 100.0
"""What a share of common changes is multiplied with before its logarithm counts: one in a hundred is as good as none."""
_NAMED, _WORDS, _USERS, _ACTIVE = 1.0, 0.6, 0.4, -0.2
"""Weight of a like name, of rare words in common, of using the files; and against files that everything is changed with."""
_ALIKE = 0.2
"""Likeness of names from which on it alone makes a file a candidate."""
_JUDGED = 40
"""Files of the ranking that are looked at, for whether a program made them."""
_NEVER_TOGETHER = Together(0.0, 0)
DOCUMENTS = frozenset({".md", ".mdx", ".rst", ".txt", ".adoc", ".asciidoc", ".org"})
"""Endings of files that people read."""


@dataclass(frozen=True, slots=True)
class RelatedFile:
    """A file that goes with the given ones."""

    path: str
    role: str
    """``test``, ``code``, ``generated``, ``doc`` or ``other`` (data, settings and the like)."""
    score: float
    together: int
    """Commits that changed it together with one of the given files."""
    uses: int
    """Symbols of the given files that it uses."""
    used: int
    """Its symbols that the given files use."""


@dataclass(frozen=True, slots=True)
class Related:
    """The files that go with some others."""

    files: tuple[RelatedFile, ...]
    """Code first (tests are code, and so is what programs made), then documents and others; each by score, then path."""
    changes: int
    """Commits that changed one of the given files."""
    commits: int
    """Commits that were looked at."""
    users: Mapping[str, Sequence[EdgeRow]]
    """The files with edges to the given ones, by path, and these edges."""


def related_files(snapshot: Snapshot, given: Collection[str]) -> Related:
    """The files that go with the `given` paths, best first."""
    with snapshot.reading():
        history = cochange_before(snapshot)
        together, changes = history.with_files(given)
        places = places_of(snapshot)
        users = dict(_users(snapshot, given))
        uses = {path: len({(row.path, row.qualified) for row in rows}) for path, rows in users.items()}
        used = _used(snapshot, given)
        alike = _alike(places, given)
        words = _sharing_words(snapshot, places, given)
        candidates = {*together, *uses, *used, *words, *(path for path, value in alike.items() if value >= _ALIKE)}
        found = []
        for path in sorted(candidates.difference(given)):
            file = snapshot.tree_file(path)
            if file is None:
                continue
            common = together.get(path, _NEVER_TOGETHER)
            score = (
                math.log1p(_SHARES * common.share) + _NAMED * alike.get(path, 0.0) + _WORDS * math.log1p(words.get(path, 0.0))
            )
            score += _USERS * math.log1p(uses.get(path, 0)) + _ACTIVE * math.log1p(history.activity.get(path, 0.0))
            role = _role(path, file.language)
            found.append(RelatedFile(path, role, round(score, 6), common.times, uses.get(path, 0), used.get(path, 0)))
        found.sort(key=_order)
        found[:_JUDGED] = [_judged(snapshot, each) for each in found[:_JUDGED]]
        return Related(tuple(found), changes, len(history), users)


def _order(each: RelatedFile) -> tuple[bool, float, str]:
    return each.role in {"doc", "other"}, -each.score, each.path


def _judged(snapshot: Snapshot, each: RelatedFile) -> RelatedFile:
    """The file, one that a program made as such: it changes with the others, but nobody edits it."""
    file = snapshot.file(each.path) if each.role in {"code", "test"} else None
    return replace(each, role="generated") if file is not None and file.generated else each


def _role(path: str, language: str | None) -> str:
    if posixpath.splitext(path)[1].lower() in DOCUMENTS:
        return "doc"
    if language is None or not registry.is_searched(language):
        return "other"
    return "test" if registry.get(language).is_test(path) else "code"


def _users(snapshot: Snapshot, given: Collection[str]) -> Iterator[tuple[str, list[EdgeRow]]]:
    keys = {edge_key(path, "") for path in given}
    for path in given:
        file = snapshot.file(path)
        keys.update(edge_key(path, symbol.qualified_name) for symbol in (file.symbols if file is not None else ()))
    for path in snapshot.paths_posted(keys):
        if path not in given:
            rows = [row for row in snapshot.link(path).edges if row.path in given]
            if rows:
                yield path, rows


def _used(snapshot: Snapshot, given: Iterable[str]) -> dict[str, int]:
    """Path -> how many of its symbols the given files use."""
    names = {(row.path, row.qualified) for path in given for row in snapshot.link(path).edges}
    counts: dict[str, int] = {}
    for path, _ in names:
        counts[path] = counts.get(path, 0) + 1
    return counts


def _alike(places: Places, given: Iterable[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for path in given:
        for other, value in places.named_alike(path).items():
            found[other] = max(found.get(other, 0.0), value)
    return found


def _sharing_words(snapshot: Snapshot, places: Places, given: Collection[str]) -> Mapping[str, float]:
    words = set().union(*(snapshot.words(path) for path in given if snapshot.tree_file(path) is not None))
    return places.sharing_words(words, snapshot.vocabulary()[1].documents, given)
