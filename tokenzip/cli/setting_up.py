"""The commands that set up: init and the git hooks."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tokenzip.cli import options as shell
from tokenzip.cli.options import NO_ANSWER, Options, common
from tokenzip.cli.terminal import say

if TYPE_CHECKING:
    from tokenzip.render.blocks import Block
    from tokenzip.repository import Repository

IGNORED = ".tokenzip/"
CLIENT_NAMES = ("claude", "codex", "opencode", "kilo", "gemini", "cursor", "vscode", "zed")


@click.command()
@click.option("--no-hooks", is_flag=True, help="Install no git hooks; questions catch up by themselves.")
@click.option(
    "--client",
    "clients",
    multiple=True,
    type=click.Choice(CLIENT_NAMES),
    help="Connect this coding agent over MCP; repeatable.",
)
@click.option("--local", is_flag=True, help="Keep the store in .tokenzip/db of this checkout instead of the user's cache.")
@click.option("--undo", is_flag=True, help="Take hooks, agents' entries and settings out again.")
@common(unused=NO_ANSWER)
def init(*, no_hooks: bool, clients: Sequence[str], local: bool, undo: bool, options: Options) -> int:
    """Set up settings, hooks, a first index, and agents.

    May be run again at any time; --undo takes it back.
    """
    with shell.opened(options) as repository:
        if repository.root is None:
            raise click.UsageError("A bare repository needs no init: ask its commits with --at.")
        if undo:
            steps = list(_undo(repository))
        else:
            _refuse_home(repository.root)
            steps = [*_set_up(repository, local=local), _hooks_step(repository, skip=no_hooks, named=options.repo)]
    if not undo:
        with shell.opened(options) as repository:  # again: the settings may have moved the store
            steps += [_index_step(repository), *_client_steps(str(repository.root), clients)]
    return shell.print_state({"steps": steps}, list(_step_blocks(steps, undo=undo)), options)


def _refuse_home(root: str) -> None:
    """A repository around everything that the user owns is rarely the one that is meant."""
    if os.path.realpath(root) in {os.path.realpath(os.path.expanduser("~")), os.path.realpath(os.sep)}:
        raise click.UsageError(f"{root} is a repository around your whole home folder; go into the project that you mean.")


def _step(what: str, done: str, **more: Any) -> dict[str, Any]:
    return {"step": what, "done": done, **more}


def _set_up(repository: Repository, *, local: bool) -> Iterator[dict[str, Any]]:
    from tokenzip import config

    root = str(repository.root)
    path = Path(root) / config.FOLDER / config.FILE
    existed = path.exists()
    try:
        config.write(root, {"store": "local"} if local else {})
    except ValueError as error:
        raise click.UsageError(f"{error}; mend or remove it first.") from error
    yield _step("settings", "kept" if existed else "written", file=str(path))
    ignore = Path(root) / ".gitignore"
    changed = _ignore(ignore)
    yield _step("ignored", f"{IGNORED} added to" if changed else f"{IGNORED} is in", file=str(ignore))


def _ignore(path: Path) -> bool:
    """Add our folder to a .gitignore that does not have it. Returns whether it changed."""
    text = path.read_bytes() if path.exists() else b""
    lines = {line.strip().strip(b"/") for line in text.splitlines()}
    if IGNORED.strip("/").encode() in lines:
        return False
    newline = b"\r\n" if b"\r\n" in text else b"\n"
    gap = b"" if not text or text.endswith(b"\n") else newline
    path.write_bytes(text + gap + IGNORED.encode() + newline)
    return True


def _forget(path: Path) -> bool:
    """Take the line that `_ignore` adds out of a .gitignore, and an empty file away. Returns whether it changed."""
    text = path.read_bytes() if path.exists() else b""
    kept = [line for line in text.splitlines(keepends=True) if line.strip() != IGNORED.encode()]
    if b"".join(kept) == text:
        return False
    if kept:
        path.write_bytes(b"".join(kept))
    else:
        path.unlink()
    return True


def _hooks_step(repository: Repository, *, skip: bool, named: str | None) -> dict[str, Any]:
    if skip:
        return _step("hooks", "left out; every answer is the same without them")
    from tokenzip import hooks

    return _step("hooks", **_as_step(hooks.install(repository, named=named)))


def _as_step(state: Mapping[str, Any]) -> dict[str, Any]:
    return {"done": " ".join(str(state[name]) for name in ("state", "why") if state.get(name)), "hooks": dict(state)}


def _index_step(repository: Repository) -> dict[str, Any]:
    if repository.git.head() is None:
        return _step("index", "nothing is committed yet")
    from tokenzip.cli.keeping import keep_survey

    snapshot = repository.index("HEAD")
    keep_survey(snapshot)
    files = sum(1 for _ in snapshot.paths())
    return _step("index", f"HEAD is indexed, {files:,} files", folder=str(repository.store.folder))


def _client_steps(root: str, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    from tokenzip.cli import clients

    command = clients.launcher()
    for name in names:
        client = clients.CLIENTS[name]
        path, changed = clients.connect(client, root, command)
        consent = {"consent": client.consent} if client.consent else {}
        done = "connected in" if changed else "is connected in"
        yield _step(client.title, done, file=str(path), **_portability(command), **consent)
    proposed = [client.name for client in clients.found(root) if client.name not in names and not _is_connected(client, root)]
    if proposed:
        yield _step(
            "agents",
            "found here: " + ", ".join(proposed),
            propose="tokenzip init " + " ".join(f"--client {name}" for name in proposed),
        )
    elif not any(_is_connected(client, root) for client in clients.CLIENTS.values()):
        yield _step("agents", "none connected (tokenzip init --client NAME)")


def _portability(command: Sequence[str]) -> dict[str, Any]:
    """Whom an entry with this command serves. Agents' project files are made to be committed."""
    if not os.path.isabs(command[0]):
        return {"note": f"Shared with the project, good for everybody whose PATH has {command[0]}."}
    return {
        "note": f"Shared with the project, but the command {command[0]} is of this machine alone: no `tokenzip` is on the PATH "
        "outside a virtual environment. Before you commit it: `pipx install tokenzip` and run this again. "
        "Or move the entry to the agent's own settings in your home folder."
    }


