"""From a pasted text to lines: without colors, escapes, and the marks that logs, chats and containers put before each line."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

LONGEST_LINE = 2000
"""Characters of a line that are looked at. Frames are shorter; what is longer is data."""

_ANSI = re.compile(r"\x1b(?:\[[0-?]{0,40}[ -/]{0,5}[@-~]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)?|[@-Z\\^_])|\[[0-9;]{1,12}m")
_ESCAPED = re.compile(r"""\\n(?:\s|\\t){0,20}(?:at |File \\?["'])""")
"""A trace inside a string of JSON: its line feeds are two characters each."""
_UNESCAPED = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\\\": "\\", "\\r": ""}
_ESCAPE = re.compile(r'\\[nt"\\r]')
_PREFIX = re.compile(
    r"""\s*(?:
      [>|│┃║╎❱]+(?=\s|$|[>|│┃║╎])                                  # quotes, gutters, frames of boxes
    | \[?\d{4}[-/.]\d\d[-/.]\d\d[T\s]                             # 2024-01-01 10:00:00,123
      \d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?\s?(?:Z|UTC|[+-]\d\d:?\d\d)?\]?
    | \[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?
    | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d{1,2}\s\d\d:\d\d:\d\d   # syslog
      (?:\s\S{1,60}\s\S{1,60}\[\d+\]:)?
    | (?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|SEVERE|FATAL|CRITICAL)\b\s?[-:]?(?=\s)
    | ERROR\b\s?[-:]?(?=\s)(?!\s\S+\.py)                          # but not a line of pytest's summary
    | [\w.-]{1,60}\s{1,20}\|                                      # compose: web_1  |
    | \[[^\[\]\n]{1,60}\](?=[\s\[:]|$):?
    | (?:std(?:out|err))\s[FP](?=\s)
    )""",
    re.VERBOSE,
)
_MOST_PREFIXES = 8


def lines_of(text: str) -> Iterator[str]:
    """The lines of a text, each cut to `LONGEST_LINE`, without what terminals and log formats added to them."""
    if "&lt;" in text or "&quot;" in text or "&#x27;" in text or "&#39;" in text:
        text = html.unescape(text)
    for raw in text.replace("\r\n", "\n").split("\n"):
        for part in _unescaped(raw) if "\\n" in raw else (raw,):
            cut = part[:LONGEST_LINE].rstrip("\r\n \t\x00")
            yield _ANSI.sub("", cut) if "\x1b" in cut or "m" in cut else cut


def _unescaped(line: str) -> Iterator[str]:
    """The line; where strings in it hold traces whose line feeds are escaped, the lines of these strings."""
    place = 0
    while found := _ESCAPED.search(line, place):
        begin = line.rfind('"', place, found.start())
        while begin > place and line[begin - 1] == "\\":
            begin = line.rfind('"', place, begin)
        end = line.find('"', found.end())
        while end > 0 and line[end - 1] == "\\":
            end = line.find('"', end + 1)
        begin, end = max(begin + 1, place), end if end >= 0 else len(line)
        yield from _ESCAPE.sub(lambda each: _UNESCAPED[each[0]], line[begin:end]).split("\n")
        place = end
    if not place:
        yield line


def bare(line: str) -> str:
    """The line without indentation and what logs and chats put before it: quote marks, times, levels, names of containers."""
    for _ in range(_MOST_PREFIXES):
        found = _PREFIX.match(line)
        if found is None or not found.end():
            break
        line = line[found.end() :]
    return line.strip()


def slashed(path: str) -> str:
    """A path with forward slashes, without the quotes around it."""
    return path.strip("\"'`").replace("\\", "/")
