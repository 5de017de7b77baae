"""The command that runs workflow templates."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tokenzip.cli import options as shell
from tokenzip.cli.commands import with_commands
from tokenzip.cli.options import Options, common
from tokenzip.errors import UsageError


@click.command()
@click.argument("name", required=False)
@click.argument("inputs", nargs=-1, metavar="[INPUT=TEXT]...")
@click.option("--steps", is_flag=True, help="Show the inputs and the steps of NAME instead of running it.")
@click.option("--write", is_flag=True, help="create-module: write the proposed files, if nothing is in their way.")
@common()
def workflow(*, name: str | None, inputs: Sequence[str], steps: bool, write: bool, options: Options) -> int:
    """Run a fixed sequence of queries, such as bug-fix.

    Without NAME, list the templates and their inputs. A long text may come from a file (trace=@crash.log) or from standard
    input (trace=-, or just -).
    """
    if name is None or steps:
        answer = shell.answer_of("get_workflow", {"name": name}, options)
        return shell.show("get_workflow", answer if options.form == "json" else _for_people(answer), options)
    from tokenzip.workflows import template

    texts = {each.name for each in template(name).inputs if each.is_text}
    arguments = {"name": name, "inputs": [_read(text, texts) for text in inputs]}
    with shell.opened(options) as repository:
        answer = shell.run("execute_workflow_template", repository, arguments, options)
        code = shell.show("execute_workflow_template", answer, options)
        if write and not code:
            from tokenzip.cli.scaffolding import write_files

            return write_files(repository, arguments, options)
        return code


def _for_people(answer: dict[str, Any]) -> dict[str, Any]:
    """Steps that name the commands which ask the same."""
    steps = [{**item, "asks": with_commands(item["asks"])} if "asks" in item else item for item in answer.get("items", ())]
    return {**answer, "items": steps} if steps else answer


def _read(text: str, texts: set[str]) -> str:
    """An input with the text of the file, or of standard input, that it names."""
    name, sign, value = text.partition("=")
    if text == "-":
        return sys.stdin.read()
    if not sign or name not in texts:
        return text
    if value == "-":
        return f"{name}={sys.stdin.read()}"
    if value.startswith("@"):
        try:
            return f"{name}={Path(value[1:]).read_text(encoding='utf-8', errors='replace')}"
        except OSError as error:
            raise UsageError(f"{value[1:]} cannot be read: {error.strerror}", hint=f"Give {name}=@FILE.") from error
    return text
