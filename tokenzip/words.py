"""Words: how identifiers, prose and the contents of files are cut into what can be searched for.

The words of contents are stored: a change of how they are cut is a change of the store's format
(``tokenzip.store.environment.FORMAT``).
"""

from __future__ import annotations

import functools
import re

LARGEST = 2_000_000
"""Bytes of a content whose words are looked at: what lies behind them is data."""
LONGEST = 60
"""Letters of a content's word. Longer ones are data too."""

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\dA-Za-z_]+")
_DIGITS = b"0123456789"
_SPACED = bytes(code if (chr(code).isalnum() and code < 128) or code == ord("_") else ord(" ") for code in range(256))
"""For `bytes.translate`: everything that is in no identifier becomes a space."""


@functools.lru_cache(1 << 12)
def parts(identifier: str) -> tuple[str, ...]:
    """The words of an identifier, lower case: ``parseHTTPHeader_v2`` is parse, http, header (single letters are none)."""
    return tuple([part.lower() for part in _PART.findall(identifier) if len(part) > 1])


@functools.lru_cache(1 << 13)
def _ascii_parts(identifier: bytes) -> tuple[str, ...]:
    return parts(identifier.lstrip(_DIGITS).decode("ascii"))


def words_of(source: bytes) -> set[str]:
    """The distinct words of a file's content."""
    source = source[:LARGEST]
    words: set[str] = set()
    if source.isascii():
        for found in set(source.translate(_SPACED).split()):
            words.update(_ascii_parts(found))
    else:
        words.update(words_in(source.decode("utf-8", "replace")))
    return {word for word in words if len(word) <= LONGEST}


def words_in(text: str) -> set[str]:
    """The distinct words of a text."""
    words: set[str] = set()
    for found in set(identifiers(text)):
        words.update(parts(found))
    return words


def identifiers(text: str) -> list[str]:
    """The identifiers of a text, in its order."""
    return _IDENTIFIER.findall(text)
