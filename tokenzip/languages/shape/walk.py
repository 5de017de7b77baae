"""One pass over a part of a tree: which tokens it consists of."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from tokenzip.languages import syntax
from tokenzip.languages.shape.spellings import SPECIAL
from tokenzip.languages.syntax import Node

COMMENTS = frozenset({"comment", "line_comment", "block_comment", "html_comment", "line_continuation"})
_TRANSPARENT = frozenset(
    {
        "parenthesized_expression", "parenthesized_type", "with_clause", "union_type", "intersection_type", "ERROR", "block",
        "statement_block", "class_body", "interface_body", "object_type", "enum_body",
    }
)  # fmt: skip
"""Nodes that leave no trace of their own: a formatter may add or remove them, or the node above says the same."""
_SAME = dict.fromkeys(("tuple", "expression_list", "pattern_list", "tuple_pattern"), "tuple")
_WITHOUT_PARENTHESES = frozenset(
    {"parenthesized_expression", "parenthesized_type", "with_clause", "import_from_statement", *_SAME}
)
_CLOSERS = frozenset({")", "]", "}", ">"})
_FREE_SEPARATORS = frozenset({"interface_body", "object_type", "enum_body", "object"})
"""Where a comma says no more than a line end, or than the end of what stands before it."""


class Walk:
    """One pass over the part of a tree that lies in a range."""

    def __init__(self, source: bytes, start: int, end: int, holes: Holes) -> None:
        self.source, self._start, self._end, self._holes = source, start, end, holes

    def run(self, root: Node) -> list[str]:
        """All tokens."""
        out: list[str] = []
        pending: list[Node | str] = [root]
        while pending:
            item = pending.pop()
            if isinstance(item, str):
                out.append(item)
            elif not self._is_outside(item):
                self.enter(item, pending)
        return out

    def _is_outside(self, node: Node) -> bool:
        start, end = node.start_byte, node.end_byte
        return end <= self._start or start >= self._end or self._holes.hold(start, end)

    def enter(self, node: Node, pending: list[Node | str]) -> None:
        """Put what a node consists of on the stack, the first part on top."""
        kind = node.type
        if kind in COMMENTS:
            return
        special = SPECIAL.get(kind)
        if special is not None:
            parts = special(node, self.source)
            if parts is not None:
                pending.extend(reversed(parts))
                return
        children = node.children
        if not children:
            pending.append(syntax.text(node, self.source))
            return
        if kind == "arrow_function" and (body := node.child_by_field_name("body")) is not None:
            pending.extend(reversed(self._arrow(node, children, body)))
            return
        kept = _kept(node, children)
        is_tuple = kind in _SAME and (not kept or any(child.type == "," for child in children))
        if (len(kept) > 1 or is_tuple) and kind not in _TRANSPARENT and node.start_byte >= self._start:
            pending.append(">")
            pending.extend(reversed(kept))
            pending.append(f"<{_SAME.get(kind, kind)}")
            return
        pending.extend(reversed(kept))

    def _arrow(self, node: Node, children: Sequence[Node], body: Node) -> list[Node | str]:
        """``x => y`` is ``x => { return y }``."""
        parts: list[Node | str] = [child for child in children if child.type not in COMMENTS]
        if body.type != "statement_block" and not self._is_outside(body):
            parts[-1:] = ["{", "<return_statement", "return", body, ">", "}"]
        return ["<arrow_function", *parts, ">"] if node.start_byte >= self._start else parts


def _kept(node: Node, children: Sequence[Node]) -> list[Node]:
    """The children without what a formatter may add or remove."""
    kind = node.type
    significant = [child for child in children if child.type not in COMMENTS]
    bare = kind in _WITHOUT_PARENTHESES or _is_lone_parameter(node, significant)
    kept = []
    for place, child in enumerate(significant):
        sign = child.type
        if child.is_named:
            if child.child_count == 2 and _is_empty_call(kind, child):
                continue
        elif sign == ";":
            if kind != "for_statement":
                continue
        elif sign == ",":
            following = significant[place + 1].type if place + 1 < len(significant) else ")"
            if following in _CLOSERS or kind in _FREE_SEPARATORS:
                continue
        elif (sign in "()" and bare) or (place == 0 and sign in "|&" and kind in ("union_type", "intersection_type")):
            continue
        kept.append(child)
    return kept


def _is_empty_call(parent: str, child: Node) -> bool:
    """``class A():`` is ``class A:``, ``new A()`` is ``new A``."""
    return (parent == "class_definition" and child.type == "argument_list") or (
        parent == "new_expression" and child.type == "arguments"
    )


def _is_lone_parameter(node: Node, children: Sequence[Node]) -> bool:
    """``(x) => y`` is ``x => y``."""
    if node.type != "formal_parameters" or node.parent is None or node.parent.type != "arrow_function":
        return False
    named = [child for child in children if child.is_named]
    if len(named) != 1:
        return False
    inner = named[0].children[0] if named[0].type == "required_parameter" and named[0].child_count == 1 else named[0]
    return inner.type == "identifier"


class Holes:
    """Byte ranges to leave out, asked in logarithmic time: the largest end so far stands beside each start."""

    def __init__(self, ranges: Iterable[tuple[int, int]]) -> None:
        ordered = sorted(ranges)
        self._starts = [start for start, _ in ordered]
        self._ends = list(itertools.accumulate((end for _, end in ordered), max))

    def hold(self, start: int, end: int) -> bool:
        """Whether a range lies in one of them."""
        before = bisect_right(self._starts, start)
        return before > 0 and self._ends[before - 1] >= end

    def touch(self, start: int, end: int) -> bool:
        """Whether a range overlaps one of them."""
        before = bisect_left(self._starts, end)
        return before > 0 and self._ends[before - 1] > start


NO_HOLES = Holes(())
END = 1 << 62


def plain_tokens(source: bytes, start: int, end: int, holes: Iterable[tuple[int, int]]) -> tuple[str, ...]:
    """Words and signs, for a language without a grammar here."""
    pieces, last = [], start
    for hole_start, hole_end in sorted(holes):
        pieces.append(source[last : max(last, hole_start)])
        last = max(last, hole_end)
    pieces.append(source[last:end])
    return tuple(re.findall(r"\w+|[^\w\s]", b" ".join(pieces).decode("utf-8", "replace")))
