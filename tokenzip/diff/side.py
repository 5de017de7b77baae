"""One end of a comparison: its files as trees of nodes, with source, details and canonical tokens read when asked for."""

from __future__ import annotations

import functools
import itertools
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from tokenzip.languages.shape import Shape, Statement
from tokenzip.model import NO_DETAIL, Flag, Symbol, SymbolDetail, SymbolKey, SymbolRow
from tokenzip.snapshot import File, Outline, Snapshot

_GROUPS = {
    "function": "callable", "method": "callable", "constructor": "callable", "macro": "callable",
    "stored_procedure": "callable", "class": "type", "interface": "type", "struct": "type", "trait": "type", "enum": "type",
    "type_alias": "type", "impl": "type", "variable": "value", "constant": "value", "property": "value",
    "enum_member": "value",
}  # fmt: skip
CONTAINERS = frozenset({"class", "interface", "struct", "trait", "enum", "impl", "namespace", "module_decl", "table", "file"})
"""Kinds whose body consists of members: what changes inside a member is the member's change."""
_NOT_COMPARED = frozenset({"import", "export", "parameter", "generic_param"})
_ORDINAL = re.compile(r"#\d+$")
_AUTO = re.compile(r"(?:\w+\.)?auto\(\)")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_DOC_ENDS = re.compile(r"^[a-zA-Z]{0,2}(?:\"\"\"|'''|\"|')|(?:\"\"\"|'''|\"|')$|^/\*+|\*+/$")
_DOC_MARK = re.compile(r"^\s*(?:\*|//+!?|#+)(?=\s|$)")


