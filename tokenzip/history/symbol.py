"""What became of one symbol, commit by commit.

This needs no links: it compares what a file says before and after each commit that touched it, and looks at all that the
commit changed only where the symbol begins there, to see where it came from.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from tokenzip.diff import Comparison, compare
from tokenzip.errors import MissingObject, UnknownSymbol
from tokenzip.history.commits import STAGE, Commit
from tokenzip.model import BlobId, Change, CommitId, Edge, Progress, SymbolKey, TreeId, no_progress
from tokenzip.snapshot import Outline, Snapshot, changed_paths

_AHEAD = 32
"""Commits whose files are read at once: those behind the end of the search are read in vain."""


_ELSEWHERE = frozenset({"renamed", "moved"})


@dataclass(frozen=True, slots=True)
class Event:
    """What one commit did to a symbol."""

    commit: Commit | None
    """None for what is not committed yet."""
    change: Change
    """Its change; if it merely went along with its class or file, where that went."""
    key: SymbolKey
    """The symbol after the commit; before it, if the commit removed it."""
    old_key: SymbolKey | None = None
    """The symbol before the commit; None if it was not there."""


def symbol_log(head: Snapshot, key: SymbolKey, *, most: int | None = None, progress: Progress = no_progress) -> SymbolLog:
    """The commits that changed a symbol or file, newest first, followed through renames and moves to where it began.

    If it had been there before under the same name and place, the commit that removed it is next, and so on.

    Lazy: take as many as needed. A merge is an event only if it differs from all of its parents. At most `most` commits that
    touch its file are looked at. Raises UnknownSymbol if it is not there.
    """
    if head.tree_file(key.path) is None or (key.qualified and head.symbol(key) is None):
        raise UnknownSymbol(
            f"there is no {key.handle} at {head.at.rev}",
            hint="a search by words may find it",
            calls=[("search_symbols", {"query": key.qualified or key.path})],
        )
    return SymbolLog(head, key, most, progress)


class SymbolLog:
    """Follows one symbol backwards; can be gone through once.

    Most commits that touch a file leave the symbol as it stands: if both sides of a commit hold its very text once, and the
    heads of what is around it, nothing is parsed. Should the symbol turn out not to be where such commits left it (it moved
    within the file, text and all), they are looked at again without that short cut.
    """

    looked_at = 0
    """Commits that touch its file, so far."""
    is_cut = False
    """Whether there were more of them than was asked for."""

    def __init__(self, head: Snapshot, key: SymbolKey, most: int | None, progress: Progress) -> None:
        self._head = head
        self._git = head.git
        self._key: SymbolKey | None = key
        self._start: CommitId | None = None
        self._near: Snapshot = head
        self._texts = _texts(head, key)
        self._passed: list[Commit] = []
        self._began: SymbolKey = key
        self._is_through = False
        self._most = most
        self._progress = progress

    @property
    def has_begun(self) -> bool:
        """Whether the beginning was found: before the last event there is nothing."""
        return self._key is None and self._is_through

    def __iter__(self) -> Iterator[Event]:
        yield from self.uncommitted()
        yield from self.committed()

    def uncommitted(self) -> Iterator[Event]:
        """What the work tree or index did to it since the commit below."""
        if self._key is None or not self._head.at.dirty:
            return
        tree = self._git.resolve(self._head.at.commit)[1] if self._head.at.commit is not None else self._git.empty_tree
        yield from self._step(self._unlinked(self._git.joined(tree)), self._head, None)

    def committed(self) -> Iterator[Event]:
        """What each commit did to it."""
        self._start = self._head.at.commit
        while self._start is not None and not self.is_cut:
            if self._key is not None:
                yield from self._along(self._start, self._key.path)
            else:
                yield from self._removal(self._start, self._began)
        self._is_through = not self.is_cut

    def _along(self, start: CommitId, path: str) -> Iterator[Event]:
        """The events while the file keeps its path; then `_start` is where to go on from under another one."""
        self._start = None
        self._passed = []
        for commit, sides in self._with_sides(self._git.log(start, paths=[path]), path):
            if self.looked_at == self._most:
                self.is_cut = True
                return
            self.looked_at += 1
            self._progress(STAGE, self.looked_at, 0)
            after, *before = map(self._holds_text, sides)
            if after and any(before):  # a merge may have it as a branch that it brought in has it
                self._passed.append(commit)
                continue
            if self._key is not None and not _stands(self._unlinked(commit.tree), self._key):
                yield from self._look_again()
            yield from self._step(self._unlinked(self._tree_before(commit)), self._unlinked(commit.tree), commit)
            self._passed = []
            if self._key is None or self._key.path != path:
                self._start = commit.parents[0] if commit.parents else None
                return

    def _removal(self, start: CommitId, key: SymbolKey) -> Iterator[Event]:
        """The commit that removed what had been there under the key; then the log goes on before it."""
        self._start = None
        name = key.qualified.rpartition(".")[2].partition("#")[0].encode("utf-8", "surrogatepass")
        for commit, sides in self._with_sides(self._git.log(start, paths=[key.path]), key.path):
            if self.looked_at == self._most:
                self.is_cut = True
                return
            self.looked_at += 1
            self._progress(STAGE, self.looked_at, 0)
            after, before = (_lines_with(name, side) for side in (*sides, None)[:2])
            if before <= after:
                continue
            earlier, later = self._unlinked(self._tree_before(commit)), self._unlinked(commit.tree)
            if _stands(earlier, key) and not _stands(later, key):
                change = next((each for each in compare(earlier, later).changes if each.key == key), None)
                if change is not None and change.change == "removed":  # else it lives on elsewhere, and is another one
                    self._key, self._texts, self._start = key, _texts(earlier, key), commit.parents[0]
                    yield Event(commit, change, key, key)
                return

    def _with_sides(self, commits: Iterator[Commit], path: str) -> Iterator[tuple[Commit, list[bytes | None]]]:
        """Each commit with the content of a file after it, and as each of its parents has it; None where it is not there.

        Many commits are asked about at once: a question of its own for each would cost more than all else.
        """
        while ahead := list(itertools.islice(commits, _AHEAD)):
            blobs = self._git.blobs_at([rev for commit in ahead for rev in (commit.id, *commit.parents)], path)
            different = list(dict.fromkeys(blob for blob in blobs if blob is not None))
            content: dict[BlobId | None, bytes | None] = dict(zip(different, self._git.blobs(different), strict=True))
            sides = (content.get(blob) for blob in blobs)
            for commit in ahead:
                yield commit, list(itertools.islice(sides, 1 + len(commit.parents)))

    def _look_again(self) -> Iterator[Event]:
        """The commits that were passed over, one by one."""
        for commit in self._passed:
            yield from self._step(self._unlinked(self._tree_before(commit)), self._unlinked(commit.tree), commit)

    def _tree_before(self, commit: Commit) -> TreeId:
        return self._git.resolve(commit.parents[0])[1] if commit.parents else self._git.empty_tree

    def _holds_text(self, source: bytes | None) -> bool:
        """Whether a file has the symbol as it stands, once."""
        if source is None or not self._texts:
            return False
        return source.count(self._texts[0]) == 1 and all(text in source for text in self._texts)

    def _step(self, before: Snapshot, after: Snapshot, commit: Commit | None) -> Iterator[Event]:
        """The event of one step, if there is one; the key becomes that before the step."""
        key = self._key
        if key is None or not _stands(after, key):
            return  # on another line of history
        comparison = compare(before, after, [key.path])
        if comparison.then(key) is None:
            comparison = self._with_origin(before, after, key)
        self._key, self._began = comparison.then(key) or _sibling(comparison, before, key), key
        self._texts = _texts(before, self._key) if self._key is not None else ()
        change = _change_of(comparison, key)
        if change is not None:
            yield Event(commit, change, key, comparison.then(key))

    def _with_origin(self, before: Snapshot, after: Snapshot, key: SymbolKey) -> Comparison:
        """A comparison of so much of a commit that it shows where a symbol comes from, or that it is new.

        A file that was renamed as it stood, or the only one that lost the text that this one gained, is where it comes from;
        only otherwise all files that changed have to be parsed.
        """
        paths = changed_paths(before, after)
        for near in (_same_blobs(before, after, key.path, paths), self._giving(before, after, key.path, paths)):
            if near:
                comparison = compare(before, after, sorted({key.path, *near}))
                if comparison.then(key) is not None:
                    return comparison
        return compare(before, after, sorted({key.path, *paths}))

    def _giving(self, before: Snapshot, after: Snapshot, path: str, paths: Collection[str]) -> list[str]:
        """The file that lost the symbol's text, if just one did and no other gained it."""
        if not self._texts:
            return []
        text = self._texts[0]
        had, has = ({place for place, source in _sources(end, paths) if text in source} for end in (before, after))
        return sorted(had - has) if len(had - has) == 1 and has - had <= {path} else []

    def _unlinked(self, tree: TreeId) -> Snapshot:
        self._near = _Unlinked(self._near, tree)
        return self._near


