"""What an operation is: a name, its parameters, and a function from a repository and arguments to an answer.

An answer is plain JSON: dictionaries, lists, strings, numbers, booleans and None. A mistake of the caller (a name that does
not exist, an argument of the wrong type) is an answer too: ``{"error": {...}}``. Anything else that goes wrong is raised.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tokenzip.errors import Cancelled, FileVanished, StoreChanged, TokenzipError, UnknownRevision, UsageError
from tokenzip.languages.base import uncollected

if TYPE_CHECKING:
    from tokenzip.repository import Repository
    from tokenzip.snapshot import Snapshot

Answer = dict[str, Any]
Arguments = Mapping[str, Any]
ParameterType = Literal["string", "integer", "boolean", "array"]
"""``array`` is a list of strings."""

DEFAULT_MAX_TOKENS = 2500
"""Budget of an answer when the caller names none; 0 means no bound."""


_ATTEMPTS = 3
"""How often a question is asked while others take away the graph that it is about, or the files."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of an operation, flat enough for every client's schema dialect."""

    name: str
    type: ParameterType
    required: bool = False
    description: str = ""
    enum: tuple[str, ...] = ()
    """Allowed values of a string, or of each element of an array; empty allows all."""


AT = Parameter(
    "at", "string", description="Revision: branch, tag, commit, HEAD~3, INDEX (staged) or WORKTREE (the files now, default)"
)
MAX_TOKENS = Parameter(
    "max_tokens", "integer", description=f"Token budget of the answer (default {DEFAULT_MAX_TOKENS}, 0 none)"
)
CURSOR = Parameter("cursor", "string", description="From `truncated.cursor` of an earlier answer: continue there")
COMMON = (AT, MAX_TOKENS)
"""Parameters that every operation takes; they are part of its `parameters`."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One question that every door (command line, MCP, Python) asks in the same way."""

    name: str
    summary: str
    """One line for people and agents: what it answers and when to ask it."""
    parameters: tuple[Parameter, ...]
    function: Callable[[Repository, Arguments], Answer]

    def run(self, repository: Repository, arguments: Arguments) -> Answer:
        """The answer to checked arguments; ``{"error": ...}`` for a mistake of the caller or a state that a person can mend.

        Whatever the function makes of its budget, the answer keeps within it. Raises Cancelled.
        """
        from tokenzip.budget import bounded

        budget = arguments.get("max_tokens", DEFAULT_MAX_TOKENS)
        is_number = isinstance(budget, int) and not isinstance(budget, bool) and budget >= 0
        return bounded(self._outcome(repository, arguments), budget if is_number else DEFAULT_MAX_TOKENS)

    def _outcome(self, repository: Repository, arguments: Arguments) -> Answer:
        try:
            given = self.checked(arguments)
            for _ in range(_ATTEMPTS - 1):
                with suppress(StoreChanged, FileVanished):
                    return self.function(repository, given)
            return self.function(repository, given)
        except Cancelled:
            raise
        except TokenzipError as error:
            return error_answer(error, at=arguments.get("at"))

    def checked(self, arguments: Arguments) -> dict[str, Any]:
        """The arguments that were given, each of its declared type. Raises UsageError."""
        known = {parameter.name: parameter for parameter in self.parameters}
        given = {name: value for name, value in arguments.items() if value is not None}
        for name, value in given.items():
            if name not in known:
                near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
                raise UsageError(
                    f"{self.name} takes no argument {name!r}",
                    hint=f"It takes {', '.join(known)}.",
                    candidates=near,
                )
            _check_value(known[name], value)
        missing = [parameter.name for parameter in self.parameters if parameter.required and parameter.name not in given]
        if missing:
            raise UsageError(f"{self.name} needs {', '.join(missing)}", hint=f"It takes {', '.join(known)}.")
        return given


def on_snapshot(function: Callable[[Snapshot, Arguments], Answer]) -> Callable[[Repository, Arguments], Answer]:
    """A question about one state, asked of the state that `at` names, within one transaction of the store."""

    def ask(repository: Repository, arguments: Arguments) -> Answer:
        snapshot = repository.snapshot(arguments["at"]) if "at" in arguments else repository.snapshot()
        with snapshot.reading(), uncollected():
            return function(snapshot, arguments)

    return ask


_PYTHON_TYPES: Mapping[str, type] = {"string": str, "integer": int, "boolean": bool, "array": list}


def _check_value(parameter: Parameter, value: object) -> None:
    is_right = isinstance(value, _PYTHON_TYPES[parameter.type]) and (parameter.type == "boolean" or not isinstance(value, bool))
    if not is_right:
        raise UsageError(f"argument {parameter.name} must be of type {parameter.type}", hint=parameter.description)
    elements: Sequence[object] = value if isinstance(value, list) else (value,)
    if isinstance(value, list) and not all(isinstance(element, str) for element in elements):
        raise UsageError(f"argument {parameter.name} must be a list of strings", hint=parameter.description)
    if not all(_is_text(element) for element in elements if isinstance(element, str)):
        raise UsageError(f"argument {parameter.name} is no text: it has half a surrogate pair", hint=parameter.description)
    if isinstance(value, int) and value < 0:
        raise UsageError(f"argument {parameter.name} must not be negative", hint=parameter.description)
    if parameter.enum:
        wrong = [str(element) for element in elements if element not in parameter.enum]
        if wrong:
            raise UsageError(
                f"argument {parameter.name} cannot be {', '.join(map(repr, wrong))}",
                hint=f"It is one of {', '.join(parameter.enum)}.",
                candidates=difflib.get_close_matches(wrong[0], parameter.enum, n=3),
            )


def _is_text(text: str) -> bool:
    """Whether it can be written down; bytes of odd file names (PEP 383) can."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


LONGEST_MESSAGE = 400
"""Characters of what an error says. It often quotes what was given, and that may be a whole file by mistake."""


def error_answer(error: TokenzipError, *, at: object = None) -> Answer:
    """An error as an answer: what was wrong, what to do, the nearest names, and the calls that would help (about `at`)."""
    answer: Answer = {
        "error": {
            "code": error.code,
            "message": error.message if len(error.message) <= LONGEST_MESSAGE else error.message[: LONGEST_MESSAGE - 1] + "…",
            "hint": error.hint,
            "candidates": list(error.candidates),
        }
    }
    at = None if isinstance(error, UnknownRevision) else at
    if error.calls:
        answer["next"] = [call(tool, **arguments, at=at) for tool, arguments in error.calls]
    return answer


def call(tool: str, **arguments: object) -> dict[str, Any]:
    """A ready-made call for the `next` of an answer; arguments that are None are left out."""
    return {"tool": tool, "arguments": {name: value for name, value in arguments.items() if value is not None}}
