"""Where the tests of a source file are, learnt from those that a repository has."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

_MARK = re.compile(r"^(?:(test_)(.+)|(.+?)(_test|\.test|\.spec|-test|_spec)?)$")


class _Habit(NamedTuple):
    """How the path of a test follows from that of its source."""

    folder: str
    """``.`` beside it, ``./name`` in a folder beside it, else the folder of all tests."""
    before: str
    after: str


class TestHabits:
    """The habits of one state, by file suffix."""

    __test__ = False

    def __init__(self, snapshot: Snapshot) -> None:
        self._habits: dict[str, Counter[_Habit]] = {}
        sources: dict[str, list[str]] = {}
        tests: list[str] = []
        for file in snapshot.files():
            if file.is_source:
                if file.is_test:
                    tests.append(file.path)
                else:
                    sources.setdefault(_stem(file.path), []).append(file.path)
        for path in tests:
            self._learn(path, sources)

    def _learn(self, path: str, sources: dict[str, list[str]]) -> None:
        folder, name = posixpath.split(path)
        stem, suffix = posixpath.splitext(name)
        found = _MARK.match(stem)
        if found is None or not (found[1] or found[4]):
            return
        bare = found[2] or found[3]
        for source in sources.get(bare, ())[:20]:
            there = posixpath.dirname(source)
            if folder == there:
                place = "."
            elif posixpath.dirname(folder) == there and there:
                place = "./" + posixpath.basename(folder)
            else:
                place = folder
            self._habits.setdefault(suffix, Counter())[_Habit(place, found[1] or "", found[4] or "")] += 1

    def path_for(self, source: str) -> str | None:
        """Where the tests of a source would be; None where no habit is known for its kind of file."""
        folder, name = posixpath.split(source)
        stem, suffix = posixpath.splitext(name)
        habits = self._habits.get(suffix)
        if not habits:
            return None
        (place, before, after), _ = min(habits.items(), key=lambda pair: (-pair[1], pair[0]))
        if stem in ("__init__", "index", "mod"):
            stem = posixpath.basename(folder) if not place.startswith(".") or stem == "__init__" else stem
        where = posixpath.normpath(posixpath.join(folder, place)) if place.startswith(".") else place
        return posixpath.join("" if where == "." else where, f"{before}{stem}{after}{suffix}")


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]