def _same_blobs(before: Snapshot, after: Snapshot, path: str, paths: Iterable[str]) -> list[str]:
    """If a file is new: all files of its content that begin or end."""
    new = after.tree_file(path)
    if new is None or before.tree_file(path) is not None:
        return []
    begun_or_ended = ((place, before.tree_file(place), after.tree_file(place)) for place in paths)
    return [place for place, one, other in begun_or_ended if [file.blob for file in (one, other) if file] == [new.blob]]


def _lines_with(name: bytes, source: bytes | None) -> set[bytes]:
    """Lines that hold a name; for a file (an empty name) whether it is there."""
    if not name:
        return set() if source is None else {b""}
    return {line for line in (source or b"").splitlines() if name in line}


def _sources(snapshot: Snapshot, paths: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """The contents of those of the paths that a language with symbols reads."""
    if isinstance(snapshot, Outline):
        snapshot.read_ahead(paths)
    for path in paths:
        file = snapshot.file(path)
        if file is not None and file.is_source:
            with contextlib.suppress(MissingObject):
                yield path, snapshot.source(path)


class _Unlinked(Outline):
    """A tree as its files say it, without what they mean."""

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


def _sibling(comparison: Comparison, before: Snapshot, key: SymbolKey) -> SymbolKey | None:
    """What had the name of a new overload before it came."""
    file = comparison.then(SymbolKey(key.path)) if key.qualified else None
    if file is None:
        return None
    plain = SymbolKey(file.path, re.sub(r"(?<=.)#\d+$", "", key.qualified))
    return plain if before.symbol(plain) is not None else None


def _stands(snapshot: Snapshot, key: SymbolKey) -> bool:
    return snapshot.tree_file(key.path) is not None and (not key.qualified or snapshot.symbol(key) is not None)


def _change_of(comparison: Comparison, key: SymbolKey) -> Change | None:
    """The change of a key at the head: its own, or else that of the class or file that took it elsewhere."""
    own, before = comparison.change_at(key), comparison.then(key)
    if own is not None or before is None or (before.path, before.qualified) == (key.path, key.qualified):
        return own
    outer = key
    while outer.qualified:
        outer = SymbolKey(key.path, outer.qualified.rpartition(".")[0])
        change = comparison.change_at(outer)
        went = [aspect for aspect in change.aspects if aspect in _ELSEWHERE] if change is not None else []
        if change is not None and change.old_key is not None and went:
            return replace(change, change=went[0], also=tuple(went[1:]), reasons=())
    return None
