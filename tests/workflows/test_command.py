"""``tokenzip workflow``: how inputs are written, what is printed, and the one door to files."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gitrepo import Repo

from tokenzip.cli import root as cli
from tokenzip.operations import OPERATIONS
from tokenzip.repository import repo as open_repository

Run = Callable[..., tuple[int, str, str]]
FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": "from shop.prices import price\n\n\ndef total() -> int:\n    return price()\n",
    "shop/prices.py": "def price() -> int:\n    return 1\n",
    "tests/test_cart.py": "from shop.cart import total\n\n\ndef test_total() -> None:\n    assert total()\n",
    "packages/a/package.json": '{"name": "@shop/a", "version": "1.0.0"}\n',
    "packages/a/src/index.ts": "export const a = 1\n",
    "packages/b/package.json": '{"name": "@shop/b", "version": "1.0.0"}\n',
    "packages/b/src/index.ts": "export class Two {}\n",
}
TRACE = 'Traceback (most recent call last):\n  File "/app/shop/prices.py", line 2, in price\nValueError: x\n'


@pytest.fixture
def shop(repo: Repo) -> Repo:
    repo.commit(FILES, "shop")
    return repo


@pytest.fixture
def run(shop: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.chdir(shop.path)
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        code = cli.run(("workflow", *words))
        out, err = capsys.readouterr()
        return code, out, err

    return run


def answered(run: Run, *words: str, stdin: str = "") -> dict[str, Any]:
    code, out, err = run(*words, "--format", "json", stdin=stdin)
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_alone_it_lists_the_templates_and_their_inputs(run: Run) -> None:
    code, out, _ = run()
    assert code == 0
    for name in ("create-module", "update-module", "implement-feature", "upgrade-feature", "bug-fix"):
        assert f"  {name}" in out
    assert "name [kind] [dependencies]" in out


def test_it_shows_the_steps_of_one(run: Run) -> None:
    code, out, _ = run("bug-fix", "--steps")
    assert code == 0
    assert "impact(depth=3)" in out
    assert run("bug-fixx", "--steps")[0] == 2


def test_the_trace_may_be_an_argument_a_file_or_standard_input(run: Run, shop: Repo) -> None:
    (shop.path.parent / "crash.log").write_text(TRACE)
    answers = [
        answered(run, "bug-fix", f"trace={TRACE}"),
        answered(run, "bug-fix", TRACE),
        answered(run, "bug-fix", f"trace=@{shop.path.parent / 'crash.log'}"),
        answered(run, "bug-fix", "trace=-", stdin=TRACE),
        answered(run, "bug-fix", "-", stdin=TRACE),
    ]
    assert answers[0]["candidates"][0]["handle"] == "shop/prices.py::price"
    assert all(answer["candidates"] == answers[0]["candidates"] for answer in answers)


def test_the_doors_answer_alike(run: Run, shop: Repo) -> None:
    arguments = {"name": "update-module", "inputs": ["module=shop", "description=price"], "max_tokens": 0}
    asked = answered(run, "update-module", "module=shop", "description=price")
    assert asked == OPERATIONS["execute_workflow_template"].run(open_repository(str(shop.path)), arguments)


def test_text_and_markdown_say_it_too(run: Run) -> None:
    code, out, _ = run("bug-fix", TRACE)
    assert code == 0
    assert out.startswith("bug-fix  WORKTREE on ")
    for part in (
        "  shop/prices.py::price  high",
        "Order\n  step  do ",
        "Callers\n",
        "Tests\n",
        "Changes\n",
        "raised ValueError",
    ):
        assert part in out
    code, out, _ = run("bug-fix", TRACE, "--format", "markdown")
    assert "### Candidates" in out
    assert "`shop/prices.py::price`" in out


def test_mistakes_are_told_with_what_to_do(run: Run) -> None:
    for words, text in (
        (("bug-fix",), "needs at least one of"),
        (("bug-fix", "trace=@nowhere.log"), "nowhere.log cannot be read"),
        (("bugfix", "x"), "bug-fix"),
        (("update-module", "modul=shop"), "no input 'modul'"),
    ):
        code, out, err = run(*words)
        assert (code, out) == (2, "")
        assert text in err
        assert "hint: " in err


def test_a_name_that_begins_with_an_at_is_no_file(run: Run) -> None:
    answer = answered(run, "create-module", "name=@shop/c", "kind=packages")
    assert answer["summary"]["name"] == "@shop/c"


# Writing.


def test_nothing_is_written_unless_it_is_asked_for(run: Run, shop: Repo) -> None:
    assert run("create-module", "name=packages/c")[0] == 0
    assert shop.git("status", "--short") == ""


def test_the_proposed_files_are_written(run: Run, shop: Repo) -> None:
    code, _, err = run("create-module", "name=packages/c", "dependencies=@shop/a", "--write")
    assert code == 0
    assert "wrote 2 files" in err
    manifest = json.loads((shop.path / "packages/c/package.json").read_text())
    assert manifest == {"name": "@shop/c", "version": "1.0.0", "dependencies": {"@shop/a": "*"}}
    assert (shop.path / "packages/c/src/index.ts").read_text() == ""
    shop.git("add", "--all")
    assert shop.git("diff", "--cached", "--name-status") == "A\tpackages/c/package.json\nA\tpackages/c/src/index.ts"


def test_nothing_is_written_where_something_is_in_the_way(run: Run, shop: Repo) -> None:
    code, _, err = run("create-module", "name=packages/a", "--write")
    assert code == 2
    assert "nothing was written" in err
    assert "packages/a" in err
    assert shop.git("status", "--short") == ""


def test_what_git_ignores_is_in_the_way_too(run: Run, shop: Repo) -> None:
    """A file that is in no snapshot is not overwritten, and what was written before it is taken back."""
    shop.commit({".gitignore": "index.ts\n"})
    shop.write({"packages/c/src/index.ts": "mine\n"})
    code, _, err = run("create-module", "name=packages/c", "--write")
    assert code == 2
    assert "nothing was written" in err
    assert (shop.path / "packages/c/src/index.ts").read_text() == "mine\n"
    assert not (shop.path / "packages/c/package.json").exists()


def test_no_link_leads_out_of_the_repository(run: Run, shop: Repo, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    os.symlink(tmp_path / "outside", shop.path / "packages/c")
    code, _, _ = run("create-module", "name=packages/c", "--write")
    assert code == 2
    assert list((tmp_path / "outside").iterdir()) == []


def test_writing_is_for_the_work_tree_and_for_create_module(run: Run) -> None:
    assert "--at" in run("create-module", "name=packages/c", "--write", "--at", "HEAD")[2]
    assert "create-module" in run("bug-fix", TRACE, "--write")[2]
