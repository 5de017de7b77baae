"""The known snapshot that a new one is built on: the one from which the fewest files differ.

Mostly that is an ancestor, one commit back. Where none is near, the tips of this clone and of the others that use the store
are compared: a clone that lies behind another one needs what lies ahead of it, whose objects only the other one holds.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tokenzip.errors import TokenzipError
from tokenzip.git import GitRepository
from tokenzip.index import analysis_tag
from tokenzip.model import CommitId, Revision, TreeId
from tokenzip.snapshot.graph import Snapshot
from tokenzip.store import ReadTransaction, Store, unpack_value

_ANCESTORS = 64
"""How many commits to go back for a known snapshot."""
_NEXT = 4
"""An ancestor so near is taken without comparing it with others: that would take longer than it could save."""
_TIPS = 500
"""Branches, tags and the like that are looked at in each clone."""
_COMPARED = 6
"""Known snapshots of a clone that are compared: those whose commits are nearest in time."""
_FEW = 50
"""So few changed files are not worth a look into other clones."""
_CLONES = 8


class _Candidate(NamedTuple):
    """A known snapshot, and how many files differ from it."""

    changes: int
    git: GitRepository
    tree: TreeId


def is_whole(reading: ReadTransaction, tree: TreeId) -> bool:
    """Whether the store holds the snapshot of a tree, and of every file in it: others can be built on it."""
    return reading.snapshot_root(tree, analysis_tag()) is not None and not reading.absent(tree, analysis_tag())


def nearest_known(git: GitRepository, store: Store, commit: CommitId | None, tree: TreeId) -> Snapshot | None:
    """The snapshot to build that of a tree on; None if nothing of its like is known. Its `git` may read more than this one."""
    with store.reading() as reading:
        if not any(True for _ in reading.snapshots(analysis_tag())):
            return None
        ancestors = git.ancestors(commit, _ANCESTORS) if commit is not None else []
        known = [(place, each) for place, (_, each) in enumerate(ancestors) if is_whole(reading, each)]
        if known and known[0][0] <= _NEXT:
            return _snapshot(git, store, commit, known[0][1])
        near = [each for _, each in known[:1]]
        near += [each for each in {git.plain(tree)} - {tree} if is_whole(reading, each)]  # submodules came later
        best = _fewest(git, tree, [*near, *_latest(git, reading), *_known_tips(git, reading, commit, tree)])
        if best is None or best.changes > _FEW:
            for other in _other_clones(git, reading):
                best = _better_of(best, other, git, reading, commit, tree)
        return None if best is None else _snapshot(best.git, store, commit, best.tree)


def _snapshot(git: GitRepository, store: Store, commit: CommitId | None, tree: TreeId) -> Snapshot:
    return Snapshot(git, store, Revision("", commit, False), tree)


def _latest(git: GitRepository, reading: ReadTransaction) -> Iterator[TreeId]:
    """The snapshot that was stored last."""
    latest = reading.meta("latest")
    if latest is not None and is_whole(reading, TreeId(latest.hex())) and git.has(latest.hex()):
        yield TreeId(latest.hex())


def _known_tips(
    git: GitRepository, reading: ReadTransaction, commit: CommitId | None, tree: TreeId, of: GitRepository | None = None
) -> list[TreeId]:
    """Known trees that refs of a repository lead to, those nearest in time first."""
    when = next((each.time for each in git.log(commit, limit=1)), None) if commit is not None else None
    tips = (of or git).tips(_TIPS)
    if when is not None:
        tips.sort(key=lambda tip: abs(tip[0] - when))
    known = dict.fromkeys(each for _, each in tips if each != tree and is_whole(reading, each))
    return list(known)[:_COMPARED]


def _fewest(
    git: GitRepository, tree: TreeId, candidates: Iterable[TreeId], best: _Candidate | None = None
) -> _Candidate | None:
    """The first of the candidates from which the fewest files differ, if they are fewer than those of `best`."""
    for each in dict.fromkeys(candidates):
        changes = len(git.diff_trees(each, tree, most=None if best is None else best.changes))
        if best is None or changes < best.changes:
            best = _Candidate(changes, git, each)
    return best


def _other_clones(git: GitRepository, reading: ReadTransaction) -> Iterator[GitRepository]:
    """Other repositories that use the store."""
    users = reading.meta("users")
    folders = unpack_value(users) if users is not None else ()
    there = (folder for folder in folders if folder != git.common_dir and os.path.isdir(folder))
    for folder in itertools.islice(there, _CLONES):
        with contextlib.suppress(TokenzipError):  # it is gone, or not for us
            other = GitRepository.discover(folder.removesuffix("/.git"))
            try:
                yield other
            finally:
                other.close()


def _better_of(
    best: _Candidate | None,
    other: GitRepository,
    git: GitRepository,
    reading: ReadTransaction,
    commit: CommitId | None,
    tree: TreeId,
) -> _Candidate | None:
    """The best so far, or a snapshot that another clone holds the trees of; that is read beside this one."""
    try:
        known = _known_tips(git, reading, commit, tree, of=other)
        return _fewest(git.beside(other), tree, known, best) if known else best
    except TokenzipError:  # a clone that lacks trees, or that was taken away
        return best
