"""Answers that show a graph, as Mermaid flowcharts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokenzip.render.blocks import shown

MOST_NODES = 80
"""Nodes of the chart of a diff: more are no picture, and hosts refuse charts of more than some hundred edges."""
STYLES = {
    "added": "fill:#dafbe1,stroke:#1a7f37",
    "removed": "fill:#ffebe9,stroke:#cf222e,stroke-dasharray:4",
    "changed": "fill:#fff8c5,stroke:#9a6700",
    "breaking": "fill:#ffebe9,stroke:#cf222e,stroke-width:3px",
    "test": "fill:#ddf4ff,stroke:#0969da",
}


class Flowchart:
    """A Mermaid flowchart under construction; nodes are named by handle and numbered in the order of their first use."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._lines: list[str] = []
        self._styled: dict[str, dict[str, None]] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, handle: str) -> bool:
        return handle in self._ids

    def style(self, handle: str, style: str) -> None:
        """Draw a node as one of `STYLES`."""
        self._styled.setdefault(style, {})[self.node(handle)] = None

    def node(self, handle: str, label: str = "") -> str:
        known = self._ids.get(handle)
        if known is None:
            known = self._ids[handle] = f"n{len(self._ids)}"
            self._lines.append(f'  {known}["{_quoted(label or handle)}"]')
        return known

    def edge(self, source: str, target: str, label: str = "", arrow: str = "-->") -> None:
        line = f"  {self.node(source)} {arrow}" + (f"|{_quoted(label)}|" if label else "") + f" {self.node(target)}"
        if line not in self._lines:
            self._lines.append(line)

    def __str__(self) -> str:
        styles = [
            line
            for style, nodes in self._styled.items()
            for line in (f"  classDef {style} {STYLES[style]}", f"  class {','.join(nodes)} {style}")
        ]
        return "\n".join(["flowchart LR", *self._lines, *styles]) + "\n"


def _quoted(text: str) -> str:
    return shown(text).replace("#", "#35;").replace('"', "#quot;").replace("|", "#124;").replace("\n", " ")


def flowchart(tool: str, answer: Mapping[str, Any]) -> str | None:
    """The graph that an answer shows; None for answers that show none."""
    if answer.get("left_out", {}).get("fields"):
        return None
    chart = Flowchart()
    if tool in {"get_dependants", "get_dependencies"}:
        _relations(chart, answer, backward=tool == "get_dependants")
    elif tool == "trace_path":
        for path in answer["items"]:
            for before, after in zip(path["steps"], path["steps"][1:], strict=False):
                chart.edge(before["handle"], after["handle"], f"{after['edge']['kind']} {after['edge']['line']}")
    elif tool == "query_repo_structure":
        for item in answer["items"]:
            chart.node(item["handle"], item["name"])
        for link in answer["dependencies"]:
            chart.edge(link["from"], link["to"], str(link["edges"]))
    elif tool == "get_impact_analysis":
        for item in answer["items"]:
            chart.edge(item["handle"], item["via"], item["edge"]["kind"])
    elif tool == "diff_commits":
        _neighbourhood(chart, answer)
    elif tool == "query" and "edges" in answer:
        for item in answer["items"]:
            chart.node(item["handle"])
        kinds: dict[tuple[str, str], list[str]] = {}
        for edge in answer["edges"]:
            kinds.setdefault((edge["from"], edge["to"]), []).append(edge["kind"])
        for ends, between in kinds.items():
            chart.edge(*ends, ", ".join(between))
    elif tool == "query_symbol":
        here = answer["symbol"]["handle"]
        for side in answer["used_by"]["first"]:
            chart.edge(side["handle"], here, side["edge"]["kind"])
        for side in answer["uses"]["first"]:
            chart.edge(here, side["handle"], side["edge"]["kind"])
    else:
        return None
    return str(chart)


def _relations(chart: Flowchart, answer: Mapping[str, Any], *, backward: bool) -> None:
    start = answer["of"]["handle"]
    chart.node(start)
    for item in answer["items"]:
        near = item.get("via", start)
        label = item["edge"]["kind"] if "edge" in item else ""
        if backward:
            chart.edge(item["handle"], near, label)
        else:
            chart.edge(near, item["handle"], label)


def _neighbourhood(chart: Flowchart, answer: Mapping[str, Any]) -> None:
    """What changed, what still uses what is gone, and who is reached; what comes first in the answer, up to `MOST_NODES`."""
    left_out = 0
    for change in answer.get("changes", ()):
        if "within" in change or change.get("test") or (change["kind"] == "file" and not change["reached"]):
            continue
        if len(chart) >= MOST_NODES // 2:
            left_out += 1
            continue
        chart.node(change["handle"], f"{change['handle']} ({change['change']})")
        kind = change["change"] if change["change"] in ("added", "removed") else "changed"
        chart.style(change["handle"], "breaking" if change["breaking"] and kind == "changed" else kind)
    for item in answer.get("broken", ()):
        if len(chart) < MOST_NODES:
            chart.edge(item["handle"], item["target"], f"{item['kind']}: {item['why']}", "-.->")
    for item in answer.get("impact", answer.get("run", ())):
        if item["handle"] not in chart and len(chart) >= MOST_NODES:
            left_out += 1
        elif "via" in item:
            chart.edge(item["handle"], item["via"], item.get("edge", {}).get("kind", ""))
            if item.get("test"):
                chart.style(item["handle"], "test")
    if left_out:
        chart.node("", f"{left_out} more")
