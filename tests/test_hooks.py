"""The git hooks under real git commands: what the field notes tell of, with variants.

Most tests put a script in the place of Python that writes down how it was called, so that they see when a hook starts work,
and are fast. The last part runs the real thing.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from gitrepo import Repo

from tokenzip import hooks
from tokenzip.hooks import BLOCKED, NAMES, block, running
from tokenzip.hooks.block import KEPT_FOLDER, Recipe
from tokenzip.repository import Repository
from tokenzip.repository import repo as open_repository

MakeRepo = Callable[..., Repo]
HOOK_SHELLS = [shell for shell in ("sh", "dash", "bash", "zsh", "ksh") if shutil.which(shell)]


class Recorder:
    """A stand-in for the interpreter that notes its arguments and chosen variables, one JSON-free line a call."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "python with 'quotes' and spaces"
        self.calls_file = folder / "calls"
        self.exit_with(0)

    def exit_with(self, code: int, says: str = "") -> None:
        script = (
            "#!/bin/sh\n"
            'call=$(printf \'%s|\' "$PWD" "${GIT_INDEX_FILE-}" "$@")\n'
            f"echo \"$call\" >>'{self.calls_file}'\n"  # in one piece: others write there at the same time
            f"[ -z '{says}' ] || echo '{says}' >&2\n"
            f"exit {code}\n"
        )
        self.path.write_text(script)
        self.path.chmod(0o755)

    def calls(self) -> list[list[str]]:
        """Per call: folder, index file, then the arguments after ``-m tokenzip.hooks``."""
        text = self.calls_file.read_text(errors="surrogateescape") if self.calls_file.exists() else ""
        lines = text.split("\n")[:-1]  # the last one may be half written
        fields = [line.split("|")[:-1] for line in lines]
        return [[*f[:2], *f[5:]] for f in fields]

    def names(self) -> list[str]:
        return [call[2] for call in self.calls()]

    def wait_for(self, count: int) -> list[str]:
        """Hook names, once that many calls were made (those in the background are waited for)."""
        wait_until(lambda: len(self.names()) >= count)
        return self.names()


def wait_until(happened: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


@pytest.fixture
def recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hermetic: dict[str, str]) -> Recorder:
    recorder = Recorder(tmp_path / "recorder")
    monkeypatch.setattr(sys, "executable", str(recorder.path))
    return recorder


def opened(repo: Repo) -> Repository:
    return open_repository(str(repo.path))


def hook_file(repo: Repo, name: str = "pre-commit") -> Path:
    return repo.path / ".git" / "hooks" / name


def tree_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below: mode and bytes (link text for links)."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path)] = (0o120000, os.fsencode(os.readlink(path)))
        elif path.is_file():
            found[str(path)] = (stat.S_IMODE(path.stat().st_mode), path.read_bytes())
    return found


# -- what a hook file looks like


def test_the_block_is_shell_with_unix_line_ends_for_every_shell(tmp_path: Path) -> None:
    recipe = Recipe("/path/it's here/python", "/log/with space/hooks.log")
    for name in NAMES:
        for origin in ("made", "found", "kept"):
            text = recipe.block(name, origin)  # type: ignore[arg-type]
            assert b"\r" not in text
            assert b"@" not in text.replace(b'"$@"', b"")
            path = tmp_path / name
            path.write_bytes(b"#!/bin/sh\n" + text)
            for shell in HOOK_SHELLS:
                done = subprocess.run([shell, "-n", str(path)], capture_output=True, check=False)
                assert (done.returncode, done.stderr) == (0, b""), shell


def test_the_template_that_ships_is_the_one_of_the_checkout() -> None:
    checkout = Path(__file__).parent.parent / "hooks" / "block.sh"
    assert checkout.read_text("utf-8") == block._template()


@pytest.mark.parametrize(
    "before",
    [
        b"#!/bin/sh\necho mine\n", b"#!/bin/sh\necho mine", b"#!/bin/sh", b"#!/bin/sh\n", b"", b"echo no shebang\n",
        b"#!/usr/bin/env bash\nset -euo pipefail\n[[ x == x ]]\n", b"#!/bin/sh\r\necho windows\r\n",
        b"#!/bin/zsh -f\n\xff\xfe\n",
        b"#!/bin/sh\n# >>> conda >>>\n# <<< conda <<<\n\n\n", b"\n\n#!/bin/sh\n", b"#!/bin/bash -e",
    ],
)  # fmt: skip
def test_inserting_and_removing_gives_the_same_bytes(before: bytes) -> None:
    first, second = Recipe("/a/python", "/log"), Recipe("/b/python", "/log")
    after = block.with_block(before, "pre-commit", first)
    assert block.python_of(after) == "/a/python"
    assert block.with_block(after, "pre-commit", first) == after
    again = block.with_block(after, "pre-commit", second)
    assert block.python_of(again) == "/b/python"
    assert block.without_block(after) == block.without_block(again) == before
    assert block.without_block(before) == before


