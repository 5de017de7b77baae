"""Stack traces: from a pasted text to failures and their frames.

The text may be anything: reading never raises, and takes time in proportion to its length. Each line is shown to the readers of
all languages in turn, and the first that understands it keeps it; so traces of several languages, logs between them and the
marks of chats, terminals and containers do no harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tokenzip.workflows.traces.jvm import StackTraces
from tokenzip.workflows.traces.lines import bare, lines_of, slashed
from tokenzip.workflows.traces.model import MOST_FAILURES, Failure, Frame, Reader, Trace
from tokenzip.workflows.traces.native import Goroutines, Panics
from tokenzip.workflows.traces.node import Stacks, path_of
from tokenzip.workflows.traces.python import Pytest, Tracebacks

__all__ = ["Failure", "Frame", "Trace", "parse_trace", "parse_type"]

MOST_MENTIONED = 20
_MENTION = re.compile(r"""(?<![\w./\\@~+:-])((?:[A-Za-z]:)?[\w./\\@~+-]{1,300}\.[A-Za-z]{1,6})(?:[:(]|", line )(\d{1,9})""")
_TYPE = re.compile(r"((?:[A-Za-z_$][\w$]{0,100}(?:\.|::)){0,20}[A-Za-z_$][\w$]{0,100})(?: \[[\w.]{1,60}\])?(?::\s+(.*))?$")
_TYPE_ENDINGS = ("Error", "Exception", "Warning", "Exit", "Interrupt", "Panic", "Failure", "Throwable")


def parse_trace(text: str) -> Trace:
    """The failures in a text; where it has no frames, the places that it mentions and the first error that it names."""
    readers: tuple[Reader, ...] = (Tracebacks(), StackTraces(), Panics(), Goroutines(), Pytest(), Stacks())
    first_line = dict.fromkeys(range(len(readers)), -1)
    named: Failure | None = None
    for number, line in enumerate(lines_of(text)):
        if not line:
            continue
        stripped = bare(line)
        for place, reader in enumerate(readers):
            if reader.read(line, stripped):
                if first_line[place] < 0:
                    first_line[place] = number
                break
        else:
            named = named or _named_error(stripped)
    ordered = sorted((place for place in first_line if first_line[place] >= 0), key=lambda place: first_line[place])
    failures = [failure for place in ordered for failure in readers[place].failures()]
    if not any(failure.frames for failure in failures):
        failures = failures or ([named] if named is not None else [])
        mentioned = tuple(_mentions(text))
    else:
        mentioned = ()
    others = sum(reader.others for reader in readers) + max(0, len(failures) - MOST_FAILURES)
    return Trace(tuple(failures[:MOST_FAILURES]), mentioned, others)


def parse_type(text: str) -> tuple[str, str]:
    """Type and message of ``KeyError: 'x'``; an empty type where a text names none."""
    found = _TYPE.match(text.strip())
    if found is not None and found[1].endswith(_TYPE_ENDINGS):
        return found[1], (found[2] or "").strip()
    return "", text.strip()


def _named_error(line: str) -> Failure | None:
    kind, message = parse_type(line)
    return Failure(kind, message[:500], ()) if kind and message else None


def _mentions(text: str) -> Iterator[Frame]:
    seen: set[tuple[str, int]] = set()
    for found in _places(lines_of(text)):
        frame = Frame(path_of(slashed(found[1])), int(found[2]), "", "text")
        if (frame.file, frame.line) not in seen:
            seen.add((frame.file, frame.line))
            yield frame
        if len(seen) >= MOST_MENTIONED:
            return


def _places(lines: Iterable[str]) -> Iterator[re.Match[str]]:
    for line in lines:
        if ":" in line or "(" in line:
            yield from _MENTION.finditer(line)
