"""The git gateway, against real repositories of every shape (the table in docs/git.md)."""

from __future__ import annotations

import gc
import hashlib
import itertools
import os
import shutil
import subprocess
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from gitrepo import Repo

from tokenzip.errors import GitError, MissingObject, NotARepository, UnknownRevision
from tokenzip.git import EXECUTABLE, GITLINK, LOCAL_VARIABLES, REGULAR, SYMLINK, GitRepository, clean_environment
from tokenzip.git.objects import SINGLE_READS_BEFORE_LIBGIT2
from tokenzip.git.process import Git
from tokenzip.model import BlobId, TreeId

MakeRepo = Callable[..., Repo]


def opened(repo: Repo) -> GitRepository:
    return GitRepository.discover(str(repo.path))


def files_of(git: GitRepository, rev: str = "HEAD") -> dict[str, bytes]:
    """path -> content of every blob of a revision."""
    _, tree = git.resolve(rev)
    return {entry.path: git.blob(BlobId(entry.id)) for entry in git.walk(tree) if entry.mode != GITLINK}


def overlaid(git: GitRepository, changes: str = "worktree_changes") -> dict[str, bytes]:
    """path -> content of the work tree (or index) as HEAD plus its changes."""
    files = files_of(git) if git.head() else {}
    for path, state in getattr(git, changes)().items():
        if state is None:
            files.pop(path, None)
        elif state.mode != GITLINK:
            files[path] = state.read()
    return files


# -- where the repository is


def test_a_repository_is_found_from_its_top_a_subfolder_and_a_file(repo: Repo) -> None:
    repo.commit({"a/b/c.py": "x = 1\n"})
    for place in (".", "a/b", "a/b/c.py"):
        git = GitRepository.discover(str(repo.path / place))
        assert git.root == str(repo.path)
        assert git.git_dir == git.common_dir == str(repo.path / ".git")
    inside = GitRepository.discover(str(repo.path / ".git" / "refs"))
    assert inside.root == str(repo.path)


def test_a_folder_outside_any_repository_says_what_to_do(tmp_path: Path, hermetic: dict[str, str]) -> None:
    with pytest.raises(NotARepository) as caught:
        GitRepository.discover(str(tmp_path))
    assert "git init" in caught.value.hint
    with pytest.raises(NotARepository, match="no such folder"):
        GitRepository.discover(str(tmp_path / "nowhere"))


def test_a_linked_worktree_has_its_own_root_and_shares_the_common_dir(repo: Repo, tmp_path: Path) -> None:
    first = repo.commit({"a.py": "x = 1\n"})
    outside = repo.worktree(tmp_path / "linked", "-b", "side")
    inside = repo.worktree(repo.path / "nested", "-b", "other")
    second = inside.commit({"only_here.py": ""})
    for linked in (outside, inside):
        git = opened(linked)
        assert git.root == str(linked.path)
        assert git.common_dir == str(repo.path / ".git")
        assert git.git_dir != git.common_dir
    assert opened(repo).head() == first
    assert opened(inside).head() == second
    assert {tree.path for tree in opened(repo).worktrees()} == {str(r.path) for r in (repo, outside, inside)}
    assert "nested/only_here.py" not in opened(repo).worktree_changes()


