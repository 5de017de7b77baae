"""How each answer reads: from its JSON to a small document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from tokenzip.render.blocks import Block, Cell, Code, Note, Paragraph, Rows, Section, Title

TEST_FILES = 15
"""Files of tests that a text lists; the answer in JSON has each test."""
Json = Mapping[str, Any]
Builder = Callable[[Json], Iterator[Block]]


def document(tool: str, answer: Json) -> list[Block]:
    """The document of an answer of that operation: its own blocks, then what every answer has to say."""
    return [*BUILDERS[tool](answer), *remarks(answer)]


def remarks(answer: Json) -> Iterator[Block]:
    """What is missing from the answer, and why."""
    truncated = answer.get("truncated")
    if truncated:
        rest = f"; go on with --cursor {truncated['cursor']}" if truncated.get("cursor") else ""
        yield Note(f"{truncated['shown']} of {truncated['total']} shown{rest}")
    for name, count in answer.get("left_out", {}).items():
        yield Note(f"{count} left out of {name}")
    complete = answer.get("complete", True)
    if complete is not True:
        places = complete.get("places", ())
        more = ", …" if complete.get("unresolved", 0) > len(places) else ""
        count = f"{counted(complete['unresolved'], 'open reference')}: " if complete.get("unresolved") else ""
        yield Note(f"May be incomplete. {count}{complete['why']}" + (f" ({', '.join(places)}{more})" if places else ""))


def at_text(at: Json) -> str:
    """Which state an answer speaks of, in words: ``WORKTREE on 2ac8988, with changes``."""
    commit = (at.get("commit") or "")[:10]
    if at["rev"] in {"WORKTREE", "INDEX"}:
        base = f"on {commit}" if commit else "no commit yet"
        return f"{at['rev']} {base}" + (", with changes" if at["dirty"] else "")
    return at["rev"] if commit and commit.startswith(at["rev"][:10]) else f"{at['rev']} = {commit}"


def counted(count: int, noun: str) -> str:
    """``1 file``, ``1,234 files``."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + ("es" if noun.endswith("s") else "s")
    return f"{count:,} {noun if count == 1 else plural}"


def place(item: Json) -> str:
    """``file:line`` of an item, or just the file."""
    line = item.get("line")
    return f"{item['file']}:{line}" if line else str(item["file"])


def _own_name(item: Json) -> str:
    """The handle without the file, for lists that show the file beside it."""
    handle = str(item["handle"])
    return handle.partition("::")[2] or "(module level)"


# Relations.


def _relations(noun: str, *, backward: bool) -> Builder:
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
        yield from _sources(level)


def _edge_row(item: Json, *, backward: bool, by_file: bool) -> tuple[Cell, ...]:
    edge = item["edge"]
    lines = edge.get("lines", [edge["line"]])
    more = f" (+{len(lines) - 1})" if len(lines) > 1 else ""
    where = f"{item['file']}:{edge['line']}{more}" if backward else place(item)
    name = "" if by_file else _own_name(item)
    note = "via " + item["via"] if "via" in item else ""
    if uses := item.get("uses"):
        note = ", ".join(uses)
    elif not note:
        note = item.get("signature", "")
    return Cell(edge["kind"], "dim"), Cell(where, "place"), Cell(name, "name"), Cell(note, "code")


def _sources(items: Sequence[Json]) -> Iterator[Block]:
    for item in items:
        if "doc" in item or "source" in item:
            yield Section(item["handle"])
        if "doc" in item:
            yield Paragraph(item["doc"])
        if "source" in item:
            yield Code(item["source"], language_of(item["file"]))


def language_of(path: str) -> str:
    """The name after a Markdown fence for a file of that suffix."""
    return {"py": "python", "pyi": "python", "js": "javascript", "jsx": "jsx", "ts": "typescript", "tsx": "tsx"}.get(
        path.rpartition(".")[2], ""
    )


def _trace(answer: Json) -> Iterator[Block]:
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
        return Cell(""), Cell(place(step), "place"), Cell(_own_name(step), "name")
    return Cell(edge["kind"], "dim"), Cell(f"{edge['file']}:{edge['line']}", "place"), Cell(_own_name(step), "name")


# One symbol, and search.


def _symbol(answer: Json) -> Iterator[Block]:
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
                (Cell(str(each["line"]), "number"), Cell(_last(each), "name"), Cell(each["kind"], "dim"))
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


def _last(item: Json) -> str:
    return str(item["handle"]).rpartition("::")[2].rpartition(".")[2]


def _side_text(side: Json) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in side["kinds"].items())


def _neighbour_row(item: Json) -> tuple[Cell, ...]:
    return Cell(str(item["edge"]["line"]), "number"), Cell(item["edge"]["kind"], "dim"), Cell(item["handle"], "name")


def _search(answer: Json) -> Iterator[Block]:
    if not answer["items"]:
        yield Paragraph("Nothing found.")
        return
    rows = tuple(
        (
            Cell(item["handle"], "name"),
            Cell(item["kind"], "dim"),
            Cell(str(item["line"]), "number"),
            Cell(item.get("signature", ""), "code"),
        )
        for item in answer["items"]
    )
    yield Rows(rows, ("symbol", "kind", "line", "signature"))
    yield from _sources(answer["items"])