def _is_connected(client: Any, root: str) -> bool:
    from tokenzip.cli import clients

    path = clients.path_of(client, root)
    try:
        return clients.NAME in path.read_text("utf-8", "replace")
    except OSError:
        return False


def _undo(repository: Repository) -> Iterator[dict[str, Any]]:
    from tokenzip import config, hooks
    from tokenzip.cli import clients

    root = str(repository.root)
    yield _step("hooks", **_as_step(hooks.uninstall(repository)))
    for client in clients.CLIENTS.values():
        path, changed = clients.disconnect(client, root)
        if changed:
            yield _step(client.title, "entry removed from", file=str(path))
    settings = Path(root) / config.FOLDER / config.FILE
    if settings.exists():
        settings.unlink()
        with contextlib.suppress(OSError):  # something else lies there: the store of a --local, a file of the user's
            settings.parent.rmdir()
        yield _step("settings", "removed", file=str(settings))
    ignore = Path(root) / ".gitignore"
    if not settings.parent.exists() and _forget(ignore):
        yield _step("ignored", f"{IGNORED} taken out of", file=str(ignore))


def _step_blocks(steps: Sequence[Mapping[str, Any]], *, undo: bool) -> Iterator[Block]:
    from tokenzip.render.blocks import Cell, Note, Rows, Section

    yield Rows(
        tuple(
            (Cell(each["step"], "name"), Cell(each["done"]), Cell(each.get("file", each.get("folder", "")), "place"))
            for each in steps
        )
    )
    for files, note in _noted(steps).items():
        yield Note(f"{', '.join(files)}: {note}")
    for each in steps:
        if "consent" in each:
            yield Note(f"{each['step']}: {each['consent']}")
    if undo:
        yield Note("The store stays; `tokenzip clean` removes it.")
        return
    yield Section("Next")
    following = [each["propose"] for each in steps if "propose" in each]
    rows = [(Cell(command, "name"), Cell("connect these agents", "dim")) for command in following]
    rows += [
        (Cell("tokenzip map", "name"), Cell("what this repository is made of", "dim")),
        (Cell("tokenzip diff", "name"), Cell("what you changed since the last commit, and who is reached", "dim")),
        (Cell("tokenzip status", "name"), Cell("what is indexed, and what could not be read", "dim")),
    ]
    yield Rows(tuple(rows))


def _noted(steps: Sequence[Mapping[str, Any]]) -> dict[tuple[str, ...], str]:
    """Each note once, with the files that it is about."""
    notes: dict[str, list[str]] = {}
    for each in steps:
        if "note" in each:
            notes.setdefault(each["note"], []).append(each["file"])
    return {tuple(files): note for note, files in notes.items()}


@click.group()
def hooks() -> None:
    """Install, remove or look at the git hooks.

    Hooks only make answers faster: every answer is the same without them.
    """


@hooks.command("install")
@click.option("--outside", is_flag=True, help="Also where the hooks folder lies outside this repository.")
@common(unused=NO_ANSWER)
def hooks_install(*, outside: bool, options: Options) -> int:
    """Install the hooks: pre-commit, post-commit, post-checkout, post-merge, post-rewrite."""
    from tokenzip import hooks as package

    with shell.opened(options) as repository:
        state = package.install(repository, outside=outside, named=options.repo)
    return _show_hooks(state, options)


@hooks.command("uninstall")
@click.option("--outside", is_flag=True, help="Also where the hooks folder lies outside this repository.")
@common(unused=NO_ANSWER)
def hooks_uninstall(*, outside: bool, options: Options) -> int:
    """Take our part out of the hooks and leave everything else as it is."""
    from tokenzip import hooks as package

    with shell.opened(options) as repository:
        state = package.uninstall(repository, outside=outside)
    return _show_hooks(state, options)


@hooks.command("status")
@common(unused=NO_ANSWER)
def hooks_status(options: Options) -> int:
    """Show whether the hooks are absent, installed, or installed but bypassed."""
    from tokenzip import hooks as package

    with shell.opened(options) as repository:
        state = package.status(repository)
    return _show_hooks(state, options)


@hooks.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("name")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def hooks_run(name: str, arguments: Sequence[str]) -> int:
    """Do what the hook NAME does; git's hook scripts call this."""
    from tokenzip import hooks as package

    return int(package.run(name, list(arguments)))


def _show_hooks(state: Mapping[str, Any], options: Options) -> int:
    from tokenzip.render.blocks import Cell, Rows

    rows = [(Cell("hooks", "dim"), Cell(str(state.get("state")), "name"), Cell(str(state.get("why", ""))))]
    rows += [(Cell(""), Cell(str(name)), Cell(str(what))) for name, what in dict(state.get("hooks", {})).items()]
    blocks: list[Block] = [Rows(tuple(rows))]
    if state.get("hint"):
        say(f"hint: {state['hint']}")
    return shell.print_state(state, blocks, options)
