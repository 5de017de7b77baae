"""Trees: entries, whole walks and differences, read level by level so that git answers many questions at once."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tokenzip.errors import GitError
from tokenzip.git.objects import Objects, TreeEntry, parsed_tree
from tokenzip.git.process import encoded
from tokenzip.model import BlobId, TreeId

DIRECTORY, SYMLINK, GITLINK, REGULAR, EXECUTABLE = 0o40000, 0o120000, 0o160000, 0o100644, 0o100755
_KEPT_ENTRIES = 10_000
"""Parsed entries held in memory, some 230 bytes each. Content never changes, so any directory may be forgotten."""


class FileEntry(NamedTuple):
    """A file of a tree: a blob, a symlink (mode ``0o120000``: its blob is link text) or a submodule (``0o160000``)."""

    path: str
    mode: int
    id: str


class TreeChange(NamedTuple):
    """A path that differs between two trees. A side is (mode, id), None where the path does not exist."""

    path: str
    old: tuple[int, str] | None
    new: tuple[int, str] | None


class Trees:
    """Directory reading over `Objects`."""

    def __init__(self, objects: Objects, algorithm: str) -> None:
        self._objects = objects
        self._id_bytes = hashlib.new(algorithm).digest_size
        self._algorithm = algorithm
        self._parsed: dict[str, tuple[TreeEntry, ...]] = {}
        self._grafted: dict[str, tuple[str, Mapping[str, str]]] = {}
        """Trees that git does not hold: the one that each was made of, and the trees that stand in the places of entries."""
        self._held = 0
        self._lock = threading.Lock()
        self._empty = empty_tree(algorithm)

    def entries(self, tree: str) -> tuple[TreeEntry, ...]:
        """The entries of one directory in git's order; mode ``0o40000`` is a sub-directory."""
        known = () if tree == self._empty else self._parsed.get(tree)
        if known is None and tree in self._grafted:
            of, grafts = self._grafted[tree]
            known = self._hold(tree, _with_grafts(self.entries(of), grafts))
        if known is None:
            kind, data = self._objects.read(tree)
            known = self._keep(tree, kind, data)
        return known

    def graft(self, tree: str, grafts: Mapping[str, str]) -> str:
        """The id of a tree with trees in the places of the entries at some paths, as git would give it. It can be read."""
        below: dict[str, dict[str, str]] = {}
        here: dict[str, str] = {}
        for path, other in grafts.items():
            name, _, rest = path.partition("/")
            if rest:
                below.setdefault(name, {})[rest] = other
            else:
                here[name] = other
        entries = self.entries(tree)
        here |= {entry.name: self.graft(entry.id, below[entry.name]) for entry in entries if entry.name in below}
        made = tree_id(_with_grafts(entries, here), self._algorithm)
        self._grafted[made] = tree, here
        return made

    def grafts(self, tree: str) -> Iterator[tuple[str, str]]:
        """(path, commit) of the gitlinks that have a tree in their place, those inside such trees included."""
        pending = [("", tree)]
        while pending:
            prefix, made = pending.pop()
            of, grafts = self._grafted.get(made, (made, {}))
            old = {entry.name: entry for entry in self.entries(of)} if grafts else {}
            for name, other in grafts.items():
                if old[name].mode == GITLINK:
                    yield prefix + name, old[name].id
                pending.append((f"{prefix}{name}/", other))

    def share(self, other: Trees) -> None:
        """Know the grafted trees of another repository."""
        self._grafted |= other._grafted

    def plain(self, tree: str) -> str:
        """The tree that git holds: the one that a grafted one was made of."""
        return self._grafted[tree][0] if tree in self._grafted else tree

    def find(self, tree: str, path: str) -> TreeEntry | None:
        """The entry at a path (``a/b.py``), None if there is none; the empty path is the tree itself."""
        entry = TreeEntry("", DIRECTORY, tree)
        for name in path.split("/") if path else ():
            if entry.mode != DIRECTORY:
                return None
            found = next((e for e in self.entries(entry.id) if e.name == name), None)
            if found is None:
                return None
            entry = found
        return entry

    def walk(self, tree: str) -> Iterator[FileEntry]:
        """Every file below a tree, in git's order."""
        # Each frame: prefix and the entries still to come. A tree has no cycles, but may be deeper than Python's stack.
        stack: list[tuple[str, Iterator[TreeEntry]]] = [("", iter(self._with_children(tree)))]
        while stack:
            prefix, entries = stack[-1]
            for name, mode, object_id in entries:
                if mode == DIRECTORY:
                    stack.append((f"{prefix}{name}/", iter(self._with_children(object_id))))
                    break
                yield FileEntry(prefix + name, mode, object_id)
            else:
                stack.pop()

    def diff(self, old: str | None, new: str | None, most: int | None = None) -> list[TreeChange]:
        """Files that differ, sorted by path; no rename detection. None stands for an empty tree. Beyond `most` it gives up."""
        changes: list[TreeChange] = []
        level: list[tuple[str, str | None, str | None]] = [] if old == new else [("", old, new)]
        while level and (most is None or len(changes) <= most):
            self._fetch([side for _, *sides in level for side in sides if side is not None])
            level = [deeper for prefix, a, b in level for deeper in self._diff_directory(prefix, a, b, changes)]
        changes.sort()
        return changes

    def _diff_directory(
        self, prefix: str, old: str | None, new: str | None, changes: list[TreeChange]
    ) -> Iterator[tuple[str, str | None, str | None]]:
        """Append the changed files of one directory; yield the sub-directories that differ."""
        before = self._table(old)
        after = self._table(new)
        for name in before.keys() | after.keys():
            a, b = before.get(name), after.get(name)
            if a == b:
                continue
            path = prefix + name
            old_tree = a[1] if a and a[0] == DIRECTORY else None
            new_tree = b[1] if b and b[0] == DIRECTORY else None
            if old_tree or new_tree:
                yield path + "/", old_tree, new_tree
            old_file, new_file = None if old_tree else a, None if new_tree else b
            if old_file or new_file:
                changes.append(TreeChange(path, old_file, new_file))

    def _table(self, tree: str | None) -> dict[str, tuple[int, str]]:
        return {} if tree is None else {name: (mode, object_id) for name, mode, object_id in self.entries(tree)}

    def _with_children(self, tree: str) -> tuple[TreeEntry, ...]:
        """The entries of a directory whose sub-directories will be asked for next."""
        entries = self.entries(tree)
        self._fetch([entry.id for entry in entries if entry.mode == DIRECTORY])
        return entries

    def _fetch(self, trees: Sequence[str]) -> None:
        """Read those that are not held yet, many questions at once. What is absent shows when it is asked for."""
        wanted = [tree for tree in dict.fromkeys(trees) if tree not in self._parsed and tree not in self._grafted]
        if len(wanted) < 2:
            return
        for tree, found in zip(wanted, self._objects.read_many(wanted), strict=True):
            if found is not None:
                self._keep(tree, found.kind, found.data)

    def _keep(self, tree: str, kind: str, data: bytes) -> tuple[TreeEntry, ...]:
        if kind != "tree":
            raise GitError(f"object {tree} is a {kind}, not a tree")
        return self._hold(tree, parsed_tree(data, self._id_bytes))

    def _hold(self, tree: str, parsed: tuple[TreeEntry, ...]) -> tuple[TreeEntry, ...]:
        with self._lock:
            if tree not in self._parsed:
                self._parsed[tree] = parsed
                self._held += len(parsed) + 1
            if self._held > _KEPT_ENTRIES:
                self._forget_older_half()
        return parsed

    def _forget_older_half(self) -> None:
        while self._held > _KEPT_ENTRIES // 2:
            oldest = next(iter(self._parsed))
            self._held -= len(self._parsed.pop(oldest)) + 1


