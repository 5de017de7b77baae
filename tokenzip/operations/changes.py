"""What changed between two revisions, and who is reached by a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tokenzip import walk
from tokenzip.errors import UsageError
from tokenzip.items import Item, Lazy, broken_item, change_item, reached_item, revision_item
from tokenzip.model import BrokenReference, Change, Flag, Module, Symbol, SymbolKey
from tokenzip.operations.base import DEFAULT_MAX_TOKENS, Answer, Arguments, call
from tokenzip.operations.items import DEPENDANT, fitted, is_whole, listing, wanted, within

if TYPE_CHECKING:
    from tokenzip.impact import Impact
    from tokenzip.repository import Repository
    from tokenzip.snapshot import Snapshot

NAMED = 5
"""Symbols that a proposed call names."""
NAMED_BROKEN = 3
"""Targets and files of broken references that a summary names."""


# Impact.


def get_impact_analysis(snapshot: Snapshot, arguments: Arguments) -> Answer:
    """Who is reached if these symbols, files or modules change."""
    from tokenzip.impact import DEPTH, impact

    if not arguments["handles"]:
        raise UsageError("handles is empty", hint="Name what would change: path::Qualified.name, a file or a module.")
    depth = arguments.get("depth", DEPTH)
    if depth < 1:
        raise UsageError("depth must be at least 1", hint="Leave it out for the default.")
    keys: list[SymbolKey] = []
    for text in arguments["handles"]:
        keys.extend(_keys_of(snapshot, text))
    found = impact(snapshot, keys, depth)
    include = wanted(arguments, DEPENDANT)
    chosen = found.reached
    if arguments.get("tests"):
        chosen, include = found.tests, include | {"tests"}
    items = Lazy(chosen, lambda reached: reached_item(reached, include))
    complete = found.completeness()
    head: dict[str, Any] = {"of": [_handle_of(snapshot, text) for text in arguments["handles"]]}
    head |= {"summary": impact_summary(found), "modules": _by_module(snapshot, found), "files": _by_file(found)}
    if is_whole(include):
        return listing(snapshot, arguments, items, head=head, complete=complete)
    short = _without_the_obvious(head, arguments)
    answer = listing(snapshot, arguments, items, head=short, complete=complete)
    if answer["truncated"] and "cursor" not in arguments:
        spread = {name: head[name] for name in ("modules", "files") if len(head[name]) > 1}
        return listing(snapshot, arguments, items, head=short | spread, complete=complete)
    return answer


def _without_the_obvious(head: Mapping[str, Any], arguments: Arguments) -> dict[str, Any]:
    """What stands before the items of an impact, without what the question says or the items show."""
    short: dict[str, Any] = {} if head["of"] == arguments["handles"] else {"of": head["of"]}
    short["summary"] = {name: head["summary"][name] for name in ("reached", "files", "tests")}
    return short


def _keys_of(snapshot: Snapshot, text: str) -> list[SymbolKey]:
    target = walk.resolve(snapshot, text)
    if isinstance(target, Module):
        module_of = snapshot.modules().module_of
        return [SymbolKey(path) for path in snapshot.paths() if module_of(path).path == target.path]
    if isinstance(target, Symbol):
        return [member.key for member in walk.family(snapshot, target)]
    return [target]


def _handle_of(snapshot: Snapshot, text: str) -> str:
    target = walk.resolve(snapshot, text)
    if isinstance(target, Module):
        return target.path or "."
    return target.handle


def impact_summary(found: Impact) -> Item:
    """How much is reached, in numbers."""
    distances = Counter(each.distance for each in found.reached)
    return {
        "reached": len(found.reached),
        "files": len(found.files),
        "tests": len(found.tests),
        "depth": found.depth,
        "by_distance": {str(distance): distances[distance] for distance in sorted(distances)},
    }


def _by_module(snapshot: Snapshot, found: Impact) -> list[Item]:
    module_of = snapshot.modules().module_of
    counts = Counter(module_of(each.key.path).path for each in found.reached)
    return [{"module": path or ".", "reached": count} for path, count in _largest(counts)]


def _by_file(found: Impact) -> list[Item]:
    counts = Counter(each.key.path for each in found.reached)
    return [{"file": path, "reached": count} for path, count in _largest(counts)][:20]


def _largest(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


# Diff.


def diff_commits(repository: Repository, arguments: Arguments) -> Answer:
    """The changes from `base` to `head`, what they break, and who is reached by them."""
    from tokenzip.diff import broken_references, compare
    from tokenzip.impact import DEPTH_OF_CHANGES, Graph, impact, reach_counts

    base, head = _two_snapshots(repository, arguments)
    depth = arguments.get("impact", None if arguments.get("tests") else DEPTH_OF_CHANGES)
    with base.reading(), head.reading():
        comparison = compare(base, head, progress=repository.progress)
        broken = broken_references(base, head, comparison)
        if arguments.get("tests"):
            return _tests_answer(base, head, comparison.changes, broken, impact(head, comparison.changes, depth), arguments)
        graph = Graph(head)
        found = impact(head, comparison.changes, depth, graph)
        counts = reach_counts(head, comparison.changes, depth, graph)
        pairs = sorted(zip(comparison.changes, counts, strict=True), key=_order)
        return _diff_answer(base, head, pairs, broken, found, arguments)


def _two_snapshots(repository: Repository, arguments: Arguments) -> tuple[Snapshot, Snapshot]:
    """The two ends, as the query language takes them too; without a work tree there is no default."""
    from tokenzip.query.evaluate import two_snapshots

    base, head = arguments.get("base"), arguments.get("head") or arguments.get("at")
    if base is None and head is None and repository.root is None:
        raise UsageError("a bare repository has no working tree to compare", hint="name two revisions")
    return two_snapshots(repository, base, head)


def _order(pair: tuple[Change, int]) -> tuple[object, ...]:
    """What breaks first, then what reaches far; tests, and members whose container says it all, last."""
    change, reached = pair
    last = change.within is not None
    return last, not change.breaking, change.test, change.kind == "file", -reached, change.file, change.line, change.handle


def _diff_answer(
    base: Snapshot,
    head: Snapshot,
    pairs: Sequence[tuple[Change, int]],
    broken: Sequence[BrokenReference],
    found: Impact,
    arguments: Arguments,
) -> Answer:
    changes = [change for change, _ in pairs]
    budget = arguments.get("max_tokens", DEFAULT_MAX_TOKENS)
    broken_items = [broken_item(each) for each in broken]
    reached_items = [reached_item(each) for each in found.reached]
    shown_broken, shown_reached = within(broken_items, budget // 4), within(reached_items, budget // 4)
    answer: Answer = {
        "at": revision_item(head.at),
        "base": revision_item(base.at),
        "head": revision_item(head.at),
        "summary": _summary(head, changes, broken, found),
        "changes": [],
        "broken": shown_broken,
        "impact": shown_reached,
        "modules": _changed_modules(base, head, changes, found),
        "complete": found.completeness() if found.roots else True,
        "truncated": None,
        "token_count": 0,
    }
    left_out = {
        name: len(everything) - len(shown)
        for name, everything, shown in (("broken", broken_items, shown_broken), ("impact", reached_items, shown_reached))
        if len(shown) < len(everything)
    }
    if left_out:
        answer["left_out"] = left_out
    answer["next"] = _next_calls(head, changes, arguments) if left_out or found.cut else []
    items = [change_item(change, reached) for change, reached in pairs]
    return fitted(answer, "changes", items, arguments, shrinking=("modules", "broken", "impact"))


def _summary(head: Snapshot, changes: Sequence[Change], broken: Sequence[BrokenReference], found: Impact) -> Item:
    return {
        "changes": len(changes),
        "breaking": sum(change.breaking for change in changes),
        "broken": len(broken),
        **_broken_summary(head, broken),
        **impact_summary(found),
        "by_change": dict(sorted(Counter(change.change for change in changes).items())),
    }


def _broken_summary(head: Snapshot, broken: Sequence[BrokenReference]) -> Item:
    """What the broken references use and where they are, the most frequent first; files of tests last."""
    if not broken:
        return {}
    targets, files = (Counter(each) for each in ([row.target.handle for row in broken], [row.file for row in broken]))
    tests = {path for path in files if (file := head.file(path)) is not None and file.is_test}
    paths = sorted(files, key=lambda path: (path in tests, -files[path], path))
    return {
        "broken_targets": {"count": len(targets), "first": [name for name, _ in _largest(targets)[:NAMED_BROKEN]]},
        "broken_files": {"count": len(files), "first": paths[:NAMED_BROKEN]},
    }


# The tests of a diff.


def _tests_answer(
    base: Snapshot,
    head: Snapshot,
    changes: Sequence[Change],
    broken: Sequence[BrokenReference],
    found: Impact,
    arguments: Arguments,
) -> Answer:
    """Which tests to run: those that changed, then those that reach a change, nearest first."""
    answer: Answer = {
        "at": revision_item(head.at),
        "base": revision_item(base.at),
        "head": revision_item(head.at),
        "summary": _summary(head, changes, broken, found),
        "run": [],
        "complete": found.completeness() if found.roots else True,
        "truncated": None,
        "token_count": 0,
        "next": [],
    }
    return fitted(answer, "run", list(_tests_to_run(head, changes, found)), arguments)


def _tests_to_run(head: Snapshot, changes: Sequence[Change], found: Impact) -> list[Item]:
    """Test cases; where a file's tests are no symbols, or only its other code is reached, that file.

    Not a file that holds no test and only helps others: what they use of it leads to them.
    """
    items = [_changed_test(change) for change in changes if change.test and change.change != "removed"]
    items += [reached_item(each) for each in found.tests]
    by_file: dict[str, list[Item]] = {}
    for item in items:
        by_file.setdefault(item["file"], []).append(item)
    chosen: dict[str, Item] = {}
    for path, inside in by_file.items():
        symbols = {symbol.handle: symbol.flags for symbol in walk.symbols_of(head, path)}
        cases = [item for item in inside if symbols.get(item["handle"], Flag(0)) & Flag.TEST]
        if not cases and not any(flags & Flag.FIXTURE for flags in symbols.values()) and not _helps(head, inside):
            nearest = min(inside, key=lambda item: item["distance"])
            cases = [{"handle": path, "kind": "file", "file": path, **_way(nearest)}]
        for item in cases:
            chosen.setdefault(item["handle"], item)
    return sorted(chosen.values(), key=lambda item: (item["distance"], item["file"], item.get("line", 0), item["handle"]))


def _helps(head: Snapshot, items: Sequence[Item]) -> bool:
    """Whether other files use any of these."""
    keys = [SymbolKey(item["file"], item["handle"].partition("::")[2]) for item in items]
    return any(edge.source.path != key.path for key in keys for edge in head.edges_to(key))


def _changed_test(change: Change) -> Item:
    return {"handle": change.handle, "kind": change.kind, "file": change.file, "line": change.line, "distance": 0}


def _way(item: Item) -> Item:
    return {name: item[name] for name in ("edge", "distance", "via") if name in item}


def _changed_modules(base: Snapshot, head: Snapshot, changes: Iterable[Change], found: Impact) -> list[Item]:
    """Changes and reached symbols by module; what was removed counts where it was."""
    changed = Counter(
        (base if change.change == "removed" else head).modules().module_of(change.file).path for change in changes
    )
    reached = Counter(head.modules().module_of(each.key.path).path for each in found.reached)
    paths = sorted(changed.keys() | reached.keys(), key=lambda path: (-changed[path], -reached[path], path))
    return [{"module": path or ".", "changes": changed[path], "reached": reached[path]} for path in paths]


def _next_calls(head: Snapshot, changes: Sequence[Change], arguments: Arguments) -> list[Item]:
    """Where to look further: the full impact of what breaks, or else of what reaches farthest."""
    alive = [change.handle for change in changes if change.change != "removed" and change.within is None][:NAMED]
    return [call("get_impact_analysis", handles=alive, at=arguments.get("head") or arguments.get("at"))] if alive else []
