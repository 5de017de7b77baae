"""The whole graph of a revision, line by line: neutral JSON lines, GraphML, Graphviz DOT and Mermaid."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from tokenzip.model import Edge, Symbol, SymbolKey
from tokenzip.operations.survey import resolved_shares, survey

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

FORMATS = ("edges", "graphml", "dot", "mermaid")
_INHERITANCE = frozenset({"inherits", "implements"})
_TYPES = frozenset({"class", "interface", "struct", "trait", "enum", "type_alias", "impl"})
"""Kinds between which inheritance is exported; a method that implements one of an interface is another relation."""
_LEFT_OUT = frozenset({"parameter", "generic_param", "import"})


def export(snapshot: Snapshot, form: str) -> Iterator[str]:
    """The lines of the graph in one of `FORMATS`, each with its line feed."""
    with snapshot.reading():
        yield from {"edges": edge_lines, "graphml": graphml_lines, "dot": dot_lines, "mermaid": mermaid_lines}[form](snapshot)


class _Names:
    """Line and last name of the ends of edges, with the files read once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def of(self, key: SymbolKey) -> tuple[int, str]:
        """The line of the name and the last part of the qualified name; (0, "") for a file."""
        symbol = self._snapshot.symbol(key) if key.qualified else None
        return (symbol.line, symbol.name) if symbol is not None else (0, "")

    def kind_of(self, key: SymbolKey) -> str:
        symbol = self._snapshot.symbol(key) if key.qualified else None
        return symbol.kind if symbol is not None else "file"


def edge_lines(snapshot: Snapshot) -> Iterator[str]:
    """Definitions, calls, imports and inheritance as JSON lines (``t``: def call import inherit), last the coverage.

    Lines are those of a definition's name, ``at`` that of the call; module level has line 0 and no name. A ``coverage``
    line says for each language how many references of all kinds have a target, and how many may have one and do not.
    """
    names = _Names(snapshot)
    for file in snapshot.files():
        if not file.is_source:
            continue
        for symbol in file.symbols:
            if symbol.kind not in _LEFT_OUT:
                yield _json({"t": "def", "file": file.path, "line": symbol.line, "name": symbol.name, "kind": symbol.kind})
        imported: set[str] = set()
        for edge in snapshot.file_edges(file.path):
            if edge.kind == "imports":
                if edge.target.path != file.path and edge.target.path not in imported:
                    imported.add(edge.target.path)
                    yield _json({"t": "import", "sf": file.path, "df": edge.target.path})
            elif edge.kind == "calls":
                yield _json({"t": "call", **_ends(names, edge), "at": edge.line})
            elif edge.kind in _INHERITANCE and names.kind_of(edge.source) in _TYPES:
                yield _json({"t": "inherit", **_ends(names, edge)})
    for language, resolved, unresolved, share in resolved_shares(survey(snapshot)):
        yield _json({"t": "coverage", "language": language, "resolved": resolved, "unresolved": unresolved, "share": share})


def _ends(names: _Names, edge: Edge) -> dict[str, str | int]:
    source_line, source_name = names.of(edge.source)
    target_line, target_name = names.of(edge.target)
    return {
        "sf": edge.source.path, "sl": source_line, "sn": source_name,
        "df": edge.target.path, "dl": target_line, "dn": target_name,
    }  # fmt: skip


def _json(record: dict[str, str | int | float]) -> str:
    return json.dumps(record, separators=(",", ":")) + "\n"


def _nodes(snapshot: Snapshot) -> Iterator[tuple[str, Symbol | None]]:
    for file in snapshot.files():
        if file.is_source:
            yield file.path, None
            for symbol in file.symbols:
                if symbol.kind not in _LEFT_OUT:
                    yield symbol.handle, symbol


def _edges(snapshot: Snapshot) -> Iterator[Edge]:
    for path in snapshot.paths():
        yield from snapshot.file_edges(path)


def graphml_lines(snapshot: Snapshot) -> Iterator[str]:
    """GraphML: nodes with kind, file and line, edges with kind, line and tier."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for name, kind, place in (
        ("kind", "string", "all"), ("file", "string", "node"), ("line", "int", "all"), ("tier", "string", "edge"),
    ):  # fmt: skip
        yield f'  <key id="{name}" for="{place}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '  <graph edgedefault="directed">\n'
    for handle, symbol in _nodes(snapshot):
        kind = symbol.kind if symbol is not None else "file"
        line = symbol.line if symbol is not None else 0
        path = handle.partition("::")[0]
        yield f"    <node id={_attribute(handle)}>{_data('kind', kind)}{_data('file', path)}{_data('line', line)}</node>\n"
    for edge in _edges(snapshot):
        ends = f"source={_attribute(edge.source.handle)} target={_attribute(edge.target.handle)}"
        yield f"    <edge {ends}>{_data('kind', edge.kind)}{_data('line', edge.line)}{_data('tier', edge.tier)}</edge>\n"
    yield "  </graph>\n</graphml>\n"


def _attribute(text: str) -> str:
    return quoteattr(_printable(text))


def _data(key: str, value: str | int) -> str:
    return f'<data key="{key}">{escape(_printable(str(value)))}</data>'


def _printable(text: str) -> str:
    """The text without what XML and UTF-8 cannot hold: odd bytes of names as ``\\xNN``, control characters likewise."""
    return "".join(_escaped(each) if each < " " or "\ud800" <= each <= "\udfff" else each for each in text)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\x{code:02x}"


def dot_lines(snapshot: Snapshot) -> Iterator[str]:
    """Graphviz DOT: the symbols of each file in a cluster."""
    yield 'digraph tokenzip {\n  rankdir=LR;\n  node [shape=box, fontname="monospace"];\n'
    for file in snapshot.files():
        if not file.is_source:
            continue
        name = _quoted(file.path)
        yield f"  subgraph {_quoted('cluster ' + file.path)} {{\n    label={name};\n    {name} [shape=note];\n"
        for symbol in file.symbols:
            if symbol.kind not in _LEFT_OUT:
                yield f"    {_quoted(symbol.handle)} [label={_quoted(symbol.qualified_name)}];\n"
        yield "  }\n"
    for edge in _edges(snapshot):
        yield f"  {_quoted(edge.source.handle)} -> {_quoted(edge.target.handle)} [label={_quoted(edge.kind)}];\n"
    yield "}\n"


def _quoted(text: str) -> str:
    return '"' + _printable(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def mermaid_lines(snapshot: Snapshot) -> Iterator[str]:
    """A Mermaid flowchart of files: an arrow for each pair of files with an edge, labelled with their number."""
    yield "flowchart LR\n"
    numbers: dict[str, int] = {}
    for path in snapshot.paths():
        counts: dict[str, int] = {}
        for edge in snapshot.file_edges(path):
            if edge.target.path != path:
                counts[edge.target.path] = counts.get(edge.target.path, 0) + 1
        for target, count in sorted(counts.items()):
            for end in (path, target):
                if end not in numbers:
                    numbers[end] = len(numbers)
                    label = _printable(end).replace("#", "#35;").replace('"', "#quot;")
                    yield f'  f{numbers[end]}["{label}"]\n'
            yield f"  f{numbers[path]} -->|{count}| f{numbers[target]}\n"
