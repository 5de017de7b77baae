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
import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

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
_NO_STATEMENT = _IMPORTS | _COMMENTS | {";", ","}
_DECLARATIONS = frozenset(
    {
        "lexical_declaration", "variable_declaration", "variable_declarator", "export_statement", "decorated_definition",
        "assignment", "augmented_assignment", "assignment_expression", "ambient_declaration", "pair",
    }
)  # fmt: skip
_BY_PARENT = frozenset({"string", "formal_parameters"})
"""Nodes of which the tokens depend on what stands around them."""
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_PLAIN_KEY = re.compile(r"[A-Za-z_$][\w$]*|0|[1-9]\d*")
_QUOTED = re.compile(r"([A-Za-z]*)(\"\"\"|'''|\"|')(.*)\2", re.DOTALL)
_DECIMAL = re.compile(r"\d[\d.]*|\.\d+")


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
            return _plain_tokens(self._source, start, end, holes)
        out = _Walk(self._source, start, end, _Holes(holes)).run(self._root)
        return tuple("\0self" if token == name else token for token in out) if name else tuple(out)

    def statements(self, holes: Iterable[tuple[int, int]]) -> list[Statement]:
        """What a file does by itself: its statements without imports, exports, documentation and the `holes`.

        A declaration around a hole (``export const x =`` around ``x``) goes with it; a block around one (``if``) stays.
        """
        if self._root is None:
            tokens = _plain_tokens(self._source, 0, len(self._source), holes)
            return [Statement(self._source, None, tokens)]
        cut = _Holes(holes)
        out: list[Statement] = []
        pending = [child for child in reversed(self._root.children) if child.type not in _COMMENTS]
        if self.documentation():
            pending.pop()
        while pending:
            node = pending.pop()
            if node.type in _NO_STATEMENT or cut.hold(node.start_byte, node.end_byte) or _passes_on(node) or _requires(node):
                continue
            if not cut.touch(node.start_byte, node.end_byte):
                out.append(Statement(self._source, node))
            elif node.type not in _DECLARATIONS:
                pending.extend(reversed(node.children))
        return out

    def documentation(self) -> str:
        """The documentation of the file itself, where the language has that: a string as the first statement in Python."""
        if self._root is None or self._language != "python":
            return ""
        first = next((child for child in self._root.children if child.type not in _COMMENTS), None)
        return syntax.text(first, self._source) if first is not None and first.type == "string" else ""


class Statement(NamedTuple):
    """One statement as it stands: a node of a tree, or without a grammar all tokens of the file."""

    source: bytes
    node: Node | None
    plain: tuple[str, ...] = ()

    @property
    def written(self) -> bytes:
        return self.source if self.node is None else self.source[self.node.start_byte : self.node.end_byte]


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
        self._walks = tuple(_Walk(side[0].source if side else b"", 0, _END, _NO_HOLES) for side in (one, other))

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
        if one.type != other.type or one.type in _BY_PARENT:
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


def _requires(node: Node) -> bool:
    """Whether a statement is an import in another spelling: ``const a = require('b')``, ``const { c } = require('d').e``."""
    if node.type not in ("lexical_declaration", "variable_declaration"):
        return False
    values = [child.child_by_field_name("value") for child in node.named_children if child.type == "variable_declarator"]
    return bool(values) and all(value is not None and _is_required(value) for value in values)


def _is_required(value: Node) -> bool:
    """Whether it is ``require(...)`` or a member of that."""
    while value.type == "member_expression":
        inner = value.child_by_field_name("object")
        if inner is None:
            return False
        value = inner
    called = value.child_by_field_name("function") if value.type == "call_expression" else None
    return called is not None and called.text == b"require"


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


def _is_utf8(source: bytes) -> bool:
    """Other encodings are compared word by word: offsets into the blob would not fit the tree of what was decoded."""
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class _Holes:
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


_NO_HOLES = _Holes(())
_END = 1 << 62


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

    def __init__(self, source: bytes, start: int, end: int, holes: _Holes) -> None:
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
        if kind in _COMMENTS:
            return
        special = _SPECIAL.get(kind)
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
        parts: list[Node | str] = [child for child in children if child.type not in _COMMENTS]
        if body.type != "statement_block" and not self._is_outside(body):
            parts[-1:] = ["{", "<return_statement", "return", body, ">", "}"]
        return ["<arrow_function", *parts, ">"] if node.start_byte >= self._start else parts


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


# Functions of this shape answer what a node becomes: tokens, and nodes to go on into; None: its children, as usual.
_Special = Callable[[Node, bytes], "list[str | Node] | None"]


def _string(node: Node, source: bytes) -> list[str | Node]:
    """One literal, or several side by side, which are one: a prefix, then text and fields in turn.

    The same for ``u'it\\'s'`` and ``"it's"``, for ``"a" f"{b}"`` and ``f"a{b}"``.
    """
    strings = [child for child in node.children if child.type == "string"] if node.type == "concatenated_string" else [node]
    prefixes = [_prefix(string, source) for string in strings]
    if len({prefix.replace("f", "") for prefix in prefixes}) > 1:
        return [part for string in strings for part in _string(string, source)]
    prefix = max(prefixes, key=len)
    parts: list[str | Node] = [f'{prefix}"']
    for string, own in zip(strings, prefixes, strict=True):
        for part in _pieces(string, source):
            if isinstance(part, str):
                text = part if "r" in prefix else _unescape(part)
                text = text if "f" in own or "f" not in prefix else text.replace("{", "{{").replace("}", "}}")
                if isinstance(parts[-1], str):
                    parts[-1] += text
                else:
                    parts.append(text)
            else:
                parts.append(part)
    return parts if len(parts) > 1 or not _is_plain_key(node, parts[0]) else [str(parts[0])[1:]]


