"""A git tree joined with its node: which files a state has, and where the store keeps what they mean.

Names, modes and blob ids come from git's own tree objects. A *node* adds what git does not know: in git's order, 6 bytes for
each directory (the address of its node) and for each file that a language reads (the address of its link record).
Directories in which nothing changed are shared between snapshots.
"""

from __future__ import annotations

import struct
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol

from tokenzip.errors import StoreChanged
from tokenzip.git import GitRepository
from tokenzip.index import analysis_tag
from tokenzip.languages import registry
from tokenzip.model import BlobId, TreeId
from tokenzip.store import Address, ReadTransaction, WriteTransaction

DIRECTORY = 0o040000
SYMLINK = 0o120000
GITLINK = 0o160000
_ADDRESS = struct.Struct(">IH")
NO_LINK = Address(0, 0)
"""Address of an empty link record: nothing is stored for it."""
_REMEMBERED_ENTRIES = 30_000
"""Of directories, some 350 bytes each."""


class Entry(NamedTuple):
    """One name in a directory."""

    mode: int
    id: str
    language: str | None
    """Which language reads it; None for directories, links and files of no known language."""
    link: Address | None
    node: Address | None


Directory = Mapping[str, Entry]


def read_directory(git: GitRepository, reading: ReadTransaction, tree: TreeId, node: Address) -> Directory:
    """The entries of one directory in git's order."""
    value = reading.node(node)
    entries: dict[str, Entry] = {}
    at = 0
    for name, mode, identity in git.tree(tree):
        language = language_of(name, mode)
        if mode != DIRECTORY and language is None:
            entries[name] = Entry(mode, identity, None, None, None)
            continue
        address = Address(*_ADDRESS.unpack_from(value, at))
        at += _ADDRESS.size
        is_directory = mode == DIRECTORY
        entries[name] = Entry(mode, identity, language, None if is_directory else address, address if is_directory else None)
    return entries


def language_of(name: str, mode: int) -> str | None:
    """The language that reads a tree entry: none reads links, sub-repositories and directories."""
    if mode in (DIRECTORY, SYMLINK, GITLINK):
        return None
    return registry.name_for_path(name)


class Links(Protocol):
    """Where the link record of each file of a new tree lies."""

    def unchanged(self, directory: str, tree: TreeId) -> Address | None:
        """The node of a directory in which nothing changed, if it is known already."""
        ...

    def before(self, directory: str) -> Address | None:
        """The node that the directory had in the state built upon, if there was one."""
        ...

    def link(self, path: str) -> Address: ...


def write_nodes(git: GitRepository, writing: WriteTransaction, tree: TreeId, links: Links, directory: str = "") -> Address:
    """Write the nodes of a tree, the deepest first; where the root's lies."""
    known = links.unchanged(directory, tree)
    if known is not None:
        return known
    parts: list[bytes] = []
    for name, mode, identity in git.tree(tree):
        path = f"{directory}/{name}" if directory else name
        if mode == DIRECTORY:
            parts.append(_ADDRESS.pack(*write_nodes(git, writing, TreeId(identity), links, path)))
        elif language_of(name, mode) is not None:
            parts.append(_ADDRESS.pack(*links.link(path)))
    return writing.put_node(b"".join(parts), links.before(directory))


class TreeFile(NamedTuple):
    """A file of a state."""

    path: str
    mode: int
    blob: BlobId
    language: str | None
    link: Address | None


