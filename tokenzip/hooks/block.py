"""The block of shell that is put into hook files: made from ``hooks/block.sh``, inserted, found again, taken out.

A file is bytes here, and everything outside the block is carried over as it is.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

NAMES = ("pre-commit", "post-commit", "post-checkout", "post-merge", "post-rewrite")
KEPT_FOLDER = "tokenzip-kept"
"""Beside the hooks: where a hook waits that is no shell script, or a link, and is run from ours. It keeps its base name,
since some hooks (overcommit) go by it."""
BLOCKED = 91
"""Exit code of "stop this commit". No crash of an interpreter or shell ends in it."""
FRESH = b"#!/bin/sh\n"
"""What a file of our own holds beside the block."""

Origin = Literal["made", "found", "joined", "kept"]
"""How the block came into the file: the file is ours; it was there; it was there, without a line end; it stands aside."""
_ORIGINS: dict[bytes, Origin] = {b"made": "made", b"found": "found", b"joined": "joined", b"kept": "kept"}

_BLOCK = re.compile(rb"^# >>> tokenzip >>>(?: (\w+))?[^\n]*\n.*?^# <<< tokenzip <<<\r?(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_PYTHON = re.compile(rb"^\ttokenzip_python='((?:[^'\n]|'\\'')*)'\r?$", re.MULTILINE)
_SHELLS = {b"sh", b"bash", b"dash", b"ash", b"ksh", b"mksh", b"zsh", b"busybox"}
_KEPT = """\
if [ -x "${0%/*}/@FOLDER@/@NAME@" ]; then
	exec "${0%/*}/@FOLDER@/@NAME@" "$@"
fi
"""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a block is made from: the interpreter that is recorded, and the file that takes what goes wrong."""

    python: str
    log: str
    flags: str = "-EP"
    """``-P``: the repository's own folder is no place to import from. ``-E``: nor is what PYTHONPATH names."""

    @classmethod
    def here(cls, log: str) -> Recipe:
        """For the interpreter that runs now. Where it finds this package by PYTHONPATH alone, that must be heeded."""
        ours = str(Path(__file__).resolve().parents[2])
        by_path = ours in [os.path.realpath(p) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
        return cls(sys.executable, log, "-P" if by_path else "-EP")

    def block(self, name: str, origin: Origin) -> bytes:
        """The block for one hook."""
        kept = _KEPT.replace("@FOLDER@", KEPT_FOLDER) if origin == "kept" else ""
        values = {
            "ORIGIN": origin, "KEPT": kept, "NAME": name, "PYTHON": _quoted(self.python), "LOG": _quoted(self.log),
            "FLAGS": self.flags, "BLOCKED": str(BLOCKED),
        }  # fmt: skip
        text = _template()
        for key, value in values.items():
            text = text.replace(f"@{key}@", value)
        return text.encode("utf-8", "surrogateescape")


def _template() -> str:
    """Package data in a wheel, the folder beside the package in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "hook_shims", package.parent / "hooks"):
        path = folder / "block.sh"
        if path.exists():
            return path.read_text("utf-8").replace("\r\n", "\n")  # a checkout may have converted it; a shell must not see it
    raise FileNotFoundError(f"block.sh is not beside {package}: the installation is incomplete")


def _quoted(text: str) -> str:
    """One word of shell. Windows paths as its git's shell writes them."""
    return "'" + (text.replace("\\", "/") if os.name == "nt" else text).replace("'", "'\\''") + "'"


def origin_of(data: bytes) -> Origin | None:
    """How the block came into a file; None if there is none."""
    found = _BLOCK.search(data)
    return _ORIGINS.get(found[1] or b"", "found") if found else None


def python_of(data: bytes) -> str | None:
    """The interpreter that a file's block records."""
    found = _BLOCK.search(data)
    python = _PYTHON.search(found[0]) if found else None
    return python[1].replace(b"'\\''", b"'").decode("utf-8", "surrogateescape") if python else None


def with_block(data: bytes, name: str, recipe: Recipe) -> bytes:
    """A shell hook with the block after its first line, or with the block it has brought up to date."""
    origin = origin_of(data)
    if origin is not None:
        return _replaced(data, recipe.block(name, origin))
    if not data.startswith(b"#!"):
        return recipe.block(name, "found") + data
    first, end, rest = data.partition(b"\n")
    if not end:
        return first + b"\n" + recipe.block(name, "joined").removesuffix(b"\n")
    return first + end + recipe.block(name, "found") + rest


def _replaced(data: bytes, block: bytes) -> bytes:
    """The first block exchanged; any others (a file that was put together by hand) taken out."""
    found = _BLOCK.search(data)
    assert found is not None
    if not found[0].endswith(b"\n"):
        block = block.removesuffix(b"\n")
    return data[: found.start()] + block + _BLOCK.sub(b"", data[found.end() :])


def without_block(data: bytes) -> bytes:
    """The file as it was before."""
    found = _BLOCK.search(data)
    if found is None:
        return data
    before = data[: found.start()]
    if _ORIGINS.get(found[1] or b"") == "joined" and found.end() == len(data):
        before = before.removesuffix(b"\n")
    return before + _BLOCK.sub(b"", data[found.end() :])


def is_shell(data: bytes) -> bool:
    """Whether lines of POSIX shell may be put at the top of this hook. Git runs a file without ``#!`` with sh."""
    first, _, rest = data.partition(b"\n")
    if rest.lstrip().startswith((b"'''", b'":"', b'":";', b"#\\\n")):
        return False  # another language that starts itself through sh, and would read the block too
    if not first.startswith(b"#!"):
        return b"\0" not in data[:8000]
    words = [os.path.basename(word) for word in first[2:].split()]
    if words and words[0] == b"env":
        words = [word for word in words[1:] if not word.startswith(b"-") and b"=" not in word]
    return bool(words) and words[0].removesuffix(b".exe") in _SHELLS
