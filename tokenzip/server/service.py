"""The server as a whole: what it says about itself, and which part of it answers which method."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import tokenzip
from tokenzip.server.arguments import Operation
from tokenzip.server.call import Call, Method
from tokenzip.server.connection import Connection, Identity, Sender
from tokenzip.server.indexing import Indexer
from tokenzip.server.protocol import INVALID_PARAMS, LIFETIME, Fault, Json, page
from tokenzip.server.question import DEADLINE, PATIENCE
from tokenzip.server.resources import Resources
from tokenzip.server.tools import Tools
from tokenzip.server.wire import Wire
from tokenzip.server.workspace import Workspace

INFO: Json = {"name": "tokenzip", "title": "tokenzip code graph", "version": tokenzip.__version__}

CAPABILITIES: Json = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}, "logging": {}}
"""Lists never change while the server runs, so no ``listChanged``. There are no prompts, but clients ask for them."""

INSTRUCTIONS = """\
Use tokenzip before reading or grepping files: it knows this repository as a graph of modules, files and symbols, with who \
calls, imports and inherits whom, at any commit. Answers are exact, small and current: uncommitted edits are included.

- Where is it? search_symbols with words or part of a name.
- New here? query_repo_structure, then query_module or query_file instead of reading whole files.
- One definition: query_symbol (include=["source"] for its text).
- Who uses it, before you change it: get_dependants; get_impact_analysis for everything reached, with its tests.
- About to edit files: get_context_for_files, with the files that usually change along and their tests.
- A bug with an error or stack trace: execute_workflow_template(name="bug-fix", inputs=["trace=..."]). More: get_workflow.
- What it uses: get_dependencies. How A reaches B: trace_path.
- A list by conditions: query_repo_structure(query='symbols().filter(kind="class", extends="Base").callers()').
- What changed and what broke: diff_commits (default HEAD against the files as they are). Since when, by whom: get_git_history.

Handles are path::Qualified.name; unique short forms work. `at` asks any branch, tag or commit without checking it out. \
`complete` says whether a list is whole: if not, look for what it counts as unresolved. `truncated.cursor` continues a cut \
list, `next` holds ready-made calls. While an answer says "indexing" or "working", ask the same again in a moment.
"""
"""All that a model sees of the server where tools are searched for only when needed. Clients cut it at 4,096 characters."""


class Server:
    """Operations for clients. Tests bring operations and repositories of their own."""

    def __init__(
        self,
        operations: Callable[[], Mapping[str, Operation]],
        *,
        repository: str | None = None,
        at: str | None = None,
        open_repository: Callable[[str], object] | None = None,
        indexer: Indexer | None = None,
        patience: float = PATIENCE,
        deadline: float = DEADLINE,
    ) -> None:
        self._load_operations = operations
        self._workspace = Workspace(repository, declared=self._roots, open_repository=open_repository)
        self._at = at
        self._indexer = indexer
        self._limits = (patience, deadline)
        self._loading = threading.Lock()
        self._parts: _Parts | None = None
        self.connection: Connection | None = None
        """The client that started us, if one did: its workspace folders are where to look for the repository."""

    def connect(self, sender: Sender) -> Connection:
        """A connection for one client, whose answers go to `sender`."""
        return Connection(sender, Identity(INFO, CAPABILITIES, INSTRUCTIONS), self._methods())

    def serve(self, wire: Wire, is_client_alive: Callable[[], bool] = lambda: True) -> None:
        """Answer the client that started us until it is gone."""
        self.connection = self.connect(wire)
        for line in wire.lines(is_client_alive):
            self.connection.receive(line)
        self.connection.close()

    def _roots(self) -> Sequence[str]:
        return () if self.connection is None else self.connection.roots

    def _methods(self) -> Mapping[str, Method]:
        # What needs the operations loads them once, which takes a moment: it must not hold up the reading of messages.
        def tools(call: Call, params: Json) -> Json:
            return self._loaded().tools.list(call, params)

        def use_tool(call: Call, params: Json) -> Json:
            return self._loaded().tools.call(call, params)

        def resources(call: Call, params: Json) -> Json:
            return self._loaded().resources.list(call, params)

        def templates(call: Call, params: Json) -> Json:
            return self._loaded().resources.list_templates(call, params)

        def read(call: Call, params: Json) -> Json:
            return self._loaded().resources.read(call, params)

        def complete(call: Call, params: Json) -> Json:
            return self._loaded().resources.complete(call, params)

        return {
            "tools/list": Method(tools, takes_time=True, lifetime=LIFETIME),
            "tools/call": Method(use_tool, takes_time=True),
            "prompts/list": Method(lambda call, params: page(params, "prompts", ()), lifetime=LIFETIME),
            "prompts/get": Method(_no_prompt),
            "resources/list": Method(resources, takes_time=True, lifetime=LIFETIME),
            "resources/templates/list": Method(templates, takes_time=True, lifetime=LIFETIME),
            "resources/read": Method(read, takes_time=True, lifetime=0),
            "completion/complete": Method(complete, takes_time=True),
        }

    def _loaded(self) -> _Parts:
        with self._loading:
            if self._parts is None:
                patience, deadline = self._limits
                operations = self._load_operations()
                tools = Tools(
                    operations,
                    self._workspace,
                    at=self._at,
                    indexer=self._indexer,
                    patience=patience,
                    deadline=deadline,
                )
                self._parts = _Parts(tools, Resources(tools))
            return self._parts


class _Parts(NamedTuple):
    tools: Tools
    resources: Resources


def _no_prompt(call: Call, params: Json) -> Json:
    raise Fault(INVALID_PARAMS, f"Unknown prompt: {params.get('name')}. There are none")
