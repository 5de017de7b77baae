"""Handles as people and agents write them: with backslashes, dots, quotes, a line, from a test runner or an editor.

What has one meaning is read so; whether there is such a file or symbol is for others to say.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote

from tokenzip.errors import UsageError

_LINE = re.compile(r"^(?P<path>.+?)(?::(?P<line>[0-9]{1,7})(?:[:-][0-9]+)?|#L(?P<anchor>[0-9]{1,7})(?:-L?[0-9]+)?)$", re.DOTALL)
"""``path:12``, ``path:12:5``, ``path:12-20``, ``path#L12``, ``path#L12-L20``."""
_NAME_AFTER_COLON = re.compile(r"^(?P<path>[^:]*[./][^:]*):(?P<name>[^\W\d][\w.$#]*)$")
"""``path:Qualified.name``."""
_DRIVE = re.compile(r"^[A-Za-z]:/")
_PARAMETERS_OF_TEST = re.compile(r"\[.*\]$", re.DOTALL)
_QUOTES = "\"'`"
_COUNTED_FROM = "Paths are counted from the repository's root, as in src/app.py."

Exists = Callable[[str], bool]
"""Whether the repository has a file or folder of exactly that path."""


@dataclass(frozen=True, slots=True)
class Written:
    """A handle in its parts."""

    path: str
    """The file, or a name that stands alone."""
    qualified: str = ""
    line: int = 0
    """The place in the file, 0 if none was given."""


def read_handle(text: str, exists: Exists) -> Written:
    """The parts of a handle, untidied as they may be."""
    text = bare(text)
    path, separator, qualified = text.partition("::")
    if separator:
        return Written(path.strip(), qualified.strip())
    if exists(text):
        return Written(text)
    if found := _LINE.match(text):
        return Written(found["path"], line=int(found["line"] or found["anchor"]))
    if found := _NAME_AFTER_COLON.match(text):
        return Written(found["path"], found["name"])
    return Written(text.removesuffix("()"))


def bare(text: str) -> str:
    """The text without blanks and quotes around it."""
    text = text.strip()
    while len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES:
        text = text[1:-1].strip()
    return text


def spellings(qualified: str) -> list[str]:
    """Names that a text may stand for, the likeliest first: ``Cart.add`` for ``Cart::add[1-2]`` and ``Cart.add()``."""
    plain = _PARAMETERS_OF_TEST.sub("", qualified).removesuffix("()").replace("::", ".")
    return list(dict.fromkeys((qualified, plain)))


def tidy_path(text: str, root: str | None, exists: Exists) -> str:
    """A path as git writes it, counted from the repository's root; ``.`` is that, what ends in a slash is a folder.

    Raises UsageError for one that leads out of the repository, or begins at the root of a disk and is not below `root`.
    """
    if exists(text):
        return text
    path = bare(text)
    if path.startswith("file://"):
        path = re.sub(r"^/(?=[A-Za-z]:)", "", unquote(path.removeprefix("file://")))
    path = path.replace("\\", "/")
    if "%" in path and exists(unquote(path)):
        return unquote(path)
    if path.startswith("/") or _DRIVE.match(path):
        path = _below_root(path, root, exists)
    tidy = posixpath.normpath(path) if path else path
    if tidy == ".." or tidy.startswith("../"):
        raise UsageError(f"{path} leads out of the repository", hint=_COUNTED_FROM)
    return f"{tidy}/" if path.endswith("/") and tidy != "." else tidy


def _below_root(path: str, root: str | None, exists: Exists) -> str:
    """An absolute path counted from the root of the work tree, or one that takes that root for the root of the disk."""
    for top, place in zip(_ways_to(root), _ways_to(path), strict=False) if root is not None else ():
        if place == top or place.startswith(top.rstrip("/") + "/"):
            return place[len(top) :].strip("/") or "."
    inside = path.strip("/")
    if not inside or exists(posixpath.normpath(inside)):
        return inside or "."
    ends = [end for at in range(len(inside)) if inside[at] == "/" and exists(end := inside[at + 1 :])]
    raise UsageError(f"{path} is not in the repository", hint=_COUNTED_FROM, candidates=ends[:1])


def _ways_to(path: str) -> tuple[str, str]:
    """A place as it was written, and without the links on the way to it (one at its end stays)."""
    plain = posixpath.normpath(path)
    if not os.path.isabs(plain):  # of a disk that this machine does not have
        return plain, plain
    try:
        folder = os.path.realpath(posixpath.dirname(plain))
    except (OSError, ValueError):
        return plain, plain
    return plain, posixpath.join(folder.replace("\\", "/"), posixpath.basename(plain))
