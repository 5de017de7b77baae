"""What the server writes down, and that it never fails a call over it."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest

from tokenzip.server.journal import journal_path, keep_library_logs


def as_in_a_server(monkeypatch: pytest.MonkeyPatch, home: Path) -> logging.Logger:
    """The root logger without the handlers of the test run, which begin with the test itself, after all fixtures."""
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setenv("TOKENZIP_HOME", str(home))
    keep_library_logs()
    return root


def test_a_log_folder_that_goes_away_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    root = as_in_a_server(monkeypatch, home)
    root.warning("one")
    shutil.rmtree(home)
    root.warning("two")
    assert journal_path().read_text().endswith(": root: two\n")


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    as_in_a_server(monkeypatch, tmp_path / "file").warning("nobody hears this")