# Orientation.


def _map(answer: Json) -> Iterator[Block]:
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
    yield Note("Files: " + ", ".join(f"{count:,} {status}" for status, count in counts["status"].items()))


def _starts(answer: Json) -> Iterator[Block]:
    if answer["entry_points"]:
        yield Section("Start reading at")
        yield Rows(tuple((Cell(item["handle"], "name"),) for item in answer["entry_points"]))
    if answer["most_used"]:
        yield Section("Most used")
        rows = tuple(
            (Cell(f"{item['used_by']:,}", "number"), Cell(item["handle"], "name"), Cell(item["kind"], "dim"))
            for item in answer["most_used"]
        )
        yield Rows(rows, ("users", "symbol", "kind"))


def _sizes(item: Json) -> tuple[Cell, ...]:
    return tuple(Cell(counted(item[f"{noun}s"], noun), "number") for noun in ("file", "line", "symbol"))


def _language_row(item: Json) -> tuple[Cell, ...]:
    resolved = f"{item['resolved']:.1%} of references resolved" if "resolved" in item else ""
    return Cell(item["language"], "name"), *_sizes(item), Cell(resolved, "dim")


def _module_row(item: Json) -> tuple[Cell, ...]:
    name = item["name"] if item["name"] != item["handle"] else ""
    return Cell(item["handle"], "name"), Cell(name), *_sizes(item), Cell(item.get("description", ""), "code")


def _area_row(item: Json) -> tuple[Cell, ...]:
    return Cell((item["path"] or ".") + "/", "name"), *_sizes(item)


def _module(answer: Json) -> Iterator[Block]:
    module = answer["module"]
    yield Title(
        (Cell(module["handle"], "name"), Cell(module["name"]), Cell(module.get("version", ""), "dim")), at_text(answer["at"])
    )
    if "description" in module:
        yield Paragraph(module["description"])
    yield Rows((_sizes(module),))
    if "modules" in module:
        yield Section("Modules inside")
        yield Rows(tuple((Cell(path, "name"),) for path in module["modules"]))
    for heading, side in (("Uses modules", answer["uses"]), ("Used by modules", answer["used_by"])):
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


def _file(answer: Json) -> Iterator[Block]:
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
    depth = _own_name(item).count(".")
    return (
        Cell(str(item["line"]), "number"),
        Cell("  " * depth + _last(item), "name"),
        Cell(item["kind"], "dim"),
        Cell(item.get("signature", ""), "code"),
    )


# Changes.


def _reached_row(item: Json, origins: Collection[str]) -> tuple[Cell, ...]:
    where = f"{item['file']}:{item['edge']['line']}"
    via = "" if item["via"] in origins else f"{item['edge']['kind']} {item['via'].rpartition('::')[2]}"
    return Cell(where, "place"), Cell(_own_name(item), "name"), Cell(via, "remark")


def _reached(items: Sequence[Json], origins: Collection[str] = ()) -> Iterator[Block]:
    """What is reached, by distance; tests only by file, since that is how they are run."""
    others = [item for item in items if not item["test"]]
    for distance in sorted({item["distance"] for item in others}):
        level = [item for item in others if item["distance"] == distance]
        yield Section("Reached directly" if distance == 1 else f"Reached in {distance} steps")
        yield Rows(tuple(_reached_row(item, origins) for item in level), ("where", "symbol", "via"))
    tests = [item for item in items if item["test"]]
    if tests:
        yield Section(f"Tests ({len(tests)})")
        yield Rows(tuple(_test_rows(tests)), ("tests", "file", "steps"))


def _test_rows(tests: Sequence[Json]) -> Iterator[tuple[Cell, ...]]:
    counts = Counter(item["file"] for item in tests)
    nearest = {path: min(item["distance"] for item in tests if item["file"] == path) for path in counts}
    paths = sorted(counts, key=lambda path: (nearest[path], -counts[path], path))
    for path in paths[:TEST_FILES]:
        steps = "direct" if nearest[path] == 1 else f"{nearest[path]} steps"
        yield Cell(str(counts[path]), "number"), Cell(path, "place"), Cell(steps, "dim")
    if len(paths) > TEST_FILES:
        rest = sum(counts[path] for path in paths[TEST_FILES:])
        yield Cell(str(rest), "number"), Cell(f"in {counted(len(paths) - TEST_FILES, 'more file')}", "dim")


def _impact(answer: Json) -> Iterator[Block]:
    yield Title((Cell("impact of"), *(Cell(handle, "name") for handle in answer["of"])), at_text(answer["at"]))
    if not answer["items"]:
        yield Paragraph("Nothing that is known of uses it.")
        return
    yield Paragraph(_impact_summary(answer["summary"]))
    yield from _reached(answer["items"], answer["of"])
    if len(answer["modules"]) > 1:
        yield Section("Modules")
        yield Rows(tuple((Cell(f"{each['reached']:,}", "number"), Cell(each["module"], "name")) for each in answer["modules"]))


