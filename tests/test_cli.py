"""The command line: exit codes, streams, and the commands from every kind of place."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gitrepo import Repo

from tokenzip import __version__
from tokenzip.budget import estimate_tokens
from tokenzip.cli import root as cli
from tokenzip.cli.commands import command_of
from tokenzip.cli.terminal import Progress
from tokenzip.operations import OPERATIONS, UNLISTED

FILES = {
    "pyproject.toml": '[project]\nname = "lamp"\n',
    "lamp/__init__.py": "",
    "lamp/core.py": "def glow(power: int) -> int:\n    return power\n\n\ndef shine() -> int:\n    return glow(3)\n",
    "lamp/use.py": "from lamp.core import glow, shine\n\n\ndef both() -> int:\n    return shine() + glow(1)\n",
    "tests/test_lamp.py": "from lamp.use import both\n\n\ndef test_both() -> None:\n    assert both()\n",
}
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lamp(repo: Repo) -> Repo:
    repo.commit(FILES, "lamp")
    return repo


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command line in this process, in a folder: exit code, standard output, standard error."""

    def run(*words: str, cwd: Path) -> tuple[int, str, str]:
        monkeypatch.chdir(cwd)
        code = cli.run(words)
        out, err = capsys.readouterr()
        return code, out, err

    return run


def answered(run: Run, *words: str, cwd: Path) -> dict[str, Any]:
    code, out, err = run(*words, "--format", "json", cwd=cwd)
    assert code == 0, err
    return json.loads(out)


def spawn(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "tokenzip", *words], cwd=cwd, env=os.environ | environment, capture_output=True, check=False
    )


# Start-up.


def test_importing_the_command_line_loads_nothing_heavy() -> None:
    code = (
        "import sys, tokenzip.cli.root; print([n for n in sys.modules if n.split('.')[0] in "
        + repr(
            [
                "pygit2",
                "lmdb",
                "msgpack",
                "zstandard",
                "tree_sitter",
                "tree_sitter_language_pack",
                "mcp",
                "asyncio",
                "multiprocessing",
            ]
        )
        + "])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_version_and_help(run: Run, tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path) == (0, f"tokenzip {__version__}\n", "")
    code, out, _ = run("--help", cwd=tmp_path)
    assert code == 0
    for name in cli.root.commands:
        assert name in out
        assert run(name, "--help", cwd=tmp_path)[0] == 0


# Exit codes.


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("callers", "gloww"), "no symbol"),
        (("callers",), "Missing argument"),
        (("caller", "glow"), "Did you mean callers"),
        (("map", "--at", "nowhere"), "nowhere"),
        (("map", "--format", "yaml"), "yaml"),
        (("diff", "--fail-on", "sorrow"), "sorrow"),
        (("diff", "--staged", "A", "B"), "--staged"),
        (("callers", "glow", "--depth", "0"), "depth"),
        (("clean",), "--yes"),
        (("map", "--repo", "/nowhere/at/all"), "/nowhere"),
    ],
)
def test_a_mistake_is_exit_code_2_and_a_message_on_standard_error(
    words: tuple[str, ...], message: str, lamp: Repo, run: Run
) -> None:
    run("index", cwd=lamp.path)
    code, out, err = run(*words, cwd=lamp.path)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_a_mistake_in_json_is_an_answer_too(lamp: Repo, run: Run) -> None:
    code, out, err = run("callers", "gloww", "--format", "json", cwd=lamp.path)
    assert code == 2
    assert json.loads(out)["error"]["candidates"]
    assert "gloww" in err


def test_outside_of_a_repository(tmp_path: Path, hermetic: dict[str, str], run: Run) -> None:
    code, out, err = run("map", cwd=tmp_path)
    assert (code, out) == (2, "")
    assert "repository" in err


