"""Submodules as part of the graph: joined where their commits are here, and never so for a clone that lacks them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from gitrepo import Repo

from tokenzip import hooks
from tokenzip.operations import OPERATIONS
from tokenzip.operations.history import find_conflicts
from tokenzip.operations.state import status
from tokenzip.repository import Repository
from tokenzip.repository import repo as open_repository

MakeRepo = Callable[..., Repo]
INNER = {
    "__init__.py": "",
    "lib.py": "def f():\n    return 1\n",
    "more.py": "from .lib import f\n\n\ndef g():\n    return f()\n",
}
OUTER = {
    "own.py": "from vendored.lib import f\n\n\ndef own():\n    return f()\n",
    "late.py": "from vendored.new import h\n\n\ndef late():\n    return h()\n",
}


@pytest.fixture
def outer(make_repo: MakeRepo) -> Repo:
    """A repository with a submodule that its own code calls."""
    inner, outer = make_repo("inner"), make_repo("outer")
    inner.commit(INNER)
    outer.submodule(inner, "vendored")
    outer.commit(OUTER)
    return outer


def checkout(outer: Repo) -> Repo:
    return Repo(outer.path / "vendored", outer.environment)


def asked(place: Repo | Path, name: str, **arguments: object) -> dict[str, object]:
    project = open_repository(str(place.path if isinstance(place, Repo) else place))
    answer = OPERATIONS[name].run(project, {"max_tokens": 0, **arguments})
    assert "error" not in answer, answer
    return answer


def callers(place: Repo | Path, handle: str = "vendored/lib.py::f", at: str | None = None) -> list[str]:
    answer = asked(place, "get_dependants", handle=handle, kinds=["calls"], at=at)
    return [item["handle"] for item in answer["items"]]  # type: ignore[attr-defined]


def paths(project: Repository, at: str = "HEAD") -> list[str]:
    return sorted(project.snapshot(at).paths())


def scratch_digest(place: Path, at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The digest of a state that was brought into an empty store."""
    with monkeypatch.context() as patch:
        patch.setenv("TOKENZIP_HOME", str(tmp_path / "empty"))
        digest = open_repository(str(place)).snapshot(at).digest()
    shutil.rmtree(tmp_path / "empty")
    return digest


BOTH = ["own.py::own", "vendored/more.py::g"]


def test_calls_into_a_submodule_have_edges(outer: Repo) -> None:
    assert callers(outer) == callers(outer, at="HEAD") == callers(outer, at="INDEX") == BOTH
    assert callers(outer.path / "vendored", "lib.py::f") == ["more.py::g"]


def test_the_tree_is_the_one_that_git_would_give_the_same_files_in_place(outer: Repo, tmp_path: Path) -> None:
    project = open_repository(str(outer.path))
    joined = project.git.joined(project.git.resolve("HEAD")[1])
    assert project.git.joints(joined) == {"vendored": checkout(outer).head()}
    in_place = outer.clone(tmp_path / "in place")
    in_place.git("rm", "--quiet", "--cached", "vendored")
    in_place.commit({f"vendored/{path}": content for path, content in INNER.items()})
    assert in_place.tree() == joined
    assert open_repository(str(in_place.path)).snapshot("HEAD").digest() == project.snapshot("HEAD").digest()


