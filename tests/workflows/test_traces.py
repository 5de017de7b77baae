"""Stack traces: every form that is read, with noise; and that no text is too much for the readers."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tokenzip.workflows.traces import Trace, parse_trace

PAGES = Path(__file__).parent / "traces"
CASE = re.compile(r"^## (.+?)\n(?:(?!## )[^\n]*\n)*?~~~text\n(.*?)^~~~\n~~~read\n(.*?)^~~~$", re.MULTILINE | re.DOTALL)


def cases() -> Iterator[object]:
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        found = list(CASE.finditer(text))
        assert len(found) == len(re.findall(r"^## ", text, re.MULTILINE)), f"{page.name} has a case that cannot be read"
        for case in found:
            yield pytest.param(case[2], case[3], id=f"{page.stem}: {case[1]}")


def shown(trace: Trace) -> str:
    """A trace in the form of the pages."""
    lines = []
    for failure in trace.failures:
        relation = f"{failure.relation} " if failure.relation else ""
        hidden = f" (+{failure.hidden})" if failure.hidden else ""
        lines.append(f"{relation}{failure.type}: {failure.message}{hidden}")
        lines += [f"  {frame.file}:{frame.line} {frame.function}".rstrip() for frame in failure.frames]
    lines += [f"mentioned {frame.file}:{frame.line}" for frame in trace.mentioned]
    lines += [f"others {trace.others}"] if trace.others else []
    return "".join(line + "\n" for line in lines)


@pytest.mark.parametrize(("text", "expected"), list(cases()))
def test_a_trace_is_read_as_its_page_says(text: str, expected: str) -> None:
    assert shown(parse_trace(text)) == expected


@pytest.mark.parametrize(("text", "expected"), list(cases()))
@pytest.mark.parametrize("before", ["> ", "> > ", "app-1  | ", "2024-05-01T10:00:00.123Z ", "[worker] "])
def test_marks_before_each_line_change_nothing(text: str, expected: str, before: str) -> None:
    noisy = "".join(f"{before}{line}\n" for line in text.split("\n"))
    frames = [(frame.file, frame.line, frame.function) for f in parse_trace(text).failures for frame in f.frames]
    assert [(frame.file, frame.line, frame.function) for f in parse_trace(noisy).failures for frame in f.frames] == frames


@pytest.mark.parametrize("before", ["", "> ", "web_1  | "])
def test_what_a_traceback_shows_of_its_lines_is_kept(before: str) -> None:
    lines = (
        "Traceback (most recent call last):", '  File "a.py", line 3, in f', "    return g(1,", "             ^^^^",
        '  File "a.py", line 9, in g', "KeyError: 1",
    )  # fmt: skip
    frames = parse_trace("".join(f"{before}{line}\n" for line in lines)).failures[0].frames
    assert [(frame.function, frame.text) for frame in frames] == [("g", ""), ("f", "return g(1,")]


def test_windows_line_ends_change_nothing() -> None:
    text = (PAGES / "python.md").read_text(encoding="utf-8")
    assert parse_trace(text.replace("\n", "\r\n")) == parse_trace(text)


PIECES = (
    'File "', '", line ', ", in ", "Traceback (most recent call last):", "    at ", " (", ":1:2)", "/a.js", "Caused by: ", "\n",
    "goroutine 1 [running]:", "\t/a.go:3 +0x1", "panic: ", "thread 'x' panicked at ", "a.rs:1:1:", "   0: f", "E   ",
    "___ a ___", "a.py:3: in f", "FAILED a.py::b - c", "[cause]: ", "{", "}", " | ", "> ", "...", " more", "\x1b[31m",
    "+-+---------------- 1 ----------------", "\\n    at ", "@http://x/a.js:1:2", "KeyError: 'x'", "9" * 30,
    "(" * 40, "a." * 60, " at at ", "\x00", "é", "\ud800",
)  # fmt: skip


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=20)), max_size=60))
@example(["\\n    at " * 3, '{"a":"'])
@settings(max_examples=400, deadline=None)
def test_no_text_is_an_error(pieces: list[str]) -> None:
    trace = parse_trace("".join(pieces))
    assert all(frame.line >= 0 for failure in trace.failures for frame in failure.frames)


LONG = {
    "one line": lambda size: "a" * size,
    "at": lambda size: " at" * (size // 3),
    "at with parentheses": lambda size: "at a (" * (size // 6),
    "frames of Python": lambda size: '  File "/a/b.py", line 3, in f\n    f()\n' * (size // 40),
    "quotes": lambda size: 'File "' * (size // 6),
    "frames of Node": lambda size: "    at f (/a/b.js:3:4)\n" * (size // 24),
    "frames of Java": lambda size: "\tat a.b.C.d(C.java:3)\n" * (size // 22),
    "dots": lambda size: "a." * (size // 2),
    "paths": lambda size: "a/" * (size // 2) + "b.py:3",
    "brackets": lambda size: "[" * size,
    "brackets in lines": lambda size: "[a] [b] [c] [d] " * 20 + "\n" + "[a] " * (size // 4),
    "escapes": lambda size: "\x1b[" * (size // 2),
    "underscores": lambda size: "_" * size + "\n" + ("___ " * 100 + "\n") * (size // 400),
    "calls of Go": lambda size: "a.b(" * (size // 4) + "\n\t/a.go:3\n",
    "generics of Rust": lambda size: ("   0: " + "<" * 600 + "\n  at a.rs:1:1\n") * (size // 620),
    "escaped lines": lambda size: "\\n    at f (/a/b.js:1:2)" * (size // 25),
    "members": lambda size: "  +-+---------------- 1 ----------------\n" * (size // 42),
    "names": lambda size: "Error: x\n" * (size // 9),
    "words with dots and colons": lambda size: "a.b:c.d:" * (size // 8),
}


@pytest.mark.parametrize("kind", LONG)
def test_reading_takes_time_in_proportion_to_the_text(kind: str) -> None:
    """Eight times the text takes no more than about eight times the time; both are far from hanging."""
    small, large = (LONG[kind](size) for size in (150_000, 1_200_000))
    parse_trace(small)
    begun = time.process_time()
    parse_trace(small)
    middle = time.process_time()
    parse_trace(large)
    ended = time.process_time()
    assert ended - middle < max(24 * (middle - begun), 1.0)
    assert ended - middle < 12


def test_what_is_kept_of_endless_traces_is_bounded() -> None:
    frames = "".join(f'  File "/a/b.py", line {number}, in f\n' for number in range(1, 5001))
    failure = parse_trace(f"Traceback (most recent call last):\n{frames}RecursionError: too deep\n").failures[0]
    assert (failure.frames[0].line, len(failure.frames), failure.hidden) == (5000, 400, 4600)
    many = 'Traceback (most recent call last):\n  File "/a.py", line 1, in f\nKeyError: 1\n' * 150
    trace = parse_trace(many)
    assert (len(trace.failures), trace.others) == (100, 50)
