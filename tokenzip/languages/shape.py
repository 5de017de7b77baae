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
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tokenzip.languages import syntax
from tokenzip.languages.syntax import Node

GRAMMARS: dict[str, Any] = {"python": "python", "javascript": "tsx", "typescript": "typescript", "tsx": "tsx"}
"""Language -> grammar. JavaScript is read by the larger grammar of its family, so that Flow-like annotations hurt less."""
_COMMENTS = frozenset({"comment", "line_comment", "block_comment", "html_comment", "line_continuation"})
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
_KEYED = frozenset(
    {"pair", "property_signature", "method_signature", "method_definition", "public_field_definition", "pair_pattern"}
)
_IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})
_DECLARATIONS = frozenset(
    {
        "lexical_declaration", "variable_declaration", "variable_declarator", "export_statement", "decorated_definition",
        "assignment", "augmented_assignment", "assignment_expression", "ambient_declaration", "pair",
    }
)  # fmt: skip
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PLAIN_KEY = re.compile(r"[A-Za-z_$][\w$]*|0|[1-9]\d*")
_QUOTED = re.compile(r"([A-Za-z]*)(\"\"\"|'''|\"|')(.*)\2", re.DOTALL)
_DECIMAL = re.compile(r"\d[\d.]*|\.\d+")


class Shape:
    """The canonical tokens of one source, by byte ranges."""

    def __init__(self, language: str, source: bytes) -> None:
        self._source = source
        self._language = language
        grammar = GRAMMARS.get(language)
        self._root = syntax.parse(grammar, source).root_node if grammar else None

    def tokens(self, start: int, end: int, holes: Iterable[tuple[int, int]] = (), name: str = "") -> tuple[str, ...]:
        """Canonical tokens from `start` to `end` without the `holes`; tokens that equal `name` stand for "itself"."""
        if start >= end:
            return ()
        if self._root is None:
            return _plain_tokens(self._source, start, end, holes)
        out = list(_Walk(self._source, start, end, sorted(holes)).run(self._root))
        return tuple("\0self" if token == name else token for token in out) if name else tuple(out)

    def statements(self, holes: Iterable[tuple[int, int]]) -> tuple[str, ...]:
        """Canonical tokens of what a file does by itself: statements without imports, exports, documentation and the `holes`.

        A declaration around a hole (``export const x =`` around ``x``) goes with it; a block around one (``if``) stays.
        """
        if self._root is None:
            return _plain_tokens(self._source, 0, len(self._source), holes)
        cut = sorted(holes)
        out: list[str] = []
        pending = [child for child in reversed(self._root.children) if child.type not in _COMMENTS]
        if self.documentation():
            pending.pop()
        while pending:
            node = pending.pop()
            if node.type in _IMPORTS or node.type in _COMMENTS or node.type == ";" or _within(node, cut) or _passes_on(node):
                continue
            if not _overlaps(node, cut):
                out.extend(_Walk(self._source, node.start_byte, node.end_byte, ()).run(node))
            elif node.type not in _DECLARATIONS:
                pending.extend(reversed(node.children))
        return tuple(out)

    def documentation(self) -> str:
        """The documentation of the file itself, where the language has that: a string as the first statement in Python."""
        if self._root is None or self._language != "python":
            return ""
        first = next((child for child in self._root.children if child.type not in _COMMENTS), None)
        return syntax.text(first, self._source) if first is not None and first.type == "string" else ""


def _passes_on(node: Node) -> bool:
    """Whether a statement only exports names: ``export { a }``, ``export default a``, ``module.exports = { a, b: c }``."""
    if node.type == "export_statement":
        value = node.child_by_field_name("value")
        return node.child_by_field_name("declaration") is None and (value is None or value.type == "identifier")
    inner = node.named_children[0] if node.type == "expression_statement" and node.named_child_count else None
    while inner is not None and inner.type == "assignment_expression" and _is_export(inner.child_by_field_name("left")):
        inner = inner.child_by_field_name("right")
        if inner is not None and _is_names(inner):
            return True
    return False


def _is_export(target: Node | None) -> bool:
    written = target.text if target is not None else None
    return written is not None and re.match(rb"(?:module\s*\.\s*)?exports\b", written) is not None


def _is_names(value: Node) -> bool:
    """Names, or objects of names; what is required is a name too."""
    pending = [value]
    while pending:
        node = pending.pop()
        if node.type == "object":
            pending.extend(child for child in node.named_children if child.type not in _COMMENTS)
        elif node.type == "pair":
            value_of_pair = node.child_by_field_name("value")
            pending.extend([value_of_pair] if value_of_pair is not None else [])
        elif node.type == "call_expression":
            called = node.child_by_field_name("function")
            if called is None or called.text != b"require":
                return False
        elif node.type not in ("identifier", "shorthand_property_identifier", "member_expression"):
            return False
    return True


def _within(node: Node, holes: Sequence[tuple[int, int]]) -> bool:
    return any(start <= node.start_byte and node.end_byte <= end for start, end in holes)


def _overlaps(node: Node, holes: Sequence[tuple[int, int]]) -> bool:
    return any(start < node.end_byte and node.start_byte < end for start, end in holes)


def _plain_tokens(source: bytes, start: int, end: int, holes: Iterable[tuple[int, int]]) -> tuple[str, ...]:
    """Words and signs, for a language without a grammar here."""
    pieces, last = [], start
    for hole_start, hole_end in sorted(holes):
        pieces.append(source[last : max(last, hole_start)])
        last = max(last, hole_end)
    pieces.append(source[last:end])
    return tuple(re.findall(r"\w+|[^\w\s]", b" ".join(pieces).decode("utf-8", "replace")))


