"""Results are kept: made once, under the state that they are about, with the time when that was."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
from gitrepo import Repo

from tokenzip.operations import OPERATIONS
from tokenzip.repository import repo as open_repository
from tokenzip.workflows import keeping

FILES = {"a.py": "def f():\n    return g()\n\n\ndef g():\n    return 1\n"}


def ask(repo: Repo, **common: Any) -> dict[str, Any]:
    arguments = {"name": "bug-fix", "inputs": ["symbol=g"], "max_tokens": 0, **common}
    answer = OPERATIONS["execute_workflow_template"].run(open_repository(str(repo.path)), arguments)
    assert "error" not in answer, answer
    return answer


def kept_files(repo: Repo) -> list[Path]:
    return sorted((open_repository(str(repo.path)).store.folder / keeping.FOLDER).glob("*.json"))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time that results are stamped with; a second later at each look."""
    now = [1_700_000_000.0]
    real = time.gmtime

    def gmtime(seconds: float | None = None) -> time.struct_time:
        if seconds is not None:
            return real(seconds)
        now[0] += 1
        return real(now[0])

    monkeypatch.setattr(keeping.time, "gmtime", gmtime)
    return now


def test_a_result_keeps_the_time_when_it_was_made(repo: Repo, clock: list[float]) -> None:
    repo.commit(FILES)
    first = ask(repo)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", first["stamp"]["made"])
    assert ask(repo) == first
    assert len(kept_files(repo)) == 1


def test_every_page_has_the_same_stamp(repo: Repo, clock: list[float]) -> None:
    repo.commit(FILES)
    assert ask(repo, max_tokens=300)["stamp"] == ask(repo)["stamp"] == ask(repo, at="HEAD")["stamp"]


def test_another_state_has_another_result(repo: Repo, clock: list[float]) -> None:
    repo.commit(FILES)
    clean = ask(repo)
    repo.write({"a.py": FILES["a.py"] + "\n\nx = g()\n"})
    dirty = ask(repo)
    assert dirty["stamp"]["snapshot"] != clean["stamp"]["snapshot"]
    assert dirty["stamp"]["made"] != clean["stamp"]["made"]
    assert dirty["summary"]["impact"]["reached"] == clean["summary"]["impact"]["reached"] + 1
    committed = ask(repo, at="HEAD")
    said = {"at", "next", "token_count"}
    assert {name: committed[name] for name in committed.keys() - said} == {name: clean[name] for name in clean.keys() - said}
    repo.write({"a.py": FILES["a.py"]})
    assert ask(repo) == clean


def test_the_same_tree_with_another_history_is_another_question(repo: Repo) -> None:
    repo.commit(FILES)
    ask(repo)
    repo.commit({}, "empty")
    ask(repo)
    assert len(kept_files(repo)) == 2


def test_clones_share_results(repo: Repo, tmp_path: Path, clock: list[float]) -> None:
    repo.commit(FILES)
    first = ask(repo, at="HEAD")
    assert ask(repo.clone(tmp_path / "clone"), at="HEAD") == first


def test_a_damaged_entry_is_a_miss(repo: Repo) -> None:
    repo.commit(FILES)
    first = ask(repo)
    (place,) = kept_files(repo)
    for damage in (b"", b"{", b'{"made": 1}', b'{"result": 3, "made": "x"}', b"\xff\xfe"):
        place.write_bytes(damage)
        again = ask(repo)
        assert again["candidates"] == first["candidates"]
        assert ask(repo) == again


def test_of_two_results_the_one_that_was_put_down_first_counts(repo: Repo, clock: list[float]) -> None:
    repo.commit(FILES)
    repository = open_repository(str(repo.path))
    repository.snapshot("HEAD")

    def slow() -> dict[str, Any]:
        keeping.kept(repository, "key", lambda: {"who": "quick"})
        return {"who": "slow"}

    found = keeping.kept(repository, "key", slow)
    assert found == keeping.kept(repository, "key", dict)
    assert found.result == {"who": "quick"}


def test_where_nothing_can_be_kept_there_is_no_time(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(FILES)
    with monkeypatch.context() as patch:
        patch.setattr(keeping, "LARGEST", 10)
        assert ask(repo)["stamp"]["made"] is None

    def refuse(place: Path, text: bytes) -> None:
        raise OSError(28, "no space left")

    monkeypatch.setattr(keeping, "_put", refuse)
    assert ask(repo) == ask(repo)
    assert ask(repo)["stamp"]["made"] is None


def test_the_oldest_make_room(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(FILES)
    repository = open_repository(str(repo.path))
    repository.snapshot("HEAD")
    monkeypatch.setattr(keeping, "MOST", 8)
    for number in range(10):
        keeping.kept(repository, f"{number:03}", dict)
        place = repository.store.folder / keeping.FOLDER / f"{number:03}.json"
        os.utime(place, (number, number))
    names = [place.stem for place in kept_files(repo)]
    assert names[-1] == "009"
    assert "000" not in names
    assert len(names) <= 8
