"""The documents held to the code: what they show is what the program prints, and what they name exists."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from history import clone, hermetic_environment

from tokenzip import __version__

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands() -> set[str]:
    """Names of the commands that the program knows."""
    from tokenzip.cli.root import root

    return {name for name, command in root.commands.items() if not command.hidden}


def test_the_readme_lists_every_command_and_names_no_other() -> None:
    listed = set(re.findall(r"^\| `tokenzip ([a-z]+)", README, re.MULTILINE))
    named = set(re.findall(r"(?:`|\$ )tokenzip ([a-z]+)", README))
    assert listed == commands()
    assert named <= commands()


def test_every_command_and_option_has_a_help_text() -> None:
    from tokenzip.cli.root import root

    for name, command in root.commands.items():
        assert command.help, name
        for parameter in command.params:
            assert getattr(parameter, "help", None) or parameter.param_type_name == "argument", (name, parameter.name)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), target


def test_documents_that_the_code_names_exist() -> None:
    for source in sorted((ROOT / "tokenzip").rglob("*.py")):
        for name in re.findall(r"docs/[\w/-]+\.md", source.read_text(encoding="utf-8")):
            assert (ROOT / name).exists(), f"{source.relative_to(ROOT)} names {name}"


def test_the_version_is_said_alike_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == __version__
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def sessions(text: str) -> Iterator[tuple[str, str]]:
    """Each command of the ``console`` blocks, with what it is shown to print."""
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.rstrip("\n")


def test_the_readme_shows_what_the_program_prints(tmp_path: Path) -> None:
    """The tutorial, command after command; a line of dots stands for lines left out."""
    shown = list(sessions(README))
    assert len(shown) >= 4
    repository = clone("httpx", tmp_path / "httpx")
    environment = {**hermetic_environment(), "TOKENZIP_HOME": str(tmp_path / "home"), "COLUMNS": "120", "NO_COLOR": "1"}
    for command, expected in shown:
        if not command.startswith("tokenzip "):
            continue
        words = (sys.executable, "-m", "tokenzip", *shlex.split(command)[1:])
        done = subprocess.run(
            words,
            cwd=repository,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        printed = [line.rstrip() for line in done.stdout.rstrip("\n").split("\n")]
        assert fits(expected.split("\n"), printed), f"$ {command}\n{done.stdout}{done.stderr}"


def fits(shown: list[str], printed: list[str]) -> bool:
    """Whether the lines are the same; a shown line of three dots stands for any lines."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(fits(shown[1:], printed[start:]) for start in range(len(printed) + 1))
    return bool(printed) and shown[0].rstrip() == printed[0] and fits(shown[1:], printed[1:])
