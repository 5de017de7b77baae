"""Answers for people: text for the terminal, Markdown for documents, Mermaid for graphs. No rendering decides what is said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tokenzip.budget import lay_out
from tokenzip.errors import UsageError
from tokenzip.render.answers import document
from tokenzip.render.blocks import PLAIN, Code, Fold, Style, write_markdown, write_text
from tokenzip.render.mermaid import flowchart

__all__ = ["FORMATS", "Style", "render", "to_json"]

FORMATS = ("text", "json", "markdown", "mermaid")


def render(tool: str, answer: Mapping[str, Any], form: str = "text", style: Style = PLAIN) -> str:
    """The answer of an operation in one of `FORMATS`, ending in a line feed. UsageError where there is no graph."""
    if form == "json":
        return to_json(answer)
    if form == "mermaid":
        chart = flowchart(tool, answer)
        if chart is None:
            raise UsageError("this answer is not a graph", hint="Take another format: text, json or markdown.")
        return chart
    blocks = document(tool, answer)
    is_cut = answer.get("truncated") or answer.get("left_out")
    if form == "markdown" and tool == "diff_commits" and not is_cut and (chart := flowchart(tool, answer)):
        blocks.append(Fold("Graph", (Code(chart, "mermaid"),)))
    return write_markdown(blocks) if form == "markdown" else write_text(blocks, style)


def to_json(answer: Mapping[str, Any]) -> str:
    """The answer as JSON, byte for byte as agents get it, but for odd bytes of file names: those stay escapes of surrogates."""
    text = lay_out(answer)
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"
