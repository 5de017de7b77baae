"""JSON with comments and trailing commas, edited as text: one entry goes in or out, and every other byte stays."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class _Member:
    """One ``name: value`` of an object: offsets into the text."""

    name: str
    start: int
    value_start: int
    end: int


class _Scanner:
    """Finds members of objects in JSON that may hold comments and trailing commas, without changing it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def blank(self, place: int) -> int:
        """The next place that is neither white space nor comment."""
        text = self.text
        while place < len(text):
            if text[place].isspace() or text[place] == "\ufeff":
                place += 1
            elif text.startswith("//", place):
                end = text.find("\n", place)
                place = len(text) if end < 0 else end
            elif text.startswith("/*", place):
                end = text.find("*/", place)
                if end < 0:
                    raise ValueError("a comment does not end")
                place = end + 2
            else:
                break
        return place

    def string(self, place: int) -> int:
        """The place after the string that begins here."""
        match = re.compile(r'"(?:[^"\\\n]|\\.)*"').match(self.text, place)
        if match is None:
            raise ValueError(f"line {self.text.count(chr(10), 0, place) + 1}: a string was expected")
        return match.end()

    def value(self, place: int) -> int:
        """The place after the value that begins here."""
        if place >= len(self.text):
            raise ValueError("it ends too early")
        opening = self.text[place]
        if opening == '"':
            return self.string(place)
        if opening not in "{[":
            match = re.compile(r"[^\s,\]}/\"{\[]+").match(self.text, place)
            if match is None:
                raise ValueError(f"line {self.text.count(chr(10), 0, place) + 1}: a value was expected")
            return match.end()
        closers = [{"{": "}", "[": "]"}[opening]]
        place += 1
        while closers:
            place = self.blank(place)
            if place >= len(self.text):
                raise ValueError("a bracket does not close")
            character = self.text[place]
            if character == '"':
                place = self.string(place)
            elif character in "{[":
                closers.append({"{": "}", "[": "]"}[character])
                place += 1
            elif character in "}]":
                if closers.pop() != character:
                    raise ValueError(f"line {self.text.count(chr(10), 0, place) + 1}: brackets do not match")
                place += 1
            else:
                place += 1
        return place

    def members(self, place: int) -> tuple[list[_Member], int]:
        """The members of the object that begins here, and the place of its closing brace."""
        if self.text[place : place + 1] != "{":
            raise ValueError(f"line {self.text.count(chr(10), 0, place) + 1}: an object was expected")
        members: list[_Member] = []
        place = self.blank(place + 1)
        while self.text[place : place + 1] != "}":
            start = place
            end = self.string(start)
            name = json.loads(self.text[start:end])
            place = self.blank(end)
            if self.text[place : place + 1] != ":":
                raise ValueError(f"line {self.text.count(chr(10), 0, place) + 1}: a colon was expected")
            value_start = self.blank(place + 1)
            place = self.value(value_start)
            members.append(_Member(name, start, value_start, place))
            place = self.blank(place)
            if self.text[place : place + 1] == ",":
                place = self.blank(place + 1)
            elif self.text[place : place + 1] != "}":
                raise ValueError(f"line {self.text.count(chr(10), 0, place) + 1}: a comma or brace was expected")
        return members, place


def with_entry(text: str, section: str, name: str, value: Mapping[str, Any], pinned: Container[str]) -> str:
    """The text with ``section: {name: value}`` in it. Raises ValueError for what is no JSON object.

    Of an entry that is there already, the members named in `pinned` are set; others are added where they are missing.
    """
    if not text.strip("\ufeff \t\r\n"):
        return json.dumps({section: {name: value}}, indent=2, ensure_ascii=False) + "\n"
    scanner = _Scanner(text)
    start = scanner.blank(0)
    members, _ = scanner.members(start)
    holder = next((member for member in members if member.name == section), None)
    if holder is None:
        return _inserted(scanner, start, section, {name: value})
    ours = next((member for member in scanner.members(holder.value_start)[0] if member.name == name), None)
    if ours is None:
        return _inserted(scanner, holder.value_start, name, value)
    if text[ours.value_start] != "{":
        return _replaced(text, ours, value)
    return _mended(text, ours.value_start, value, pinned)


