"""The wire: one JSON message a line, on private copies of standard input and output.

A client takes every byte on our standard output for protocol, so a stray ``print`` or a chatty child process would end
the session. `claim_standard_streams` moves the protocol to file descriptors of its own and leaves behind an empty
standard input and a standard output that leads to standard error.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

LONGEST_LINE = 32 << 20
"""Bytes of one incoming message. Real ones stay below 1 MB; without a bound, a stream without newlines fills the memory."""

HEARTBEAT = 2.0
"""Seconds between two looks at whether the client still lives, while nothing comes in."""

CHUNK = 1 << 16


class Overlong(bytes):
    """Stands for a line above `LONGEST_LINE`, whose text was thrown away."""


class Wire:
    """Lines in, messages out. One thread reads; any thread may send."""

    def __init__(self, read_fd: int, write_fd: int, longest: int = LONGEST_LINE) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._longest = longest
        self._sending = threading.Lock()

    def lines(self, is_client_alive: Callable[[], bool] = lambda: True) -> Iterator[bytes]:
        """Each line that is not blank, without its newline, until the client closes its end or is gone.

        A last line without a newline counts: some clients write a request and close at once.
        """
        buffer = bytearray()
        searched = 0
        overlong = False
        while chunk := self._receive(is_client_alive):
            buffer += chunk
            while (newline := buffer.find(b"\n", searched)) >= 0:
                line = bytes(buffer[:newline])
                del buffer[: newline + 1]
                searched = 0
                if overlong:
                    overlong = False
                elif line.strip():
                    yield line
            searched = len(buffer)
            if searched > self._longest:
                if not overlong:
                    yield Overlong()
                overlong = True
                buffer.clear()
                searched = 0
        if buffer.strip() and not overlong:
            yield bytes(buffer)

    def send(self, message: object) -> None:
        """Write one message. Ends the process if nobody reads any more."""
        rest = memoryview(encode(message) + b"\n")
        with self._sending:
            while rest:
                try:
                    rest = rest[os.write(self._write_fd, rest) :]
                except BlockingIOError:  # some clients hand over non-blocking pipes or sockets
                    select.select([], [self._write_fd], [])
                except OSError:
                    os._exit(0)

    def _receive(self, is_client_alive: Callable[[], bool]) -> bytes:
        while True:
            if not self._wait_readable():
                if is_client_alive():
                    continue
                return b""
            try:
                return os.read(self._read_fd, CHUNK)
            except BlockingIOError:
                continue
            except OSError:  # ECONNRESET of a socket: as good as the end
                return b""

    def _wait_readable(self) -> bool:
        if sys.platform == "win32":  # select takes sockets only there; the read itself waits
            return True
        return bool(select.select([self._read_fd], [], [], HEARTBEAT)[0])


def encode(message: object) -> bytes:
    """The message as one line of UTF-8.

    Lone surrogates (file names that are no UTF-8) have no UTF-8 form: such a message is written in ASCII escapes.
    """
    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode()


def decode(line: bytes) -> Any:
    """The message in the line. Raises ValueError for whatever is no JSON, too deep or too long."""
    if isinstance(line, Overlong):
        raise ValueError("line too long")
    try:
        return json.loads(line, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def claim_standard_streams() -> Wire:
    """Take over standard input and output of this process, for it and for all its children."""
    nothing = _open_nothing()
    read_fd, write_fd = os.dup(0), os.dup(1)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (read_fd, write_fd):
            msvcrt.setmode(descriptor, os.O_BINARY)
    return Wire(read_fd, write_fd)


def _open_nothing() -> int:
    """A descriptor of the null device above the standard three, which are filled up where the client left one closed."""
    while (nothing := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(nothing, True)
    return nothing
