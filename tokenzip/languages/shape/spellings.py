"""Literals, and the few other nodes that a formatter spells anew: their one spelling."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tokenzip.languages import syntax
from tokenzip.languages.syntax import Node

_KEYED = frozenset(
    {"pair", "property_signature", "method_signature", "method_definition", "public_field_definition", "pair_pattern"}
)
BY_PARENT = frozenset({"string", "formal_parameters"})
"""Nodes of which the tokens depend on what stands around them."""
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_PLAIN_KEY = re.compile(r"[A-Za-z_$][\w$]*|0|[1-9]\d*")
_QUOTED = re.compile(r"([A-Za-z]*)(\"\"\"|'''|\"|')(.*)\2", re.DOTALL)
_DECIMAL = re.compile(r"\d[\d.]*|\.\d+")
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


SPECIAL: dict[str, _Special] = {
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