def _impact_summary(summary: Json) -> str:
    if not summary["reached"]:
        return "Nothing else is reached."
    tests = f", {counted(summary['tests'], 'test')} among them" if summary["tests"] else ""
    return f"Reaches {counted(summary['reached'], 'symbol')} in {counted(summary['files'], 'file')}{tests}."


_MARKS = {"added": ("+", "good"), "removed": ("-", "bad"), "renamed": ("→", "warn"), "moved": ("→", "warn")}


def _diff(answer: Json) -> Iterator[Block]:
    yield Title((Cell(at_text(answer["base"])), Cell("→"), Cell(at_text(answer["head"]))))
    changes = answer["changes"]
    if not changes and not answer["summary"]["changes"]:
        yield Paragraph("No symbol changed.")
        return
    yield Paragraph(_diff_summary(answer["summary"]))
    yield from _changes(changes)
    if answer["broken"]:
        yield Section("Broken")
        rows = tuple(
            (
                Cell(place(each), "place"),
                Cell(_own_name(each), "name"),
                Cell(f"uses {each['target']}"),
                Cell(each["why"], "bad"),
            )
            for each in answer["broken"]
        )
        yield Rows(rows, ("where", "symbol", "", "why"))
    yield from _reached(answer["impact"])


def _diff_summary(summary: Json) -> str:
    parts = [counted(summary["changes"], "change")]
    if summary["breaking"]:
        parts.append(f"{summary['breaking']:,} breaking")
    if summary["broken"]:
        parts.append(counted(summary["broken"], "broken reference"))
    return f"{', '.join(parts)}. {_impact_summary(summary)}"


def _changes(changes: Sequence[Json]) -> Iterator[Block]:
    """What changed, by file; tests only by number, and a member of something new or gone not at all."""
    told = [change for change in changes if "within" not in change]
    by_file: dict[str, list[Json]] = {}
    for change in told:
        if not change.get("test"):
            by_file.setdefault(change["file"], []).append(change)
    rows: list[tuple[Cell, ...]] = []
    others: list[tuple[Cell, ...]] = []
    for path, inside in by_file.items():
        of_symbols = [change for change in inside if change["kind"] != "file"]
        if of_symbols:
            rows += [(Cell(path, "place"),), *(_change_row(change, changes) for change in of_symbols)]
        else:
            others += [_file_row(change) for change in inside]
    if rows:
        yield Section("Changes")
        yield Rows(tuple(rows), ("", "change", "line", "symbol", "kind", "breaks", "reached", "why"))
    if others:
        yield Section("Other files")
        yield Rows(tuple(others), ("", "change", "file", "reached", "why"))
    tests = Counter(change["file"] for change in told if change.get("test") and change["kind"] != "file")
    if tests:
        yield Section(f"Changes of tests ({sum(tests.values())})")
        yield Rows(
            tuple((Cell(str(count), "number"), Cell(path, "place")) for path, count in tests.items()), ("changes", "file")
        )


def _change_row(change: Json, changes: Sequence[Json]) -> tuple[Cell, ...]:
    sign, role = _MARKS.get(change["change"], ("~", ""))
    members = sum(1 for other in changes if f"{other.get('within', '')}.".startswith(f"{change['handle']}."))
    inside = [f"with {counted(members, 'member')}"] if members else []
    return (
        Cell(f"  {sign}", role),
        Cell(_aspects(change), role),
        Cell(str(change.get("line", "")), "number"),
        Cell(_own_name(change), "name"),
        Cell(change["kind"], "dim"),
        Cell("breaking" if change["breaking"] else "", "bad"),
        Cell(_reach(change), "number"),
        Cell("; ".join([*inside, *_reasons(change)]), "remark"),
    )


def _file_row(change: Json) -> tuple[Cell, ...]:
    sign, role = _MARKS.get(change["change"], ("~", ""))
    why = "; ".join(_reasons(change))
    return (
        Cell(sign, role),
        Cell(_aspects(change), role),
        Cell(change["file"], "place"),
        Cell(_reach(change)),
        Cell(why, "remark"),
    )


def _aspects(change: Json) -> str:
    words = (change["change"], *change.get("also", ()))
    return ", ".join("content" if change["kind"] == "file" and word == "body" else word for word in words)


def _reach(change: Json) -> str:
    return f"reaches {change['reached']}" if change.get("reached") else ""


def _reasons(change: Json) -> list[str]:
    return [*([f"was {change['old_handle']}"] if "old_handle" in change else []), *change.get("reasons", ())]


BUILDERS: dict[str, Builder] = {
    "diff_commits": _diff,
    "get_dependants": _relations("dependant", backward=True),
    "get_dependencies": _relations("dependency", backward=False),
    "get_impact_analysis": _impact,
    "query_file": _file,
    "query_module": _module,
    "query_repo_structure": _map,
    "query_symbol": _symbol,
    "search_symbols": _search,
    "trace_path": _trace,
}
