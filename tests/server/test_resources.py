"""Resources, their templates, and the completion of what stands in them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from mcp_client import InProcess, in_process


@pytest.fixture
def client() -> Iterator[InProcess]:
    yield from in_process(modern=True)


def read(client: InProcess, uri: str) -> dict[str, object]:
    (contents,) = client.result("resources/read", uri=uri)["contents"]
    assert (contents["uri"], contents["mimeType"]) == (uri, "application/json")
    return dict(json.loads(contents["text"]))


def test_the_lists(client: InProcess) -> None:
    (resource,) = client.result("resources/list")["resources"]
    assert resource["uri"] == "tokenzip://repo/structure"
    templates = client.result("resources/templates/list")["resourceTemplates"]
    assert [template["uriTemplate"] for template in templates] == [
        "tokenzip://repo/structure{?at}",
        "tokenzip://file/{path}/symbols{?at}",
        "tokenzip://symbol/{id}/detail{?at}",
    ]  # no module: this server has no operation for one


def test_a_resource_is_the_answer_of_its_tool(client: InProcess) -> None:
    assert read(client, "tokenzip://repo/structure")["echo"] == {}
    assert read(client, "tokenzip://repo/structure?at=HEAD~3")["echo"] == {"at": "HEAD~3"}


@pytest.mark.parametrize("path", ["src/app/main.py", "src%2Fapp%2Fmain.py"])
def test_a_path_may_be_escaped_or_not(client: InProcess, path: str) -> None:
    assert read(client, f"tokenzip://file/{path}/symbols")["echo"] == {"path": "src/app/main.py"}


def test_odd_paths_and_revisions_are_unescaped(client: InProcess) -> None:
    found = read(client, "tokenzip://file/a%20b/symbols/%3F%C3%A9.py/symbols?at=feature%2Fx%26y")
    assert found["echo"] == {"path": "a b/symbols/?é.py", "at": "feature/x&y"}


@pytest.mark.parametrize(
    "uri", ["zz://none", "tokenzip://file//symbols", "tokenzip://module/x/overview", "tokenzip://symbol/none/detail", ""]
)
def test_what_is_not_there_is_an_error(client: InProcess, uri: str) -> None:
    error = client.error("resources/read", uri=uri)
    assert error["code"] == -32602
    assert error["data"]["uri"] == uri


def test_the_legacy_code_of_what_is_not_there() -> None:
    client = InProcess()
    client.handshake()
    error = client.error("resources/read", uri="tokenzip://symbol/none/detail")
    assert error["code"] == -32002
    assert error["data"]["candidates"] == ["note"]
    client.close()


def test_a_uri_is_a_string(client: InProcess) -> None:
    assert client.error("resources/read", uri=5)["code"] == -32602


def complete(client: InProcess, template: str, name: str, value: str) -> list[str]:
    reference = {"type": "ref/resource", "uri": template}
    result = client.result("completion/complete", ref=reference, argument={"name": name, "value": value})
    completion = result["completion"]
    assert completion["total"] == len(completion["values"])
    assert completion["hasMore"] is False
    return list(completion["values"])


def test_paths_symbols_and_revisions_are_completed(client: InProcess) -> None:
    file, symbol = "tokenzip://file/{path}/symbols{?at}", "tokenzip://symbol/{id}/detail"
    assert complete(client, file, "path", "APP") == ["app/main.py", "lib/app.py"]
    assert complete(client, file, "at", "main") == ["main", "origin/maintenance"]
    assert complete(client, file, "at", "work") == ["WORKTREE"]
    assert complete(client, symbol, "id", "run") == ["app/main.py::run"]
    assert complete(client, symbol, "id", "zz") == []


@pytest.mark.parametrize(
    ("reference", "argument"),
    [
        ({"type": "ref/prompt", "name": "x"}, {"name": "path", "value": ""}),
        ({"type": "ref/resource", "uri": "tokenzip://none"}, {"name": "path", "value": ""}),
        ({"type": "ref/resource", "uri": "tokenzip://file/{path}/symbols"}, {"name": "id", "value": ""}),
        ({"type": "ref/resource", "uri": "tokenzip://file/{path}/symbols"}, {"name": "path", "value": 1}),
        (None, None),
    ],
)
def test_completion_of_what_is_not_there_is_refused(client: InProcess, reference: object, argument: object) -> None:
    assert client.error("completion/complete", ref=reference, argument=argument)["code"] == -32602
