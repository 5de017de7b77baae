"""How relations, paths, single symbols and searches read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokenzip.render.blocks import Block, Cell, Code, Paragraph, Rows, Section, Title
from tokenzip.render.words import Builder, Json, at_text, language_of, last, own_name, place, sources


def relations_text(noun: str, *, backward: bool) -> Builder:
    def build(answer: Json) -> Iterator[Block]:
        of = answer["of"]
        items = answer["items"]
        yield Title((Cell(of["handle"], "name"), Cell(of["kind"], "dim")), at_text(answer["at"]))
        if not items:
            yield Paragraph("None is known.")
            if others := answer.get("other_kinds"):
                command = "dependants" if backward else "deps"
                kinds = ", ".join(f"{count} {kind}" for kind, count in others.items())
                yield Paragraph(f"There are other edges: {kinds}. `tokenzip {command}` lists them.")
        elif "file" not in items[0]:
            yield Rows(tuple(_module_edge_row(item) for item in items), ("edges", noun, "name"))
        else:
            yield from _by_distance(items, noun, backward=backward, by_file=of["kind"] == "file")
        if external := answer.get("external"):
            yield Section("Outside the repository")
            yield Paragraph(", ".join(external))

    return build


def _module_edge_row(item: Json) -> tuple[Cell, ...]:
    return Cell(f"{item['edges']:,}", "number"), Cell(item["handle"], "name"), Cell(item["name"], "dim")


def _by_distance(items: Sequence[Json], noun: str, *, backward: bool, by_file: bool) -> Iterator[Block]:
    distances = sorted({item["distance"] for item in items})
    for distance in distances:
        level = [item for item in items if item["distance"] == distance]
        if len(distances) > 1:
            yield Section("Direct" if distance == 1 else f"{distance} steps away")
        yield Rows(tuple(_edge_row(item, backward=backward, by_file=by_file) for item in level), ("edge", "where", noun, ""))
        yield from sources(level)


def _edge_row(item: Json, *, backward: bool, by_file: bool) -> tuple[Cell, ...]:
    edge = item["edge"]
    sites = edge.get("sites", len(edge.get("lines", ())))
    more = f" (+{sites - 1})" if sites > 1 else ""
    where = f"{item['file']}:{edge['line']}{more}" if backward else place(item)
    name = "" if by_file else own_name(item)
    note = "via " + item["via"] if "via" in item else ""
    if uses := item.get("uses"):
        note = ", ".join(uses)
    elif not note:
        note = item.get("signature", "")
    return Cell(edge["kind"], "dim"), Cell(where, "place"), Cell(name, "name"), Cell(note, "code")


def trace_text(answer: Json) -> Iterator[Block]:
    yield Title((Cell(answer["from"], "name"), Cell("→"), Cell(answer["to"], "name")), at_text(answer["at"]))
    if not answer["items"]:
        yield Paragraph("No path found, neither over calls nor over other edges.")
    for number, path in enumerate(answer["items"], 1):
        if len(answer["items"]) > 1:
            yield Section(f"Path {number}")
        yield Rows(tuple(_step_row(step) for step in path["steps"]), ("edge", "where", "symbol"))


def _step_row(step: Json) -> tuple[Cell, ...]:
    edge = step.get("edge")
    if edge is None:
        return Cell(""), Cell(place(step), "place"), Cell(own_name(step), "name")
    return Cell(edge["kind"], "dim"), Cell(f"{edge['file']}:{edge['line']}", "place"), Cell(own_name(step), "name")


def symbol_text(answer: Json) -> Iterator[Block]:
    symbol = answer["symbol"]
    yield Title((Cell(symbol["handle"], "name"), Cell(symbol["kind"], "dim")), at_text(answer["at"]))
    yield Rows(tuple(_symbol_facts(symbol)))
    if doc := symbol.get("doc"):
        yield Section("Documentation")
        yield Paragraph(doc)
    if "source" in symbol:
        yield Section("Source")
        yield Code(symbol["source"], language_of(symbol["file"]))
    if answer["members"]:
        yield Section(f"Members ({len(answer['members'])})")
        yield Rows(
            tuple(
                (Cell(str(each["line"]), "number"), Cell(last(each), "name"), Cell(each["kind"], "dim"))
                for each in answer["members"]
            )
        )
    for heading, side in (("Used by", answer["used_by"]), ("Uses", answer["uses"])):
        if side["total"]:
            yield Section(f"{heading} ({_side_text(side)})")
            yield Rows(tuple(_neighbour_row(each) for each in side["first"]))
            if side["total"] > len(side["first"]):
                yield Paragraph(f"and {side['total'] - len(side['first'])} more")
    if answer["items"]:
        yield Section("Also defined as")
        yield Rows(
            tuple(
                (Cell(place(item), "place"), Cell(item["kind"], "dim"), Cell(item.get("signature", ""), "code"))
                for item in answer["items"]
            )
        )


def _symbol_facts(symbol: Json) -> Iterator[tuple[Cell, ...]]:
    yield Cell("at", "dim"), Cell(f"{symbol['file']}:{symbol['line']}-{symbol['end_line']}", "place")
    if "signature" in symbol:
        yield Cell("signature", "dim"), Cell(symbol["signature"])
    for name in ("bases", "decorators", "flags"):
        if name in symbol:
            yield Cell(name, "dim"), Cell(", ".join(symbol[name]))
    if "value" in symbol:
        yield Cell("value", "dim"), Cell(symbol["value"], "code")
    if "parent" in symbol:
        yield Cell("in", "dim"), Cell(symbol["parent"], "name")
    yield Cell("id", "dim"), Cell(symbol["id"], "dim")


def _side_text(side: Json) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in side["kinds"].items())


def _neighbour_row(item: Json) -> tuple[Cell, ...]:
    return Cell(str(item["edge"]["line"]), "number"), Cell(item["edge"]["kind"], "dim"), Cell(item["handle"], "name")


def search_text(answer: Json) -> Iterator[Block]:
    if not answer["items"]:
        yield Paragraph("Nothing found.")
        return
    rows = tuple(
        (
            Cell(item["handle"], "name"),
            Cell(item["kind"], "dim"),
            Cell(str(item.get("line", "")), "number"),
            Cell(item.get("signature", ""), "code"),
        )
        for item in answer["items"]
    )
    yield Rows(rows, ("symbol", "kind", "line", "signature"))
    yield from sources(answer["items"])
