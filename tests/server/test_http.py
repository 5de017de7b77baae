"""The same answers over HTTP, through the official SDK, for clients of this machine only."""

from __future__ import annotations

import asyncio
import http.client
import json
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import toy_server

from tokenzip.errors import UsageError
from tokenzip.server import Server, serve_http

pytest.importorskip("mcp.server.lowlevel", reason="the HTTP transport needs the official MCP SDK, version 2")

import uvicorn
from mcp import Client, MCPError

from tokenzip.server.http import application


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = Server(lambda: toy_server.OPERATIONS, open_repository=toy_server.open_repository)
    running = uvicorn.Server(uvicorn.Config(application(server), host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 10
    while not running.started and time.monotonic() < deadline:
        time.sleep(0.01)
    yield running.servers[0].sockets[0].getsockname()[1]
    running.should_exit = True
    thread.join(5)


def post(port: int, **headers: str) -> int:
    """The status of a bare request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    accepted = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    connection.request("POST", "/mcp", json.dumps(body), {**accepted, **headers})
    status = connection.getresponse().status
    connection.close()
    return status


def test_only_pages_of_this_machine_may_ask(port: int) -> None:
    assert post(port) == 200
    assert post(port, Origin=f"http://localhost:{port}") == 200
    assert post(port, Origin="https://example.com") == 403
    assert post(port, Host="example.com") in (403, 421)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_gets_the_same_answers(port: int, mode: str) -> None:
    asyncio.run(asyncio.wait_for(converse(port, mode), 20))


async def converse(port: int, mode: Any) -> None:
    progress: list[float] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        progress.append(done)

    async with Client(f"http://127.0.0.1:{port}/mcp", mode=mode) as client:
        tools = await client.list_tools()
        assert [tool.name for tool in tools.tools] == sorted(toy_server.OPERATIONS)
        assert tools.tools[0].annotations is not None
        assert tools.tools[0].annotations.read_only_hint
        answer = await client.call_tool("echo", {"text": "é"})
        assert not answer.is_error
        assert json.loads(answer.content[0].text)["echo"] == {"text": "é"}  # type: ignore[union-attr]
        assert (await client.call_tool("unknown", {})).is_error
        await client.call_tool("index", {"items": 50}, progress_callback=on_progress)
        assert len(progress) >= 3
        contents = (await client.read_resource("tokenzip://repo/structure?at=HEAD")).contents
        assert json.loads(contents[0].text)["echo"] == {"at": "HEAD"}  # type: ignore[union-attr]
        assert len((await client.list_resource_templates()).resource_templates) == 3
        with pytest.raises(MCPError):
            await client.read_resource("tokenzip://none")


def test_a_missing_sdk_is_a_mistake_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenzip.server.http", None)
    monkeypatch.delattr("tokenzip.server.http", raising=False)
    with pytest.raises(UsageError, match="SDK") as caught:
        serve_http()
    assert "pip install" in caught.value.hint
