"""Steps from symbols: along their edges, and into them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokenzip import walk
from tokenzip.model import Edge, SymbolKey
from tokenzip.query.doubts import open_in, possible
from tokenzip.query.records import Reference, SymbolRecord
from tokenzip.query.work import Records, Work


class SymbolSteps(Work):
    """The method ``_<step>`` does what a step does from symbols of any kind."""

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
            self.found.doubts.append(lambda: possible(self.snapshot, starts, direct, kinds))
        else:
            self.found.doubts.append(lambda: open_in(self.snapshot, [start.key for start in starts], kinds))
        for node in walk.by_use(self.snapshot, found.values()):
            record = self.view.symbol(node.key, node.distance, node.edges)
            if record is not None:
                yield record

    def _references(self, scope: str, records: Records) -> tuple[str, Records]:
        return "references", self._places(records)

    def _places(self, records: Records) -> Iterator[Reference]:
        starts = list(records)
        edges = dict.fromkeys(edge for start in starts for edge in walk.incoming(self.snapshot, start.key))
        self.found.doubts.append(lambda: possible(self.snapshot, starts, edges, ()))
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
