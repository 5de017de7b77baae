"""Statements side by side: what a file does by itself, compared as far as the first token that differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tokenzip.languages.shape.spellings import BY_PARENT
from tokenzip.languages.shape.walk import END, NO_HOLES, Walk
from tokenzip.languages.syntax import Node


class Statement(NamedTuple):
    """One statement as it stands: a node of a tree, or plain tokens (without a grammar all of the file)."""

    source: bytes
    node: Node | None
    plain: tuple[str, ...] = ()

    @property
    def written(self) -> bytes:
        return " ".join(self.plain).encode() if self.node is None else self.source[self.node.start_byte : self.node.end_byte]


def same_statements(one: Sequence[Statement], other: Sequence[Statement]) -> bool:
    """Whether two lists of statements have the same canonical tokens. Only what is written otherwise is looked into."""
    left, right = _written_otherwise(one, other)
    return _Sides(left, right).are_same() if left or right else True


def _written_otherwise(one: Sequence[Statement], other: Sequence[Statement]) -> tuple[list[Statement], list[Statement]]:
    """Both lists without what they have in common at their beginnings and ends."""
    start, end, shorter = 0, 0, min(len(one), len(other))
    while start < shorter and one[start].written == other[start].written:
        start += 1
    while end < shorter - start and one[-1 - end].written == other[-1 - end].written:
        end += 1
    return list(one[start : len(one) - end]), list(other[start : len(other) - end])


class _Sides:
    """Two lists of statements, read side by side as far as the first token that differs.

    What is written the same way on both sides need not be entered, which spares nearly all of a long block.
    """

    def __init__(self, one: Sequence[Statement], other: Sequence[Statement]) -> None:
        self._pending = (_pending(one), _pending(other))
        self._walks = tuple(Walk(side[0].source if side else b"", 0, END, NO_HOLES) for side in (one, other))

    def are_same(self) -> bool:
        """Whether all tokens are equal."""
        left, right = self._pending
        while left and right:
            one, other = left[-1], right[-1]
            if isinstance(one, str) and isinstance(other, str):
                if one != other:
                    return False
            elif isinstance(one, str) or isinstance(other, str) or not self._is_written_alike(one, other):
                self._open(one, other)
                continue
            left.pop()
            right.pop()
        return not any(self._rest(number) for number in (0, 1))

    def _is_written_alike(self, one: Node, other: Node) -> bool:
        """Whether two nodes have equal tokens because they have equal bytes."""
        if one.type != other.type or one.type in BY_PARENT:
            return False
        start, end, other_start, other_end = one.start_byte, one.end_byte, other.start_byte, other.end_byte
        if end - start != other_end - other_start or one.has_error or other.has_error:
            return False
        return self._walks[0].source[start:end] == self._walks[1].source[other_start:other_end]

    def _open(self, one: Node | str, other: Node | str) -> None:
        """Replace what stands for more by its parts; both, if they are of one kind."""
        sizes = [0 if isinstance(item, str) else item.end_byte - item.start_byte + 1 for item in (one, other)]
        alike = not isinstance(one, str) and not isinstance(other, str) and one.type == other.type
        if alike or sizes[0] >= sizes[1]:
            self._enter(0)
        if alike or sizes[1] > sizes[0]:
            self._enter(1)

    def _enter(self, number: int) -> None:
        node = self._pending[number].pop()
        assert not isinstance(node, str)
        self._walks[number].enter(node, self._pending[number])

    def _rest(self, number: int) -> bool:
        """Whether a token is left on one side; there are nodes without any."""
        pending = self._pending[number]
        while pending and not isinstance(pending[-1], str):
            self._enter(number)
        return bool(pending)


def _pending(statements: Sequence[Statement]) -> list[Node | str]:
    """A stack of them, the first on top."""
    out: list[Node | str] = []
    for statement in reversed(statements):
        out.extend(reversed(statement.plain) if statement.node is None else (statement.node,))
    return out
