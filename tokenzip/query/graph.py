"""What a query finds as a graph."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tokenzip.impact import Reached
from tokenzip.items import Item
from tokenzip.model import Change, Edge, SymbolKey
from tokenzip.query.records import CommitRecord, FileRecord, ModuleRecord, Record, Reference, SymbolRecord, View
from tokenzip.query.work import Found


@dataclass(frozen=True, slots=True)
class Node:
    """A symbol, file, module or commit of a graph."""

    handle: str
    kind: str
    line: int = 0
    """Of the name of a symbol; 0 for what has none."""

    def item(self) -> Item:
        item: Item = {"handle": self.handle, "kind": self.kind}
        return {**item, "line": self.line} if self.line else item


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """All edges of one kind from one node, and what lies inside it, to another."""

    source: str
    target: str
    kind: str
    line: int
    """Of the first of them, in the source's file."""
    count: int

    def item(self) -> Item:
        item: Item = {"from": self.source, "to": self.target, "kind": self.kind, "line": self.line}
        return {**item, "count": self.count} if self.count > 1 else item


@dataclass(frozen=True, slots=True)
class Graph:
    """The records of a query as nodes, and the edges between them."""

    nodes: tuple[Node, ...]
    edges: tuple[GraphEdge, ...]

    def to_dict(self) -> dict[str, list[Item]]:
        return {"nodes": [node.item() for node in self.nodes], "edges": [edge.item() for edge in self.edges]}

    def to_mermaid(self) -> str:
        """A Mermaid flowchart; parallel edges are one arrow."""
        ids = {node.handle: f"n{number}" for number, node in enumerate(self.nodes)}
        lines = ["flowchart LR", *(f'  {ids[node.handle]}["{_mermaid(node.handle)}"]' for node in self.nodes)]
        labels: dict[tuple[str, str], list[str]] = {}
        for edge in self.edges:
            labels.setdefault((edge.source, edge.target), []).append(edge.kind)
        lines += [f"  {ids[source]} -->|{', '.join(kinds)}| {ids[target]}" for (source, target), kinds in labels.items()]
        return "\n".join(lines) + "\n"


def _mermaid(text: str) -> str:
    return printable(text).replace("#", "#35;").replace('"', "#quot;").replace("|", "#124;")


def graph_of(found: Found) -> Graph:
    """The graph of what a query finds.

    An edge belongs to the smallest node that it lies in: a call in a method to the method if that was found, else to its
    class, file or module. Edges by which a relation led to a record are shown with both their ends.
    """
    records: list[Record] = list(found.records)
    drawing = _Drawing(found.view)
    for record in records:
        drawing.add(record)
    return drawing.graph()


class _Drawing:
    """Nodes by the part of the code that they stand for, and what joins them."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._snapshot = view.snapshot
        self._nodes: dict[str, Node] = {}
        self._owners: dict[SymbolKey, str] = {}
        self._modules: dict[str, str] = {}
        self._led: list[Edge] = []
        self._between = True
        """Whether all edges between the nodes belong to the graph, or only those that led to them."""

    def add(self, record: Record) -> None:
        match record:
            case SymbolRecord():
                self._own(record.key, Node(record.handle, record.kind, record.line if record.index >= 0 else 0))
                self._led.extend(record.edges)
            case FileRecord():
                self._own(record.key, Node(record.path, "file"))
            case ModuleRecord():
                self._own_module(record.path)
                for edge in record.edges:
                    self._own_module(self._view.module_of(edge.source.path).path)
                    self._own_module(self._view.module_of(edge.target.path).path)
                self._led.extend(record.edges)
            case Reference():
                self._led.append(record.edge)
                self._between = False
            case Change():
                self._own(record.key, Node(record.handle, record.kind, record.line))
            case Reached():
                self._own(record.key, Node(record.handle, record.kind, record.line))
                self._led.extend(record.path[:1])
                self._between = False
            case CommitRecord():
                self._nodes[record.handle] = Node(record.handle, "commit")

    def _own(self, key: SymbolKey, node: Node) -> None:
        self._nodes[node.handle] = node
        self._owners[key] = node.handle

    def _own_module(self, path: str) -> None:
        handle = self._modules.setdefault(path, path or ".")
        self._nodes.setdefault(handle, Node(handle, "module"))

    def graph(self) -> Graph:
        for edge in self._led:
            for key in (edge.source, edge.target):
                if self._owner(key) is None:
                    symbol = self._snapshot.symbol(key)
                    self._own(key, Node(key.handle, "file") if symbol is None else Node(key.handle, symbol.kind, symbol.line))
        totals: dict[tuple[str, str, str], list[int]] = {}
        for edge in dict.fromkeys((*self._led, *self._inner_edges())):
            source, target = self._owner(edge.source), self._owner(edge.target)
            if source is not None and target is not None and source != target:
                totals.setdefault((source, target, edge.kind), []).append(edge.line)
        edges = tuple(GraphEdge(*ends, min(lines), len(lines)) for ends, lines in totals.items())
        return Graph(tuple(self._nodes.values()), edges)

    def _inner_edges(self) -> Iterator[Edge]:
        if self._between:
            for path in self._paths():
                yield from self._snapshot.file_edges(path)

    def _paths(self) -> list[str]:
        owned = {key.path for key in self._owners}
        if self._modules:
            owned.update(path for path in self._snapshot.paths() if self._view.module_of(path).path in self._modules)
        return sorted(owned)

    def _owner(self, key: SymbolKey) -> str | None:
        """The smallest node that a symbol lies in."""
        path, qualified = key
        while qualified:
            known = self._owners.get(SymbolKey(path, qualified))
            if known is not None:
                return known
            qualified = qualified.rpartition(".")[0]
        known = self._owners.get(SymbolKey(path))
        return known if known is not None else self._modules.get(self._view.module_of(path).path)


def printable(text: str) -> str:
    """The text with odd bytes of file names, and control characters, as escapes."""
    text = re.sub("[\udc80-\udcff]", lambda found: f"\\x{ord(found[0]) - 0xDC00:02x}", text)
    return re.sub("[\x00-\x1f\x7f-\x9f\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)
