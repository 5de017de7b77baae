"""The folders that older formats left beside the live one: what they take, whether somebody still uses them, and their end."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tokenzip.store.environment import FORMAT, FileLock

_NAME = re.compile(r"v(\d+)(\.removed-\d+)?")


class OldFormat(NamedTuple):
    """The folder of an older format."""

    folder: Path
    bytes: int
    used: float
    """When a file in it was last written, seconds since 1970: LMDB writes to its lock file for readers too."""

    @property
    def name(self) -> str:
        """``v3``."""
        return self.folder.name.partition(".")[0]


def older_formats(store: Path) -> list[OldFormat]:
    """What older formats left in the folder of a store, the oldest first. Those of a newer tokenzip are not among it."""
    found = []
    with contextlib.suppress(OSError):
        for folder in store.iterdir():
            name = _NAME.fullmatch(folder.name)
            if name is not None and int(name[1]) < FORMAT and folder.is_dir():
                found.append((int(name[1]), folder))
    return [_described(folder) for _, folder in sorted(found)]


def _described(folder: Path) -> OldFormat:
    states = []
    for path in (folder, *folder.rglob("*")):
        with contextlib.suppress(OSError):
            states.append(path.lstat())
    return OldFormat(folder, sum(state.st_size for state in states), max((state.st_mtime for state in states), default=0.0))


def remove_format(old: OldFormat) -> bool:
    """Whether the folder could be taken away: not while a process has it open, or is about to write to it."""
    with _taken(old.folder) as is_ours:
        if not is_ours:
            return False
        grave = old.folder.with_name(f"{old.name}.removed-{os.getpid()}")
        try:
            if old.folder != grave:
                os.replace(old.folder, grave)  # in one step: nobody opens half of it
        except OSError:  # not ours to remove; or a system that does not let go of open files
            return False
    shutil.rmtree(grave, ignore_errors=True)
    return True


@contextlib.contextmanager
def _taken(folder: Path) -> Iterator[bool]:
    """Hold the places of all who might use a store, if they are free."""
    with contextlib.ExitStack() as held:
        yield all(_is_had(held, path) for path in folder.glob("*.lock")) and not any(
            _is_open(held, path) for path in folder.glob("*/lock.mdb")
        )


def _is_had(held: contextlib.ExitStack, path: Path) -> bool:
    lock = FileLock(path)
    try:
        if not lock.acquire(0):
            return False
    except OSError:
        return False
    held.callback(lock.release)
    return True


def _is_open(held: contextlib.ExitStack, path: Path) -> bool:
    """Whether a process has the LMDB environment open that this lock file belongs to.

    It holds a shared lock on the file's first byte as long (``mdb_env_excl_lock`` in LMDB's mdb.c).
    """
    if sys.platform == "win32":
        return False  # there an open file cannot be moved
    import fcntl

    try:
        file = held.enter_context(path.open("r+b"))
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)
    except OSError:
        return True
    return False
