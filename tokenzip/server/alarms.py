"""Things to do later unless they are called off: what answers a client whose call takes too long."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from itertools import count

from tokenzip.server.journal import record_failure

Action = Callable[[], None]


class Alarms:
    """One thread that waits for whichever alarm is next. It starts with the first alarm."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, Action]] = []
        self._numbers = count()
        self._is_running = False

    def set(self, when: float, action: Action) -> int:
        """Have `action` done at `when` (of `time.monotonic`), on the alarm thread. Returns a number to call it off with."""
        with self._changed:
            number = next(self._numbers)
            heapq.heappush(self._due, (when, number, action))
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._run, name="alarms", daemon=True).start()
            if self._due[0][1] == number:
                self._changed.notify()
            return number

    def set_in(self, seconds: float, action: Action) -> int:
        return self.set(time.monotonic() + seconds, action)

    def call_off(self, number: int) -> None:
        """Forget an alarm. It may go off at this very moment, so actions have to bear being late."""
        with self._changed:
            self._due = [entry for entry in self._due if entry[1] != number]
            heapq.heapify(self._due)

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._due:
                    self._changed.wait()
                when, _, action = self._due[0]
                rest = when - time.monotonic()
                if rest > 0:
                    self._changed.wait(rest)
                    continue
                heapq.heappop(self._due)
            try:
                action()
            except Exception as error:  # the alarms of other calls have to go off all the same
                record_failure("an alarm", error)
