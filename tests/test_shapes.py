"""The same small project in every shape that a repository can have: the graph is the same, or the refusal is clear.

`docs/git.md` names a test for each shape; most are in `test_git.py` (what is read), these here ask the whole program.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from gitrepo import Repo

from tokenzip.operations import OPERATIONS
from tokenzip.operations.state import status
from tokenzip.repository import Repository
from tokenzip.repository import repo as open_repository

MakeRepo = Callable[..., Repo]
FILES = {
    "lib.py": "def f():\n    return 1\n",
    "use/a.py": "from lib import f\n\n\ndef a():\n    return f()\n",
    "use/b.py": "from lib import f\n\n\ndef b():\n    return f()\n",
}
CALLERS = ["use/a.py::a", "use/b.py::b"]


def callers(project: Repository, handle: str = "lib.py::f", at: str | None = None) -> list[str]:
    answer = OPERATIONS["get_dependants"].run(project, {"handle": handle, "kinds": ["calls"], "at": at, "max_tokens": 0})
    assert "error" not in answer, answer
    return [item["handle"] for item in answer["items"]]


def asked(place: Repo | Path, at: str | None = None) -> list[str]:
    return callers(open_repository(str(place.path if isinstance(place, Repo) else place)), at=at)


# Formats and settings of the repository.


@pytest.mark.parametrize(
    "options", [(), ("--object-format=sha256",), ("--ref-format=reftable",)], ids=["sha1", "sha256", "reftable"]
)
def test_formats(make_repo: MakeRepo, options: tuple[str, ...]) -> None:
    if (
        "--ref-format=reftable" in options
        and "--ref-format" not in subprocess.run(["git", "init", "-h"], capture_output=True, text=True, check=False).stdout
    ):
        pytest.skip("this git knows no reftable")
    repo = make_repo("repo", *options)
    repo.commit(FILES)
    repo.commit({"use/b.py": None})
    repo.write({"use/c.py": FILES["use/b.py"].replace("def b", "def c")})
    assert asked(repo) == ["use/a.py::a", "use/c.py::c"]
    assert asked(repo, "HEAD") == ["use/a.py::a"]
    assert asked(repo, "HEAD~1") == CALLERS


def test_a_git_file_and_folders_below_and_inside(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo = make_repo("repo", f"--separate-git-dir={tmp_path / 'elsewhere.git'}")
    repo.commit(FILES)
    repo.write({"use/b.py": None})
    for place in (repo.path, repo.path / "use", repo.path / "use" / "a.py"):
        assert asked(place) == ["use/a.py::a"]
    plain = make_repo("plain")
    plain.commit(FILES)
    assert asked(plain.path / ".git" / "objects") == CALLERS


def test_alternates_replace_refs_grafts_and_settings_of_one_worktree(repo: Repo, tmp_path: Path) -> None:
    first = repo.commit(FILES)
    second = repo.commit({"use/b.py": None})
    repo.git("clone", "--quiet", "--shared", str(repo.path), str(tmp_path / "sharing"))
    assert (tmp_path / "sharing/.git/objects/info/alternates").exists()
    assert asked(tmp_path / "sharing") == ["use/a.py::a"]
    repo.git("replace", second, first)
    (repo.path / ".git/info/grafts").write_text(f"{second}\n")
    repo.git("config", "extensions.worktreeConfig", "true")
    repo.git("config", "--worktree", "core.autocrlf", "input")
    assert asked(repo, "HEAD") == ["use/a.py::a"]
    assert asked(repo, "HEAD~1") == CALLERS


@pytest.mark.parametrize("setting", ["core.splitIndex", "index.sparse", "core.untrackedCache", "core.fsmonitor"])
def test_settings_that_change_how_git_keeps_its_index(repo: Repo, setting: str) -> None:
    repo.commit(FILES)
    repo.git("config", setting, "false" if setting == "core.fsmonitor" else "true")
    repo.git("update-index", "--refresh")
    repo.write({"use/b.py": None})
    assert asked(repo) == ["use/a.py::a"]


# What is there and what is not.


def test_no_commit_yet_and_a_detached_head(repo: Repo) -> None:
    repo.write(FILES)
    assert asked(repo) == CALLERS
    repo.git("add", "lib.py", "use/a.py")
    assert asked(repo, "INDEX") == ["use/a.py::a"]
    commit = repo.commit({})
    repo.commit({"use/b.py": None})
    repo.git("checkout", "--quiet", "--detach", commit)
    assert asked(repo) == CALLERS


def test_an_unborn_branch_in_a_linked_worktree(repo: Repo, tmp_path: Path) -> None:
    repo.commit(FILES)
    linked = repo.worktree(tmp_path / "linked", "--detach")
    linked.git("switch", "--quiet", "--orphan", "fresh")
    linked.write(FILES)
    assert asked(linked) == CALLERS
    linked.write({"use/b.py": None})
    assert asked(linked) == CALLERS[:1]
    assert asked(repo) == asked(repo, "HEAD") == CALLERS


def test_a_sparse_checkout_has_the_whole_graph(repo: Repo) -> None:
    repo.commit(FILES | {"other/x.py": "X = 1\n"})
    repo.git("sparse-checkout", "set", "--cone", "other")
    assert not (repo.path / "use").exists()
    assert asked(repo) == CALLERS
    repo.write({"lib.py": FILES["lib.py"] + "\n\ndef g():\n    return f()\n"})
    assert asked(repo) == ["lib.py::g", *CALLERS]


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_files_that_git_is_told_not_to_look_at(repo: Repo, flag: str) -> None:
    repo.commit(FILES)
    repo.git("update-index", flag, "use/b.py")
    repo.write({"use/b.py": None})
    assert asked(repo) == CALLERS


def test_a_shallow_clone_has_no_history_to_invent(repo: Repo, tmp_path: Path) -> None:
    repo.commit(FILES)
    repo.commit({"use/b.py": FILES["use/b.py"].replace("f()", "f() + 1")}, "newest")
    shallow = open_repository(str(repo.clone(tmp_path / "shallow", "--depth=1").path))
    assert callers(shallow) == CALLERS
    log = OPERATIONS["get_git_history"].run(shallow, {"handle": "use/b.py::b"})
    assert [item["change"] for item in log["items"]] == ["added"]
    assert "--unshallow" in log["complete"]["why"]
    since = OPERATIONS["get_git_history"].run(shallow, {"handle": "use/b.py::b", "to": "lib.py::f"})
    assert since["items"] == []
    assert "--unshallow" in since["complete"]["why"]
    diff = OPERATIONS["diff_commits"].run(shallow, {"base": "HEAD~1"})
    assert diff["error"]["code"] == "unknown_revision"
    assert "shallow" in diff["error"]["hint"]


def test_a_partial_clone_asks_nothing_of_its_remote(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.commit(FILES)
    repo.commit({"use/b.py": FILES["use/b.py"].replace("def b", "def c")})
    partial = repo.clone(tmp_path / "partial", "--filter=blob:none")
    shutil.rmtree(repo.path / ".git")
    project = open_repository(str(partial.path))
    assert callers(project) == ["use/a.py::a", "use/b.py::c"]
    file = OPERATIONS["query_file"].run(project, {"path": "use/b.py", "at": "HEAD~1"})
    assert "absent" in str(file["file"]), file


# Whose it is, and who may write.


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root may give a folder to another user")
def test_a_repository_of_another_user_that_is_allowed_by_name(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(FILES)
    side = repo.head()
    repo.commit({"lib.py": FILES["lib.py"].replace("1", "2")})
    for path in (repo.path, *repo.path.rglob("*")):
        os.chown(path, 4321, 4321)
    settings = repo.path.parent / "gitconfig"
    settings.write_text(f"[safe]\n\tdirectory = {repo.path}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    assert asked(repo) == asked(repo, "HEAD") == asked(repo.path / "use", "HEAD~1") == CALLERS
    project = open_repository(str(repo.path))
    assert not project.merge("HEAD", side).conflicts
    assert project.gc().snapshots == 2


@pytest.mark.skipif(os.name == "nt", reason="modes of files mean nothing")
def test_a_read_only_repository_with_a_read_only_home(repo: Repo, hermetic: dict[str, str]) -> None:
    """What the store holds is answered; what it does not hold is refused with a remedy."""
    repo.commit(FILES)
    repo.commit({"use/b.py": None})
    home = Path(hermetic["TOKENZIP_HOME"])
    unlike_root = without_the_rights_of_root()

    def tokenzip(*words: str) -> subprocess.CompletedProcess[str]:
        return repo.run(*unlike_root, sys.executable, "-P", "-m", "tokenzip", *words, check=False)

    home.mkdir()
    with read_only(home, repo.path):
        nothing = tokenzip("callers", "lib.py::f")
        assert (nothing.returncode, "TOKENZIP_HOME" in nothing.stderr) == (2, True), nothing
    known = tokenzip("callers", "lib.py::f", "--format", "json")
    assert known.returncode == 0, known
    with read_only(home, repo.path):
        for words in (("callers", "lib.py::f", "--format", "json"), ("map",), ("log", "lib.py::f"), ("diff",), ("status",)):
            assert tokenzip(*words).returncode == 0, words
        assert tokenzip("callers", "lib.py::f", "--format", "json").stdout == known.stdout
        for words in (("callers", "lib.py::f", "--at", "HEAD~1"), ("gc",), ("index", "HEAD~1")):
            refused = tokenzip(*words)
            assert (refused.returncode, "cannot be written" in refused.stderr) == (2, True), refused


@pytest.mark.skipif(os.name == "nt", reason="modes of files mean nothing")
def test_a_store_that_another_user_made_in_a_folder_that_we_may_write(repo: Repo, hermetic: dict[str, str]) -> None:
    repo.commit(FILES)
    repo.commit({"use/b.py": None})
    command = (*without_the_rights_of_root(), sys.executable, "-P", "-m", "tokenzip")
    known = repo.run(*command, "callers", "lib.py::f", "--format", "json").stdout
    for path in Path(hermetic["TOKENZIP_HOME"], "stores").rglob("*"):
        if path.is_file():
            path.chmod(0o444)
    assert repo.run(*command, "callers", "lib.py::f", "--format", "json").stdout == known
    for words in (("callers", "lib.py::f", "--at", "HEAD~1"), ("gc",), ("index", "HEAD~1")):
        refused = repo.run(*command, *words, check=False)
        assert (refused.returncode, "cannot be written" in refused.stderr) == (2, True), refused


def without_the_rights_of_root() -> tuple[str, ...]:
    """The command that runs another one for which modes of files count."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere, and there is no setpriv to change that")
    return ("setpriv", "--bounding-set=-dac_override,-fowner", "--inh-caps=-dac_override,-fowner")


