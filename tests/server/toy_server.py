"""A server of toy operations over a repository that is none: for tests of the protocol, in this process or as a child.

``python toy_server.py [SECONDS]`` serves standard input and output; the number is the patience with an index in seconds.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

from tokenzip.errors import UnknownSymbol
from tokenzip.server.service import Server
from tokenzip.server.wire import claim_standard_streams


class Parameter(NamedTuple):
    name: str
    type: str
    required: bool = False
    description: str = ""
    enum: tuple[str, ...] = ()


TYPES = {"string": str, "integer": int, "boolean": bool, "array": list}
AT = Parameter("at", "string")
MAX_TOKENS = Parameter("max_tokens", "integer")


class Operation(NamedTuple):
    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    function: Callable[[Any, dict[str, Any]], dict[str, Any]]

    def run(self, repository: Any, arguments: dict[str, Any], /) -> dict[str, Any]:
        types = {parameter.name: TYPES[parameter.type] for parameter in self.parameters}
        wrong = [name for name, value in arguments.items() if type(value) is not types.get(name)]
        wrong += [parameter.name for parameter in self.parameters if parameter.required and parameter.name not in arguments]
        if wrong:
            return {"error": {"code": "usage", "message": f"wrong: {sorted(wrong)}", "hint": "", "candidates": []}}
        return self.function(repository, arguments)


def echo(repository: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"at": {"rev": arguments.get("at", "WORKTREE")}, "echo": arguments}


def big(repository: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Items of 100 characters, as many as three characters a token allow."""
    shown = min(arguments["items"], arguments.get("max_tokens", 10**9) * 3 // 100)
    items = [{"handle": f"{number:080d}"} for number in range(shown)]
    cut = shown < arguments["items"]
    return {"items": items, "truncated": {"shown": shown, "total": arguments["items"]} if cut else None}


def stubborn(repository: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"text": "x" * arguments["items"]}


def fail(repository: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    print("a stray print must not reach the wire")
    subprocess.run(["echo", "nor the output of a child"], check=True)
    raise ZeroDivisionError("a bug")


def unknown(repository: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    raise UnknownSymbol("no symbol nope", hint="ask search_symbols", candidates=["note"])


def index(repository: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Index for as many milliseconds as `items`, telling how far it is."""
    for done in range(0, arguments["items"], 10):
        repository.progress("extract", done, arguments["items"])
        time.sleep(0.01)
    repository.finished.append(arguments["items"])
    return {"finished": repository.finished}


def sleep(repository: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Compute without a word."""
    time.sleep(arguments["items"] / 1000)
    return {"slept": arguments["items"]}


def odd(repository: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"items": [{"file": "caf\udce9.py"}, {"file": "é\u2028😀.py"}]}


ITEMS = Parameter("items", "integer", required=True, description="How many")
OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "echo",
            "What came in",
            (
                Parameter("text", "string"),
                Parameter("names", "array", enum=("a", "b")),
                Parameter("flag", "boolean"),
                AT,
                MAX_TOKENS,
            ),
            echo,
        ),
        Operation("big", "Many items", (ITEMS, MAX_TOKENS), big),
        Operation("stubborn", "Ignores its budget", (ITEMS, MAX_TOKENS), stubborn),
        Operation("fail", "Raises", (), fail),
        Operation("unknown", "Raises on purpose", (), unknown),
        Operation("index", "Indexes", (ITEMS,), index),
        Operation("sleep", "Sleeps", (ITEMS,), sleep),
        Operation("odd", "File names that are no UTF-8", (), odd),
        Operation("query_repo_structure", "The map", (AT,), echo),
        Operation("query_file", "A file", (Parameter("path", "string", required=True), AT), echo),
        Operation("query_symbol", "A symbol", (Parameter("handle", "string", required=True), AT), unknown),
    )
}

MODULES = (SimpleNamespace(name="api"), SimpleNamespace(name="web"))
SNAPSHOT = SimpleNamespace(
    paths=lambda: iter(("app/main.py", "lib/app.py", "readme.md")),
    modules=lambda: SimpleNamespace(all=lambda: MODULES),
    files=lambda: iter((SimpleNamespace(symbols=(SimpleNamespace(handle="app/main.py::run"),)),)),
)
FINISHED: list[int] = []
"""Indexing that ran to its end, over all questions."""


def open_repository(place: str) -> Any:
    git = SimpleNamespace(
        ref_tips=lambda: {"refs/heads/main": "1", "refs/remotes/origin/maintenance": "2", "refs/tags/main": "1"}
    )
    return SimpleNamespace(root=place, finished=FINISHED, progress=None, git=git, snapshot=lambda: SNAPSHOT)


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os._exit(0))
    limits = {"patience": float(sys.argv[1])} if sys.argv[1:] else {}
    Server(lambda: OPERATIONS, open_repository=open_repository, **limits).serve(claim_standard_streams())
    os._exit(0)
