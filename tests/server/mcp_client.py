"""The client's end of a server: one in this process over pipes, or a child process. Every line it sends is checked."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import toy_server

from tokenzip.server.service import Server
from tokenzip.server.wire import Wire

Json = dict[str, Any]

TOY = (sys.executable, str(Path(toy_server.__file__)))
PREFIX = "io.modelcontextprotocol/"
META: Json = {f"{PREFIX}protocolVersion": "2026-07-28", f"{PREFIX}clientCapabilities": {}}
LONG = 30.0
"""Seconds to wait for what must come."""
SHORT = 0.15
"""Seconds to wait for what must not come."""


class Client:
    """Writes to one descriptor and reads messages from another, on a thread of its own."""

    def __init__(self, read_fd: int, write_fd: int, *, modern: bool = False) -> None:
        self.modern = modern
        self._write_fd = write_fd
        self._numbers = 0
        self._messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._seen: list[Any] = []
        threading.Thread(target=self._read, args=(read_fd,), daemon=True).start()

    def _read(self, read_fd: int) -> None:
        with os.fdopen(read_fd, "rb") as lines:
            for line in lines:
                self._messages.put(self._checked(line))
        self._messages.put(None)

    @staticmethod
    def _checked(line: bytes) -> Any:
        """Every line is JSON-RPC, whatever happens in the server."""
        assert line.endswith(b"\n")
        message = json.loads(line)
        for part in message if isinstance(message, list) else [message]:
            assert part["jsonrpc"] == "2.0"
            assert len({"result", "error", "method"} & part.keys()) == 1
        return message

    def write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._write_fd, data) :]

    def send(self, message: object) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def notify(self, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def begin(self, method: str, params: Mapping[str, Any] | None = None, number: Any = None, meta: Json | None = None) -> Any:
        """Send a request and return its id."""
        self._numbers += 1
        number = self._numbers if number is None else number
        params = dict(params or {})
        if self.modern or meta:
            params["_meta"] = {**(META if self.modern else {}), **(meta or {})}
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def ask(self, method: str, **params: Any) -> Json:
        """Send a request and return its answer, result or error."""
        number = self.begin(method, params)
        answer = self.wait(lambda message: is_answer(message, number))
        assert answer is not None, f"no answer to {method}"
        return answer

    def result(self, method: str, **params: Any) -> Json:
        answer = self.ask(method, **params)
        assert "result" in answer, answer
        return dict(answer["result"])

    def error(self, method: str, **params: Any) -> Json:
        return dict(self.ask(method, **params)["error"])

    def call(self, tool: str, **arguments: Any) -> Json:
        """The answer of a tool, parsed."""
        return parsed(self.result("tools/call", name=tool, arguments=arguments))

    def wait(self, wanted: Callable[[Any], bool], seconds: float = LONG) -> Any:
        """The first message that fits, seen before or yet to come. None if it does not come, or the server is gone."""
        for message in self._seen:
            if wanted(message):
                self._seen.remove(message)
                return message
        while True:
            try:
                message = self._messages.get(timeout=seconds)
            except queue.Empty:
                return None
            if message is None:
                self._messages.put(None)
                return None
            if wanted(message):
                return message
            self._seen.append(message)

    def wait_answer(self, number: Any, seconds: float = LONG) -> Any:
        return self.wait(lambda message: is_answer(message, number), seconds)

    def wait_notification(self, method: str, seconds: float = LONG) -> Any:
        return self.wait(lambda message: isinstance(message, dict) and message.get("method") == method, seconds)

    def handshake(self, version: str = "2025-11-25", capabilities: Json | None = None) -> Json:
        result = self.result(
            "initialize",
            protocolVersion=version,
            capabilities=capabilities or {},
            clientInfo={"name": "test", "version": "1"},
        )
        self.notify("notifications/initialized")
        return result


class InProcess(Client):
    """A server on a thread of this process."""

    def __init__(self, *, modern: bool = False, operations: Mapping[str, Any] | None = None, **options: Any) -> None:
        to_server, from_client = os.pipe()
        to_client, from_server = os.pipe()
        super().__init__(to_client, from_client, modern=modern)
        self._ends = (to_server, from_server)
        options.setdefault("open_repository", toy_server.open_repository)
        table = toy_server.OPERATIONS if operations is None else operations
        self.server = Server(lambda: table, **options)
        self._thread = threading.Thread(target=self.server.serve, args=(Wire(to_server, from_server),), daemon=True)
        self._thread.start()

    def close(self) -> None:
        os.close(self._write_fd)
        self._thread.join(LONG)
        for end in self._ends:
            os.close(end)


class Child(Client):
    """A server in a process of its own."""

    def __init__(self, *command: str, modern: bool = False, cwd: Path | None = None, env: Mapping[str, str] | None = None):
        self.process = subprocess.Popen(
            command or TOY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, env=env
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        super().__init__(os.dup(self.process.stdout.fileno()), self.process.stdin.fileno(), modern=modern)

    def hang_up(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def end(self) -> tuple[int, bytes]:
        """Exit status and standard error, once it has ended by itself."""
        assert self.process.stderr is not None
        status = self.process.wait(LONG)
        return status, self.process.stderr.read()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LONG)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


def is_answer(message: Any, number: Any) -> bool:
    return isinstance(message, dict) and "method" not in message and "id" in message and message["id"] == number


def parsed(result: Json) -> Json:
    """The answer in the one text block of a result."""
    (block,) = result["content"]
    assert block["type"] == "text"
    assert "structuredContent" not in result
    return dict(json.loads(block["text"]))


def in_process(**options: Any) -> Iterator[InProcess]:
    """For fixtures: a server that is closed after the test."""
    client = InProcess(**options)
    yield client
    client.close()
