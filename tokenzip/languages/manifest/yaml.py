"""YAML, as far as workspace files use it: block mappings and sequences, flow lists of scalars, comments."""

from __future__ import annotations

import json
import re
from typing import Any

from tokenzip.languages.manifest.text import decode
from tokenzip.languages.manifest.values import MAX_DEPTH, Parsed, Values
from tokenzip.model import ParseProblem

_KEY = re.compile(r"""("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'|[^\s"'#\[\]{}&*!|>%@`,-][^#]*?|-[^\s#][^#]*?)\s*:(?=\s|$)\s*(.*)$""")
_COMMENT = re.compile(r"""(?:"(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'|[^"'\s]|(?<!\s)["']|\s(?!\s*#))*+""")
_ITEM = re.compile(r"""\s*("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'|[^,\[\]{}"']+)\s*(?:,|$)""")
_LINE = 2_000
"""Longer lines are left out: the patterns above are quadratic in the length of a line."""
_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "true": True, "false": False}
_NOT_UNDERSTOOD = object()


def parse_yaml(source: bytes) -> Parsed:
    """Block mappings and sequences of scalars and flow lists; every line that is anything else is reported and left out."""
    blocks = _Blocks()
    problems: list[ParseProblem] = []
    for number, line in enumerate(decode(source).splitlines(), 1):
        if len(line) > _LINE:
            problems.append(ParseProblem(number, f"longer than {_LINE:,} characters"))
            continue
        found = _COMMENT.match(line)
        text = found[0].rstrip() if found else line
        body = text.lstrip(" ")
        if not body or body[0] == "#" or body in ("---", "..."):
            continue
        if not blocks.take(len(text) - len(body), body):
            problems.append(ParseProblem(number, "not understood"))
    return Parsed(blocks.root, tuple(problems))


class _Blocks:
    """The mappings and sequences that are open while lines are read, each with its indent."""

    def __init__(self) -> None:
        self.root: Values = {}
        self._stack: list[tuple[int, Any]] = [(-1, self.root)]
        self._waiting: tuple[int, Values, str] | None = None
        """A key whose value begins on the next line."""

    def take(self, indent: int, body: str) -> bool:
        """Add one line to the block that it belongs to. False if it is not understood."""
        is_item = body == "-" or body.startswith("- ")
        self._open(indent, is_item)
        self._close(indent, is_item)
        level, holder = self._stack[-1]
        if level not in (indent, -1) or (level == -1 and indent != 0):
            return False
        if is_item:
            item = _value(body[1:].strip()) if isinstance(holder, list) else _NOT_UNDERSTOOD
            if item is not _NOT_UNDERSTOOD:
                holder.append(item)
        else:
            item = self._pair(indent, holder, body)
        return item is not _NOT_UNDERSTOOD

    def _open(self, indent: int, is_item: bool) -> None:
        """Begin the block of a waiting key; the items of a sequence may stand as far left as its key."""
        if self._waiting is not None:
            level, parent, key = self._waiting
            if (indent > level or (is_item and indent == level)) and len(self._stack) <= MAX_DEPTH:
                container: Any = [] if is_item else {}
                parent[key] = container
                self._stack.append((indent, container))
        self._waiting = None

    def _close(self, indent: int, is_item: bool) -> None:
        """End the blocks that a line of this indent is no part of."""
        while len(self._stack) > 1:
            level, holder = self._stack[-1]
            if level < indent or (level == indent and (is_item or not isinstance(holder, list))):
                break
            self._stack.pop()

    def _pair(self, indent: int, holder: Any, body: str) -> Any:
        pair = _KEY.match(body)
        if pair is None or not isinstance(holder, dict):
            return _NOT_UNDERSTOOD
        item = _value(pair[2])
        if item is not _NOT_UNDERSTOOD:
            key = str(_scalar(pair[1]))
            holder[key] = item
            self._waiting = (indent, holder, key) if not pair[2] else None
        return item


def _value(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        items, position, inner = [], 0, text[1:-1].rstrip().removesuffix(",")
        while position < len(inner):
            found = _ITEM.match(inner, position)
            if found is None:
                return _NOT_UNDERSTOOD
            items.append(_scalar(found[1].strip()))
            position = found.end()
        return items
    if text == "{}":
        return {}
    if text[:1] in ("[", "{", "&", "*", "!", "|", ">", "%", "@", "`") or _KEY.match(text):
        return _NOT_UNDERSTOOD
    return _scalar(text)


def _scalar(text: str) -> Any:
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) >= 2 and text[0] == text[-1] == '"':
        try:
            return json.loads(text, strict=False)
        except ValueError:
            return text[1:-1]
    return _WORDS.get(text.lower(), text)
