"""The server as a process: how it starts, what it may load, what its client sees, and how it ends."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mcp_client import TOY, Child

SERVE = (sys.executable, "-P", "-m", "tokenzip.server")
HEAVY = ("asyncio", "click", "lmdb", "mcp", "msgpack", "pydantic", "pygit2", "tree_sitter", "zstandard")

Start = Callable[..., Child]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    children: list[Child] = []

    def begin(*command: str, modern: bool = True, cwd: Path | None = None, **environment: str) -> Child:
        env = {**os.environ, "TOKENZIP_HOME": str(tmp_path / "tokenzip"), **environment}
        children.append(Child(*command, modern=modern, cwd=cwd, env=env))
        return children[-1]

    yield begin
    for child in children:
        child.stop()


def test_nothing_but_protocol_reaches_standard_output(start: Start) -> None:
    child = start()  # the client checks each line
    assert child.call("fail")["error"]["code"] == "bug"
    child.hang_up()
    status, errors = child.end()
    assert status == 0
    assert b"a stray print" in errors
    assert b"nor the output of a child" in errors


def test_the_end_of_input_ends_it_after_the_last_answer(start: Start) -> None:
    child = start()
    child.begin("tools/call", {"name": "sleep", "arguments": {"items": 300}}, "last")
    child.hang_up()
    assert child.wait_answer("last")["result"]
    assert child.end() == (0, b"")


def test_a_last_request_without_a_newline_is_answered(start: Start) -> None:
    child = start()
    child.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    child.hang_up()
    assert child.wait_answer(1)["result"] == {}
    assert child.end() == (0, b"")


def test_a_call_that_takes_long_does_not_keep_it_from_ending(start: Start) -> None:
    child = start()
    child.begin("tools/call", {"name": "sleep", "arguments": {"items": 60_000}})
    child.ask("prompts/list")
    child.hang_up()
    assert child.end() == (0, b""), "half a minute before the call does"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("command", [TOY, SERVE], ids=["toy", "serve"])
def test_signals_end_it_at_once_and_quietly(start: Start, command: tuple[str, ...], number: int) -> None:
    child = start(*command)
    child.result("server/discover")
    child.process.send_signal(number)
    assert child.end() == (0, b"")


def test_a_client_that_stops_reading_ends_it(start: Start) -> None:
    process = subprocess.Popen(TOY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 3)
    process.stdin.flush()
    assert process.wait(5) == 0
    assert process.stderr.read() == b""
    process.stdin.close()
    process.stderr.close()


def test_it_ends_with_its_parent_though_its_input_stays_open(tmp_path: Path) -> None:
    """A launcher dies, while another process still holds the pipe: no end of input ever comes."""
    reading, writing = os.pipe()
    os.write(writing, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    launcher = (
        "import subprocess, sys\n"
        "server = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)\n"
        "server.stdout.readline()  # the answer: it is up\n"
        "print(server.pid)\n"
    )
    command = (sys.executable, "-c", launcher, *SERVE)
    started = subprocess.run(command, stdin=reading, stdout=subprocess.PIPE, check=True, cwd=tmp_path, text=True)
    server = int(started.stdout)
    deadline = time.monotonic() + 8
    while is_running(server) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_running(server)
    os.close(reading)
    os.close(writing)


def is_running(process: int) -> bool:
    """Whether the process is there and no zombie (its new parent may not collect it)."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_clients_may_hand_over_a_socket(start: Start) -> None:
    ours, theirs = socket.socketpair()
    process = subprocess.Popen(TOY, stdin=theirs, stdout=theirs)
    theirs.close()
    ours.settimeout(10)
    ours.sendall(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    assert ours.recv(1000) == b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
    ours.shutdown(socket.SHUT_WR)
    assert process.wait(5) == 0
    ours.close()


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_closed_standard_streams_are_borne(closed: str) -> None:
    """Some launchers start programs without them."""
    script = f'exec "$@" {closed}'
    done = subprocess.run(
        ("sh", "-c", script, "sh", *TOY),
        input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        stdout=subprocess.PIPE,
        timeout=10,
        check=True,
    )
    assert done.stdout == (b"" if "<" in closed else b'{"jsonrpc":"2.0","id":1,"result":{}}\n')


def test_the_code_page_of_the_machine_does_not_matter(start: Start) -> None:
    child = start(LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert child.call("echo", text="é\u2028😀")["echo"] == {"text": "é\u2028😀"}


def test_what_is_loaded_before_the_first_call(tmp_path: Path) -> None:
    """Start-up is the time of a Python process: clients wait for it, and some give up a tool that comes late."""
    script = (
        "import sys, os\n"
        "from tokenzip.server import wire, stdio\n"
        "def report(*_):\n"
        "    print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr, flush=True)\n"
        "real = os._exit\n"
        "os._exit = lambda status: (report(), real(status))\n"
        "stdio.serve_stdio()\n"
    )
    requests = (
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}\n'
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
        b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'
        b'{"jsonrpc":"2.0","id":3,"method":"resources/list"}\n'
    )
    done = subprocess.run((sys.executable, "-c", script), input=requests, capture_output=True, check=True, cwd=tmp_path)
    assert done.stdout.count(b"\n") == 3
    assert b'"error"' not in done.stdout
    loaded = set(done.stderr.decode().split())
    assert "json" in loaded
    assert not loaded.intersection(HEAVY)


def test_start_to_initialize_takes_little(tmp_path: Path) -> None:
    """The budget is 200 ms. Processor time, since tests run side by side; the best of a few."""
    request = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}\n'
    spent = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(SERVE, input=request, stdout=subprocess.PIPE, check=True, cwd=tmp_path)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert b'"serverInfo"' in done.stdout
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(spent) < 0.15


def test_outside_a_repository_it_serves_and_says_so(start: Start, tmp_path: Path) -> None:
    child = start(*SERVE, cwd=tmp_path)
    assert child.result("tools/list")["tools"]
    assert child.ask("resources/read", uri="tokenzip://repo/structure")["error"]["data"]["code"] == "not_a_repository"


def test_nothing_is_done_before_the_first_call(start: Start, tmp_path: Path) -> None:
    home = tmp_path / "home"
    child = start(*SERVE, cwd=tmp_path, TOKENZIP_HOME=str(home), HOME=str(home))
    child.result("tools/list")
    assert not home.exists()
