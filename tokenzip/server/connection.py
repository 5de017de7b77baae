"""MCP over any wire: JSON-RPC messages in, results and errors out, in both eras of the protocol.

Two eras live side by side, told apart request by request:

- *modern* (2026-07-28): every request carries its protocol version and the client's capabilities in ``params._meta``;
  there is no handshake. Removed methods are unknown ones, every result says ``resultType`` and who answered.
- *legacy* (2024-11-05 to 2025-11-25): ``initialize`` comes first and its version holds for the connection.

Rules from the specification repository (final 2026-07-28 and 2025-11-25) and from what real clients were seen to do.
This module knows nothing of tools or repositories: `Method` handlers bring those.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from tokenzip.server.batch import Batch
from tokenzip.server.call import Call, Method, Withdrawn
from tokenzip.server.protocol import (
    BATCH_VERSION,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LEGACY_VERSIONS,
    LIFETIME,
    LOG_LEVELS,
    METHOD_NOT_FOUND,
    MODERN_VERSIONS,
    PARSE_ERROR,
    SERVER_KEY,
    SUBSCRIPTION_KEY,
    VERSION_KEY,
    Fault,
    Json,
    RequestId,
    check_modern,
    failure,
    valid_id,
)
from tokenzip.server.wire import decode
from tokenzip.server.workers import PLACES, Workers

LAST_WORDS = 1.0
"""Seconds that accepted calls get to finish after the client closed its end."""
ROOTS_REQUEST = "tokenzip-roots"


class Sender(Protocol):
    """Where messages to the client go: a wire, or another transport. Any thread may send."""

    def send(self, message: object, /) -> None: ...


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
        self._batches: dict[RequestId, Batch] = {}
        self._subscriptions: dict[RequestId, Call] = {}
        self._workers = Workers(PLACES, self._run)

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
        batch = Batch(self.send)
        for message in messages:
            self._receive_one(message, batch)
        batch.seal()

    def _receive_one(self, message: object, batch: Batch | None) -> None:
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

    def _receive_request(self, message: Json, batch: Batch | None, reply: Callable[[Json], None]) -> None:
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
            check_modern(meta)
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
