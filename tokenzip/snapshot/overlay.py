"""`Overlay`: the files of a snapshot that differ from its stored tree, and what the store would know of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tokenzip.index import searchable_names
from tokenzip.model import FileIR
from tokenzip.snapshot.keys import keys_of_content, keys_of_record, stems_of
from tokenzip.snapshot.tree import TreeFile
from tokenzip.store import LinkRecord


@dataclass(frozen=True, slots=True)
class OverlayFile:
    """A file that differs from the stored tree: in content, or only in what it means."""

    file: TreeFile
    source: Callable[[], bytes]
    ir: FileIR | None = None
    """None if the blob is the stored tree's."""
    link: LinkRecord | None = None
    """None if the link record is the stored tree's."""


Overlay = Mapping[str, OverlayFile | None]
"""Path -> what stands there instead; None: nothing does."""


def directories_of(overlay: Overlay) -> frozenset[str]:
    """Every directory above a file of the overlay."""
    return frozenset(parent for path, over in overlay.items() if over is not None for parent in _parents(path))


def removed_below(overlay: Overlay) -> Mapping[str, set[str]]:
    """Directory -> the files below it that the overlay takes away."""
    removed: dict[str, set[str]] = {}
    for path, over in overlay.items():
        if over is None:
            for parent in _parents(path):
                removed.setdefault(parent, set()).add(path)
    return removed


def _parents(path: str) -> Iterator[str]:
    """The directories above a path, the nearest first, without the root."""
    while (cut := path.rfind("/")) > 0:
        path = path[:cut]
        yield path


def postings_of(overlay: Overlay) -> Mapping[int, set[str]]:
    """What the store's inverted index is for the stored tree, for the overlay; facts consulted are not in it."""
    postings: dict[int, set[str]] = {}
    standing = {path: over for path, over in overlay.items() if over is not None}
    for path, key in stems_of(standing):
        postings.setdefault(key, set()).add(path)
    for path, over in standing.items():
        keys = keys_of_record(path, over.link) if over.link is not None else set()
        if over.ir is not None:
            keys |= keys_of_content(searchable_names(over.ir), over.ir.interface.announces)
        for key in keys:
            postings.setdefault(key, set()).add(path)
    return postings
