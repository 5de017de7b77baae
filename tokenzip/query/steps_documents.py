"""Steps from and to tables and documents, most of which wait for a language that reads such files."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tokenzip import walk
from tokenzip.errors import UnknownSymbol
from tokenzip.query.doubts import SUFFIXES_OF, unread_languages
from tokenzip.query.records import FileRecord, SymbolRecord
from tokenzip.query.steps_symbols import SymbolSteps
from tokenzip.query.work import Records
from tokenzip.snapshot import File

_TABLES = frozenset({"table", "view"})
_USES_OF_TABLES = frozenset({"reads", "modifies", "references", "foreign_key", "calls"})


class DocumentSteps(SymbolSteps):
    """The method ``_<step>`` does what a step does."""

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
        return self.symbols_of(self._all_files(scope, records), kinds, SUFFIXES_OF[what])

    def _all_files(self, scope: str, records: Records) -> Iterator[File]:
        if scope == "repository":
            return self.view.files()
        return self.files_of(records) if scope == "modules" else records

    def _docs(self, scope: str, records: Records) -> tuple[str, Records]:
        self._doubt_languages("documents")
        files = self._all_files(scope, records)
        return "documents", (
            FileRecord(self.view, file) for file in files if file.path.lower().endswith(SUFFIXES_OF["documents"])
        )

    def _doc(self, scope: str, records: Records, path: str) -> tuple[str, Records]:
        file = self.one_file(path)
        self._doubt_languages("documents")
        return "documents", iter((FileRecord(self.view, file),))

    def _section(self, scope: str, records: Records, title: str) -> tuple[str, Records]:
        if scope == "documents":
            inside = self.symbols_of(records, {"section"})
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
        return "symbols", self.symbols_at(keys)

    def _columns(self, scope: str, records: Records) -> tuple[str, Records]:
        return "tables", (each for each in self._inside(records) if each.kind == "column")

    def _referenced_by(self, scope: str, records: Records) -> tuple[str, Records]:
        return "symbols", self._related(records, 1, tuple(sorted(_USES_OF_TABLES)), backward=True)

    def _doubt_languages(self, what: str) -> None:
        self.found.doubts.append(lambda: unread_languages(self.snapshot, what))

    def _not_there(self, what: str, name: str, of: str) -> UnknownSymbol:
        reason = unread_languages(self.snapshot, of)
        hint = "" if isinstance(reason, bool) else str(reason["why"])
        return UnknownSymbol(f"there is no {what} {name!r} at {self.snapshot.at.rev}", hint=hint)
