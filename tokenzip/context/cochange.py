"""Which files were changed together: a signal that git holds and nobody has to write down.

History is read from git and never stored. Only the commits before the state that is asked about count, so the answer is a
function of the commit (in a shallow clone: of the commits that it holds).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenzip.errors import TokenzipError
from tokenzip.recent import Recent

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

COMMITS = 3000
"""Commits looked at. With 1,000 recall at 10 files falls by .04, with 500 by .09; a second thousand costs some 30 ms."""
_HALF_LIFE = 1000
"""Commits after which one counts half."""
_LARGEST = 100
"""Files of a commit up to which it says that they belong together."""
_PRUDENCE = 1.0
"""Commits that are assumed to have changed nothing else: a single common change proves little."""


@dataclass(frozen=True, slots=True)
class Together:
    """How a file was changed with the given ones."""

    share: float
    """The part of the given files' changes in which it had part; what a commit says is shared among its files."""
    times: int
    """Commits that changed both."""


class Cochange:
    """The last commits before a state, as the files that each changed, under the names that these have now."""

    def __init__(self, commits: Iterable[Sequence[tuple[str, str, str]]]) -> None:
        """`commits`: of each, newest first, what it did to paths: git's letter, the path, and the old one of a renamed file."""
        self._commits: list[tuple[str, ...]] = []
        self.activity: dict[str, float] = {}
        """Path -> how much it is changed; a commit counts less the more files it has, and the older it is."""
        known: dict[str, str] = {}
        now: dict[str, tuple[str, ...]] = {}
        for age, touched in enumerate(commits):
            was = [now.get(path, (path,)) for status, path, _ in touched if status != "D"]
            paths = list(dict.fromkeys(known.setdefault(path, path) for each in was for path in each))
            moved = {old: now.get(path, (path,)) for status, path, old in touched if status == "R"}
            # What was written anew in the old place since then has that history too.
            now.update({old: (*names, old) if old in self.activity else names for old, names in moved.items()})
            share = _weight(age) / max(1, len(touched)) ** 0.5
            for path in paths:
                self.activity[path] = self.activity.get(path, 0.0) + share
            self._commits.append(tuple(paths) if len(touched) <= _LARGEST else ())

    def __len__(self) -> int:
        return len(self._commits)

    def with_files(self, given: Collection[str]) -> tuple[Mapping[str, Together], int]:
        """Path -> how it was changed together with any of the given files; and how many commits changed one of these."""
        shares: dict[str, float] = {}
        times: dict[str, int] = {}
        total, count, wanted = 0.0, 0, frozenset(given)
        for age, paths in enumerate(self._commits):
            if wanted.isdisjoint(paths):
                continue
            total, count = total + _weight(age), count + 1
            others = [path for path in paths if path not in wanted]
            for path in others:
                shares[path] = shares.get(path, 0.0) + _weight(age) / len(others)
                times[path] = times.get(path, 0) + 1
        return {path: Together(share / (total + _PRUDENCE), times[path]) for path, share in shares.items()}, count


def _weight(age: int) -> float:
    return float(0.5 ** (age / _HALF_LIFE))


def cochange_before(snapshot: Snapshot) -> Cochange:
    """The history before the snapshot's commit; an empty one where there is none."""
    commit = snapshot.at.commit
    if commit is None:
        return Cochange(())
    return _KNOWN.get_or_make(commit, lambda: _read(snapshot, commit))


def _read(snapshot: Snapshot, commit: str) -> Cochange:
    try:
        return Cochange(snapshot.git.changes(commit, COMMITS))
    except TokenzipError:  # a partial clone without trees cannot say which files a commit changed
        return Cochange(())


_KNOWN: Recent[Hashable, Cochange] = Recent(2)
