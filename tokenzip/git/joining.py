"""Submodules as part of the tree that names them, where this clone holds the commit that it names.

A tree with a gitlink says which commit belongs there, so the files below are as much a function of the tree as all others:
only whether they can be read differs from clone to clone. A tree is *joined* by putting the inner tree in the gitlink's
place; its id is the one that git would give to that tree, had the files been committed in place. So a joined tree and the
plain one are two trees to all that is kept by tree, and a clone that lacks the inner repository never meets what one that
has it has stored. Inner objects are read as git reads alternates. Nothing is fetched, and no command runs in there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from tokenzip.errors import MissingObject
from tokenzip.git.objects import Objects
from tokenzip.git.process import Git, decoded
from tokenzip.git.trees import DIRECTORY, GITLINK, Trees, empty_tree
from tokenzip.model import TreeId

LISTING = ".gitmodules"
_REMEMBERED_LISTINGS = 4096
NOTHING_APART: frozenset[str] = frozenset()


class Bump(NamedTuple):
    """What becomes of one path where a submodule is put in, moved to another commit, or taken away."""

    path: str
    new: tuple[int, str] | None
    """Mode and id; None where nothing is any more."""


class _Place(NamedTuple):
    """Where the repositories inside one may lie."""

    git_folders: tuple[str, ...]
    """Its own: submodules that were cloned lie below ``modules/NAME`` of one."""
    root: str | None
    """Its work tree: a submodule that is checked out has a ``.git`` there."""

    def inner(self, path: str, name: str) -> _Place:
        root = os.path.join(self.root, path) if self.root is not None else None
        checked_out = _folder_at(os.path.join(root, ".git")) if root is not None else None
        cloned = [os.path.join(own, "modules", name) for own in self.git_folders] if _is_harmless(name) else []
        found = [folder for folder in (checked_out, *cloned) if folder is not None and os.path.isdir(folder)]
        return _Place(tuple(dict.fromkeys(map(os.path.realpath, found))), root)

    def object_folders(self) -> Iterator[str]:
        for folder in self.git_folders:
            objects = os.path.join(_common(folder), "objects")
            if os.path.isdir(objects):
                yield objects


class Joiner:
    """Joins the trees of one repository."""

    def __init__(self, git: Git, objects: Objects, trees: Trees, git_folders: Sequence[str], algorithm: str) -> None:
        self._git = git
        self._objects = objects
        self._trees = trees
        self._git_folders = tuple(dict.fromkeys(git_folders))
        self._empty = empty_tree(algorithm)
        self._listings: dict[str, str | None] = {}
        self._names: dict[str, Mapping[str, str]] = {}
        self._whole: set[str] = set()

    def joined(self, tree: str, root: str | None, apart: Collection[str] = NOTHING_APART) -> TreeId:
        """The tree with every submodule in place that is here, but for those `apart`; itself if none is."""
        return TreeId(self._joined(tree, _Place(self._git_folders, root), "", apart))

    def _joined(self, tree: str, place: _Place, prefix: str, apart: Collection[str]) -> str:
        grafts = {}
        for path, name in self._submodules(tree).items():
            entry = self._trees.find(tree, path)
            if entry is not None and entry.mode == GITLINK:
                inner = self._inner_tree(entry.id, place.inner(path, name), prefix + path, apart)
                if inner is not None:
                    grafts[path] = inner
        return self._trees.graft(tree, grafts) if grafts else tree

    def _inner_tree(self, commit: str, place: _Place, path: str, apart: Collection[str]) -> str | None:
        """The joined tree of a submodule's commit; None if it is not all here."""
        if path in apart:
            return None
        self._objects.borrow(place.object_folders())
        found = self._objects.by_id([f"{commit}^{{tree}}"])[0]
        if found is None or found.id == self._empty or not self._is_whole(found.id, place):
            return None
        return self._joined(found.id, place, path + "/", apart)

    def _is_whole(self, tree: str, place: _Place) -> bool:
        """Whether all directories of a tree are here: of a partial clone without trees they need not be."""
        if tree in self._whole or not any(map(_is_partial, place.object_folders())):
            return True
        try:
            for _ in self._trees.walk(tree):
                pass
        except MissingObject:
            return False
        self._whole.add(tree)
        return True

    def bumps(
        self, base: str, root: str | None, path: str, commit: str | None, apart: Collection[str] = NOTHING_APART
    ) -> Iterator[Bump] | None:
        """What a gitlink (none: its end) in the place of what a joined tree has at `path` means; None if just what it says."""
        before = self._trees.find(base, path)
        old = before.id if before is not None and before.mode == DIRECTORY else None
        new = None
        if commit is not None:
            name = self._submodules(base).get(path, "")
            new = self._inner_tree(commit, _Place(self._git_folders, root).inner(path, name), path, apart)
        if old is None and new is None:
            return None
        return self._differences(path, old, new, commit, ends=before is not None and old is None)

    def _differences(self, path: str, old: str | None, new: str | None, commit: str | None, *, ends: bool) -> Iterator[Bump]:
        if new is None and commit is not None:
            yield Bump(path, (GITLINK, commit))
        elif ends:
            yield Bump(path, None)
        for change in self._trees.diff(old, new):
            yield Bump(f"{path}/{change.path}", change.new)

    def _submodules(self, tree: str) -> Mapping[str, str]:
        """Path -> name of what a tree lists as its submodules."""
        listing = self._listing_of(tree)
        if listing is None:
            return {}
        known = self._names.get(listing)
        if known is None:
            known = self._names[listing] = self._read_listing(listing)
        return known

    def _listing_of(self, tree: str) -> str | None:
        """The blob that lists a tree's submodules: asked for by path, since most trees have none and need not be read."""
        tree = self._trees.plain(tree)
        try:
            return self._listings[tree]
        except KeyError:
            return self.look_ahead([tree])[tree]

    def look_ahead(self, trees: Sequence[str]) -> Mapping[str, str | None]:
        """Find the lists of many trees at once, which costs a tenth of asking for each."""
        fresh = [tree for tree in trees if tree not in self._listings]
        answers = self._objects.by_id([f"{tree}:{LISTING}" for tree in fresh])
        found = {
            tree: listing.id if listing is not None and listing.kind == "blob" else None
            for tree, listing in zip(fresh, answers, strict=True)
        }
        if len(self._listings) + len(found) > _REMEMBERED_LISTINGS:
            self._listings = found
        else:
            self._listings.update(found)
        return found

    def _read_listing(self, blob: str) -> Mapping[str, str]:
        """git reads it: it has the syntax of its settings."""
        git = self._git.varied(variables=self._objects.variables)
        code, out, _ = git.attempt("config", "--null", f"--blob={blob}", "--get-regexp", r"^submodule\..*\.path$")
        if code != 0:
            return {}
        pairs = (record.split("\n", 1) for record in decoded(out).split("\0")[:-1])
        return {path.strip("/"): key[len("submodule.") : -len(".path")] for key, path in pairs}


def _is_harmless(name: str) -> bool:
    """Whether a submodule's name, which anybody may have committed, stays below ``modules``; git refuses others as well."""
    return bool(name) and not os.path.isabs(name) and ".." not in re.split(r"[/\\]", name)


def _folder_at(path: str) -> str | None:
    """The git folder that a ``.git`` is or names (gitrepository-layout(5))."""
    if os.path.isdir(path):
        return path
    named = _first_line(path)
    if named is None or not named.startswith("gitdir:"):
        return None
    return os.path.normpath(os.path.join(os.path.dirname(path), named.removeprefix("gitdir:").strip()))


def _common(folder: str) -> str:
    """The git folder that holds the objects: of a linked worktree another one (gitrepository-layout(5), ``commondir``)."""
    named = _first_line(os.path.join(folder, "commondir"))
    return os.path.normpath(os.path.join(folder, named)) if named else folder


def _first_line(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline().rstrip("\n")
    except OSError:
        return None


def _is_partial(object_folder: str) -> bool:
    """Whether a clone was filtered: git marks the packs that it fetched so."""
    try:
        return any(name.endswith(".promisor") for name in os.listdir(os.path.join(object_folder, "pack")))
    except OSError:
        return False
