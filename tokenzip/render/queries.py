"""How the answer to a query reads: a table of whatever was found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokenzip.items import cell_text, table_columns
from tokenzip.render.blocks import Block, Cell, Paragraph, Rows, Section
from tokenzip.render.words import Json

_ROLES = {
    "handle": "name", "kind": "dim", "line": "number", "lines": "number", "files": "number", "edge": "place",
    "distance": "number", "signature": "code",
}  # fmt: skip


def query_text(answer: Json) -> Iterator[Block]:
    if "count" in answer:
        yield Paragraph(f"{answer['count']:,}")
    elif "exists" in answer:
        yield Paragraph("yes" if answer["exists"] else "no")
    elif not answer["items"]:
        yield Paragraph("Nothing found.")
    else:
        columns = _columns(answer["items"])
        rows = (tuple(Cell(_flat(cell_text(item, name)), _ROLES.get(name, "")) for name in columns) for item in answer["items"])
        yield Rows(tuple(rows), tuple(columns))
    if edges := answer.get("edges"):
        yield Section(f"Edges ({len(edges)})")
        yield Rows(tuple((Cell(each["from"], "name"), Cell(each["kind"], "dim"), Cell(each["to"], "name")) for each in edges))


def _columns(items: Sequence[Json]) -> list[str]:
    """What a table shows: signatures last, since they give way, and distances where they differ."""
    near = all(item.get("distance", 1) == 1 for item in items)
    columns = [name for name in table_columns(items) if not (near and name == "distance")]
    return sorted(columns, key=lambda name: name == "signature")


def _flat(text: str) -> str:
    return " ".join(text.split())
