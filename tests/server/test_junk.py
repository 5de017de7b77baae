"""Thousands of broken messages: each gets an answer or none, and the connection outlives them all."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from mcp_client import META, InProcess, is_answer

METHODS = (
    ("tools/call", {"name": "echo", "arguments": {"text": "x", "names": ["a"]}}),
    ("tools/call", {"name": "index", "arguments": {"items": 1}}),
    ("tools/call", {"name": "big", "arguments": {"items": 10, "max_tokens": 5}}),
    ("tools/list", {"cursor": None}),
    ("resources/read", {"uri": "tokenzip://file/a/symbols?at=x"}),
    ("resources/list", {}),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/resource", "uri": "tokenzip://file/{path}/symbols"},
            "argument": {"name": "path", "value": "a"},
        },
    ),
    ("subscriptions/listen", {"notifications": {"toolsListChanged": True}}),
    ("initialize", {"protocolVersion": "2025-03-26", "capabilities": {"roots": {}}}),
    ("logging/setLevel", {"level": "info"}),
    ("prompts/get", {"name": "x"}),
    ("ping", {}),
)
VALUES = (None, True, 0, -1, 1.5, "", "x", [], {}, [1], {"a": 1}, "é\ud800", 10**30, "\u2028")


class Junk:
    """Messages that are nearly right, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._ids = 0

    def line(self) -> bytes:
        message: Any = self._broken(self._message())
        if self._chance(0.1):
            message = [message, self._broken(self._message())]
        data = bytearray(json.dumps(message).encode())
        if self._chance(0.1):
            data[self._random.randrange(len(data))] = self._random.randrange(256)
        return bytes(data).replace(b"\n", b" ") + b"\n"

    def _message(self) -> dict[str, Any]:
        self._ids += 1
        if self._chance(0.1):
            params: dict[str, Any] = {"requestId": self._random.randrange(self._ids)}
            return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        method, params = self._random.choice(METHODS)
        meta = {"_meta": {**META, "progressToken": self._ids}} if self._chance(0.5) else {}
        return {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": {**params, **meta}}

    def _broken(self, value: Any) -> Any:
        if self._chance(0.04):
            return self._random.choice(VALUES)
        if isinstance(value, dict):
            kept = {name: self._broken(inner) for name, inner in value.items() if not self._chance(0.02)}
            return {**kept, "zz": 1} if self._chance(0.03) else kept
        if isinstance(value, list):
            return [self._broken(inner) for inner in value]
        return value

    def _chance(self, share: float) -> bool:
        return self._random.random() < share


@pytest.mark.parametrize("seed", range(3))
def test_junk_does_no_harm(seed: int) -> None:
    client = InProcess()
    junk = Junk(seed)
    for _ in range(1200):
        client.write(junk.line())
    client.begin("tools/list", number="the end", meta=META)
    seen: list[Any] = []
    while not is_answer(message := client.wait(lambda _: True), "the end"):
        assert message is not None, "the server stopped answering"
        seen += message if isinstance(message, list) else [message]
    assert client.result("tools/call", name="echo", arguments={}, _meta=META)
    errors = [message["error"] for message in seen if "error" in message]
    assert {error["code"] for error in errors} <= {-32700, -32600, -32601, -32602, -32002, -32022}
    answers = [block["text"] for message in seen for block in message.get("result", {}).get("content", ())]
    assert len(answers) > 50
    assert not [text for text in answers if '"code":"bug"' in text]
    client.close()
