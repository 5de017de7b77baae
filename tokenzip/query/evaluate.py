"""What each step does: from the records before it to the records after it, one by one where that is possible."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from tokenzip import walk
from tokenzip.errors import StoreChanged, UnknownSymbol, UsageError
from tokenzip.impact import DEPTH, DEPTH_OF_CHANGES, Reached, impact
from tokenzip.items import Item, completeness
from tokenzip.languages import registry
from tokenzip.model import Change, Edge, Module, Symbol, SymbolKey
from tokenzip.query import fields
from tokenzip.query.records import CommitRecord, FileRecord, ModuleRecord, Reference, SymbolRecord, View
from tokenzip.query.steps import Source, Step
from tokenzip.snapshot import File, Snapshot

if TYPE_CHECKING:
    from tokenzip.model import Revision

T = TypeVar("T")
Records = Iterator[Any]

_ATTEMPTS = 3
"""How often a question is asked while other processes take away the graph that it is about."""
_TABLES = frozenset({"table", "view"})
_USES_OF_TABLES = frozenset({"reads", "modifies", "references", "foreign_key", "calls"})
_UNREAD = frozenset({"partial", "failed"})
"""What was left out on purpose (generated, too large) is no reason to doubt every answer."""
# What no built-in language reads yet: by the suffixes that such files have. A plugin that reads them makes the reason go.
_SUFFIXES_OF = {"tables": (".sql",), "documents": (".md", ".markdown")}


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


def evaluated(chain: tuple[Step, ...], source: Source | None, terminal: Callable[[Found], T]) -> T:
    """What a terminal makes of the records of a query, within one transaction of the store."""
    if source is None:
        raise UsageError("this query asks no repository", hint="Take it of one: `repo.query(text)`, or `query.on(repo)`.")
    for _ in range(_ATTEMPTS - 1):
        with contextlib.suppress(StoreChanged):
            return _evaluated(chain, source, terminal)
    return _evaluated(chain, source, terminal)


def _evaluated(chain: tuple[Step, ...], source: Source, terminal: Callable[[Found], T]) -> T:
    steps = list(chain)
    rev = str(steps.pop(0).arguments[0]) if steps and steps[0].name == "at" else None
    with contextlib.ExitStack() as stack:
        view = View(source.snapshot(rev))
        if steps and steps[0].name == "diff":
            base, head = two_snapshots(source, *steps.pop(0).arguments, default_head=rev)
            view = View(head)
            stack.enter_context(base.reading())
            stack.enter_context(head.reading())
            found = Found(chain, view, "changes", _differences(base, head))
        else:
            stack.enter_context(view.snapshot.reading())
            found = Found(chain, view, "repository")
        run = Run(found, source, stack)
        for step in steps:
            run.take(step)
        return terminal(found)


def two_snapshots(
    source: Source, base: str | None, head: str | None = None, *, default_head: str | None = None
) -> tuple[Snapshot, Snapshot]:
    """The two ends of a comparison. ``A..B`` and ``A...B`` may stand in `base` where there is no `head`."""
    for sign in ("...", ".."):
        if base is not None and head is None and sign in base:
            base, head = (side or "HEAD" for side in base.split(sign, 1))
            if sign == "...":
                base = str(source.merge_base(base, head))
            break
    return source.snapshots(base or "HEAD", head or default_head)


def _differences(base: Snapshot, head: Snapshot) -> Iterator[Change]:
    from tokenzip.diff import compare

    yield from compare(base, head).changes


class Run:
    """One evaluation, step by step. The method ``_<scope>_<step>`` does what a step does in a scope, ``_<step>`` in any."""

    def __init__(self, found: Found, source: Source, stack: contextlib.ExitStack) -> None:
        self.found = found
        self.view = found.view
        self.snapshot = found.view.snapshot
        self._source = source
        self._stack = stack

    def take(self, step: Step) -> None:
        """Let the records pass through one more step."""
        found, (name, arguments, options) = self.found, step
        if name in {"filter", "exclude"}:
            found.records = self._kept(found.scope, step)
        elif name != "select":
            method = getattr(self, f"_{found.scope}_{name}", None) or getattr(self, f"_{name}")
            found.scope, found.records = method(found.scope, found.records, *arguments, **dict(options))

    # ---- any records

    def _kept(self, scope: str, step: Step) -> Records:
        conditions = [fields.condition(FIELDS[scope], lookup, value) for lookup, value in step.options]
        tests = [each.holds for each in sorted(conditions, key=lambda each: each.heavy)]
        records, view, wanted = self.found.records, self.view, step.name == "filter"

        def holds(record: Any) -> bool:
            return all(test(view, record) for test in tests) and all(predicate(record) for predicate in step.arguments)

        return (record for record in records if holds(record) is wanted)

    def _sort(self, scope: str, records: Records, *names: str) -> tuple[str, Records]:
        return scope, self._sorted(scope, records, names)

    def _sorted(self, scope: str, records: Records, names: Sequence[str]) -> Records:
        listed = list(records)
        for name in reversed(names):
            asked = FIELDS[scope][fields.field_name(FIELDS[scope], name.removeprefix("-"))]
            keys = [(fields.order_key(asked, self.view, record), record) for record in listed]
            have = sorted((each for each in keys if not each[0][0]), key=lambda each: each[0], reverse=name.startswith("-"))
            listed = [record for _, record in (*have, *(each for each in keys if each[0][0]))]
        yield from listed

    def _limit(self, scope: str, records: Records, count: int) -> tuple[str, Records]:
        return scope, itertools.islice(records, min(count, sys.maxsize))

    def _offset(self, scope: str, records: Records, count: int) -> tuple[str, Records]:
        return scope, itertools.islice(records, min(count, sys.maxsize), None)

    def _within_module(self, scope: str, records: Records, name: str) -> tuple[str, Records]:
        module = self._one_module(name)
        get = FIELDS[scope]["path" if scope in {"files", "documents"} else "file"].get
        return scope, (each for each in records if self.view.module_of(get(self.view, each)) is module)

    def _files(self, scope: str, records: Records) -> tuple[str, Records]:
        get = FIELDS[scope]["file"].get
        return "files", self._files_at(get(self.view, record) for record in records)

    _file = _files

    def _files_at(self, paths: Iterable[str]) -> Records:
        for path in dict.fromkeys(paths):
            file = self.snapshot.file(path)
            if file is not None:
                yield FileRecord(self.view, file)

    def _modules(self, scope: str, records: Records) -> tuple[str, Records]:
        get = FIELDS[scope]["path" if scope in {"files", "documents"} else "file"].get
        found = {self.view.module_of(get(self.view, record)).path: None for record in records}
        modules = self.snapshot.modules()
        return "modules", (ModuleRecord.of(self.view, modules.module_of(path)) for path in found)

    _module = _modules

    def _impact(self, scope: str, records: Records, depth: int | None = None) -> tuple[str, Records]:
        return "reached", self._reached(list(records), depth or (DEPTH_OF_CHANGES if scope == "changes" else DEPTH))

    def _reached(self, records: Sequence[Any], depth: int | None) -> Iterator[Reached]:
        subjects = [record if isinstance(record, Change) else record.key for record in records]
        found = impact(self.snapshot, subjects, depth)
        self.found.doubts.append(found.completeness)
        yield from found.reached

    def _symbols(self, scope: str, records: Records) -> tuple[str, Records]:
        keys = (record.edge.source if isinstance(record, Reference) else record.key for record in records)
        found = (self.view.symbol(key) for key in dict.fromkeys(keys))
        return "symbols", (record for record in found if record is not None)

    # ---- the repository

    def _repository_modules(self, scope: str, _: Records) -> tuple[str, Records]:
        return "modules", (ModuleRecord.of(self.view, module) for module in self.snapshot.modules().all())

    def _repository_module(self, scope: str, _: Records, name: str) -> tuple[str, Records]:
        return "modules", iter((ModuleRecord.of(self.view, self._one_module(name)),))

    def _one_module(self, name: str) -> Module:
        found = walk.find_module(self.snapshot, name)
        if found is None:
            known = [module.name for module in self.snapshot.modules().all()]
            raise UnknownSymbol(
                f"no module {name!r}", hint="Name a module by its directory or its name.", candidates=known[:20]
            )
        return found

    def _repository_files(self, scope: str, _: Records) -> tuple[str, Records]:
        return "files", (FileRecord(self.view, file) for file in self.view.files())

    def _repository_file(self, scope: str, _: Records, path: str) -> tuple[str, Records]:
        return "files", iter((FileRecord(self.view, self._one_file(path)),))

    def _one_file(self, path: str) -> File:
        target = walk.resolve(self.snapshot, path)
        if isinstance(target, SymbolKey):
            file = self.snapshot.file(target.path)
            assert file is not None, "a resolved path exists"
            return file
        what = "symbol" if isinstance(target, Symbol) else "module"
        raise UsageError(f"{path} is a {what}", hint=f"Take {what}({path!r}).")

    def _repository_symbols(self, scope: str, _: Records) -> tuple[str, Records]:
        return "symbols", self._symbols_of(self.view.files())

    def _repository_symbol(self, scope: str, _: Records, name: str) -> tuple[str, Records]:
        target = walk.resolve(self.snapshot, name)
        if isinstance(target, Symbol):
            return "symbols", iter((self.view.record(target),))
        what = "module" if isinstance(target, Module) else "file"
        raise UsageError(f"{name} is a {what}", hint=f"Take {what}({name!r}).")

    def _repository_commit(self, scope: str, _: Records, rev: str) -> tuple[str, Records]:
        return "commits", self._commits(rev)

    def _commits(self, rev: str) -> Iterator[CommitRecord]:
        for commit in self.snapshot.git.log(rev, limit=1):
            date = datetime.datetime.fromtimestamp(commit.time, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            yield CommitRecord(commit.id, commit.parents, commit.author, commit.email, date, commit.subject)

    def _commits_changes(self, scope: str, records: Records) -> tuple[str, Records]:
        commit = next(records, None)
        if commit is None:
            return "changes", iter(())
        if not commit.parents:
            raise UsageError(f"{commit.short_id} has no parent to compare it with", hint="It is where history begins.")
        base, head = self._source.snapshots(commit.parents[0], commit.id)
        self._stack.enter_context(base.reading())
        self._stack.enter_context(head.reading())
        self.view = self.found.view = View(head)
        self.snapshot = head
        return "changes", _differences(base, head)

    # ---- modules

    def _modules_files(self, scope: str, records: Records) -> tuple[str, Records]:
        return "files", (FileRecord(self.view, file) for file in self._files_of(records))

    def _modules_symbols(self, scope: str, records: Records) -> tuple[str, Records]:
        return "symbols", self._symbols_of(self._files_of(records))

    def _files_of(self, modules: Records) -> Iterator[File]:
        wanted = {module.path for module in modules}
        return (file for file in self.view.files() if self.view.module_of(file.path).path in wanted)

    def _modules_dependencies(self, scope: str, records: Records) -> tuple[str, Records]:
        return "modules", self._module_neighbours(records, backward=False)

    def _modules_dependants(self, scope: str, records: Records) -> tuple[str, Records]:
        return "modules", self._module_neighbours(records, backward=True)

    def _module_neighbours(self, records: Records, *, backward: bool) -> Iterator[ModuleRecord]:
        wanted = {module.path for module in records}
        edges: dict[str, list[Edge]] = {}
        for source, target, edge in walk.module_edges(self.snapshot, self.snapshot.paths()):
            mine, other = (target, source) if backward else (source, target)
            if mine in wanted:
                edges.setdefault(other, []).append(edge)
        modules = self.snapshot.modules()
        for path in sorted(edges, key=lambda path: (-len(edges[path]), path)):
            yield ModuleRecord.of(self.view, modules.module_of(path), 1, edges[path])

    # ---- files

    def _files_symbols(self, scope: str, records: Records) -> tuple[str, Records]:
        return "symbols", self._symbols_of(records)

    _documents_symbols = _files_symbols

    def _symbols_of(
        self, files: Iterable[File], kinds: Collection[str] = (), suffixes: tuple[str, ...] = ("",)
    ) -> Iterator[SymbolRecord]:
        """Symbols of these kinds (or all); files of these suffixes should have been read as a whole."""
        unread: list[str] = []
        self.found.doubts.append(lambda: _unread(unread))
        for file in files:
            if file.is_source:
                if file.status in _UNREAD and file.path.lower().endswith(suffixes):
                    unread.append(file.path)
                for symbol in file.symbols:
                    if not kinds or symbol.kind in kinds:
                        yield self.view.record(symbol)

    def _files_dependencies(
        self, scope: str, records: Records, depth: int = 1, kinds: Sequence[str] = ()
    ) -> tuple[str, Records]:
        return "files", self._file_neighbours(records, depth, kinds, backward=False)

    def _files_dependants(self, scope: str, records: Records, depth: int = 1, kinds: Sequence[str] = ()) -> tuple[str, Records]:
        return "files", self._file_neighbours(records, depth, kinds, backward=True)

    _documents_dependencies = _files_dependencies
    _documents_dependants = _files_dependants

    def _file_neighbours(self, records: Records, depth: int, kinds: Sequence[str], *, backward: bool) -> Iterator[FileRecord]:
        starts = [record.path for record in records]
        frontier, known = starts, set(starts)
        for distance in range(1, depth + 1):
            edges: dict[str, list[Edge]] = {}
            for path in frontier:
                for other, edge in walk.file_edges(self.snapshot, path, backward=backward):
                    if other not in known and (not kinds or edge.kind in kinds):
                        edges.setdefault(other, []).append(edge)
            known.update(edges)
            frontier = sorted(edges)
            for path in sorted(edges, key=lambda path: (walk.is_test(self.snapshot, SymbolKey(path)), -len(edges[path]), path)):
                file = self.snapshot.file(path)
                if file is not None:
                    yield FileRecord(self.view, file, distance, edges[path])
        if not backward:
            keys = [SymbolKey(path) for path in starts]
            self.found.doubts.append(lambda: _open_in(self.snapshot, keys, kinds))

    # ---- symbols

    def _callers(self, scope: str, records: Records, depth: int = 1) -> tuple[str, Records]:
        return "symbols", self._related(records, depth, ("calls",), backward=True)

    def _callees(self, scope: str, records: Records, depth: int = 1) -> tuple[str, Records]:
        return "symbols", self._related(records, depth, ("calls",), backward=False)

    def _dependants(self, scope: str, records: Records, depth: int = 1, kinds: Sequence[str] = ()) -> tuple[str, Records]:
        return "symbols", self._related(records, depth, kinds, backward=True)

    def _dependencies(self, scope: str, records: Records, depth: int = 1, kinds: Sequence[str] = ()) -> tuple[str, Records]:
        return "symbols", self._related(records, depth, kinds, backward=False)

    def _related(self, records: Records, depth: int, kinds: Sequence[str], *, backward: bool) -> Iterator[SymbolRecord]:
        starts = list(records)
        found: dict[SymbolKey, walk.Reached] = {}
        direct: list[Edge] = []
        for start in starts:
            for node in walk.closure(self.snapshot, start.key, depth, kinds, backward=backward):
                if node.distance == 1:
                    direct.extend(node.edges)
                known = found.get(node.key)
                if known is None or node.distance < known.distance:
                    found[node.key] = node
                elif node.distance == known.distance:
                    known.edges.extend(edge for edge in node.edges if edge not in known.edges)
        if backward:
            self.found.doubts.append(lambda: _possible(self.snapshot, starts, direct, kinds))
        else:
            self.found.doubts.append(lambda: _open_in(self.snapshot, [start.key for start in starts], kinds))
        for node in walk.by_use(self.snapshot, found.values()):
            record = self.view.symbol(node.key, node.distance, node.edges)
            if record is not None:
                yield record

    def _references(self, scope: str, records: Records) -> tuple[str, Records]:
        return "references", self._places(records)

    def _places(self, records: Records) -> Iterator[Reference]:
        starts = list(records)
        edges = dict.fromkeys(edge for start in starts for edge in walk.incoming(self.snapshot, start.key))
        self.found.doubts.append(lambda: _possible(self.snapshot, starts, edges, ()))
        for edge in sorted(edges, key=lambda edge: (edge.source.path, edge.line, edge)):
            user = self.snapshot.symbol(edge.source)
            yield Reference(edge, user.kind if user is not None else "file")

    def _members(self, scope: str, records: Records) -> tuple[str, Records]:
        return "symbols", self._inside(records)

    def _inside(self, records: Records) -> Iterator[SymbolRecord]:
        for record in records:
            for symbol in walk.symbols_of(self.snapshot, record.path):
                if symbol.row.parent == record.index:
                    yield self.view.record(symbol)

    def _with_kind(self, scope: str, records: Records, *kinds: str) -> tuple[str, Records]:
        return scope, (record for record in records if record.kind in kinds)

    # ---- tables and documents

    def _tables(self, scope: str, records: Records) -> tuple[str, Records]:
        return "tables", self._listed("tables", scope, records, _TABLES)

    def _table(self, scope: str, records: Records, name: str) -> tuple[str, Records]:
        tables = [each for each in self._listed("tables", scope, records, _TABLES) if name in (each.name, each.qualified_name)]
        if not tables:
            raise self._not_there("table", name, "tables")
        return "tables", iter(tables)

    def _sections(self, scope: str, records: Records) -> tuple[str, Records]:
        return "sections", self._listed("documents", scope, records, {"section"})

    def _listed(self, what: str, scope: str, records: Records, kinds: Collection[str]) -> Iterator[SymbolRecord]:
        self._doubt_languages(what)
        return self._symbols_of(self._all_files(scope, records), kinds, _SUFFIXES_OF[what])

    def _all_files(self, scope: str, records: Records) -> Iterator[File]:
        if scope == "repository":
            return self.view.files()
        return self._files_of(records) if scope == "modules" else records

    def _docs(self, scope: str, records: Records) -> tuple[str, Records]:
        self._doubt_languages("documents")
        files = self._all_files(scope, records)
        return "documents", (
            FileRecord(self.view, file) for file in files if file.path.lower().endswith(_SUFFIXES_OF["documents"])
        )

    def _doc(self, scope: str, records: Records, path: str) -> tuple[str, Records]:
        file = self._one_file(path)
        self._doubt_languages("documents")
        return "documents", iter((FileRecord(self.view, file),))

    def _section(self, scope: str, records: Records, title: str) -> tuple[str, Records]:
        if scope == "documents":
            inside = self._symbols_of(records, {"section"})
        else:
            inside = (each for each in self._nested(records) if each.kind == "section")
        found = [record for record in inside if record.name == title]
        if not found:
            raise self._not_there("section", title, "documents")
        return "sections", iter(found)

    def _steps(self, scope: str, records: Records) -> tuple[str, Records]:
        return "sections", (each for each in self._nested(records) if each.kind == "workflow_step")

    def _workflow(self, scope: str, records: Records, name: str) -> tuple[str, Records]:
        raise self._not_there("workflow", name, "documents")

    def _nested(self, records: Records) -> Iterator[SymbolRecord]:
        for record in records:
            for symbol in walk.nested(self.snapshot, [record])[1:]:
                yield self.view.record(symbol)

    def _linked_symbols(self, scope: str, records: Records) -> tuple[str, Records]:
        keys = (edge.target for record in records for edge in walk.outgoing(self.snapshot, record.key) if edge.target.qualified)
        found = (self.view.symbol(key) for key in dict.fromkeys(keys))
        return "symbols", (record for record in found if record is not None)

    def _columns(self, scope: str, records: Records) -> tuple[str, Records]:
        return "tables", (each for each in self._inside(records) if each.kind == "column")

    def _referenced_by(self, scope: str, records: Records) -> tuple[str, Records]:
        return "symbols", self._related(records, 1, tuple(sorted(_USES_OF_TABLES)), backward=True)

    def _doubt_languages(self, what: str) -> None:
        self.found.doubts.append(lambda: _unread_languages(self.snapshot, what))

    def _not_there(self, what: str, name: str, of: str) -> UnknownSymbol:
        reason = _unread_languages(self.snapshot, of)
        hint = "" if isinstance(reason, bool) else str(reason["why"])
        return UnknownSymbol(f"there is no {what} {name!r} at {self.snapshot.at.rev}", hint=hint)


def _unread(paths: Sequence[str]) -> bool | Item:
    """A doubt about symbols of files that were not, or not wholly, read."""
    if not paths:
        return True
    count = f"{len(paths)} file{'s' * (len(paths) != 1)}"
    return {"why": f"{count} could not be read as a whole and may hold more", "unresolved": 0, "places": list(paths[:3])}


def _unread_languages(snapshot: Snapshot, what: str) -> bool | Item:
    """A doubt about things in files of a kind that no language reads."""
    suffixes = tuple(suffix for suffix in _SUFFIXES_OF[what] if suffix not in registry.SUFFIXES)
    passed = [path for path in snapshot.paths() if suffixes and path.lower().endswith(suffixes)]
    if not passed:
        return True
    return {
        "why": f"no language reads {' or '.join(suffixes)} files yet: what the {len(passed)} here hold is not known",
        "unresolved": 0,
        "places": passed[:3],
    }


def _possible(snapshot: Snapshot, starts: Sequence[SymbolRecord], known: Iterable[Edge], kinds: Sequence[str]) -> bool | Item:
    """A doubt about uses whose target is unknown and that have the name of one of the starts."""
    names = sorted({name for start in starts if start.index >= 0 for name in walk.names_of(snapshot, start)})
    named = f"named {names[0]}" if len(names) == 1 else "of these names"
    opened = walk.possible_uses(snapshot, names, known, kinds)
    return completeness(opened, f"references {named} whose target is unknown could be more uses")


def _open_in(snapshot: Snapshot, keys: Sequence[SymbolKey], kinds: Sequence[str]) -> bool | Item:
    """A doubt about what the starts use: references inside them whose target is unknown."""
    opened = walk.open_references(snapshot, keys, kinds)
    return completeness(opened, "references inside whose target is unknown could be more dependencies")


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
