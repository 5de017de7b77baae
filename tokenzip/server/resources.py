"""The resources: four addresses for what four tools answer, and the completion of names and paths in them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from tokenzip.budget import lay_out
from tokenzip.server.call import Call
from tokenzip.server.protocol import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, Fault, Json, page
from tokenzip.server.tools import Tools

SCHEME = "tokenzip://"
MEDIA_TYPE = "application/json"
MOST_VALUES = 100
"""Values of one completion: the limit of the specification."""


class Kind(NamedTuple):
    """One form of address: the tool that answers it, and the argument that its variable part becomes."""

    name: str
    template: str
    description: str
    tool: str
    argument: str = ""

    @property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(re.sub(r"\\{\w+\\}", "(.+)", re.escape(self.template)))


KINDS = (
    Kind("structure", "tokenzip://repo/structure", "Modules, sizes, languages, entry points", "query_repo_structure"),
    Kind("module", "tokenzip://module/{name}/overview", "One module", "query_module", "module"),
    Kind("file", "tokenzip://file/{path}/symbols", "One file and its symbols", "query_file", "path"),
    Kind("symbol", "tokenzip://symbol/{id}/detail", "One symbol, by handle or id", "query_symbol", "handle"),
)


class Resources:
    """Resources of one connection, answered by its tools."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._kinds = tuple(kind for kind in KINDS if kind.tool in tools.operations)

    def list(self, call: Call, params: Json) -> Json:
        fixed = (kind for kind in self._kinds if not kind.argument)
        return page(params, "resources", ({"uri": kind.template, **_described(kind)} for kind in fixed))

    def list_templates(self, call: Call, params: Json) -> Json:
        entries = ({"uriTemplate": kind.template + "{?at}", **_described(kind)} for kind in self._kinds)
        return page(params, "resourceTemplates", entries)

    def read(self, call: Call, params: Json) -> Json:
        """What the tool behind the address answers. An address that names nothing is an error, not an empty answer."""
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise Fault(INVALID_PARAMS, "uri is required")
        kind, arguments = self._parse(call, uri)

        def as_contents(answer: Json) -> Json:
            if "error" in answer:
                raise _not_found(call, uri, answer["error"])
            return {"contents": [{"uri": uri, "mimeType": MEDIA_TYPE, "text": lay_out(answer)}]}

        return self._tools.ask(call, self._tools.operations[kind.tool], arguments, as_contents)

    def _parse(self, call: Call, uri: str) -> tuple[Kind, Json]:
        from urllib.parse import parse_qs, unquote

        address, _, query = uri.partition("?")
        for kind in self._kinds:
            match = kind.pattern.fullmatch(address)
            if match:
                variable = {kind.argument: unquote(match[1])} if kind.argument else {}
                revisions = parse_qs(query).get("at", [])
                return kind, {**variable, **({"at": revisions[-1]} if revisions else {})}
        raise _not_found(call, uri, {"message": f"No resource {uri}", "hint": "See resources/templates/list."})

    # -- completion ----------------------------------------------------------------------------------------------

    def complete(self, call: Call, params: Json) -> Json:
        """Values for a variable of a resource template, those that begin with what is typed before those that contain it."""
        reference, argument = params.get("ref"), params.get("argument")
        if not isinstance(reference, dict) or not isinstance(argument, dict):
            raise Fault(INVALID_PARAMS, "ref and argument are required")
        name, typed = argument.get("name"), argument.get("value")
        if reference.get("type") != "ref/resource" or not isinstance(name, str) or not isinstance(typed, str):
            raise Fault(INVALID_PARAMS, "ref must be a resource template, argument a name and a value")
        variable = self._variable(reference.get("uri"), name)
        if variable is None:
            raise Fault(INVALID_PARAMS, f"No resource template {reference.get('uri')} with a variable {name}")

        def find(repository: Any, arguments: Json) -> Json:
            from tokenzip.server.completion import complete

            return {"values": complete(repository, variable, typed)}

        return as_completion(self._tools.answer(call, "completion", {}, as_completion, find))

    def _variable(self, template: object, name: str) -> str | None:
        """The variable of that name in the template, with or without its ``{?at}``. None if there is none."""
        known = {kind.template for kind in self._kinds}
        if not isinstance(template, str) or template.removesuffix("{?at}") not in known:
            return None
        return name if name == "at" or f"{{{name}}}" in template else None


def as_completion(answer: Json) -> Json:
    """Values in the form of the protocol. An unfinished index or a missing repository has none to offer, and says so."""
    values = answer.get("values")
    if values is None:
        return {"completion": {"values": [], "hasMore": "indexing" in answer}}
    return {"completion": {"values": values[:MOST_VALUES], "total": len(values), "hasMore": len(values) > MOST_VALUES}}


def _described(kind: Kind) -> Json:
    return {"name": kind.name, "description": kind.description, "mimeType": MEDIA_TYPE}


def _not_found(call: Call, uri: str, error: Json) -> Fault:
    code = INTERNAL_ERROR if error.get("code") == "bug" else INVALID_PARAMS if call.modern else RESOURCE_NOT_FOUND
    return Fault(code, error["message"], {"uri": uri, **error})
