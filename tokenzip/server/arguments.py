"""Arguments as models write them, and schemas as every client takes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tokenzip.server.protocol import Json

COMMON = {
    "at": "Revision (default WORKTREE)",
    "cursor": "From `truncated`",
    "max_tokens": "Default 2500",
}
"""Parameters of nearly every tool, in few words: each word is paid for in each tool and each session."""

LONGEST_ENUM = 8
"""Values of an argument that its schema lists; of longer lists the errors tell, at the price of a call."""


class Parameter(Protocol):
    """See `tokenzip.operations.Parameter`."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def required(self) -> bool: ...
    @property
    def description(self) -> str: ...
    @property
    def enum(self) -> Sequence[str]: ...


class Operation(Protocol):
    """See `tokenzip.operations.Operation`."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def parameters(self) -> Sequence[Parameter]: ...
    def run(self, repository: Any, arguments: Mapping[str, Any], /) -> Json: ...


def tool_entry(operation: Operation) -> Json:
    """The operation as an entry of ``tools/list``.

    A flat object schema with one plain type for each property: a combinator or reference at the top makes one client
    drop all tools. ``readOnlyHint``: one client refuses tools without it.
    """
    schema: Json = {
        "type": "object",
        "properties": {parameter.name: _property(parameter) for parameter in operation.parameters},
        "required": [parameter.name for parameter in operation.parameters if parameter.required],
        "additionalProperties": False,
    }
    if not schema["required"]:
        del schema["required"]
    return {
        "name": operation.name,
        "description": operation.summary,
        "inputSchema": schema,
        "annotations": {"readOnlyHint": True},
    }


def _property(parameter: Parameter) -> Json:
    entry: Json = {"type": parameter.type}
    values = {"enum": list(parameter.enum)} if 0 < len(parameter.enum) <= LONGEST_ENUM else {}
    if parameter.type == "array":
        entry["items"] = {"type": "string", **values}
    else:
        entry |= values
    description = COMMON.get(parameter.name, parameter.description)
    if description:
        entry["description"] = description
    return entry


def as_meant(operation: Operation, arguments: Mapping[str, Any]) -> Json:
    """The arguments in their declared types, where there is no doubt what was meant; the rest is left for the operation.

    Models now and then write a number, a truth value or a list as a string, or one string where a list is asked for.
    """
    types = {parameter.name: parameter.type for parameter in operation.parameters}
    return {name: _as_type(types.get(name, ""), value) for name, value in arguments.items() if value is not None}


def _as_type(wanted: str, value: Any) -> Any:
    if wanted == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if wanted == "string" or not isinstance(value, str):
        return value
    parsed = _parsed(value)
    if wanted == "array":
        return parsed if isinstance(parsed, list) else [value]
    is_right = isinstance(parsed, bool) if wanted == "boolean" else type(parsed) is int
    return parsed if is_right else value


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
