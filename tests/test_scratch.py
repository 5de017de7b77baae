"""Scratch folders: gone at the end, and after a kill with the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tokenzip.scratch import ScratchFolder

HOLD = """import time
from tokenzip.scratch import ScratchFolder

held = ScratchFolder()
print(held.name, flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_ends_with_its_context(temporary: Path) -> None:
    with ScratchFolder() as folder:
        (Path(folder) / "file").write_text("")
        assert Path(folder).parent == temporary
    assert list(temporary.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no locks that tell who is alive")
def test_what_a_killed_process_left_goes_and_what_a_living_one_has_stays(temporary: Path) -> None:
    holders = [subprocess.Popen((sys.executable, "-c", HOLD), stdout=subprocess.PIPE, text=True) for _ in range(2)]
    folders = [holder.stdout.readline().strip() for holder in holders if holder.stdout is not None]
    os.kill(holders[0].pid, signal.SIGKILL)
    holders[0].wait()
    (temporary / "tokenzip-of-another-kind").mkdir()
    with ScratchFolder() as own:
        assert {path.name for path in temporary.iterdir()} == {
            *map(os.path.basename, (folders[1], own)), "tokenzip-of-another-kind",
        }  # fmt: skip
    holders[1].kill()
    for holder in holders:
        holder.communicate()