@pytest.mark.parametrize("first", ["with", "without"])
def test_a_clone_without_the_inner_repository_is_answered_as_if_it_were_alone(
    outer: Repo, tmp_path: Path, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = outer.clone(tmp_path / "bare", "--bare")
    plain = outer.clone(tmp_path / "plain")
    places = [outer.path, bare.path, plain.path]
    for place in places if first == "with" else reversed(places):
        open_repository(str(place)).index()
    assert callers(outer, at="HEAD") == BOTH
    for place in (bare.path, plain.path):
        project = open_repository(str(place))
        assert project.store.folder == open_repository(str(outer.path)).store.folder
        assert paths(project) == [".gitmodules", "late.py", "own.py", "vendored"]
        assert project.snapshot("HEAD").digest() == scratch_digest(place, "HEAD", tmp_path, monkeypatch)
    (submodule,) = status(open_repository(str(plain.path)))["submodules"]
    assert (submodule["state"], submodule["joined"]) == ("absent", False)
    assert open_repository(str(outer.path)).gc().snapshots == 2
    assert callers(outer, at="HEAD") == BOTH


def test_each_commit_has_the_files_of_the_commit_it_names(outer: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_repository(str(outer.path)).index()
    checkout(outer).commit({"new.py": "def h():\n    return 2\n", "more.py": None})
    assert callers(outer, "vendored/new.py::h") == ["late.py::late"]
    assert callers(outer, at="HEAD") == callers(outer, at="INDEX") == BOTH
    outer.git("add", "vendored")
    assert callers(outer, "vendored/new.py::h", at="INDEX") == ["late.py::late"]
    outer.commit()
    assert callers(outer, "vendored/new.py::h", at="HEAD") == ["late.py::late"]
    assert callers(outer, at="HEAD") == ["own.py::own"]
    assert callers(outer, at="HEAD~1") == BOTH
    for at in ("HEAD", "HEAD~1", "WORKTREE"):
        mine = open_repository(str(outer.path)).snapshot(at).digest()
        assert mine == scratch_digest(outer.path, at, tmp_path, monkeypatch), at
    changes = asked(outer, "diff_commits", base="HEAD~1", head="HEAD")["changes"]
    found = {(item["handle"], item["change"]) for item in changes}  # type: ignore[attr-defined]
    assert {("vendored/new.py::h", "added"), ("vendored/more.py::g", "removed")} <= found


def test_uncommitted_work_in_a_submodule_is_part_of_the_work_tree(
    outer: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = checkout(outer)
    inner.write({"new.py": "def h():\n    return 2\n", "more.py": None, "lib.py": "\n\ndef f():\n    return 1\n"})
    assert callers(outer, "vendored/new.py::h") == ["late.py::late"]
    assert callers(outer) == ["own.py::own"]
    assert callers(outer, at="HEAD") == callers(outer, at="INDEX") == BOTH
    inner.commit({"other.py": ""})
    inner.write({"other.py": None, "lib.py": "def f():\n    return 3\n"})
    snapshot = open_repository(str(outer.path)).snapshot()
    assert snapshot.source("vendored/lib.py") == b"def f():\n    return 3\n"
    assert "vendored/other.py" not in set(snapshot.paths())
    assert snapshot.digest() == scratch_digest(outer.path, "WORKTREE", tmp_path, monkeypatch)


def test_what_is_on_one_side_only_is_no_change_of_all_its_files(outer: Repo, tmp_path: Path) -> None:
    clone = outer.clone(tmp_path / "clone")
    clone.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
    old = checkout(outer).head()
    new = checkout(outer).commit({"new.py": "def h():\n    return 2\n"})
    outer.commit()
    clone.git("fetch", "--quiet", "--no-recurse-submodules")
    clone.git("reset", "--quiet", "--soft", "FETCH_HEAD")
    for base, head in (("HEAD~1", "HEAD"), ("HEAD", "WORKTREE"), ("HEAD~1", "WORKTREE")):
        changes = asked(clone, "diff_commits", base=base, head=head)["changes"]
        found = {item["handle"]: item.get("reasons") for item in changes}  # type: ignore[attr-defined]
        if (base, head) == ("HEAD~1", "HEAD"):
            assert found == {"vendored": [f"submodule at {new[:10]}, before at {old[:10]}"]}
        elif base == "HEAD":
            assert found == {"vendored": [f"submodule at {old[:10]}, before at {new[:10]}"]}
        else:
            assert found == {}
    assert callers(clone) == BOTH
    assert callers(clone, "own.py::own", at="HEAD") == []


def test_a_submodule_that_comes_and_goes(outer: Repo, make_repo: MakeRepo) -> None:
    other = make_repo("other")
    other.commit({"x.py": "def x():\n    pass\n"})
    outer.submodule(other, "deep/er/x")
    outer.write({"uses.py": "from deep.er.x.x import x\n\n\ndef uses():\n    x()\n"})
    for at in ("WORKTREE", "INDEX"):
        assert "deep/er/x/x.py" in paths(open_repository(str(outer.path)), at)
    assert callers(outer, "deep/er/x/x.py::x") == ["uses.py::uses"]
    outer.commit()
    assert callers(outer, "deep/er/x/x.py::x", at="HEAD") == ["uses.py::uses"]
    outer.git("rm", "--quiet", "--force", "vendored")
    assert [path for path in paths(open_repository(str(outer.path)), "INDEX") if "vendored" in path] == []
    outer.git("submodule", "deinit", "--quiet", "--force", "deep/er/x")
    assert callers(outer, "deep/er/x/x.py::x", at="HEAD") == ["uses.py::uses"]


def test_submodules_of_submodules_and_linked_worktrees(outer: Repo, make_repo: MakeRepo, tmp_path: Path) -> None:
    innermost, inner = make_repo("innermost"), checkout(outer)
    innermost.commit({"deepest.py": "def deepest():\n    pass\n"})
    inner.submodule(innermost, "third")
    inner.commit({"uses.py": "from .third.deepest import deepest\n\n\ndef uses():\n    deepest()\n"})
    outer.commit({"top.py": "from vendored.third.deepest import deepest\n\n\ndef top():\n    deepest()\n"})
    expected = ["top.py::top", "vendored/uses.py::uses"]
    handle = "vendored/third/deepest.py::deepest"
    assert callers(outer, handle) == callers(outer, handle, at="HEAD") == expected
    Repo(outer.path / "vendored/third", outer.environment).write({"deepest.py": "def other():\n    pass\n"})
    assert "vendored/third/deepest.py::other" in str(asked(outer, "query_file", path="vendored/third/deepest.py"))
    linked = outer.worktree(tmp_path / "linked", "--detach")
    assert callers(linked, handle) == callers(linked, handle, at="HEAD") == expected


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may give a folder to another user")
def test_inside_a_repository_of_another_user_that_is_allowed(outer: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout(outer).write({"new.py": "def h():\n    return 2\n"})
    for path in (outer.path, *outer.path.rglob("*")):
        os.chown(path, 4321, 4321, follow_symlinks=False)
    settings = outer.path.parent / "gitconfig"
    settings.write_text(f"[safe]\n\tdirectory = {outer.path}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    assert callers(outer) == callers(outer, at="HEAD") == BOTH
    assert callers(outer, "vendored/new.py::h") == ["late.py::late"]


@pytest.mark.parametrize("gone", [".git/modules/vendored", ".git/modules/vendored/objects"])
def test_an_inner_repository_that_is_gone_or_damaged(outer: Repo, gone: str) -> None:
    assert callers(outer) == BOTH
    shutil.rmtree(outer.path / gone)
    assert paths(open_repository(str(outer.path)), "WORKTREE") == [".gitmodules", "late.py", "own.py", "vendored"]
    shutil.rmtree(outer.path / "vendored")
    assert paths(open_repository(str(outer.path)), "WORKTREE") == [".gitmodules", "late.py", "own.py"]


def test_many_files_are_read_by_workers(outer: Repo) -> None:
    checkout(outer).commit({f"part{number}.py": f"def part{number}():\n    pass\n" for number in range(200)})
    calls = "\n".join(f"from vendored.part{number} import part{number}" for number in range(200))
    outer.commit({"uses.py": f"{calls}\n\n\ndef uses():\n    part7()\n"})
    project = open_repository(str(outer.path))
    project.index(processes=2)
    assert callers(outer, "vendored/part7.py::part7", at="HEAD") == ["uses.py::uses"]


def test_history_knows_where_it_ends(outer: Repo) -> None:
    project = open_repository(str(outer.path))
    answer = OPERATIONS["get_git_history"].run(project, {"handle": "vendored/lib.py::f"})
    assert "submodule vendored" in answer["error"]["message"]
    assert "in the repository vendored" in answer["error"]["hint"]
    outer.commit({"late.py": "from vendored.lib import f\n\n\ndef late():\n    return f()\n"}, "now it does")
    since = asked(outer, "get_git_history", handle="late.py::late", to="vendored/lib.py::f")
    assert [item["subject"] for item in since["items"]] == ["now it does"]  # type: ignore[attr-defined]
    log = asked(outer, "get_git_history", handle="own.py::own")
    assert [item["change"] for item in log["items"]] == ["added"]  # type: ignore[attr-defined]


def test_a_merge_that_moves_a_submodule(outer: Repo) -> None:
    outer.git("switch", "--quiet", "--create", "side")
    checkout(outer).commit({"lib.py": "def renamed():\n    return 1\n"})
    outer.commit()
    outer.git("switch", "--quiet", "main")
    checkout(outer).git("checkout", "--quiet", "HEAD~1")
    outer.commit({"again.py": "from vendored.lib import f\n\n\ndef again():\n    return f()\n"})
    answer = find_conflicts(open_repository(str(outer.path)), {"ours": "HEAD", "theirs": "side", "max_tokens": 0})
    assert {item["file"] for item in answer["items"]} == {"again.py"}


def test_a_commit_that_takes_away_what_is_called_is_noticed(outer: Repo) -> None:
    open_repository(str(outer.path)).index()
    hooks.install(open_repository(str(outer.path)))
    checkout(outer).commit({"lib.py": "def renamed():\n    return 1\n"})
    outer.git("add", "vendored")
    said = outer.run("git", "commit", "--message", "bump").stderr
    assert "own.py" in said, said
    assert "vendored/lib.py" in said, said


@pytest.mark.parametrize("seed", [23, 31])
def test_random_work_inside_and_outside_equals_scratch(
    seed: int, make_repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiny modules that import each other across the border; what is committed, staged and checked out varies."""
    random = Random(seed)
    inner, outer = make_repo("inner"), make_repo("outer")
    inner.commit({f"{name}.py": random_module(random) for name in NAMES})
    outer.submodule(inner, "sub")
    outer.commit({f"{name}.py": random_module(random) for name in NAMES})
    work = Repo(outer.path / "sub", outer.environment)
    steps: dict[str, Callable[[], object]] = {
        "commit inside": lambda: work.commit(random_edit(random, work)),
        "edit inside": lambda: work.write(random_edit(random, work)),
        "back inside": lambda: work.git("reset", "--hard", "--quiet", "HEAD~1", check=False),
        "commit": lambda: outer.commit(random_edit(random, outer)),
        "edit": lambda: outer.write(random_edit(random, outer)),
        "stage": lambda: outer.git("add", "sub"),
    }
    taken = []
    for number in range(8):
        taken.append(random.choice(sorted(steps)))
        steps[taken[-1]]()
        for at in random.sample(["WORKTREE", "INDEX", "HEAD"], 2):
            mine = open_repository(str(outer.path)).snapshot(at).digest()
            assert mine == scratch_digest(outer.path, at, tmp_path, monkeypatch), (number, at, taken)


NAMES = "abcd"


def random_module(random: Random) -> str:
    lines = []
    for _ in range(random.randint(0, 3)):
        name, function = random.choice(NAMES), random.choice("fgh")
        module = random.choice([f"sub.{name}", name, f".{name}", f"sub.deep.{name}"])
        lines.append(random.choice([f"from {module} import {function}", f"import {module}", f"from {module} import *"]))
    for function in "fgh":
        if random.random() < 0.6:
            calls = f"{random.choice('fgh')}()", f"{random.choice(NAMES)}.{random.choice('fgh')}()"
            lines.append(f"def {function}():\n    {calls[0]}\n    {calls[1]}\n")
    return "\n".join(lines) + "\n"


def random_edit(random: Random, repo: Repo) -> dict[str, str | None]:
    """One or two modules made, changed or taken away."""
    places = [f"{random.choice(NAMES)}.py", f"deep/{random.choice(NAMES)}.py", "__init__.py"]
    paths = random.sample(places, random.randint(1, 2))
    return {path: None if (repo.path / path).exists() and random.random() < 0.25 else random_module(random) for path in paths}
