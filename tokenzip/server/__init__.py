"""The MCP door: tools and resources of the operations, for coding agents, over standard input and output or HTTP.

The stdio side is our own, on the standard library alone, so that it starts in the time of a Python process
(``docs/decisions`` has the figures); `http` goes through the official SDK. Nothing here loads git, the store or a parser:
those come with the first call that needs a repository.

`wire` carries lines, `protocol` knows both eras of MCP, `tools` and `resources` turn operations into answers, `question`
keeps a slow one from keeping its client waiting, `workspace` finds the repository, `service` joins them, `stdio` runs them.
"""

from __future__ import annotations

from typing import NoReturn

from tokenzip.errors import UsageError
from tokenzip.server.service import Server
from tokenzip.server.stdio import load_operations, serve_stdio

__all__ = ["Server", "serve_http", "serve_stdio"]


def serve_http(repository: str | None = None, at: str | None = None, *, host: str = "127.0.0.1", port: int = 8765) -> NoReturn:
    """Serve any number of clients at ``http://HOST:PORT/mcp``. Raises UsageError where the official SDK is not installed."""
    try:
        from tokenzip.server import http
    except ImportError as error:
        raise UsageError(
            f"HTTP needs the official MCP SDK, version 2 ({error})", hint="pip install 'tokenzip[http]', or use stdio"
        ) from error
    from tokenzip.server.indexing import Indexer

    http.serve(Server(load_operations, repository=repository, at=at, indexer=Indexer()), host, port)
