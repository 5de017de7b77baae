"""The configuration files of coding agents: an entry for our MCP server, merged in and taken out again.

Forms and places as measured with the clients themselves (Claude Code 2.1.332, Codex 0.171.0, OpenCode 1.18.33, Kilo 7.7.7,
Gemini CLI 0.61.0) and, for Cursor, VS Code and Zed, as their documentation says. Only the text of our own entry is ever
written: comments, order and spelling of everything else in the file stay byte for byte.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenzip.cli import jsonc
from tokenzip.errors import UsageError

NAME = "tokenzip"


@dataclass(frozen=True, slots=True)
class Client:
    """Where one client looks for project servers, and in which form."""

    name: str
    title: str
    paths: tuple[str, ...]
    """From the root of the work tree: the first that exists is used, else the first."""
    section: str
    """Name of the object (or TOML table) that holds the servers."""
    form: str
    """``stdio``, ``plain``, ``local``, ``zed``, ``gemini`` or ``toml``."""
    signs: tuple[str, ...]
    """Files or folders of the work tree that show the client is used here."""
    command: str
    """Its own command, whose presence on PATH also shows that it is used."""


CLIENTS: Mapping[str, Client] = {
    client.name: client
    for client in (
        Client("claude", "Claude Code", (".mcp.json",), "mcpServers", "stdio", (".mcp.json", ".claude", "CLAUDE.md"), "claude"),
        Client("codex", "Codex", (".codex/config.toml",), "mcp_servers", "toml", (".codex",), "codex"),
        Client(
            "opencode", "OpenCode",
            ("opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"), "mcp", "local",
            ("opencode.json", "opencode.jsonc", ".opencode"), "opencode",
        ),
        Client(
            "kilo", "Kilo Code",
            ("kilo.json", "kilo.jsonc", ".kilo/kilo.json", ".kilo/kilo.jsonc", ".kilocode/kilo.json"), "mcp", "local",
            ("kilo.json", "kilo.jsonc", ".kilo", ".kilocode"), "kilo",
        ),
        Client("gemini", "Gemini CLI", (".gemini/settings.json",), "mcpServers", "gemini", (".gemini", "GEMINI.md"), "gemini"),
        Client("cursor", "Cursor", (".cursor/mcp.json",), "mcpServers", "plain", (".cursor",), "cursor"),
        Client("vscode", "VS Code", (".vscode/mcp.json",), "servers", "stdio", (".vscode",), "code"),
        Client("zed", "Zed", (".zed/settings.json",), "context_servers", "zed", (".zed",), "zed"),
    )
}  # fmt: skip


def found(root: str) -> list[Client]:
    """The clients that seem to be used: they left something in the work tree, or their command is on PATH."""
    return [
        client
        for client in CLIENTS.values()
        if any(os.path.exists(os.path.join(root, sign)) for sign in client.signs) or shutil.which(client.command)
    ]


def launcher() -> list[str]:
    """The command that starts the server from any folder and for any environment.

    By name where the PATH leads to it whether or not a virtual environment is activated: such a command is the same for
    everybody. Else by full path, which holds on this machine alone.
    """
    if shutil.which(NAME, path=_lasting_path(os.environ.get("PATH", ""))):
        return [NAME, "serve"]
    scripts = Path(sys.executable).parent
    here = next((str(path) for name in ("tokenzip", "tokenzip.exe") if (path := scripts / name).exists()), "")
    return [here, "serve"] if here else [sys.executable, "-m", "tokenzip", "serve"]


def _lasting_path(path: str) -> str:
    """The folders of a PATH that do not go away with a virtual environment (whose top holds a ``pyvenv.cfg``) or a folder."""
    return os.pathsep.join(
        folder
        for folder in path.split(os.pathsep)
        if os.path.isabs(folder) and not os.path.exists(os.path.join(os.path.dirname(folder.rstrip("/\\")), "pyvenv.cfg"))
    )


def entry(client: Client, command: Sequence[str]) -> dict[str, Any]:
    """What stands under our name in the client's file."""
    first, rest = command[0], list(command[1:])
    forms: dict[str, dict[str, Any]] = {
        "stdio": {"type": "stdio", "command": first, "args": rest, **({"env": {}} if client.name == "claude" else {})},
        "plain": {"command": first, "args": rest},
        "local": {"type": "local", "command": [first, *rest], "enabled": True, "environment": {}},
        "gemini": {"command": first, "args": rest, "trust": True, "timeout": 30000},
        "zed": {"source": "custom", "command": first, "args": rest, "env": {}},
        "toml": {"command": first, "args": rest},
    }
    return forms[client.form]


