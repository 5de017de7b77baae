"""Where the server writes down what its client need not read: standard error may be a pipe that nobody empties."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging

NAME = "serve.log"
LARGEST = 1 << 20
"""Bytes; a larger log becomes ``serve.log.old`` before more is written."""


def journal_path() -> Path:
    """The log of all servers of this user."""
    from tokenzip import config

    return config.cache_home() / "logs" / NAME


def record_failure(what: str, error: BaseException) -> Path | None:
    """Write down an unexpected failure with its traceback. Returns the file, None if it cannot be written."""
    import traceback
    from datetime import UTC, datetime

    text = "".join(traceback.format_exception(error))
    return _append(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} pid {os.getpid()}: {what} failed\n{text}\n")


def keep_library_logs() -> None:
    """Send what libraries and our own modules log to the file: they would fall back to standard error."""
    import logging

    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(_handler())


def _handler() -> logging.Handler:
    import logging

    class Journal(logging.Handler):
        """Not a FileHandler: that raises into whoever logs, when the folder is gone or full by then."""

        def emit(self, record: logging.LogRecord) -> None:
            _append(self.format(record) + "\n")

    handler = Journal()
    handler.setFormatter(logging.Formatter("%(asctime)s pid %(process)d: %(name)s: %(message)s"))
    return handler


def _append(text: str) -> Path | None:
    path = journal_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > LARGEST:
            path.replace(path.with_suffix(".log.old"))
        with path.open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(text)
    except OSError:
        return None
    return path
