"""What a formatter cannot change: a piece of source as canonical tokens, for comparing two states of one symbol.

Hashes (`syntax.token_hashes`) decide cheaply that nothing changed. Where they differ it may still be layout only: a
formatter also rewrites quotes, trailing commas, semicolons, redundant parentheses, keys of objects, spelling of numbers. So
the tree is asked. Parentheses are dropped while the nesting that they made is kept: ``a * (b + c)`` stays apart from
``a * b + c``, and ``return (x)`` becomes ``return x``.

What formatters do was read off their documentation: https://docs.astral.sh/ruff/formatter/ and
https://prettier.io/docs/rationale, and is tested by running ruff (`tests/test_diff.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from tokenzip.languages import syntax
from tokenzip.languages.shape.exports import IMPORTS, holds_import, passes_on, requires
from tokenzip.languages.shape.statements import Statement, same_statements
from tokenzip.languages.shape.walk import COMMENTS, Holes, Walk, plain_tokens
from tokenzip.languages.syntax import Node

GRAMMARS: dict[str, Any] = {"python": "python", "javascript": "tsx", "typescript": "typescript", "tsx": "tsx"}
"""Language -> grammar. JavaScript is read by the larger grammar of its family, so that Flow-like annotations hurt less."""
_NO_STATEMENT = IMPORTS | COMMENTS | {";", ","}
_DECLARATIONS = frozenset(
    {
        "lexical_declaration", "variable_declaration", "variable_declarator", "export_statement", "decorated_definition",
        "assignment", "augmented_assignment", "assignment_expression", "ambient_declaration", "pair",
    }
)  # fmt: skip


class Shape:
    """The canonical tokens of one source, by byte ranges."""

    def __init__(self, language: str, source: bytes) -> None:
        self._source = source
        self._language = language
        grammar = GRAMMARS.get(language)
        self._root = syntax.parse(grammar, source).root_node if grammar and _is_utf8(source) else None

    def tokens(self, start: int, end: int, holes: Iterable[tuple[int, int]] = (), name: str = "") -> tuple[str, ...]:
        """Canonical tokens from `start` to `end` without the `holes`; tokens that equal `name` stand for "itself"."""
        if start >= end:
            return ()
        if self._root is None:
            return plain_tokens(self._source, start, end, holes)
        out = Walk(self._source, start, end, Holes(holes)).run(self._root)
        return tuple("\0self" if token == name else token for token in out) if name else tuple(out)

    def statements(self, holes: Iterable[tuple[int, int]]) -> list[Statement]:
        """What a file does by itself: its statements without imports, exports, documentation and the `holes`.

        A declaration around a hole (``export const x =`` around ``x``) goes with it; a block around one (``if``) stays, and
        one around an import (``try``).
        """
        if self._root is None:
            tokens = plain_tokens(self._source, 0, len(self._source), holes)
            return [Statement(self._source, None, tokens)]
        cut = Holes(holes)
        out: list[Statement] = []
        pending: list[Node | Statement] = [child for child in reversed(self._root.children) if child.type not in COMMENTS]
        if self.documentation():
            pending.pop()
        while pending:
            node = pending.pop()
            if isinstance(node, Statement):
                out.append(node)
            elif node.type in _NO_STATEMENT or cut.hold(node.start_byte, node.end_byte) or passes_on(node) or requires(node):
                continue
            elif cut.touch(node.start_byte, node.end_byte):
                pending.extend(reversed(node.children) if node.type not in _DECLARATIONS else ())
            elif holds_import(node):
                pending.extend(reversed(self._opened(node)))
            else:
                out.append(Statement(self._source, node))
        return out

    def _opened(self, node: Node) -> list[Node | Statement]:
        """The parts of a statement, between the tokens that `Walk` puts around them."""
        if node.type == "block":
            return [*node.children]
        begin, end = (Statement(self._source, None, (token,)) for token in (f"<{node.type}", ">"))
        return [begin, *node.children, end]

    def documentation(self) -> str:
        """The documentation of the file itself, where the language has that: a string as the first statement in Python."""
        if self._root is None or self._language != "python":
            return ""
        first = next((child for child in self._root.children if child.type not in COMMENTS), None)
        return syntax.text(first, self._source) if first is not None and first.type == "string" else ""


def _is_utf8(source: bytes) -> bool:
    """Other encodings are compared word by word: offsets into the blob would not fit the tree of what was decoded."""
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


@functools.lru_cache(maxsize=4096)
def canonical_text(language: str, text: str, *, is_type: bool = False) -> str:
    """A written annotation, default or decorator without what a formatter may change in it."""
    if not text:
        return ""
    lead = "T = " if language == "python" else "type T = " if is_type else ""  # an expression alone may be a statement
    source = f"{lead}{text}".encode("utf-8", "surrogateescape")
    return " ".join(Shape(language, source).tokens(len(lead), len(source)))


__all__ = ["GRAMMARS", "Shape", "Statement", "canonical_text", "same_statements"]
