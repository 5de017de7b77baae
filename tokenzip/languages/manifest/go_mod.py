"""go.mod: https://go.dev/ref/mod#go-mod-file"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tokenzip.languages.manifest.text import decode
from tokenzip.languages.manifest.values import Parsed, Values
from tokenzip.model import ParseProblem

_WORD = re.compile(r'"((?:[^"\\]|\\.)*+)"|`([^`]*)`|([^\s"`()]+|[()])')


def parse_go_mod(source: bytes) -> Parsed:
    """``module``, ``go``, ``toolchain``: text. ``require``: path -> {version, indirect}. ``replace``: old -> new path."""
    values: Values = {}
    problems: list[ParseProblem] = []
    block = ""
    for number, line in enumerate(decode(source).splitlines(), 1):
        code, _, comment = line.partition("//")
        words = [next(group for group in found.groups() if group is not None) for found in _WORD.finditer(code)]
        if not words:
            continue
        if block:
            if words == [")"]:
                block = ""
            elif not _directive(values, block, words, comment):
                problems.append(ParseProblem(number, f"not a line of {block}"))
        elif len(words) == 2 and words[1] == "(":
            block = words[0]
        elif not _directive(values, words[0], words[1:], comment):
            problems.append(ParseProblem(number, "not a directive of go.mod"))
    return Parsed(values, tuple(problems))


def _directive(values: Values, verb: str, words: list[str], comment: str) -> bool:
    if verb in ("module", "go", "toolchain") and len(words) == 1:
        values[verb] = words[0]
    elif verb == "require" and len(words) == 2:
        values.setdefault(verb, {})[words[0]] = {"version": words[1], "indirect": comment.strip().startswith("indirect")}
    elif verb == "replace" and "=>" in words[1:-1]:
        values.setdefault(verb, {})[words[0]] = words[words.index("=>") + 1]
    elif verb in ("exclude", "retract", "godebug", "tool", "ignore") and words:
        values.setdefault(verb, []).append(" ".join(words))
    else:
        return False
    return True


def announce_go(values: Values) -> Iterator[str]:
    if isinstance(values.get("module"), str):
        yield f"module:{values['module']}"
