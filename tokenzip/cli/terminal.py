"""Both ends of the terminal: what standard output can show, and how progress is told on standard error."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from tokenzip.render.blocks import Style

MOMENT = 0.6
"""Seconds of work about which nobody needs to hear."""
FRAME = 0.1
"""Seconds between two states of the bar."""
LINE_PAUSE = 5.0
"""Seconds between two lines where there is no terminal."""
BAR = 24
"""Columns of the bar."""


def prepare_streams() -> None:
    """Characters that a stream cannot show are escaped instead of ending the program; a closed stream goes nowhere."""
    if sys.stdout is None:  # Python's word for a descriptor that was closed before it began
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            with suppress(OSError, ValueError):
                reconfigure(errors="backslashreplace")


def speaks_unicode(stream: TextIO) -> bool:
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "").startswith("utf")


def is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:
        return False


def style_of(stream: TextIO, environment: Mapping[str, str] = os.environ) -> Style:
    """Colors only on a terminal and never against ``NO_COLOR``; a width only where lines would wrap."""
    from tokenzip.render.blocks import Style

    terminal = is_terminal(stream)
    color = terminal and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
    width = max(20, shutil.get_terminal_size((80, 24)).columns) if terminal else None
    return Style(color=color, width=width, unicode=speaks_unicode(stream))


def emit(text: str) -> None:
    """Write a result to standard output."""
    if not speaks_unicode(sys.stdout):
        text = text.translate(_PLAIN_SIGNS)
    sys.stdout.write(text)


_PLAIN_SIGNS = str.maketrans({"…": "...", "→": "->", "·": "-", "×": "x"})


def say(text: str) -> None:
    """Tell something on standard error; a reader who is gone is no reason to stop."""
    with suppress(OSError, ValueError):
        print(re.sub("[\udc80-\udcff]", lambda match: f"\\x{ord(match[0]) - 0xDC00:02x}", text), file=sys.stderr, flush=True)


def tell(message: str, hint: str = "", candidates: Sequence[str] = (), commands: Sequence[str] = ()) -> None:
    """An error for people: what is wrong, what to do, names that may have been meant, and commands to type."""
    say(f"tokenzip: {message}")
    for candidate in candidates:
        say(f"  {candidate}")
    if candidates and hint.startswith("did you mean"):  # they stand above
        hint = hint.partition("?")[2].lstrip("; ")
    if hint or commands:
        say("hint: " + ": ".join(part for part in (hint.rstrip(".") if commands else hint, ", ".join(commands)) if part))


class Progress:
    """Tells how far long work is: a bar on a terminal, now and then a line elsewhere, nothing for the work of a moment."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._terminal = is_terminal(self._stream) and os.environ.get("TERM") != "dumb"
        self._begun: float | None = None
        self._told = float("-inf")
        self._bar = ""
        self._most: dict[str, int] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        """The work has done so much of a stage; with a total of 0, nobody knows of how much."""
        now = time.monotonic()
        if self._begun is None:
            self._begun = now
        waits = stage.startswith("waiting")
        if total and not waits:
            self._most[stage] = max(total, self._most.get(stage, 0))
        if now - self._begun < MOMENT:
            return
        text = f"tokenzip: {stage} {done:,} of {total:,} files" if total else f"tokenzip: {stage}, {done:,} looked at"
        if waits:
            text, total = f"tokenzip: {stage}", 0
        if self._terminal:
            if now - self._told >= FRAME or (total and done >= total):
                self._draw(f"{text} {self._drawn_bar(done, total)}" if total else text)
                self._told = now
        elif now - self._told >= LINE_PAUSE:
            say(text)
            self._told = now

    def _drawn_bar(self, done: int, total: int) -> str:
        filled = BAR * min(done, total) // max(total, 1)
        return "[" + "#" * filled + " " * (BAR - filled) + "]"

    def _draw(self, text: str) -> None:
        columns = shutil.get_terminal_size((80, 24)).columns
        self._bar = text[: max(1, columns - 1)]
        with suppress(OSError, ValueError):
            self._stream.write(f"\r\x1b[K{self._bar}")
            self._stream.flush()

    def finish(self, *, done: bool = True) -> None:
        """Take the bar away and, if the work was done, say in one line what took so long."""
        if self._bar:
            with suppress(OSError, ValueError):
                self._stream.write("\r\x1b[K")
                self._stream.flush()
            self._bar = ""
        if done and self._begun is not None and (seconds := time.monotonic() - self._begun) >= MOMENT and self._most:
            count = max(self._most.values())
            say(f"tokenzip: indexed {count:,} file{'s' * (count != 1)} in {seconds:.1f} s")
        self._begun, self._told, self._most = None, float("-inf"), {}