def test_a_block_that_an_editor_gave_windows_line_ends_is_still_found() -> None:
    before = b"#!/bin/sh\r\necho mine\r\n"
    after = block.with_block(b"#!/bin/sh\necho mine\n", "pre-commit", Recipe("/a", "/log")).replace(b"\n", b"\r\n")
    assert block.without_block(after) == before
    assert b"/a\r" not in (block.python_of(after) or "").encode()


@pytest.mark.parametrize(
    ("hook", "is_shell"),
    [
        (b"#!/bin/sh -e\n", True), (b"#! /usr/bin/env -S bash -e\n", True), (b"#!/usr/bin/env LANG=C sh\n", True),
        (b"#!/usr/bin/env python3\n", False), (b"#!/usr/bin/perl\n", False), (b"#!/usr/bin/env node\n", False),
        (b"#!/usr/bin/fish\n", False), (b"\x7fELF\0\0", False),
        (b"#!/bin/sh\n'''exec' /x/python \"$0\" \"$@\"\n' '''\n", False),
        (b"echo\n", True), (b"", True), (b"#!\n", False),
    ],
)  # fmt: skip
def test_what_may_take_a_block(hook: bytes, is_shell: bool) -> None:
    assert block.is_shell(hook) is is_shell


# -- install, uninstall, status


def test_install_status_and_uninstall_of_a_fresh_repository(repo: Repo, recorder: Recorder) -> None:
    repo.commit({"a.py": ""})
    before = tree_of(repo.path)
    assert hooks.status(opened(repo))["state"] == "absent"
    done = hooks.install(opened(repo))
    assert done["state"] == "installed"
    assert done["hooks"] == dict.fromkeys(NAMES, "made")
    installed = tree_of(repo.path)
    assert all(hook_file(repo, name).stat().st_mode & 0o111 for name in NAMES)
    assert hooks.install(opened(repo))["hooks"] == dict.fromkeys(NAMES, "unchanged")
    assert tree_of(repo.path) == installed
    assert repo.git("status", "--porcelain") == ""
    assert json.dumps(hooks.status(opened(repo)))
    gone = hooks.uninstall(opened(repo))
    assert (gone["state"], gone["hint"]) == ("absent", "")
    assert tree_of(repo.path) == before
    assert hooks.uninstall(opened(repo))["hooks"] == {}


def test_existing_shell_hooks_stay_and_run_after_ours(repo: Repo, recorder: Recorder) -> None:
    repo.commit({"a.py": ""})
    hook = b'#!/bin/sh\necho "$0 $# $1 $TOKENZIP_IN_HOOK" >> mine.txt\ncat >> mine.txt\nexit 0'
    for name in ("pre-commit", "post-rewrite"):
        hook_file(repo, name).write_bytes(hook)
        hook_file(repo, name).chmod(0o750)
    before = tree_of(repo.path)
    assert hooks.install(opened(repo))["hooks"]["pre-commit"] == "added"
    assert block.without_block(hook_file(repo).read_bytes()) == hook
    assert stat.S_IMODE(hook_file(repo).stat().st_mode) == 0o750
    repo.git("commit", "--quiet", "--amend", "--allow-empty", "-m", "amended")
    said = (repo.path / "mine.txt").read_text().splitlines()
    assert said[0] == ".git/hooks/pre-commit 0  "
    assert said[1] == ".git/hooks/post-rewrite 1 amend "
    assert said[2].endswith(repo.head())  # standard input was left to it
    (repo.path / "mine.txt").unlink()
    hooks.uninstall(opened(repo))
    assert {k: v for k, v in tree_of(repo.path).items() if "/hooks/" in k} == {
        k: v for k, v in before.items() if "/hooks/" in k
    }


