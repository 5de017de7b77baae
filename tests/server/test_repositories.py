"""The real server over real repositories: freshness, places, revisions, indexing in the background, and who is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from gitrepo import Repo, hermetic_environment
from mcp_client import LONG, Child, InProcess

import tokenzip
from tokenzip.operations import OPERATIONS
from tokenzip.snapshot import build

SERVE = (sys.executable, "-P", "-m", "tokenzip.server")
SMALL = {
    "pyproject.toml": '[project]\nname = "shop"\n',
    "shop/__init__.py": "",
    "shop/prices.py": "def price(item: str) -> int:\n    return len(item)\n",
    "shop/cart.py": "from shop.prices import price\n\n\ndef total(items) -> int:\n    return sum(price(i) for i in items)\n",
}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    environment = hermetic_environment(tmp_path / "home") | {"TOKENZIP_HOME": str(tmp_path / "tokenzip")}
    repo = Repo.create(tmp_path / "shop", environment)
    repo.commit(SMALL)
    return repo


Serve = Callable[..., Child]


@pytest.fixture
def serve(repo: Repo) -> Iterator[Serve]:
    children: list[Child] = []

    def begin(cwd: Path | None = None, *options: str, **environment: str) -> Child:
        child = Child(*SERVE, *options, modern=True, cwd=cwd or repo.path, env=repo.environment | environment)
        children.append(child)
        return child

    yield begin
    for child in children:
        child.stop()


def answered(child: Child, tool: str, **arguments: Any) -> dict[str, Any]:
    """The answer, asked for again while it is still being indexed, as an agent does."""
    deadline = time.monotonic() + 60
    while {"indexing", "working"} & (answer := child.call(tool, **arguments)).keys() and time.monotonic() < deadline:
        pass
    return answer


def users(answer: dict[str, Any]) -> list[str]:
    return [item["handle"] for item in answer["items"]]


def test_a_first_call_indexes_and_answers(serve: Serve, repo: Repo) -> None:
    child = serve(repo.path / "shop")  # a sub-folder: clients start where the person works
    answer = answered(child, "get_dependants", handle="price")
    assert users(answer)[0] == "shop/cart.py::total"
    assert answer["at"] == {"rev": "WORKTREE", "commit": repo.head(), "dirty": False}
    assert answer["token_count"] > 0
    child.hang_up()
    assert child.end() == (0, b"")


def test_each_call_sees_the_files_of_its_moment(serve: Serve, repo: Repo) -> None:
    child = serve()
    first = answered(child, "get_dependants", handle="price")["at"]["commit"]
    repo.write({"shop/offers.py": "from shop.prices import price\n\n\ndef offer() -> int:\n    return price('x') - 1\n"})
    answer = answered(child, "get_dependants", handle="price")
    assert "shop/offers.py::offer" in users(answer)
    assert answer["at"]["dirty"] is True
    second = repo.commit()
    assert answered(child, "get_dependants", handle="price")["at"] == {"rev": "WORKTREE", "commit": second, "dirty": False}
    pinned = answered(child, "get_dependants", handle="price", at=first)
    assert "shop/offers.py::offer" not in users(pinned)
    assert pinned["at"]["commit"] == first


def test_two_worktrees_have_their_own_truths_from_one_store(serve: Serve, repo: Repo, tmp_path: Path) -> None:
    other = repo.worktree(tmp_path / "other", "-b", "other")
    other.write({"shop/other.py": "from shop.prices import price\n\nprice('y')\n"})
    here, there = serve(), serve(other.path)
    assert "shop/other.py" not in users(answered(here, "get_dependants", handle="price"))
    assert "shop/other.py" in users(answered(there, "get_dependants", handle="price"))
    assert len(list((tmp_path / "tokenzip" / "stores").iterdir())) == 1


def test_a_repository_that_comes_later_is_found(serve: Serve, repo: Repo, tmp_path: Path) -> None:
    later = tmp_path / "later"
    later.mkdir()
    child = serve(later)
    assert child.call("query_repo_structure")["error"]["code"] == "not_a_repository"
    Repo.create(later, repo.environment).commit({"a.py": "A = 1\n"})
    assert answered(child, "query_repo_structure")["at"]["commit"]


@pytest.mark.skipif(
    os.name != "posix" or shutil.which("git", path=os.defpath) is None, reason="git lies in no folder of the system's"
)
def test_a_client_may_start_it_with_a_bare_path(serve: Serve, tmp_path: Path) -> None:
    """As agents do that are started from a desktop, or that make up an environment of their own."""
    server = serve(PATH=str(tmp_path / "agent" / "bin"))
    assert [item["handle"] for item in answered(server, "search_symbols", query="price")["items"]] == ["shop/prices.py::price"]


def test_the_home_folder_is_no_project_even_as_a_repository(serve: Serve, repo: Repo, tmp_path: Path) -> None:
    home = Repo.create(tmp_path / "home", repo.environment)
    (home.path / "notes").mkdir()
    child = serve(home.path / "notes")
    error = child.call("query_repo_structure")["error"]
    assert error["code"] == "not_a_repository"
    assert "home folder" in error["message"]


def test_what_does_not_exist_is_an_answer_with_candidates(serve: Serve) -> None:
    child = serve()
    error = answered(child, "query_symbol", handle="prise")["error"]
    assert error["code"] == "unknown_symbol"
    assert any("price" in candidate for candidate in error["candidates"])
    assert answered(child, "query_symbol", handle="price", at="no-such-branch")["error"]["code"] == "unknown_revision"


def test_resources_and_completion_of_a_real_repository(serve: Serve) -> None:
    child = serve()
    answered(child, "query_repo_structure")
    assert child.result("resources/read", uri="tokenzip://file/shop/cart.py/symbols?at=HEAD")["contents"]
    assert child.result("resources/read", uri="tokenzip://module/shop/overview")["contents"]
    assert child.result("resources/read", uri="tokenzip://symbol/total/detail")["contents"]

    def completed(template: str, name: str, value: str) -> list[str]:
        reference = {"type": "ref/resource", "uri": template}
        found = child.result("completion/complete", ref=reference, argument={"name": name, "value": value})
        return list(found["completion"]["values"])

    assert completed("tokenzip://file/{path}/symbols{?at}", "path", "shop/c") == ["shop/cart.py"]
    assert completed("tokenzip://module/{name}/overview{?at}", "name", "sh") == ["shop"]
    assert completed("tokenzip://symbol/{id}/detail{?at}", "id", "price") == ["shop/prices.py::price"]
    assert "main" in completed("tokenzip://repo/structure{?at}", "at", "ma")


def test_nothing_of_the_folder_is_taken_for_our_own(serve: Serve, repo: Repo) -> None:
    """Servers are started inside whatever repository there is: its files must not be imported."""
    trap = "import os\nopen(os.environ['TRAP'], 'w').close()\n"
    repo.commit(dict.fromkeys(("json.py", "tokenzip.py", "logging.py", "tokenzip/__init__.py", "pygit2.py"), trap))
    trapped = repo.path.parent / "trapped"
    child = serve(TRAP=str(trapped))
    assert "at" in answered(child, "query_repo_structure")
    assert not trapped.exists()


def test_a_killed_server_leaves_no_process_behind(repo: Repo, serve: Serve) -> None:
    """Killed while a child and its workers index: none of them outlives it, and the next server ends the work."""
    many = {f"big/m{number}.py": "".join(f"def f{i}(a):\n    return f{i - 1}(a)\n" for i in range(60)) for number in range(300)}
    repo.commit(many)
    marker = {"TOKENZIP_TEST_MARK": str(os.getpid())}
    child = serve(**marker)
    child.begin("tools/call", {"name": "query_repo_structure", "arguments": {}})
    deadline = time.monotonic() + LONG
    while not marked(marker, b"tokenzip.workers") and time.monotonic() < deadline:
        time.sleep(0.005)
    assert time.monotonic() < deadline, "no worker was ever started"
    child.process.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + LONG
    while marked(marker) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert marked(marker) == []
    assert answered(serve(), "query_file", path="big/m7.py")["at"]["commit"] == repo.head()


def marked(marker: dict[str, str], command: bytes = b"") -> list[int]:
    """Processes that carry these variables, as their children do, and have `command` in their command line."""
    wanted = {f"{name}={value}".encode() for name, value in marker.items()}
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and wanted <= set((entry / "environ").read_bytes().split(b"\0")):
                if command not in (entry / "cmdline").read_bytes():
                    continue
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("at", ["HEAD", "WORKTREE"])
def test_a_few_new_files_are_brought_in_behind_an_answer_that_says_so(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """In the server's own process, however slow it is: here it waits until the test has its answers."""
    for name, value in repo.environment.items():
        monkeypatch.setenv(name, value)
    tokenzip.repo(str(repo.path)).snapshot("HEAD")
    repo.write({"shop/new.py": "def fresh(): pass\n"})
    if at == "HEAD":
        repo.commit({}, "new")
    may_go_on = threading.Event()
    link = build.Linker.link
    monkeypatch.setattr(build.Linker, "link", lambda *given: (may_go_on.wait(LONG), link(*given))[1])
    client = InProcess(modern=True, operations=OPERATIONS, repository=str(repo.path), open_repository=None, patience=0.02)
    stages = [client.call("search_symbols", query="fresh", at=at)["indexing"] for _ in range(3)]
    assert stages[-1]["stage"] in {"comparing", "reading", "linking", "uncommitted"}
    may_go_on.set()
    deadline = time.monotonic() + LONG
    while "indexing" in (answer := client.call("search_symbols", query="fresh", at=at)) and time.monotonic() < deadline:
        pass
    assert [item["handle"] for item in answer["items"]] == ["shop/new.py::fresh"]
    client.close()


def test_a_worktree_that_is_removed_and_made_again_is_answered_for_again(serve: Serve, repo: Repo, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    repo.git("worktree", "add", "--quiet", "--detach", str(linked))
    child = serve(linked)
    assert answered(child, "search_symbols", query="price")["items"]
    repo.git("worktree", "remove", "--force", str(linked))
    assert answered(child, "search_symbols", query="price")["error"]["code"] == "not_a_repository"
    repo.git("worktree", "add", "--quiet", "--detach", str(linked))
    (linked / "shop" / "prices.py").write_text("def cost(item: str) -> int:\n    return len(item)\n")
    assert answered(child, "search_symbols", query="cost")["items"][0]["handle"] == "shop/prices.py::cost"
