"""What a new snapshot is built on: an ancestor that is near, else whatever is most like it, in this clone or another."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from gitrepo import Repo

from tokenzip.repository import Repository
from tokenzip.repository import repo as open_repository
from tokenzip.snapshot import bulk
from tokenzip.snapshot.nearest import nearest_known

MakeRepo = Callable[..., Repo]
FILES = {f"part{number}.py": f"from part{number - 1} import f\n\n\ndef f():\n    return 1\n" for number in range(8)}


def opened(place: Repo) -> Repository:
    return open_repository(str(place.path))


@pytest.fixture
def no_bulk(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From when it is called on, no whole tree may be brought in."""

    def refuse(*_: object) -> None:
        raise AssertionError("a whole tree is brought in anew")

    return lambda: monkeypatch.setattr(bulk, "bring_in", refuse)


def behind(ahead: Repo, path: Path) -> Repo:
    """A clone that has only the first commit, and not the objects of later ones."""
    first = ahead.git("rev-list", "--max-parents=0", "HEAD")
    ahead.git("branch", "first", first)
    clone = ahead.clone(path, "--branch=first", "--single-branch")
    ahead.git("branch", "-D", "first")
    return clone


def digest_alone(place: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    with monkeypatch.context() as patch:
        patch.setenv("TOKENZIP_HOME", str(tmp_path / "alone"))
        digest = opened(place).snapshot("HEAD").digest()
    shutil.rmtree(tmp_path / "alone")
    return digest


def test_a_clone_that_lies_behind_builds_on_what_another_one_has(
    repo: Repo, tmp_path: Path, no_bulk: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(FILES)
    for number in range(10):
        repo.commit(
            {f"part{number % 3}.py": f"def f():\n    return {number}\n", "new.py": f"from part7 import f as f{number}\n"}
        )
    clone = behind(repo, tmp_path / "behind")
    alone = digest_alone(clone, tmp_path, monkeypatch)
    opened(repo).index()
    no_bulk()
    project = opened(clone)
    assert not project.git.has(repo.head())
    assert project.store.folder == opened(repo).store.folder
    assert project.snapshot("HEAD").digest() == alone
    assert project.git.borrowed == ()
    assert project.snapshot("HEAD").file("new.py") is None
    shutil.rmtree(repo.path)
    assert opened(clone).snapshot("HEAD").digest() == alone


def test_a_clone_behind_with_a_submodule(
    make_repo: MakeRepo, tmp_path: Path, no_bulk: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    inner, outer = make_repo("inner"), make_repo("outer")
    inner.commit(FILES)
    outer.submodule(inner, "sub")
    outer.commit({"own.py": "from sub.part1 import f\n"})
    clone = behind(outer, tmp_path / "behind")
    clone.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
    for number in range(8):
        Repo(outer.path / "sub", outer.environment).commit({"part1.py": f"def f():\n    return {number}\n"})
        outer.commit({"own.py": f"from sub.part1 import f as f{number}\n"})
    alone = digest_alone(clone, tmp_path, monkeypatch)
    opened(outer).index()
    no_bulk()
    assert opened(clone).snapshot("HEAD").digest() == alone


def test_submodules_that_come_later_are_added_to_what_is_there(
    make_repo: MakeRepo, tmp_path: Path, no_bulk: Callable[[], None]
) -> None:
    inner, outer = make_repo("inner"), make_repo("outer")
    inner.commit(FILES)
    outer.submodule(inner, "sub")
    outer.commit({"own.py": "from sub.part1 import f\n"})
    clone = outer.clone(tmp_path / "clone")
    opened(clone).index()
    clone.commit({"own.py": ""})
    opened(clone).index()
    clone.git("reset", "--quiet", "--hard", "HEAD~1")
    no_bulk()
    clone.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
    assert "sub/part1.py" in set(opened(clone).snapshot("HEAD").paths())


def test_of_several_the_most_like_is_taken(repo: Repo, no_bulk: Callable[[], None]) -> None:
    repo.commit(FILES)
    start = repo.head()
    for name, size in (("far", 7), ("near", 2), ("middle", 4)):
        repo.git("switch", "--quiet", "--create", name, start)
        for number in range(size):
            repo.commit({f"part{number}.py": f"def {name}():\n    pass\n"})
    repo.git("switch", "--quiet", "--create", "side", start)
    repo.commit({"part0.py": "def near():\n    pass\n"})
    project = opened(repo)
    for name in ("far", "near", "middle"):
        project.index(name)
    commit, tree = project.git.resolve("side")
    base = nearest_known(project.git, project.store, commit, tree)
    assert base is not None
    assert base.tree == project.git.resolve("near")[1]
    no_bulk()
    project.index("side")


def test_clones_that_are_gone_or_broken_are_passed_over(repo: Repo, tmp_path: Path) -> None:
    repo.commit(FILES)
    repo.commit({"new.py": ""})
    clone, gone = behind(repo, tmp_path / "behind"), repo.clone(tmp_path / "gone")
    for each in (repo, gone):
        opened(each).index()
    shutil.rmtree(gone.path)
    (repo.path / ".git" / "HEAD").write_text("nonsense")
    project = opened(clone)
    assert sorted(project.snapshot("HEAD").paths()) == sorted(FILES)
    folders = {str(each.path / ".git") for each in (repo, clone, gone)}
    assert set(project._users()) == folders
    project.gc()
    assert set(project._users()) == folders - {str(gone.path / ".git")}
