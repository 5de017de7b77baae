"""How changes read, and who is reached by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from tokenzip.render.blocks import Block, Cell, Fold, Paragraph, Rows, Section, Title
from tokenzip.render.words import Json, at_text, counted, own_name, place, shortened

TEST_FILES = 15
"""Files of tests that a text lists; the answer in JSON has each test."""
REASON = 200
"""Characters of one reason in a text: a type that it quotes may be long; the answer in JSON has all of it."""
_MARKS = {"added": ("+", "good"), "removed": ("-", "bad"), "renamed": ("→", "warn"), "moved": ("→", "warn")}


def _reached_row(item: Json, origins: Collection[str]) -> tuple[Cell, ...]:
    where = f"{item['file']}:{item['edge']['line']}"
    via = "" if item["via"] in origins else f"{item['edge']['kind']} {item['via'].rpartition('::')[2]}"
    return Cell(where, "place"), Cell(own_name(item), "name"), Cell(via, "remark")


def _reached(items: Sequence[Json], origins: Collection[str] = ()) -> Iterator[Block]:
    """What is reached, by distance; tests only by file, since that is how they are run."""
    others = [item for item in items if not item["test"]]
    for distance in sorted({item["distance"] for item in others}):
        level = [item for item in others if item["distance"] == distance]
        rows = Rows(tuple(_reached_row(item, origins) for item in level), ("where", "symbol", "via"))
        yield Fold("Reached directly" if distance == 1 else f"Reached in {distance} steps", (rows,))
    tests = [item for item in items if item["test"]]
    if tests:
        yield Fold(f"Tests ({len(tests)})", (Rows(tuple(_test_rows(tests)), ("tests", "file", "steps")),))


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


def impact_text(answer: Json) -> Iterator[Block]:
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
    within = f" within {counted(summary['depth'], 'step')}" if summary.get("depth") else ""
    if summary.get("depth") == 0:
        return "Who is reached was not asked."
    if not summary["reached"]:
        beside = "Besides, no use of what changed is known" if summary.get("broken") else "Nothing else is reached"
        return f"{beside}{within}."
    tests = f", {counted(summary['tests'], 'test')} among them" if summary["tests"] else ""
    return f"Reaches {counted(summary['reached'], 'symbol')} in {counted(summary['files'], 'file')}{within}{tests}."


def diff_text(answer: Json) -> Iterator[Block]:
    yield Title((Cell(at_text(answer["base"])), Cell("→"), Cell(at_text(answer["head"]))))
    changes = answer.get("changes", ())
    if not changes and not answer["summary"]["changes"]:
        yield Paragraph("No symbol changed.")
        return
    yield Paragraph(_diff_summary(answer["summary"]))
    if "run" in answer:
        yield from _tests_to_run(answer["run"])
        return
    yield from _changes(changes)
    if answer["broken"]:
        yield Section("Broken")
        rows = tuple(
            (
                Cell(place(each), "place"),
                Cell(own_name(each), "name"),
                Cell(f"uses {each['target']}"),
                Cell(each["why"], "bad"),
            )
            for each in answer["broken"]
        )
        yield Rows(rows, ("where", "symbol", "", "why"))
    yield from _reached(answer["impact"])


def _tests_to_run(tests: Sequence[Json]) -> Iterator[Block]:
    if not tests:
        yield Paragraph("No test that is known of reaches a change.")
    for distance in sorted({test["distance"] for test in tests}):
        level = [test for test in tests if test["distance"] == distance]
        yield Section(_DISTANCES.get(distance, f"In {distance} steps"))
        yield Rows(tuple((Cell(test["handle"], "name"), Cell(_uses(test), "remark")) for test in level), ("test", "uses"))


_DISTANCES = {0: "Changed themselves", 1: "Use what changed"}


def _uses(test: Json) -> str:
    return test["via"].rpartition("::")[2] if "via" in test else ""


def _diff_summary(summary: Json) -> str:
    changes = counted(summary["changes"], "change")
    if summary["breaking"]:
        changes += f", {summary['breaking']:,} breaking"
    return f"{_broken_summary(summary)}{changes}. {_impact_summary(summary)}"


def _broken_summary(summary: Json) -> str:
    """What breaks and where, which comes before all else."""
    if not summary["broken"]:
        return ""
    targets, files = summary["broken_targets"], summary["broken_files"]
    what = _some([own_name({"handle": handle}) for handle in targets["first"]], targets["count"])
    where = _some(files["first"], files["count"])
    return f"Breaks {counted(summary['broken'], 'reference')} to {what} in {counted(files['count'], 'file')} ({where}). "


def _some(first: Sequence[str], count: int) -> str:
    more = f" and {count - len(first):,} more" if count > len(first) else ""
    return f"{', '.join(first)}{more}"


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
        yield Fold("Other files", (Rows(tuple(others), ("", "change", "file", "reached", "why")),))
    tests = Counter(change["file"] for change in told if change.get("test") and change["kind"] != "file")
    if tests:
        rows_of_tests = tuple((Cell(str(count), "number"), Cell(path, "place")) for path, count in tests.items())
        yield Fold(f"Changes of tests ({sum(tests.values())})", (Rows(rows_of_tests, ("changes", "file")),))


def _change_row(change: Json, changes: Sequence[Json]) -> tuple[Cell, ...]:
    sign, role = _MARKS.get(change["change"], ("~", ""))
    members = sum(1 for other in changes if f"{other.get('within', '')}.".startswith(f"{change['handle']}."))
    inside = [f"with {counted(members, 'member')}"] if members else []
    return (
        Cell(f"  {sign}", role),
        Cell(_aspects(change), role),
        Cell(str(change.get("line", "")), "number"),
        Cell(own_name(change), "name"),
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
    was = [f"was {change['old_handle']}"] if "old_handle" in change else []
    return [*was, *(shortened(reason, REASON) for reason in change.get("reasons", ()))]