@pytest.mark.parametrize("kind", ["python", "symlink", "absolute symlink", "switched off", "binary"])
def test_hooks_that_take_no_block_are_set_aside_run_and_brought_back(repo: Repo, recorder: Recorder, kind: str) -> None:
    repo.commit({"scripts/check": f'#!{os.path.realpath("/usr/bin/env")} sh\necho checked "${{0##*/}}" >> ran.txt\n'})
    os.chmod(repo.path / "scripts/check", 0o755)
    hook = hook_file(repo)
    if kind == "python":
        hook.write_text(
            f"#!{shutil.which('python3')}\nimport sys\nopen('ran.txt', 'a').write('checked ' + sys.argv[0][-10:] + '\\n')\n"
        )
        hook.chmod(0o755)
    elif kind == "binary":
        shutil.copy(shutil.which("true") or "", hook)
    elif kind == "switched off":
        hook.write_text("#!/bin/sh\nexit 1\n")
    else:
        hook.symlink_to(repo.path / "scripts/check" if kind.startswith("absolute") else Path("../../scripts/check"))
    before = tree_of(repo.path)
    assert hooks.install(opened(repo))["hooks"]["pre-commit"] == "set aside"
    assert hooks.install(opened(repo))["hooks"]["pre-commit"] == "unchanged"
    assert (repo.path / "scripts/check").read_bytes() == before[str(repo.path / "scripts/check")][1]
    repo.git("commit", "--quiet", "--allow-empty", "-m", "x")
    assert recorder.wait_for(2)[0] == "pre-commit"
    ran = repo.path / "ran.txt"
    assert (ran.read_text() if ran.exists() else "") == (
        "checked pre-commit\n" if kind not in ("binary", "switched off") else ""
    )
    hooks.uninstall(opened(repo))
    now = {path: value for path, value in tree_of(repo.path).items() if "/hooks/" in path}
    assert now == {path: value for path, value in before.items() if "/hooks/" in path}
    assert not (repo.path / ".git/hooks" / KEPT_FOLDER).exists()


def test_a_failing_hook_of_the_user_still_fails(repo: Repo, recorder: Recorder) -> None:
    repo.commit({"a.py": ""})
    hook_file(repo).write_text("#!/bin/sh -eu\nfalse\n")
    hook_file(repo).chmod(0o755)
    hooks.install(opened(repo))
    assert repo.run("git", "commit", "--allow-empty", "-m", "x", check=False).returncode == 1


def test_a_made_file_that_the_user_wrote_into_stays(repo: Repo, recorder: Recorder) -> None:
    repo.commit({"a.py": ""})
    hooks.install(opened(repo))
    with hook_file(repo).open("a") as file:
        file.write("echo mine\n")
    assert hooks.uninstall(opened(repo))["hooks"]["pre-commit"] == "taken out"
    assert hook_file(repo).read_text() == "#!/bin/sh\necho mine\n"


def test_what_is_in_the_way_is_left_alone(repo: Repo, recorder: Recorder) -> None:
    repo.commit({"a.py": ""})
    hook_file(repo, "post-merge").mkdir(parents=True)
    done = hooks.install(opened(repo))
    assert done["hooks"]["post-merge"].startswith("left alone")
    assert "post-merge" in done["why"]


def test_in_a_linked_worktree_hooks_go_to_the_common_folder(repo: Repo, recorder: Recorder, tmp_path: Path) -> None:
    repo.commit({"a.py": ""})
    linked = repo.worktree(tmp_path / "linked tree", "-b", "side")
    assert hooks.install(opened(linked))["folder"] == str(repo.path / ".git/hooks")
    linked.commit({"b.py": ""})
    repo.commit({"c.py": ""})
    names = recorder.wait_for(4)
    assert sorted(names) == ["post-commit", "post-commit", "pre-commit", "pre-commit"]
    assert {call[0] for call in recorder.calls()} == {str(linked.path), str(repo.path)}
    assert hooks.status(opened(repo))["state"] == "installed"


def test_a_bare_repository_with_worktrees(repo: Repo, recorder: Recorder, tmp_path: Path) -> None:
    repo.commit({"a.py": ""})
    bare = repo.clone(tmp_path / "project.git", "--bare")
    linked = bare.worktree(tmp_path / "checkout", "-b", "side")
    assert hooks.install(opened(linked))["folder"] == str(bare.path / "hooks")
    linked.commit({"b.py": ""})
    assert sorted(recorder.wait_for(2)) == ["post-commit", "pre-commit"]


