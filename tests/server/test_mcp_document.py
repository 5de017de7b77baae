"""docs/mcp.md shows what the server answers."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

from gitrepo import Repo, hermetic_environment
from mcp_client import Child

WRITE = "TOKENZIP_WRITE_DOCUMENT"
"""Variable that has the document written instead of checked."""
DOCUMENT = Path(__file__).parents[2] / "docs" / "mcp.md"
SECTION = re.compile(
    r"^### (\w+)\n(?:(?!#)[^\n]*\n)*?```json question\n(.*?)\n```\n(?:\n```json answer\n(?s:.*?)\n```\n)?", re.MULTILINE
)
SCORE = re.compile(r'"score":[0-9.]+|"made":"[^"]*"')
"""May change with any refinement of the search: what counts is the order. And when a result was made is no matter either."""
FILE = re.compile(r"^```python (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def with_answers(text: str, folder: Path) -> str:
    """The document with the answers that its questions get now."""
    environment = hermetic_environment(folder / "home") | {"TOKENZIP_HOME": str(folder / "tokenzip")}
    repo = Repo.create(folder / "shop", environment)
    files = dict(FILE.findall(text))
    repo.commit(
        {**files, "shop/prices.py": files["shop/prices.py"].replace(", discount: int = 0", "").replace(" - discount", "")}
    )
    repo.commit(files)
    child = Child(sys.executable, "-P", "-m", "tokenzip.server", modern=True, cwd=repo.path, env=environment)

    def answered(section: re.Match[str]) -> str:
        arguments = json.loads(section[2])
        while '"indexing":' in (block := ask(section[1], arguments)):
            pass
        question = section[0].split("\n```json answer\n")[0].rstrip("\n")
        return f"{question}\n\n```json answer\n{block}\n```\n"

    def ask(tool: str, arguments: dict[str, object]) -> str:
        result = child.result("tools/call", name=tool, arguments=arguments)
        assert result["isError"] is False, result
        return str(result["content"][0]["text"])

    try:
        return SECTION.sub(answered, text)
    finally:
        child.stop()


def test_the_document_shows_what_the_server_answers(tmp_path: Path) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    now = with_answers(text, tmp_path)
    if os.environ.get(WRITE):
        DOCUMENT.write_text(now, encoding="utf-8")
    else:
        assert SCORE.sub("", now) == SCORE.sub("", text), f"{WRITE}=1 pytest {Path(__file__).name} writes the answers anew"


def test_each_tool_has_its_section() -> None:
    from tokenzip.operations import OPERATIONS

    shown = {section[1] for section in SECTION.finditer(DOCUMENT.read_text(encoding="utf-8"))}
    assert shown == set(OPERATIONS)
