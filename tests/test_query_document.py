"""docs/query.md: what it shows is printed, what it lists is there, and nothing is missing from it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from gitrepo import Repo, hermetic_environment

from tokenzip.query import RepositoryQuery, parse
from tokenzip.query import scopes as scopes_of_queries
from tokenzip.query.chain import Chain, Query
from tokenzip.query.fields import ALIASES, LOOKUPS

WRITE = "TOKENZIP_WRITE_DOCUMENT"
"""Variable that has the document written instead of checked."""
DOCUMENT = Path(__file__).parent.parent / "docs" / "query.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
FILE = re.compile(r"^```python (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SESSION = re.compile(r"^```console\n\$ (.*?)\n(.*?)```$", re.MULTILINE | re.DOTALL)
SCOPES = [
    each for each in vars(scopes_of_queries).values() if isinstance(each, type) and issubclass(each, Chain) and each.SCOPE
]


def rows(heading: str) -> dict[str, list[str]]:
    """The table below a heading: first cell, words in code in the second one."""
    section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return {
        name: " ".join(re.findall(r"`([^`]*)`", cell)).split()
        for name, cell in re.findall(r"^\| (\w+) \| (.*) \|$", section, re.MULTILINE)
    }


def test_the_sessions_are_what_the_program_prints(tmp_path: Path) -> None:
    environment = hermetic_environment(tmp_path / "home") | {"TOKENZIP_HOME": str(tmp_path / "cache"), "NO_COLOR": "1"}
    repo = Repo.create(tmp_path / "shop", environment)
    repo.commit(dict(FILE.findall(TEXT)))

    def printed(session: re.Match[str]) -> str:
        words = (sys.executable, "-m", "tokenzip", *shlex.split(session[1])[1:])
        done = subprocess.run(words, cwd=repo.path, env=environment, capture_output=True, text=True, check=False)
        shown = done.stdout if done.returncode == 0 else done.stderr
        if "tokenzip: there is" in session[2]:
            shown = shown.partition("\n")[0] + "\n"
        return f"```console\n$ {session[1]}\n{shown}```"

    now = SESSION.sub(printed, TEXT)
    if os.environ.get(WRITE):
        DOCUMENT.write_text(now, encoding="utf-8")
    else:
        assert now == TEXT, f"{WRITE}=1 pytest {Path(__file__).name} writes the sessions anew"


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: scope.SCOPE)
def test_the_steps_and_fields_are_all_listed(scope: type[Chain]) -> None:
    common = set(Query.STEPS) if issubclass(scope, Query) else set()
    listed = set(rows("Scopes and steps")[scope.SCOPE])
    parent = scope.__mro__[1]
    inherited = set(parent.STEPS) if issubclass(parent, Query) and parent.SCOPE else set()
    assert listed == set(scope.STEPS) - common - inherited
    if issubclass(scope, Query) and not inherited:
        assert rows("Fields")[scope.SCOPE] == list(scope.FIELDS)


def test_the_lookups_and_other_names_are_all_listed() -> None:
    assert {kind: tuple(words) for kind, words in rows("Look-ups").items()} == dict(LOOKUPS)
    assert set(re.findall(r"`(\w+)` for `\w+`", TEXT)) >= set(ALIASES) - {"file"}
    assert all(ALIASES[name] == of for name, of in re.findall(r"`(\w+)` for `(\w+)`", TEXT))


def test_the_queries_in_the_text_can_be_read() -> None:
    found = re.findall(r"repo\.symbols\(\)[^\n`#]*\)", TEXT)
    assert found
    for text in found:
        assert str(parse(text.strip()).query) == text.strip()
    assert str(RepositoryQuery()) == "repo"
