"""The MCP door: tools and resources of the operations, for coding agents, over standard input and output or HTTP.

The stdio side is our own, on the standard library alone, so that it starts in the time of a Python process
(``docs/decisions`` has the figures); `http` goes through the official SDK. Nothing here loads git, the store or a parser:
those come with the first call that needs a repository.

`wire` carries lines, `protocol` knows both eras of MCP, `tools` and `resources` turn operations into answers, `question`
keeps a slow one from keeping its client waiting, `workspace` finds the repository, `service` joins them, `stdio` runs them.
"""

from __future__ import annotations

from tokenzip.server.service import Server
from tokenzip.server.stdio import serve_stdio

__all__ = ["Server", "serve_stdio"]
