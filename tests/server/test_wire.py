"""Lines in and messages out, however the bytes arrive."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator

import pytest

from tokenzip.server import wire
from tokenzip.server.wire import Overlong, Wire, decode, encode


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    """The end that the wire reads or writes, and the other one."""
    reading, writing = os.pipe()
    yield reading, writing
    for end in (reading, writing):
        with contextlib.suppress(OSError):
            os.close(end)


def lines_of(ends: tuple[int, int], *chunks: bytes, longest: int = 1 << 20) -> list[bytes]:
    """What the wire reads of chunks that arrive one after the other, before the end of the stream."""
    reading, writing = ends

    def feed() -> None:
        for chunk in chunks:
            os.write(writing, chunk)
        os.close(writing)

    threading.Thread(target=feed, daemon=True).start()
    return list(Wire(reading, -1, longest).lines())


def test_lines_are_found_whatever_the_chunks(ends: tuple[int, int]) -> None:
    assert lines_of(ends, b'{"a"', b":1}\n{}", b"\n\n \r\n[", b"]\r\nlast") == [b'{"a":1}', b"{}", b"[]\r", b"last"]


def test_an_overlong_line_is_one_refusal_and_the_next_line_counts(ends: tuple[int, int]) -> None:
    found = lines_of(ends, *[b"x" * 60_000] * 4, b"x\nnext\n", longest=100_000)
    assert [type(line) for line in found] == [Overlong, bytes]
    assert found[1] == b"next"


def test_an_overlong_last_line_is_no_line(ends: tuple[int, int]) -> None:
    assert [type(line) for line in lines_of(ends, b"x" * 60_000, b"x" * 60_000, longest=100_000)] == [Overlong]


def test_a_line_of_megabytes_is_read_in_one_pass(ends: tuple[int, int]) -> None:
    start = time.monotonic()
    (line,) = lines_of(ends, *[b"x" * 50_000] * 100, b"\n", longest=1 << 24)
    assert len(line) == 5_000_000
    assert time.monotonic() - start < 10


def test_reading_bears_a_pipe_that_does_not_block(ends: tuple[int, int]) -> None:
    os.set_blocking(ends[0], False)
    assert lines_of(ends, b"a\n", b"b\n") == [b"a", b"b"]


def test_reading_ends_when_the_client_died_without_closing(ends: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "HEARTBEAT", 0.01)
    os.write(ends[1], b"a\n")
    assert list(Wire(ends[0], -1).lines(lambda: False)) == [b"a"]


def test_writing_bears_a_full_pipe_that_does_not_block(ends: tuple[int, int]) -> None:
    reading, writing = ends
    os.set_blocking(writing, False)
    message = {"text": "x" * 500_000}
    sending = threading.Thread(target=Wire(-1, writing).send, args=(message,), daemon=True)
    sending.start()
    with os.fdopen(os.dup(reading), "rb") as stream:
        assert json.loads(stream.readline()) == message
    sending.join(5)


def test_messages_of_many_threads_do_not_mix(ends: tuple[int, int]) -> None:
    reading, writing = ends
    sender = Wire(-1, writing)
    threads = [threading.Thread(target=sender.send, args=({"n": n, "x": "y" * 70_000},), daemon=True) for n in range(8)]
    for thread in threads:
        thread.start()
    with os.fdopen(os.dup(reading), "rb") as stream:
        assert sorted(json.loads(stream.readline())["n"] for _ in threads) == list(range(8))


def test_what_is_no_utf8_is_escaped() -> None:
    assert encode({"file": "é\u2028😀"}) == '{"file":"é\u2028😀"}'.encode()
    assert encode({"file": "caf\udce9"}) == b'{"file":"caf\\udce9"}'
    assert b"\n" not in encode({"text": "a\nb"})


def test_numbers_that_json_does_not_have_are_no_messages() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        encode(float("nan"))
    for line in (b"NaN", b"[Infinity]", b"1" * 5000, b"[" * 200_000, Overlong()):
        with pytest.raises(ValueError, match=r"JSON|digits|deep|long"):
            decode(line)
