"""The shape of the package, held by tests: the layers contract, and what each door may load before it has something to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HEAVY = (
    *("pygit2", "lmdb", "msgpack", "zstandard", "tree_sitter", "tree_sitter_language_pack", "mcp", "pydantic"),
    "multiprocessing",
)
"""Libraries that cost tens of milliseconds or megabytes: loaded when a question needs them, never before."""


def test_the_layers_contract_is_kept() -> None:
    command = (str(Path(sys.executable).with_name("lint-imports")), "--no-cache")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("tokenzip", (*HEAVY, "click", "asyncio")),
        ("tokenzip.operations", (*HEAVY, "click", "asyncio")),
        ("tokenzip.server", (*HEAVY, "click", "asyncio")),
        ("tokenzip.hooks", (*HEAVY, "click", "asyncio")),
        ("tokenzip.cli", (*HEAVY, "asyncio")),
        ("tokenzip.repository", (*HEAVY, "click", "asyncio")),
    ],
)
def test_what_a_door_may_load(module: str, forbidden: tuple[str, ...]) -> None:
    loaded = loaded_by(f"import {module}")
    assert not loaded & set(forbidden)


def test_asking_a_language_about_a_path_loads_no_parser() -> None:
    asked = "from tokenzip.languages import registry\nfor one in registry.all_languages(): one.is_test('a/test_b.py')"
    assert not loaded_by(asked) & {"tree_sitter", "tree_sitter_language_pack"}


def loaded_by(statement: str) -> set[str]:
    """Top-level names of the modules that a fresh interpreter holds after the statement."""
    code = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    return set(done.stdout.split())
