"""Since when a dependency is there, or is gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tokenzip.diff import compare
from tokenzip.history.commits import STAGE, Commit
from tokenzip.model import CommitId, Edge, Progress, SymbolKey, no_progress
from tokenzip.snapshot import Outline, Snapshot, changed_paths

_DETOURS = 50
"""How often the search goes on elsewhere: along a branch that was merged, or under the names that the ends had before."""


@dataclass(frozen=True, slots=True)
class EdgeEvent:
    """The commit in which a dependency appeared or went away."""

    commit: Commit | None
    """None for what is not committed yet."""
    appeared: bool
    edges: tuple[Edge, ...]
    """The edges that make up the dependency, on the side where it is there."""


def edge_log(
    commits: Sequence[Commit], snapshot_of: Callable[[Commit], Snapshot], source: SymbolKey, target: SymbolKey
) -> EdgeEvent | None:
    """The last commit that put a dependency in or took it out, along `commits`: newest first, each a child of the next.

    Found by going back in growing strides until it is otherwise and halving the last stride: some twenty snapshots for ten
    thousand commits. What came and went within one stride is not seen. None if no commit that was looked at differs. A file or
    class stands for all in it.
    """
    known: dict[int, tuple[Edge, ...]] = {}

    def edges_at(place: int) -> tuple[Edge, ...]:
        if place not in known:
            known[place] = dependency(snapshot_of(commits[place]), source, target)
        return known[place]

    if not commits:
        return None
    now = bool(edges_at(0))
    like, unlike, stride = 0, None, 1
    while unlike is None and like < len(commits) - 1:
        place = min(like + stride, len(commits) - 1)
        if bool(edges_at(place)) == now:
            like, stride = place, stride * 2
        else:
            unlike = place
    if unlike is None:
        return None
    while unlike - like > 1:
        middle = (like + unlike) // 2
        if bool(edges_at(middle)) == now:
            like = middle
        else:
            unlike = middle
    return EdgeEvent(commits[like], now, edges_at(like) or edges_at(unlike))


class _Line(NamedTuple):
    """Where a search goes on."""

    commits: list[Commit]
    source: SymbolKey
    target: SymbolKey
    is_branch: bool = False
    """Whether it is what a merge brought in: where that begins, history does not."""


class Since:
    """Looks for the commit that put a dependency in or took it out before a state.

    Commits are asked along first parents, as `edge_log` does. If the one that is found is a merge, the search goes on along
    the branch that was merged; if an end had another name or place before it, under that. The way goes by outlines, which
    leave nothing in the store; where they are not sure, what they find is asked of whole snapshots before it is believed.
    """

    def __init__(
        self, head: Snapshot, snapshot_of: Callable[[CommitId], Snapshot], *, most: int, progress: Progress = no_progress
    ) -> None:
        self._head = head
        self._git = head.git
        self._snapshot_of = snapshot_of
        self._most = most
        self._progress = progress
        self._outlines: dict[CommitId, Outline] = {}
        self.is_cut = False
        """Whether history goes on beyond the commits that were gone back over."""

    @property
    def looked_at(self) -> int:
        """Commits whose graph was asked."""
        return len(self._outlines)

    def find(self, source: SymbolKey, target: SymbolKey) -> EdgeEvent | None:
        """The last such commit; None if it was always as it is now, as far back as was looked."""
        commit = self._head.at.commit
        now = dependency(self._head, source, target)
        if commit is None:
            return EdgeEvent(None, True, now) if now else None
        before = dependency(self._snapshot_of(commit), source, target)
        if bool(now) != bool(before):
            return EdgeEvent(None, bool(now), now or before)
        line: _Line | None = _Line(self._first_parents(commit), source, target)
        found: EdgeEvent | None = None
        for _ in range(_DETOURS):
            event = self._along(line) if line is not None else None
            if event is None or line is None or (found is not None and event.appeared != found.appeared):
                break
            found, line = event, self._onward(event, line)
        return found

    def _first_parents(self, rev: str) -> list[Commit]:
        commits: list[Commit] = list(self._git.log(rev, first_parent=True, limit=self._most + 1))
        if len(commits) > self._most:
            self.is_cut = True
            commits.pop()
        return commits

    def _along(self, line: _Line) -> EdgeEvent | None:
        commits, source, target, is_branch = line
        self.is_cut = False
        if not commits:
            return None
        event, is_believed = None, self._agree(commits[0].id, line)
        if is_believed:
            event = edge_log(commits, self._outline, source, target)
            is_believed = (
                event is None
                or event.commit is None
                or all(self._agree(commit, line) for commit in (event.commit.id, event.commit.parents[0]))
            )
        if not is_believed:
            event = edge_log(commits, lambda commit: self._snapshot_of(commit.id), source, target)
        if event is not None or is_branch:
            return event
        return self._beginning(commits[-1], line)

    def _agree(self, commit: CommitId, line: _Line) -> bool:
        """Whether the whole snapshot of a commit says what its outline says."""
        outline = self._outline(next(self._git.log(commit, limit=1)))
        guess = bool(dependency(outline, line.source, line.target))
        return outline.is_sure or guess == bool(dependency(self._snapshot_of(commit), line.source, line.target))

    def _beginning(self, first: Commit, line: _Line) -> EdgeEvent | None:
        """The first commit of all, if the dependency came with it."""
        self.is_cut = bool(first.parents) or self._git.is_shallow
        if self.is_cut:
            return None
        outline = self._outline(first)
        edges = dependency(outline, line.source, line.target)
        if not outline.is_sure:
            edges = dependency(self._snapshot_of(first.id), line.source, line.target)
        return EdgeEvent(first, True, edges) if edges else None

    def _outline(self, commit: Commit) -> Outline:
        known = self._outlines.get(commit.id)
        if known is None:
            near = next(reversed(self._outlines.values()), self._head)
            known = self._outlines[commit.id] = Outline(near, near.git.joined(commit.tree))
            self._progress(STAGE, len(self._outlines), 0)
        return known

    def _onward(self, event: EdgeEvent, line: _Line) -> _Line | None:
        """Where to look for an earlier origin; None if the event is the origin."""
        commit = event.commit
        if commit is None or not commit.parents:
            return None
        if len(commit.parents) > 1:
            return self._into_branch(event, commit, line)
        if not event.appeared:
            return None
        before, after = self._outline(next(self._git.log(commit.parents[0], limit=1))), self._outline(commit)
        comparison = compare(before, after, changed_paths(before, after))
        source, target = comparison.then(line.source), comparison.then(line.target)
        if source is None or target is None or (source, target) == (line.source, line.target):
            return None
        is_older = bool(dependency(before, source, target))
        return _Line(self._first_parents(commit.parents[0]), source, target) if is_older else None

    def _into_branch(self, event: EdgeEvent, merge: Commit, line: _Line) -> _Line | None:
        """The commits that a merge brought in, and the one before them, if they say what the merge says."""
        main, *others = merge.parents
        for other in others:
            commits: list[Commit] = list(self._git.log(f"{main}..{other}", first_parent=True, limit=self._most))
            if not commits or bool(dependency(self._outline(commits[0]), line.source, line.target)) != event.appeared:
                continue
            if commits[-1].parents:
                commits.extend(self._git.log(commits[-1].parents[0], limit=1))
            return _Line(commits, line.source, line.target, is_branch=True)
        return None


def dependency(snapshot: Snapshot, source: SymbolKey, target: SymbolKey) -> tuple[Edge, ...]:
    """The edges from anything in `source` to anything in `target`."""
    if snapshot.tree_file(source.path) is None:
        return ()
    return tuple(
        edge for edge in snapshot.file_edges(source.path) if _within(edge.source, source) and _within(edge.target, target)
    )


def _within(key: SymbolKey, outer: SymbolKey) -> bool:
    if key.path != outer.path:
        return False
    return not outer.qualified or key.qualified == outer.qualified or key.qualified.startswith(outer.qualified + ".")
