"""Results are kept beside the store, under the state that they were worked out on, with the time when that was.

The time is part of the answer. So that the same question about the same state gets the same bytes, a result is made once: who
finds one takes it with its time, and of two who make one at the same moment both take that which was put down first. Where
nothing can be kept there is no time (docs/decisions/0007-kept-workflows.md).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tokenzip import __version__
from tokenzip.index import analysis_tag

if TYPE_CHECKING:
    from tokenzip.repository import Repository
    from tokenzip.snapshot import Snapshot

VERSION = 3
"""Grows whenever a template may answer differently."""
FOLDER = "workflows"
MOST = 200
"""Results that are kept for a family of repositories; the oldest make room."""
LARGEST = 2 << 20
"""Bytes of a result that is kept."""


class Kept(NamedTuple):
    """A result and when it was made."""

    result: dict[str, Any]
    made: str | None
    """UTC, to the second; None if it could not be kept, so that asking again would give another time."""


def kept(repository: Repository, key: str, make: Callable[[], dict[str, Any]]) -> Kept:
    """The result under this key: the one that is there, or else a new one, kept if possible."""
    place = repository.store.folder / FOLDER / f"{key}.json"
    found = _read(place)
    if found is not None:
        return found
    fresh = Kept(_plain(make()), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    text = json.dumps({"made": fresh.made, "result": fresh.result}, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if len(text) > LARGEST:
        return fresh._replace(made=None)
    try:
        _put(place, text)
    except OSError:
        return fresh._replace(made=None)
    return _read(place) or fresh._replace(made=None)


def key_of(snapshot: Snapshot, template: str, inputs: object) -> str:
    """What a result depends on: the template, its inputs, and the state with its history, as far as this clone holds it."""
    history = (snapshot.at.commit, snapshot.git.is_shallow, snapshot.git.is_partial)
    basis = (__version__, VERSION, analysis_tag().hex(), template, inputs, state_of(snapshot), history)
    return hashlib.blake2b(json.dumps(basis, sort_keys=True).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def state_of(snapshot: Snapshot) -> str:
    """Names the content of a state: its tree, or a digest of the tree and what differs from it."""
    if not snapshot.overlay:
        return snapshot.tree or "empty"
    total = hashlib.blake2b(f"{snapshot.tree}".encode(), digest_size=20)
    for path in sorted(snapshot.overlay):
        over = snapshot.overlay[path]
        total.update(repr((path, over and (over.file.mode, over.file.blob))).encode("utf-8", "backslashreplace"))
    return total.hexdigest()


def _plain(result: dict[str, Any]) -> dict[str, Any]:
    """The result as it would be read again: the first answer must not differ from the second."""
    plain: dict[str, Any] = json.loads(json.dumps(result))
    return plain


def _read(place: Path) -> Kept | None:
    """What is there; a damaged entry is none."""
    try:
        value = json.loads(place.read_bytes().decode("utf-8", "surrogatepass"))
        return Kept(value["result"], str(value["made"])) if isinstance(value["result"], dict) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _put(place: Path, text: bytes) -> None:
    """Put a result down whole, unless a sound one is there. Raises OSError."""
    place.parent.mkdir(exist_ok=True)
    fresh = place.with_suffix(f".{os.getpid()}")
    try:
        fresh.write_bytes(text)
        try:
            os.link(fresh, place)
        except OSError:
            if _read(place) is None:  # a damaged one, or a file system without links
                os.replace(fresh, place)
    finally:
        with contextlib.suppress(OSError):
            fresh.unlink()
    _make_room(place.parent)


def _make_room(folder: Path) -> None:
    entries = list(folder.glob("*.json"))
    if len(entries) <= MOST:
        return
    with contextlib.suppress(OSError):
        for entry in sorted(entries, key=lambda entry: entry.stat().st_mtime)[: len(entries) - MOST * 3 // 4]:
            entry.unlink(missing_ok=True)
