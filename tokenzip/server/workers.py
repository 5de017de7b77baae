"""The threads that calls run on."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from tokenzip.server.call import Call

PLACES = 4
"""Calls that run at the same time; more wait in line."""


class Workers:
    """Runs calls on threads, a few at a time; the others wait in line. A thread ends when nobody waits.

    A call can be over (cancelled, or answered by an alarm) while its thread still computes. It gives up its place then,
    so that a few of them cannot block the line.
    """

    def __init__(self, places: int, run: Callable[[Call], None]) -> None:
        self._free_places = places
        self._run = run
        self._lock = threading.Lock()
        self._line: deque[Call] = deque()
        self._placed: set[Call] = set()

    def submit(self, call: Call) -> None:
        with self._lock:
            self._line.append(call)
            self._fill_places()

    def release(self, call: Call) -> None:
        """Take the place of a call that is over. A call may have none, or have lost it already."""
        with self._lock:
            if call in self._placed:
                self._placed.remove(call)
                self._free_places += 1
                self._fill_places()

    def _fill_places(self) -> None:
        while self._free_places > 0 and self._line:
            call = self._line.popleft()
            self._free_places -= 1
            self._placed.add(call)
            threading.Thread(target=self._work, args=(call,), name=call.method, daemon=True).start()

    def _work(self, call: Call) -> None:
        try:
            self._run(call)
        finally:  # a call that was over before it began gives its place back here
            self.release(call)
