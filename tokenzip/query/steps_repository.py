"""Steps from the repository as a whole, and from a commit."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from tokenzip import walk
from tokenzip.errors import UsageError
from tokenzip.model import Module, Symbol
from tokenzip.query.records import CommitRecord, FileRecord, ModuleRecord, View
from tokenzip.query.work import Records, Work, differences


class RepositorySteps(Work):
    """The method ``_repository_<step>`` does what a step does at the beginning of a chain."""

    def _repository_modules(self, scope: str, _: Records) -> tuple[str, Records]:
        return "modules", (ModuleRecord.of(self.view, module) for module in self.snapshot.modules().all())

    def _repository_module(self, scope: str, _: Records, name: str) -> tuple[str, Records]:
        return "modules", iter((ModuleRecord.of(self.view, self.one_module(name)),))

    def _repository_files(self, scope: str, _: Records) -> tuple[str, Records]:
        return "files", (FileRecord(self.view, file) for file in self.view.files())

    def _repository_file(self, scope: str, _: Records, path: str) -> tuple[str, Records]:
        return "files", iter((FileRecord(self.view, self.one_file(path)),))

    def _repository_symbols(self, scope: str, _: Records) -> tuple[str, Records]:
        return "symbols", self.symbols_of(self.view.files())

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
        return "changes", differences(base, head)
