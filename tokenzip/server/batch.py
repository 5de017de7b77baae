"""Batches of JSON-RPC: several messages in one, answered by one message."""

from __future__ import annotations

import threading
from collections.abc import Callable

from tokenzip.server.protocol import Json


class Batch:
    """The answers to one JSON-RPC batch, sent together once the last one is there."""

    def __init__(self, send: Callable[[object], None]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._answers: list[Json] = []
        self._missing = 1  # the reader itself, until it has read the whole batch

    def expect(self) -> None:
        """One more answer will be delivered."""
        with self._lock:
            self._missing += 1

    def add(self, answer: Json) -> None:
        """An answer that nobody was told to expect: a message of the batch was wrong."""
        with self._lock:
            self._answers.append(answer)

    def deliver(self, answer: Json | None) -> None:
        """An expected answer, or None for a request that gets none. The last one sends them all."""
        with self._lock:
            if answer is not None:
                self._answers.append(answer)
            self._missing -= 1
            is_complete = self._missing == 0
        if is_complete and self._answers:  # a batch of notifications alone has no answer
            self._send(self._answers)

    def seal(self) -> None:
        """The whole batch has been read."""
        self.deliver(None)
