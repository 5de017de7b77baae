"""Indexing for a call in a process of its own.

A whole tree is brought in once, but would leave its memory with the server for good, and its work would slow all other
calls. So a call that finds it has to index is asked again in a child process, whose answer is thrown away and whose traces
in the store are what counts. The child tells how far it is, line by line, and ends when the server does.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Stage = tuple[str, int, int]
"""A stage's name, how much of it is done and how much there is."""

COMMAND = (sys.executable, "-P", "-m", __name__)
"""The child, before place, tool and arguments. -P: nothing in the folder we were started in may pass for a module of ours."""

STEP = 0.05
"""Seconds between two looks at whether a waiting call is over."""


class Elsewhere(Exception):
    """Raised into a call that begins to index, to have that done by a child."""


class Indexer:
    """One child for each repository at a time; calls that come meanwhile wait for the same one."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        self._command = command
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}

    def is_at_work(self, place: str) -> bool:
        with self._lock:
            job = self._jobs.get(place)
            return job is not None and not job.has_ended.is_set()

    def job(self, place: str, tool: str, arguments: Mapping[str, Any]) -> Job:
        """The child that indexes the repository at `place`, started for this call if there is none. Raises OSError."""
        with self._lock:
            job = self._jobs.get(place)
            if job is None or job.has_ended.is_set():
                job = self._jobs[place] = Job((*self._command, place, tool, json.dumps(dict(arguments))))
            return job


class Job:
    """A child at work."""

    def __init__(self, command: Sequence[str]) -> None:
        import subprocess

        self.stage: Stage = ("starting", 0, 1)
        self.has_ended = threading.Event()
        self._must_end = False
        self._waiting = 0
        self._lock = threading.Lock()
        self._child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # ours may be a pipe that nobody empties; the child's log has what matters
            start_new_session=True,
            text=True,
            encoding="utf-8",
        )
        threading.Thread(target=self._listen, name="indexing", daemon=True).start()

    @property
    def succeeded(self) -> bool:
        return self.has_ended.is_set() and self._child.returncode == 0

    def wait(self, on_stage: Callable[[Stage], None]) -> None:
        """Wait for the child, telling how far it is. What `on_stage` raises ends the waiting, and the child if none waits."""
        with self._lock:
            self._waiting += 1
        try:
            while not self.has_ended.wait(STEP):
                on_stage(self.stage)
        finally:
            with self._lock:
                self._waiting -= 1
                if self._waiting == 0 and not self._must_end:
                    self.stop()

    def keep(self) -> None:
        """Have the child run to its end, whoever waits for it."""
        self._must_end = True

    def stop(self) -> None:
        """End the child with all its workers: it ends with its input."""
        assert self._child.stdin is not None
        with contextlib.suppress(OSError):
            self._child.stdin.close()

    def _listen(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            stage, _, counts = line.rstrip("\n").rpartition("\t")
            done, _, total = counts.partition("/")
            if done.isdecimal() and total.isdecimal():
                self.stage = (stage, int(done), int(total))
        self._child.wait()
        self._child.stdout.close()
        self.has_ended.set()


def main(place: str, tool: str, arguments: str) -> None:
    """The child: ask the operation, for what that leaves in the store."""
    report = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    threading.Thread(target=_end_with_input, daemon=True).start()

    def on_progress(stage: str, done: int, total: int) -> None:
        report.write(f"{stage}\t{done}/{total}\n")

    import tokenzip
    from tokenzip.operations import OPERATIONS
    from tokenzip.server.journal import keep_library_logs

    keep_library_logs()
    repository = tokenzip.repo(place)
    repository.progress = on_progress
    if tool in OPERATIONS:
        OPERATIONS[tool].run(repository, json.loads(arguments))
    else:
        repository.snapshot()


def _end_with_input() -> None:
    """The server is gone, or wants no more: end, and the workers with us (we lead a process group)."""
    while os.read(0, 1024):
        pass
    if hasattr(os, "killpg"):
        import signal

        os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