@contextlib.contextmanager
def read_only(*folders: Path) -> Iterator[None]:
    """Nobody may write any file below these folders."""
    modes = {path: path.stat().st_mode for folder in folders for path in (folder, *folder.rglob("*"))}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    try:
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


# Odd entries.


def test_a_submodule_that_is_not_here_is_a_node(make_repo: MakeRepo, tmp_path: Path) -> None:
    inner = make_repo("inner")
    inner.commit(FILES)
    outer = make_repo("outer")
    outer.submodule(inner, "vendored")
    outer.commit({"own.py": "def own():\n    pass\n"})
    assert asked(outer.path / "vendored") == CALLERS
    project = open_repository(str(outer.clone(tmp_path / "clone").path))
    assert [file.path for file in project.snapshot("HEAD").files() if file.is_source] == ["own.py"]
    answer = OPERATIONS["query_file"].run(project, {"path": "vendored"})
    assert (answer["file"]["status"], answer["file"]["reason"]) == ("skipped", "submodule")
    assert answer["file"]["blob"] == inner.head()


def test_a_status_and_a_diff_say_where_a_submodule_stands(make_repo: MakeRepo) -> None:
    inner, outer = make_repo("inner"), make_repo("outer")
    wanted = inner.commit(FILES)
    outer.submodule(inner, "vendored")
    outer.commit()

    def stands() -> dict[str, Any]:
        (submodule,) = status(open_repository(str(outer.path)))["submodules"]
        assert (submodule["path"], submodule["commit"]) == ("vendored", wanted)
        return submodule

    open_repository(str(outer.path)).index()
    assert stands()["state"] == "here"
    checkout = Repo(outer.path / "vendored", outer.environment)
    other = checkout.commit({"more.py": ""})
    assert stands()["why"] == f"checked out at {other[:10]}; in the graph of HEAD"
    changed = OPERATIONS["diff_commits"].run(open_repository(str(outer.path)), {})
    assert [(item["handle"], item["change"]) for item in changed["changes"]] == [("vendored/more.py", "added")]
    outer.git("submodule", "deinit", "--quiet", "--force", "vendored")
    assert stands()["state"] == "absent"


