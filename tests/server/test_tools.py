"""What becomes of a tool call: arguments, budgets, errors, patience with an index, deadlines."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import toy_server
from mcp_client import LONG, InProcess, in_process, parsed

from tokenzip.budget import LINE, lay_out
from tokenzip.errors import NotARepository
from tokenzip.model import UNCOMMITTED
from tokenzip.server import tools
from tokenzip.server.arguments import as_meant
from tokenzip.server.question import indexing_answer, working_answer
from tokenzip.server.tools import HARD_CAP
from tokenzip.server.workspace import Workspace


@pytest.fixture
def client() -> Iterator[InProcess]:
    yield from in_process(modern=True)


@pytest.fixture
def hasty() -> Iterator[InProcess]:
    """A server that loses patience after 50 ms and gives up after two seconds."""
    yield from in_process(modern=True, patience=0.05, deadline=2)


# -- arguments


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"names": "a"}, {"names": ["a"]}),
        ({"names": '["a","b"]'}, {"names": ["a", "b"]}),
        ({"flag": "true"}, {"flag": True}),
        ({"flag": "yes"}, {"flag": "yes"}),
        ({"max_tokens": "100"}, {"max_tokens": 100}),
        ({"max_tokens": 100.0}, {"max_tokens": 100}),
        ({"max_tokens": "many"}, {"max_tokens": "many"}),
        ({"max_tokens": "true"}, {"max_tokens": "true"}),
        ({"text": "17", "at": None}, {"text": "17"}),
    ],
)
def test_arguments_are_taken_as_they_are_meant(written: dict[str, object], meant: dict[str, object]) -> None:
    assert as_meant(toy_server.OPERATIONS["echo"], written) == meant


@pytest.mark.parametrize("asked", [0, "0", 10**9])
def test_no_budget_is_the_largest_one(client: InProcess, asked: object) -> None:
    assert client.call("echo", max_tokens=asked)["echo"] == {"max_tokens": 6000}


def test_wrong_arguments_are_an_answer(client: InProcess) -> None:
    result = client.result("tools/call", name="echo", arguments={"zz": 1})
    assert result["isError"] is True
    assert parsed(result)["error"]["code"] == "usage"
    result = client.result("tools/call", name="echo", arguments=["x"])
    assert result["isError"] is True
    assert "takes text" in parsed(result)["error"]["hint"]


def test_calls_without_arguments_are_calls(client: InProcess) -> None:
    assert parsed(client.result("tools/call", name="echo"))["echo"] == {}
    assert parsed(client.result("tools/call", name="echo", arguments=None))["echo"] == {}


def test_the_server_may_be_pinned_to_a_revision() -> None:
    client = InProcess(modern=True, at="v1.0")
    assert client.call("echo")["at"] == {"rev": "v1.0"}
    assert client.call("echo", at="HEAD")["at"] == {"rev": "HEAD"}
    client.close()


# -- answers


def test_errors_are_answers_that_help(client: InProcess) -> None:
    result = client.result("tools/call", name="unknown", arguments={})
    assert result["isError"] is True
    assert parsed(result) == {
        "error": {
            "code": "unknown_symbol",
            "message": "no symbol nope",
            "hint": "ask search_symbols",
            "candidates": ["note"],
        }
    }


def test_a_bug_is_told_and_written_down(client: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKENZIP_HOME", str(tmp_path))
    result = client.result("tools/call", name="fail", arguments={})
    assert result["isError"] is True
    error = parsed(result)["error"]
    assert error["code"] == "bug"
    assert "ZeroDivisionError" in error["message"]
    log = tmp_path / "logs" / "serve.log"
    assert str(log) in error["hint"]
    assert "Traceback" in log.read_text()


def test_a_bug_is_told_where_it_cannot_be_written_down(
    client: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("TOKENZIP_HOME", str(tmp_path / "file"))
    assert client.call("fail")["error"]["code"] == "bug"


def test_a_large_answer_is_asked_for_again_with_less(client: InProcess) -> None:
    result = client.result("tools/call", name="big", arguments={"items": 1000})
    text = result["content"][0]["text"]
    assert HARD_CAP / 2 < len(text) <= HARD_CAP
    answer = json.loads(text)
    assert answer["truncated"] == {"shown": len(answer["items"]), "total": 1000}
    assert len(text.splitlines()) > len(answer["items"])


def test_an_answer_that_cannot_be_cut_is_an_error(client: InProcess) -> None:
    answer = client.call("stubborn", items=HARD_CAP + 1)
    assert answer["error"]["code"] == "too_large"
    assert answer["error"]["hint"]


def test_file_names_that_are_no_utf8_arrive(client: InProcess) -> None:
    assert [item["file"] for item in client.call("odd")["items"]] == ["caf\udce9.py", "é\u2028😀.py"]


def test_layout_gives_each_item_a_line() -> None:
    answer = {
        "at": {"rev": "HEAD"},
        "items": [{"handle": "a"}, {"handle": "b", "members": [{"name": "x" * 100}] * 5}],
        "lines": list(range(20)),
        "none": [],
        "truncated": None,
    }
    text = lay_out(answer)
    assert json.loads(text) == answer
    assert text.startswith('{"at":{"rev":"HEAD"},\n"items":[\n{"handle":"a"},\n{"handle":"b"')
    assert '\n"lines":[0,1,2' in text
    assert max(map(len, text.splitlines())) <= LINE


# -- patience


def test_a_call_that_indexes_is_answered_with_how_far_it_is_and_goes_on(hasty: InProcess) -> None:
    toy_server.FINISHED.clear()
    result = hasty.result("tools/call", name="index", arguments={"items": 1500})
    assert toy_server.FINISHED == []
    assert result["isError"] is False
    answer = parsed(result)
    assert answer["indexing"]["total"] == 1500
    assert "indexing" in answer["complete"]["why"]
    assert answer["next"] == [{"tool": "index", "arguments": {"items": 1500}}]
    deadline = time.monotonic() + 30
    while toy_server.FINISHED != [1500] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert toy_server.FINISHED == [1500]


def test_a_call_that_is_merely_slow_is_waited_for(hasty: InProcess) -> None:
    assert hasty.call("sleep", items=200) == {"slept": 200}


class Slow:
    """An operation that works until the test lets it go, on a repository whose state the test sets."""

    def __init__(self) -> None:
        self.begun = 0
        self.may_end = threading.Event()
        self.state = "first"
        self.stage: tuple[str, int, int] | None = None

    def open(self, place: str) -> object:
        return SimpleNamespace(root="here", progress=None, snapshot=lambda *rev: SimpleNamespace(tree=self.state))

    def run(self, repository: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        self.begun += 1
        seen = repository.snapshot("WORKTREE").tree
        if self.stage:
            repository.progress(*self.stage)
        assert self.may_end.wait(LONG)
        return {"seen": seen}

    def client(self, **limits: float) -> InProcess:
        operations = {"ask": toy_server.Operation("ask", "Ask", (toy_server.AT,), self.run)}
        return InProcess(modern=True, operations=operations, open_repository=self.open, **limits)

    def asked_until_there(self, client: InProcess) -> dict[str, Any]:
        deadline = time.monotonic() + LONG
        while "seen" not in (answer := client.call("ask")) and time.monotonic() < deadline:
            pass
        return answer


@pytest.fixture
def slow() -> Iterator[Slow]:
    made = Slow()
    yield made
    made.may_end.set()


def test_a_call_past_its_deadline_says_that_it_is_at_work_and_the_next_one_gets_its_answer(slow: Slow) -> None:
    client = slow.client(patience=0.02, deadline=0.1)
    for _ in range(3):
        result = client.result("tools/call", name="ask", arguments={"at": "HEAD"})
        assert result["isError"] is False
        answer = parsed(result)
        assert answer["working"]["seconds"] >= 0
        assert answer["at"]["rev"] == "HEAD"
        assert answer["next"] == [{"tool": "ask", "arguments": {"at": "HEAD"}}]
        assert "ask the same again" in answer["complete"]["why"]
    slow.may_end.set()
    deadline = time.monotonic() + LONG
    while (answer := client.call("ask", at="HEAD")) != {"seen": "first"} and time.monotonic() < deadline:
        pass
    assert answer == {"seen": "first"}
    assert slow.begun == 1, "asked again, it joins the work"
    client.close()


@pytest.mark.parametrize("stage", [("linking", 1, 3), (UNCOMMITTED, 1, 0)])
def test_work_of_any_kind_on_a_snapshot_is_answered_with_how_far_it_is(slow: Slow, stage: tuple[str, int, int]) -> None:
    slow.stage = stage
    client = slow.client(patience=0.02)
    for _ in range(2):
        assert client.call("ask")["indexing"] == dict(zip(("stage", "done", "total"), stage, strict=True))
    slow.may_end.set()
    assert slow.asked_until_there(client) == {"seen": "first"}
    assert slow.begun == 1
    client.close()


def test_a_late_answer_is_not_given_for_files_that_have_changed_since(slow: Slow) -> None:
    client = slow.client(patience=0.02, deadline=0.1)
    assert "working" in client.call("ask")
    slow.state = "second"
    slow.may_end.set()
    assert slow.asked_until_there(client) == {"seen": "second"}
    assert slow.begun == 2
    client.close()


def test_a_late_answer_is_given_once(slow: Slow) -> None:
    client = slow.client(patience=0.02, deadline=0.1)
    assert "working" in client.call("ask")
    slow.may_end.set()
    for begun in (1, 2):
        assert slow.asked_until_there(client) == {"seen": "first"}
        assert slow.begun == begun
    client.close()


def test_a_call_that_joins_may_be_cancelled_alone(slow: Slow) -> None:
    client = slow.client(patience=0.02, deadline=0.3)
    assert "working" in client.call("ask")
    client.begin("tools/call", {"name": "ask"}, "c")
    client.notify("notifications/cancelled", requestId="c")
    client.ask("server/discover")  # messages are read in order: cancelled by now
    slow.may_end.set()
    assert slow.asked_until_there(client) == {"seen": "first"}
    assert slow.begun == 1
    client.close()


@pytest.mark.parametrize("stage", [None, ("commits looked at", 7, 0)])
def test_a_client_that_asks_for_progress_hears_of_slow_work(slow: Slow, stage: tuple[str, int, int] | None) -> None:
    slow.stage = stage
    client = slow.client(patience=0.02)
    client.begin("tools/call", {"name": "ask"}, "p", {"progressToken": 1})
    told = [client.wait_notification("notifications/progress")["params"] for _ in range(3)]
    assert [each["progress"] for each in told] == sorted({each["progress"] for each in told})
    assert told[-1]["message"] == "ask is at work"
    assert stage is None or told[0]["message"] == "commits looked at 7"
    slow.may_end.set()
    assert parsed(client.wait_answer("p")["result"]) == {"seen": "first"}
    client.close()


# -- the repository


def refuse(place: str) -> object:
    raise NotARepository(f"no repository at {place}")


def test_without_a_repository_each_call_says_so() -> None:
    client = InProcess(modern=True, open_repository=refuse)
    result = client.result("tools/call", name="echo", arguments={})
    assert result["isError"] is True
    error = parsed(result)["error"]
    assert error["code"] == "not_a_repository"
    assert "--repo" in error["hint"]
    client.close()


def test_the_repository_is_looked_for_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    environment = {"TOKENZIP_REPO": "/from/environment"}
    roots = ["https://x/y", "file:///from/roots%20here"]

    def places(named: str | None = None, declared: list[str] | None = None, **environment: str) -> list[str]:
        seen: list[str] = []

        def look(place: str) -> object:
            seen.append(place)
            raise NotARepository("none")

        workspace = Workspace(named, declared=lambda: declared or [], environment=environment, open_repository=look)
        with pytest.raises(NotARepository), workspace.lent():
            pass
        return seen

    assert places("/named", roots, **environment) == ["/named"]
    assert places(None, roots, **environment) == ["/from/environment"]
    assert places(None, roots) == ["/from/roots here", str(tmp_path)]
    assert places() == [str(tmp_path)]


@pytest.mark.parametrize("place", ["~", "/"])
def test_neither_home_nor_the_root_is_a_project(place: str) -> None:
    workspace = Workspace(os.path.expanduser(place), open_repository=toy_server.open_repository)
    with pytest.raises(NotARepository, match="home folder"), workspace.lent():
        pass


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("")
    (tmp_path / "src").mkdir()
    return tmp_path


def lent(workspace: Workspace) -> object:
    with workspace.lent() as repository:
        return repository


def test_a_repository_is_kept_for_the_next_call_and_never_shared(project: Path) -> None:
    workspace = Workspace(str(project / "src"), open_repository=toy_server.open_repository)
    first = lent(workspace)
    with workspace.lent() as held:
        assert held is first
        assert lent(workspace) is not first
    workspace.release()
    assert lent(workspace) is not first


def test_a_repository_that_failed_is_not_kept(project: Path) -> None:
    workspace = Workspace(str(project), open_repository=toy_server.open_repository)
    with pytest.raises(ZeroDivisionError), workspace.lent() as first:
        raise ZeroDivisionError
    assert lent(workspace) is not first


@pytest.mark.parametrize("memory", ["much", "little"])
def test_what_a_large_process_keeps_is_let_go_when_calls_end(
    project: Path, monkeypatch: pytest.MonkeyPatch, memory: str
) -> None:
    monkeypatch.setattr(tools, "LARGE", 0 if memory == "much" else 1 << 60)
    monkeypatch.setattr(tools, "SHORT_REST", 0.02)
    is_closed = threading.Event()

    def open_repository(place: str) -> object:
        return SimpleNamespace(root=place, git=SimpleNamespace(close=is_closed.set), progress=None)

    client = InProcess(modern=True, repository=str(project), open_repository=open_repository)
    client.call("echo")
    assert is_closed.wait(5 if memory == "much" else 0.2) is (memory == "much")
    client.close()


@pytest.mark.parametrize("change", ["new .git", "nearer .git", "git config", "settings"])
def test_a_repository_is_opened_again_when_it_is_another_one(project: Path, change: str) -> None:
    workspace = Workspace(str(project / "src"), open_repository=toy_server.open_repository)
    first = lent(workspace)
    assert lent(workspace) is first
    if change == "new .git":
        (project / ".git").rename(project / "old")
        (project / ".git").write_text("gitdir: old\n")
    elif change == "nearer .git":
        (project / "src" / ".git").mkdir()
    elif change == "git config":
        os.utime(project / ".git" / "config", ns=(1, 1))
    else:
        (project / ".tokenzip").mkdir()
        (project / ".tokenzip" / "config.json").write_text("{}")
    assert lent(workspace) is not first


@pytest.mark.parametrize("length", [10, 100_000])
def test_what_is_said_meanwhile_is_short_however_long_the_question_is(length: int) -> None:
    arguments = {"inputs": ["x" * length]}
    for answer in (indexing_answer("echo", arguments, "reading", 1, 2), working_answer("echo", arguments, 20)):
        assert len(lay_out(answer)) < 1000
        assert answer.get("next") == ([{"tool": "echo", "arguments": arguments}] if length == 10 else None)
