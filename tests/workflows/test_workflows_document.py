"""docs/workflows.md shows what the templates take, ask and answer."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

from gitrepo import Repo

from tokenzip.budget import lay_out
from tokenzip.operations import OPERATIONS
from tokenzip.repository import repo as open_repository
from tokenzip.workflows import TEMPLATES, Template

WRITE = "TOKENZIP_WRITE_DOCUMENT"
"""Variable that has the document written instead of checked."""
DOCUMENT = Path(__file__).parents[2] / "docs" / "workflows.md"
FILE = re.compile(r"^```python (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
QUESTION = re.compile(r"^```json question\n(.*?)\n```\n(?:\n```json answer\n(?s:.*?)\n```\n)?", re.MULTILINE)
TABLES = re.compile(r"(<!-- template ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
UNSTEADY = re.compile(r'"made":"[^"]*"')


def tables(template: Template) -> str:
    """The inputs and the steps of a template."""
    inputs = [f"| `{each.name}`{', required' * each.required} | {each.description} |\n" for each in template.inputs]
    steps = [f"| {step.name} | {step.asks} | `{step.gives.replace(', ', '` `')}` |\n" for step in template.steps]
    return f"| input | is |\n| --- | --- |\n{''.join(inputs)}\n| step | asks | gives |\n| --- | --- | --- |\n{''.join(steps)}"


def with_answers(text: str, repo: Repo) -> str:
    """The document with the tables and answers of now."""
    files = dict(FILE.findall(text))
    before = files["shop/prices.py"].replace(", discount: int = 0", "").replace(" - discount", "")
    repo.commit({**files, "shop/prices.py": before}, "shop")
    repo.commit(files, "discounts")
    repository = open_repository(str(repo.path))

    def answered(found: re.Match[str]) -> str:
        answer = OPERATIONS["execute_workflow_template"].run(repository, json.loads(found[1]))
        assert "error" not in answer, answer
        return f"```json question\n{found[1]}\n```\n\n```json answer\n{lay_out(answer)}\n```\n"

    text = TABLES.sub(lambda found: f"{found[1]}{tables(TEMPLATES[found[2]])}{found[3]}", text)
    return QUESTION.sub(answered, text)


def test_the_document_shows_what_the_templates_answer(make_repo: Callable[..., Repo]) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    now = with_answers(text, make_repo("shop"))
    if os.environ.get(WRITE) and UNSTEADY.sub("", now) != UNSTEADY.sub("", text):
        DOCUMENT.write_text(now, encoding="utf-8")
    else:
        assert UNSTEADY.sub("", now) == UNSTEADY.sub("", text), f"{WRITE}=1 pytest {Path(__file__).name} writes it anew"


def test_each_template_has_its_section() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert {found[2] for found in TABLES.finditer(text)} == set(TEMPLATES)
    assert {json.loads(found[1])["name"] for found in QUESTION.finditer(text)} == set(TEMPLATES)
