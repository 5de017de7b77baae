"""A snapshot as the linker sees it: the `View` of `languages.base`."""

from __future__ import annotations

from typing import Protocol

from tokenzip.model import Interface
from tokenzip.recent import Recent
from tokenzip.snapshot.tree import TreeFile

_REMEMBERED_INTERFACES = 4096


class _Snapshot(Protocol):
    def interface(self, path: str) -> Interface: ...
    def tree_file(self, path: str) -> TreeFile | None: ...
    def is_directory(self, path: str) -> bool: ...
    def with_stem(self, stem: str) -> tuple[str, ...]: ...
    def announcing(self, key: str) -> tuple[str, ...]: ...


class SnapshotView:
    """Answers the linker from a snapshot; interfaces are remembered, since many files look at the same ones."""

    def __init__(self, snapshot: _Snapshot) -> None:
        self._snapshot = snapshot
        self._interfaces: Recent[str, Interface] = Recent(_REMEMBERED_INTERFACES)

    def interface(self, path: str) -> Interface:
        return self._interfaces.get_or_make(path, lambda: self._snapshot.interface(path))

    def is_file(self, path: str) -> bool:
        return self._snapshot.tree_file(path) is not None

    def is_directory(self, path: str) -> bool:
        return self._snapshot.is_directory(path)

    def with_stem(self, stem: str) -> tuple[str, ...]:
        return self._snapshot.with_stem(stem)

    def announcing(self, key: str) -> tuple[str, ...]:
        return self._snapshot.announcing(key)
