"""How the map, modules and files read."""

from __future__ import annotations

from collections.abc import Iterator

from tokenzip.render.blocks import Block, Cell, Note, Paragraph, Rows, Section, Title
from tokenzip.render.words import Json, at_text, counted, last, own_name, sizes


def map_text(answer: Json) -> Iterator[Block]:
    counts = answer["counts"]
    size = ", ".join(counted(counts[f"{noun}s"], noun) for noun in ("file", "line", "symbol"))
    name = answer["name"] if answer["name"] != "." else ""
    yield Title((Cell(name, "name"), Cell(size)), at_text(answer["at"]))
    if answer["languages"]:
        yield Section("Languages")
        yield Rows(
            tuple(_language_row(item) for item in answer["languages"]), ("language", "files", "lines", "symbols", "resolved")
        )
    yield Section(f"Modules ({counts['modules']})")
    yield Rows(tuple(_module_row(item) for item in answer["items"]), ("module", "name", "files", "lines", "symbols", "about"))
    if answer["areas"]:
        yield Section("Where the code lies")
        yield Rows(tuple(_area_row(item) for item in answer["areas"]), ("directory", "files", "lines", "symbols"))
    yield from _starts(answer)
    if answer["dependencies"]:
        yield Section("Between modules")
        rows = tuple(
            (Cell(f"{each['edges']:,}", "number"), Cell(each["from"], "name"), Cell("→"), Cell(each["to"], "name"))
            for each in answer["dependencies"]
        )
        yield Rows(rows, ("edges", "from", "", "to"))
    statuses = ", ".join(f"{count:,} {status}" for status, count in counts["status"].items())
    yield Note(f"Files: {statuses}" if statuses else "There are no files yet.")


def _starts(answer: Json) -> Iterator[Block]:
    if answer.get("entry_points"):
        yield Section("Start reading at")
        yield Rows(tuple((Cell(item["handle"], "name"),) for item in answer["entry_points"]))
    if answer.get("most_used"):
        yield Section("Most used")
        rows = tuple(
            (Cell(f"{item['used_by']:,}", "number"), Cell(item["handle"], "name"), Cell(item["kind"], "dim"))
            for item in answer["most_used"]
        )
        yield Rows(rows, ("users", "symbol", "kind"))


def _language_row(item: Json) -> tuple[Cell, ...]:
    resolved = f"{item['resolved']:.1%} of references resolved" if "resolved" in item else ""
    return Cell(item["language"], "name"), *sizes(item), Cell(resolved, "dim")


def _module_row(item: Json) -> tuple[Cell, ...]:
    name = item["name"] if item["name"] != item["handle"] else ""
    return Cell(item["handle"], "name"), Cell(name), *sizes(item), Cell(item.get("description", ""), "code")


def _area_row(item: Json) -> tuple[Cell, ...]:
    return Cell((item["path"] or ".") + "/", "name"), *sizes(item)


def module_text(answer: Json) -> Iterator[Block]:
    module = answer["module"]
    yield Title(
        (Cell(module["handle"], "name"), Cell(module["name"]), Cell(module.get("version", ""), "dim")), at_text(answer["at"])
    )
    if "description" in module:
        yield Paragraph(module["description"])
    yield Rows((sizes(module),))
    if "modules" in module:
        yield Section("Modules inside")
        yield Rows(tuple((Cell(path, "name"),) for path in module["modules"]))
    noun = "folders" if module["kind"] == "folder" else "modules"
    for heading, side in ((f"Uses {noun}", answer["uses"]), (f"Used by {noun}", answer.get("used_by"))):
        if side:
            yield Section(heading)
            yield Rows(tuple((Cell(f"{each['edges']:,}", "number"), Cell(each["module"], "name")) for each in side))
    if packages := module.get("packages"):
        yield Section("Packages")
        yield Rows(
            tuple(
                (Cell(each["name"], "name"), Cell(each["range"]), Cell("dev" if each.get("dev") else "", "dim"))
                for each in packages
            )
        )
    yield from _starts(answer)
    if answer["items"]:
        yield Section("Files")
        yield Rows(
            tuple(_module_file_row(item) for item in answer["items"]),
            ("file", "lines", "symbols", "uses from outside", "exports"),
        )


def _module_file_row(item: Json) -> tuple[Cell, ...]:
    used = f"used {item['used_by']:,}×" if item["used_by"] else ""
    return (
        Cell(item["handle"], "name"),
        Cell(f"{item['lines']:,} lines", "number"),
        Cell(f"{item['symbols']:,} symbols", "number"),
        Cell(used, "number"),
        Cell(", ".join(item.get("exports", ())), "code"),
    )


def file_text(answer: Json) -> Iterator[Block]:
    file = answer["file"]
    yield Title(
        (Cell(file["handle"], "name"), Cell(file.get("language", "file"), "dim"), Cell(f"{file['lines']:,} lines")),
        at_text(answer["at"]),
    )
    facts = [word for word in ("generated", "test") if file.get(word)]
    if file["status"] != "parsed":
        facts.append(file["status"] + (f": {file['reason']}" if "reason" in file else ""))
    if facts:
        yield Paragraph("; ".join(facts))
    if "problems" in file:
        yield Section("Problems")
        yield Rows(tuple((Cell(str(each["line"]), "number"), Cell(each["message"], "warn")) for each in file["problems"]))
    if answer["items"]:
        yield Section("Symbols")
        yield Rows(tuple(_outline_row(item) for item in answer["items"]), ("line", "symbol", "kind", "signature"))
    if answer["imports"]:
        yield Section("Imports")
        yield Rows(tuple((Cell(each["file"], "name"), Cell(", ".join(each["names"]), "code")) for each in answer["imports"]))
    if external := answer.get("external"):
        yield Section("Outside the repository")
        yield Paragraph(", ".join(external))
    if answer["used_by"]["total"]:
        yield Section(f"Used by {counted(answer['used_by']['total'], 'file')}")
        yield Rows(tuple((Cell(path, "name"),) for path in answer["used_by"]["first"]))


def _outline_row(item: Json) -> tuple[Cell, ...]:
    depth = own_name(item).count(".")
    return (
        Cell(str(item["line"]), "number"),
        Cell("  " * depth + last(item), "name"),
        Cell(item["kind"], "dim"),
        Cell(item.get("signature", ""), "code"),
    )
