"""Agents' configuration: our entry goes in and out again, and nothing else in the file changes by a byte."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path

import pytest

from tokenzip.cli.clients import CLIENTS, connect, disconnect, entry, found, launcher, path_of
from tokenzip.cli.setting_up import CLIENT_NAMES
from tokenzip.config import load
from tokenzip.errors import UsageError

COMMAND = ["tokenzip", "serve"]
JSON_CLIENTS = [name for name, client in CLIENTS.items() if client.form != "toml"]

TEXTS = {
    "empty object": "{}\n",
    "other settings": '{\n  "theme": "dark",\n  "list": [1, 2, {"a": "}"}]\n}\n',
    "comments": '{\n  // the "theme": { of the year\n  "theme": "dark" /* , */\n}\n',
    "trailing comma": '{\n  "theme": "dark",\n}\n',
    "tabs": '{\n\t"theme": "dark"\n}\n',
    "four blanks": '{\n    "a": {\n        "b": 1\n    }\n}\n',
    "windows lines": '{\r\n  "theme": "dark"\r\n}\r\n',
    "one line": '{"theme": "dark"}',
    "byte order mark": '\ufeff{\n  "theme": "dark"\n}\n',
    "other server": '{\n  "SECTION": {\n    "other": {"command": "x"}\n  },\n  "theme": "dark"\n}\n',
    "other servers and a comment": '{\n  "SECTION": {\n    // mine\n    "other": {\n      "command": "x",\n    },\n  },\n}\n',
    "empty section": '{\n  "SECTION": {}\n}\n',
}


def parsed(text: str) -> dict:
    """JSON with comments and trailing commas, as the samples have them."""
    text = text.removeprefix("\ufeff")
    text = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda match: match[1] or "", text, flags=re.DOTALL)
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", text))


@pytest.mark.parametrize("client", [CLIENTS[name] for name in JSON_CLIENTS], ids=JSON_CLIENTS)
@pytest.mark.parametrize("sample", TEXTS)
def test_an_entry_goes_in_and_out_without_a_trace(client, sample: str, tmp_path: Path) -> None:
    text = TEXTS[sample].replace("SECTION", client.section)
    path = path_of(client, str(tmp_path))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())

    assert connect(client, str(tmp_path), COMMAND) == (path, True)
    with_entry = path.read_bytes().decode()
    expected = parsed(text)
    expected.setdefault(client.section, {})["tokenzip"] = entry(client, COMMAND)
    assert parsed(with_entry) == expected
    assert all(comment in with_entry for comment in re.findall(r"//.*|/\*.*?\*/", text))
    assert ("\r\n" in with_entry) == ("\r\n" in text)
    assert connect(client, str(tmp_path), COMMAND) == (path, False), "again changes nothing"
    assert path.read_bytes().decode() == with_entry

    disconnect(client, str(tmp_path))
    left = path.read_bytes().decode() if path.exists() else "{}"
    assert parsed(left) == {name: value for name, value in parsed(text).items() if value or name != client.section}


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_new_file_holds_our_entry_alone_and_goes_away_with_it(client, tmp_path: Path) -> None:
    path, changed = connect(client, str(tmp_path), COMMAND)
    assert changed
    data = path.read_text("utf-8")
    held = tomllib.loads(data) if client.form == "toml" else json.loads(data)
    assert held == {client.section: {"tokenzip": entry(client, COMMAND)}}
    assert connect(client, str(tmp_path), COMMAND)[1] is False
    assert disconnect(client, str(tmp_path)) == (path, True)
    assert not path.exists()
    assert disconnect(client, str(tmp_path))[1] is False


def test_a_moved_launcher_is_mended_in_place(tmp_path: Path) -> None:
    client = CLIENTS["claude"]
    path, _ = connect(client, str(tmp_path), ["/old/tokenzip", "serve"])
    assert connect(client, str(tmp_path), COMMAND)[1] is True
    assert json.loads(path.read_text("utf-8"))["mcpServers"] == {"tokenzip": entry(client, COMMAND)}


@pytest.mark.parametrize("text", ['{"a": ', "[1, 2]", '{"a" 1}', "not json", '{"mcpServers": 3}'])
def test_a_broken_file_is_left_alone_with_advice(text: str, tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="cannot be read") as caught:
        connect(CLIENTS["claude"], str(tmp_path), COMMAND)
    assert "tokenzip" in caught.value.hint
    assert path.read_text() == text


TOML = '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y"\n'


def test_toml_keeps_comments_and_other_tables(tmp_path: Path) -> None:
    client = CLIENTS["codex"]
    path = tmp_path / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(TOML)
    connect(client, str(tmp_path), COMMAND)
    text = path.read_text()
    assert text.startswith(TOML)
    assert tomllib.loads(text)["mcp_servers"]["tokenzip"] == entry(client, COMMAND)
    disconnect(client, str(tmp_path))
    assert path.read_text() == TOML


USERS_TOML = """\
[mcp_servers.tokenzip]
command = "/old"  # of last year
# all of them
args = [
  "serve",  # ]
]
required = true
env_vars = ["MINE"]

[mcp_servers.tokenzip.env]
command = "not ours"

