"""References of a snapshot that have no edge: by name, one by one, and in files that were not read."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple, Protocol

from tokenzip.git import GitRepository, MissingObject
from tokenzip.index import LARGEST_FILE
from tokenzip.link import UNREAD_NAME
from tokenzip.model import Unresolved
from tokenzip.snapshot.keys import OPEN_REASONS, open_key
from tokenzip.snapshot.overlay import Overlay
from tokenzip.snapshot.tree import TreeFile
from tokenzip.store import OpenReference, ReadTransaction


class OpenUse(NamedTuple):
    """A file with open references of some name."""

    path: str
    reference: OpenReference


class Mention(NamedTuple):
    """Where a file that was not read holds a name."""

    path: str
    line: int
    name: str


class _Snapshot(Protocol):
    git: GitRepository
    overlay: Overlay

    def reading(self) -> contextlib.AbstractContextManager[ReadTransaction]: ...
    def tree_file(self, path: str) -> TreeFile | None: ...
    def source(self, path: str) -> bytes: ...
    def opens(self, path: str) -> tuple[OpenReference, ...]: ...
    def unresolved_in(self, path: str, wanted: Callable[[str, str], bool]) -> tuple[Unresolved, ...]: ...
    def paths_posted(self, hashes: Iterable[int]) -> list[str]: ...


def open_uses(snapshot: _Snapshot, *names: str) -> tuple[OpenUse, ...]:
    """Files with references of these names which may mean a symbol of the repository (dynamic, ambiguous, missing)."""
    wanted = frozenset(names)
    with snapshot.reading():
        return tuple(
            OpenUse(path, reference)
            for path in snapshot.paths_posted(map(open_key, wanted))
            for reference in snapshot.opens(path)
            if reference.name in wanted and reference.reason in OPEN_REASONS
        )


def unread_mentions(snapshot: _Snapshot, names: Collection[str]) -> tuple[Mention, ...]:
    """Sources that were not read (skipped, failed) and hold one of these names as a word, with the first place.

    What this clone does not hold, and what is too large to look through, counts as holding them.
    """
    unread = open_uses(snapshot, UNREAD_NAME) if names else ()
    if not unread:
        return ()
    written = [re.escape(name.encode("utf-8", "surrogatepass")) for name in sorted(names)]
    word = re.compile(rb"(?<![\w$])(?:" + b"|".join(written) + rb")(?![\w$])")
    mentions = (_mention(snapshot, use.path, word, min(names)) for use in unread)
    return tuple(mention for mention in mentions if mention is not None)


def _mention(snapshot: _Snapshot, path: str, word: re.Pattern[bytes], otherwise: str) -> Mention | None:
    file = snapshot.tree_file(path)
    over = snapshot.overlay.get(path)
    size = snapshot.git.blob_sizes([file.blob])[0] if file is not None and (over is None or over.ir is None) else 0
    if size is None or size > LARGEST_FILE:
        return Mention(path, 1, otherwise)
    try:
        source = snapshot.source(path)
    except MissingObject:
        return Mention(path, 1, otherwise)
    match = word.search(source)
    if match is None:
        return None
    return Mention(path, source.count(b"\n", 0, match.start()) + 1, match.group().decode("utf-8", "surrogatepass"))


def unresolved_named(snapshot: _Snapshot, name: str) -> tuple[Unresolved, ...]:
    """The references of `open_uses` one by one, with their lines: each of the files is linked again."""
    paths = sorted({use.path for use in open_uses(snapshot, name)})
    found = (row for path in paths for row in snapshot.unresolved_in(path, lambda _, referred: referred == name))
    return tuple(row for row in found if row.reason in OPEN_REASONS)
