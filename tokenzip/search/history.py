"""What commit messages say about files: a commit that speaks of the question's words changed the files that it is about.

History is read from git and never stored. Only the commits before the state that is searched count, so the answer is a
function of the commit (in a shallow clone: of the commits that it holds).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Hashable, Iterable, Mapping

from tokenzip.recent import Recent
from tokenzip.words import words_in

COMMITS = 1000
"""Commits looked at; fewer find less: recall at 10 files falls by .01 with 500 of them, by .02 with 200."""
_KEPT = 2


class History:
    """The last commits before a state: the words of their messages and the files that they changed. Kept small: 1 to 2 MB."""

    def __init__(self, commits: Iterable[tuple[str, Collection[str]]]) -> None:
        self._speaking: dict[str, array[int]] = {}
        """Word -> the commits that speak of it."""
        self._lengths = array("I")
        """How many words each commit's message has."""
        self._paths: list[tuple[str, ...]] = []
        known: dict[str, str] = {}
        for age, (message, changed) in enumerate(commits):
            words = words_in(message)
            for word in words:
                self._speaking.setdefault(word, array("I")).append(age)
            self._lengths.append(len(words))
            paths = tuple(known.setdefault(path, path) for path in changed)
            self._paths.append(paths)

    def spoken_of(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Path -> how much the commits that changed it speak of the words; 1 for the most."""
        total = len(self._paths)
        scores: dict[int, float] = {}
        for word, weight in weights.items():
            commits = self._speaking.get(word, ())
            count = len(commits)
            for age in commits:
                scores[age] = scores.get(age, 0.0) + weight * math.log(1 + (total - count + 0.5) / (count + 0.5))
        found: dict[str, float] = {}
        for age, score in sorted(scores.items()):
            paths = self._paths[age]
            share = (score / (1 + 0.15 * math.log(1 + self._lengths[age]))) ** 2 / math.sqrt(1 + len(paths))
            for path in paths:
                found[path] = found.get(path, 0.0) + share
        return found


SHELF: Recent[Hashable, History] = Recent(_KEPT)
