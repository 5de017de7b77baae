"""pom.xml of Maven."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from xml.parsers import expat

from tokenzip.languages.manifest.values import MAX_DEPTH, Malformed, Parsed, Values
from tokenzip.model import ParseProblem

_XML_SPACE = re.compile(r"\s+")


def parse_pom(source: bytes) -> Parsed:
    """Children of the root element: an element of elements is a dict, a plural one (``modules/module``) a list, others text.

    A document type is refused: with it come entities, and with them bombs and files of the machine.
    """
    builder = _XmlBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.StartDoctypeDeclHandler = lambda *_: builder.refuse(parser.CurrentLineNumber, "has a document type")
    builder.line = lambda: parser.CurrentLineNumber
    try:
        parser.Parse(source, True)
    except (expat.ExpatError, LookupError, ValueError):
        line = parser.CurrentLineNumber
        problem = ParseProblem(line, "not well-formed XML")
        values = builder.so_far()
        if not values:
            raise Malformed(*problem) from None
        return Parsed(values, (problem,))
    values = builder.so_far()
    if builder.root not in ("project", "settings"):
        raise Malformed(1, "not a Maven project")
    return Parsed(values)


class _XmlBuilder:
    """Turns expat's events into dicts, lists and text, without recursion."""

    line: Callable[[], int]

    def __init__(self) -> None:
        self.root = ""
        self._stack: list[tuple[str, list[tuple[str, Any]], list[str]]] = []
        self._children: list[tuple[str, Any]] = []

    def start(self, tag: str, attributes: object) -> None:
        tag = tag.rpartition(":")[2]
        if len(self._stack) >= MAX_DEPTH:
            self.refuse(self.line(), f"nested deeper than {MAX_DEPTH} levels")
        if not self._stack:
            self.root = tag
        self._stack.append((tag, [], []))

    def text(self, text: str) -> None:
        if self._stack:
            self._stack[-1][2].append(text)

    def end(self, tag: str) -> None:
        tag, children, texts = self._stack.pop()
        if self._stack:
            self._stack[-1][1].append((tag, _xml_value(tag, children, texts)))
        else:
            self._children = children

    def refuse(self, line: int, message: str) -> None:
        raise Malformed(line, message)

    def so_far(self) -> Values:
        """Finished children of the root element."""
        return dict(self._stack[0][1] if self._stack else self._children)


def _xml_value(tag: str, children: list[tuple[str, Any]], texts: list[str]) -> Any:
    if not children:
        return _XML_SPACE.sub(" ", "".join(texts)).strip()
    if all(tag in (name + "s", name.removesuffix("y") + "ies") for name, _ in children):
        return [value for _, value in children]
    return dict(children)
