"""The tool list that every session of every agent pays for: what all clients take, and how much it costs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tokenzip.budget import estimate_tokens
from tokenzip.operations import COMMON, OPERATIONS
from tokenzip.server.arguments import tool_entry
from tokenzip.server.service import INSTRUCTIONS

TOOLS = [tool_entry(OPERATIONS[name]) for name in sorted(OPERATIONS)]
MOST_TOKENS = 2500
PROMISED = {
    "diff_commits", "execute_workflow_template", "get_context_for_files", "get_dependants", "get_dependencies",
    "get_git_history", "get_impact_analysis", "get_workflow", "query_file", "query_module", "query_repo_structure",
    "query_symbol", "search_symbols", "trace_path",
}  # fmt: skip


def test_the_promised_tools_are_there() -> None:
    assert {tool["name"] for tool in TOOLS} >= PROMISED


def test_the_list_is_small() -> None:
    text = json.dumps(TOOLS, separators=(",", ":"), ensure_ascii=False)
    assert len(text) / 4 <= MOST_TOKENS
    assert estimate_tokens(text) <= MOST_TOKENS
    assert len(text.encode()) < 12_000


def test_the_instructions_are_short_and_name_tools_that_exist() -> None:
    assert len(INSTRUCTIONS) <= 1500
    assert INSTRUCTIONS.startswith("Use tokenzip before")  # clients that search for tools show only the beginning
    named = set(re.findall(r"\b(?:query|get|search|trace|diff|execute)_[a-z_]+", INSTRUCTIONS))
    assert named <= set(OPERATIONS)
    assert len(named) >= 8


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool["name"])
class TestEachTool:
    def test_its_name_fits_every_client(self, tool: dict[str, Any]) -> None:
        assert re.fullmatch(r"[a-z][a-z0-9_]{2,39}", tool["name"])

    def test_it_only_reads(self, tool: dict[str, Any]) -> None:
        assert tool["annotations"]["readOnlyHint"] is True

    def test_its_words_are_few(self, tool: dict[str, Any]) -> None:
        assert 20 <= len(tool["description"]) <= 300
        assert "\n" not in tool["description"]
        assert all(1 < len(entry["description"]) <= 160 for entry in tool["inputSchema"]["properties"].values())

    def test_it_takes_what_all_take(self, tool: dict[str, Any]) -> None:
        assert {parameter.name for parameter in COMMON} <= set(tool["inputSchema"]["properties"])

    def test_its_schema_is_flat(self, tool: dict[str, Any]) -> None:
        schema = tool["inputSchema"]
        assert set(schema) <= {"type", "properties", "required", "additionalProperties"}
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert set(schema.get("required", ())) <= set(schema["properties"])
        for entry in schema["properties"].values():
            assert set(entry) <= {"type", "description", "enum", "items"}
            assert entry["type"] in ("string", "integer", "boolean", "array")
            assert ("items" in entry) == (entry["type"] == "array")
            if "items" in entry:
                assert set(entry["items"]) <= {"type", "enum"}
                assert entry["items"]["type"] == "string"

    def test_no_client_stumbles_over_a_word(self, tool: dict[str, Any]) -> None:
        refused = {"$ref", "anyOf", "oneOf", "allOf", "not", "const", "prefixItems", "pattern", "format", "default", "$defs"}
        assert not refused & set(keys(tool["inputSchema"]))
        assert "outputSchema" not in tool

    def test_the_official_sdk_takes_it(self, tool: dict[str, Any]) -> None:
        types = pytest.importorskip("mcp_types", reason="the official MCP SDK is not installed")
        jsonschema = pytest.importorskip("jsonschema", reason="comes with the official MCP SDK")
        assert types.Tool.model_validate(tool).name == tool["name"]
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])


def keys(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield name
            if name != "properties":
                yield from keys(inner)
            else:
                for entry in inner.values():
                    yield from keys(entry)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)
