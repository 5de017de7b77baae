"""How the context of some files reads."""

from __future__ import annotations

from collections.abc import Iterator

from tokenzip.render.blocks import Block, Cell, Paragraph, Rows, Section, Title
from tokenzip.render.words import Json, at_text, counted, own_name, place

_HEADINGS = {
    "uses": "What they use",
    "used_by": "Who uses them",
    "test": "Tests",
    "type": "Types that they mention",
    "doc": "Documentation",
}


def context_text(answer: Json) -> Iterator[Block]:
    yield Title(tuple(Cell(path, "name") for path in answer["of"]), at_text(answer["at"]))
    if answer.get("files"):
        yield Section("Files that go with them")
        yield Rows(tuple(_file_row(item) for item in answer["files"]), ("file", "role", "why"))
    for role, heading in _HEADINGS.items():
        items = [item for item in answer["items"] if item["role"] == role]
        if items:
            yield Section(heading)
            yield Rows(tuple(_need_row(item) for item in items), ("edge", "where", "symbol", ""))
    if not answer["items"] and not answer.get("files"):
        yield Paragraph("Nothing is known to go with them.")


def _file_row(item: Json) -> tuple[Cell, ...]:
    reasons = [f"changed together {counted(item['together'], 'time')}"] if "together" in item else []
    if "uses" in item:
        reasons.append(f"uses {counted(item['uses'], 'symbol')} of theirs")
    if "used" in item:
        reasons.append(f"they use {counted(item['used'], 'symbol')} of it")
    return Cell(item["handle"], "name"), Cell(item["role"], "dim"), Cell(", ".join(reasons) or "resembles them", "remark")


def _need_row(item: Json) -> tuple[Cell, ...]:
    path = item["handle"].partition("::")[0]
    note = item.get("signature") or (f"of {item['of']}" if "of" in item else "")
    where = place({"file": path, "line": item.get("line", item["edge"]["line"])})
    return Cell(item["edge"]["kind"], "dim"), Cell(where, "place"), Cell(own_name(item), "name"), Cell(note, "code")
