"""Steps that any records can take, and those that several scopes share."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tokenzip.impact import DEPTH, DEPTH_OF_CHANGES, Reached, impact
from tokenzip.model import Change
from tokenzip.query import fields
from tokenzip.query.records import FileRecord, ModuleRecord, Reference
from tokenzip.query.steps import Step
from tokenzip.query.work import FIELDS, Records, Work


class AnySteps(Work):
    """The method ``_<step>`` does what a step does, whatever the scope."""

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
        module = self.one_module(name)
        paths = _path_field(scope).get
        return scope, (each for each in records if self.view.module_of(paths(self.view, each)) is module)

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
        paths = _path_field(scope).get
        found = {self.view.module_of(paths(self.view, record)).path: None for record in records}
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
        return "symbols", self.symbols_at(keys)


def _path_field(scope: str) -> fields.Field:
    """The field that says in which file a record lies."""
    return FIELDS[scope]["path" if scope in {"files", "documents"} else "file"]
