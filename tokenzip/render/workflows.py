"""How the workflow templates and what they find out read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tokenzip.render.blocks import Block, Cell, Code, Note, Paragraph, Rows, Section, Title
from tokenzip.render.words import Json, at_text, language_of

_ENVELOPE = frozenset({"at", "workflow", "stamp", "summary", "complete", "truncated", "token_count", "left_out", "next"})
_ROLES = {
    "handle": "name",
    "file": "name",
    "module": "name",
    "path": "name",
    "name": "name",
    "line": "number",
    "step": "number",
    "end_line": "number",
    "distance": "number",
    "edges": "number",
    "reached": "number",
    "used_by": "number",
    "uses": "number",
}
_LONG = frozenset({"content"})
"""Fields that are shown below the list that they belong to."""


def workflows_text(answer: Json) -> Iterator[Block]:
    """All templates, or one with its inputs and steps."""
    if "workflow" not in answer:
        yield Title((Cell("workflow templates"),))
        yield Rows(
            tuple(
                (Cell(item["handle"], "name"), Cell(item["inputs"], "place"), Cell(item["summary"], "remark"))
                for item in answer["items"]
            ),
            ("template", "inputs", ""),
        )
        return
    yield Title((Cell(answer["workflow"], "name"),))
    yield Paragraph(answer["summary"] + ".")
    yield Section("Inputs")
    yield Rows(
        tuple((Cell(each["name"], "name"), Cell(_kind_of(each), "dim"), Cell(each["is"])) for each in answer["inputs"]),
        ("input", "", "is"),
    )
    yield Section("Steps")
    rows = tuple((Cell(each["step"], "name"), Cell(each["asks"]), Cell(each["gives"], "place")) for each in answer["items"])
    yield Rows(rows, ("step", "asks", "gives"))


def _kind_of(each: Json) -> str:
    return ", ".join(word for word in ("required", "list") if each.get(word))


def workflow_text(answer: Json) -> Iterator[Block]:
    """What a template found out: its summary, then each of its lists."""
    made = answer["stamp"]["made"]
    state = f"{at_text(answer['at'])}, snapshot {answer['stamp']['snapshot']}" + (f", made {made}" if made else "")
    yield Title((Cell(answer["workflow"], "name"),), state)
    if answer["summary"]:
        yield Rows(tuple(_summary_rows(answer["summary"])))
    for name, items in answer.items():
        if name not in _ENVELOPE and items:
            yield Section(name[:1].upper() + name[1:].replace("_", " "))
            yield _table(items)
            yield from _long_fields(items)
    if not any(items for name, items in answer.items() if name not in _ENVELOPE):
        yield Note("Nothing was found.")


def _summary_rows(summary: Json) -> Iterator[tuple[Cell, ...]]:
    for name, value in summary.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield from ((Cell(name.replace("_", " "), "dim"), Cell(words)) for each in value if (words := _words(each)))
        else:
            yield Cell(name.replace("_", " "), "dim"), Cell(_words(value))


def _table(items: Sequence[Json]) -> Rows:
    columns = [name for name in dict.fromkeys(name for item in items for name in item) if name not in _LONG]
    rows = tuple(tuple(Cell(_words(item.get(name, "")), _ROLES.get(name, "")) for name in columns) for item in items)
    header = tuple("" if name in ("handle", "path") else name.replace("_", " ") for name in columns)
    return Rows(rows, header, is_headed=True)


def _long_fields(items: Sequence[Json]) -> Iterator[Block]:
    for item in items:
        for name in _LONG & item.keys():
            if item[name]:
                yield Section(str(item.get("path", item.get("handle", name))))
                yield Code(item[name], language_of(str(item.get("path", ""))))


def _words(value: Any) -> str:
    """A value in a line of text: mappings as ``name value`` pairs, lists with semicolons."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        if set(value) == {"kind", "line"}:
            return f"{value['kind']} {value['line']}"
        return ", ".join(f"{name} {_words(each)}" for name, each in value.items() if each not in ({}, [], ""))
    if isinstance(value, list):
        return "; ".join(_words(each) for each in value)
    return f"{value:,}" if isinstance(value, int) and value > 9999 else str(value)
