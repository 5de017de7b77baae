"""What became of a symbol, since when a dependency is there, and what a merge would break."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tokenzip import walk
from tokenzip.errors import UnknownSymbol, UsageError
from tokenzip.items import Item, Lazy, broken_item, key_item, one_line, revision_item
from tokenzip.model import Change, Module, Symbol, SymbolKey
from tokenzip.operations.base import Answer, Arguments, call
from tokenzip.operations.items import fitted, listing

if TYPE_CHECKING:
    from tokenzip.history import Commit, Conflict, EdgeEvent, Event, SymbolLog
    from tokenzip.repository import Merge, Repository
    from tokenzip.snapshot import Snapshot

MOST_COMMITS = 2000
"""Commits that touch its file which the log of a symbol looks at, unless asked for more: some seconds at most."""
MOST_STEPS = 20_000
"""Commits that the search for the origin of a dependency goes back over; it asks the graphs of a few dozen of them."""
SUBJECT_LENGTH = 100
_SETS_SIGNATURE = frozenset({"added", "signature"})


def get_git_history(repository: Repository, arguments: Arguments) -> Answer:
    """The commits that changed a symbol; with `to`, the one that put in or took out what leads from it to another."""
    snapshot = repository.snapshot(arguments.get("at"))
    if "to" in arguments:
        return _edge_history(repository, snapshot, arguments)
    if arguments.get("limit") == 0 or arguments.get("commits") == 0:
        raise UsageError("limit and commits must be at least 1", hint="Leave them out for the defaults.")
    return _symbol_history(repository, snapshot, arguments)


# One symbol.


def _symbol_history(repository: Repository, snapshot: Snapshot, arguments: Arguments) -> Answer:
    from tokenzip.history import symbol_log

    with snapshot.reading():
        key = _key_of(snapshot, arguments["handle"])
        _refuse_inside_submodules(snapshot, key)
        log = symbol_log(snapshot, key, most=arguments.get("commits", MOST_COMMITS), progress=repository.progress)
        events, is_stopped = _taken(log, arguments)
        head: dict[str, Any] = {"of": key_item(snapshot, key)}
        if key.qualified:
            since = next((event for event in events if not _SETS_SIGNATURE.isdisjoint(event.change.aspects)), None)
            head["signature_since"] = _commit_item(since.commit) if since is not None else None
        if arguments.get("signature"):
            events = [event for event in events if not _SETS_SIGNATURE.isdisjoint(event.change.aspects)]
        complete = _log_completeness(repository, log, events, is_stopped=is_stopped)
        calls = []
        if log.is_cut:
            further = {name: value for name, value in arguments.items() if name not in ("cursor", "max_tokens")}
            calls.append(call("get_git_history", **{**further, "commits": log.looked_at * 5}))
        return listing(snapshot, arguments, Lazy(events, _event_item), head=head, complete=complete, calls=calls)


def _key_of(snapshot: Snapshot, text: str) -> SymbolKey:
    target = walk.resolve(snapshot, text)
    if isinstance(target, Module):
        raise UsageError(f"{text} is a module, and only symbols and files have a log", hint="Name one of its files.")
    return target.key if isinstance(target, Symbol) else target


def _refuse_inside_submodules(snapshot: Snapshot, key: SymbolKey) -> None:
    """The commits of this repository say which commit of a submodule they want, and nothing of what is in it."""
    joints = snapshot.git.joints(snapshot.tree) if snapshot.tree is not None else {}
    for path in joints:
        if key.path.startswith(f"{path}/"):
            raise UsageError(
                f"{key.path} lies in the submodule {path}, whose history is its own",
                hint=f"Ask about {SymbolKey(key.path[len(path) + 1 :], key.qualified).handle} in the repository {path}.",
            )


def _taken(log: SymbolLog, arguments: Arguments) -> tuple[list[Event], bool]:
    """The events up to as many as were asked for (of those that set the signature, if it is about these), and whether there
    may be more."""
    wanted = _SETS_SIGNATURE if arguments.get("signature") else None
    limit, counted, events = arguments.get("limit"), 0, []
    for event in log:
        events.append(event)
        counted += wanted is None or not wanted.isdisjoint(event.change.aspects)
        if counted == limit:
            return events, not log.has_begun
    return events, False


def _log_completeness(repository: Repository, log: SymbolLog, events: Sequence[Event], *, is_stopped: bool) -> bool | Item:
    last = events[-1].commit if events else None
    why = ""
    if is_stopped:
        why = "stopped after as many changes as asked for"
    elif log.is_cut:
        why = f"the last {log.looked_at:,} of the commits that touch its file were looked at; `commits` asks for more"
    elif repository.git.is_shallow and (last is None or not last.parents):
        why = "history ends early in this shallow clone, and what is added there may be older; git fetch --unshallow"
    return {"why": why, "unresolved": 0} if why else True


def _event_item(event: Event) -> Item:
    change = event.change
    item: Item = {**_commit_item(event.commit), "handle": event.key.handle, "change": change.change}
    if change.also:
        item["also"] = list(change.also)
    if event.old_key is not None and event.old_key != event.key:
        item["old_handle"] = event.old_key.handle
    item["breaking"] = change.breaking
    if change.reasons:
        item["reasons"] = list(change.reasons)
    return item


def _commit_item(commit: Commit | None) -> Item:
    if commit is None:
        return {"commit": None, "subject": "not committed yet"}
    return {
        "commit": commit.id[:12],
        "date": time.strftime("%Y-%m-%d", time.gmtime(commit.time)),
        "author": commit.author,
        "subject": one_line(commit.subject, SUBJECT_LENGTH),
    }


# A dependency.


def _edge_history(repository: Repository, snapshot: Snapshot, arguments: Arguments) -> Answer:
    from tokenzip.history import Since, dependency

    most = arguments.get("commits", MOST_STEPS)
    source, target = _end(snapshot, arguments["handle"]), _end(snapshot, arguments["to"])
    search = Since(snapshot, repository.snapshot, most=most, progress=repository.progress)
    event = search.find(source, target)
    head = {
        "from": source.handle,
        "to": target.handle,
        "depends": bool(dependency(snapshot, source, target)),
        "looked_at": search.looked_at,
    }
    complete: bool | Item = True
    if search.is_cut:
        where = "history ends early in this shallow clone; git fetch --unshallow" if repository.git.is_shallow else ""
        complete = {
            "why": where or f"went back over {most:,} commits, and it was so before; `commits` asks for more",
            "unresolved": 0,
        }
    calls = []
    if event is not None and event.commit is not None and event.commit.parents:
        calls.append(call("diff_commits", base=event.commit.parents[0][:12], head=event.commit.id[:12]))
    items = [_edge_event_item(event)] if event is not None else []
    return listing(snapshot, arguments, items, head=head, complete=complete, calls=calls)


def _end(snapshot: Snapshot, text: str) -> SymbolKey:
    """What a handle names, or would name where it was: one end of a dependency may be gone."""
    try:
        return _key_of(snapshot, text)
    except UnknownSymbol:
        path, _, qualified = text.partition("::")
        if qualified or "/" in path:
            return SymbolKey(path, qualified)
        raise


def _edge_event_item(event: EdgeEvent) -> Item:
    edges = [
        {"handle": edge.source.handle, "kind": edge.kind, "target": edge.target.handle, "line": edge.line}
        for edge in event.edges
    ]
    return {**_commit_item(event.commit), "change": "appeared" if event.appeared else "went away", "edges": edges}


# A merge.


def find_conflicts(repository: Repository, arguments: Arguments) -> Answer:
    """What one side of a merge removes, renames or changes incompatibly and the other side newly uses."""
    from tokenzip.history import conflicts

    if "at" in arguments:
        raise UsageError("a merge has two sides, and is asked about no third state", hint="Name both sides.")
    merge = repository.merge(arguments["ours"], arguments["theirs"])
    with merge.base.reading(), merge.ours.reading(), merge.theirs.reading(), merge.merged.reading():
        textual = {conflict.path for conflict in merge.conflicts}
        found = conflicts(merge.base, merge.ours, merge.theirs, merge.merged)
        return _conflicts_answer(merge, [each for each in found if each.broken.file not in textual], arguments)


def _conflicts_answer(merge: Merge, found: Sequence[Conflict], arguments: Arguments) -> Answer:
    count = len(merge.conflicts)
    why = f"{count} file{'s' * (count != 1)} cannot be merged as text; what would break inside is not known"
    answer: Answer = {
        "at": revision_item(merge.merged.at),
        "base": revision_item(merge.base.at),
        "ours": revision_item(merge.ours.at),
        "theirs": revision_item(merge.theirs.at),
        "summary": {"findings": len(found), "textual": count},
        "textual": [{"file": conflict.path, "kind": conflict.kind} for conflict in merge.conflicts],
        "items": [],
        "complete": {"why": why, "unresolved": 0} if count else True,
        "truncated": None,
        "token_count": 0,
        "next": list(_conflict_calls(merge, found)),
    }
    return fitted(answer, "items", Lazy(found, _conflict_item), arguments, shrinking=("textual",))


def _conflict_item(conflict: Conflict) -> Item:
    item = {**broken_item(conflict.broken), "used_by": conflict.user}
    if conflict.cause is not None:
        item["cause"] = _cause_item(conflict.cause)
    return item


def _cause_item(change: Change) -> Item:
    item: Item = {"change": change.change}
    if change.change != "removed":
        item["handle"] = change.handle
    return {**item, "reasons": list(change.reasons)} if change.reasons else item


def _conflict_calls(merge: Merge, found: Iterable[Conflict]) -> Iterable[dict[str, Any]]:
    """What the other side did, in full."""
    for user, side in (("ours", merge.theirs), ("theirs", merge.ours)):
        if any(conflict.user == user for conflict in found):
            yield call("diff_commits", base=merge.base.at.commit, head=side.at.commit)
