"""A query at work: its records so far, and what the steps of every scope have at hand."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tokenzip import walk
from tokenzip.errors import UnknownSymbol, UsageError
from tokenzip.items import Item
from tokenzip.model import Change, Module, Symbol, SymbolKey
from tokenzip.query import fields
from tokenzip.query.doubts import unread_files
from tokenzip.query.records import SymbolRecord, View
from tokenzip.query.steps import Source, Step
from tokenzip.snapshot import File, Snapshot

if TYPE_CHECKING:
    from tokenzip.model import Revision


Records = Iterator[Any]
_UNREAD = frozenset({"partial", "failed"})
"""What was left out on purpose (generated, too large) is no reason to doubt every answer."""
FIELDS = {
    "modules": fields.MODULE,
    "files": fields.FILE,
    "documents": fields.FILE,
    "symbols": fields.SYMBOL,
    "tables": fields.SYMBOL,
    "sections": fields.SYMBOL,
    "references": fields.REFERENCE,
    "changes": fields.CHANGE,
    "reached": fields.REACHED,
    "commits": fields.COMMIT,
}


@dataclass(slots=True)
class Found:
    """A query at work: its records as they come, and what is known of what may be missing."""

    chain: tuple[Step, ...]
    view: View
    scope: str
    """What the records are: a key of `FIELDS`."""
    records: Records = field(default_factory=lambda: iter(()))
    doubts: list[Callable[[], bool | Item]] = field(default_factory=list)
    """Asked when the records are all there and somebody wants to know; each says True or why something may be missing."""

    @property
    def snapshot(self) -> Snapshot:
        return self.view.snapshot

    @property
    def at(self) -> Revision:
        return self.snapshot.at


class Work:
    """The state of one evaluation, and how steps find things in its snapshot."""

    def __init__(self, found: Found, source: Source, stack: contextlib.ExitStack) -> None:
        self.found = found
        self.view = found.view
        self.snapshot = found.view.snapshot
        self._source = source
        self._stack = stack

    def one_module(self, name: str) -> Module:
        """The module of that name or directory. Raises UnknownSymbol."""
        found = walk.find_module(self.snapshot, name)
        if found is None:
            known = [module.name for module in self.snapshot.modules().all()]
            raise UnknownSymbol(
                f"no module {name!r}", hint="Name a module by its directory or its name.", candidates=known[:20]
            )
        return found

    def one_file(self, path: str) -> File:
        """The file of that path, or of the only path that ends so. Raises UsageError for anything else."""
        target = walk.resolve(self.snapshot, path)
        if isinstance(target, SymbolKey):
            file = self.snapshot.file(target.path)
            assert file is not None, "a resolved path exists"
            return file
        what = "symbol" if isinstance(target, Symbol) else "module"
        raise UsageError(f"{path} is a {what}", hint=f"Take {what}({path!r}).")

    def files_of(self, modules: Records) -> Iterator[File]:
        """The files that belong to the modules, by path."""
        wanted = {module.path for module in modules}
        return (file for file in self.view.files() if self.view.module_of(file.path).path in wanted)

    def symbols_of(
        self, files: Iterable[File], kinds: Collection[str] = (), suffixes: tuple[str, ...] = ("",)
    ) -> Iterator[SymbolRecord]:
        """Symbols of these kinds (or all); files of these suffixes should have been read as a whole."""
        unread: list[str] = []
        self.found.doubts.append(lambda: unread_files(unread))
        for file in files:
            if file.is_source:
                if file.status in _UNREAD and file.path.lower().endswith(suffixes):
                    unread.append(file.path)
                for symbol in file.symbols:
                    if not kinds or symbol.kind in kinds:
                        yield self.view.record(symbol)

    def symbols_at(self, keys: Iterable[SymbolKey]) -> Iterator[SymbolRecord]:
        """The symbols of these keys that there are here, each once."""
        found = (self.view.symbol(key) for key in dict.fromkeys(keys))
        return (record for record in found if record is not None)


def differences(base: Snapshot, head: Snapshot) -> Iterator[Change]:
    """The changes from one snapshot to another, worked out when the first of them is asked for."""
    from tokenzip.diff import compare

    yield from compare(base, head).changes
