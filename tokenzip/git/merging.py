"""Merges that touch nothing: what git would make of two commits, written into a folder that goes away again.

``git merge-tree --write-tree`` does the merging (git 2.38 or later), so that renames, directory renames and criss-cross
histories count as git counts them. Its new objects go to a temporary folder, with the repository's own as alternates; the
repository stays as it is, but that git renews the time stamp of an object that it makes again. Nothing that the user has
configured is run: a merge driver may write, so git's own merge of text takes its place. Attributes such as ``merge=union``
or ``-merge`` count, as the first side has them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from tokenzip.errors import GitError
from tokenzip.git.objects import Found, Objects, quoted
from tokenzip.git.process import Git, as_variables, decoded
from tokenzip.git.trees import EXECUTABLE, REGULAR, FileEntry
from tokenzip.model import BlobId, CommitId, TreeId

_UNKNOWN_OPTION = 129
_FILES = (REGULAR, EXECUTABLE)
_TREE = "tree"
_ODD = frozenset({"", ".", "..", ".git"})
"""Names that no sound tree has in a path."""


class MergedFile(NamedTuple):
    """What a merge puts at a path."""

    mode: int
    blob: BlobId
    data: bytes | None
    """The content where the repository does not hold it."""


class TextConflict(NamedTuple):
    """A file that git cannot merge by itself."""

    path: str
    kind: str
    """In git's words: ``contents``, ``modify/delete``, ``add/add``, ``rename/rename`` ..."""


class Merge(NamedTuple):
    """The outcome of a merge, as differences from the first side."""

    changes: Mapping[str, MergedFile | None]
    """Path -> what the merge has there; None where it has nothing. In files with conflicts the lines of both sides stand."""
    conflicts: tuple[TextConflict, ...]


class Repository(Protocol):
    """What is needed of the repository here."""

    root: str | None
    git_dir: str
    common_dir: str
    algorithm: str

    def resolve(self, rev: str) -> tuple[CommitId | None, TreeId]: ...
    def walk(self, tree: TreeId) -> Iterator[FileEntry]: ...
    def blob_sizes(self, blobs: Sequence[BlobId]) -> list[int | None]: ...
    def blob(self, blob: BlobId) -> bytes: ...
    def blob_id(self, data: bytes) -> BlobId: ...


def merged(repository: Repository, ours: CommitId, theirs: CommitId) -> Merge:
    """Merge two commits that have a merge base. Raises GitError."""
    from tokenzip.scratch import ScratchFolder  # costs a few milliseconds to import

    with ScratchFolder() as folder:
        tree_folder = os.path.join(folder, _TREE)
        _write_attributes(repository, repository.resolve(ours)[1], tree_folder)
        git = Git(tree_folder, variables=_variables(repository, folder))
        code, out, err = git.attempt("merge-tree", "--write-tree", "-z", ours, theirs)
        if code == _UNKNOWN_OPTION:
            raise GitError("merging in memory needs git 2.38 or later", hint="install a newer git")
        if code not in (0, 1):
            raise GitError(f"git cannot merge {ours[:10]} and {theirs[:10]}: {err}")
        tree, stages, conflicts = _parsed(out)
        scratch = Objects(git, os.path.join(folder, "objects"), repository.algorithm, lambda: "")
        try:
            changes = dict(_changes(repository, git, scratch, repository.resolve(ours)[1], tree))
            for path, sides in stages.items():
                both = _union(repository, git, sides)
                if both is not None:
                    changes[path] = both
        finally:
            scratch.close()
        return Merge(changes, conflicts)


def _write_attributes(repository: Repository, tree: TreeId, folder: str) -> None:
    """The attribute files of a tree, where git looks for them."""
    os.mkdir(folder)
    for path, mode, identity in repository.walk(tree):
        *above, name = path.split("/")
        if name == ".gitattributes" and mode in _FILES and not _ODD.intersection(above):
            os.makedirs(os.path.join(folder, *above), exist_ok=True)
            with open(os.path.join(folder, path), "wb") as file:
                file.write(repository.blob(BlobId(identity)))