def path_of(client: Client, root: str) -> Path:
    """The client's file in this work tree: the one that exists, else the one to make."""
    paths = [Path(root) / path for path in client.paths]
    return next((path for path in paths if path.exists()), paths[0])


def connect(client: Client, root: str, command: Sequence[str]) -> tuple[Path, bool]:
    """Write or mend our entry in the client's file. Returns the file and whether it changed.

    Raises UsageError, with the text to add by hand, if the file cannot be understood.
    """
    path = path_of(client, root)
    old = _read(path)
    try:
        new = (
            _with_toml(old, entry(client, command))
            if client.form == "toml"
            else jsonc.with_entry(old, client.section, NAME, entry(client, command))
        )
    except ValueError as error:
        text = json.dumps({client.section: {NAME: entry(client, command)}})
        raise UsageError(f"{path} cannot be read ({error})", hint=f"Mend it, or add by hand: {text}") from error
    if new == old:
        return path, False
    _write(path, new)
    return path, True


def disconnect(client: Client, root: str) -> tuple[Path, bool]:
    """Take our entry out of the client's file, and the file away if nothing else is in it.

    Returns the file and whether it changed.
    """
    path = path_of(client, root)
    old = _read(path)
    if not old:
        return path, False
    try:
        new = _without_toml(old) if client.form == "toml" else jsonc.without_entry(old, client.section, NAME)
    except ValueError as error:
        raise UsageError(f"{path} cannot be read ({error})", hint=f"Mend it, or remove the entry {NAME} by hand.") from error
    if new == old:
        return path, False
    if re.sub(r"\s", "", new) in {"", "{}"}:
        path.unlink()
    else:
        _write(path, new)
    return path, True


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8", hint="Mend it first.") from error


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.resolve() if path.is_symlink() else path
    scratch = target.with_name(f"{target.name}.tokenzip-new")
    scratch.write_bytes(text.encode("utf-8"))
    if target.exists():
        shutil.copymode(target, scratch)
    scratch.replace(target)


# TOML: our tables are whole lines, so that a marked run of lines can be replaced.

_TABLE = re.compile(r"^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*\"?tokenzip\"?[ \t]*(?:\.[^\]]*)?\][^\n]*\n?", re.MULTILINE)
_ANY_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


def _toml_tables(text: str) -> list[tuple[int, int]]:
    """Where our tables (and their sub-tables) begin and end."""
    import tomllib

    tomllib.loads(text)  # TOMLDecodeError is a ValueError: the caller leaves such a file alone
    spans = []
    for match in _TABLE.finditer(text):
        following = _ANY_TABLE.search(text, match.end())
        spans.append((match.start(), following.start() if following else len(text)))
    return spans


def _toml_text(value: Mapping[str, Any]) -> str:
    return f"[mcp_servers.{NAME}]\n" + "".join(
        f"{name} = {json.dumps(item, ensure_ascii=False)}\n" for name, item in value.items()
    )


def _with_toml(text: str, value: Mapping[str, Any]) -> str:
    import tomllib

    held = tomllib.loads(text).get("mcp_servers", {})
    known = held.get(NAME) if isinstance(held, dict) else None
    if isinstance(known, dict) and {name: known.get(name) for name in value} == dict(value):
        return text
    spans = _toml_tables(text)
    if known is not None and not spans:
        raise ValueError(f"it sets mcp_servers.{NAME} in a form that cannot be edited")
    if not spans:
        gap = "" if not text else ("\n" if text.endswith("\n") else "\n\n")
        return text + gap + _toml_text(value)
    start, end = spans[0]
    lines = [
        line for line in text[start:end].splitlines(keepends=True)[1:] if not re.match(r"[ \t]*(command|args)[ \t]*=", line)
    ]
    return text[:start] + _toml_text(value) + "".join(lines) + text[end:]


def _without_toml(text: str) -> str:
    for start, end in reversed(_toml_tables(text)):
        text = (
            text[:start].rstrip("\n")
            + ("\n" if text[:start].strip() else "")
            + ("\n" + text[end:] if text[end:].strip() else "")
        )
    return text
