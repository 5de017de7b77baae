"""What the server writes down, and that it never fails a call over it."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest

from tokenzip.server.journal import journal_path, keep_library_logs


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> logging.Logger:
    """The root logger as a server finds it."""
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    return root


def test_a_log_folder_that_goes_away_is_made_again(
    root: logging.Logger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("TOKENZIP_HOME", str(home))
    keep_library_logs()
    root.warning("one")
    shutil.rmtree(home)
    root.warning("two")
    assert journal_path().read_text().endswith(": root: two\n")


def test_a_log_that_cannot_be_written_stops_nothing(
    root: logging.Logger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TOKENZIP_HOME", str(tmp_path / "file"))
    keep_library_logs()
    root.warning("nobody hears this")
