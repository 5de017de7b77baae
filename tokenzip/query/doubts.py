"""Doubts: why there may be more than the records that a query gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tokenzip import walk
from tokenzip.items import Item, completeness
from tokenzip.languages import registry
from tokenzip.model import Edge, SymbolKey
from tokenzip.query.records import SymbolRecord
from tokenzip.snapshot import Snapshot

# What no built-in language reads yet: by the suffixes that such files have. A plugin that reads them makes the reason go.
SUFFIXES_OF = {"tables": (".sql",), "documents": (".md", ".markdown")}


def unread_files(paths: Sequence[str]) -> bool | Item:
    """A doubt about symbols of files that were not, or not wholly, read."""
    if not paths:
        return True
    count = f"{len(paths)} file{'s' * (len(paths) != 1)}"
    return {"why": f"{count} could not be read as a whole and may hold more", "unresolved": 0, "places": list(paths[:3])}


def unread_languages(snapshot: Snapshot, what: str) -> bool | Item:
    """A doubt about things in files of a kind that no language reads."""
    suffixes = tuple(suffix for suffix in SUFFIXES_OF[what] if suffix not in registry.SUFFIXES)
    passed = [path for path in snapshot.paths() if suffixes and path.lower().endswith(suffixes)]
    if not passed:
        return True
    return {
        "why": f"no language reads {' or '.join(suffixes)} files yet: what the {len(passed)} here hold is not known",
        "unresolved": 0,
        "places": passed[:3],
    }


def possible(snapshot: Snapshot, starts: Sequence[SymbolRecord], known: Iterable[Edge], kinds: Sequence[str]) -> bool | Item:
    """A doubt about uses whose target is unknown and that have the name of one of the starts."""
    names = sorted({name for start in starts if start.index >= 0 for name in walk.names_of(snapshot, start)})
    named = f"named {names[0]}" if len(names) == 1 else "of these names"
    opened = walk.possible_uses(snapshot, names, known, kinds)
    return completeness(opened, f"references {named} whose target is unknown could be more uses")


def open_in(snapshot: Snapshot, keys: Sequence[SymbolKey], kinds: Sequence[str]) -> bool | Item:
    """A doubt about what the starts use: references inside them whose target is unknown."""
    opened = walk.open_references(snapshot, keys, kinds)
    return completeness(opened, "references inside whose target is unknown could be more dependencies")
