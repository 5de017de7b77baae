"""Questions as the commands that a person types for them: answers name them as tools, which are for agents."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

_COMMANDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "diff_commits": ("diff", ("base", "head")),
    "execute_workflow_template": ("workflow", ("name", "inputs")),
    "find_conflicts": ("conflicts", ("ours", "theirs")),
    "get_context_for_files": ("context", ("files",)),
    "get_dependants": ("dependants", ("handle",)),
    "get_dependencies": ("deps", ("handle",)),
    "get_git_history": ("log", ("handle", "to")),
    "get_impact_analysis": ("impact", ("handles",)),
    "get_workflow": ("workflow --steps", ("name",)),
    "query": ("query", ("query",)),
    "query_file": ("show", ("path",)),
    "query_module": ("map", ("module",)),
    "query_repo_structure": ("map", ()),
    "query_symbol": ("show", ("handle",)),
    "search_symbols": ("search", ("query",)),
    "trace_path": ("trace", ("from", "to")),
}
"""Tool -> its command, and the arguments that this takes as words, in their order."""
_OPTIONS = {"kinds": "--kind", "include": "--source"}
"""Arguments whose options go by other names."""


def command_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """The command line that asks the same as a call of that tool."""
    name, positional = _COMMANDS[tool]
    if tool == "query_repo_structure" and "query" in arguments:
        name, positional = "query", ("query",)
    words = [word for argument in positional for word in _words(arguments.get(argument))]
    if tool == "get_git_history" and "to" in arguments:
        words.append("--edge")
    for argument, value in arguments.items():
        if argument in positional or value is False or value is None:
            continue
        option = _OPTIONS.get(argument, "--" + argument.replace("_", "-"))
        if value is True or argument == "include":
            words.append(option)
        else:
            words.extend(part for word in _words(value) for part in (option, word))
    return " ".join(["tokenzip", name, *map(shlex.quote, words)])


def _words(value: object) -> Sequence[str]:
    if value is None:
        return ()
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


def with_commands(text: str) -> str:
    """A text that names tools, with their commands in the place of these."""
    return re.sub(r"\b[a-z]+(?:_[a-z]+)+\b", lambda found: _COMMANDS.get(found[0], (found[0],))[0], text)