def _mended(text: str, place: int, value: Mapping[str, Any], pinned: Container[str]) -> str:
    """The text with what the object that begins at `place` lacks of `value`, and its pinned members as they are there."""
    for name, item in value.items():
        scanner = _Scanner(text)
        known = next((member for member in scanner.members(place)[0] if member.name == name), None)
        if known is None:
            text = _inserted(scanner, place, name, item)
        elif name in pinned and not _says(text[known.value_start : known.end], item):
            text = _replaced(text, known, item)
    return text


def _says(text: str, value: Any) -> bool:
    try:
        return bool(json.loads(text) == value)
    except ValueError:  # it holds comments
        return False


def _replaced(text: str, member: _Member, value: Any) -> str:
    indent, unit = _indents(text, member.start)
    return text[: member.value_start] + _json_text(value, indent, unit, text) + text[member.end :]


def _inserted(scanner: _Scanner, place: int, name: str, value: Any) -> str:
    """The text with a member added at the end of the object that begins at `place`, in the style of its neighbours."""
    text = scanner.text
    members, closing = scanner.members(place)
    outer, unit = _indents(text, place)
    newline = "\r\n" if "\r\n" in text else "\n"
    if not members:
        member = f"{newline}{outer}{unit}{json.dumps(name)}: {_json_text(value, outer + unit, unit, text)}"
        comment = text[place + 1 : closing].rstrip()
        return text[: place + 1] + comment + member + newline + outer + text[closing:]
    last = members[-1]
    one_line = newline not in text[place:closing]
    indent = outer + unit if one_line else _indents(text, last.start)[0]
    after = scanner.blank(last.end)
    has_comma = text[after : after + 1] == ","
    member = f"{newline}{indent}{json.dumps(name)}: {_json_text(value, indent, unit, text)}"
    if has_comma:
        return text[: after + 1] + member + "," + text[after + 1 :]
    gap = text[last.end : after]
    comments = gap.rstrip()
    end = newline + outer if one_line else gap[len(comments) :]
    return text[: last.end] + "," + comments + member + end + text[after:]


def _json_text(value: Any, indent: str, unit: str, text: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline + indent)


def _indents(text: str, place: int) -> tuple[str, str]:
    """The indentation of the line at `place`, and one step of it in this file."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    steps = re.findall(r"^([ \t]+)\S", text, re.MULTILINE)
    unit = min(steps, key=len) if steps else "  "
    return line[: len(line) - len(line.lstrip())].lstrip("\ufeff"), "\t" if unit.startswith("\t") else unit


def without_entry(text: str, section: str, name: str) -> str:
    """The text without that entry, and without its section if nothing else is in it. Raises ValueError."""
    scanner = _Scanner(text)
    members, _ = scanner.members(scanner.blank(0))
    holder = next((member for member in members if member.name == section), None)
    inner = scanner.members(holder.value_start)[0] if holder is not None else []
    if not any(member.name == name for member in inner):
        return text
    return _removed(scanner, members, section) if len(inner) == 1 else _removed(scanner, inner, name)


def _removed(scanner: _Scanner, members: Sequence[_Member], name: str) -> str:
    """The text without that member, its comma and its line."""
    text = scanner.text
    place = next(index for index, member in enumerate(members) if member.name == name)
    member = members[place]
    after = scanner.blank(member.end)
    if text[after : after + 1] == ",":
        end = after + 1
        start = text.rfind("\n", 0, member.start) + 1
        if text[start : member.start].strip() == "":
            rest = re.compile(r"[ \t]*\r?\n").match(text, end)
            return text[:start] + text[rest.end() if rest else end :]
        return text[: member.start] + text[end:].lstrip(" ")
    start = members[place - 1].end if place else member.start
    tail = text[member.end :]
    if not place:
        line = text.rfind("\n", 0, start) + 1
        start = line - 1 if line and text[line:start].strip() == "" else start
        start -= text[start - 1 : start] == "\r"
    return text[:start] + tail
