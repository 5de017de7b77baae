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
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenzip.cli import jsonc
from tokenzip.errors import UsageError

NAME = "tokenzip"

VARIABLES = ("TOKENZIP_HOME", "TOKENZIP_STORE", "TOKENZIP_JOBS", "TOKENZIP_REPO")
"""What a user may set for the server. Two clients hand these on only if told to, and the server would index into another store:
Codex starts its servers with five variables, and Gemini CLI takes out all whose names hold TOKEN."""

WAYS_TO_START = frozenset({"type", "source", "command", "args"})
"""What an entry must say our way to start the server. The rest of it is proposed once, and then the user's own."""


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
    consent: str = ""
    """What the client was seen to want of the user before it starts a server of a project's file."""


CLIENTS: Mapping[str, Client] = {
    client.name: client
    for client in (
        Client(
            "claude", "Claude Code", (".mcp.json",), "mcpServers", "stdio", (".mcp.json", ".claude", "CLAUDE.md"), "claude",
            "Asks once whether to start it: run `claude` here and approve.",
        ),
        Client(
            "codex", "Codex", (".codex/config.toml",), "mcp_servers", "toml", (".codex",), "codex",
            "Reads this file only in a project that it trusts: run `codex` here and agree.",
        ),
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
        Client(
            "gemini", "Gemini CLI", (".gemini/settings.json",), "mcpServers", "gemini", (".gemini", "GEMINI.md"), "gemini",
            "Starts it only in a folder that it trusts, and reads this file only when started in this very folder.",
        ),
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
        "gemini": {
            "command": first, "args": rest, "trust": True, "timeout": 30000,
            "env": {name: f"${{{name}:-}}" for name in VARIABLES},  # empty is as good as unset
        },
        "zed": {"source": "custom", "command": first, "args": rest, "env": {}},
        "toml": {"command": first, "args": rest, "env_vars": [*VARIABLES, "XDG_CACHE_HOME"]},
    }  # fmt: skip
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
            else jsonc.with_entry(old, client.section, NAME, entry(client, command), WAYS_TO_START)
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


# TOML: our tables are whole lines, so that runs of lines can be replaced.

_OURS = r"^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*\"?tokenzip\"?[ \t]*"
_TABLE = re.compile(_OURS + r"(?:\.[^\]]*)?\][^\n]*\n?", re.MULTILINE)
_MAIN_TABLE = re.compile(_OURS + r"\][^\n]*\n?", re.MULTILINE)
_ANY_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_KEY = re.compile(r"[ \t]*\"?([\w-]+)")


def _toml_tables(text: str, kind: re.Pattern[str] = _TABLE) -> list[tuple[int, int]]:
    """Where our tables (and their sub-tables) begin and end."""
    import tomllib

    tomllib.loads(text)  # TOMLDecodeError is a ValueError: the caller leaves such a file alone
    spans = []
    for match in kind.finditer(text):
        following = next(
            (each.start() for each in _ANY_TABLE.finditer(text, match.end()) if _is_toml(text[: each.start()])), None
        )
        spans.append((match.start(), len(text) if following is None else following))
    return spans


def _is_toml(text: str) -> bool:
    """Whether the text is TOML: it ends neither within a list nor within a string."""
    import tomllib

    try:
        tomllib.loads(text)
    except ValueError:
        return False
    return True


def _toml_text(value: Mapping[str, Any]) -> str:
    return f"[mcp_servers.{NAME}]\n" + "".join(
        f"{name} = {json.dumps(item, ensure_ascii=False)}\n" for name, item in value.items()
    )


def _with_toml(text: str, value: Mapping[str, Any]) -> str:
    known = _known(text)
    value = {name: item for name, item in value.items() if name in WAYS_TO_START or name not in known}
    if value.items() <= known.items():
        return text
    new = _set_in_toml(text, value)
    if not _is_toml(new) or not value.items() <= _known(new).items():
        raise ValueError(f"it sets mcp_servers.{NAME} in a form that cannot be edited")
    return new


def _known(text: str) -> Mapping[str, Any]:
    """What our table holds, with its sub-tables."""
    import tomllib

    held = tomllib.loads(text).get("mcp_servers", {})
    known = held.get(NAME, {}) if isinstance(held, dict) else None
    if not isinstance(known, dict):
        raise ValueError(f"mcp_servers.{NAME} is no table")
    return known


def _set_in_toml(text: str, value: Mapping[str, Any]) -> str:
    """The text with these settings at the head of our table, in the place of those with the same names."""
    spans = _toml_tables(text, _MAIN_TABLE)
    if not spans:
        gap = "" if not text else ("\n" if text.endswith("\n") else "\n\n")
        return text + gap + _toml_text(value)
    start, end = spans[0]
    _, _, body = text[start:end].partition("\n")
    return text[:start] + _toml_text(value) + "".join(_statements(body, without=value)) + text[end:]


def _statements(body: str, *, without: Container[str]) -> Iterator[str]:
    """The settings of a table, each with all its lines, and what stands between them, less the settings of these names."""
    statement = ""
    for line in re.findall(r"[^\n]*\n|[^\n]+", body):
        statement += line
        if _is_toml(statement):
            key = _KEY.match(statement)
            if key is None or key[1] not in without:
                yield statement
            statement = ""
    yield statement


def _without_toml(text: str) -> str:
    for start, end in reversed(_toml_tables(text)):
        text = (
            text[:start].rstrip("\n")
            + ("\n" if text[:start].strip() else "")
            + ("\n" + text[end:] if text[end:].strip() else "")
        )
    return text
