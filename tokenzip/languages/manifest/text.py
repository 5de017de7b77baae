"""The text of a manifest, the lines of what is wrong in it, and how names in it are compared."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tokenzip.languages.manifest.values import MAX_DEPTH, Malformed


def decode(source: bytes) -> str:
    """Text by byte order mark, else UTF-8, else Latin-1."""
    if source.startswith((b"\xff\xfe", b"\xfe\xff")):
        return source.decode("utf-16", "replace")
    try:
        return source.decode("utf-8-sig")
    except UnicodeDecodeError:
        return source.decode("latin-1")


def line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def refuse_depth(tokens: Iterator[re.Match[str]], text: str) -> None:
    depth = 0
    for token in tokens:
        if token[0] in "{[":
            depth += 1
            if depth > MAX_DEPTH:
                raise Malformed(line_of(text, token.start()), f"nested deeper than {MAX_DEPTH} levels")
        elif token[0] in "}]":
            depth -= 1


def normalised(name: str) -> str:
    """The name of a Python distribution as PEP 503 compares it: ``Zope.Interface`` is ``zope-interface``."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()
