"""MCP over any wire: JSON-RPC messages in, results and errors out, in both eras of the protocol.

Two eras live side by side, told apart request by request:

- *modern* (2026-07-28): every request carries its protocol version and the client's capabilities in ``params._meta``;
  there is no handshake. Removed methods are unknown ones, every result says ``resultType`` and who answered.
- *legacy* (2024-11-05 to 2025-11-25): ``initialize`` comes first and its version holds for the connection.

Rules from the specification repository (final 2026-07-28 and 2025-11-25) and from what real clients were seen to do.
This module knows nothing of tools or repositories: `Method` handlers bring those.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from tokenzip.server.wire import decode

Json = dict[str, Any]
RequestId = str | int

MODERN_VERSIONS = ("2026-07-28",)
LEGACY_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
BATCH_VERSION = "2025-03-26"
"""The one revision that had JSON-RPC batches."""

KEY = "io.modelcontextprotocol/"
VERSION_KEY = KEY + "protocolVersion"
CAPABILITIES_KEY = KEY + "clientCapabilities"
LOG_LEVEL_KEY = KEY + "logLevel"
SERVER_KEY = KEY + "serverInfo"
SUBSCRIPTION_KEY = KEY + "subscriptionId"

LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
"""Legacy only: the modern era forbids it and says INVALID_PARAMS."""
UNSUPPORTED_VERSION = -32022

WORKERS = 4
"""Calls that run at the same time; more wait in line."""

LAST_WORDS = 1.0
"""Seconds that accepted calls get to finish after the client closed its end."""

UNKNOWN_TOTAL = 100
"""Of work without an end in sight, what counts as half of a stage."""

SIGN_OF_LIFE = 0.0001
"""What progress rises by without any to tell."""

ROOTS_REQUEST = "tokenzip-roots"

LIFETIME = 300_000
"""Milliseconds that a client may keep a list: lists change only with the program."""


class Fault(Exception):
    """A protocol error: the request as such was wrong."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Withdrawn(Exception):
    """The client cancelled the request: nothing more is sent for it."""


class Call:
    """One request on its way: who asked, in which era, and the ways to talk back while it runs."""

    def __init__(self, connection: Connection, request_id: RequestId, method: str, params: Json, *, modern: bool) -> None:
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


class Sender(Protocol):
    """Where messages to the client go: a wire, or another transport. Any thread may send."""

    def send(self, message: object, /) -> None: ...


class Method(NamedTuple):
    """What answers a method. A handler that may take time runs on a worker, the others where messages are read."""

    handler: Handler
    legacy: bool = True
    modern: bool = True
    takes_time: bool = False
    lifetime: int | None = None
    """Modern era: milliseconds that the client may keep the result. None where the schema has no such field."""


class Identity(NamedTuple):
    """What the server says about itself."""

    info: Json
    capabilities: Json
    instructions: str


