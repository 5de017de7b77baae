"""Names that a file offers and does not define: re-exports. They are no symbols, but others rely on them all the same."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator

from tokenzip.diff.side import FileSide
from tokenzip.model import Change, Edge, SymbolKey

KIND = "re_export"


def changed_names(
    before: FileSide,
    after: FileSide,
    now: Callable[[SymbolKey], SymbolKey | None],
    then: Callable[[SymbolKey], SymbolKey | None],
) -> Iterator[Change]:
    """Names that a file of both ends passes on at one of them only, unless that just follows what they mean.

    `now` leads from a key at the base to that at the head, `then` back.
    """
    if not (before.is_read and after.is_read) or before.facts.is_test:
        return
    offered, offers = _passed_on(before), _passed_on(after)
    for name in sorted(offered.keys() - offers.keys()):
        if after.named(name) is None and not _follows(offered[name].target, now, offers.values()):
            yield _change(before, name, offered[name], "removed")
    for name in sorted(offers.keys() - offered.keys()):
        if before.named(name) is None and not _follows(offers[name].target, then, offered.values()):
            yield _change(after, name, offers[name], "added")


def _follows(target: SymbolKey, other_end: Callable[[SymbolKey], SymbolKey | None], others: Iterable[Edge]) -> bool:
    """Whether the target is not at the other end either, or goes by another name there, under which it is passed on."""
    counterpart = other_end(target)
    if counterpart is None:
        return True
    return _name(counterpart) != _name(target) and any(edge.target == counterpart for edge in others)


def _passed_on(file: FileSide) -> dict[str, Edge]:
    """Name -> the edge to what it means. In Python a package passes on whatever its ``__init__`` imports."""
    kind = "exports"
    if file.facts.language == "python":
        kind = "imports"
        if posixpath.splitext(posixpath.basename(file.path))[0] != "__init__":
            return {}
    found = {}
    for edge in file.snapshot.edges_from(SymbolKey(file.path)):
        if edge.kind == kind and edge.target.qualified and edge.target.path != file.path:
            name = edge.detail.removeprefix("as ") if edge.detail not in ("", "type", "default") else _name(edge.target)
            if not name.startswith("_"):
                found[name] = edge
    return found


def _name(key: SymbolKey) -> str:
    return key.qualified.rpartition(".")[2].partition("#")[0]


def _change(file: FileSide, name: str, edge: Edge, change: str) -> Change:
    key, gone = SymbolKey(file.path, name), change == "removed"
    return Change(
        key=key,
        old_key=key if gone else None,
        kind=KIND,
        change=change,
        also=(),
        effect="breaking" if gone else "compatible",
        reasons=(f"does not pass on `{edge.target.handle}` any more",) if gone else (),
        line=edge.line,
        old_line=edge.line if gone else 0,
    )
