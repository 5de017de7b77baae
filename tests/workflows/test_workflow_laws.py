"""The laws, for workflow templates: on real histories, and over routes that must not matter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from history import clone

from tokenzip.operations import OPERATIONS
from tokenzip.repository import repo as open_repository

QUESTIONS: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "httpx": [
        ("bug-fix", ('File "/srv/site-packages/httpx/_models.py", line 120, in copy_with\n    return x\nValueError: x',)),
        ("bug-fix", ("message=Invalid URL, no scheme",)),
        ("create-module", ("name=_limits", "dependencies=httpx/_models.py,certifi")),
        ("update-module", ("module=httpx", "description=follow redirects of a response")),
        ("implement-feature", ("description=let `Client.send` retry, see httpx/_retries.py", "module=httpx")),
        ("upgrade-feature", ("feature=cookies of a client",)),
    ],
    "redux": [
        ("bug-fix", ("TypeError: x is not a function\n    at dispatch (/app/src/createStore.ts:3:1)",)),
        ("create-module", ("name=batching",)),
        ("upgrade-feature", ("feature=src/applyMiddleware.ts",)),
    ],
}


def answers(path: Path, name: str, rev: str) -> list[dict[str, Any]]:
    repository = open_repository(str(path))
    found = []
    for template, inputs in QUESTIONS[name]:
        arguments = {"name": template, "inputs": list(inputs), "at": rev, "max_tokens": 0}
        answer = OPERATIONS["execute_workflow_template"].run(repository, arguments)
        assert "error" not in answer, answer
        found.append({**answer, "stamp": answer["stamp"]["snapshot"]})
    return found


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_an_answer_depends_on_the_state_alone(
    name: str, tmp_path: Path, hermetic: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked of a store that has seen the newest state first, or of an empty one: the same."""
    repository = clone(name, tmp_path / name)
    open_repository(str(repository)).snapshot("HEAD")
    for back in (3, 1):
        known = answers(repository, name, f"HEAD~{back}")
        with monkeypatch.context() as patch:
            patch.setenv("TOKENZIP_HOME", str(tmp_path / f"home{back}"))
            fresh = answers(repository, name, f"HEAD~{back}")
        assert json.dumps(known) == json.dumps(fresh)
        assert answers(repository, name, f"HEAD~{back}") == known, "kept"
