"""What commit messages say about files: a commit that speaks of the question's words changed the files that it is about.

History is read from git and never stored. Only the commits before the state that is searched count, so the answer is a
function of the commit (in a shallow clone: of the commits that it holds).
"""

from __future__ import annotations

import math
import threading
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Mapping

from tokenzip.search.words import words_in

COMMITS = 1000
"""Commits looked at; fewer find less: recall at 10 files falls by .01 with 500 of them, by .02 with 200."""
_RECENT = 200
_LARGEST_COMMIT = 12
"""Files of a commit up to which its files count as changed together."""
_PRUDENCE = 5
"""Commits that two files' common changes are measured against besides their own: few changes prove little."""
_KEPT = 4


class History:
    """The last commits before a state: the words of their messages and the files that they changed."""

    def __init__(self, commits: Iterable[tuple[str, Collection[str]]]) -> None:
        self._commits = [(frozenset(words_in(message)), tuple(paths)) for message, paths in commits]
        self._frequency = Counter(word for words, _ in self._commits for word in words)
        self.activity: dict[str, float] = {}
        """Path -> how much it is changed; a commit counts less the more files it has, and the older it is."""
        for age, (_, paths) in enumerate(self._commits):
            share = (1.0 if age < _RECENT else 0.5) / math.sqrt(1 + len(paths))
            for path in paths:
                self.activity[path] = self.activity.get(path, 0.0) + share

    def spoken_of(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Path -> how much the commits that changed it speak of the words; 1 for the most."""
        total = len(self._commits)
        value = {
            word: weight * math.log(1 + (total - count + 0.5) / (count + 0.5))
            for word, weight in weights.items()
            if (count := self._frequency[word])
        }
        found: dict[str, float] = {}
        for words, paths in self._commits:
            score = sum(value[word] for word in value.keys() & words) if value else 0.0
            if score:
                score = (score / (1 + 0.15 * math.log(1 + len(words)))) ** 2 / math.sqrt(1 + len(paths))
                for path in paths:
                    found[path] = found.get(path, 0.0) + score
        return found

    def changed_with(self, seeds: Mapping[str, float]) -> dict[str, float]:
        """Path -> how often it was changed together with one of the seeds, times the seed's weight."""
        changes: Counter[str] = Counter()
        common: Counter[tuple[str, str]] = Counter()
        for _, paths in self._commits:
            if len(paths) <= _LARGEST_COMMIT:
                for seed in seeds.keys() & set(paths):
                    changes[seed] += 1
                    common.update((seed, path) for path in paths if path != seed)
        found: dict[str, float] = {}
        for (seed, path), count in common.items():
            found[path] = max(found.get(path, 0.0), seeds[seed] * count / (changes[seed] + _PRUDENCE))
        return found


class _Shelf:
    """Histories read so far."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[object, History] = OrderedDict()

    def get(self, key: object) -> History | None:
        with self._lock:
            return self._known.get(key)

    def put(self, key: object, history: History) -> History:
        with self._lock:
            self._known[key] = history
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return history


SHELF = _Shelf()
