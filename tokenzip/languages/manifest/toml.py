"""TOML: pyproject.toml, Cargo.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

from tokenzip.languages.manifest.text import decode, line_of, normalised, refuse_depth
from tokenzip.languages.manifest.values import MAX_DEPTH, Malformed, Parsed, Values, at
from tokenzip.model import ParseProblem

_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)|'
    r"'''(?:[^']|'(?!''))*+(?:'''|\Z)|"
    r'"(?:[^"\\\n]|\\.)*+"?|'
    r"'[^'\n]*+'?|#[^\n]*|[\[\]{}]",
    re.DOTALL,
)
_LONG_KEY = re.compile(rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MAX_DEPTH}}}""")
_LINE = re.compile(r"at line (\d+)")
_HEADER = re.compile(r"[ \t]*\[")
_ROUNDS = 8
"""Broken tables that are left out one by one before the file is given up."""


def parse_toml(source: bytes) -> Parsed:
    """The tables that can be read: a table with a fault in it is left out and reported. Raises `Malformed`."""
    text = decode(source).replace("\r\n", "\n")
    refuse_depth(_TOKEN.finditer(text), text)
    if long := _LONG_KEY.search(text):  # the time that tomllib needs grows faster than the square of a key's parts
        raise Malformed(line_of(text, long.start()), f"a key has more than {MAX_DEPTH} parts")
    lines = text.split("\n")
    problems: list[ParseProblem] = []
    for _ in range(_ROUNDS):
        try:
            return Parsed(tomllib.loads("\n".join(lines)), tuple(problems))
        except ValueError as error:
            found = _LINE.search(str(error))
            line = min(int(found[1]), len(lines)) if found else len(lines)
            problems.append(ParseProblem(line, "not valid TOML"))
            _blank_table(lines, line)
    raise Malformed(problems[0].line, problems[0].message)


def _blank_table(lines: list[str], line: int) -> None:
    """Empties the table that holds the 1-based line."""
    begin = line - 1
    while begin > 0 and not _HEADER.match(lines[begin]):
        begin -= 1
    end = begin + 1 if line - 1 < begin else line
    while end < len(lines) and not _HEADER.match(lines[end]):
        end += 1
    lines[begin:end] = [""] * (end - begin)


def announce_toml(values: Values) -> Iterator[str]:
    for table in (values.get("project"), at(values, "tool", "poetry")):
        name = table.get("name") if isinstance(table, dict) else None
        if isinstance(name, str) and name:
            yield f"package:{normalised(name)}"
    crate = at(values, "package", "name")
    if isinstance(crate, str) and crate:
        yield f"package:{crate}"