def test_links_pointers_and_files_in_conflict(repo: Repo) -> None:
    repo.commit(FILES | {"big.py": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"})
    os.symlink("use", repo.path / "again")
    os.symlink("a.py", repo.path / "use" / "linked.py")
    assert asked(repo) == CALLERS
    repo.commit({})
    assert asked(repo, "HEAD") == CALLERS
    answer = OPERATIONS["query_file"].run(open_repository(str(repo.path)), {"path": "big.py"})
    assert "LFS" in answer["file"]["reason"]
    repo.switch("side", create=True)
    repo.commit({"lib.py": FILES["lib.py"].replace("1", "2")})
    repo.switch("main")
    repo.commit({"lib.py": FILES["lib.py"].replace("1", "3")})
    repo.merge("side", check=False)
    assert asked(repo) == CALLERS
    assert asked(repo, "INDEX") == CALLERS


@pytest.mark.parametrize("name", ["caf\udce9.py", 'quo"te.py', "tab\there.py", "line\nbreak.py", "LIB.py", "sp ace.py"])
def test_odd_names(repo: Repo, name: str) -> None:
    repo.commit(FILES)
    path = os.fsencode(str(repo.path)) + b"/use/" + name.encode("utf-8", "surrogateescape")
    with open(path, "wb") as file:
        file.write(b"from lib import f\n\n\ndef odd():\n    return f()\n")
    expected = sorted([*CALLERS, f"use/{name}::odd"])
    assert asked(repo) == expected
    repo.commit({})
    assert asked(repo, "HEAD") == expected


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + FILES["use/b.py"].encode(),
        FILES["use/b.py"].encode("utf-16"),
        b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + FILES["use/b.py"].encode(),
        FILES["use/b.py"].replace("\n", "\r\n").encode(),
    ],
    ids=["utf-8 with a mark", "utf-16", "latin-1 with a coding line", "crlf"],
)
def test_encodings(repo: Repo, content: bytes) -> None:
    repo.commit(FILES | {"use/b.py": content})
    assert asked(repo, "HEAD") == CALLERS


