"""The options that every command takes, and the way from an operation to printed text."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tokenzip.cli.commands import command_of
from tokenzip.cli.terminal import Progress, emit, style_of, tell

if TYPE_CHECKING:
    from tokenzip.render.blocks import Block
    from tokenzip.repository import Repository

WRONG_USAGE = 2
NO_ANSWER = frozenset({"at", "max_tokens", "cursor"})
"""Common options that mean nothing to a command that asks no question about a state of the files."""
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Options:
    """The common options of one command line."""

    at: str | None
    repo: str | None
    form: str
    max_tokens: int
    cursor: str | None = None


def common(*, graph: bool = False, unused: Collection[str] = ()) -> Callable[[Function], Function]:
    """Give a command the common options, as one `options` argument; with `graph`, also as a Mermaid flowchart.

    Every command takes all of them. Those that mean nothing to it (`unused`) are not offered in its help.
    """
    forms = ["text", "json", "markdown", *(["mermaid"] if graph else [])]

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def command(
            *, at: str | None, repo: str | None, form: str, max_tokens: int | None, cursor: str | None, **rest: Any
        ) -> Any:
            return function(options=Options(at, repo, form, max_tokens or 0, cursor), **rest)

        for option in (
            click.option("--cursor", metavar="CURSOR", hidden="cursor" in unused, help="Go on where an answer was cut."),
            click.option(
                "--max-tokens", type=click.IntRange(min=1), metavar="N", hidden="max_tokens" in unused,
                help="Cut the answer to N tokens.",
            ),
            click.option("--format", "form", type=click.Choice(forms), default="text", help="How to print the answer."),
            click.option("--repo", metavar="DIR", help="The repository (default: the one around this folder)."),
            click.option(
                "--at", metavar="REV", hidden="at" in unused,
                help="Any revision, INDEX or WORKTREE (default: the files as they are).",
            ),
        ):  # fmt: skip
            command = option(command)
        return command  # type: ignore[return-value]

    return decorate


@contextmanager
def opened(options: Options) -> Iterator[Repository]:
    """The repository that the options name, telling its progress on standard error."""
    from tokenzip.repository import repo

    progress = Progress()
    repository = repo(options.repo or ".")
    repository.progress = progress
    try:
        yield repository
    except BaseException:
        progress.finish(done=False)
        raise
    progress.finish()


def ask(tool: str, arguments: Mapping[str, Any], options: Options) -> int:
    """Ask an operation, print its answer, and return the exit code."""
    return show(tool, answer_of(tool, arguments, options), options)


def answer_of(tool: str, arguments: Mapping[str, Any], options: Options) -> dict[str, Any]:
    """The answer of an operation to these arguments and the common options."""
    with opened(options) as repository:
        return run(tool, repository, arguments, options)


def run(tool: str, repository: Repository, arguments: Mapping[str, Any], options: Options) -> dict[str, Any]:
    """The answer of an operation of an open repository."""
    from tokenzip.operations import OPERATIONS, UNLISTED

    operation = OPERATIONS.get(tool) or UNLISTED[tool]
    names = {parameter.name for parameter in operation.parameters}
    with as_read(options, lambda _: tool):
        return operation.run(repository, {**arguments, **common_arguments(options, names)})


@contextmanager
def as_read(options: Options, tool_of: Callable[[Mapping[str, Any]], str]) -> Iterator[None]:
    """A budget holds for the text that is printed; of JSON and graphs for the answer itself."""
    from tokenzip.budget import estimate_tokens, measured_by
    from tokenzip.render import render

    if options.form not in {"text", "markdown"} or not options.max_tokens:
        yield
        return
    style = style_of(sys.stdout)
    with measured_by(lambda answer: estimate_tokens(render(tool_of(answer), answer, options.form, style))):
        yield


def common_arguments(options: Options, names: set[str]) -> dict[str, Any]:
    """Those of the common options that an operation knows, as its arguments.

    What people read says more of each item than what is counted in tokens.
    """
    detail = None if options.form == "json" else "signatures"
    values = {"at": options.at, "max_tokens": options.max_tokens, "cursor": options.cursor, "detail": detail}
    return {name: value for name, value in values.items() if name in names and value is not None}


def show(tool: str, answer: Mapping[str, Any], options: Options) -> int:
    """Print an answer (an error: on standard error, as JSON also on standard output) and return the exit code."""
    from tokenzip.render import render, to_json

    error = answer.get("error")
    if error is not None:
        if options.form == "json":
            emit(to_json(answer))
        commands = [command_of(each["tool"], each["arguments"]) for each in answer.get("next", ())]
        tell(error["message"], error.get("hint", ""), error.get("candidates", ()), commands)
        return WRONG_USAGE
    emit(render(tool, answer, options.form, style_of(sys.stdout)))
    return 0


def from_here(handle: str, repository: Repository) -> str:
    """The handle with its path counted from the repository's root, where it was typed as seen from this folder."""
    from tokenzip.snapshot.written import read_handle

    root = repository.root
    if root is None:
        return handle
    written = read_handle(handle, os.path.lexists)
    path = written.path if os.path.lexists(written.path) else written.path.replace("\\", "/")
    if not path or os.path.lexists(os.path.join(root, path)) or not os.path.lexists(path):
        return handle
    there = Path(os.path.abspath(path))
    top = Path(os.path.realpath(root))
    place = f"::{written.qualified}" if written.qualified else f":{written.line}" if written.line else ""
    for candidate in (there, there.parent.resolve() / there.name):
        if candidate.is_relative_to(top):
            return candidate.relative_to(top).as_posix() + place
    return handle


def print_state(state: Mapping[str, Any], blocks: Sequence[Block], options: Options) -> int:
    """Print what a command that is no operation has to say, in the chosen form. Returns exit code 0."""
    from tokenzip.render import to_json
    from tokenzip.render.blocks import write_markdown, write_text

    if options.form == "json":
        emit(to_json(state))
    elif options.form == "markdown":
        emit(write_markdown(blocks))
    else:
        emit(write_text(blocks, style_of(sys.stdout)))
    return 0
