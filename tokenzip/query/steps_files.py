"""Steps from modules and files: what lies in them, and what they use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokenzip import walk
from tokenzip.model import Edge, SymbolKey
from tokenzip.query.doubts import open_in
from tokenzip.query.records import FileRecord, ModuleRecord
from tokenzip.query.work import Records, Work


class FileSteps(Work):
    """The methods ``_modules_<step>`` and ``_files_<step>`` do what a step does from modules and from files."""

    def _modules_files(self, scope: str, records: Records) -> tuple[str, Records]:
        return "files", (FileRecord(self.view, file) for file in self.files_of(records))

    def _modules_symbols(self, scope: str, records: Records) -> tuple[str, Records]:
        return "symbols", self.symbols_of(self.files_of(records))

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

    def _files_symbols(self, scope: str, records: Records) -> tuple[str, Records]:
        return "symbols", self.symbols_of(records)

    _documents_symbols = _files_symbols

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
            self.found.doubts.append(lambda: open_in(self.snapshot, keys, kinds))