def test_a_file_under_a_clean_filter_is_read_as_it_lies_there(repo: Repo) -> None:
    repo.commit(FILES | {".gitattributes": "use/b.py filter=own\n"})
    repo.git("config", "filter.own.clean", "sed s/f/g/g")
    repo.write({"use/b.py": FILES["use/b.py"].replace("return f()", "return f() + 1")})
    assert asked(repo) == CALLERS


# A program that outlives what it looked at.


def test_one_repository_object_follows_branch_switch_rebase_gc_and_the_end_of_a_worktree(repo: Repo, tmp_path: Path) -> None:
    repo.commit(FILES)
    project = open_repository(str(repo.path))
    assert callers(project) == CALLERS
    repo.switch("side", create=True)
    repo.commit({"use/b.py": None})
    assert callers(project) == ["use/a.py::a"]
    repo.switch("main")
    repo.commit({"use/c.py": FILES["use/b.py"].replace("def b", "def c")})
    assert callers(project) == [*CALLERS, "use/c.py::c"]
    repo.git("rebase", "--quiet", "main", "side")
    assert callers(project) == ["use/a.py::a", "use/c.py::c"]
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "--quiet", "--prune=now")
    project.gc()
    assert callers(project) == ["use/a.py::a", "use/c.py::c"]
    inside = repo.path / "trees" / "one"
    repo.git("worktree", "add", "--quiet", str(inside), "main")
    there = open_repository(str(inside))
    assert callers(there) == [*CALLERS, "use/c.py::c"]
    (inside / "use" / "a.py").unlink()
    assert callers(there) == ["use/b.py::b", "use/c.py::c"]
    assert callers(project) == ["use/a.py::a", "use/c.py::c"]
    repo.git("worktree", "remove", "--force", str(inside))
    answer = OPERATIONS["get_dependants"].run(there, {"handle": "lib.py::f"})
    assert answer["error"]["code"] == "not_a_repository"
    assert callers(project) == ["use/a.py::a", "use/c.py::c"]


# The document.


def test_the_document_names_a_test_for_each_shape() -> None:
    tests = {
        name
        for path in Path(__file__).parent.rglob("test_*.py")
        for name in re.findall(r"^ *def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    document = (Path(__file__).parents[1] / "docs" / "git.md").read_text(encoding="utf-8")
    table = document.partition("## Shapes")[2].partition("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in table.splitlines() if line.startswith("| ") and "---" not in line][1:]
    assert len(rows) > 30
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row[-1])
        assert len(row) == 3, row
        assert named, row
        assert set(named) <= tests, row
