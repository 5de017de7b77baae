"""Merges that git finds clean and that are not."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from tokenzip.diff import Comparison, broken_references, compare
from tokenzip.model import BrokenReference, Change, Flag, Symbol, SymbolKey
from tokenzip.snapshot import Snapshot

_NO_DEFINITIONS = frozenset({"import", "export", "parameter", "generic_param"})
_TOUCHED = frozenset({"signature", "modifiers", "body"})


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something that a merge breaks and that neither side has broken by itself."""

    broken: BrokenReference
    """At the merge. Besides the reasons of a diff, `why` may be ``duplicate`` (kind ``defines``: the source is a second
    definition of the target) or ``both changed`` (kind ``changes``: both sides changed the source, one incompatibly)."""
    user: str
    """Which side uses it: ``ours`` or ``theirs``; ``both`` for what is not about uses."""
    cause: Change | None
    """What the other side did to it, or the side that changed it incompatibly."""


@dataclass(frozen=True, slots=True)
class _Sides:
    """The four states of a merge, compared where they meet."""

    merged: Snapshot
    done: dict[str, Comparison]
    """Side -> from the base to it."""
    last: dict[str, Comparison]
    """Side -> from it to the merge."""

    def in_base(self, side: str, key: SymbolKey) -> SymbolKey | None:
        """What something at the merge was at the base, by way of a side."""
        on_side = self.last[side].then(key)
        return self.done[side].then(on_side) if on_side is not None else None


def conflicts(base: Snapshot, ours: Snapshot, theirs: Snapshot, merged: Snapshot) -> tuple[Conflict, ...]:
    """What the two sides of a merge did that does not go together, though git merges the text: see `Conflict`.

    One side removed, renamed or changed incompatibly what the other newly uses or changes; both define the same name. `base`
    is their merge base, `merged` the tree that git makes of them.
    """
    ends = {"ours": ours, "theirs": theirs}
    sides = _Sides(
        merged,
        {name: compare(base, side) for name, side in ends.items()},
        {name: compare(side, merged) for name, side in ends.items()},
    )
    found = [*_broken(sides), *_defined_twice(sides), *_changed_by_both(sides)]
    return tuple(
        sorted(
            found, key=lambda conflict: (conflict.broken.source, conflict.broken.line, conflict.user, conflict.broken.target)
        )
    )


def _broken(sides: _Sides) -> Iterator[Conflict]:
    """The broken references of the merge as seen from each side, without those that the other has broken by itself."""
    for user, other in (("ours", "theirs"), ("theirs", "ours")):
        done, last = sides.done[other], sides.last[user]
        known = {(row.source, row.kind, row.target) for row in broken_references(done.base.snapshot, done.head.snapshot, done)}
        causes = {change.old_key: change for change in done.changes if change.old_key is not None}
        for row in broken_references(last.base.snapshot, sides.merged, last):
            if (row.source, row.kind, row.target) not in known:
                yield Conflict(row, user, causes.get(row.target))


def _defined_twice(sides: _Sides) -> Iterator[Conflict]:
    """Names that both sides brought into the same place of a file, each in its own way, so that the merge has more of them."""
    for path in sorted(set(sides.last["ours"].paths) & set(sides.last["theirs"].paths)):
        definitions = _definitions(sides.merged, path)
        counts = [_counts_then(sides, side, path) for side in ("ours", "theirs")]
        before = [_counts_at_base(sides, side, path) for side in ("ours", "theirs")]
        for name, symbols in definitions.items():
            is_new = all(count[name] for count in counts) and not any(count[name] for count in before)
            if is_new and len(symbols) > max(count[name] for count in counts):
                first, *others = symbols
                for symbol in others:
                    row = BrokenReference(symbol.key, first.key, None, "defines", symbol.line, "duplicate")
                    yield Conflict(row, "both", None)


def _definitions(snapshot: Snapshot, path: str | None) -> dict[str, list[Symbol]]:
    """Qualified name without ordinal -> what is defined under it, what is local to a function left out."""
    found: dict[str, list[Symbol]] = defaultdict(list)
    file = snapshot.file(path) if path is not None else None
    for symbol in file.symbols if file is not None and file.is_source else ():
        if symbol.kind not in _NO_DEFINITIONS and not symbol.flags & Flag.LOCAL:
            found[re.sub(r"(?<=.)#\d+$", "", symbol.qualified_name)].append(symbol)
    return found


def _counts_then(sides: _Sides, side: str, path: str) -> Counter[str]:
    return _counts(sides.last[side].base.snapshot, sides.last[side].then(SymbolKey(path)))


def _counts_at_base(sides: _Sides, side: str, path: str) -> Counter[str]:
    return _counts(sides.done[side].base.snapshot, sides.in_base(side, SymbolKey(path)))


def _counts(snapshot: Snapshot, file: SymbolKey | None) -> Counter[str]:
    definitions = _definitions(snapshot, file.path if file is not None else None)
    return Counter({name: len(symbols) for name, symbols in definitions.items()})


def _changed_by_both(sides: _Sides) -> Iterator[Conflict]:
    """What one side changed incompatibly and the other side changed too, if the merge has both changes."""
    changed = {
        side: {change.old_key: change for change in sides.done[side].changes if change.old_key and change.kind != "file"}
        for side in ("ours", "theirs")
    }
    for key in sorted(changed["ours"].keys() & changed["theirs"].keys()):
        ours, theirs = changed["ours"][key], changed["theirs"][key]
        cause, other = (ours, theirs) if ours.breaking else (theirs, ours)
        now = sides.last["ours"].now(ours.key)
        symbol = sides.merged.symbol(now) if now is not None else None
        if not cause.breaking or cause.change == "removed" or symbol is None or _TOUCHED.isdisjoint(other.aspects):
            continue
        if _is_mixed(sides, symbol):
            yield Conflict(BrokenReference(symbol.key, key, None, "changes", symbol.line, "both changed"), "both", cause)


def _is_mixed(sides: _Sides, symbol: Symbol) -> bool:
    """Whether a symbol of the merge is as neither side has it."""
    hashes = (symbol.row.signature_hash, symbol.row.content_hash)
    for last in sides.last.values():
        before = last.then(symbol.key)
        one = last.base.snapshot.symbol(before) if before is not None else None
        if one is None or (one.row.signature_hash, one.row.content_hash) == hashes:
            return False
    return True