[tui]
a = [
  [1],
]
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_toml_entry_keeps_what_the_user_added_to_it(newline: str, tmp_path: Path) -> None:
    path = tmp_path / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_bytes(USERS_TOML.replace("\n", newline).encode())
    connect(CLIENTS["codex"], str(tmp_path), COMMAND)
    held = tomllib.loads(path.read_bytes().decode())
    added = {"required": True, "env_vars": ["MINE"], "env": {"command": "not ours"}}
    assert held["mcp_servers"]["tokenzip"] == {"command": "tokenzip", "args": ["serve"], **added}
    assert held["tui"] == {"a": [[1]]}
    assert b"# all of them" in path.read_bytes()
    assert connect(CLIENTS["codex"], str(tmp_path), COMMAND)[1] is False
    disconnect(CLIENTS["codex"], str(tmp_path))
    assert tomllib.loads(path.read_bytes().decode()) == {"tui": {"a": [[1]]}}


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers]\ntokenzip = { command = "/old", args = [] }\n',
        '[mcp_servers]\ntokenzip.command = "/old"\n',
        "[mcp_servers]\ntokenzip = { env = {} }\n",
        "[mcp_servers]\ntokenzip = 3\n",
        "mcp_servers = 3\n",
    ],
)
def test_toml_in_a_form_that_cannot_be_edited_is_left_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(UsageError, match="cannot be read"):
        connect(CLIENTS["codex"], str(tmp_path), COMMAND)
    assert path.read_text() == text


def test_toml_with_nothing_but_a_table_below_ours(tmp_path: Path) -> None:
    path = tmp_path / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text('[mcp_servers.tokenzip.env]\nA = "1"\n')
    connect(CLIENTS["codex"], str(tmp_path), COMMAND)
    held = tomllib.loads(path.read_text())["mcp_servers"]["tokenzip"]
    assert held == {**entry(CLIENTS["codex"], COMMAND), "env": {"A": "1"}}


@pytest.mark.parametrize("name", JSON_CLIENTS)
def test_an_entry_keeps_what_the_user_made_of_it(name: str, tmp_path: Path) -> None:
    client = CLIENTS[name]
    path, _ = connect(client, str(tmp_path), ["/old/tokenzip", "serve", "--at", "HEAD"])
    text = path.read_text("utf-8")
    mine = text.replace("true", "false").replace('"/old/tokenzip"', '/* old */ "/old/tokenzip"')
    mine = re.sub(r'("env(?:ironment)?"): {.*?(?<!-)}', r'\1: {"TOKENZIP_JOBS": "1" /* it is warm */}', mine, flags=re.DOTALL)
    mine = mine.replace('"tokenzip": {', '"tokenzip": {\n      "disabled": true, // for now')
    path.write_text(mine, "utf-8")
    assert connect(client, str(tmp_path), COMMAND)[1] is True
    kept = parsed(mine)[client.section]["tokenzip"]
    ways = {key: item for key, item in entry(client, COMMAND).items() if key in {"type", "source", "command", "args"}}
    assert parsed(path.read_text("utf-8"))[client.section]["tokenzip"] == {**kept, **ways}
    assert "// for now" in path.read_text("utf-8")
    assert connect(client, str(tmp_path), COMMAND)[1] is False


def test_a_users_variables_reach_a_server_whose_client_holds_them_back() -> None:
    ours = {"TOKENZIP_HOME", "TOKENZIP_STORE", "TOKENZIP_JOBS", "TOKENZIP_REPO"}
    assert set(entry(CLIENTS["codex"], COMMAND)["env_vars"]) == {*ours, "XDG_CACHE_HOME"}
    assert entry(CLIENTS["gemini"], COMMAND)["env"] == {name: f"${{{name}:-}}" for name in ours}
    empty = dict.fromkeys(ours, "")
    assert load(environment=empty) == load(environment={}), "what Gemini CLI makes of a variable that is not set"


def test_the_existing_file_of_a_client_is_used(tmp_path: Path) -> None:
    (tmp_path / ".opencode").mkdir()
    (tmp_path / ".opencode" / "opencode.jsonc").write_text("{}")
    assert path_of(CLIENTS["opencode"], str(tmp_path)) == tmp_path / ".opencode" / "opencode.jsonc"


def test_clients_are_found_by_what_they_leave_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert found(str(tmp_path)) == []
    (tmp_path / ".cursor").mkdir()
    (tmp_path / "CLAUDE.md").write_text("")
    assert [client.name for client in found(str(tmp_path))] == ["claude", "cursor"]


def test_the_command_line_offers_every_client() -> None:
    assert tuple(CLIENTS) == CLIENT_NAMES


def test_the_launcher_works_from_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    first = launcher()[0]
    assert Path(first).is_absolute()
    assert Path(first).exists()


def command_in(folder: Path) -> str:
    folder.mkdir(parents=True)
    for name in ("tokenzip", "tokenzip.exe"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return str(folder)


def test_a_command_on_the_path_is_named_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", command_in(tmp_path / "bin"))
    assert launcher() == ["tokenzip", "serve"]


@pytest.mark.parametrize("end", ["", os.sep])
def test_a_command_of_a_virtual_environment_is_named_in_full(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = command_in(tmp_path / "environment" / "bin")
    (tmp_path / "environment" / "pyvenv.cfg").touch()
    monkeypatch.setenv("PATH", inside + end)
    assert Path(launcher()[0]).is_absolute()
    monkeypatch.setenv("PATH", os.pathsep.join([inside, command_in(tmp_path / "bin")]))
    assert launcher() == ["tokenzip", "serve"], "it is found behind the environment as well"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join(["", "bin"]))
    assert Path(launcher()[0]).is_absolute(), "folders that depend on where one is lead nowhere"