def _prefix(string: Node, source: bytes) -> str:
    """The letters before the quote, in one order; ``u`` says nothing."""
    letters = re.match(r"[A-Za-z]*", syntax.text(string, source))
    return "".join(sorted(letters[0].lower().replace("u", ""))) if letters else ""


def _pieces(string: Node, source: bytes) -> Iterator[str | Node]:
    """Text between the quotes and the fields (``{...}``) in it, in order."""
    written = syntax.text(string, source)
    fields = [child for child in string.children if child.type in ("interpolation", "template_substitution")]
    if not fields:
        quoted = _QUOTED.fullmatch(written)
        yield _one_line_end(quoted[3] if quoted else written)
        return
    start, end = string.children[0].end_byte, string.children[-1].start_byte
    for field in fields:
        yield _one_line_end(source[start : field.start_byte].decode("utf-8", "replace"))
        yield field
        start = field.end_byte
    yield _one_line_end(source[start:end].decode("utf-8", "replace"))


def _one_line_end(text: str) -> str:
    return text.replace("\r\n", "\n")


def _is_plain_key(node: Node, literal: str | Node) -> bool:
    """Whether a string is the key of an object that needs no quotes."""
    parent = node.parent
    is_key = parent is not None and parent.type in _KEYED and parent.children[0] == node
    return is_key and isinstance(literal, str) and _PLAIN_KEY.fullmatch(literal[1:]) is not None


def _unescape(content: str) -> str:
    """Without needless escapes of quotes; digits of escapes in lower case."""
    return _ESCAPE.sub(_one_escape, content)


def _one_escape(found: re.Match[str]) -> str:
    if found[1] in "'\"":
        return found[1]
    return found[0].lower() if found[1][0] in "xuU" else found[0]


def _python_number(node: Node, source: bytes) -> list[str | Node]:
    """``24.`` is ``24.0``, ``.5`` is ``0.5``; a float stays apart from an integer."""
    written = syntax.text(node, source).lower().replace("e+", "e")
    mantissa = re.match(r"[\d_]*\.[\d_]*", written)
    if mantissa is None:
        return [written]
    whole, _, fraction = mantissa[0].partition(".")
    return [f"{whole or '0'}.{fraction or '0'}{written[mantissa.end() :]}"]


def _number(node: Node, source: bytes) -> list[str | Node]:
    """JavaScript has one kind of number: ``.50`` is ``0.5``, ``1.0`` is ``1``."""
    written = syntax.text(node, source).lower()
    if not _DECIMAL.fullmatch(written) or written.count(".") > 1 or (written[0] == "0" and written[1:2].isdigit()):
        return [written]
    whole, dot, fraction = written.partition(".")
    fraction = fraction.rstrip("0")
    return [(whole or "0") + (dot + fraction if fraction else "")]


def _for(node: Node, source: bytes) -> list[str | Node]:
    """Which parts of a ``for (;;)`` are there, since its semicolons are not kept."""
    parts = {name: node.child_by_field_name(name) for name in ("initializer", "condition", "increment", "body")}
    there = {name: part for name, part in parts.items() if part is not None and part.type not in (";", "empty_statement")}
    return ["for:" + ",".join(there), *there.values(), ";"]


def _jsx_text(node: Node, source: bytes) -> list[str | Node]:
    words = " ".join(syntax.text(node, source).split())
    return [words] if words else []


def _jsx_expression(node: Node, source: bytes) -> list[str | Node] | None:
    """``{" "}`` is how a formatter keeps a space at the end of a line."""
    inner = [child for child in node.children if child.is_named]
    is_space = len(inner) == 1 and inner[0].type == "string" and not syntax.text(inner[0], source)[1:-1].strip()
    return [] if is_space else None


_SPECIAL: dict[str, _Special] = {
    "string": _string,
    "concatenated_string": _string,
    "template_string": lambda node, source: ["`", *_pieces(node, source), "`"],
    "integer": _python_number,
    "float": _python_number,
    "number": _number,
    "for_statement": lambda node, source: _for(node, source) if node.child_by_field_name("condition") else None,
    "jsx_text": _jsx_text,
    "jsx_expression": _jsx_expression,
}


@functools.lru_cache(maxsize=4096)
def canonical_text(language: str, text: str, *, is_type: bool = False) -> str:
    """A written annotation, default or decorator without what a formatter may change in it."""
    if not text:
        return ""
    lead = "T = " if language == "python" else "type T = " if is_type else ""  # an expression alone may be a statement
    source = f"{lead}{text}".encode("utf-8", "surrogateescape")
    return " ".join(Shape(language, source).tokens(len(lead), len(source)))
