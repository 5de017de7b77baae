"""Folders for what is thrown away again: also by the next run, if the one that made them was killed.

A folder is held by a lock on a file in it, which the system frees when its holder dies. So it can be told apart from one that
is in use, whatever machine or container the holder runs in.
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import sys
import tempfile
from types import TracebackType
from typing import IO

_PREFIX = "tokenzip-"
_HELD = "held"


class ScratchFolder:
    """A new folder among the system's temporary ones, gone with the end of the context or with `cleanup`."""

    def __init__(self) -> None:
        _remove_abandoned()
        self.name = tempfile.mkdtemp(prefix=_PREFIX)
        self._held = _hold(self.name)

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.cleanup()

    def cleanup(self) -> None:
        if self._held is not None:
            self._held.close()
        shutil.rmtree(self.name, ignore_errors=True)


def _hold(folder: str) -> IO[bytes] | None:
    """Take the lock before anybody can see its file under the name that is looked for."""
    unseen = os.path.join(folder, _HELD + ".new")
    file = os.fdopen(os.open(unseen, os.O_CREAT | os.O_WRONLY, 0o600), "wb")  # open for as long as the folder is there
    if not _locked(file):
        file.close()
        return None
    os.rename(unseen, os.path.join(folder, _HELD))
    return file


def _remove_abandoned() -> None:
    """Remove the folders of this user that nobody holds any more. What cannot be looked at stays."""
    for path in glob.glob(os.path.join(glob.escape(tempfile.gettempdir()), f"{_PREFIX}*", _HELD)):
        with contextlib.suppress(OSError), open(path, "ab") as file:
            if _locked(file):
                shutil.rmtree(os.path.dirname(path), ignore_errors=True)


def _locked(file: IO[bytes]) -> bool:
    """Whether the lock was had. Where the system has no such locks nothing is ever abandoned."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