def test_husky(repo: Repo, recorder: Recorder) -> None:
    """Husky 9: its folder is generated and ignored, holds one stub a hook, and runs the user's hooks one level up."""
    stub = '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n'
    runner = (
        '#!/usr/bin/env sh\nn=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\n[ ! -f "$s" ] && exit 0\n'
        'sh -e "$s" "$@"\nexit $?\n'
    )
    repo.commit({".husky/pre-commit": "echo husky >> ran.txt\n", ".husky/_/.gitignore": "*", "a.py": ""})
    repo.write({".husky/_/h": runner} | {f".husky/_/{name}": stub for name in NAMES})
    for name in NAMES:
        os.chmod(repo.path / ".husky/_" / name, 0o755)
    hooks.install(opened(repo))
    repo.git("config", "core.hooksPath", ".husky/_")
    bypassed = hooks.status(opened(repo))
    assert bypassed["state"] == "bypassed"
    assert bypassed["scope"] == "local"
    assert ".husky/_" in bypassed["why"]
    assert hooks.install(opened(repo))["state"] == "installed"
    repo.git("commit", "--quiet", "--allow-empty", "-m", "x")
    assert sorted(recorder.wait_for(2)) == ["post-commit", "pre-commit"]
    assert (repo.path / "ran.txt").read_text() == "husky\n"
    hooks.uninstall(opened(repo))
    assert (repo.path / ".husky/_/pre-commit").read_text() == stub
    assert not hook_file(repo).exists()


