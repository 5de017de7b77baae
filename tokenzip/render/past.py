"""How histories and merges read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokenzip.render.blocks import Block, Cell, Paragraph, Rows, Section, Title
from tokenzip.render.words import Json, at_text, counted, own_name, place


def history_text(answer: Json) -> Iterator[Block]:
    if "to" in answer:
        yield from _edge_text(answer)
        return
    of = answer["of"]
    yield Title((Cell(of["handle"], "name"), Cell(of["kind"], "dim")), at_text(answer["at"]))
    if of["kind"] == "file":
        yield Paragraph("What stands outside of its symbols. `git log` has every commit that touches the file.")
    if not answer["items"]:
        yield Paragraph("No commit that was looked at changed it.")
        return
    since = answer.get("signature_since")
    yield Rows(tuple(_event_row(item, of["handle"], since) for item in answer["items"]), _COLUMNS)


_COLUMNS = ("commit", "date", "change", "subject", "author", "")


def _event_row(item: Json, handle: str, since: Json | None) -> tuple[Cell, ...]:
    is_mark = since is not None and since["commit"] == item["commit"]
    notes = [
        *(["signature since here"] if is_mark else []),
        *([f"was {item['old_handle']}"] if "old_handle" in item else []),
        *([f"as {item['handle']}"] if item["handle"] != handle and "old_handle" not in item else []),
        *item.get("reasons", ()),
    ]
    changed = ", ".join((item["change"], *item.get("also", ())))
    return (
        *_commit_cells(item),
        Cell(changed, "bad" if item["breaking"] else ""),
        *_words(item),
        Cell("; ".join(notes), "remark"),
    )


def _commit_cells(item: Json) -> tuple[Cell, ...]:
    return Cell((item["commit"] or "-")[:10], "name"), Cell(item.get("date", ""), "dim")


def _words(item: Json) -> tuple[Cell, ...]:
    return Cell(item["subject"]), Cell(item.get("author", ""), "dim")


def _edge_text(answer: Json) -> Iterator[Block]:
    yield Title((Cell(answer["from"], "name"), Cell("→"), Cell(answer["to"], "name")), at_text(answer["at"]))
    state = "The one uses the other." if answer["depends"] else "The one does not use the other."
    if not answer["items"]:
        yield Paragraph(f"{state} No commit that was looked at changed that.")
        return
    yield Paragraph(state)
    for item in answer["items"]:
        yield Rows(((*_commit_cells(item), Cell(item["change"]), *_words(item)),), _COLUMNS[:5])
        yield Section("Edges then")
        yield Rows(tuple(_edge_row(edge) for edge in item["edges"]), ("edge", "line", "from", "to"))


def _edge_row(edge: Json) -> tuple[Cell, ...]:
    return (
        Cell(edge["kind"], "dim"),
        Cell(str(edge["line"]), "number"),
        Cell(edge["handle"], "name"),
        Cell(edge["target"], "name"),
    )


def conflicts_text(answer: Json) -> Iterator[Block]:
    ours, theirs = at_text(answer["ours"]), at_text(answer["theirs"])
    yield Title(
        (Cell("merge of"), Cell(ours), Cell("and"), Cell(theirs)), f"from their base {(answer['base']['commit'] or '')[:10]}"
    )
    summary = answer["summary"]
    if not summary["findings"]:
        yield Paragraph("The merge breaks nothing that its sides have not broken already.")
    else:
        yield Paragraph(f"{counted(summary['findings'], 'place')} where the merge goes wrong and neither side does by itself.")
    yield from _findings(answer["items"], answer)
    if answer["textual"]:
        yield Section(f"Conflicts in the text ({summary['textual']})")
        yield Rows(
            tuple((Cell(each["file"], "place"), Cell(each["kind"], "dim")) for each in answer["textual"]), ("file", "conflict")
        )


def _findings(items: Sequence[Json], answer: Json) -> Iterator[Block]:
    for user, other in (("ours", "theirs"), ("theirs", "ours")):
        of_side = [item for item in items if item["used_by"] == user]
        if of_side:
            yield Section(f"{answer[user]['rev']} uses what {answer[other]['rev']} changed")
            yield Rows(tuple(_finding_row(item) for item in of_side), ("where", "symbol", "uses", "why", ""))
    of_both = [item for item in items if item["used_by"] == "both"]
    if of_both:
        yield Section("Both sides define or change it")
        yield Rows(tuple(_finding_row(item) for item in of_both), ("where", "symbol", "", "why", ""))


def _finding_row(item: Json) -> tuple[Cell, ...]:
    is_elsewhere = "now" in item and item["now"] != item["target"]
    notes = [f"now {item['now']}"] if is_elsewhere else item.get("cause", {}).get("reasons", ())
    return (
        Cell(place(item), "place"),
        Cell(own_name(item), "name"),
        Cell(f"{item['kind']} {item['target']}"),
        Cell(item["why"], "bad"),
        Cell("; ".join(notes), "remark"),
    )