class Node:
    """A symbol at one end; or a whole file, which is the node above its symbols."""

    __slots__ = ("__dict__", "children", "file", "index", "parent", "symbol")

    def __init__(self, file: FileSide, symbol: Symbol | None, parent: Node | None) -> None:
        self.file = file
        self.symbol = symbol
        self.parent = parent
        self.index = -1 if symbol is None else symbol.index
        self.children: list[Node] = []

    def __repr__(self) -> str:
        return f"<{self.kind} {self.key.handle}>"

    @functools.cached_property
    def key(self) -> SymbolKey:
        return SymbolKey(self.file.path) if self.symbol is None else self.symbol.key

    @functools.cached_property
    def name(self) -> str:
        return posixpath.basename(self.file.path) if self.symbol is None else self.symbol.name

    @functools.cached_property
    def plain_name(self) -> str:
        """Qualified name without the ordinals that tell equal ones apart."""
        return "" if self.symbol is None else _ORDINAL.sub("", self.symbol.qualified_name)

    @functools.cached_property
    def kind(self) -> str:
        return "file" if self.symbol is None else self.symbol.kind

    @functools.cached_property
    def group(self) -> str:
        """Kinds of one group can turn into each other: a function into a method, a class into an interface."""
        return _GROUPS.get(self.kind, self.kind)

    @property
    def is_attribute(self) -> bool:
        """Whether it is read like an attribute: a value, or a method that is a property."""
        return self.group == "value" or bool(self.flags & Flag.PROPERTY)

    @functools.cached_property
    def flags(self) -> Flag:
        return Flag(0) if self.symbol is None else self.symbol.flags

    @functools.cached_property
    def is_local(self) -> bool:
        return bool(self.flags & Flag.LOCAL)

    @property
    def is_test(self) -> bool:
        return self.file.facts.is_test or bool(self.flags & (Flag.TEST | Flag.FIXTURE))

    @property
    def head(self) -> bytes:
        """The source up to the end of the signature; nothing for a file."""
        return b"" if self.symbol is None else self.file.source[self._row.start : self._row.signature_end]

    @functools.cached_property
    def is_arrow(self) -> bool:
        """Whether it is a function that is written with an arrow (JavaScript, TypeScript)."""
        return self.head.rstrip().endswith(b"=>")

    @functools.cached_property
    def counted_value(self) -> tuple[str, int] | None:
        """What the value of an enum's member is counted from, and how far, if it has none of its own; else None."""
        if self.parent is None or not self._is_counted:
            return None
        before = self.parent.children[: self.parent.children.index(self)]
        members = [node for node in before if node.kind == "enum_member"]
        distance = next((place for place, node in enumerate(reversed(members), 1) if not node._is_counted), 0)
        return (members[-distance].detail.value, distance) if distance else ("", len(members))

    @property
    def _is_counted(self) -> bool:
        value = self.detail.value
        return _AUTO.fullmatch(value) is not None if self.file.facts.language == "python" else not value

    @property
    def line(self) -> int:
        return 0 if self.symbol is None else self.symbol.line

    @property
    def hashes(self) -> tuple[int, int]:
        """(signature, content)."""
        return (0, 0) if self.symbol is None else (self.symbol.row.signature_hash, self.symbol.row.content_hash)

    @property
    def size(self) -> int:
        """Bytes of source."""
        return self.file.size if self.symbol is None else self.symbol.row.end - self.symbol.row.start

    @property
    def detail(self) -> SymbolDetail:
        return NO_DETAIL if self.symbol is None else self.file.detail(self.symbol.index)

    @functools.cached_property
    def documentation(self) -> str:
        """The words of the documentation: marks of comments and strings, wrapping and indentation left out."""
        if self.symbol is None:
            return _words(self.file.shape.documentation())
        row = self.symbol.row
        if row.doc_start >= row.doc_end:
            return ""
        return _words(self.file.source[row.doc_start : row.doc_end].decode("utf-8", "replace"))

    @functools.cached_property
    def signature_tokens(self) -> tuple[str, ...]:
        if self.symbol is None:
            return ()
        row = self.symbol.row
        return self.file.shape.tokens(row.start, row.signature_end, [(row.doc_start, row.doc_end)], row.name)

    @functools.cached_property
    def body_tokens(self) -> tuple[str, ...]:
        """Canonical tokens of what is this node's own: members of a container have bodies of their own."""
        if self.symbol is None:
            return ()
        row = self.symbol.row
        holes = [*self._foreign_ranges(), (row.doc_start, row.doc_end)]
        return self.file.shape.tokens(row.signature_end, row.end, holes, row.name)

    @functools.cached_property
    def statements(self) -> list[Statement]:
        """For a file: what it does by itself."""
        return self.file.shape.statements(self._foreign_ranges())

    @functools.cached_property
    def own_bytes(self) -> bytes:
        """The bytes of a file outside of its symbols: if they are equal, so is all that could be made of them."""
        source, pieces, last = self.file.source, [], 0
        for start, end in sorted(self._foreign_ranges()):
            pieces.append(source[last : max(last, start)])
            last = max(last, end)
        return b"\0".join([*pieces, source[last:]]) if pieces else source

    def _foreign_ranges(self) -> Iterator[tuple[int, int]]:
        """Where members lie, and the documentation of what is local to a function."""
        pending = list(self.children)
        while pending:
            child = pending.pop()
            assert child.symbol is not None
            if self.kind in CONTAINERS or not child.is_local:
                yield child.symbol.row.start, child.symbol.row.end
                pending.extend(inner for inner in child.children if not child.spans(inner))
            else:
                yield child.symbol.row.doc_start, child.symbol.row.doc_end
                pending.extend(child.children)

    def spans(self, other: Node) -> bool:
        """Whether another symbol is written inside this one: what is assigned to a prototype is not."""
        assert other.symbol is not None
        return self._row.start <= other.symbol.row.start and other.symbol.row.end <= self._row.end

    @functools.cached_property
    def words(self) -> tuple[str, ...]:
        """Words and signs of signature and body, without documentation and own name; comments are in it."""
        return (
            (*self._words(0, self._row.signature_end), *self._words(self._row.signature_end, self._row.end))
            if self.symbol
            else ()
        )

    @property
    def _row(self) -> SymbolRow:
        assert self.symbol is not None
        return self.symbol.row

    def _words(self, start: int, end: int) -> list[str]:
        row, source = self._row, self.file.source
        start = max(start, row.start)
        inside = start <= row.doc_start < row.doc_end <= end
        raw = source[start : row.doc_start] + source[row.doc_end : end] if inside else source[start:end]
        return [word for word in _TOKEN.findall(raw.decode("utf-8", "replace")) if word != row.name]

    @functools.cached_property
    def length(self) -> int:
        """Number of `words`."""
        return len(self.words)

    @functools.cached_property
    def bigrams(self) -> Bigrams:
        """What likeness is measured on."""
        return Bigrams(self.words)

    @functools.cached_property
    def body_bigrams(self) -> Bigrams:
        """The same of the body alone."""
        return Bigrams(self._words(self._row.signature_end, self._row.end))