def test_a_global_hooks_path_is_not_written_to_unasked(
    make_repo: MakeRepo, recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, other = make_repo("repo"), make_repo("other")
    folder = tmp_path / "everybody's hooks"
    folder.mkdir()
    (tmp_path / "gitconfig").write_text(f'[core]\n\thooksPath = "{folder}"\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    for each in (repo, other):
        each.environment["GIT_CONFIG_GLOBAL"] = str(tmp_path / "gitconfig")
        each.commit({"a.py": ""})
    refused = hooks.install(opened(repo))
    assert (refused["state"], refused["scope"]) == ("refused", "global")
    assert str(folder) in refused["why"]
    assert "--outside" in refused["hint"]
    assert list(folder.iterdir()) == []
    assert hooks.status(opened(repo))["state"] == "absent"
    assert str(folder) in hooks.status(opened(repo))["why"]
    assert hooks.install(opened(repo), outside=True)["state"] == "installed"
    other.commit({"b.py": ""})  # was never enabled: silent
    repo.commit({"b.py": ""})
    recorder.wait_for(2)
    assert {call[0] for call in recorder.calls()} == {str(repo.path)}
    hooks.uninstall(opened(repo))
    assert len(list(folder.iterdir())) == len(NAMES)  # others may use them
    assert hooks.uninstall(opened(repo), outside=True)["state"] == "absent"
    assert list(folder.iterdir()) == []


def test_a_hooks_folder_that_is_a_link_to_elsewhere_is_outside(repo: Repo, recorder: Recorder, tmp_path: Path) -> None:
    repo.commit({"a.py": ""})
    shutil.rmtree(repo.path / ".git/hooks")
    (tmp_path / "shared").mkdir()
    (repo.path / ".git/hooks").symlink_to(tmp_path / "shared")
    assert hooks.install(opened(repo))["state"] == "refused"
    assert list((tmp_path / "shared").iterdir()) == []


@pytest.mark.parametrize("path", ["hooks", "./tools/git hooks", "~/hooks-of-mine"])
def test_other_hooks_paths(repo: Repo, recorder: Recorder, path: str) -> None:
    repo.commit({"a.py": ""})
    repo.git("config", "core.hooksPath", path)
    done = hooks.install(opened(repo), outside=path.startswith("~"))
    assert done["state"] == "installed"
    repo.git("commit", "--quiet", "--allow-empty", "-m", "x")
    assert sorted(recorder.wait_for(2)) == ["post-commit", "pre-commit"]


def test_a_hook_that_lost_its_executable_bit_is_bypassed(repo: Repo, recorder: Recorder) -> None:
    repo.commit({"a.py": ""})
    hooks.install(opened(repo))
    hook_file(repo).chmod(0o644)
    state = hooks.status(opened(repo))
    assert state["state"] == "bypassed"
    assert "not executable" in state["why"]
    assert state["hooks"]["pre-commit"] == "bypassed"


def test_hooks_go_only_where_the_user_points(repo: Repo, recorder: Recorder) -> None:
    repo.commit({"a.py": ""})
    (repo.path / "unpacked").mkdir()
    before = tree_of(repo.path)
    refused = hooks.install(opened(repo), named=str(repo.path / "unpacked"))
    assert refused["state"] == "refused"
    assert str(repo.path) in refused["hint"]
    assert tree_of(repo.path) == before
    assert hooks.install(opened(repo), named=str(repo.path))["state"] == "installed"


def test_in_a_submodule(make_repo: MakeRepo, recorder: Recorder) -> None:
    inner, outer = make_repo("inner"), make_repo("outer")
    inner.commit({"x.py": ""})
    outer.submodule(inner, "lib")
    outer.commit({"a.py": ""})
    checkout = Repo(outer.path / "lib", outer.environment)
    assert hooks.install(opened(checkout))["folder"] == str(outer.path / ".git/modules/lib/hooks")
    checkout.commit({"y.py": ""})
    assert sorted(recorder.wait_for(2)) == ["post-commit", "pre-commit"]
    assert {call[0] for call in recorder.calls()} == {str(checkout.path)}
    assert hooks.status(opened(outer))["state"] == "absent"


def test_hooks_that_were_copied_are_silent(repo: Repo, make_repo: MakeRepo, recorder: Recorder) -> None:
    repo.commit({"a.py": ""})
    hooks.install(opened(repo))
    copy = make_repo("copy")
    shutil.copytree(repo.path / ".git/hooks", copy.path / ".git/hooks", dirs_exist_ok=True)
    copy.commit({"a.py": ""})
    assert recorder.names() == []
    assert hooks.status(opened(copy))["state"] == "bypassed"


def test_a_read_only_hooks_folder_is_a_clear_refusal(repo: Repo, recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit({"a.py": ""})

    def refuse(path: str, data: bytes, mode: int) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("tokenzip.hooks.installing._write", refuse)
    state = hooks.install(opened(repo))
    assert state["state"] == "refused"
    assert "Permission denied" in state["why"]


# -- when a hook starts work


@pytest.fixture
def hooked(repo: Repo, recorder: Recorder) -> Repo:
    """A repository with one commit and hooks."""
    repo.commit({"a.py": "x = 0\n"})
    hooks.install(opened(repo))
    return repo


def test_which_commands_start_which_hooks(hooked: Repo, recorder: Recorder) -> None:
    def started(*command: str, count: int) -> list[str]:
        recorder.calls_file.unlink(missing_ok=True)
        hooked.git(*command)
        return sorted(recorder.wait_for(count))

    assert started("commit", "--quiet", "--allow-empty", "-m", "x", count=2) == ["post-commit", "pre-commit"]
    assert started("switch", "--quiet", "-c", "side", count=1) == ["post-checkout"]
    assert started("commit", "--quiet", "--allow-empty", "--amend", "-m", "y", count=2) == ["post-commit", "pre-commit"]
    hooked.git("switch", "--quiet", "main")
    recorder.wait_for(3)
    assert started("merge", "--quiet", "--no-edit", "--no-ff", "side", count=1) == ["post-merge"]
    hooked.write({"a.py": "x = 1\n"})
    recorder.calls_file.unlink()
    hooked.git("checkout", "--quiet", "--", "a.py")
    assert started("commit", "--quiet", "--allow-empty", "-m", "z", count=2) == ["post-commit", "pre-commit"]


@pytest.mark.parametrize("backend", ["--merge", "--apply"])
def test_a_rebase_of_twenty_commits_is_one_pass(hooked: Repo, recorder: Recorder, backend: str) -> None:
    hooked.git("config", "core.hooksPath", "/dev/null")
    hooked.switch("side", create=True)
    for number in range(20):
        hooked.commit({f"f{number}.py": f"x = {number}\n"})
    hooked.switch("main")
    hooked.commit({"b.py": ""})
    hooked.switch("side")
    hooked.git("config", "--unset", "core.hooksPath")
    hooked.git("rebase", "--quiet", backend, "main")
    wait_until(lambda: "post-rewrite" in recorder.names())
    names = recorder.names()
    assert names.count("post-rewrite") == 1
    assert names.count("post-commit") == 0
    assert names.count("post-checkout") <= 1


def test_a_rebase_that_stops_and_goes_on(hooked: Repo, recorder: Recorder) -> None:
    hooked.switch("side", create=True)
    hooked.commit({"a.py": "x = 1\n"})
    hooked.commit({"b.py": ""})
    hooked.switch("main")
    hooked.commit({"a.py": "x = 2\n"})
    hooked.switch("side")
    recorder.wait_for(9)
    recorder.calls_file.unlink()
    hooked.git("rebase", "--quiet", "main", check=False)
    hooked.write({"a.py": "x = 3\n"})
    hooked.git("add", "a.py")
    hooked.git("commit", "--quiet", "-m", "by hand")
    hooked.git("rebase", "--continue")
    wait_until(lambda: "post-rewrite" in recorder.names())
    assert "post-commit" not in recorder.names()


def test_a_series_of_cherry_picks_is_passed_over(hooked: Repo, recorder: Recorder) -> None:
    hooked.git("config", "core.hooksPath", "/dev/null")
    hooked.switch("side", create=True)
    for number in range(5):
        hooked.commit({f"f{number}.py": ""})
    hooked.switch("main")
    hooked.git("config", "--unset", "core.hooksPath")
    hooked.git("cherry-pick", "main..side")
    assert recorder.names().count("post-commit") == 0
    hooked.git("cherry-pick", "--allow-empty", "--keep-redundant-commits", "side")
    assert "post-commit" in recorder.wait_for(1)


def test_a_commit_does_not_wait_for_the_work_after_it(hooked: Repo, recorder: Recorder, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    recorder.path.write_text(
        f"#!/bin/sh\ncase \"$*\" in *post-commit*) read -r line <'{gate}' && echo done >'{tmp_path}/done' ;; esac\n"
    )
    hooked.git("commit", "--quiet", "--allow-empty", "-m", "x")  # captures output: an inherited pipe would hold it
    assert not (tmp_path / "done").exists()
    gate.write_text("go\n")
    wait_until((tmp_path / "done").exists)


def test_a_bare_path(hooked: Repo, recorder: Recorder) -> None:
    git = shutil.which("git")
    assert git is not None
    hooked.run(git, "commit", "--allow-empty", "-m", "x", PATH="/usr/bin:/bin" if git.startswith("/usr/bin") else "/bin")
    assert sorted(recorder.wait_for(2)) == ["post-commit", "pre-commit"]


def test_a_missing_interpreter_is_quiet(hooked: Repo, recorder: Recorder) -> None:
    recorder.path.unlink()
    done = hooked.run("git", "commit", "--allow-empty", "-m", "x", PATH="/usr/bin:/bin")
    assert "tokenzip" not in done.stdout + done.stderr
    assert "not found" not in done.stderr
    hooked.switch("side", create=True)


def test_status_tells_of_a_missing_interpreter_and_install_mends_it(
    hooked: Repo, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    recorder.path.unlink()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    state = hooks.status(opened(hooked))
    assert state["state"] == "bypassed"
    assert str(recorder.path) in state["why"]
    other = Recorder(tmp_path / "other")
    monkeypatch.setattr(sys, "executable", str(other.path))
    assert hooks.install(opened(hooked))["hooks"] == dict.fromkeys(NAMES, "brought up to date")
    assert hooks.status(opened(hooked))["state"] == "installed"
    assert hooks.status(opened(hooked))["python"] == str(other.path)


def test_another_tokenzip_on_the_path_steps_in(hooked: Repo, recorder: Recorder, tmp_path: Path) -> None:
    recorder.path.unlink()
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "tokenzip").write_text(f"#!/bin/sh\necho \"$@\" >>'{tmp_path}/stepped-in'\n")
    (folder / "tokenzip").chmod(0o755)
    hooked.git("commit", "--quiet", "--allow-empty", "-m", "x", PATH=f"{folder}:{os.environ['PATH']}")
    wait_until(lambda: (tmp_path / "stepped-in").read_text().count("\n") == 2 if (tmp_path / "stepped-in").exists() else False)
    assert "hooks run pre-commit" in (tmp_path / "stepped-in").read_text()


@pytest.mark.parametrize("code", [1, 2, 3, 126, 127, 130, 139, 255])
def test_no_failure_of_ours_fails_a_commit_or_is_shown(hooked: Repo, recorder: Recorder, code: int) -> None:
    recorder.exit_with(code, says="Traceback: boom")
    head = hooked.head()
    done = hooked.run("git", "commit", "--allow-empty", "-m", "x")
    assert hooked.head() != head
    assert "boom" not in done.stderr
    log = Path(os.environ["TOKENZIP_HOME"]) / "logs" / "hooks.log"
    wait_until(lambda: "boom" in log.read_text())


def test_a_finding_is_said_and_stops_a_commit_only_with_its_own_code(hooked: Repo, recorder: Recorder) -> None:
    recorder.exit_with(0, says="look here")
    assert "look here" in hooked.run("git", "commit", "--allow-empty", "-m", "x").stderr
    recorder.exit_with(BLOCKED, says="stop here")
    head = hooked.head()
    done = hooked.run("git", "commit", "--allow-empty", "-m", "x", check=False)
    assert (done.returncode, "stop here" in done.stderr, hooked.head()) == (1, True, head)
    hooked.git("commit", "--quiet", "--no-verify", "--allow-empty", "-m", "x")
    assert hooked.head() != head
    hooked.switch("side", create=True)  # and no other hook stops anything
    assert hooked.git("symbolic-ref", "--short", "HEAD") == "side"


def test_a_log_that_cannot_be_written_is_no_failure(hooked: Repo, recorder: Recorder, tmp_path: Path) -> None:
    recorder.exit_with(5, says="boom")
    (tmp_path / "a file").write_text("")
    done = hooked.run("git", "commit", "--allow-empty", "-m", "x", TOKENZIP_HOME=str(tmp_path / "a file"))
    assert "a file" not in done.stderr


def test_hooks_can_be_switched_off_for_a_command_and_do_not_call_themselves(hooked: Repo, recorder: Recorder) -> None:
    hooked.git("commit", "--quiet", "--allow-empty", "-m", "x", TOKENZIP_HOOKS="off")
    hooked.git("commit", "--quiet", "--allow-empty", "-m", "x", TOKENZIP_IN_HOOK="post-commit")
    assert recorder.names() == []


def test_odd_folders(make_repo: MakeRepo, recorder: Recorder) -> None:
    repo = make_repo('it\'s a folder; with $(odd) "things" * and \udcff')
    repo.commit({"a.py": ""})
    hooks.install(opened(repo))
    repo.commit({"b.py": ""})
    assert sorted(recorder.wait_for(2)) == ["post-commit", "pre-commit"]


def test_line_end_settings_do_not_reach_the_hooks(hooked: Repo, recorder: Recorder) -> None:
    hooked.git("config", "core.autocrlf", "true")
    hooked.git("config", "core.eol", "crlf")
    hooks.install(opened(hooked))
    assert all(b"\r" not in hook_file(hooked, name).read_bytes() for name in NAMES)
    hooked.commit({"a.py": "x = 1\n"})
    assert sorted(recorder.wait_for(2)) == ["post-commit", "pre-commit"]


def test_without_hooks_installed_nothing_runs_and_a_run_by_hand_is_silent(repo: Repo, recorder: Recorder) -> None:
    repo.commit({"a.py": ""})
    before = tree_of(repo.path)
    for name in NAMES:
        assert hooks.run(name, (), path=str(repo.path)) == 0
    assert tree_of(repo.path) == before
    assert not (Path(os.environ["TOKENZIP_HOME"]) / "stores").exists()
    assert hooks.run("post-commit", (), path=str(repo.path.parent)) == 0


# -- the real thing: Python, the store, and what is staged

KEPT = "def kept():\n    return 1\n"
LIB = KEPT + "\n\ndef used():\n    return 2\n"
USER = "from lib import used\n\n\ndef caller():\n    return used()\n"


@pytest.fixture
def project(repo: Repo) -> Iterator[Repo]:
    """A small project, hooks installed with the real interpreter, its HEAD in the store."""
    repo.commit({"lib.py": LIB, "user.py": USER})
    hooks.install(opened(repo))
    opened(repo).snapshot("HEAD")
    yield repo
    settle()


def hook_log() -> str:
    log = running.log_file(Path(os.environ["TOKENZIP_HOME"]))
    return log.read_text() if log.exists() else ""


def settle() -> None:
    """Let background work end, so that the next test has the machine to itself."""
    folder = Path(os.environ["TOKENZIP_HOME"]) / "hooks"
    wait_until(lambda: not list(folder.glob("*.wanted")))


def settings(repo: Repo, mode: str) -> None:
    repo.write({".tokenzip/config.json": json.dumps({"hooks": {"pre-commit": mode}}), ".git/info/exclude": ".tokenzip/\n"})


def test_a_commit_is_in_the_store_soon_after(project: Repo) -> None:
    commit = project.commit({"lib.py": LIB + "MORE = 1\n"})
    wait_until(lambda: commit[:10] in hook_log())
    assert opened(project).is_indexed(commit)


def test_a_breakage_is_warned_of_and_the_commit_goes_on(project: Repo) -> None:
    project.write({"lib.py": KEPT})
    done = project.run("git", "commit", "--quiet", "-a", "-m", "x")
    assert "user.py:1" in done.stderr
    assert "lib.py::used" in done.stderr
    assert "stopped" not in done.stderr
    assert project.git("log", "-1", "--format=%s") == "x"


def test_block_stops_new_breakage_and_only_that(project: Repo) -> None:
    settings(project, "block")
    head = project.head()
    project.write({"lib.py": KEPT})
    done = project.run("git", "commit", "--quiet", "-a", "-m", "x", check=False)
    assert done.returncode == 1
    assert "user.py:5" in done.stderr
    assert "--no-verify" in done.stderr
    assert project.head() == head
    broken = project.commit({"user.py": USER}, "x", "--no-verify")
    assert project.commit({"other.py": "FINE = 1\n"}) != broken  # what is broken already stops nothing
    settle()


def test_off_is_silent(project: Repo) -> None:
    settings(project, "off")
    project.write({"lib.py": ""})
    assert project.run("git", "commit", "--quiet", "-a", "-m", "x").stderr == ""


@pytest.mark.parametrize("partial", [True, False])
def test_what_git_is_about_to_commit_is_checked_not_the_rest(project: Repo, partial: bool) -> None:
    settings(project, "block")
    project.write({"lib.py": KEPT, "user.py": USER + "# more\n"})
    project.git("add", "lib.py")
    if partial:  # a partial commit leaves the staged breakage out
        project.git("commit", "--quiet", "-m", "x", "user.py")
        assert project.git("diff", "--cached", "--name-only") == "lib.py"
    else:
        assert project.run("git", "commit", "--quiet", "-m", "x", check=False).returncode == 1


def test_from_a_linked_worktree_the_index_of_that_worktree(project: Repo, tmp_path: Path) -> None:
    settings(project, "block")
    linked = project.worktree(tmp_path / "linked", "-b", "side")
    index = (project.path / ".git/index").read_bytes()
    linked.write({"lib.py": KEPT})
    done = linked.run("git", "commit", "--quiet", "-a", "-m", "x", check=False)
    assert done.returncode == 1
    assert "user.py:1" in done.stderr
    assert (project.path / ".git/index").read_bytes() == index
    assert linked.git("diff", "--cached", "--name-only") == ""


def test_a_repository_that_is_not_indexed_is_not_waited_for(repo: Repo) -> None:
    repo.commit({"lib.py": LIB, "user.py": USER})
    hooks.install(opened(repo))
    settings(repo, "block")
    repo.write({"lib.py": KEPT})
    done = repo.run("git", "commit", "--quiet", "-a", "-m", "x")
    assert "not checked" in done.stderr
    wait_until(lambda: repo.head()[:10] in hook_log())


def test_a_check_that_takes_too_long_lets_the_commit_go(project: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    settings(project, "block")
    project.write({"lib.py": ""})
    project.git("add", "lib.py")
    monkeypatch.setattr(running, "PATIENCE", -1.0)

    def slow(repository: Repository) -> None:
        repository.progress("indexing", 1, 2)

    monkeypatch.setattr(running, "_newly_broken", slow)
    assert hooks.run("pre-commit", path=str(project.path)) == 0
    assert "not checked" in hook_log()


def test_a_bug_in_the_check_ends_in_the_log(project: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write({"lib.py": ""})
    project.git("add", "lib.py")
    for error in (ValueError("boom"), RecursionError("boom"), MemoryError("boom")):
        monkeypatch.setattr(running, "_newly_broken", lambda repository, error=error: (_ for _ in ()).throw(error))
        assert hooks.run("pre-commit", path=str(project.path)) == 0
    assert hook_log().count("boom") == 3


def test_the_first_commit_of_all(repo: Repo) -> None:
    hooks.install(opened(repo))
    commit = repo.commit({"lib.py": LIB})
    wait_until(lambda: commit[:10] in hook_log())


def test_many_hooks_at_once_are_one_run_and_none_is_lost(project: Repo) -> None:
    project.git("config", "core.hooksPath", "/dev/null")
    repository = opened(project)
    seen: list[str] = []
    for number, _ in enumerate(running._turns(repository)):
        if number == 0:
            assert list(running._turns(opened(project))) == []  # another process: leaves its wish and goes
            seen.append(project.commit({"late.py": ""}))
        seen.append(str(number))
    assert seen == [project.head(), "0", "1"]


def test_the_repository_s_own_modules_are_not_imported(project: Repo) -> None:
    names = ("tokenzip", "json", "lmdb", "subprocess", "pygit2")
    project.write(
        {f"{name}.py": "raise SystemExit(91)\n" for name in names} | {"tokenzip/__init__.py": "raise SystemExit(91)\n"}
    )
    commit = project.commit()
    wait_until(lambda: commit[:10] in hook_log())


def test_a_rebase_with_the_real_hooks_ends_at_the_new_head(project: Repo) -> None:
    project.git("config", "core.hooksPath", "/dev/null")
    project.switch("side", create=True)
    for number in range(20):
        project.commit({f"f{number}.py": f"x{number} = {number}\n"})
    project.switch("main")
    project.commit({"b.py": ""})
    project.switch("side")
    project.git("config", "--unset", "core.hooksPath")
    project.git("rebase", "--quiet", "main")
    wait_until(lambda: f"post-rewrite: {project.path} at {project.head()[:10]}" in hook_log())
    assert "post-commit" not in hook_log()
