"""Worker processes that share nothing with the caller: each is a fresh interpreter that runs named functions.

`multiprocessing` would run the caller's main module again in each worker, which fails for a script on standard input and
recurses for one without a ``__main__`` guard: users of the Python API must not have to know that we use processes. Fork
is out of the question beside LMDB and threads. So a worker is ``python -m tokenzip.workers``, tasks and results travel as
pickles over its pipes, and the end of a pipe tells that a worker died.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, TypeVar

from tokenzip.errors import TokenzipError

T = TypeVar("T")
Task = list[Any]
_LENGTH = struct.Struct(">Q")


class WorkerDied(Exception):
    """A worker ended in the middle of a task."""


class WorkersUnusable(TokenzipError):
    """Workers do not even start: a fault of the installation, not of any task."""


class _Worker:
    """One process. `start` is called in it first, with its arguments."""

    def __init__(self, start: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._process = subprocess.Popen(
            # -P: started inside a repository, whose json.py or tokenzip/ must not pass for a module of ours
            (sys.executable, "-P", "-m", "tokenzip.workers"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        try:
            self.run(start, *arguments)
        except WorkerDied as error:
            raise WorkersUnusable(
                f"{sys.executable} cannot start a worker: it ended with {self._process.wait()}",
                hint="run `tokenzip doctor`, and see whether the memory suffices",
            ) from error

    def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """The function's result; raises what it raised, or WorkerDied."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            _send(self._process.stdin, (function, arguments))
            succeeded, value = _receive(self._process.stdout)
        except (OSError, EOFError) as error:
            raise WorkerDied from error
        if not succeeded:
            raise value
        result: T = value
        return result

    def stop(self) -> None:
        """End the process now; what it was doing is lost."""
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        self._process.kill()
        self._process.wait()


class Pool:
    """Some workers that take tasks in order. A context manager: leaving it ends the processes."""

    def __init__(self, processes: int, start: Callable[..., None], *arguments: Any) -> None:
        self._processes = processes
        self._start = start
        self._arguments = arguments
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._workers: list[_Worker] = []

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.stop()

    def map(self, work: Callable[[Task], T], tasks: Sequence[Task], on_crash: Callable[[Task], T]) -> Iterator[T]:
        """Results in the order of the tasks, not more than a few ahead of whoever takes them.

        The items of a task that killed its worker are tried again alone, each in a worker of its own; `on_crash` answers
        for the one that kills that too. What `work` raises is raised here.
        """
        outcomes: list[queue.SimpleQueue[tuple[bool, Any]]] = [queue.SimpleQueue() for _ in tasks]
        ahead = threading.Semaphore(4 * self._processes)
        stopped = threading.Event()
        pending = iter(range(len(tasks)))
        taking = threading.Lock()

        def serve() -> None:
            worker: _Worker | None = None
            while not stopped.is_set():
                ahead.acquire()
                with taking:
                    number = next(pending, None)
                if number is None or stopped.is_set():
                    break
                try:
                    worker = worker or self._make_worker()
                    outcomes[number].put((True, [worker.run(work, tasks[number])]))
                except WorkerDied:
                    worker = None
                    if stopped.is_set():
                        break
                    outcomes[number].put(self._alone(work, tasks[number], on_crash))
                except BaseException as error:
                    outcomes[number].put((False, error))
            if worker is not None:
                self._idle.put(worker)

        threads = [threading.Thread(target=serve, daemon=True) for _ in range(min(self._processes, len(tasks)))]
        for thread in threads:
            thread.start()
        try:
            for outcome in outcomes:
                succeeded, value = outcome.get()
                ahead.release()
                if not succeeded:
                    raise value
                yield from value
        finally:
            stopped.set()
            for _ in threads:
                ahead.release()
            if sys.exc_info()[0] is None:
                for thread in threads:
                    thread.join()

    def _make_worker(self) -> _Worker:
        with contextlib.suppress(queue.Empty):
            return self._idle.get_nowait()
        worker = _Worker(self._start, self._arguments)
        self._workers.append(worker)
        return worker

    def _alone(self, work: Callable[[Task], T], task: Task, on_crash: Callable[[Task], T]) -> tuple[bool, Any]:
        try:
            return True, [self._one(work, [item], on_crash) for item in task]
        except BaseException as error:
            return False, error

    def _one(self, work: Callable[[Task], T], task: Task, on_crash: Callable[[Task], T]) -> T:
        worker = _Worker(self._start, self._arguments)
        try:
            return worker.run(work, task)
        except WorkerDied:
            return on_crash(task)
        finally:
            worker.stop()


def _send(stream: IO[bytes], value: object) -> None:
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def _receive(stream: IO[bytes]) -> Any:
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (size,) = _LENGTH.unpack(head)
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)  # our own child on our own pipe


def main() -> None:
    """The worker's side: answer tasks until the pipe ends. Whatever is printed goes to standard error.

    Tasks make many small objects, next to no cycles, and keep much for the next one. So cycles are looked for between tasks
    and among what is new only: looking while they run costs linking a quarter of its time.
    """
    gc.freeze()
    gc.disable()
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            function, arguments = _receive(requests)
            try:
                answer = (True, function(*arguments))
            except Exception as error:
                answer = (False, error)
            _send(answers, answer)
            del answer, arguments
            gc.collect(0)


if __name__ == "__main__":
    main()
