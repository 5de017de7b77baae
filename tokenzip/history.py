"""History as a graph: what became of one symbol commit by commit, and since when a dependency is there.

The log of a symbol needs no links: it compares what a file says before and after each commit that touched it, and looks at
all that the commit changed only where the symbol begins there, to see where it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from tokenzip.diff import Comparison, broken_references, compare
from tokenzip.errors import UnknownSymbol
from tokenzip.model import BlobId, BrokenReference, Change, CommitId, Edge, FileIR, Revision, SymbolKey, TreeId
from tokenzip.snapshot import Snapshot
from tokenzip.snapshot.tree import DIRECTORY, TreeFile, language_of

_REMEMBERED = 64
"""Files whose symbols are kept: what a commit found is what the next one left."""


class Commit(Protocol):
    """What is needed of a commit, as `GitRepository.log` gives it."""

    @property
    def id(self) -> CommitId: ...
    @property
    def parents(self) -> tuple[CommitId, ...]: ...
    @property
    def tree(self) -> TreeId: ...
    @property
    def author(self) -> str: ...
    @property
    def time(self) -> int: ...
    @property
    def subject(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Event:
    """What one commit did to a symbol."""

    commit: Commit | None
    """None for what is not committed yet."""
    change: Change
    """Its change; that of its file if it merely went along with that."""
    key: SymbolKey
    """The symbol after the commit."""


def symbol_log(head: Snapshot, key: SymbolKey) -> Iterator[Event]:
    """The commits that changed a symbol or file, newest first, followed through renames and moves to where it began.

    Lazy: take as many as needed. A merge is an event only if it differs from all of its parents. Raises UnknownSymbol if it is
    not there.
    """
    if head.tree_file(key.path) is None or (key.qualified and head.symbol(key) is None):
        raise UnknownSymbol(f"there is no {key.handle} at {head.at.rev}", hint="`tokenzip search WORDS` finds symbols by words")
    trail = _Trail(head, key)
    yield from trail.uncommitted()
    yield from trail.committed()


class _Trail:
    """Follows one symbol backwards.

    Most commits that touch a file leave the symbol as it stands: if both sides of a commit hold its very text once, and the
    heads of what is around it, nothing is parsed. Should the symbol turn out not to be where such commits left it (it moved
    within the file, text and all), they are looked at again without that short cut.
    """

    def __init__(self, head: Snapshot, key: SymbolKey) -> None:
        self._head = head
        self._git = head.git
        self._key: SymbolKey | None = key
        self._start: CommitId | None = None
        self._facts: dict[BlobId, FileIR] = {}
        self._texts = _texts(head, key)
        self._passed: list[Commit] = []

    def uncommitted(self) -> Iterator[Event]:
        """What the work tree or index did to it since the commit below."""
        if self._key is None or not self._head.at.dirty:
            return
        tree = self._git.resolve(self._head.at.commit)[1] if self._head.at.commit is not None else self._git.empty_tree
        yield from self._step(self._unlinked(tree), self._head, None)

    def committed(self) -> Iterator[Event]:
        """What each commit did to it."""
        self._start = self._head.at.commit
        while self._start is not None and self._key is not None:
            yield from self._along(self._start, self._key.path)

    def _along(self, start: CommitId, path: str) -> Iterator[Event]:
        """The events while the file keeps its path; then `_start` is where to go on from under another one."""
        self._start = None
        self._passed = []
        for commit in self._git.log(start, paths=[path]):
            before, after = self._unlinked(self._tree_before(commit)), self._unlinked(commit.tree)
            if self._leaves_text(before, path) and self._leaves_text(after, path):
                self._passed.append(commit)
                continue
            if self._key is not None and not _stands(after, self._key):
                yield from self._look_again()
            yield from self._step(before, after, commit)
            self._passed = []
            if self._key is None or self._key.path != path:
                self._start = commit.parents[0] if commit.parents else None
                return

    def _look_again(self) -> Iterator[Event]:
        """The commits that were passed over, one by one."""
        for commit in self._passed:
            yield from self._step(self._unlinked(self._tree_before(commit)), self._unlinked(commit.tree), commit)

    def _tree_before(self, commit: Commit) -> TreeId:
        return self._git.resolve(commit.parents[0])[1] if commit.parents else self._git.empty_tree

    def _leaves_text(self, snapshot: Snapshot, path: str) -> bool:
        if not self._texts or snapshot.tree_file(path) is None:
            return False
        source = snapshot.source(path)
        return source.count(self._texts[0]) == 1 and all(text in source for text in self._texts)

    def _step(self, before: Snapshot, after: Snapshot, commit: Commit | None) -> Iterator[Event]:
        """The event of one step, if there is one; the key becomes that before the step."""
        key = self._key
        if key is None or not _stands(after, key):
            return  # on another line of history
        comparison = compare(before, after, [key.path])
        if comparison.then(key) is None:
            changed = self._git.diff_trees(before.tree, after.tree) if after is not self._head else ()
            comparison = compare(before, after, sorted({key.path, *(change.path for change in changed)}))
        self._key = comparison.then(key)
        self._texts = _texts(before, self._key) if self._key is not None else ()
        change = _change_of(comparison, key)
        if change is not None:
            yield Event(commit, change, key)

    def _unlinked(self, tree: TreeId) -> Snapshot:
        return _Unlinked(self._head, tree, self._facts)


class _Unlinked(Snapshot):
    """A tree as its files say it, without what they mean: nothing is linked and nothing is stored for it."""

    def __init__(self, head: Snapshot, tree: TreeId, facts: dict[BlobId, FileIR]) -> None:
        super().__init__(head.git, head.store, Revision(tree, None, False), tree)
        self._facts = facts

    def tree_file(self, path: str) -> TreeFile | None:
        assert self.tree is not None
        entry = self.git.find(self.tree, path)
        if entry is None or entry.mode == DIRECTORY:
            return None
        return TreeFile(path, entry.mode, BlobId(entry.id), language_of(path.rpartition("/")[2], entry.mode), None)

    def ir(self, path: str) -> FileIR:
        file = self.tree_file(path)
        if file is None:
            return super().ir(path)
        known = self._facts.get(file.blob)
        if known is None:
            if len(self._facts) >= _REMEMBERED:
                self._facts.pop(next(iter(self._facts)))
            known = self._facts[file.blob] = super().ir(path)
        return known

    def edges_from(self, key: SymbolKey) -> tuple[Edge, ...]:
        return ()


def _texts(snapshot: Snapshot, key: SymbolKey) -> tuple[bytes, ...]:
    """The text of a symbol, that of documentation outside of it, and the heads of what is around it. Nothing for a file."""
    symbol, file = snapshot.symbol(key), snapshot.file(key.path)
    if symbol is None or file is None:
        return ()
    source, row = snapshot.source(key.path), symbol.row
    texts = [source[row.start : row.end]]
    if not row.start <= row.doc_start <= row.end:
        texts.append(source[row.doc_start : row.doc_end])
    while row.parent >= 0:
        row = file.symbols[row.parent].row
        texts.append(source[row.start : row.signature_end])
    return tuple(texts)


def _stands(snapshot: Snapshot, key: SymbolKey) -> bool:
    return snapshot.tree_file(key.path) is not None and (not key.qualified or snapshot.symbol(key) is not None)


def _change_of(comparison: Comparison, key: SymbolKey) -> Change | None:
    """The change of a key at the head: its own, or else that of its file if this took it elsewhere."""
    own = comparison.change_at(key)
    if own is not None:
        return own
    before = comparison.then(key)
    return comparison.change_at(SymbolKey(key.path)) if before is not None and before.path != key.path else None


# ---- since when


@dataclass(frozen=True, slots=True)
class EdgeEvent:
    """The commit in which a dependency appeared or went away."""

    commit: Commit
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


# ---- merges that git finds clean and that are not


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something that a merge breaks and that neither side has broken by itself."""

    broken: BrokenReference
    """At the merge."""
    user: str
    """Which side uses it: ``ours`` or ``theirs``."""
    cause: Change | None
    """What the other side did to it."""


def conflicts(base: Snapshot, ours: Snapshot, theirs: Snapshot, merged: Snapshot) -> tuple[Conflict, ...]:
    """What one side removed, renamed or changed incompatibly and the other side newly uses, seen in the merge of both.

    `base` is their merge base, `merged` the tree that git makes of them without a conflict in the text.
    """
    found: list[Conflict] = []
    for user, side, other in (("ours", ours, theirs), ("theirs", theirs, ours)):
        done = compare(base, other)
        known = {(row.source, row.kind, row.target) for row in broken_references(base, other, done)}
        causes = {change.old_key: change for change in done.changes if change.old_key is not None}
        for row in broken_references(side, merged):
            if (row.source, row.kind, row.target) not in known:
                found.append(Conflict(row, user, causes.get(row.target)))
    return tuple(
        sorted(
            found, key=lambda conflict: (conflict.broken.source, conflict.broken.line, conflict.user, conflict.broken.target)
        )
    )