def test_a_removed_worktree_is_not_listed(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a.py": ""})
    linked = repo.worktree(tmp_path / "linked", "--detach")
    for path in sorted(linked.path.iterdir()):
        path.unlink()
    linked.path.rmdir()
    assert [tree.path for tree in opened(repo).worktrees()] == [str(repo.path)]


def test_a_bare_repository_answers_for_commits_and_not_for_a_working_tree(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a.py": "x = 1\n"})
    bare = opened(repo.clone(tmp_path / "bare.git", "--bare"))
    assert bare.is_bare
    assert bare.root is None
    assert files_of(bare) == {"a.py": b"x = 1\n"}
    with pytest.raises(NotARepository, match="bare"):
        bare.worktree_changes()
    linked = repo.worktree(tmp_path / "of-bare", "--detach")
    assert opened(linked).root == str(linked.path)


def test_a_git_file_in_place_of_the_folder(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo("repo", "--separate-git-dir", str(tmp_path / "elsewhere"))
    repo.commit({"a.py": "x = 1\n"})
    git = opened(repo)
    assert (git.root, git.common_dir) == (str(repo.path), str(tmp_path / "elsewhere"))
    assert files_of(git) == {"a.py": b"x = 1\n"}


def test_a_git_file_that_points_nowhere(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "moved").mkdir()
    (tmp_path / "moved" / ".git").write_text(f"gitdir: {repo.path}/.git/worktrees/gone\n")
    with pytest.raises(NotARepository) as caught:
        GitRepository.discover(str(tmp_path / "moved"))
    assert "worktrees/gone" in caught.value.hint


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may give a folder to another user")
def test_a_repository_of_another_user_is_a_clear_refusal(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit({"a.py": ""})
    for path in (repo.path, repo.path / ".git"):
        os.chown(path, 4321, 4321)
    with pytest.raises(GitError, match="belongs to another user") as caught:
        opened(repo)
    assert caught.value.hint.endswith(f"safe.directory {repo.path}")
    (repo.path / "below").mkdir()
    with pytest.raises(GitError, match="belongs to another user") as caught:
        GitRepository.discover(str(repo.path / "below"))
    assert caught.value.hint.endswith(f"safe.directory {repo.path}")
    for name, value in {"COUNT": "1", "KEY_0": "safe.directory", "VALUE_0": "*"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert opened(repo).head() == repo.git("-c", "safe.directory=*", "rev-parse", "HEAD")


def test_paths_with_spaces_quotes_and_bytes_that_are_not_utf8(make_repo: MakeRepo) -> None:
    repo = make_repo('with space "quoted" \udcff')
    names = ["a b.py", 'quo"te.py', "tab\there.py", "line\nbreak.py", "\udcff\udcfe.py", "日本.py", "-dash.py", "star*.py"]
    repo.commit({name: f"# {index}\n" for index, name in enumerate(names)})
    git = opened(repo)
    expected = {name: f"# {index}\n".encode() for index, name in enumerate(names)}
    assert files_of(git) == expected
    repo.write({name: content + b"more\n" for name, content in expected.items()})
    assert overlaid(git) == {name: content + b"more\n" for name, content in expected.items()}
    repo.git("add", "--all")
    assert overlaid(git, "index_changes") == overlaid(git)
    assert [entry.path for entry in git.index()[0]] == [e.path for e in git.walk(TreeId(repo.git("write-tree")))]


# -- the environment of child processes


def test_every_local_variable_of_git_is_scrubbed(repo: Repo) -> None:
    local = repo.git("rev-parse", "--local-env-vars").split()
    assert set(local) <= LOCAL_VARIABLES
    clean = clean_environment(dict.fromkeys([*local, "GIT_LITERAL_PATHSPECS", "GIT_SSH", "PATH"], "x"))
    assert {name for name in clean if clean[name] == "x"} == {"GIT_SSH", "PATH"}


@pytest.mark.parametrize("variable", ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"])
def test_a_leaked_variable_neither_misleads_nor_destroys(
    make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    repo, other = make_repo("repo"), make_repo("other")
    head = repo.commit({"a.py": "x = 1\n"})
    other.commit({"b.py": "y = 1\n"})
    index = (other.path / ".git/index").read_bytes()
    values = {"GIT_DIR": "/.git", "GIT_INDEX_FILE": "/.git/index", "GIT_WORK_TREE": "", "GIT_OBJECT_DIRECTORY": "/.git/objects"}
    monkeypatch.setenv(variable, str(other.path) + values.get(variable, "/.git"))
    git = opened(repo)
    assert git.root == str(repo.path)
    assert git.resolve("HEAD")[0] == head
    assert overlaid(git) == overlaid(git, "index_changes") == {"a.py": b"x = 1\n"}
    assert git.index()[0][0].path == "a.py"
    assert (other.path / ".git/index").read_bytes() == index


def test_nothing_is_written_into_the_repository(repo: Repo) -> None:
    repo.commit({"a.py": "x = 1\n"})
    repo.write({"a.py": "x = 2\n", "new.py": ""})
    os.utime(repo.path / "a.py", (1, 1))
    before = _state_of(repo.path / ".git")
    git = opened(repo)
    git.worktree_changes(), git.index_changes(), git.index(), list(git.log()), git.ref_tips(), git.blob_id(b"x")
    assert overlaid(git) == {"a.py": b"x = 2\n", "new.py": b""}
    assert _state_of(repo.path / ".git") == before


def _state_of(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(p): (p.stat().st_mtime_ns, p.stat().st_size) for p in sorted(folder.rglob("*"))}


def test_no_child_process_is_left_behind(repo: Repo) -> None:
    repo.commit({"a.py": ""})
    git = opened(repo)
    git.resolve("HEAD"), files_of(git)
    children = [batch._child for batch in (git._objects._contents, git._objects._headers)]
    assert all(child is not None and child.poll() is None for child in children)
    del git
    gc.collect()
    assert all(child is not None and child.returncode == 0 for child in children)


def test_git_that_cannot_be_found_says_so(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(os, "defpath", "/nowhere/either")
    with pytest.raises(GitError, match="not found") as caught:
        opened(repo)
    assert "install git" in caught.value.hint


# -- revisions


def test_whatever_git_takes_for_one_object_is_a_revision(repo: Repo) -> None:
    first = repo.commit({"a.py": "x = 1\n"}, "first: add a")
    repo.git("tag", "light")
    repo.git("tag", "-a", "v1.0", "-m", "one")
    repo.switch("feature/x", create=True)
    second = repo.commit({"a.py": "x = 2\n"}, "second")
    repo.switch("main")
    git = opened(repo)
    expected = {
        "HEAD": first, "@": first, "main": first, "refs/heads/main": first, "light": first, "v1.0": first, first: first,
        first[:8]: first, "feature/x": second, "feature/x~1": first, "feature/x^": first, "HEAD@{0}": first, "@{-1}": second,
        ":/first: add": first, "feature/x^{/second}": second, "v1.0^{commit}": first, "main@{yesterday}": first,
    }  # fmt: skip
    for rev, commit in expected.items():
        assert git.resolve(rev) == (commit, repo.tree(commit)), rev
    assert git.resolve(repo.tree()) == (None, repo.tree())
    assert git.resolve("HEAD^{tree}") == (None, repo.tree())
    assert git.head_branch() == "main"


def test_a_tag_of_a_tree_has_no_commit_and_a_tag_of_a_blob_is_refused(repo: Repo) -> None:
    repo.commit({"a.py": "x = 1\n"})
    repo.git("tag", "-a", "tree-tag", "-m", "t", repo.tree())
    repo.git("tag", "-a", "blob-tag", "-m", "b", repo.git("rev-parse", "HEAD:a.py"))
    git = opened(repo)
    assert git.resolve("tree-tag") == (None, repo.tree())
    for rev in ("blob-tag", "HEAD:a.py"):
        with pytest.raises(UnknownRevision, match="names a file"):
            git.resolve(rev)
    assert "refs/tags/tree-tag" not in git.ref_tips()


def test_an_unknown_revision_names_the_nearest(repo: Repo) -> None:
    repo.commit({"a.py": ""})
    repo.git("branch", "release-2024")
    git = opened(repo)
    with pytest.raises(UnknownRevision) as caught:
        git.resolve("relase-2024")
    assert caught.value.candidates == ("release-2024",)
    for rev in ("", " ", "HEAD~5", "--all", "-x", "a\nb", "a\0b", "HEAD..main", "HEAD...main", "0" * 40, "main missing"):
        with pytest.raises(UnknownRevision):
            git.resolve(rev)
    assert git.resolve("main")[0] == repo.head()  # and the conversation with git goes on in step


def test_ambiguous_short_ids_name_their_candidates(repo: Repo) -> None:
    repo.commit({f"f{i}.py": f"{i}\n" for i in range(700)})
    git = opened(repo)
    ids = sorted(entry.id for entry in git.walk(git.resolve("HEAD")[1]))
    prefix = next((a[:4] for a, b in itertools.pairwise(ids) if a[:4] == b[:4]), None)
    assert prefix is not None
    with pytest.raises(UnknownRevision, match="several") as caught:
        git.resolve(prefix)
    assert len(caught.value.candidates) >= 2


def test_an_unborn_branch_is_empty_and_its_files_are_there(repo: Repo) -> None:
    git = opened(repo)
    assert git.head() is None
    assert git.head_branch() == "main"
    assert (git.roots(), git.ancestors(), git.reflog(), git.ref_tips()) == ((), [], [], {})
    with pytest.raises(UnknownRevision, match="no commit yet"):
        git.resolve("HEAD")
    repo.write({"a.py": "x = 1\n", "b.py": "y = 1\n"})
    repo.git("add", "a.py")
    assert overlaid(git) == {"a.py": b"x = 1\n", "b.py": b"y = 1\n"}
    assert overlaid(git, "index_changes") == {"a.py": b"x = 1\n"}


def test_a_detached_head_is_a_commit_without_a_branch(repo: Repo) -> None:
    first = repo.commit({"a.py": ""})
    repo.commit({"a.py": "x = 1\n"})
    repo.git("checkout", "--quiet", "--detach", first)
    git = opened(repo)
    assert git.head() == first
    assert git.head_branch() is None
    assert git.worktrees()[0].branch is None


def test_one_object_follows_the_repository_as_it_changes(repo: Repo) -> None:
    git = opened(repo)
    for number in range(3):
        commit = repo.commit({"a.py": f"x = {number}\n"})
        assert git.head() == commit
        assert files_of(git) == {"a.py": f"x = {number}\n".encode()}
    repo.switch("side", create=True)
    repo.git("gc", "--quiet", "--prune=now")
    assert git.head_branch() == "side"
    assert files_of(git) == {"a.py": b"x = 2\n"}
    repo.git("pack-refs", "--all")
    assert git.resolve("main")[0] == git.resolve("side")[0] == repo.head()


def test_merge_base_and_its_absence(repo: Repo, tmp_path: Path) -> None:
    base = repo.commit({"a.py": ""})
    repo.switch("side", create=True)
    side = repo.commit({"b.py": ""})
    repo.switch("main")
    repo.commit({"c.py": ""})
    git = opened(repo)
    assert git.merge_base("main", "side") == base
    assert git.is_ancestor(base, side)
    assert not git.is_ancestor(side, "main")
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.commit({"d.py": ""})
    with pytest.raises(GitError, match="no common history"):
        git.merge_base("main", "other")
    assert len(git.roots()) == 1
    with pytest.raises(UnknownRevision):
        git.merge_base("main", "nope")


def test_a_shallow_clone_says_what_it_lacks(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a.py": ""})
    repo.switch("side", create=True)
    repo.commit({"b.py": ""})
    repo.switch("main")
    repo.commit({"c.py": "x = 1\n"})
    shallow = repo.clone(tmp_path / "shallow", "--depth=1", "--no-single-branch")
    git = opened(shallow)
    assert git.is_shallow
    assert not opened(repo).is_shallow
    assert files_of(git) == {"a.py": b"", "c.py": b"x = 1\n"}
    assert len(list(git.log())) == 1
    with pytest.raises(GitError, match="shallow") as caught:
        git.merge_base("main", "origin/side")
    assert "unshallow" in caught.value.hint
    with pytest.raises(UnknownRevision) as unknown:
        git.resolve("HEAD~1")
    assert "shallow" in unknown.value.hint


# -- trees and blobs, through both readers


@pytest.fixture(params=["sha1", "sha256"])
def any_hash(request: pytest.FixtureRequest, make_repo: MakeRepo) -> Repo:
    """A repository of either object format; libgit2 cannot open the second."""
    return make_repo("repo", f"--object-format={request.param}")


def test_trees_walks_and_blobs(any_hash: Repo) -> None:
    repo = any_hash
    repo.commit({"b.py": "b\n", "a/x.py": "x\n", "a/deep/er/y.py": "y\n", "a.py": "a\n", "a-b": "-\n", "empty": ""})
    os.chmod(repo.path / "b.py", 0o755)
    os.symlink("a", repo.path / "link")
    repo.commit()
    git = opened(repo)
    assert git.algorithm == ("sha256" if len(repo.head()) == 64 else "sha1")
    _, tree = git.resolve("HEAD")
    listed = repo.git("ls-tree", "-r", "-z", "HEAD").split("\0")[:-1]
    assert [f"{e.mode:06o} blob {e.id}\t{e.path}" for e in git.walk(tree)] == listed
    assert [f"{e.mode:06o} {e.id} {e.name}" for e in git.tree(tree)] == [
        f"{line.split()[0]} {line.split()[2]} {line.split(chr(9))[1]}" for line in repo.git("ls-tree", "HEAD").splitlines()
    ]
    found = git.find(tree, "a/deep/er/y.py")
    assert found is not None
    assert git.blob(BlobId(found.id)) == b"y\n"
    assert git.blob_id(b"y\n") == found.id
    assert git.blob_size(BlobId(found.id)) == 2
    assert [git.find(tree, path) for path in ("a/deep/nope", "b.py/x", "link/x.py", "A.py")] == [None] * 4
    assert git.find(tree, "") == ("", 0o40000, tree)
    assert {e.path: e.mode for e in git.walk(tree) if e.mode != REGULAR} == {"b.py": EXECUTABLE, "link": SYMLINK}
    assert list(git.walk(git.empty_tree)) == []


def test_many_single_reads_move_to_libgit2_with_the_same_answers(repo: Repo) -> None:
    pytest.importorskip("pygit2")
    repo.commit({f"d{i % 7}/f{i}.py": f"x = {i}\n" for i in range(40)})
    repo.git("gc", "--quiet")
    repo.commit({"loose.py": "y = 1\n"})
    git = opened(repo)
    before = files_of(git)
    blob = git.blob_id(b"y = 1\n")
    for _ in range(SINGLE_READS_BEFORE_LIBGIT2):
        git.blob(blob)
    assert git._objects._database is not None
    assert files_of(git) == before
    repo.commit({"later.py": "z = 1\n"})
    repo.git("repack", "-adq")
    assert git.blob(git.blob_id(b"z = 1\n")) == b"z = 1\n"
    with pytest.raises(MissingObject):
        git.blob(git.blob_id(b"never written"))


def test_absent_and_wrong_objects_are_told_apart(any_hash: Repo) -> None:
    repo = any_hash
    repo.commit({"a.py": "x = 1\n"})
    git = opened(repo)
    absent = git.blob_id(b"absent")
    with pytest.raises(MissingObject) as caught:
        git.blob(absent)
    assert absent in caught.value.message
    with pytest.raises(GitError, match="not a file"):
        git.blob(BlobId(repo.tree()))
    with pytest.raises(GitError, match="not a tree"):
        git.tree(TreeId(repo.head()))
    present = git.blob_id(b"x = 1\n")
    assert list(git.blobs([present, absent, present])) == [b"x = 1\n", None, b"x = 1\n"]
    assert git.blob_sizes([absent, present]) == [None, 6]
    with pytest.raises(MissingObject):
        git.blob_size(absent)


def test_a_damaged_object_is_an_error_of_its_own(repo: Repo) -> None:
    repo.commit({"a.py": "x = 1\n", "b.py": "y = 1\n"})
    git = opened(repo)
    damaged, sound = git.blob_id(b"x = 1\n"), git.blob_id(b"y = 1\n")
    path = repo.path / ".git/objects" / damaged[:2] / damaged[2:]
    path.chmod(0o644)
    path.write_bytes(b"rubbish")
    with pytest.raises(GitError):
        git.blob(damaged)
    assert git.blob(sound) == b"y = 1\n"


def test_tree_differences_are_those_of_git(any_hash: Repo) -> None:
    repo = any_hash
    repo.commit({"same/x": "1", "gone/y": "1", "edit/z": "1", "file-to-dir": "1", "dir-to-file/a/b": "1", "mode": "1"})
    repo.write({"gone/y": None, "file-to-dir": None, "dir-to-file/a/b": None})
    for folder in ("dir-to-file/a", "dir-to-file"):
        (repo.path / folder).rmdir()
    os.chmod(repo.path / "mode", 0o755)
    repo.commit({"edit/z": "2", "new/w/v": "1", "file-to-dir/q": "1", "dir-to-file": "1"})
    git = opened(repo)
    old, new = git.resolve("HEAD~1")[1], git.resolve("HEAD")[1]
    for a, b in ((old, new), (new, old), (None, new), (old, None), (None, None), (old, old)):
        assert git.diff_trees(a, b) == _diff_by_git(repo, a or git.empty_tree, b or git.empty_tree)


def _diff_by_git(repo: Repo, a: str, b: str) -> list[tuple[str, tuple[int, str] | None, tuple[int, str] | None]]:
    fields = repo.git("diff-tree", "-r", "-z", "--no-renames", a, b).split("\0")[:-1]
    out = []
    for head, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, new_mode, old_id, new_id, _ = head.lstrip(":").split()
        out.append((path, _side(old_mode, old_id), _side(new_mode, new_id)))
    return sorted(out)


def _side(mode: str, object_id: str) -> tuple[int, str] | None:
    return (int(mode, 8), object_id) if int(mode, 8) else None


def test_very_deep_trees_need_no_stack(repo: Repo) -> None:
    """Made without a work tree: no file system takes such a path."""
    tree = repo.git("mktree")
    blob = repo.git("hash-object", "-w", "--stdin")
    tree = subprocess.run(
        ["git", "mktree"], cwd=repo.path, input=f"100644 blob {blob}\tf\n", text=True, capture_output=True, check=True
    ).stdout.strip()
    for _ in range(1500):
        data = b"40000 d\0" + bytes.fromhex(tree)
        raw = b"tree %d\0" % len(data) + data
        tree = hashlib.sha1(raw).hexdigest()
        path = repo.path / ".git/objects" / tree[:2] / tree[2:]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(raw))
    git = opened(repo)
    (entry,) = git.walk(TreeId(tree))
    assert entry.path == "d/" * 1500 + "f"
    assert [change.path for change in git.diff_trees(None, TreeId(tree))] == [entry.path]
    assert git.find(TreeId(tree), entry.path) is not None


def test_paths_that_differ_in_case_are_two_files(repo: Repo) -> None:
    repo.commit({"Readme.py": "a\n", "README.py": "b\n"})
    assert files_of(opened(repo)) == {"Readme.py": b"a\n", "README.py": b"b\n"}


def test_alternates_are_read(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a.py": "x = 1\n"})
    repo.git("clone", "--quiet", "--shared", str(repo.path), str(tmp_path / "shared"))
    shared = Repo(tmp_path / "shared", repo.environment)
    assert (shared.path / ".git/objects/info/alternates").exists()
    git = opened(shared)
    assert files_of(git) == {"a.py": b"x = 1\n"}
    for _ in range(SINGLE_READS_BEFORE_LIBGIT2 + 1):
        git.blob(git.blob_id(b"x = 1\n"))


def test_a_partial_clone_never_fetches(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a.py": "x = 1\n"})
    repo.commit({"a.py": "x = 2\n"})
    repo.git("config", "uploadpack.allowFilter", "true")
    partial = repo.clone(tmp_path / "partial", "--filter=blob:none")
    git = opened(partial)
    assert git.is_partial
    assert not opened(repo).is_partial
    assert files_of(git) == {"a.py": b"x = 2\n"}
    before = _state_of(partial.path / ".git/objects")
    (entry,) = git.walk(git.resolve("HEAD~1")[1])
    with pytest.raises(MissingObject) as caught:
        git.blob(BlobId(entry.id))
    assert "partial clone" in caught.value.hint
    assert list(git.blobs([BlobId(entry.id), git.blob_id(b"x = 2\n")])) == [None, b"x = 2\n"]
    assert git.blob_sizes([BlobId(entry.id)]) == [None]
    assert len(git.diff_trees(git.resolve("HEAD~1")[1], git.resolve("HEAD")[1])) == 1
    for _ in range(SINGLE_READS_BEFORE_LIBGIT2 + 1):
        git.blob(git.blob_id(b"x = 2\n"))
    with pytest.raises(MissingObject):
        git.blob(BlobId(entry.id))
    assert _state_of(partial.path / ".git/objects") == before


def test_replace_refs_and_grafts_change_nothing(repo: Repo) -> None:
    first = repo.commit({"a.py": "x = 1\n"})
    second = repo.commit({"a.py": "x = 2\n"})
    third = repo.commit({"a.py": "x = 3\n"})
    repo.git("replace", second, first)
    repo.git("replace", repo.git("rev-parse", "HEAD:a.py"), repo.git("hash-object", "-w", "--stdin"), "-f")
    (repo.path / ".git/info").mkdir(exist_ok=True)
    (repo.path / ".git/info/grafts").write_text(f"{third}\n")
    git = opened(repo)
    assert [commit.id for commit in git.log()] == [third, second, first]
    assert files_of(git) == {"a.py": b"x = 3\n"}
    assert files_of(git, "HEAD~1") == {"a.py": b"x = 2\n"}


def test_extensions_that_the_installed_git_does_not_know_are_a_clear_refusal(repo: Repo) -> None:
    repo.commit({"a.py": ""})
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.fromTheFuture", "true")
    with pytest.raises(GitError, match="cannot read the repository") as caught:
        opened(repo)
    assert "newer git" in caught.value.hint


def test_reftable_is_read_where_git_can(make_repo: MakeRepo) -> None:
    try:
        repo = make_repo("repo", "--ref-format=reftable")
    except AssertionError:
        pytest.skip("the installed git has no reftable (it came with 2.45)")
    commit = repo.commit({"a.py": "x = 1\n"})
    git = opened(repo)
    assert (git.head(), git.head_branch(), git.ref_tips()) == (commit, "main", {"refs/heads/main": commit})
    assert files_of(git) == {"a.py": b"x = 1\n"}


def test_refs_that_move_to_another_format_while_we_read(repo: Repo) -> None:
    repo.git("config", "core.logAllRefUpdates", "false")  # before 2.48 git does not move reflogs
    commit = repo.commit({"a.py": "x = 1\n"})
    git = opened(repo)
    assert git.head() == commit
    shutil.rmtree(repo.path / ".git/logs", ignore_errors=True)
    try:
        repo.git("refs", "migrate", "--ref-format=reftable")
    except AssertionError:
        pytest.skip("the installed git cannot move refs (it came with 2.46)")
    assert (git.head(), git.resolve("main")[0], git.head_branch()) == (commit, commit, "main")
    assert git.head() == commit
    with pytest.raises(UnknownRevision):
        git.resolve("none")


# -- history


def test_the_log_and_its_choices(repo: Repo) -> None:
    first = repo.commit({"a.py": "x = 1\n"}, "first\n\nbody")
    repo.switch("side", create=True)
    side = repo.commit({"b.py": ""}, "side: \u00e9t\u00e9")
    repo.switch("main")
    second = repo.commit({"a.py": "x = 2\n"})
    merge = repo.merge("side")
    git = opened(repo)
    log = {commit.id: commit for commit in git.log()}
    assert next(iter(log)) == merge
    assert set(log) == {first, side, second, merge}
    assert log[merge].parents == (second, side)
    assert log[first].parents == ()
    assert log[side].tree == repo.tree(side)
    assert (log[side].subject, log[side].author, log[side].email) == ("side: \u00e9t\u00e9", "Ada", "ada@example.org")
    assert log[first].subject == "first"
    assert log[first].time == int(repo.git("log", "-1", "--format=%at", first))
    assert [c.id for c in git.log(first_parent=True)] == [merge, second, first]
    assert [c.id for c in git.log(paths=["b.py"])] == [side]
    assert [c.id for c in git.log(f"{first}..side")] == [side]
    assert [c.id for c in git.log(limit=1)] == [merge]
    assert next(iter(git.log())).id == merge  # a reader that stops early
    assert git.ancestors("HEAD", 2)[0] == (merge, repo.tree())
    assert git.roots() == (first,)
    assert git.refs_at(git.resolve("side")[0]) == ("refs/heads/side",)  # type: ignore[arg-type]
    assert git.reflog()[0] == merge
    with pytest.raises(UnknownRevision):
        list(git.log("nope"))


def test_settings_of_the_user_do_not_change_the_log(repo: Repo) -> None:
    repo.commit({"a.py": ""}, "one")
    for name, value in {
        "log.showSignature": "true", "format.pretty": "fuller", "log.decorate": "full", "color.ui": "always",
        "status.showUntrackedFiles": "no", "status.renames": "copies", "core.quotePath": "true", "diff.noprefix": "true",
        "status.branch": "true", "status.short": "true", "log.follow": "true", "diff.renames": "copies",
        "diff.external": "false", "core.pager": "false", "status.showStash": "true", "i18n.logOutputEncoding": "latin-1",
    }.items():  # fmt: skip
        repo.git("config", name, value)
    repo.write({"a.py": "x = 1\n", "\u00e9.py": ""})
    git = opened(repo)
    assert [commit.subject for commit in git.log()] == ["one"]
    assert overlaid(git) == {"a.py": b"x = 1\n", "\u00e9.py": b""}
    repo.git("mv", "a.py", "b.py", "-f")
    assert overlaid(git) == {"b.py": b"x = 1\n", "\u00e9.py": b""}
    assert overlaid(git, "index_changes") == {"b.py": b""}


# -- index and work tree


def test_every_kind_of_change_is_told_once(repo: Repo) -> None:
    names = ["same", "edited", "staged", "staged_edited", "deleted", "removed", "kept_untracked", "renamed", "to_link", "mode"]
    repo.commit({name: f"{name}\n" for name in names} | {".gitignore": "*.log\n"})
    repo.write({"edited": "e2\n", "staged": "s2\n", "staged_edited": "se2\n", "deleted": None, "removed": None, "added": "a\n"})
    repo.git("add", "staged", "staged_edited", "removed", "added")
    repo.git("rm", "--cached", "--quiet", "kept_untracked")
    repo.git("mv", "renamed", "new_name")
    repo.write({"staged_edited": "se3\n", "to_link": None, "untracked/deep.py": "u\n", "noise.log": "n\n", "wanted": "w\n"})
    os.symlink("same", repo.path / "to_link")
    os.chmod(repo.path / "mode", 0o755)
    repo.git("add", "--intent-to-add", "wanted")
    git = opened(repo)
    changes = git.worktree_changes()
    contents = {path: state and (state.mode, state.read()) for path, state in changes.items()}
    assert contents == {
        "edited": (REGULAR, b"e2\n"), "staged": (REGULAR, b"s2\n"), "staged_edited": (REGULAR, b"se3\n"), "deleted": None,
        "removed": None, "added": (REGULAR, b"a\n"), "kept_untracked": (REGULAR, b"kept_untracked\n"), "renamed": None,
        "new_name": (REGULAR, b"renamed\n"), "to_link": (SYMLINK, b"same"), "mode": (EXECUTABLE, b"mode\n"),
        "untracked/deep.py": (REGULAR, b"u\n"), "wanted": (REGULAR, b"w\n"),
    }  # fmt: skip
    staged = {path: state and state.read() for path, state in git.index_changes().items()}
    assert staged == {
        "staged": b"s2\n", "staged_edited": b"se2\n", "removed": None, "added": b"a\n", "kept_untracked": None,
        "renamed": None, "new_name": b"renamed\n",
    }  # fmt: skip
    known = changes["staged"]
    assert known is not None
    assert known.blob == git.blob_id(b"s2\n")
    assert {path for path, state in changes.items() if state and state.untracked} == {"kept_untracked", "untracked/deep.py"}


def test_the_index_of_a_partial_commit_stands_in(repo: Repo) -> None:
    repo.commit({"a.py": "1\n"})
    repo.write({"a.py": "2\n"})
    copy = repo.path / ".git" / "next-index-1.lock"
    copy.write_bytes((repo.path / ".git/index").read_bytes())
    repo.git("add", "a.py", GIT_INDEX_FILE=str(copy))
    git = opened(repo)
    assert git.index_changes() == {}
    git.use_index(str(copy))
    assert overlaid(git, "index_changes") == {"a.py": b"2\n"}


def test_a_conflict_is_one_path_with_the_file_as_it_lies_there(repo: Repo) -> None:
    repo.commit({"a.py": "x = 1\n", "deleted_by_us.py": "1\n"})
    repo.switch("side", create=True)
    repo.commit({"a.py": "x = 2\n", "deleted_by_us.py": "2\n"})
    repo.switch("main")
    repo.commit({"a.py": "x = 3\n", "deleted_by_us.py": None})
    repo.merge("side", check=False)
    git = opened(repo)
    entries, conflicts = git.index()
    assert conflicts == ["a.py", "deleted_by_us.py"]
    assert [entry.path for entry in entries] == []
    for changes in (git.worktree_changes(), git.index_changes()):
        state = changes["a.py"]
        assert state is not None
        assert state.conflicted
        assert b"<<<<<<<" in state.read()
        other = changes["deleted_by_us.py"]
        assert other is not None
        assert other.read() == b"2\n"


def test_a_sparse_checkout_shows_nothing_as_deleted(repo: Repo) -> None:
    repo.commit({"in/a.py": "1\n", "out/b.py": "1\n", "top.py": ""})
    repo.git("sparse-checkout", "set", "--cone", "in")
    assert not (repo.path / "out").exists()
    git = opened(repo)
    assert git.worktree_changes() == {}
    assert {entry.path: entry.skip_worktree for entry in git.index()[0]} == {
        "in/a.py": False,
        "out/b.py": True,
        "top.py": False,
    }
    repo.git("sparse-checkout", "reapply", "--sparse-index")
    repo.write({"in/a.py": "2\n"})
    assert overlaid(git) == {"in/a.py": b"2\n", "out/b.py": b"1\n", "top.py": b""}
    assert [entry.path for entry in git.index()[0]] == ["in/a.py", "out/b.py", "top.py"]
    assert git.index_changes() == {}


def test_assume_unchanged_and_skip_worktree_are_taken_at_their_word(repo: Repo) -> None:
    repo.commit({"a.py": "1\n", "b.py": "1\n"})
    repo.git("update-index", "--assume-unchanged", "a.py")
    repo.git("update-index", "--skip-worktree", "b.py")
    repo.write({"a.py": "2\n", "b.py": None})
    git = opened(repo)
    assert git.worktree_changes() == {}
    assert [(e.path, e.assume_unchanged, e.skip_worktree) for e in git.index()[0]] == [
        ("a.py", True, False),
        ("b.py", False, True),
    ]


@pytest.mark.parametrize("version", ["2", "4"])
def test_index_versions_and_split_indexes(repo: Repo, version: str) -> None:
    repo.commit({"a.py": "1\n", "b/c.py": "1\n"})
    repo.git("update-index", f"--index-version={version}")
    repo.git("update-index", "--split-index")
    repo.write({"b/c.py": "2\n"})
    repo.git("add", "--all")
    git = opened(repo)
    assert [entry.path for entry in git.index()[0]] == ["a.py", "b/c.py"]
    assert overlaid(git, "index_changes") == {"a.py": b"1\n", "b/c.py": b"2\n"}


def test_symlinks_are_link_text_and_never_followed(repo: Repo) -> None:
    repo.commit({"real/a.py": "1\n"})
    os.symlink("real", repo.path / "linked")
    os.symlink("linked/loop", repo.path / "real" / "loop")
    os.symlink("/etc/passwd", repo.path / "secret.py")
    git = opened(repo)
    expected = {"real/a.py": b"1\n", "linked": b"real", "real/loop": b"linked/loop", "secret.py": b"/etc/passwd"}
    assert overlaid(git) == expected
    repo.commit()
    assert files_of(git) == expected
    repo.git("rm", "--cached", "--quiet", "real/a.py")
    assert overlaid(git) == expected


def test_a_file_swapped_for_a_link_or_pipe_after_the_listing_is_not_followed(repo: Repo) -> None:
    repo.commit({"a.py": "1\n", "b.py": "1\n", "c.py": "1\n"})
    repo.write({"a.py": "2\n", "b.py": "2\n", "c.py": "2\n"})
    changes = opened(repo).worktree_changes()
    repo.write({"a.py": None, "b.py": None, "c.py": None})
    os.symlink("/etc/passwd", repo.path / "a.py")
    os.mkfifo(repo.path / "b.py")
    states = [changes[name] for name in ("a.py", "b.py", "c.py")]
    assert states[0] is not None
    assert states[0].read() == b"/etc/passwd"
    for state in states[1:]:
        assert state is not None
        with pytest.raises(MissingObject):
            state.read()


def test_special_files_are_no_files(repo: Repo) -> None:
    repo.commit({"a.py": "1\n", "b.py": "1\n"})
    repo.write({"a.py": None})
    os.mkfifo(repo.path / "a.py")
    os.mkfifo(repo.path / "untracked.py")
    assert overlaid(opened(repo)) == {"b.py": b"1\n"}


def test_a_submodule_is_a_gitlink_and_a_repository_of_its_own(make_repo: MakeRepo) -> None:
    inner, outer = make_repo("inner"), make_repo("outer")
    first = inner.commit({"x.py": "x = 1\n"})
    outer.submodule(inner, "libs/inner")
    outer.commit({"a.py": ""})
    git = opened(outer)
    (link,) = [entry for entry in git.walk(git.resolve("HEAD")[1]) if entry.mode == GITLINK]
    assert (link.path, link.id) == ("libs/inner", first)
    checkout = Repo(outer.path / "libs/inner", outer.environment)
    assert GitRepository.discover(str(checkout.path / "x.py")).root == str(checkout.path)
    assert files_of(opened(checkout)) == {"x.py": b"x = 1\n"}
    checkout.write({"x.py": "x = 2\n", "new.py": ""})
    assert git.worktree_changes() == {}
    second = checkout.commit()
    state = git.worktree_changes()["libs/inner"]
    assert state is not None
    assert (state.mode, state.blob, state.read()) == (GITLINK, second, b"")
    outer.git("add", "libs/inner")
    staged = git.index_changes()["libs/inner"]
    assert staged is not None
    assert (staged.mode, staged.blob) == (GITLINK, second)


def test_an_untracked_repository_inside_is_not_ours(repo: Repo) -> None:
    repo.commit({"a.py": ""})
    inner = Repo.create(repo.path / "vendor", repo.environment)
    inner.commit({"x.py": ""})
    assert opened(repo).worktree_changes() == {}


def test_a_file_that_becomes_a_folder_and_back(repo: Repo) -> None:
    repo.commit({"a": "1\n", "b/c": "1\n"})
    repo.write({"a": None, "b/c": None})
    (repo.path / "b").rmdir()
    repo.write({"a/inner.py": "2\n", "b": "2\n"})
    assert overlaid(opened(repo)) == {"a/inner.py": b"2\n", "b": b"2\n"}


_LINE_ENDS = [
    ({"core.autocrlf": "true"}, ""), ({"core.autocrlf": "input"}, ""), ({"core.autocrlf": "false"}, ""), ({}, "* text=auto\n"),
    ({}, "*.py text\n"), ({}, "*.py eol=crlf\n"), ({}, "*.py -text\n"), ({"core.autocrlf": "true"}, "*.py -text\n"),
    ({}, "*.py text eol=lf\n"), ({}, "*.py crlf\n"), ({}, "*.py crlf=input\n"), ({}, "*.py binary\n"),
    ({}, "*.py working-tree-encoding=UTF-16\n"), ({}, "*.py text working-tree-encoding=UTF-16LE\n"),
]  # fmt: skip
_TEXTS = {
    "crlf.py": b"a = 1\r\nb = 2\r\n", "mixed.py": b"a\r\nb\n", "lf.py": b"a\nb\n", "nul.py": b"a\r\n\0b\r\n",
    "lone.py": b"a\rb\r\n",
    "none.py": b"", "bom.py": b"\xef\xbb\xbfa\r\n", "odd.py": b"\x01\x02\x03\x04" * 8 + b"\r\n", "latin.py": b"\xe9\r\n",
    "eof.py": b"a\r\n\x1a", "wide.py": "x = 1\r\n".encode("utf-16"),
}  # fmt: skip


@pytest.mark.parametrize(("settings", "attributes"), _LINE_ENDS)
def test_contents_are_what_git_would_store(repo: Repo, settings: dict[str, str], attributes: str) -> None:
    repo.commit({"had_crlf.py": "a\r\nb\r\n", "had_lf.py": "a\nb\n"})
    for name, value in settings.items():
        repo.git("config", name, value)
    repo.write({".gitattributes": attributes, "had_crlf.py": "a\r\nc\r\n", "had_lf.py": "a\r\nc\r\n"} | _TEXTS)
    git = opened(repo)
    ours = {path: git.blob_id(state.read()) for path, state in git.worktree_changes().items() if state}
    for path, stored in ours.items():
        if "UTF-16" in attributes and path != "wide.py" and path.endswith(".py"):
            continue  # not in that encoding: git refuses to store it
        if "UTF-16LE" in attributes and path == "wide.py":
            continue
        repo.git("-c", "core.safecrlf=false", "add", path)
        assert stored == repo.git("rev-parse", f":{path}"), (path, settings, attributes)


def test_a_file_that_differs_in_line_ends_alone_is_no_change(repo: Repo) -> None:
    repo.commit({"a.py": "x = 1\ny = 2\n"})
    repo.git("config", "core.autocrlf", "true")
    repo.write({"a.py": "x = 1\r\ny = 2\r\n"})
    git = opened(repo)
    assert overlaid(git) == {"a.py": b"x = 1\ny = 2\n"}


# -- settings and state


def test_the_hooks_folder_and_who_sets_it(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit({"a.py": ""})
    linked = repo.worktree(tmp_path / "linked", "--detach")
    common = str(repo.path / ".git/hooks")
    assert opened(repo).hooks_folder() == opened(linked).hooks_folder() == common
    assert GitRepository.discover(str(repo.path / ".git" / "refs")).hooks_folder() == common
    assert opened(repo).setting("core.hooksPath") is None
    repo.git("config", "core.hooksPath", ".husky/_")
    assert opened(repo).hooks_folder() == str(repo.path / ".husky/_")
    assert opened(linked).hooks_folder() == str(linked.path / ".husky/_")
    setting = opened(repo).setting("core.hooksPath")
    assert setting is not None
    assert (setting.value, setting.scope) == (".husky/_", "local")
    repo.git("config", "--unset", "core.hooksPath")
    (tmp_path / "gitconfig").write_text(f"[core]\n\thooksPath = {tmp_path}/all hooks\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    assert opened(repo).hooks_folder() == f"{tmp_path}/all hooks"
    setting = opened(repo).setting("core.hooksPath")
    assert setting is not None
    assert (setting.scope, setting.origin) == ("global", f"file:{tmp_path}/gitconfig")


def test_worktree_specific_configuration(repo: Repo, tmp_path: Path) -> None:
    repo.commit({"a.py": ""})
    linked = repo.worktree(tmp_path / "linked", "--detach")
    repo.git("config", "extensions.worktreeConfig", "true")
    linked.git("config", "--worktree", "core.hooksPath", "own")
    setting = opened(linked).setting("core.hooksPath")
    assert setting is not None
    assert setting.scope == "worktree"
    assert opened(repo).setting("core.hooksPath") is None
    assert files_of(opened(linked)) == {"a.py": b""}


def test_origin_and_ignored_paths(repo: Repo, tmp_path: Path) -> None:
    repo.commit({".gitignore": "*.log\n/build/\n"})
    assert opened(repo).origin_url() is None
    clone = opened(repo.clone(tmp_path / "clone"))
    assert clone.origin_url() == f"file://{repo.path}"
    assert clone.ignored(["x.log", "a.py", "build/x"]) == {"x.log", "build/x"}


def test_a_rebase_in_progress_is_seen(repo: Repo) -> None:
    repo.commit({"a.py": "1\n"})
    repo.switch("side", create=True)
    repo.commit({"a.py": "2\n"})
    repo.switch("main")
    repo.commit({"a.py": "3\n"})
    git = opened(repo)
    assert git.rewriting() is None
    for backend in ("--merge", "--apply"):
        repo.git("rebase", "--quiet", backend, "side", check=False)
        assert git.rewriting() == "rebase"
        repo.git("rebase", "--abort")
    repo.git("cherry-pick", "side", check=False)
    assert git.rewriting() is None  # one commit alone is not a series
    repo.git("cherry-pick", "--abort")


def test_a_read_only_repository_is_read(repo: Repo) -> None:
    repo.commit({"a.py": "1\n"})
    repo.write({"a.py": "2\n"})
    folders = [p for p in [repo.path, *repo.path.rglob("*")] if p.is_dir()]
    for folder in folders:
        folder.chmod(0o555)
    try:
        assert overlaid(opened(repo)) == {"a.py": b"2\n"}
    finally:
        for folder in folders:
            folder.chmod(0o755)


def test_records_of_a_failing_command_raise(repo: Repo) -> None:
    with pytest.raises(GitError):
        list(Git(str(repo.path)).records("log", "-z", "nope", "--"))


def test_directories_that_were_forgotten_are_read_again(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenzip.git.trees._KEPT_ENTRIES", 6)
    repo.commit({f"d{i % 5}/e{i % 3}/f{i}.py": f"{i}\n" for i in range(60)})
    git = opened(repo)
    _, tree = git.resolve("HEAD")
    listed = repo.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    for _ in range(2):
        assert [entry.path for entry in git.walk(tree)] == listed
        assert [change.path for change in git.diff_trees(None, tree)] == sorted(listed)
        assert len(git._trees._parsed) <= 6


def test_threads_share_one_repository(repo: Repo) -> None:
    repo.commit({f"d{i % 5}/f{i}.py": f"x = {i}\n" for i in range(50)})
    git = opened(repo)
    expected = files_of(git)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: files_of(opened(repo)) and files_of(git), range(12)):
            assert found == expected
