"""The server over HTTP: the official SDK carries the messages, our own connection answers them.

Sessions, streams and the checks of ``Host`` and ``Origin`` (against web pages that reach for servers on this machine) are the
SDK's. Each request becomes one message to a `Connection` of its own, so both doors give the same answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

import uvicorn
from mcp import MCPError, types
from mcp.server.lowlevel import Server as SdkServer
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import BaseModel

from tokenzip.server.protocol import CAPABILITIES_KEY, INTERNAL_ERROR, MODERN_VERSIONS, VERSION_KEY, Json
from tokenzip.server.service import INFO, INSTRUCTIONS, Server

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
META: Json = {VERSION_KEY: MODERN_VERSIONS[0], CAPABILITIES_KEY: {}}
"""What makes a message complete in itself: no handshake precedes it here."""

Result = TypeVar("Result", bound=BaseModel)


def serve(server: Server, host: str, port: int) -> NoReturn:
    """Serve until the process is ended."""
    shown = f"[{host}]" if ":" in host else host
    print(f"tokenzip: MCP server at http://{shown}:{port}{PATH}, Ctrl-C ends it", file=sys.stderr)
    uvicorn.run(application(server, host), host=host, port=port, log_level="warning")
    raise SystemExit(0)


def application(server: Server, host: str = "127.0.0.1") -> Any:
    """The ASGI application that answers at ``/mcp``, on this host only for names that it is known by."""
    names = (*LOOPBACK, *(() if host in LOOPBACK or host in ("0.0.0.0", "::") else (host,)))
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{name}:*" for name in names],
        allowed_origins=[f"http://{name}:*" for name in names],
    )
    return _sdk_server(server).streamable_http_app(streamable_http_path=PATH, transport_security=security, host=host)


def _sdk_server(server: Server) -> SdkServer[Any]:
    def answer(method: str, result: type[Result]) -> Callable[[Any, BaseModel | None], Any]:
        async def handle(context: Any, params: BaseModel | None) -> Result:
            sent = {} if params is None else params.model_dump(mode="json", by_alias=True, exclude_none=True)
            return result.model_validate(await Exchange(server, context).ask(method, sent))

        return handle

    return SdkServer(
        INFO["name"],
        version=INFO["version"],
        title=INFO["title"],
        instructions=INSTRUCTIONS,
        on_list_tools=answer("tools/list", types.ListToolsResult),
        on_call_tool=answer("tools/call", types.CallToolResult),
        on_list_resources=answer("resources/list", types.ListResourcesResult),
        on_list_resource_templates=answer("resources/templates/list", types.ListResourceTemplatesResult),
        on_read_resource=answer("resources/read", types.ReadResourceResult),
        on_list_prompts=answer("prompts/list", types.ListPromptsResult),
        on_completion=answer("completion/complete", types.CompleteResult),
    )


class Exchange:
    """One request: a connection whose wire leads back into the SDK."""

    NUMBER = 1

    def __init__(self, server: Server, context: Any) -> None:
        self._loop = asyncio.get_running_loop()
        self._messages: asyncio.Queue[Json] = asyncio.Queue()
        self._context = context
        self._connection = server.connect(self)

    def send(self, message: Any, /) -> None:
        """Called by the connection, on whatever thread has something to say."""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._messages.put_nowait, message)

    async def ask(self, method: str, params: Json) -> Json:
        """The result of the request. Raises MCPError for the error that it gets."""
        given = params.get("_meta")
        meta = {**META, "progressToken": self.NUMBER} if isinstance(given, Mapping) and "progressToken" in given else META
        self._tell({"id": self.NUMBER, "method": method, "params": {**params, "_meta": meta}})
        try:
            while "method" in (message := await self._messages.get()):
                await self._pass_on(message)
        except asyncio.CancelledError:
            self._tell({"method": "notifications/cancelled", "params": {"requestId": self.NUMBER}})
            raise
        return _result_of(message)

    def _tell(self, message: Json) -> None:
        self._connection.receive(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def _pass_on(self, message: Json) -> None:
        if message["method"] == "notifications/progress":
            params = message["params"]
            await self._context.session.report_progress(params["progress"], params.get("total"), params.get("message"))


def _result_of(message: Json) -> Json:
    if "error" in message:
        error = message["error"]
        raise MCPError(error.get("code", INTERNAL_ERROR), error["message"], error.get("data"))
    own = ("resultType", "_meta")
    return {name: value for name, value in message["result"].items() if name not in own}