def _variables(repository: Repository, folder: str) -> dict[str, str]:
    """The environment under which git reads this repository and writes only into `folder`."""
    objects = os.path.join(folder, "objects")
    os.mkdir(objects)
    real = os.path.join(repository.common_dir, "objects")
    here = Git(repository.root or repository.git_dir)
    names = here.run("config", "--name-only", "-z", "--get-regexp", r"^merge\..*\.driver$", accept=(0, 1))
    settings = {name: "git merge-file --quiet --marker-size=%L %A %O %B" for name in decoded(names).split("\0") if name}
    return {
        "GIT_DIR": repository.git_dir,
        "GIT_WORK_TREE": os.path.join(folder, _TREE),  # holds nothing but attributes
        "GIT_OBJECT_DIRECTORY": objects,
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": quoted(real),
        **as_variables({**settings, "merge.renormalize": "false"}),  # it would run filters
    }


_Sides = dict[int, tuple[int, str]]
"""Stage (1 base, 2 ours, 3 theirs) -> mode and blob."""


def _parsed(out: bytes) -> tuple[str, dict[str, _Sides], tuple[TextConflict, ...]]:
    """Tree, stages of the files in conflict, and the conflicts: see "OUTPUT" in git-merge-tree(1)."""
    tree, *pieces = decoded(out).split("\0")
    at = 0
    stages: dict[str, _Sides] = {}
    while at < len(pieces) and pieces[at]:
        head, _, path = pieces[at].partition("\t")
        mode, identity, stage = head.split(" ")
        stages.setdefault(path, {})[int(stage)] = int(mode, 8), identity
        at += 1
    conflicts = {path: TextConflict(path, "contents") for path in stages}
    at += 1
    while at < len(pieces) and pieces[at].isdecimal():
        count = int(pieces[at])
        paths, kind = pieces[at + 1 : at + 1 + count], pieces[at + 1 + count]
        for path in paths[:1] if kind.startswith("CONFLICT") else ():
            words = kind.removeprefix("CONFLICT").strip(" ()")
            conflicts[path] = TextConflict(path, words or "contents")
        at += count + 3
    return tree, stages, tuple(sorted(conflicts.values()))


def _changes(
    repository: Repository, git: Git, scratch: Objects, ours: TreeId, tree: str
) -> Iterator[tuple[str, MergedFile | None]]:
    """How the merged tree differs from ours."""
    rows = list(git.records("diff-tree", "-r", "--raw", "--no-renames", "--no-abbrev", "-z", ours, tree, fields=2))
    after = {path: (int(head.split(" ")[1], 8), head.split(" ")[3]) for head, path in rows}
    blobs = sorted({BlobId(identity) for mode, identity in after.values() if mode in _FILES})
    new = [blob for blob, size in zip(blobs, repository.blob_sizes(blobs), strict=True) if size is None]
    found: dict[str, Found | None] = dict(zip(new, scratch.read_many(new), strict=True))
    for path, (mode, identity) in after.items():
        held = found.get(identity)
        yield path, MergedFile(mode, BlobId(identity), held.data if held else None) if mode else None


def _union(repository: Repository, git: Git, sides: _Sides) -> MergedFile | None:
    """The lines of both sides of a file in conflict, so that what either defines is there; None if they are no text."""
    if not {2, 3} <= sides.keys() or any(mode not in _FILES for mode, _ in sides.values()):
        return None
    names = []
    for stage in (2, 1, 3):
        name = os.path.join(git.folder, f"side-{stage}")
        with open(name, "wb") as file:
            file.write(repository.blob(BlobId(sides[stage][1])) if stage in sides else b"")
        names.append(name)
    code, data, _ = git.attempt("merge-file", "--stdout", "--union", "--quiet", *names)
    return MergedFile(sides[2][0], repository.blob_id(data), data) if code == 0 else None
