"""One git repository as tokenzip reads it: where it is, what a revision stands for, trees, blobs, history and settings.

Everything here reads; nothing in the repository is ever written. Object ids are opaque hex strings, of 40 or 64 digits.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tokenzip.errors import GitError, MissingObject, NotARepository, TokenzipError, UnknownRevision
from tokenzip.git.joining import LISTING, NOTHING_APART, Bump, Joiner
from tokenzip.git.merging import Merge, merged
from tokenzip.git.objects import Found, Objects, TreeEntry, object_folder
from tokenzip.git.process import Git, decoded, shown, translated, trusting
from tokenzip.git.trees import DIRECTORY, GITLINK, FileEntry, TreeChange, Trees, blob_id, empty_tree
from tokenzip.git.worktree import FileState, IndexEntry, index_changes, index_entries, stored_state, worktree_changes
from tokenzip.model import BlobId, CommitId, TreeId


class Commit(NamedTuple):
    """One commit of a log."""

    id: CommitId
    parents: tuple[CommitId, ...]
    tree: TreeId
    author: str
    email: str
    time: int
    """Author date, seconds since 1970 (UTC)."""
    subject: str


class Touched(NamedTuple):
    """What a commit did to one path."""

    status: str
    """``A`` added, ``M`` modified, ``D`` deleted, ``R`` renamed, ``T`` made another kind of file."""
    path: str
    old: str
    """Where a renamed file was before; empty for the others."""


class Worktree(NamedTuple):
    """A work tree of the repository (the first listed is the main one, or the bare folder)."""

    path: str
    head: CommitId | None
    branch: str | None
    """Full ref name, None when detached or bare."""


class Submodule(NamedTuple):
    """A repository inside this one."""

    path: str
    commit: CommitId
    """What HEAD wants checked out there."""
    is_there: bool
    """Whether the work tree has it."""
    found: CommitId | None
    """What is checked out there."""


class Setting(NamedTuple):
    """A value from git's configuration and where it comes from."""

    value: str
    scope: str
    """``system global local worktree command``."""
    origin: str
    """``file:/home/me/.gitconfig``."""


_LOCATION = (
    "--absolute-git-dir",
    "--git-common-dir",
    "--is-bare-repository",
    "--is-inside-work-tree",
    "--is-shallow-repository",
    "--show-object-format",
    "--show-toplevel",  # last: it fails where there is no work tree, after the others were printed
)
_RENAMES_LOOKED_AT = 400
"""Files of a commit up to which git compares contents to find renames; identical ones it finds among any number."""
_LOG_FORMAT = "%H%x00%P%x00%T%x00%an%x00%ae%x00%at%x00%s"


