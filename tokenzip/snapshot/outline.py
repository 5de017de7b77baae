"""A tree read from git as far as it is asked about: for questions to many commits, of each of which little is wanted.

Nothing is stored for it and nothing has to be known of it. What a file says is read (and remembered by blob), what it means
is worked out when asked for. One thing an outline does not know: what files announce to all others, such as the fixtures of
tests; an edge that rests on that is missing.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping

from tokenzip.index import extract
from tokenzip.languages.base import stem_of
from tokenzip.model import BlobId, FileIR, Interface, Revision, TreeId
from tokenzip.modules import manifest_paths
from tokenzip.snapshot.graph import Snapshot
from tokenzip.snapshot.tree import DIRECTORY, TreeFile, language_of
from tokenzip.store import LinkRecord, link_record

_REMEMBERED = 512
"""Files whose facts are kept: what one commit holds, the next one mostly does too."""
_REMEMBERED_BYTES = 32 << 20
"""Bytes of contents that are kept."""


class Outline(Snapshot):
    """The graph of one tree, without the store's help."""

    is_sure = True
    """Whether all that was asked of it is what the whole graph says: so long as nobody asked what files announce to all."""

    def __init__(self, near: Snapshot, tree: TreeId) -> None:
        """`near`: a snapshot of the same repository; outlines that come of one another share what they remember."""
        super().__init__(near.git, near.store, Revision(tree, None, False), tree)
        self._facts: dict[tuple[BlobId, bool], FileIR] = near._facts if isinstance(near, Outline) else {}
        self._contents: _Contents = near._contents if isinstance(near, Outline) else _Contents()

    def tree_file(self, path: str) -> TreeFile | None:
        assert self.tree is not None
        entry = self.git.find(self.tree, path)
        if entry is None or entry.mode == DIRECTORY:
            return None
        return TreeFile(path, entry.mode, BlobId(entry.id), language_of(path.rpartition("/")[2], entry.mode), None)

    def _tree_files(self) -> Iterator[TreeFile]:
        assert self.tree is not None
        for path, mode, identity in self.git.walk(self.tree):
            yield TreeFile(path, mode, BlobId(identity), language_of(path.rpartition("/")[2], mode), None)

    def _manifests(self) -> list[str]:
        return manifest_paths(file.path for file in self._tree_files() if file.language is not None)

    def is_directory(self, path: str) -> bool:
        assert self.tree is not None
        entry = self.git.find(self.tree, path)
        return entry is not None and entry.mode == DIRECTORY

    def ir(self, path: str) -> FileIR:
        return self._remembered(path, whole=False)

    def extract(self, path: str) -> FileIR:
        return self._remembered(path, whole=True)

    def interface(self, path: str) -> Interface:
        file = self.tree_file(path)
        if file is None or file.language is None:
            return Interface()
        return self.kept_interface(file) or self.extract(path).interface

    def read_ahead(self, paths: Iterable[str]) -> None:
        """Fetch the contents of some files in one go: one question a file would cost more than all else."""
        found = (self.tree_file(path) for path in paths)
        blobs = {file.blob for file in found if file is not None and file.language is not None}
        wanted = sorted(blobs - self._contents.keys())
        for blob, content in zip(wanted, self.git.blobs(wanted), strict=True):
            if content is not None:
                self._contents.keep(blob, content)

    def source(self, path: str) -> bytes:
        file = self.tree_file(path)
        content = self._contents.get(file.blob) if file is not None else None
        return super().source(path) if content is None else content

    def size(self, path: str) -> int:
        file = self.tree_file(path)
        content = self._contents.get(file.blob) if file is not None else None
        return super().size(path) if content is None else len(content)

    def _read(self, path: str) -> FileIR:
        file = self.tree_file(path)
        content = self._contents.get(file.blob) if file is not None else None
        if file is None or file.language is None or content is None:
            return super().extract(path)
        return extract(content, file.language)

    def _remembered(self, path: str, *, whole: bool) -> FileIR:
        file = self.tree_file(path)
        read = self._read if whole else super().ir
        if file is None:
            return read(path)
        known = self._facts.get((file.blob, whole))
        if known is None:
            if len(self._facts) >= _REMEMBERED:
                self._facts.pop(next(iter(self._facts)))
            known = self._facts[file.blob, whole] = read(path)
        return known

    def _read_link(self, path: str) -> LinkRecord:
        return link_record(self.relink(path))

    def _is_unread(self, path: str) -> bool:
        return False  # nothing that it means is stored

    def with_stem(self, stem: str) -> tuple[str, ...]:
        return self._stems.get(stem, ())

    @functools.cached_property
    def _stems(self) -> Mapping[str, tuple[str, ...]]:
        stems: dict[str, set[str]] = {}
        for file in self._tree_files():
            if file.language is not None:
                stems.setdefault(stem_of(file.path), set()).add(file.path)
            directory = file.path.rpartition("/")[0]
            while directory and directory not in stems.get(stem_of(directory), ()):
                stems.setdefault(stem_of(directory), set()).add(directory)
                directory = directory.rpartition("/")[0]
        return {stem: tuple(sorted(paths)) for stem, paths in stems.items()}

    def announcing(self, key: str) -> tuple[str, ...]:
        self.is_sure = False
        return ()


class _Contents(dict[BlobId, bytes]):
    """Contents of blobs, as many as `_REMEMBERED_BYTES` allow."""

    size = 0

    def keep(self, blob: BlobId, content: bytes) -> None:
        """Keep one; the oldest make room for it."""
        while self and self.size + len(content) > _REMEMBERED_BYTES:
            self.size -= len(self.pop(next(iter(self))))
        self[blob] = content
        self.size += len(content)
