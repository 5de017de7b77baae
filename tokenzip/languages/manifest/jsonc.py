"""JSON, also with comments and trailing commas, as tsconfig.json may be written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tokenzip.languages.manifest.text import decode, refuse_depth
from tokenzip.languages.manifest.values import MAX_DEPTH, Malformed, Parsed, Values

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|[\[\]{}]')
_NOT_NEWLINE = re.compile(r"[^\n]")
_TRAILING_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|,(?=\s*+[}\]])')


def parse_json(source: bytes) -> Parsed:
    """An object of JSON or JSONC. Raises `Malformed`."""
    text = decode(source)
    if text.count("{") + text.count("[") > MAX_DEPTH:
        refuse_depth(_TOKEN.finditer(text), text)
    try:
        value = _loads(text)
    except ValueError:
        text = _TRAILING_COMMA.sub(lambda found: " " if found[0] == "," else found[0], _TOKEN.sub(blank, text))
        try:
            value = _loads(text)
        except json.JSONDecodeError as error:
            raise Malformed(error.lineno, "not valid JSON") from None
        except ValueError:
            raise Malformed(1, "a number is too long") from None
    if not isinstance(value, dict):
        raise Malformed(1, "not a JSON object")
    return Parsed(value)


def _loads(text: str) -> Any:
    return json.loads(text, strict=False)


def blank(token: re.Match[str]) -> str:
    """Comments as blanks of the same length, so that positions stay."""
    return _NOT_NEWLINE.sub(" ", token[0]) if token[0][0] == "/" else token[0]


def announce_json(values: Values) -> Iterator[str]:
    name = values.get("name")
    if isinstance(name, str) and name and "compilerOptions" not in values:
        yield f"package:{name}"
