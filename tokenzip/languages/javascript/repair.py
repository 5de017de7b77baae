"""Valid TypeScript that the grammar of the pack cannot read, rewritten so that it can: same length, same lines.

- A call signature that begins a line (``<T>(x: T): U`` in an interface) needs a semicolon before it.
- ``export type * from`` is read as ``export * from``.
"""

from __future__ import annotations

import re

_SIGNATURE = re.compile(rb"\n([ \t]+)<(?=[\w \t\n])")
_TYPE_STAR = re.compile(rb"\bexport\s+(type)(?=\s*\*)")
_OPEN = b"{(,;|&=<:?[>+-*/%!~^"


def repaired(source: bytes) -> bytes:
    """The source with what the grammar does not know written in another way; the same object if nothing was found."""
    changes: list[tuple[int, int, bytes]] = []
    for found in _TYPE_STAR.finditer(source):
        changes.append((found.start(1), found.end(1), b"    "))
    for found in _SIGNATURE.finditer(source):
        if _ends_member(source, found.start()):
            at = found.end(1) - 1
            changes.append((at, at + 1, b";"))
    if not changes:
        return source
    changes.sort()
    parts: list[bytes] = []
    last = 0
    for start, end, text in changes:
        parts.append(source[last:start])
        parts.append(text)
        last = end
    parts.append(source[last:])
    return b"".join(parts)


def _ends_member(source: bytes, position: int) -> bool:
    """Whether what stands before the position, comments aside, may be the end of a member."""
    end = position
    while end > 0:
        while end > 0 and source[end - 1] in b" \t\r\n":
            end -= 1
        if source[max(0, end - 2) : end] == b"*/":
            end = max(0, source.rfind(b"/*", 0, end - 2))
            continue
        line = source.rfind(b"\n", 0, end) + 1
        comment = source.find(b"//", line, end)
        if comment >= 0 and source[line:comment].strip() == b"":
            end = line
            continue
        if comment > 0 and source[comment - 1 : comment] != b":":
            end = comment
            continue
        break
    return end > 0 and (
        source[end - 1] not in _OPEN or source[max(0, end - 2) : end] in (b"=>",) or source[end - 1 : end] == b">"
    )