class _Walk:
    """One pass over the part of a tree that lies in a range."""

    def __init__(self, source: bytes, start: int, end: int, holes: Sequence[tuple[int, int]]) -> None:
        self._source, self._start, self._end, self._holes = source, start, end, holes
        self.out: list[str] = []

    def run(self, root: Node) -> list[str]:
        pending: list[Node | None] = [root]  # None: the end of a node whose beginning was marked
        while pending:
            node = pending.pop()
            if node is None:
                self.out.append(">")
            elif not self._is_outside(node):
                self._enter(node, pending)
        return self.out

    def _is_outside(self, node: Node) -> bool:
        start, end = node.start_byte, node.end_byte
        if end <= self._start or start >= self._end:
            return True
        return any(hole_start <= start and end <= hole_end for hole_start, hole_end in self._holes)

    def _enter(self, node: Node, pending: list[Node | None]) -> None:
        kind = node.type
        if kind in _COMMENTS:
            return
        special = _SPECIAL.get(kind)
        if special is not None:
            token = special(node, self._source)
            if token is not None:
                if token:
                    self.out.append(token)
                return
        children = node.children
        if not children:
            self.out.append(self._text(node))
            return
        kept = _kept(node, children)
        if (len(kept) > 1 or kind in _SAME) and kind not in _TRANSPARENT and node.start_byte >= self._start:
            self.out.append(f"<{_SAME.get(kind, kind)}")
            pending.append(None)
        pending.extend(reversed(kept))

    def _text(self, node: Node) -> str:
        return syntax.text(node, self._source)


def _kept(node: Node, children: Sequence[Node]) -> list[Node]:
    """The children without what a formatter may add or remove."""
    kind = node.type
    significant = [child for child in children if child.type not in _COMMENTS]
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


# Functions of this shape answer the one token that a node becomes, "" for none at all, None to go on into its children.
_Special = Callable[[Node, bytes], "str | None"]


def _string(node: Node, source: bytes) -> str | None:
    if any(child.type == "interpolation" for child in node.children):
        return None
    written = syntax.text(node, source)
    content = _string_content(written)
    parent = node.parent
    if parent is not None and parent.type in _KEYED and parent.children[0] == node and _PLAIN_KEY.fullmatch(content[1:]):
        return content[1:]
    return content


def _string_content(written: str) -> str:
    """Prefix, a quote, and the content without needless escapes: the same for ``u'it\\'s'`` and ``"it's"``."""
    parts = _QUOTED.fullmatch(written)
    if parts is None:
        return written
    prefix, _, content = parts.groups()
    return prefix.lower().replace("u", "") + '"' + _unescape(content)


def _unescape(content: str) -> str:
    return _ESCAPE.sub(lambda found: found[1] if found[1] in "'\"" else found[0], content)


def _string_start(node: Node, source: bytes) -> str:
    return syntax.text(node, source).rstrip("'\"").lower().replace("u", "") + '"'


def _concatenated(node: Node, source: bytes) -> str | None:
    """Adjacent plain literals are one literal."""
    parts = [_string_content(syntax.text(child, source)) for child in node.children if child.type == "string"]
    prefixes = {part.partition('"')[0] for part in parts}
    has_fields = any(part.type == "interpolation" for child in node.children for part in child.children)
    if has_fields or len(prefixes) != 1:
        return None
    return f'{prefixes.pop()}"' + "".join(part.partition('"')[2] for part in parts)


def _number(node: Node, source: bytes) -> str:
    """JavaScript has one kind of number: ``.50`` is ``0.5``, ``1.0`` is ``1``."""
    written = syntax.text(node, source).lower()
    if not _DECIMAL.fullmatch(written) or written.count(".") > 1 or (written[0] == "0" and written[1:2].isdigit()):
        return written
    whole, dot, fraction = written.partition(".")
    fraction = fraction.rstrip("0")
    return (whole or "0") + (dot + fraction if fraction else "")


def _jsx_text(node: Node, source: bytes) -> str:
    return " ".join(syntax.text(node, source).split())


def _jsx_expression(node: Node, source: bytes) -> str | None:
    """``{" "}`` is how a formatter keeps a space at the end of a line."""
    inner = [child for child in node.children if child.is_named]
    is_space = len(inner) == 1 and inner[0].type == "string" and not syntax.text(inner[0], source)[1:-1].strip()
    return "" if is_space else None


_SPECIAL: dict[str, _Special] = {
    "string": _string,
    "concatenated_string": _concatenated,
    "string_start": _string_start,
    "string_end": lambda node, source: '"',
    "string_content": lambda node, source: _unescape(syntax.text(node, source)),
    "template_string": syntax.text,
    "integer": lambda node, source: syntax.text(node, source).lower(),
    "float": lambda node, source: syntax.text(node, source).lower(),
    "number": _number,
    "jsx_text": _jsx_text,
    "jsx_expression": _jsx_expression,
}


@functools.lru_cache(maxsize=4096)
def canonical_text(language: str, text: str, *, is_type: bool = False) -> str:
    """A written annotation, default or decorator without what a formatter may change in it."""
    if not text:
        return ""
    lead = "type T = " if is_type and language in ("typescript", "tsx", "javascript") else ""
    source = f"{lead}{text}".encode("utf-8", "surrogateescape")
    return " ".join(Shape(language, source).tokens(len(lead), len(source)))