class GitRepository:
    """A repository and, if there is one, the work tree that the caller stands in."""

    root: str | None
    """Top of the work tree; None in a bare repository."""
    git_dir: str
    """This work tree's own git folder (``.git/worktrees/x`` in a linked one)."""
    common_dir: str
    """The git folder that all work trees share: objects, refs, hooks."""
    is_bare: bool
    is_shallow: bool
    algorithm: str
    """``sha1`` or ``sha256``."""

    def __init__(self, folder: str, facts: Sequence[str], variables: Mapping[str, str] | None = None) -> None:
        self.git_dir, common, bare, inside, shallow, self.algorithm, *top = facts
        self.common_dir = os.path.realpath(os.path.join(folder, common))
        self.is_bare = bare == "true"
        self.is_shallow = shallow == "true"
        self.root = top[0] if top and inside == "true" else self._root_around_git_dir()
        self._index_file: str | None = None
        self._git = Git(self.root or self.git_dir, variables=variables)
        self._objects = Objects(self._git, object_folder(self.common_dir), self.algorithm, self._absent_hint)
        self._trees = Trees(self._objects, self.algorithm)
        self._joiner = Joiner(self._git, self._objects, self._trees, (self.git_dir, self.common_dir), self.algorithm)

    @classmethod
    def discover(cls, path: str = ".", *, variables: Mapping[str, str] | None = None) -> GitRepository:
        """The repository around a path (a folder or a file in it), found as git finds it; `variables` for its processes."""
        folder = os.path.abspath(path)
        if os.path.isfile(folder):
            folder = os.path.dirname(folder)
        code, out, err = Git(folder, variables=variables).attempt("rev-parse", *_LOCATION)
        facts = out.decode("utf-8", "surrogateescape").split("\n")[:-1]
        if code != 0 and len(facts) != len(_LOCATION) - 1:
            raise translated(err, folder)
        if not len(_LOCATION) - 1 <= len(facts) <= len(_LOCATION):
            raise GitError(f"the path of this repository holds a line break: {shown(folder)!r}")
        return cls(folder, facts, variables)

    def close(self) -> None:
        """End the child processes (they also end with this object, and with the program)."""
        self._objects.close()

    def use_index(self, index_file: str | None) -> None:
        """Read what is staged from this index file: git makes one of its own for ``git commit PATH``."""
        self._index_file = index_file

    # -- revisions

    def resolve(self, rev: str) -> tuple[CommitId | None, TreeId]:
        """What a revision stands for: anything ``git rev-parse`` takes for one object; the commit is None for a bare tree."""
        found = self._object_named(rev)
        if found is None:
            raise self._unknown(rev)
        commit, tree = self._objects.headers([f"{found.id}^{{commit}}", f"{found.id}^{{tree}}"])
        if tree is None:
            if commit is not None or found.kind in ("commit", "tree"):
                raise self._objects.missing(found.id)
            raise UnknownRevision(
                f"{rev!r} names a file, not a commit or tree", hint="give the commit, and the path apart from it"
            )
        return (CommitId(commit.id) if commit else None), TreeId(tree.id)

    def head(self) -> CommitId | None:
        """The commit of HEAD, None on an unborn branch."""
        found = self._objects.named("HEAD^{commit}")
        return CommitId(found.id) if found else None

    def head_branch(self) -> str | None:
        """Short name of the branch that HEAD is on, None when detached."""
        return self._git.text("symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1)) or None

    def merge_base(self, a: str, b: str) -> CommitId:
        """The best common ancestor of two revisions; an error with a remedy where there is none, never an empty answer."""
        ids = [self._commit_of(rev) for rev in (a, b)]
        base = self._git.text("merge-base", *ids, accept=(0, 1))
        if base:
            return CommitId(base)
        if self.is_shallow:
            raise GitError(
                f"{a} and {b} have no common commit in this shallow clone",
                hint="fetch more history: git fetch --unshallow (or --deepen=N)",
            )
        raise GitError(f"{a} and {b} have no common history", hint=f"compare them directly: {a} with {b}")

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        code, _, _ = self._git.attempt("merge-base", "--is-ancestor", ancestor, descendant)
        return code == 0

    def roots(self) -> tuple[CommitId, ...]:
        """Commits without parents that HEAD reaches, sorted. Walks all history (5 ms per 1,000 commits). In a shallow clone
        (`is_shallow`) these are the commits where it was cut, which say nothing about the family; empty when unborn."""
        if self.head() is None:
            return ()
        return tuple(CommitId(line) for line in sorted(self._git.text("rev-list", "--max-parents=0", "HEAD").split()))

    # -- trees and blobs

    def tree(self, tree: TreeId) -> tuple[TreeEntry, ...]:
        """Entries (name, mode, id) of one directory in git's order; parsed once and kept."""
        return self._trees.entries(tree)

    def find(self, tree: TreeId, path: str) -> TreeEntry | None:
        """The entry at a path of a tree."""
        return self._trees.find(tree, path)

    def blobs_at(self, revs: Sequence[str], path: str) -> list[BlobId | None]:
        """The blob of one path at each of many revisions (full ids of commits or trees), None where no file is there.

        One question for all of them, and no tree is read here: a tenth of what `find` costs for as many trees.
        """
        if "\n" in path:  # it ends a question
            entries = [self.find(self.resolve(rev)[1], path) for rev in revs]
            return [BlobId(entry.id) if entry is not None and entry.mode != DIRECTORY else None for entry in entries]
        found = self._objects.headers([f"{rev}:{path}" for rev in revs])
        return [BlobId(header.id) if header is not None and header.kind == "blob" else None for header in found]

    def walk(self, tree: TreeId) -> Iterator[FileEntry]:
        """Every file (path, mode, id) below a tree, in git's order; symlinks and submodules included, by their mode."""
        return self._trees.walk(tree)

    # -- submodules as part of the tree (see `joining`)

    def joined(self, tree: TreeId, apart: Collection[str] = NOTHING_APART) -> TreeId:
        """A tree with the submodules in place whose commits this clone holds, but for those `apart`; itself if none is."""
        return self._joiner.joined(tree, self.root, apart)

    def plain(self, tree: TreeId) -> TreeId:
        """The tree that was joined to this one: that of a clone without the submodules."""
        return TreeId(self._trees.plain(tree))

    def joints(self, tree: TreeId) -> dict[str, CommitId]:
        """Path and commit of the submodules that a joined tree has in place."""
        return {path: CommitId(commit) for path, commit in self._trees.grafts(tree)}

    def bumps(
        self, base: TreeId, path: str, commit: CommitId | None, apart: Collection[str] = NOTHING_APART
    ) -> Iterator[Bump] | None:
        """What a gitlink (None: its end) in the place of what a joined tree has at a path means for the files below; None if
        just what it says."""
        return self._joiner.bumps(base, self.root, path, commit, apart)

    def _with_inside(
        self, base: TreeId, states: Mapping[str, FileState | None], apart: Collection[str]
    ) -> dict[str, FileState | None]:
        """Differences from a joined tree, with submodules in place."""
        out: dict[str, FileState | None] = {}
        for path, state in states.items():
            commit = CommitId(state.blob) if state is not None and state.mode == GITLINK and state.blob is not None else None
            bumps = self.bumps(base, path, commit, apart)
            for bump in bumps or ():
                out[bump.path] = None if bump.new is None else stored_state(self, bump.path, *bump.new)
            if bumps is None and state is not None and commit is not None and self._has_link(base, path, commit):
                continue  # only inside of it is something not committed, and nothing inside is known
            if bumps is None or (state is not None and commit is None):
                out[path] = state
            elif state is not None and state.unsettled and out.get(path) is None:
                out |= self._uncommitted_in(path, {each.removeprefix(f"{path}/") for each in apart})
        return out

    def _has_link(self, tree: TreeId, path: str, commit: CommitId) -> bool:
        entry = self.find(tree, path)
        return entry is not None and (entry.mode, entry.id) == (GITLINK, commit)

    def _uncommitted_in(self, path: str, apart: Collection[str]) -> dict[str, FileState | None]:
        """How the work tree of a submodule differs from the commit that is checked out there."""
        try:
            inner = self._inside(path)
            head = inner.head()
            if head is None or inner.root == self.root:
                return {}
            states = inner.worktree_changes(inner.joined(inner.resolve(head)[1], apart), apart)
        except NotARepository:  # it went away meanwhile
            return {}
        return {
            f"{path}/{below}": None if state is None else replace(state, path=f"{path}/{below}")
            for below, state in states.items()
        }

    def _inside(self, path: str) -> GitRepository:
        """The repository that is checked out at a path of the work tree: trusted as this one is, which git does as well."""
        folder = os.path.join(self.root or self.git_dir, path)
        return GitRepository.discover(folder, variables=trusting(folder))

    def submodules(self) -> list[Submodule]:
        """The submodules of HEAD's tree, by path; none before the first commit."""
        if self.head() is None:
            return []
        links = [(path, CommitId(identity)) for path, mode, identity in self.walk(self.resolve("HEAD")[1]) if mode == GITLINK]
        return [Submodule(path, commit, *self._inner_head(path)) for path, commit in links]

    def _inner_head(self, path: str) -> tuple[bool, CommitId | None]:
        """Whether a repository of its own lies at a path of the work tree, and where its HEAD is."""
        if self.root is None or not os.path.lexists(os.path.join(self.root, path, ".git")):
            return False, None
        try:
            inner = self._inside(path)
        except TokenzipError:  # its .git leads nowhere
            return False, None
        found = inner.head()
        inner.close()
        return True, found

    def diff_trees(self, old: TreeId | None, new: TreeId | None, most: int | None = None) -> list[TreeChange]:
        """Paths that differ, each side as (mode, id); no rename detection; None is the empty tree. Where there are more than
        `most` not all are found."""
        return self._trees.diff(old, new, most)

    @property
    def empty_tree(self) -> TreeId:
        return empty_tree(self.algorithm)

    def blob(self, blob: BlobId) -> bytes:
        """Content of a blob; `MissingObject` where this clone does not hold it (nothing is fetched)."""
        kind, data = self._objects.read(blob)
        if kind != "blob":
            raise GitError(f"object {blob} is a {kind}, not a file")
        return data

    def blobs(self, blobs: Iterable[BlobId]) -> Iterator[bytes | None]:
        """Contents in the order asked for, None for each that is absent; the way to read many."""
        for found in self._objects.read_many(blobs):
            yield found.data if found is not None and found.kind == "blob" else None

    def blob_size(self, blob: BlobId) -> int:
        """Size in bytes without reading the content."""
        size = self.blob_sizes([blob])[0]
        if size is None:
            raise self._objects.missing(blob)
        return size

    def blob_sizes(self, blobs: Sequence[BlobId]) -> list[int | None]:
        """Sizes in bytes, None for each blob that is absent."""
        return [found.size if found else None for found in self._objects.by_id(blobs)]

    def has(self, object_id: str) -> bool:
        """Whether this clone holds an object."""
        return self._objects.headers([object_id])[0] is not None

    def beside(self, other: GitRepository) -> GitRepository:
        """This repository once more, with what another one holds: objects by id, and the trees that it has joined."""
        both = GitRepository.discover(self.root or self.git_dir)
        for each in (self, other):
            both.borrow((object_folder(each.common_dir), *each.borrowed))
            both._trees.share(each._trees)
        return both

    @property
    def borrowed(self) -> tuple[str, ...]:
        """Object folders of submodules that were joined."""
        return self._objects.borrowed

    def borrow(self, folders: Sequence[str]) -> None:
        """Read objects from these folders too."""
        self._objects.borrow(folders)

    def blob_id(self, data: bytes) -> BlobId:
        """The id that a blob of this content has in this repository."""
        return blob_id(data, self.algorithm)

    def merged(self, ours: CommitId, theirs: CommitId) -> Merge:
        """What git would make of two commits that have a merge base; nothing is written into the repository."""
        return merged(self, ours, theirs)

    # -- history

    def log(
        self, rev: str = "HEAD", *, first_parent: bool = False, paths: Sequence[str] = (), limit: int | None = None
    ) -> Iterator[Commit]:
        """Commits from a revision (or range ``A..B``) backwards, children before parents; only those that touch `paths`."""
        options = ["--first-parent"] if first_parent else []
        if limit is not None:
            options.append(f"--max-count={limit}")
        return self._commits("--topo-order", *options, *self._commits_of_range(rev), "--", *paths)

    def messages(self, rev: str = "HEAD", limit: int = 1000) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Whole messages of the last commits that are no merges, each with the paths that it changed, newest first."""
        options = ("--no-show-signature", "--no-merges", "--encoding=UTF-8", "--name-only", "--no-renames", "-z")
        out = self._git.run("log", *options, f"--max-count={limit}", "--format=%x01%x01%B%x02%x02", self._commit_of(rev), "--")
        for commit in decoded(out).split("\x01\x01")[1:]:
            message, _, paths = commit.partition("\x02\x02")
            yield message, tuple(path for path in paths.strip("\0\n").split("\0") if path)

    def changes(self, rev: str = "HEAD", limit: int = 1000) -> Iterator[tuple[Touched, ...]]:
        """What each of the last commits that are no merges did to paths, newest first; renames as git finds them."""
        options = ("--no-show-signature", "--no-merges", "--name-status", "-M", f"-l{_RENAMES_LOOKED_AT}", "-z")
        out = self._git.run("log", *options, f"--max-count={limit}", "--format=%H", self._commit_of(rev), "--")
        tokens = iter(decoded(out).split("\0"))
        touched: list[Touched] = []
        is_first = True
        for token in tokens:
            status = token.strip("\n")
            if len(status) >= 40:  # a commit's id
                if not is_first:
                    yield tuple(touched)
                touched, is_first = [], False
            elif status:
                old = next(tokens) if status[0] in "RC" else ""
                touched.append(Touched(status[0], next(tokens), old))
        if not is_first:
            yield tuple(touched)

    def ancestors(self, rev: str = "HEAD", limit: int = 100) -> list[tuple[CommitId, TreeId]]:
        """The commit and its nearest ancestors by date, with their joined trees: where a known snapshot may be near."""
        if rev == "HEAD" and self.head() is None:
            return []
        lines = self._git.text(
            "log", f"--max-count={limit}", "--no-show-signature", "--format=%H %T", self._commit_of(rev), "--"
        )
        found = [(CommitId(commit), TreeId(tree)) for commit, tree in map(str.split, lines.splitlines())]
        self._joiner.look_ahead([tree for _, tree in found])
        return [(commit, self.joined(tree)) for commit, tree in found]

    def tips(self, limit: int = 100) -> list[tuple[int, TreeId]]:
        """What HEAD and the refs stand for: date of the commit (seconds since 1970) and joined tree, the newest first."""
        options = (f"--max-count={limit}", "--no-show-signature", "--format=%ct %T")
        found = [line.split() for line in self._git.text("log", "--no-walk=sorted", "--all", *options, "--").splitlines()]
        self._joiner.look_ahead([tree for _, tree in found])
        return [(int(time), self.joined(TreeId(tree))) for time, tree in found]

    def reflog(self, limit: int = 100) -> list[CommitId]:
        """Where HEAD of this work tree was, newest first; empty if git keeps no reflog."""
        code, out, _ = self._git.attempt(
            "log", "--walk-reflogs", f"--max-count={limit}", "--no-show-signature", "--format=%H", "HEAD", "--"
        )
        return [CommitId(line) for line in out.decode().split()] if code == 0 else []

    def ref_tips(self) -> dict[str, CommitId]:
        """Every ref by its full name with the commit it stands for (tags peeled; refs to trees and blobs left out)."""
        pattern = "%(refname)%00%(objecttype)%00%(objectname)%00%(*objecttype)%00%(*objectname)"
        tips = {}
        for line in self._git.text("for-each-ref", f"--format={pattern}").splitlines():
            name, kind, object_id, peeled_kind, peeled = line.split("\0")
            if "commit" in (kind, peeled_kind):
                tips[name] = CommitId(peeled or object_id)
        return tips

    def refs_at(self, commit: CommitId) -> tuple[str, ...]:
        """Full names of the refs that point at a commit, sorted."""
        return tuple(sorted(name for name, tip in self.ref_tips().items() if tip == commit))

    def worktrees(self) -> list[Worktree]:
        """All work trees of the repository, the main one first; those whose folder is gone are left out."""
        code, out, err = self._git.attempt("worktree", "list", "--porcelain", "-z")
        if code == 129:  # before git 2.36, which ends lines instead
            out, code = self._git.run("worktree", "list", "--porcelain").replace(b"\n", b"\0"), 0
        if code != 0:
            raise GitError(err)
        blocks = out.decode("utf-8", "surrogateescape").split("\0\0")
        parsed = [_worktree(block.split("\0")) for block in blocks if block]
        return [tree for tree in parsed if os.path.isdir(tree.path)]

    # -- index and work tree

    def index(self) -> tuple[list[IndexEntry], list[str]]:
        """Stage-0 entries of the index, and the paths in conflict."""
        return index_entries(self._staging_git())

    def index_changes(self, over: TreeId | None = None, apart: Collection[str] = NOTHING_APART) -> dict[str, FileState | None]:
        """How the index differs from HEAD's tree: path -> its state, None where it was removed. `over`: HEAD's joined tree,
        from which submodules differ by the files in them."""
        changes = index_changes(self._staging_git(), self, self.head() or self.empty_tree)
        return changes if over is None else self._with_inside(over, changes, apart)

    def worktree_changes(
        self, over: TreeId | None = None, apart: Collection[str] = NOTHING_APART
    ) -> dict[str, FileState | None]:
        """How the files as they are now differ from HEAD's tree, staged changes, untracked and not ignored files included.
        `over`: HEAD's joined tree, from which submodules differ by the files in them, uncommitted ones included."""
        if self.root is None:
            raise NotARepository("a bare repository has no working tree", hint="name a commit, branch or tag")
        inside = over is not None and os.path.isfile(os.path.join(self.root, LISTING))
        changes = worktree_changes(self._git, self, inside=inside)
        return changes if over is None else self._with_inside(over, changes, apart)

    # -- settings and state

    def origin_url(self) -> str | None:
        """URL of the remote called origin, as configured."""
        setting = self.setting("remote.origin.url")
        return setting.value if setting else None

    def setting(self, name: str) -> Setting | None:
        """The effective value of a git setting and where it is set."""
        out = self._git.run("config", "--null", "--show-scope", "--show-origin", "--get", name, accept=(0, 1))
        if not out:
            return None
        scope, origin, value = out.decode("utf-8", "surrogateescape").split("\0")[:3]
        return Setting(value, scope, origin)

    def hooks_folder(self) -> str:
        """The folder whose hooks git runs here, as an absolute path (it need not exist)."""
        return os.path.join(self._git.folder, self._git.text("rev-parse", "--git-path", "hooks"))

    @functools.cached_property
    def is_partial(self) -> bool:
        """Whether objects may be absent because the clone was filtered."""
        return bool(
            self._git.run("config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$", accept=(0, 1))
        )

    def rewriting(self) -> str | None:
        """What is being replayed commit by commit right now: ``rebase``, ``am`` or ``sequencer`` (cherry-pick, revert)."""
        if os.path.isdir(os.path.join(self.git_dir, "rebase-merge")):
            return "rebase"
        if os.path.isdir(os.path.join(self.git_dir, "rebase-apply")):
            return "am" if os.path.exists(os.path.join(self.git_dir, "rebase-apply", "applying")) else "rebase"
        return "sequencer" if os.path.isdir(os.path.join(self.git_dir, "sequencer")) else None

    def ignored(self, paths: Sequence[str]) -> set[str]:
        """Those of the paths (relative to the top, existing or not) that git ignores."""
        data = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
        code, out, err = self._git.attempt("check-ignore", "-z", "--stdin", data=data)
        if code not in (0, 1):
            raise GitError(err)
        return set(out.decode("utf-8", "surrogateescape").split("\0")) - {""}

    # -- helpers

    def _root_around_git_dir(self) -> str | None:
        """For a caller that stands inside ``.git``: the work tree around it."""
        parent, name = os.path.split(self.git_dir)
        return parent if not self.is_bare and name == ".git" and self.common_dir == os.path.realpath(self.git_dir) else None

    def _staging_git(self) -> Git:
        return self._git.varied(index_file=self._index_file)

    def _absent_hint(self) -> str:
        if self.is_partial:
            return "this is a partial clone, and nothing is fetched unasked: `git fetch --refetch` or check the commit out"
        if self.is_shallow:
            return "this is a shallow clone: git fetch --unshallow brings the rest"
        return "`git fsck` shows what is damaged"

    def _object_named(self, rev: str) -> Found | None:
        if not rev.strip() or "\n" in rev or "\0" in rev:
            return None
        return self._objects.named(rev)

    def _commit_of(self, rev: str) -> CommitId:
        commit, _ = self.resolve(rev)
        if commit is None:
            raise UnknownRevision(f"{rev!r} names a tree, and a commit is needed here")
        return commit

    def _commits_of_range(self, rev: str) -> list[str]:
        """Arguments for git log: names resolved first, so that a name can never be taken for an option."""
        if ".." not in rev or self._object_named(rev) is not None:
            return [self._commit_of(rev)]
        first, dots, last = re.split(r"(\.{2,3})", rev, maxsplit=1)
        return [self._commit_of(first or "HEAD") + dots + self._commit_of(last or "HEAD")]

    def _commits(self, *arguments: str) -> Iterator[Commit]:
        options = ("--no-show-signature", "--no-mailmap", "--encoding=UTF-8", "-z", f"--format={_LOG_FORMAT}")
        for commit, parents, tree, author, email, time, subject in self._git.records(
            "--literal-pathspecs", "log", *options, *arguments, fields=7
        ):
            ids = tuple(map(CommitId, parents.split()))
            yield Commit(CommitId(commit), ids, TreeId(tree), author, email, int(time), subject)

    def _unknown(self, rev: str) -> UnknownRevision:
        if "..." in rev or ".." in rev:
            return UnknownRevision(
                f"{rev!r} is not one revision", hint="a range can only be compared", calls=[("diff_commits", {"base": rev})]
            )
        if rev in ("HEAD", "@"):
            hint = "commit something, or ask about WORKTREE or INDEX" if self.root else "push something into it first"
            return UnknownRevision("HEAD has no commit yet", hint=hint)
        if re.fullmatch(r"[0-9a-f]{4,64}", rev):
            several = self._git.text("rev-parse", f"--disambiguate={rev}").split()
            if len(several) > 1:
                return UnknownRevision(
                    f"{rev} is the beginning of several ids", hint="give more digits", candidates=several[:10]
                )
        short = [re.sub(r"^refs/(heads|tags|remotes)/", "", name) for name in self.ref_tips()]
        import difflib

        near = difflib.get_close_matches(rev, short, n=5)
        hint = f"did you mean {' or '.join(near[:3])}?" if near else "`git branch --all` and `git tag` list the names"
        if self.is_shallow:
            hint += "; this is a shallow clone, older commits are not in it"
        return UnknownRevision(f"no such revision: {rev}", hint=hint, candidates=near)


def _worktree(lines: Sequence[str]) -> Worktree:
    values = dict(line.partition(" ")[::2] for line in lines if line)
    head = values.get("HEAD", "").strip("0")
    return Worktree(values["worktree"], CommitId(values["HEAD"]) if head else None, values.get("branch"))


__all__ = ["Commit", "GitRepository", "MissingObject", "Setting", "Touched", "Worktree"]
