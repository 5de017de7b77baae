"""`Repository`: the one object that callers hold. It knows where things are, and makes snapshots.

What is below snapshots costs tens of milliseconds to import, so it is imported by the methods that need it: a door that
only asks where it is (a hook, a server at its start) does not pay for it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenzip import config as settings
from tokenzip.config import Config
from tokenzip.errors import GitError, NotARepository, StoreChanged, StoreReadOnly, TokenzipError, UsageError
from tokenzip.git import GITLINK, FileState, GitRepository, MergedFile, TextConflict
from tokenzip.model import BlobId, CommitId, Progress, Revision, TreeId, no_progress

if TYPE_CHECKING:
    from tokenzip import query as queries
    from tokenzip.snapshot import Collected, Leftover, NewFile, Snapshot
    from tokenzip.store import OldFormat, Store

_LOG = logging.getLogger(__name__)

WORKTREE = "WORKTREE"
INDEX = "INDEX"
_RECENT = 50
"""Entries of a reflog whose snapshots `gc` keeps."""
ASKED_FOR_DAYS = 14
"""For so long `gc` keeps a revision that `index` was told to bring in, whether or not a branch leads there."""
OLD_FORMAT_DAYS = 14
"""For so long after its last use `gc` leaves the store of an older format: an older tokenzip may still be in use."""
_DAY = 86_400
"""Seconds."""


def repo(path: str = ".", *, progress: Progress = no_progress) -> Repository:
    """The repository around `path`. Raises NotARepository."""
    return Repository.open(path, progress=progress)


@dataclass(frozen=True, slots=True)
class Merge:
    """Two sides of a merge that nobody has made, where they parted, and what comes of it."""

    base: Snapshot
    ours: Snapshot
    theirs: Snapshot
    merged: Snapshot
    conflicts: tuple[TextConflict, ...]
    """Files that git cannot merge by itself; in `merged` they hold the lines of both sides."""


class Repository:
    """A git repository with its store. Cheap to make: git is asked at once, the store only when needed."""

    def __init__(
        self, git: GitRepository, config: Config, *, revision: str | None = None, progress: Progress = no_progress
    ) -> None:
        self.git = git
        self.config = config
        self.revision = revision or _default_revision(git)
        """What a question is about that names no revision."""
        self.progress = progress
        self._snapshots: dict[object, Snapshot] = {}

    @classmethod
    def open(cls, path: str = ".", *, progress: Progress = no_progress) -> Repository:
        git = GitRepository.discover(path)
        checkouts = [folder for folder in (git.root, _main_checkout(git)) if folder is not None]
        return cls(git, settings.load(checkouts), progress=progress)

    @property
    def root(self) -> str | None:
        """Top of the work tree, None in a bare repository."""
        return self.git.root

    def at(self, rev: str) -> Repository:
        """The same repository, with another revision in the place of the work tree."""
        other = Repository(self.git, self.config, revision=rev, progress=self.progress)
        other.__dict__["store"] = self.store
        return other

    @functools.cached_property
    def store(self) -> Store:
        """The store of this repository's family; nothing is opened or written before the first use."""
        from tokenzip.store import Store

        if self.config.store == "local":
            top = _main_checkout(self.git) or self.git.common_dir
            return Store(Path(top) / settings.FOLDER / "db", on_notice=_LOG.warning)
        return Store(self.config.home / "stores" / self._family(), on_notice=_LOG.warning)

    def _family(self) -> str:
        """The family's folder name; remembered for each git folder, since finding the roots walks all of history."""
        from tokenzip.store import family_folder

        memory = self._family_memory()
        try:
            known = memory.read_text("utf-8").strip()
            if known:
                return known
        except (OSError, UnicodeDecodeError):
            pass
        roots = () if self.git.is_shallow else self.git.roots()
        origin = self.git.origin_url()
        family = family_folder(roots, origin, os.path.realpath(self.git.common_dir))
        if roots or origin:
            with contextlib.suppress(OSError):
                memory.parent.mkdir(parents=True, exist_ok=True)
                memory.write_text(family, "utf-8")
        return family

    def _family_memory(self) -> Path:
        common = os.path.realpath(self.git.common_dir)
        name = hashlib.blake2b(common.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        return self.config.home / "families" / name

    def forget_family(self) -> None:
        """Forget which family this git folder belongs to; it is found again when needed."""
        with contextlib.suppress(OSError):
            self._family_memory().unlink(missing_ok=True)

    # ---- snapshots

    def snapshot(self, rev: str | None = None, apart: Collection[str] = frozenset()) -> Snapshot:
        """The graph at a revision (``WORKTREE``, ``INDEX``, or anything that git understands); what is missing is indexed.

        Submodules are part of it where their commits are here, but for those `apart`. Raises UnknownRevision, StoreError;
        Cancelled from `progress`.
        """
        with contextlib.suppress(StoreChanged):  # by a gc or a clean between two steps: from the first one again
            return self._snapshot(rev or self.revision, apart)
        return self._snapshot(rev or self.revision, apart)

    def snapshots(self, base: str | None, head: str | None) -> tuple[Snapshot, Snapshot]:
        """Two revisions to compare. A submodule that is part of the graph on one side only, since this clone lacks the commit
        that the other one wants, is left out of both: its files are no more new or gone than the others."""
        ends = self.snapshot(base), self.snapshot(head)
        apart = _one_sided(*ends)
        return (self.snapshot(base, apart), self.snapshot(head, apart)) if apart else ends

    def _snapshot(self, rev: str, apart: Collection[str]) -> Snapshot:
        if rev == WORKTREE:
            return self._over_head(rev, self.git.worktree_changes, apart)
        if rev == INDEX:
            if self.git.root is None:
                raise NotARepository("a bare repository has no index", hint="name a commit, branch or tag")
            return self._over_head(rev, self.git.index_changes, apart)
        commit, tree = self._resolved(rev, apart)
        return self._of_tree(Revision(rev, commit, False), tree)

    def _resolved(self, rev: str, apart: Collection[str] = frozenset()) -> tuple[CommitId | None, TreeId]:
        """The commit of a revision, and its tree with submodules in place."""
        commit, tree = self.git.resolve(rev)
        return commit, self.git.joined(tree, apart)

    def _of_tree(self, at: Revision, tree: TreeId) -> Snapshot:
        from tokenzip.snapshot import Snapshot, ensure_commit, is_known

        known = self._snapshots.get((at.rev, tree))
        if known is None or not is_known(self.git, self.store, tree):
            ensure_commit(self.git, self.store, at.commit, tree, self.progress, processes=self.config.jobs or None)
            self._register()
            known = self._remember((at.rev, tree), Snapshot(self.git, self.store, at, tree))
        return known

    def _over_head(
        self,
        rev: str,
        changed: Callable[[TreeId, Collection[str]], Mapping[str, FileState | None]],
        apart: Collection[str],
    ) -> Snapshot:
        from tokenzip.snapshot import empty_snapshot, is_known, overlay_changes

        commit = self.git.head()
        if commit is None:
            base = empty_snapshot(self.git, self.store, rev)
        else:
            base = self._of_tree(Revision("HEAD", commit, False), self._resolved(commit, apart)[1])
        states = changed(base.tree or self.git.empty_tree, apart)
        changes = {path: None if state is None else self._new_file(state) for path, state in states.items()}
        key = (rev, base.tree, tuple((path, new and (new.mode, new.blob)) for path, new in sorted(changes.items())))
        known = self._snapshots.get(key)
        if known is None or (base.tree is not None and not is_known(self.git, self.store, base.tree)):
            known = self._remember(key, overlay_changes(base, changes, Revision(rev, commit, bool(changes)), self.progress))
        return known

    def _new_file(self, state: FileState) -> NewFile:
        from tokenzip.snapshot import NewFile

        if state.blob is not None:
            return NewFile(state.mode, BlobId(state.blob), state.read)
        data = state.read()
        return NewFile(state.mode, self.git.blob_id(data), lambda: data)

    def _remember(self, key: object, snapshot: Snapshot) -> Snapshot:
        if len(self._snapshots) >= 8:
            self._snapshots.pop(next(iter(self._snapshots)))
        self._snapshots[key] = snapshot
        return snapshot

    def index(self, rev: str = "HEAD", *, full: bool = False, processes: int | None = None) -> Snapshot:
        """Bring a revision into the store; `full` works everything out again."""
        from tokenzip.snapshot import Snapshot, ensure_commit

        commit, tree = self._resolved(rev)
        ensure_commit(
            self.git, self.store, commit, tree, self.progress, processes=processes or self.config.jobs or None, full=full
        )
        self._register()
        if rev != "HEAD":
            self._keep(self.git.resolve(rev)[1])
        return Snapshot(self.git, self.store, Revision(rev, commit, False), tree)

    def is_indexed(self, rev: str) -> bool:
        """Whether a revision's graph is in the store already."""
        from tokenzip.snapshot import is_known

        return is_known(self.git, self.store, self._resolved(rev)[1])

    def merge_base(self, a: str, b: str) -> CommitId:
        """The commit that ``a...b`` stands for. GitError with a remedy where there is none."""
        return self.git.merge_base(_committed(a), _committed(b))

    def merge(self, ours: str, theirs: str) -> Merge:
        """Two commits, their merge base, and what git would make of them: in memory, nothing is written to the repository.

        GitError with a remedy where they have no merge base or git cannot merge in memory.
        """
        from tokenzip.snapshot import overlay_changes

        for rev in (ours, theirs):
            if rev in (WORKTREE, INDEX):
                raise UsageError(
                    f"{rev} is no commit, and only commits can be merged", hint="commit it first, or name a branch"
                )
        base = self.git.merge_base(ours, theirs)
        sides = self.snapshot(ours), self.snapshot(theirs)
        commits = [side.at.commit for side in sides]
        assert commits[0] is not None  # `merge_base` takes nothing else
        assert commits[1] is not None
        outcome = self.git.merged(commits[0], commits[1])
        assert sides[0].tree is not None
        changes: dict[str, NewFile | None] = {}
        for path, file in outcome.changes.items():
            changes |= self._merged_at(sides[0].tree, path, file)
        merged = overlay_changes(sides[0], changes, Revision(f"merge of {ours} and {theirs}", None, False))
        return Merge(self.snapshot(base), *sides, merged, outcome.conflicts)

    def _merged_at(self, base: TreeId, path: str, file: MergedFile | None) -> dict[str, NewFile | None]:
        """What a merge puts at a path: of a submodule that is part of the graph, what it puts below."""
        commit = CommitId(file.blob) if file is not None and file.mode == GITLINK else None
        bumps = self.git.bumps(base, path, commit)
        changes = {
            bump.path: bump.new and self._merged_file(MergedFile(bump.new[0], BlobId(bump.new[1]), None))
            for bump in bumps or ()
        }
        if bumps is None or (file is not None and commit is None):
            changes[path] = file and self._merged_file(file)
        return changes

    def _merged_file(self, file: MergedFile) -> NewFile:
        from tokenzip.snapshot import NewFile

        data = file.data
        return NewFile(file.mode, file.blob, (lambda: self.git.blob(file.blob)) if data is None else lambda: data)

    # ---- queries

    def query(self, text: str = "") -> Any:
        """A query from its text (as `print` shows it, see ``docs/query.md``), or the chain's beginning for an empty one.

        Raises UsageError. Like everything here but snapshots, it looks at the repository only when it is asked for records.
        """
        if not text:
            return self._query()
        from tokenzip.query import parse

        found = parse(text).query
        return found.on(self)

    def _query(self) -> queries.RepositoryQuery:
        from tokenzip.query import RepositoryQuery

        start = RepositoryQuery(source=self)
        return start if self.revision == _default_revision(self.git) else start.at(self.revision)

    def modules(self) -> queries.ModuleQuery:
        """All modules, as the beginning of a query."""
        return self._query().modules()

    def module(self, name: str) -> queries.ModuleQuery:
        """The module of that name or directory."""
        return self._query().module(name)

    def files(self) -> queries.FileQuery:
        """All files."""
        return self._query().files()

    def file(self, path: str) -> queries.FileQuery:
        """The file of that path, or of the only path that ends so."""
        return self._query().file(path)

    def symbols(self) -> queries.SymbolQuery:
        """All symbols."""
        return self._query().symbols()

    def symbol(self, name: str) -> queries.SymbolQuery:
        """The symbol of that handle, or of a short form of one that is unique."""
        return self._query().symbol(name)

    def tables(self) -> queries.TableQuery:
        """All tables and views of a database."""
        return self._query().tables()

    def table(self, name: str) -> queries.TableQuery:
        """The tables of that name."""
        return self._query().table(name)

    def docs(self) -> queries.DocumentQuery:
        """All documents."""
        return self._query().docs()

    def doc(self, path: str) -> queries.DocumentQuery:
        """The document of that path, or of the only path that ends so."""
        return self._query().doc(path)

    def sections(self) -> queries.SectionQuery:
        """All sections of documents."""
        return self._query().sections()

    def diff(self, base: str = "HEAD", head: str | None = None) -> queries.ChangeQuery:
        """What changed from `base` to `head` (else this revision). ``A..B`` and ``A...B`` name both at once."""
        return self._query().diff(base, head)

    def commit(self, rev: str) -> queries.CommitQuery:
        """One commit of git."""
        return self._query().commit(rev)

    def workflow(self, name: str) -> queries.SectionQuery:
        """The steps of a workflow that documents describe."""
        return self._query().workflow(name)

    # ---- the store's life

    def _register(self) -> None:
        """Remember that this git folder uses the store, so that a `gc` run elsewhere keeps what is alive here."""
        from tokenzip.store import pack_value

        mine = os.path.realpath(self.git.common_dir)
        if mine not in self._users():
            self.store.write(lambda writing: writing.put_meta("users", pack_value(sorted({*self._users(), mine}))))

    def _users(self) -> Sequence[str]:
        from tokenzip.store import unpack_value

        with self.store.reading() as reading:
            value = reading.meta("users")
        return () if value is None else tuple(unpack_value(value))

    def _keep(self, tree: TreeId) -> None:
        """Remember that a state was asked for by name. A store that cannot be written needs no `gc`."""
        from tokenzip.store import pack_value

        now, asked = int(time.time()), self._asked_for()
        if now - asked.get(tree, 0) > _DAY:
            with contextlib.suppress(StoreReadOnly):
                self.store.write(lambda writing: writing.put_meta("asked", pack_value({**self._asked_for(), tree: now})))

    def _asked_for(self) -> dict[TreeId, int]:
        """Trees that `index` was told to bring in of late, and when: seconds since 1970."""
        from tokenzip.store import unpack_value

        with self.store.reading() as reading:
            value = reading.meta("asked")
        oldest = time.time() - ASKED_FOR_DAYS * _DAY
        return {} if value is None else {tree: when for tree, when in unpack_value(value).items() if when > oldest}

    def gc(self) -> Collected:
        """Drop what no ref, work tree or recent reflog entry of any clone that uses the store can reach, and what nobody told
        `index` to bring in within `ASKED_FOR_DAYS`; and stores of older formats that nobody used within `OLD_FORMAT_DAYS`."""
        from tokenzip.snapshot import collect, in_turn, known_trees

        with contextlib.ExitStack() as stack:
            stack.enter_context(in_turn(self.store, self.progress))  # who fills the store refers to where things lie in it
            asked = self._asked_for()
            live = [
                (git, tree)
                for git in self._clones(stack)
                for tree in map(git.joined, (*_live_trees(git), *(tree for tree in asked if git.has(tree))))
            ]
            known = known_trees(self.store)
            self._forget_gone_clones()
            collected = collect(self.store, [(git, tree) for git, tree in live if tree in known])
            return replace(collected, formats=tuple(self._leftovers(is_filled=collected.snapshots > 0)))

    def _forget_gone_clones(self) -> None:
        from tokenzip.store import pack_value

        there = [folder for folder in self._users() if os.path.isdir(folder)]
        self.store.write(lambda writing: writing.put_meta("users", pack_value(there)))

    def older_formats(self) -> Sequence[OldFormat]:
        """What older formats of the store have left."""
        from tokenzip.store import older_formats

        return older_formats(self.store.folder)

    def _leftovers(self, *, is_filled: bool) -> Iterator[Leftover]:
        """Remove the stores of older formats that nobody needs."""
        from tokenzip.snapshot import Leftover
        from tokenzip.store import remove_format

        for old in self.older_formats():
            kept = None
            if not is_filled:
                kept = "nothing is in the store of this format yet"
            elif time.time() - old.used < OLD_FORMAT_DAYS * _DAY:
                kept = f"used within {OLD_FORMAT_DAYS} days"
            elif not remove_format(old):
                kept = "in use, or not ours to remove"
            yield Leftover(old.name, old.bytes, kept)

    def _clones(self, stack: contextlib.ExitStack) -> Iterator[GitRepository]:
        yield self.git
        mine = os.path.realpath(self.git.common_dir)
        for folder in self._users():
            if folder != mine:
                with contextlib.suppress(TokenzipError):
                    git = GitRepository.discover(folder.removesuffix("/.git"))  # its top is what `safe.directory` allows
                    stack.callback(git.close)
                    yield git


def _default_revision(git: GitRepository) -> str:
    return WORKTREE if git.root is not None else "HEAD"


def _main_checkout(git: GitRepository) -> str | None:
    """Top of the main work tree, which holds the settings for all linked ones; None for a bare repository."""
    parent, name = os.path.split(git.common_dir.rstrip("/"))
    return parent if name == ".git" else None


def _committed(rev: str) -> str:
    """A revision for git's own walks: uncommitted states stand on HEAD."""
    return "HEAD" if rev in (WORKTREE, INDEX, "") else rev


def _one_sided(base: Snapshot, head: Snapshot) -> frozenset[str]:
    """Where one snapshot has a submodule's files and the other only says which commit belongs there."""
    places: set[str] = set()
    for end in (base, head):
        if end.tree is not None:
            places.update(end.git.joints(end.tree))
        places.update(path for path, over in end.overlay.items() if over is None or over.file.mode == GITLINK)
    ends = (base, head), (head, base)
    return frozenset(path for path in places if any(_is_link(one, path) and other.is_directory(path) for one, other in ends))


def _is_link(snapshot: Snapshot, path: str) -> bool:
    file = snapshot.tree_file(path)
    return file is not None and file.mode == GITLINK


def _live_trees(git: GitRepository) -> Iterator[TreeId]:
    commits: dict[str, None] = dict.fromkeys(git.ref_tips().values())
    with contextlib.suppress(GitError):
        commits.update(dict.fromkeys(worktree.head for worktree in git.worktrees() if worktree.head is not None))
    commits.update(dict.fromkeys(git.reflog(_RECENT)))
    head = git.head()
    if head is not None:
        commits[head] = None
    for commit in commits:
        with contextlib.suppress(UsageError, GitError):
            yield git.resolve(commit)[1]
