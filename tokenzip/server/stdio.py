"""The server on standard input and output, and all the ways in which it ends.

Clients end a server by closing its input (two of five seen), with SIGTERM (two) or with SIGINT (one), and some just die.
Each time it goes at once and quietly: ``os._exit`` waits for no thread, and a store bears being killed at any moment.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import NoReturn

from tokenzip.server.arguments import Operation
from tokenzip.server.indexing import Indexer
from tokenzip.server.service import Server
from tokenzip.server.wire import claim_standard_streams


def serve_stdio(repository: str | None = None, at: str | None = None) -> NoReturn:
    """Serve one client on standard input and output, then end the process with status 0.

    `repository` is a folder in the repository to answer for: by default found at each call, see `workspace`. `at` is the
    revision of questions that name none.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _exit)
    if sys.stdin is not None and sys.stdin.isatty():
        print(
            "tokenzip: MCP server on standard input and output, made to be started by a client; Ctrl-D ends it", file=sys.stderr
        )
    wire = claim_standard_streams()
    Server(load_operations, repository=repository, at=at, indexer=Indexer()).serve(wire, _parent_watch())
    os._exit(0)


def load_operations() -> Mapping[str, Operation]:
    """The table of operations, imported when it is needed first."""
    from tokenzip.operations import OPERATIONS

    return OPERATIONS


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    os._exit(0)


def _parent_watch() -> Callable[[], bool]:
    """Whether the process that started us still lives. Its end usually closes our input, unless it left that to others."""
    parent = os.getppid()
    return lambda: os.getppid() == parent
