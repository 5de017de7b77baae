"""The words of MCP: versions, codes, names of fields, and the messages and faults made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

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

LIFETIME = 300_000
"""Milliseconds that a client may keep a list: lists change only with the program."""


class Fault(Exception):
    """A protocol error: the request as such was wrong."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


def failure(request_id: RequestId | None, code: int, message: str, data: object = None) -> Json:
    """An error message. MCP's schema has no null id: where the id is unknown, there is none."""
    error: Json = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", **({} if request_id is None else {"id": request_id}), "error": error}


def valid_id(value: object) -> RequestId | None:
    """The id, or None if it is of no kind that the protocol allows: JSON's true is no number here."""
    return value if isinstance(value, (str, int)) and not isinstance(value, bool) else None


def check_modern(meta: Mapping[str, Any]) -> None:
    """Raises Fault unless `_meta` says what every request of the modern era must say."""
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
