"""References that held at the base and do not at the head, because what they meant is gone, went elsewhere or changed.

Only files that used something which is gone are looked at: reverse edges of the base name them.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tokenzip.diff.changes import Comparison, compare
from tokenzip.diff.rules import CANNOT_BE_SET, is_about_types
from tokenzip.diff.side import Node
from tokenzip.languages.base import INDEX_STEMS, stem_of
from tokenzip.languages.shape import same_statements
from tokenzip.model import BrokenReference, Change, Edge, SymbolKey, Unresolved
from tokenzip.snapshot import Snapshot

_FELT = frozenset({"calls", "inherits", "implements", "overrides", "decorates"})
"""Edge kinds whose source feels an incompatible signature."""
_READING = frozenset({"reads", "modifies"})
"""Those that feel other modifiers or another value (a property that became a method), but not a declared type."""


def broken_references(base: Snapshot, head: Snapshot, comparison: Comparison | None = None) -> tuple[BrokenReference, ...]:
    """Who still uses, at the head, what was removed, renamed, moved or changed incompatibly; ordered by file and line.

    A `why` of ``incompatible`` is a use that still resolves, by a symbol that did not change with what it uses; all others are
    references that resolved at the base and do not resolve at the head. `comparison` saves comparing twice.
    """
    with base.reading(), head.reading():
        comparison = comparison or compare(base, head)
        found = {*_unresolved(comparison), *_incompatible(comparison)}
    return tuple(sorted(found, key=lambda row: (row.source.path, row.line, row.source, row.kind, row.target)))


# ---- what does not resolve any more


def _unresolved(comparison: Comparison) -> Iterator[BrokenReference]:
    base, head = comparison.base.snapshot, comparison.head.snapshot
    for path in sorted(_users_of_what_is_gone(comparison)):
        now = comparison.now(SymbolKey(path))
        if now is None:
            continue
        is_same = _blob(base, path) == _blob(head, now.path)
        if is_same and now.path == path:
            before, after = base.edges_unlike(head, path), head.edges_unlike(base, path)
        else:
            before, after = base.file_edges(path), head.file_edges(now.path)
        lost = _lost_edges(comparison, before, after)
        if lost and is_same:
            yield from _match_unchanged(comparison, now.path, lost, after)
        elif lost:
            yield from _match_edited(comparison, now.path, lost)


def _users_of_what_is_gone(comparison: Comparison) -> set[str]:
    base = comparison.base.snapshot
    keys = {node.key for node in _gone(comparison)}
    keys.update(SymbolKey(path) for path in comparison.paths if _dropped_names(comparison, path))
    return {*base.users_of(keys), *(path for path in comparison.paths if comparison.base.known(path) is not None)}


def _gone(comparison: Comparison) -> Iterator[Node]:
    """Nodes of the base that are not under the same key at the head."""
    pairing = comparison.pairing
    yield from pairing.removed
    for path in comparison.paths:
        file = comparison.base.known(path)
        if file is not None and file.root not in pairing.heads:
            yield file.root
    for before, after in pairing.heads.items():
        if before.key != after.key and not before.is_local:
            yield before


def _dropped_names(comparison: Comparison, path: str) -> bool:
    """Whether names that a file offered are gone from it: re-exports are no symbols."""
    base, head = comparison.base.snapshot, comparison.head.snapshot
    now = comparison.now(SymbolKey(path))
    if comparison.base.known(path) is None or now is None or not _is_looked_at(base, path):
        return False
    before, after = base.interface(path), head.interface(now.path)
    return bool(before.names.keys() - after.names.keys()) or before.stars != after.stars


def _is_looked_at(snapshot: Snapshot, path: str) -> bool:
    """Whether any file of a stored tree may use what this one offers: then its interface was kept."""
    file = snapshot.tree_file(path)
    return path in snapshot.overlay or (file is not None and snapshot.kept_interface(file) is not None)


def _lost_edges(comparison: Comparison, before: Iterable[Edge], after: Iterable[Edge]) -> list[Edge]:
    """Edges of the base whose counterpart the head does not have."""
    kept = {(edge.source, edge.kind, edge.target) for edge in after}
    lost = []
    for edge in before:
        source, target = comparison.now(edge.source), comparison.now(edge.target)
        if source is not None and (source, edge.kind, target) not in kept:
            lost.append(edge)
    return lost


def _match_unchanged(
    comparison: Comparison, path: str, lost: Sequence[Edge], after: Iterable[Edge]
) -> Iterator[BrokenReference]:
    """In a file whose text is the same every reference still stands where it was; it is broken unless it means something else.

    A member must be known to be missing: the receiver may have another type now, or inherit it from outside.
    """
    elsewhere = {(edge.source, edge.kind, edge.line, _last_name(edge.target)) for edge in after}
    missing = {(row.source, row.kind, row.line) for row in _open_rows(comparison, path, lost) if row.reason == "missing"}
    for edge in lost:
        source, target = comparison.now(edge.source), comparison.now(edge.target)
        if source is None or (source, edge.kind, edge.line, _last_name(edge.target)) in elsewhere:
            continue
        why = _why(edge.target, target)
        gone = why != "unresolved" and "." not in edge.target.qualified
        if gone or (source, edge.kind, edge.line) in missing:
            yield BrokenReference(source, edge.target, target, edge.kind, edge.line, why)


def _match_edited(comparison: Comparison, path: str, lost: Sequence[Edge]) -> Iterator[BrokenReference]:
    """In a file that changed too, a lost reference is broken if one of the same symbol, kind and name is open now.

    What stood at the top level of a file is gone whatever it is taken for now: an absent module looks like an external one.
    """
    rows_of: dict[tuple[SymbolKey, str], list[Unresolved]] = defaultdict(list)
    for row in _open_rows(comparison, path, lost):
        rows_of[row.source, row.kind].append(row)
    for edge in lost:
        source, target = comparison.now(edge.source), comparison.now(edge.target)
        why = _why(edge.target, target)
        for row in rows_of.get((source, edge.kind), ()) if source is not None else ():
            gone = why != "unresolved" and "." not in edge.target.qualified
            if row.name in _names(edge) and (gone or row.reason == "missing"):
                yield BrokenReference(row.source, edge.target, target, edge.kind, row.line, why)


def _open_rows(comparison: Comparison, path: str, lost: Iterable[Edge]) -> tuple[Unresolved, ...]:
    """What a file leaves open at the head in the symbols that lost these edges."""
    head = comparison.head.snapshot
    if not head.link(path).open:
        return ()
    sources = {now.qualified for edge in lost if (now := comparison.now(edge.source)) is not None}
    return head.unresolved_in(path, lambda source, _: source in sources)


def _last_name(key: SymbolKey) -> str:
    return key.qualified.rpartition(".")[2].partition("#")[0]


def _blob(snapshot: Snapshot, path: str) -> str | None:
    file = snapshot.tree_file(path)
    return file.blob if file is not None else None


def _why(old: SymbolKey, now: SymbolKey | None) -> str:
    if now is None:
        return "removed"
    if now == old:
        return "unresolved"
    if not old.qualified:
        return "renamed" if posixpath.dirname(old.path) == posixpath.dirname(now.path) else "moved"
    return "renamed" if old.qualified.rpartition(".")[2] != now.qualified.rpartition(".")[2] else "moved"


def _names(edge: Edge) -> set[str]:
    """What the reference may be written as."""
    names = {edge.detail} if edge.detail else set()
    if edge.target.qualified:
        return names | {_last_name(edge.target)}
    path = edge.target.path
    names |= {stem_of(path), posixpath.basename(path)}
    if stem_of(path) in INDEX_STEMS:
        names.add(posixpath.basename(posixpath.dirname(path)))
    return names


# ---- what still resolves, to something that changed under it


def _incompatible(comparison: Comparison) -> Iterator[BrokenReference]:
    changes = [
        (change, change.old_key) for change in comparison.changes if change.old_key is not None and _is_incompatible(change)
    ]
    uses = comparison.head.snapshot.edges_to_each({change.key for change, _ in changes})
    for change, before in changes:
        felt = _FELT if {"modifiers", "body"}.isdisjoint(change.aspects) else _FELT | _READING
        if CANNOT_BE_SET in change.reasons:
            felt = frozenset({"modifies"})
        for edge in uses[change.key]:
            if edge.kind in felt and not _is_part_of(edge.source, change.key) and not _has_changed(comparison, edge.source):
                yield BrokenReference(edge.source, before, change.key, edge.kind, edge.line, "incompatible")


def _is_incompatible(change: Change) -> bool:
    """Whether code that still finds it may fail. In Python nothing but a checker feels a declared type."""
    if not change.breaking or change.change == "removed" or {"renamed", "moved"}.issuperset(change.aspects):
        return False
    return change.aspects[0] in ("modifiers", "body") or not all(map(is_about_types, change.reasons)) or not _is_python(change)


def _is_python(change: Change) -> bool:
    return change.key.path.endswith((".py", ".pyi", ".pyw"))


def _is_part_of(source: SymbolKey, of: SymbolKey) -> bool:
    return source.path == of.path and (source.qualified == of.qualified or source.qualified.startswith(of.qualified + "."))


def _has_changed(comparison: Comparison, source: SymbolKey) -> bool:
    """Whether the text of a user changed too, so that it may have been adapted."""
    file = comparison.head.known(source.path)
    node = file.named(source.qualified) if file is not None else None
    if node is None:
        return False
    base = comparison.pairing.bases.get(node)
    if base is None:
        return True
    if node.symbol is None:
        return not same_statements(base.statements, node.statements)
    return base.hashes != node.hashes
