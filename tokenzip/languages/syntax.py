"""The only module that touches tree-sitter: parsers, text of nodes, walks that cannot overflow, hashes over tokens.

Grammars come from tree-sitter-language-pack 0.13: its Python grammar, for one, has no ``expression_statement`` (an
assignment lies directly in its block), so another line of the pack is another extractor version.
"""

from __future__ import annotations

import functools
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tree_sitter import Node, Parser, Tree
from tree_sitter_language_pack import SupportedLanguage, get_language

from tokenzip.model import ParseProblem

__all__ = ["Extent", "Node", "Tree", "kinds", "line_count", "parse", "parts", "problems", "text", "token_hashes", "walk"]

_WHITE = frozenset(b" \t\r\n\f")
_LINE_BREAK = 10
MAX_PROBLEMS = 20
"""Problems listed for one file; the last entry says how many more there are."""


@functools.cache
def _parser(grammar: SupportedLanguage) -> Parser:
    return Parser(get_language(grammar))


EXTRAS = frozenset({"comment", "line_continuation"})
"""Nodes that Python's grammar allows anywhere and that say nothing."""


def parse(grammar: SupportedLanguage, source: bytes) -> Tree:
    """The syntax tree of UTF-8 source. Always a tree: what does not parse is an ERROR or MISSING node in it."""
    return _parser(grammar).parse(source)


@functools.cache
def kinds(grammar: SupportedLanguage) -> dict[int, str]:
    """The node types of a grammar by `Node.kind_id`: cheaper than ``node.type``, which makes a new string each time."""
    language = get_language(grammar)
    found = {number: sys.intern(language.node_kind_for_id(number) or "") for number in range(language.node_kind_count)}
    return found | {0xFFFF: "ERROR", 0xFFFE: "ERROR"}  # ts_builtin_sym_error and its repeat


def text(node: Node, source: bytes) -> str:
    """The text of a node. `source` is what was parsed (asking the node itself costs three times as much)."""
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def parts(node: Node) -> list[Node]:
    """The named children without comments, which may stand anywhere."""
    return [child for child in node.named_children if child.type != "comment"]


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it in pre-order, without recursion."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(node.children))


def line_count(source: bytes) -> int:
    """Lines as editors count them: a last line without a line break counts, nothing after a last line break does not."""
    return source.count(b"\n") + (not source.endswith(b"\n") and bool(source))


def problems(root: Node, source: bytes) -> tuple[ParseProblem, ...]:
    """The syntax errors of a tree in order of lines, at most `MAX_PROBLEMS` and one line that counts the rest."""
    if not root.has_error:
        return ()
    found: list[ParseProblem] = []
    count = 0
    for node in _errors(root):
        count += 1
        if count <= MAX_PROBLEMS:
            found.append(ParseProblem(node.start_point[0] + 1, _message(node, source)))
    if count > MAX_PROBLEMS:
        found.append(ParseProblem(found[-1].line, f"and {count - MAX_PROBLEMS} more syntax errors"))
    return tuple(found)


def _errors(root: Node) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop()
        if node.is_missing or node.type == "ERROR":
            yield node
        elif node.has_error:
            pending.extend(reversed(node.children))


def _message(node: Node, source: bytes) -> str:
    if node.is_missing:
        return f"missing {node.type!r}"
    shown = text(node, source).split("\n", 1)[0].strip()
    return f"unexpected {shown[:40]!r}" if shown else "unexpected end of input"


class Extent(NamedTuple):
    """Where a symbol lies, in byte offsets; see `SymbolRow`. `name_start == name_end` if it has no name of its own."""

    start: int
    name_start: int
    name_end: int
    signature_end: int
    end: int
    doc_start: int = 0
    doc_end: int = 0


def token_hashes(
    source: bytes, extents: Sequence[Extent], marks: Iterable[tuple[int, int]], tokens: re.Pattern[bytes]
) -> list[tuple[int, int]]:
    """(signature hash, content hash) of each symbol: 32 bits over its tokens, own name and documentation left out.

    `tokens` matches one token at a time (with a group: what the group matches), and a NUL with the byte that follows it
    (``\\x00.``) as one token; what lies between, layout and comments, does not count. `marks` are (offset, control character)
    pairs, written over white space: they stand for structure that only layout shows, such as the ends of Python's blocks.

    One pass for the whole file: boundaries of symbols are written into the source behind NULs, the tokens found, and the
    result cut at the boundaries again. Asking the tree for its leaves would cost as much as parsing.
    """
    cuts = sorted({offset for extent in extents for offset in extent})
    pieces = _pieces(_marked(source, marks), cuts, tokens)
    place = {offset: index for index, offset in enumerate(cuts, 1)}
    for extent in extents:
        if extent.doc_end > extent.doc_start:
            for index in range(place[extent.doc_start], place[extent.doc_end]):
                pieces[index] = b""
    hashes = []
    crc, joined = zlib.crc32, b"".join
    for start, name_start, name_end, signature_end, end, _, _ in extents:
        before, after, head = place[name_start], place[name_end], place[signature_end]
        signature = crc(joined(pieces[after:head]), crc(joined(pieces[place[start] : min(before, head)])))
        hashes.append((signature, crc(joined(pieces[max(head, after) : place[end]]), signature)))
    return hashes


def _marked(source: bytes, marks: Iterable[tuple[int, int]]) -> bytearray:
    marked = bytearray(source)
    marked.append(_LINE_BREAK)
    for offset, mark in marks:
        if marked[offset] in _WHITE:
            marked[offset] = mark
    return marked


def _pieces(source: bytearray, cuts: Sequence[int], tokens: re.Pattern[bytes]) -> list[bytes]:
    """Normalised text before the first cut, between neighbouring cuts, and after the last: one more than there are cuts."""
    bounds = zip([0, *cuts], [*cuts, len(source)], strict=True)
    cut = b"\0|".join([source[start:end] for start, end in bounds])
    return (b" ".join(filter(None, tokens.findall(cut))) + b" ").split(b"\0| ")