class Connection:
    """One client: its version, its running calls, its subscriptions."""

    def __init__(self, sender: Sender, identity: Identity, methods: Mapping[str, Method]) -> None:
        self.log_level: str | None = None
        self.roots: tuple[str, ...] = ()
        """File URIs that a legacy client declared as its workspace."""
        self.send = sender.send
        self._identity = identity
        self._methods = {**self._own_methods(), **methods}
        self._version: str | None = None
        self._client_has_roots = False
        self._live: dict[RequestId, Call] = {}
        self._unsent: set[Call] = set()
        """Calls whose answer is not on the wire yet: a little longer than they are live."""
        self._batches: dict[RequestId, _Batch] = {}
        self._subscriptions: dict[RequestId, Call] = {}
        self._workers = Workers(WORKERS, self._run)

    def close(self, patience: float = LAST_WORDS) -> None:
        """The client has said all it will: let what was accepted finish, for a moment."""
        end = time.monotonic() + patience
        while self._unsent and time.monotonic() < end:
            time.sleep(0.005)
        for call in list(self._subscriptions.values()):
            self.send(self.success(call, {"_meta": {SUBSCRIPTION_KEY: call.id}}))
        self._subscriptions.clear()

    # -- messages in ---------------------------------------------------------------------------------------------

    def receive(self, line: bytes) -> None:
        """Take one line off the wire. Never raises: whatever it holds, the connection lives on."""
        try:
            message = decode(line)
        except ValueError:
            self.send(failure(None, PARSE_ERROR, "Parse error: a message is one line of JSON"))
            return
        if isinstance(message, list) and message and self._version == BATCH_VERSION:
            self._receive_batch(message)
        else:
            self._receive_one(message, None)

    def _receive_batch(self, messages: list[Any]) -> None:
        batch = _Batch(self.send)
        for message in messages:
            self._receive_one(message, batch)
        batch.seal()

    def _receive_one(self, message: object, batch: _Batch | None) -> None:
        reply = self.send if batch is None else batch.add
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            reply(failure(None, INVALID_REQUEST, "A message is one JSON-RPC 2.0 object"))
        elif "method" not in message:
            self._receive_response(message, reply)
        elif "id" not in message:
            self._receive_notification(message["method"], message.get("params"))
        else:
            self._receive_request(message, batch, reply)

    def _receive_response(self, message: Json, reply: Callable[[Json], None]) -> None:
        if "result" not in message and "error" not in message:
            reply(failure(valid_id(message.get("id")), INVALID_REQUEST, "A request needs a method"))
        elif message.get("id") == ROOTS_REQUEST and isinstance(message.get("result"), dict):
            roots = message["result"].get("roots")
            entries = roots if isinstance(roots, list) else []
            uris = (entry.get("uri") for entry in entries if isinstance(entry, dict))
            self.roots = tuple(uri for uri in uris if isinstance(uri, str))

    def _receive_notification(self, method: object, params: object) -> None:
        if method == "notifications/cancelled" and isinstance(params, dict):
            self._withdraw(valid_id(params.get("requestId")))
        elif method in ("notifications/initialized", "notifications/roots/list_changed") and self._client_has_roots:
            self.send({"jsonrpc": "2.0", "id": ROOTS_REQUEST, "method": "roots/list"})

    def _withdraw(self, request_id: RequestId | None) -> None:
        if request_id is None:
            return
        self._subscriptions.pop(request_id, None)
        call = self._live.get(request_id)
        if call is not None:
            call.answer(None)

    def _receive_request(self, message: Json, batch: _Batch | None, reply: Callable[[Json], None]) -> None:
        request_id = valid_id(message["id"])
        try:
            if request_id is None or not isinstance(message["method"], str):
                raise Fault(INVALID_REQUEST, "id must be a string or an integer, method a string")
            if request_id in self._live or request_id in self._subscriptions:
                raise Fault(INVALID_REQUEST, "A request with this id is still running")
            call, method = self._accept(request_id, message["method"], message.get("params", {}))
        except Fault as fault:
            reply(failure(request_id, fault.code, fault.message, fault.data))
            return
        if batch is not None:
            batch.expect()
            self._batches[request_id] = batch
        self._live[request_id] = call
        self._unsent.add(call)
        if method.takes_time:
            self._workers.submit(call)
        else:
            self._run(call)

    def _accept(self, request_id: RequestId, name: str, params: object) -> tuple[Call, Method]:
        """The call, once its era is known and its method exists there. Raises Fault."""
        if not isinstance(params, dict):
            raise Fault(INVALID_PARAMS, "params must be an object")
        meta = params.get("_meta")
        meta = meta if isinstance(meta, dict) else {}
        modern = name != "initialize" and VERSION_KEY in meta
        if modern:
            _check_modern(meta)
        elif self._version is None and name not in ("initialize", "ping"):
            # Answered at once: clients probe for the era with a request of their own and fall back on an error.
            raise Fault(INVALID_PARAMS, f"Send initialize first, or _meta['{VERSION_KEY}'] with every request")
        method = self._methods.get(name)
        if method is None or not (method.modern if modern else method.legacy):
            raise Fault(METHOD_NOT_FOUND, f"Method not found: {name}")
        return Call(self, request_id, name, params, modern=modern), method

    # -- answers out ---------------------------------------------------------------------------------------------

    def _run(self, call: Call) -> None:
        """Answer the call, whatever happens in its handler."""
        try:
            call.check()
            result = self._methods[call.method].handler(call, call.params)
            if result is None:  # stays open
                del self._live[call.id]
                self._unsent.discard(call)
                return
            message = self.success(call, result)
        except Withdrawn:
            call.answer(None)
            return
        except Fault as fault:
            message = failure(call.id, fault.code, fault.message, fault.data)
        except Exception as error:
            message = failure(call.id, INTERNAL_ERROR, f"Internal error: {type(error).__name__}: {error}")
        call.answer(message)

    def finish(self, call: Call, message: Json | None) -> None:
        """Called once for each call: send its answer, if it gets one, and forget it."""
        self._live.pop(call.id, None)
        self._workers.release(call)
        batch = self._batches.pop(call.id, None)
        if batch is not None:
            batch.deliver(message)
        elif message is not None:
            self.send(message)
        self._unsent.discard(call)

    def success(self, call: Call, result: Json) -> Json:
        """The message that answers the call with this result, in the call's era."""
        if call.modern:
            lifetime = self._methods[call.method].lifetime
            cache = {} if lifetime is None else {"ttlMs": lifetime, "cacheScope": "private"}
            meta = {SERVER_KEY: self._identity.info, **result.get("_meta", {})}
            result = {"resultType": "complete", **result, **cache, "_meta": meta}
        return {"jsonrpc": "2.0", "id": call.id, "result": result}

    # -- the protocol's own methods ------------------------------------------------------------------------------

    def _own_methods(self) -> dict[str, Method]:
        return {
            "initialize": Method(self._initialize, modern=False),
            "ping": Method(lambda call, params: {}, modern=False),
            "logging/setLevel": Method(self._set_level, modern=False),
            "server/discover": Method(self._discover, legacy=False, lifetime=LIFETIME),
            "subscriptions/listen": Method(self._listen, legacy=False),
        }

    def _initialize(self, call: Call, params: Json) -> Json:
        asked = params.get("protocolVersion")
        if not isinstance(asked, str):
            raise Fault(INVALID_PARAMS, "protocolVersion is required")
        capabilities = params.get("capabilities")
        self._version = asked if asked in LEGACY_VERSIONS else LEGACY_VERSIONS[-1]
        self._client_has_roots = isinstance(capabilities, dict) and isinstance(capabilities.get("roots"), dict)
        return {
            "protocolVersion": self._version,
            "capabilities": self._identity.capabilities,
            "serverInfo": self._identity.info,
            "instructions": self._identity.instructions,
        }

    def _discover(self, call: Call, params: Json) -> Json:
        return {
            "supportedVersions": list(MODERN_VERSIONS),
            "capabilities": self._identity.capabilities,
            "instructions": self._identity.instructions,
        }

    def _set_level(self, call: Call, params: Json) -> Json:
        if params.get("level") not in LOG_LEVELS:
            raise Fault(INVALID_PARAMS, f"level must be one of {', '.join(LOG_LEVELS)}")
        self.log_level = params["level"]
        return {}

    def _listen(self, call: Call, params: Json) -> None:
        """Acknowledge a subscription. Nothing that one can subscribe to ever changes here, so nothing is promised."""
        if not isinstance(params.get("notifications"), dict):
            raise Fault(INVALID_PARAMS, "notifications is required: what to listen to")
        self._subscriptions[call.id] = call
        acknowledgement = {"_meta": {SUBSCRIPTION_KEY: call.id}, "notifications": {}}
        call.notify("notifications/subscriptions/acknowledged", acknowledgement)


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


