"""Indexing in a child: what the call sees of it, and when it ends."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp_client import LONG, InProcess
from toy_server import AT, Operation

from tokenzip.server.indexing import Indexer, Job, Stage

CHILD = """
import os, sys, threading, time
place, tool, arguments = sys.argv[1:]
def end():
    while os.read(0, 100): pass
    os._exit(9)
threading.Thread(target=end, daemon=True).start()
open(os.path.join(place, "started"), "a").write("x")
print("junk")
for done in range(4):
    print(f"reading\\t{done}/4", flush=True)
    while not os.path.exists(os.path.join(place, f"may {done}")): time.sleep(0.005)
open(os.path.join(place, "indexed"), "w").close()
sys.exit(os.path.exists(os.path.join(place, "fail")))
"""


class Place:
    """A repository to be indexed by the stub above, one step whenever the test allows it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "child.py").write_text(CHILD)
        self.indexer = Indexer((sys.executable, str(folder / "child.py")))

    def allow(self, *steps: int) -> None:
        for step in steps:
            (self.folder / f"may {step}").touch()

    def job(self) -> Job:
        return self.indexer.job(str(self.folder), "tool", {})

    @property
    def started(self) -> int:
        return len((self.folder / "started").read_text())

    @property
    def is_indexed(self) -> bool:
        return (self.folder / "indexed").exists()

    def open(self, place: str) -> Any:
        return SimpleNamespace(root=str(self.folder), progress=None)

    def operation(self, repository: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        if not self.is_indexed:
            repository.progress("reading", 0, 400)
        return {"indexed": self.is_indexed}

    def client(self, **options: Any) -> InProcess:
        operations = {"ask": Operation("ask", "Ask", (AT,), self.operation)}
        return InProcess(modern=True, operations=operations, open_repository=self.open, indexer=self.indexer, **options)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.allow(0, 1, 2, 3)


def until(condition: Any) -> bool:
    deadline = time.monotonic() + LONG
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    return bool(condition())


def test_a_child_tells_how_far_it_is(place: Place) -> None:
    job = place.job()
    seen: list[Stage] = []

    def on_stage(stage: Stage) -> None:
        if stage not in seen:
            seen.append(stage)
        if stage[0] == "reading":
            place.allow(stage[1])

    job.wait(on_stage)
    assert job.succeeded
    assert seen[-4:-1] == [("reading", 0, 4), ("reading", 1, 4), ("reading", 2, 4)]


def test_calls_share_a_child_and_a_later_one_gets_its_own(place: Place) -> None:
    job = place.job()
    assert place.job() is job
    place.allow(0, 1, 2, 3)
    job.wait(lambda stage: None)
    assert place.job() is not job


class Leaving(Exception):
    pass


def leave(stage: Stage) -> None:
    if stage[0] != "starting":
        raise Leaving


def test_a_child_ends_when_nobody_waits_for_it(place: Place) -> None:
    job = place.job()
    with pytest.raises(Leaving):
        job.wait(leave)
    assert job.has_ended.wait(LONG)
    assert not job.succeeded


def test_a_child_goes_on_for_those_who_still_wait(place: Place) -> None:
    job = place.job()
    staying = threading.Thread(target=job.wait, args=(lambda stage: None,))
    staying.start()
    assert until(lambda: job.stage[0] == "reading")
    with pytest.raises(Leaving):
        job.wait(leave)
    place.allow(0, 1, 2, 3)
    staying.join(LONG)
    assert job.succeeded


def test_a_call_waits_for_a_short_index(place: Place) -> None:
    client = place.client()
    place.allow(0, 1, 2, 3)
    assert client.call("ask") == {"indexed": True}
    assert client.call("ask") == {"indexed": True}
    assert place.started == 1
    client.close()


def test_a_call_is_answered_before_a_long_index_is_done_and_it_goes_on(place: Place) -> None:
    client = place.client(patience=0.3)
    answers = [client.call("ask"), client.call("ask")]
    assert {answer["indexing"]["total"] for answer in answers} <= {1, 4}
    assert place.started == 1
    place.allow(0, 1, 2, 3)
    assert until(lambda: place.is_indexed)
    assert client.call("ask") == {"indexed": True}
    client.close()


def test_a_cancelled_call_ends_its_child(place: Place) -> None:
    client = place.client()
    client.begin("tools/call", {"name": "ask"}, "c", {"progressToken": 1})
    while "reading" not in client.wait_notification("notifications/progress")["params"]["message"]:
        pass
    job = place.job()
    client.notify("notifications/cancelled", requestId="c")
    assert job.has_ended.wait(LONG)
    assert not place.is_indexed
    client.close()


def test_where_a_child_fails_the_call_indexes_by_itself(place: Place) -> None:
    (place.folder / "fail").touch()
    client = place.client()
    place.allow(0, 1, 2, 3)
    assert client.call("ask") == {"indexed": True}
    assert place.started == 1
    client.close()


def test_where_there_is_no_child_the_call_indexes_by_itself(place: Place) -> None:
    place.indexer = Indexer((str(place.folder / "no such program"),))
    client = place.client()
    assert client.call("ask") == {"indexed": False}
    client.close()