def test_a_bug_is_exit_code_3_with_a_log(lamp: Repo, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(
        "tokenzip.operations.OPERATIONS", {"query_repo_structure": type("O", (), {"parameters": (), "run": broken})()}
    )
    code, out, err = run("map", cwd=lamp.path)
    assert (code, out) == (3, "")
    assert "Traceback" not in err
    (log,) = (Path(os.environ["TOKENZIP_HOME"]) / "logs").glob("bug-*.log")
    assert str(log) in err
    assert "ZeroDivisionError: oops" in log.read_text()


def test_interruption_is_exit_code_130(lamp: Repo, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "tokenzip.operations.OPERATIONS", {"query_repo_structure": type("O", (), {"parameters": (), "run": interrupted})()}
    )
    code, out, _ = run("map", cwd=lamp.path)
    assert (code, out) == (130, "")


def test_fail_on_is_exit_code_1(lamp: Repo, run: Run) -> None:
    assert run("diff", "--fail-on", "breaking", cwd=lamp.path)[0] == 0
    lamp.write({"lamp/core.py": FILES["lamp/core.py"].replace("power: int", "power: int, color: str")})
    assert run("diff", cwd=lamp.path)[0] == 0
    assert run("diff", "--fail-on", "breaking", cwd=lamp.path)[0] == 1
    assert run("diff", "--fail-on", "broken>100", cwd=lamp.path)[0] == 0
    assert run("diff", "--fail-on", "impact>0", cwd=lamp.path)[0] == 1


def test_several_findings_may_be_named_at_once(lamp: Repo, run: Run) -> None:
    lamp.write({"lamp/core.py": FILES["lamp/core.py"].replace("return power", "return power + 1")})
    assert run("diff", "--fail-on", "breaking,broken", cwd=lamp.path)[0] == 0
    assert run("diff", "--fail-on", "breaking, impact>0", cwd=lamp.path)[0] == 1
    code, _, err = run("diff", "--fail-on", "breaking,bricks", cwd=lamp.path)
    assert (code, "'bricks' is none of" in err) == (2, True)


# History and merges.


def test_the_log_of_a_symbol(lamp: Repo, run: Run) -> None:
    lamp.commit({"lamp/core.py": FILES["lamp/core.py"].replace("power: int", "power: float")}, "wider")
    lamp.commit({"lamp/core.py": FILES["lamp/core.py"].replace("power: int", "power: float").replace("(3)", "(4)")}, "more")
    code, out, _ = run("log", "glow", cwd=lamp.path)
    assert code == 0
    lines = [re.split(r"  +", line.strip()) for line in out.splitlines()[2:]]
    assert [line[2:4] for line in lines] == [["signature", "wider"], ["added", "lamp"]]
    assert ["signature since here" in line[-1] for line in lines] == [True, False]
    assert len(answered(run, "log", "glow", "--limit", "1", cwd=lamp.path)["items"]) == 1
    assert [item["subject"] for item in answered(run, "log", "shine", "--signature", cwd=lamp.path)["items"]] == ["lamp"]
    bounded = answered(run, "log", "glow", "--commits", "1", cwd=lamp.path)
    assert "the last 1 of the commits" in bounded["complete"]["why"]
    assert "outside of its symbols" in run("log", "lamp/core.py", cwd=lamp.path)[1]
    assert run("log", "glow", "shine", cwd=lamp.path)[0] == run("log", "--edge", "glow", cwd=lamp.path)[0] == 2
    assert run("log", ".", cwd=lamp.path)[0] == 2


def test_since_when_a_dependency_is_there_or_gone(lamp: Repo, run: Run) -> None:
    lamp.commit({"lamp/core.py": FILES["lamp/core.py"].replace("glow(3)", "3")}, "alone")
    gone = answered(run, "log", "--edge", "shine", "glow", cwd=lamp.path)
    assert (gone["depends"], [(item["subject"], item["change"]) for item in gone["items"]]) == (False, [("alone", "went away")])
    code, out, _ = run("log", "--edge", "lamp/use.py", "glow", cwd=lamp.path)
    assert code == 0
    assert "appeared  lamp" in out
    lamp.commit({"lamp/use.py": None, "tests/test_lamp.py": None}, "without use")
    code, out, _ = run("log", "--edge", "lamp/use.py::both", "lamp/core.py::glow", cwd=lamp.path)
    assert (code, "without use" in out) == (0, True)


def test_conflicts_are_findings(lamp: Repo, run: Run) -> None:
    lamp.switch("side", create=True)
    lamp.commit({"lamp/new.py": "from lamp.core import glow\n\n\ndef twice() -> int:\n    return 2 * glow(2)\n"}, "side")
    lamp.switch("main")
    assert run("conflicts", "main", "side", "--fail-on", "finding,textual", cwd=lamp.path)[0] == 0
    lamp.commit({"lamp/core.py": FILES["lamp/core.py"].replace("power: int", "power: int, color: str")
                 .replace("glow(3)", "glow(3, 'red')"),
                 "lamp/use.py": FILES["lamp/use.py"].replace("glow(1)", "glow(1, 'blue')")}, "main")  # fmt: skip
    answer = answered(run, "conflicts", "main", "side", cwd=lamp.path)
    assert [(item["handle"], item["line"], item["target"], item["used_by"]) for item in answer["items"]] == [
        ("lamp/new.py::twice", 5, "lamp/core.py::glow", "theirs")
    ]
    assert answer["summary"] == {"findings": 1, "textual": 0}
    assert run("conflicts", "side", cwd=lamp.path)[0] == 0
    assert run("conflicts", "main", "side", "--fail-on", "textual", cwd=lamp.path)[0] == 0
    assert run("conflicts", "main", "side", "--fail-on", "finding", cwd=lamp.path)[0] == 1
    assert run("conflicts", "main", "side", "--fail-on", "fire", cwd=lamp.path)[0] == 2
    assert run("conflicts", "main", "side", "--at", "main", cwd=lamp.path)[0] == 2
    code, _, err = run("conflicts", "main", "WORKTREE", cwd=lamp.path)
    assert (code, "only commits can be merged" in err) == (2, True)
    assert lamp.git("status", "--short") == ""


# Places: no init, sub-folders, worktrees, bare, empty.


def test_an_answer_needs_no_init_and_leaves_the_work_tree_alone(lamp: Repo, run: Run) -> None:
    answer = answered(run, "callers", "glow", cwd=lamp.path)
    assert [item["handle"] for item in answer["items"]] == ["lamp/core.py::shine", "lamp/use.py::both"]
    assert lamp.git("status", "--short", "--ignored") == ""


def test_handles_may_be_typed_as_seen_from_a_sub_folder(lamp: Repo, run: Run) -> None:
    here = lamp.path / "lamp"
    for handle in ("core.py::glow", "lamp/core.py::glow", "../lamp/core.py::glow"):
        assert answered(run, "show", handle, cwd=here)["symbol"]["handle"] == "lamp/core.py::glow"
    assert answered(run, "show", "lamp/../lamp/core.py::glow", cwd=lamp.path)["symbol"]["handle"] == "lamp/core.py::glow"
    assert run("show", "../elsewhere.py", cwd=lamp.path)[0] == 2


def test_the_doors_answer_alike(lamp: Repo, run: Run) -> None:
    from tokenzip.operations import OPERATIONS, UNLISTED
    from tokenzip.repository import repo

    for words, tool, arguments in (
        (("map",), "query_repo_structure", {}),
        (("map", "."), "query_module", {"module": "."}),
        (("show", "glow"), "query_symbol", {"handle": "lamp/core.py::glow"}),
        (("callers", "glow"), "get_dependants", {"handle": "glow", "kinds": ["calls"]}),
        (("deps", "lamp/use.py"), "get_dependencies", {"handle": "lamp/use.py"}),
        (("impact", "glow", "--depth", "2"), "get_impact_analysis", {"handles": ["glow"], "depth": 2}),
        (("trace", "both", "glow"), "trace_path", {"from": "both", "to": "glow"}),
        (("impact", "glow", "--tests"), "get_impact_analysis", {"handles": ["glow"], "tests": True}),
        (("context", "lamp/core.py"), "get_context_for_files", {"files": ["lamp/core.py"], "max_tokens": 2500}),
        (("search", "glow"), "search_symbols", {"query": "glow"}),
        (("diff",), "diff_commits", {}),
        (("query", "symbol('glow').callers()"), "query", {"query": "symbol('glow').callers()"}),
        (("log", "glow", "--limit", "3"), "get_git_history", {"handle": "glow", "limit": 3}),
        (("log", "--edge", "both", "glow"), "get_git_history", {"handle": "both", "to": "glow"}),
    ):
        assert answered(run, *words, cwd=lamp.path) == {**OPERATIONS, **UNLISTED}[tool].run(
            repo(str(lamp.path)), {"max_tokens": 0, **arguments}
        ), words


def test_a_linked_worktree_gets_its_own_truth(lamp: Repo, run: Run, tmp_path: Path) -> None:
    other = lamp.worktree(tmp_path / "other", "-b", "side")
    other.write({"lamp/use.py": None})
    assert len(answered(run, "callers", "glow", cwd=other.path)["items"]) == 1
    assert len(answered(run, "callers", "glow", cwd=lamp.path)["items"]) == 2
    assert (
        answered(run, "status", cwd=other.path)["store"]["folder"] == answered(run, "status", cwd=lamp.path)["store"]["folder"]
    )


def test_a_bare_repository_answers_for_its_commits(lamp: Repo, run: Run, tmp_path: Path) -> None:
    bare = lamp.clone(tmp_path / "bare.git", "--bare")
    assert len(answered(run, "callers", "glow", cwd=bare.path)["items"]) == 2
    assert run("init", cwd=bare.path)[0] == 2


def test_an_unborn_branch_is_no_error(repo: Repo, run: Run) -> None:
    assert answered(run, "map", cwd=repo.path)["counts"]["files"] == 0
    repo.write({"a.py": "def f(): ...\n"})
    assert answered(run, "map", cwd=repo.path)["counts"]["files"] == 1
    assert run("status", cwd=repo.path)[0] == 0
    assert run("init", "--no-hooks", cwd=repo.path)[0] == 0


# Streams.


def test_odd_names_and_plain_locales(repo: Repo) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    repo.commit({name: "def f(): ...\n", "g.py": "def g(): ...\n"})
    for encoding in ("utf-8", "ascii", "latin-1"):
        for form in ("text", "json", "markdown"):
            done = spawn("search", "f", "--format", form, cwd=repo.path, PYTHONIOENCODING=encoding)
            assert done.returncode == 0, done.stderr
            done = spawn("map", "--format", form, cwd=repo.path, PYTHONIOENCODING=encoding)
            assert done.returncode == 0, done.stderr
    done = spawn("show", name, "--format", "json", cwd=repo.path)
    assert json.loads(done.stdout)["file"]["handle"] == name


def test_a_reader_that_leaves_early_is_no_error(lamp: Repo) -> None:
    spawn("index", cwd=lamp.path)
    command = f"{sys.executable} -m tokenzip export | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=lamp.path, env=os.environ, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_no_color_in_a_pipe(lamp: Repo, run: Run) -> None:
    for words in (("map",), ("callers", "glow"), ("status",), ("show", "glow"), ("diff",)):
        assert "\x1b" not in run(*words, cwd=lamp.path)[1]


def test_every_graph_has_a_chart(lamp: Repo, run: Run) -> None:
    for words in (("callers", "glow"), ("impact", "glow"), ("trace", "both", "glow"), ("map",), ("diff",), ("show", "glow")):
        code, out, err = run(*words, "--format", "mermaid", cwd=lamp.path)
        assert (code, out.splitlines()[0]) == (0, "flowchart LR"), err


def test_progress_speaks_only_of_long_work(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("tokenzip.cli.terminal.time.monotonic", lambda: clock[0])
    short = Progress()
    short("indexing", 1, 10)
    short.finish()
    assert capsys.readouterr().err == ""
    long = Progress()
    for done in range(0, 5000, 500):
        long("indexing", done, 5678)
        clock[0] += 1
    long.finish()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "tokenzip: indexing 500 of 5,678 files"
    assert lines[-1] == "tokenzip: indexed 5,678 files in 10.0 s"
    assert len(lines) == 3


# Setting up and keeping.


def test_init_may_be_run_again_and_undone(lamp: Repo, run: Run) -> None:
    lamp.commit({".gitignore": "*.log"}, "ignore")
    for _ in range(2):
        code, out, err = run("init", "--client", "claude", "--client", "codex", cwd=lamp.path)
        assert code == 0, err
        assert "tokenzip map" in out
        assert (lamp.path / ".gitignore").read_text() == "*.log\n.tokenzip/\n"
        assert json.loads((lamp.path / ".mcp.json").read_text())["mcpServers"]["tokenzip"]["args"][-1] == "serve"
        assert lamp.git("status", "--short").split() == ["M", ".gitignore", "??", ".codex/", "??", ".mcp.json"]
    assert answered(run, "status", cwd=lamp.path)["hooks"]["state"] == "installed"
    code, _, err = run("init", "--undo", cwd=lamp.path)
    assert code == 0, err
    assert answered(run, "status", cwd=lamp.path)["hooks"]["state"] == "absent"
    assert not (lamp.path / ".mcp.json").exists()
    assert not (lamp.path / ".tokenzip").exists()
    assert (lamp.path / ".gitignore").read_text() == "*.log\n"


def test_init_says_whom_an_entry_serves(lamp: Repo, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokenzip.cli import clients

    monkeypatch.setattr(clients, "launcher", lambda: ["/some/environment/bin/tokenzip", "serve"])
    out = run("init", "--no-hooks", "--client", "claude", "--client", "cursor", cwd=lamp.path)[1]
    assert ".mcp.json" in out
    assert " ".join(out.split()).count("/some/environment/bin/tokenzip is of this machine alone") == 1
    assert "pipx install tokenzip" in " ".join(out.split())
    monkeypatch.setattr(clients, "launcher", lambda: ["tokenzip", "serve"])
    out = run("init", "--no-hooks", "--client", "claude", cwd=lamp.path)[1]
    assert "good for everybody whose PATH has tokenzip" in " ".join(out.split())
    assert json.loads((lamp.path / ".mcp.json").read_text())["mcpServers"]["tokenzip"]["command"] == "tokenzip"


def test_init_without_an_agent_says_how_to_connect_one(lamp: Repo, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokenzip.cli import clients

    monkeypatch.setattr(clients, "found", lambda root: [])
    assert "none connected (tokenzip init --client NAME)" in run("init", "--no-hooks", cwd=lamp.path)[1]
    assert "none connected" not in run("init", "--no-hooks", "--client", "claude", cwd=lamp.path)[1]
    assert "none connected" not in run("init", "--no-hooks", cwd=lamp.path)[1]


def test_a_side_cannot_conflict_with_itself(lamp: Repo, run: Run) -> None:
    code, out, err = run("conflicts", "HEAD", cwd=lamp.path)
    assert (code, out) == (2, "")
    assert "itself" in err


def test_a_local_store_lies_in_the_checkout(lamp: Repo, run: Run) -> None:
    run("init", "--no-hooks", "--local", cwd=lamp.path)
    assert (lamp.path / ".tokenzip" / "db").is_dir()
    assert answered(run, "status", cwd=lamp.path)["store"]["folder"] == str(lamp.path / ".tokenzip" / "db")


def test_status_tells_three_kinds_of_freshness(lamp: Repo, run: Run) -> None:
    assert answered(run, "status", cwd=lamp.path)["freshness"]["state"] == "behind"
    run("index", cwd=lamp.path)
    state = answered(run, "status", cwd=lamp.path)
    assert state["freshness"]["state"] == "fresh"
    assert state["coverage"]["status"] == {"parsed": len(FILES)}
    assert state["refs"]["indexed"] == [{"ref": "refs/heads/main", "commit": lamp.head()}]
    lamp.commit({"new.py": "def new(:\n"}, "new")
    state = answered(run, "status", cwd=lamp.path)
    assert (state["freshness"]["state"], state["freshness"]["commits"]) == ("behind", 1)
    run("parse", cwd=lamp.path)
    assert [each["file"] for each in answered(run, "status", cwd=lamp.path)["coverage"]["problems"]] == ["new.py"]
    assert "new.py:1" in run("status", cwd=lamp.path)[1]


def test_clean_removes_the_store_and_questions_fill_it_again(lamp: Repo, run: Run) -> None:
    before = answered(run, "callers", "glow", cwd=lamp.path)
    folder = Path(answered(run, "status", cwd=lamp.path)["store"]["folder"])
    assert folder.is_dir()
    assert run("clean", "--yes", cwd=lamp.path)[0] == 0
    assert not folder.exists()
    assert run("clean", "--yes", cwd=lamp.path)[0] == 0
    assert answered(run, "callers", "glow", cwd=lamp.path) == before


def test_clean_leaves_nothing_of_the_last_repository(lamp: Repo, run: Run) -> None:
    home = Path(lamp.environment["TOKENZIP_HOME"])
    assert run("hooks", "install", cwd=lamp.path)[0] == 0
    assert run("hooks", "run", "post-commit", cwd=lamp.path)[0] == 0
    assert {path.name for path in home.iterdir()} >= {"stores", "families", "hooks"}
    assert run("clean", "--yes", cwd=lamp.path)[0] == 0
    assert not home.exists()


def test_gc_keeps_what_is_alive(lamp: Repo, run: Run) -> None:
    before = answered(run, "callers", "glow", cwd=lamp.path)
    assert answered(run, "gc", cwd=lamp.path)["snapshots"] == 1
    assert answered(run, "callers", "glow", cwd=lamp.path) == before


def test_gc_keeps_for_some_days_what_index_was_told_to_bring_in(lamp: Repo, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    lamp.git("switch", "--quiet", "--create", "aside")
    asked_for, used = (lamp.commit({"new.py": f"N = {number}\n"}) for number in range(2))
    lamp.git("switch", "--quiet", "main")
    lamp.git("branch", "--quiet", "-D", "aside")
    lamp.git("reflog", "expire", "--expire=now", "--all")
    run("index", "HEAD", asked_for, cwd=lamp.path)
    run("map", "--at", used, cwd=lamp.path)
    kept = answered(run, "gc", cwd=lamp.path)
    assert (kept["snapshots"], kept["dropped"]) == (2, 1)
    monkeypatch.setattr("tokenzip.repository.ASKED_FOR_DAYS", 0)
    assert answered(run, "gc", cwd=lamp.path)["snapshots"] == 1


def test_gc_removes_stores_of_older_formats_that_nobody_uses(lamp: Repo, run: Run) -> None:
    run("index", cwd=lamp.path)
    store = Path(answered(run, "status", cwd=lamp.path)["store"]["folder"])
    for name in ("v1", "v2"):
        (store / name / "1").mkdir(parents=True)
        (store / name / "1" / "data.mdb").write_bytes(b"x" * 200_000)
    for path in (store / "v1", *(store / "v1").rglob("*")):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    assert "v1, v2 of an older tokenzip" in run("doctor", cwd=lamp.path)[1]
    formats = answered(run, "gc", cwd=lamp.path)["formats"]
    assert [(each["format"], each["kept"]) for each in formats] == [("v1", None), ("v2", "used within 14 days")]
    assert not (store / "v1").exists()
    assert (store / "v2").exists()
    assert "Kept the store of the older format v2 (0.2 MB): used within 14 days." in run("gc", cwd=lamp.path)[1]


def test_status_counts_the_reasons_that_it_does_not_name(lamp: Repo, run: Run) -> None:
    names = {f"{number}.py": "def f(:\n" for number in range(2)}
    lamp.commit(names)
    run("index", cwd=lamp.path)
    reasons = {"skipped": {f"reason {number}": 10 - number for number in range(6)}}
    coverage = {**answered(run, "status", cwd=lamp.path)["coverage"], "reasons": reasons, "status": {"skipped": 45}}
    from tokenzip.cli.keeping import _coverage_blocks

    assert "7 reason 3; 11 for 2 other reasons" in repr(list(_coverage_blocks(coverage)))


def test_doctor_finds_a_sound_installation_sound(lamp: Repo, run: Run) -> None:
    run("index", cwd=lamp.path)
    checks = {check["check"]: check for check in answered(run, "doctor", cwd=lamp.path)["checks"]}
    assert not [check for check in checks.values() if check["ok"] is False]
    assert "all as stored" in checks["contents"]["detail"]
    assert run("doctor", cwd=lamp.path)[0] == 0


def test_index_names_what_it_brought_in(lamp: Repo, run: Run) -> None:
    lamp.commit({"b.py": "B = 1\n"}, "two")
    items = answered(run, "index", "HEAD~1", "HEAD", cwd=lamp.path)["items"]
    assert [(item["rev"], item["state"]) for item in items] == [("HEAD~1", "indexed"), ("HEAD", "indexed")]
    assert answered(run, "index", cwd=lamp.path)["items"][0]["state"] == "was indexed"
    assert answered(run, "index", "--full", "--jobs", "1", cwd=lamp.path)["items"][0]["state"] == "indexed"


# Sharing.


def test_edges_are_exported_in_the_neutral_form(lamp: Repo, run: Run) -> None:
    code, out, err = run("export", cwd=lamp.path)
    assert code == 0, err
    records = [json.loads(line) for line in out.splitlines()]
    assert {"t": "def", "file": "lamp/core.py", "line": 1, "name": "glow", "kind": "function"} in records
    assert {"t": "import", "sf": "lamp/use.py", "df": "lamp/core.py"} in records
    assert {
        "t": "call", "sf": "lamp/use.py", "sl": 4, "sn": "both", "df": "lamp/core.py", "dl": 1, "dn": "glow", "at": 5,
    } in records  # fmt: skip
    last = records[-1]
    assert (last["t"], last["language"], last["unresolved"], last["share"]) == ("coverage", "python", 0, 1.0)
    assert last["resolved"] > 0


@pytest.mark.parametrize("form", ["graphml", "dot", "mermaid"])
def test_other_exports_are_well_formed(form: str, lamp: Repo, run: Run) -> None:
    code, out, err = run("export", "--format", form, cwd=lamp.path)
    assert code == 0, err
    if form == "graphml":
        from xml.etree import ElementTree

        names = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(out).iter()}
        assert {"node", "edge"} <= names
    elif form == "dot":
        assert out.count("{") == out.count("}")
        assert '"lamp/use.py::both" -> "lamp/core.py::glow" [label="calls"];' in out
    else:
        assert out.startswith("flowchart LR\n")


def test_languages_are_listed(run: Run, tmp_path: Path) -> None:
    items = answered(run, "languages", cwd=tmp_path)["items"]
    assert ".py" in next(item["files"] for item in items if item["language"] == "python")


# The documents.

DOCUMENT = (Path(__file__).parent.parent / "docs" / "cli.md").read_text(encoding="utf-8")


def test_the_document_knows_every_command_and_option() -> None:
    for name, command in cli.root.commands.items():
        assert f"tokenzip {name}" in DOCUMENT
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--") and option != "--outside":
                    assert option in DOCUMENT, (name, option)


def test_the_document_names_no_option_that_is_not_there() -> None:
    known = {option for command in cli.root.commands.values() for parameter in command.params for option in parameter.opts}
    assert set(re.findall(r"--[a-z][a-z-]+", DOCUMENT)) <= known


def test_serve_speaks_nothing_but_the_protocol(lamp: Repo) -> None:
    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    first["params"] = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    for words in ((), ("--at", "HEAD", "--repo", str(lamp.path))):
        done = subprocess.run(
            [sys.executable, "-m", "tokenzip", "serve", *words],
            cwd=lamp.path, env=os.environ, input=json.dumps(first).encode() + b"\n", capture_output=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
        assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "tokenzip"


@pytest.mark.skipif(os.geteuid() == 0 and not os.path.isdir("/proc/self"), reason="needs a folder that nobody can write to")
def test_a_store_that_cannot_be_made_is_a_clear_error(lamp: Repo) -> None:
    done = spawn("map", cwd=lamp.path, TOKENZIP_HOME="/proc/self/nowhere")
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"hint: set TOKENZIP_HOME" in done.stderr
    assert b"Traceback" not in done.stderr


def tokenzip(lamp: Repo, shell: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command line in a process of its own, with the redirections of a shell (``$T`` stands for the command)."""
    spawn("index", cwd=lamp.path)
    command = f"{sys.executable} -m tokenzip"
    return lamp.run("sh", "-c", shell.replace("$T", command), check=False, **environment)


@pytest.mark.parametrize("closing", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams_are_no_error(lamp: Repo, closing: str) -> None:
    done = tokenzip(lamp, f"$T callers glow {closing}")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_told(lamp: Repo) -> None:
    done = tokenzip(lamp, "$T callers glow >/dev/full")
    assert done.returncode == 2
    assert re.fullmatch(r"(tokenzip: .*No space left on device\n)+", done.stderr)


def test_what_the_machine_refuses_is_no_bug(lamp: Repo, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files", "some/file")

    monkeypatch.setattr("tokenzip.repository.Repository.open", refuse)
    code, out, err = run("callers", "glow", cwd=lamp.path)
    assert (code, out) == (2, "")
    assert err.startswith("tokenzip: Too many open files: some/file\n")


def test_a_home_that_nobody_knows_is_taken_as_it_stands(lamp: Repo) -> None:
    done = tokenzip(lamp, "$T callers glow", TOKENZIP_HOME="~no-such-user/x")
    assert done.returncode == 0
    assert "lamp/use.py" in done.stdout


def test_depth_may_be_any_number(lamp: Repo, run: Run) -> None:
    run("index", cwd=lamp.path)
    assert run("callers", "glow", "--depth", "9" * 20, cwd=lamp.path) == run("callers", "glow", "--depth", "9", cwd=lamp.path)


def test_a_bare_repository_has_nothing_to_compare_by_itself(lamp: Repo, run: Run, tmp_path: Path) -> None:
    bare = lamp.clone(tmp_path / "bare.git", "--bare")
    code, out, err = run("diff", cwd=bare.path)
    assert (code, out) == (2, "")
    assert err.startswith("tokenzip: a bare repository has no working tree to compare\n")
    assert run("diff", "HEAD", "HEAD", cwd=bare.path)[0] == 0


# What a person is told to type.


CALLS: dict[str, dict[str, Any]] = {
    "diff_commits": {"base": "HEAD~1", "head": "HEAD", "impact": 2, "tests": True},
    "execute_workflow_template": {"name": "bug-fix", "inputs": ["symbol=glow", "error=no light"]},
    "find_conflicts": {"ours": "one", "theirs": "other"},
    "get_context_for_files": {"files": ["lamp/core.py"], "max_tokens": 200},
    "get_dependants": {"handle": "glow", "kinds": ["calls", "imports"], "depth": 2, "include": ["source"]},
    "get_dependencies": {"handle": "glow", "at": "HEAD"},
    "get_git_history": {"handle": "shine", "to": "glow", "commits": 50},
    "get_impact_analysis": {"handles": ["glow", "lamp/use.py"], "tests": True},
    "get_workflow": {"name": "bug-fix"},
    "query": {"query": 'symbols().filter(name="glow")'},
    "query_file": {"path": "lamp/odd name.py", "cursor": "1.2"},
    "query_module": {"module": "."},
    "query_repo_structure": {"query": "modules()"},
    "query_symbol": {"handle": "glow", "include": ["source"]},
    "search_symbols": {"query": "who glows", "limit": 3, "module": "lamp"},
    "trace_path": {"from": "both", "to": "glow", "depth": 4},
}


@pytest.mark.parametrize("tool", [*OPERATIONS, *UNLISTED])
def test_every_call_has_a_command(tool: str) -> None:
    words = shlex.split(command_of(tool, CALLS[tool]))
    assert words[0] == "tokenzip"
    command = cli.root.commands[words[1]]
    command.make_context(words[1], words[2:])


@pytest.mark.parametrize(
    ("words", "says", "typed"),
    [
        (["callers", "lamp"], "lamp", ""),
        (["callers", "Glowing.nothing.here"], "search", "tokenzip search 'Glowing nothing here'"),
        (["show", "xyzzy/quux"], "search", "tokenzip search 'xyzzy quux'"),
        (["deps", "tests"], "Name a file in it, or ask about it as a module", "tokenzip map tests"),
        (["context", "lamp"], "Name the files", "tokenzip map ."),
        (["map", "--at", "HEAD~1..HEAD"], "a range can only be compared", "tokenzip diff 'HEAD~1..HEAD'\n"),
        (["deps", "tests", "--at", "HEAD"], "Name a file in it, or ask about it as a module", "tokenzip map tests --at HEAD"),
    ],
)
def test_hints_name_commands_and_no_tools(lamp: Repo, run: Run, words: list[str], says: str, typed: str) -> None:
    _, _, err = run(*words, cwd=lamp.path)
    assert says in err or not typed
    assert typed in err
    assert not [tool for tool in (*OPERATIONS, *UNLISTED) if "_" in tool and tool in err]


def test_the_same_hint_is_a_call_for_agents(lamp: Repo, run: Run) -> None:
    _, out, _ = run("deps", "tests", "--format", "json", cwd=lamp.path)
    answer = json.loads(out)
    assert answer["next"] == [{"tool": "query_module", "arguments": {"module": "tests"}}]
    assert "tokenzip" not in answer["error"]["hint"]


def test_steps_of_a_template_name_commands(lamp: Repo, run: Run) -> None:
    _, out, _ = run("workflow", "bug-fix", "--steps", cwd=lamp.path)
    assert "show for each frame" in out
    assert not re.findall(r"\b(?:query|get|search)_[a-z_]+", out)


def test_an_unknown_revision_has_its_candidates_once(lamp: Repo, run: Run) -> None:
    lamp.git("branch", "release")
    _, _, err = run("map", "--at", "relaese", cwd=lamp.path)
    assert err == "tokenzip: no such revision: relaese\n  release\n"


# Budgets hold for what is printed.


@pytest.fixture
def grown(repo: Repo) -> Repo:
    """A module that thirty others use, and a change that breaks them."""
    users = {f"use/user{n:02}.py": f"from lamp.core import glow\n\n\ndef use{n}():\n    return glow({n})\n" for n in range(30)}
    repo.commit({**FILES, **users}, "lamp")
    repo.commit(
        {"lamp/core.py": FILES["lamp/core.py"].replace("glow(power: int)", "glow(power: int, *, color: str)")}, "change"
    )
    return repo


@pytest.mark.parametrize(
    "words",
    [
        "map", "map lamp", "map use", "search glow", "query symbols()", "show glow", "show lamp/core.py", "callers glow",
        "dependants lamp/core.py", "deps lamp/use.py", "impact glow", "impact glow --tests", "trace both glow",
        "diff HEAD~1 HEAD",
        "diff HEAD~1 HEAD --tests", "log glow", "context lamp/core.py", "workflow", "workflow bug-fix --steps",
        "workflow implement-feature description=glow", "workflow bug-fix symbol=glow", "show user", "show nothing/like/this",
    ],
)  # fmt: skip
def test_what_is_printed_keeps_to_the_budget_and_says_what_is_missing(grown: Repo, run: Run, words: str) -> None:
    for form in ("text", "markdown"):
        whole = run(*words.split(), "--format", form, cwd=grown.path)[1]
        for budget in (50, 100, 200):
            code, out, err = run(*words.split(), "--format", form, "--max-tokens", str(budget), cwd=grown.path)
            assert code in (0, 2), err
            assert estimate_tokens(out) <= budget, (form, budget, out)
            assert out == whole or re.search(r"\d+ of \d+ shown|left out", out), (form, budget, out)
            assert "known" not in out or "known" in whole  # nothing is said to be missing that was merely cut


def test_a_diff_cut_short_still_says_how_much_breaks(grown: Repo, run: Run) -> None:
    _, out, _ = run("diff", "HEAD~1", "HEAD", "--max-tokens", "100", cwd=grown.path)
    assert "breaking" in out
    assert "lamp/core.py" in out
    _, out, _ = run("diff", "HEAD~1", "HEAD", "--max-tokens", "50", cwd=grown.path)
    assert "more --max-tokens" in out or "breaking" in out


def test_a_cursor_of_a_text_goes_on_in_it(grown: Repo, run: Run) -> None:
    shown: list[str] = []
    cursor: tuple[str, ...] = ()
    while True:
        _, out, _ = run("callers", "glow", "--max-tokens", "120", *cursor, cwd=grown.path)
        assert estimate_tokens(out) <= 120
        shown += re.findall(r"use/user\d+", out)
        found = re.search(r"--cursor (\S+)", out)
        if found is None:
            break
        cursor = ("--cursor", found[1])
    assert sorted(shown) == [f"use/user{n:02}" for n in range(30)]