def _with_grafts(entries: Iterable[TreeEntry], grafts: Mapping[str, str]) -> tuple[TreeEntry, ...]:
    """Entries with trees in the places of some, in git's order: a directory's name counts as if it ended in a slash."""
    made = [
        TreeEntry(entry.name, DIRECTORY, grafts[entry.name]) if entry.name in grafts else entry
        for entry in entries
    ]  # fmt: skip
    return tuple(sorted(made, key=_sort_key))


def _sort_key(entry: TreeEntry) -> bytes:
    return encoded(entry.name) + (b"/" if entry.mode == DIRECTORY else b"")


def tree_id(entries: Iterable[TreeEntry], algorithm: str) -> TreeId:
    """The id that git gives to a tree with these entries."""
    data = b"".join(b"%o %s\0%s" % (mode, encoded(name), bytes.fromhex(other)) for name, mode, other in entries)
    return TreeId(hashlib.new(algorithm, b"tree %d\0" % len(data) + data).hexdigest())


def empty_tree(algorithm: str) -> TreeId:
    """The id of the tree without entries; git knows it even where no such object was written."""
    return TreeId(hashlib.new(algorithm, b"tree 0\0").hexdigest())


def blob_id(data: bytes, algorithm: str) -> BlobId:
    """The id that git gives to a blob with this content."""
    return BlobId(hashlib.new(algorithm, b"blob %d\0" % len(data) + data).hexdigest())