class Bigrams:
    """Pairs of neighbouring words, counted."""

    __slots__ = ("counts", "total")

    def __init__(self, words: Sequence[str]) -> None:
        self.counts = Counter(itertools.pairwise(("", *words, "")))
        self.total = len(words) + 1

    def likeness(self, other: Bigrams) -> float:
        """Share of the pairs that both have (Dice), from 0 to 1; the same both ways round."""
        left, right = self.counts, other.counts
        if len(right) < len(left):
            left, right = right, left
        shared = 0
        for pair in left.keys() & right.keys():
            shared += min(left[pair], right[pair])
        return 2 * shared / (self.total + other.total)


def _words(text: str) -> str:
    """``/** A b.\\n * c */`` and ``\"\"\"A b. c\"\"\"`` alike are ``A b. c``."""
    stripped = _DOC_ENDS.sub("", text.strip())
    return " ".join(" ".join(_DOC_MARK.sub("", line) for line in stripped.splitlines()).split())


class FileSide:
    """One file at one end."""

    def __init__(self, side: Side, facts: File) -> None:
        self._side = side
        self.snapshot = side.snapshot
        self.facts = facts
        self.path = facts.path
        self.root = Node(self, None, None)
        self.nodes = self._nodes()

    def _nodes(self) -> list[Node]:
        nodes: list[Node] = []
        for symbol in self.facts.symbols:
            parent = nodes[symbol.row.parent] if 0 <= symbol.row.parent < len(nodes) else self.root
            node = Node(self, symbol, parent)
            nodes.append(node)
            if symbol.kind not in _NOT_COMPARED:
                parent.children.append(node)
        return nodes

    def named(self, qualified: str) -> Node | None:
        """The node of a qualified name with its ordinal; the file itself for an empty one."""
        return self._by_name.get(qualified) if qualified else self.root

    @functools.cached_property
    def _by_name(self) -> dict[str, Node]:
        return {node.symbol.qualified_name: node for node in self.nodes if node.symbol is not None}

    @property
    def is_read(self) -> bool:
        """Whether the symbols can be trusted to be all there are."""
        return self.facts.status in ("parsed", "partial")

    @functools.cached_property
    def size(self) -> int:
        """Bytes of source."""
        known = self._side.sources.get(self.path)
        return len(known) if known is not None else self.facts.size

    @functools.cached_property
    def source(self) -> bytes:
        known = self._side.sources.pop(self.path, None)
        return known if known is not None else self.snapshot.source(self.path)

    @functools.cached_property
    def shape(self) -> Shape:
        return Shape(self.facts.language or "", self.source)

    @functools.cached_property
    def _details(self) -> tuple[SymbolDetail, ...]:
        return self.snapshot.details(self.path)

    def detail(self, index: int) -> SymbolDetail:
        return self._details[index] if index < len(self._details) else NO_DETAIL


class Side:
    """One end of a comparison: a snapshot, read file by file."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._files: dict[str, FileSide | None] = {}
        self.sources: dict[str, bytes] = {}
        """Contents read ahead."""

    def read_ahead(self, paths: Sequence[str]) -> None:
        """Fetch the contents of some files in one go: one request a file would cost more than all else."""
        snapshot = self.snapshot
        if isinstance(snapshot, Outline):
            snapshot.read_ahead(paths)
            return
        found = (snapshot.tree_file(path) for path in paths if path not in snapshot.overlay)
        files = [file for file in found if file is not None and file.language is not None]
        for file, source in zip(files, snapshot.git.blobs(file.blob for file in files), strict=True):
            if source is not None:
                self.sources[file.path] = source

    def known(self, path: str) -> FileSide | None:
        """The file at a path if it was read already."""
        return self._files.get(path)

    def file(self, path: str) -> FileSide | None:
        if path not in self._files:
            facts = self.snapshot.file(path)
            self._files[path] = None if facts is None else FileSide(self, facts)
        return self._files[path]