class _Batch:
    """The answers to one JSON-RPC batch, sent together once the last one is there."""

    def __init__(self, send: Callable[[object], None]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._answers: list[Json] = []
        self._missing = 1  # the reader itself, until it has read the whole batch

    def expect(self) -> None:
        with self._lock:
            self._missing += 1

    def add(self, answer: Json) -> None:
        with self._lock:
            self._answers.append(answer)

    def deliver(self, answer: Json | None) -> None:
        with self._lock:
            if answer is not None:
                self._answers.append(answer)
            self._missing -= 1
            is_complete = self._missing == 0
        if is_complete and self._answers:  # a batch of notifications alone has no answer
            self._send(self._answers)

    def seal(self) -> None:
        self.deliver(None)


def failure(request_id: RequestId | None, code: int, message: str, data: object = None) -> Json:
    """An error message. MCP's schema has no null id: where the id is unknown, there is none."""
    error: Json = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", **({} if request_id is None else {"id": request_id}), "error": error}


def valid_id(value: object) -> RequestId | None:
    """The id, or None if it is of no kind that the protocol allows: JSON's true is no number here."""
    return value if isinstance(value, (str, int)) and not isinstance(value, bool) else None


def _check_modern(meta: Mapping[str, Any]) -> None:
    version = meta[VERSION_KEY]
    if not isinstance(version, str):
        raise Fault(INVALID_PARAMS, f"_meta['{VERSION_KEY}'] must be a string")
    if version not in MODERN_VERSIONS:
        data = {"supported": list(MODERN_VERSIONS), "requested": version}
        raise Fault(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    if not isinstance(meta.get(CAPABILITIES_KEY), dict):
        raise Fault(INVALID_PARAMS, f"_meta must carry '{CAPABILITIES_KEY}'")


def page(params: Mapping[str, Any], key: str, items: Iterable[Json]) -> Json:
    """A list in one page: one client reads only the first. So there is no valid cursor."""
    if params.get("cursor") is not None:
        raise Fault(INVALID_PARAMS, "Unknown cursor: the list has one page")
    return {key: list(items)}
