"""One request on its way: what a handler sees of its client, and what a handler is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from tokenzip.server.protocol import LOG_LEVEL_KEY, LOG_LEVELS, Json, RequestId

UNKNOWN_TOTAL = 100
"""Of work without an end in sight, what counts as half of a stage."""
SIGN_OF_LIFE = 0.0001
"""What progress rises by without any to tell."""


class Withdrawn(Exception):
    """The client cancelled the request: nothing more is sent for it."""


class Client(Protocol):
    """Who asked, as far as a call needs to know: a `Connection`."""

    log_level: str | None

    def send(self, message: object, /) -> None: ...
    def success(self, call: Call, result: Json) -> Json: ...
    def finish(self, call: Call, message: Json | None) -> None: ...


class Call:
    """One request on its way: who asked, in which era, and the ways to talk back while it runs."""

    def __init__(self, connection: Client, request_id: RequestId, method: str, params: Json, *, modern: bool) -> None:
        self.id = request_id
        self.method = method
        self.params = params
        self.modern = modern
        self.started = time.monotonic()
        self.is_over = False
        """True once the request has its answer or was cancelled: nothing more is sent for it."""
        self._connection = connection
        meta = params.get("_meta")
        self._meta: Json = meta if isinstance(meta, dict) else {}
        self._answering = threading.Lock()
        self._last_progress = -1.0
        self._stage = ""
        self._stages_before = -1

    def check(self) -> None:
        """Raise Withdrawn once the client lost interest or has its answer. Long loops call this."""
        if self.is_over:
            raise Withdrawn

    def notify(self, method: str, params: Json) -> None:
        if not self.is_over:
            self._connection.send({"jsonrpc": "2.0", "method": method, "params": params})

    def progress(self, done: float, message: str = "", total: float | None = None) -> None:
        """Tell how far it is, if the client asked to be told. The specification wants rising numbers."""
        token = self._meta.get("progressToken")
        if not isinstance(token, (str, int)) or done <= self._last_progress:
            return
        self._last_progress = done
        params: Json = {"progressToken": token, "progress": done}
        if total is not None:
            params["total"] = total
        if message:
            params["message"] = message
        self.notify("notifications/progress", params)

    def progress_of_stage(self, stage: str, done: int, total: int) -> None:
        """Tell how far a stage of a job of several is: each counts from 0 again, so its share is added to those before."""
        if stage != self._stage:
            self._stage = stage
            self._stages_before += 1
        if total:
            self.progress(self._stages_before + min(done / total, 1), f"{stage} {done}/{total}")
        else:  # nobody knows of how much: ever closer to the end, never there
            self.progress(self._stages_before + done / (done + UNKNOWN_TOTAL), f"{stage} {done}")

    def show_life(self, message: str) -> None:
        """Tell that it goes on, where there is nothing new to tell: clients that hear nothing may give up."""
        self.progress(max(self._last_progress, 0) + SIGN_OF_LIFE, message)

    def log(self, level: str, text: str) -> None:
        """A log message, if the client asked for this level: by request (modern) or for the connection (legacy)."""
        wanted = self._meta.get(LOG_LEVEL_KEY) if self.modern else self._connection.log_level
        if wanted in LOG_LEVELS and LOG_LEVELS.index(level) >= LOG_LEVELS.index(wanted):
            self.notify("notifications/message", {"level": level, "logger": "tokenzip", "data": text})

    def succeed(self, result: Json) -> bool:
        """Answer with a result, from any thread. False if the call is over already."""
        return self.answer(self._connection.success(self, result))

    def answer(self, message: Json | None) -> bool:
        """Send the one answer of this request, or none for None. False if it is over already: several threads may try."""
        with self._answering:
            if self.is_over:
                return False
            self.is_over = True
        self._connection.finish(self, message)
        return True


Handler = Callable[[Call, Json], Json | None]


class Method(NamedTuple):
    """What answers a method. A handler that may take time runs on a worker, the others where messages are read."""

    handler: Handler
    legacy: bool = True
    modern: bool = True
    takes_time: bool = False
    lifetime: int | None = None
    """Modern era: milliseconds that the client may keep the result. None where the schema has no such field."""
