"""Answers that show a graph, as Mermaid flowcharts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokenzip.render.blocks import shown


class Flowchart:
    """A Mermaid flowchart under construction; nodes are named by handle and numbered in the order of their first use."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._lines: list[str] = []

    def node(self, handle: str, label: str = "") -> str:
        known = self._ids.get(handle)
        if known is None:
            known = self._ids[handle] = f"n{len(self._ids)}"
            self._lines.append(f'  {known}["{_quoted(label or handle)}"]')
        return known

    def edge(self, source: str, target: str, label: str = "") -> None:
        line = f"  {self.node(source)} -->" + (f"|{_quoted(label)}|" if label else "") + f" {self.node(target)}"
        if line not in self._lines:
            self._lines.append(line)

    def __str__(self) -> str:
        return "\n".join(["flowchart LR", *self._lines]) + "\n"


def _quoted(text: str) -> str:
    return shown(text).replace("#", "#35;").replace('"', "#quot;").replace("|", "#124;").replace("\n", " ")


def flowchart(tool: str, answer: Mapping[str, Any]) -> str | None:
    """The graph that an answer shows; None for answers that show none."""
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
    elif tool in {"get_impact_analysis", "diff_commits"}:
        for item in answer["items" if tool == "get_impact_analysis" else "impact"]:
            chart.edge(item["handle"], item["via"], item["edge"]["kind"])
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