class StoredTree:
    """A tree whose nodes are in the store; directories are read when asked for and remembered."""

    def __init__(self, git: GitRepository, tree: TreeId) -> None:
        self.git = git
        self.tree = tree
        self._directories: dict[tuple[str, Address], Directory] = {}

    def _read(self, reading: ReadTransaction, tree: str, node: Address) -> Directory:
        key = (tree, node)
        known = self._directories.get(key)
        if known is None:
            known = self._directories[key] = read_directory(self.git, reading, TreeId(tree), node)
        return known

    def directory(self, reading: ReadTransaction, root: Address, path: str) -> Directory | None:
        """The entries of a directory, None if there is no such directory."""
        here = self._read(reading, self.tree, root)
        for name in path.split("/") if path else ():
            entry = here.get(name)
            if entry is None or entry.node is None:
                return None
            here = self._read(reading, entry.id, entry.node)
        return here

    def file(self, reading: ReadTransaction, root: Address, path: str) -> TreeFile | None:
        """The file at a path; None for a directory or nothing."""
        parent, _, name = path.rpartition("/")
        entries = self.directory(reading, root, parent)
        entry = entries.get(name) if entries is not None else None
        if entry is None or entry.mode == DIRECTORY:
            return None
        return TreeFile(path, entry.mode, BlobId(entry.id), entry.language, entry.link)

    def files(self, reading: ReadTransaction, root: Address) -> Iterator[TreeFile]:
        """All files, directory by directory in git's order."""
        pending: list[tuple[str, Iterator[tuple[str, Entry]]]] = [("", iter(self._read(reading, self.tree, root).items()))]
        while pending:
            prefix, entries = pending[-1]
            for name, entry in entries:
                if entry.node is not None:
                    pending.append((f"{prefix}{name}/", iter(self._read(reading, entry.id, entry.node).items())))
                    break
                yield TreeFile(prefix + name, entry.mode, BlobId(entry.id), entry.language, entry.link)
            else:
                pending.pop()


class TreeReader:
    """The stored tree of a snapshot, as question after question reads it: directories are remembered from one to the next."""

    def __init__(self, git: GitRepository, tree: TreeId) -> None:
        self.git = git
        self.tree = tree
        self._directories: dict[str, Directory | None] = {}
        self._entries = 0
        self._state: tuple[int, Address] | None = None
        """Which store the directories were read from, and where it has the root: they mean nothing elsewhere."""
        self._rooted_in: Callable[[], ReadTransaction | None] = _nowhere
        self._walked: weakref.WeakKeyDictionary[ReadTransaction, StoredTree] = weakref.WeakKeyDictionary()
        """Whole walks read every directory: that is kept as long as a question, not as long as a snapshot."""

    def _root(self, reading: ReadTransaction) -> Address:
        if self._state is not None and self._rooted_in() is reading:
            return self._state[1]
        root = reading.snapshot_root(self.tree, analysis_tag())
        if root is None:
            raise StoreChanged(f"the graph of tree {self.tree} is no longer in the store", hint="ask again")
        if self._state != (reading.serial, root) or self._entries > _REMEMBERED_ENTRIES:
            self._directories, self._entries = {}, 0
        self._rooted_in, self._state = weakref.ref(reading), (reading.serial, root)
        return root

    def directory(self, reading: ReadTransaction, path: str) -> Directory | None:
        """The entries of a directory, None if there is no such directory. Raises StoreChanged."""
        root = self._root(reading)
        if path not in self._directories:
            read = self._directories[path] = self._read(reading, root, path)
            self._entries += len(read or ())
        return self._directories[path]

    def _read(self, reading: ReadTransaction, root: Address, path: str) -> Directory | None:
        if not path:
            return read_directory(self.git, reading, self.tree, root)
        parent, _, name = path.rpartition("/")
        entry = (self.directory(reading, parent) or {}).get(name)
        return read_directory(self.git, reading, TreeId(entry.id), entry.node) if entry is not None and entry.node else None

    def file(self, reading: ReadTransaction, path: str) -> TreeFile | None:
        """The file at a path; None for a directory or nothing. Raises StoreChanged."""
        parent, _, name = path.rpartition("/")
        entry = (self.directory(reading, parent) or {}).get(name)
        if entry is None or entry.mode == DIRECTORY:
            return None
        return TreeFile(path, entry.mode, BlobId(entry.id), entry.language, entry.link)

    def files(self, reading: ReadTransaction) -> Iterator[TreeFile]:
        """All files, directory by directory in git's order. Raises StoreChanged."""
        return self._walked.setdefault(reading, StoredTree(self.git, self.tree)).files(reading, self._root(reading))


def _nowhere() -> None:
    return None
