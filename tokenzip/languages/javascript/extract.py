"""What one file of JavaScript or TypeScript says: a function of its bytes alone."""

from __future__ import annotations

import bisect
import re
import sys
from collections.abc import Iterable
from typing import Any, Literal

from tokenzip.languages import content, syntax
from tokenzip.languages.base import uncollected
from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.javascript.components import Component, Framework, take_apart
from tokenzip.languages.javascript.modules import Modules
from tokenzip.languages.javascript.pack import Packer
from tokenzip.languages.javascript.repair import repaired
from tokenzip.languages.javascript.scopes import Definition, Expr
from tokenzip.languages.syntax import Extent, Node
from tokenzip.model import FileIR, Interface, ParseProblem, Status, SymbolRow

Grammar = Literal["javascript", "typescript", "tsx"]
# The walk recurses over nesting, at most MAX_DEPTH levels of some ten calls each; Python's own limit would end it earlier.
sys.setrecursionlimit(max(sys.getrecursionlimit(), 8000))

# Classes are spelled out and white space goes with the token before it: see the tokens of Python.
_WORD, _BLANK = rb"0-9A-Z_a-z", rb" \t\n\r\f\v"
_TOKENS = re.compile(
    rb"([" + _WORD + rb"$#@]++|[^" + _BLANK + _WORD + rb"/\"'`\x00]|\x00."
    rb"|\"[^\"\\\n\x00]*(?:\\.[^\"\\\n\x00]*)*\"|'[^'\\\n\x00]*(?:\\.[^'\\\n\x00]*)*'"
    rb"|`[^`\x00]*`|/(?![/*])|[\"'`])[" + _BLANK + rb"]*+|//[^\n]*+|/\*.*?\*/",
    re.DOTALL,
)
_NAMESPACES = frozenset({"namespace", "module_decl"})
_NEWLINE = re.compile(rb"\n")


def extract(grammar: Grammar, source: bytes, framework: Framework | None = None) -> FileIR:
    """Interface, symbols and body of a file. Never raises: what cannot be read is said in the status.

    In the single-file components of a `framework` the scripts say which grammar they are in.
    """
    lines = syntax.line_count(source)
    refused = content.refusal(source)
    generated = content.is_generated(source)
    if refused is not None:
        return FileIR("skipped", lines, reason=refused, generated=generated or refused in ("minified", "bundled by a program"))
    utf8, codec = content.as_utf8(source)
    try:
        with uncollected():
            component = take_apart(framework, utf8) if framework is not None else None
            return _extracted(grammar, source, utf8, codec, lines, generated, component)
    except RecursionError:
        return FileIR("failed", lines, reason="nested too deeply", generated=generated)


def definitions(grammar: Grammar, source: bytes, framework: Framework | None = None) -> list[Definition]:
    """The definitions behind `FileIR.symbols`, in their order, with the nodes that declare them; for those who look closely."""
    if content.refusal(source) is not None:
        return []
    utf8, _ = content.as_utf8(source)
    component = take_apart(framework, utf8) if framework is not None else None
    return _ordered(_walked(grammar, utf8, component)[0])


def _walked(grammar: Grammar, utf8: bytes, component: Component | None) -> tuple[Modules, Node]:
    if component is None:
        root = _parse(grammar, utf8)
        walk = Modules(utf8)
        walk.program(root)
        return walk, root
    root = _parse(component.grammar, component.script)
    walk = Modules(component.script)
    walk.is_module = True
    walk.program(root)
    component.add_to(walk, root)
    return walk, root


def _extracted(
    grammar: Grammar, source: bytes, utf8: bytes, codec: str | None, lines: int, generated: bool, component: Component | None
) -> FileIR:
    walk, root = _walked(grammar, utf8, component)
    problems = list(syntax.problems(root, walk.source))
    if walk.too_deep:
        problems.append(ParseProblem(walk.too_deep, "nested too deeply: what lies deeper is left out"))
    status: Status = "partial" if problems else "parsed"
    visible = _ordered(walk)
    _mark_exports(walk)
    _resolve_flows(walk)
    rows = _rows(walk, visible, root, utf8, source, codec)
    if component is not None:
        rows = tuple([
            row._replace(content_hash=component.digest(row.content_hash)) if row.flags & bits.DEFAULT_EXPORT else row
            for row in rows
        ])  # fmt: skip
    interface, body = _pack(walk)
    reason = problems[0].message if problems else None
    return FileIR(status, lines, interface, rows, body, tuple(problems), reason, generated)


def _parse(grammar: Grammar, source: bytes) -> Node:
    """The syntax tree; of the repaired source where that has fewer errors."""
    root = syntax.parse(grammar, source).root_node
    if not root.has_error or grammar == "javascript":
        return root
    mended = repaired(source)
    if mended is source:
        return root
    other = syntax.parse(grammar, mended).root_node
    if other.has_error and len(syntax.problems(other, mended)) > len(syntax.problems(root, source)):
        return root
    return other


def _ordered(walk: Modules) -> list[Definition]:
    """The definitions that are symbols, in file order, with index and qualified name; the others get a name too."""
    visible = [one for one in walk.definitions if not one.hidden]
    visible.sort(key=lambda one: (one.start, -one.end, one.order))
    seen: dict[str, int] = {}
    for index, one in enumerate(visible):
        one.index = index
    for one in visible:
        one.plain = _plain_name(one)
        count = seen[one.plain] = seen.get(one.plain, 0) + 1
        one.qualified = one.plain if count == 1 else f"{one.plain}#{count}"
    for one in walk.definitions:
        if one.hidden:
            parent = one.visible_parent()
            plain = f"{parent.qualified}.~{one.name}" if parent is not None else f"~{one.name}"
            count = seen[plain] = seen.get(plain, 0) + 1
            one.qualified = plain if count == 1 else f"{plain}#{count}"
    return visible


def _plain_name(one: Definition) -> str:
    names = [one.name]
    parent = one.visible_parent()
    while parent is not None:
        names.append(parent.name)
        parent = parent.visible_parent()
    return ".".join(reversed(names))


def _mark_exports(walk: Modules) -> None:
    """What other files can reach: exported names, what CommonJS hands out, and the members of both."""
    for name, entries in walk.exports.items():
        flag = bits.EXPORTED | bits.DEFAULT_EXPORT if name == "default" else bits.EXPORTED
        for entry in entries:
            for one in _named(walk, entry):
                one.flags |= flag
    values = list(walk.module_values)
    if walk.exports_object is not None:
        values.append(walk.make("d", walk.exports_object.order))
    for value in values:
        for one in _behind(walk, value):
            one.flags |= bits.EXPORTED
            for entries in one.members.values() if one.kind == "object" else ():
                for entry in entries:
                    for member in (*_named(walk, entry), *(_behind(walk, entry[1]) if entry[0] in ("v", "s") else ())):
                        member.flags |= bits.EXPORTED
    for one in walk.definitions:
        parent = one.visible_parent()
        if parent is not None and parent.flags & bits.EXPORTED and not one.flags & (bits.LOCAL | bits.PRIVATE):
            one.flags |= bits.EXPORTED if parent.kind not in _NAMESPACES else 0


def _named(walk: Modules, entry: Expr) -> list[Definition]:
    """The definitions that an entry of a name stands for."""
    if entry[0] == "d":
        return [walk.definitions[entry[1]]]
    if entry[0] in ("v", "s"):
        return [walk.definitions[entry[2]]] if entry[2] is not None else []
    if entry[0] == "l":
        return [one for inner in walk.names.get(entry[1], ()) if inner[0] != "l" for one in _named(walk, inner)]
    return []


def _behind(walk: Modules, value: int) -> list[Definition]:
    if value < 0:
        return []
    parts = walk.exprs[value]
    if parts[0] == "d":
        return [walk.definitions[parts[1]]]
    return _named(walk, ("l", parts[1])) if parts[0] == "g" else []


def _resolve_flows(walk: Modules) -> None:
    """Hands what calls in this file pass to the parameters that receive it.

    What a parameter is called with comes last: it says something of functions alone that no call names with a value.
    """
    of_parameters: list[tuple[int, list[int]]] = []
    for callee, values in walk.flows:
        if walk.exprs[callee][0] == "p":
            of_parameters.append((callee, values))
            continue
        for target in _called(walk, callee):
            _hand_over(walk, target, values, _NOTHING_SETTLED)
    if of_parameters:
        settled = frozenset([(one.order, position) for one in walk.definitions for position in one.flows])
        for callee, values in of_parameters:
            for target in _called(walk, callee):
                _hand_over(walk, target, values, settled)


_NOTHING_SETTLED: frozenset[tuple[int, int]] = frozenset()


def _hand_over(walk: Modules, target: Definition, values: list[int], settled: frozenset[tuple[int, int]]) -> None:
    """One call's values for the parameters of what it calls, but for those that are settled (definition, position)."""
    if target.kind == "class":
        entry = next(iter(target.members.get("constructor", ())), None)
        if entry is None or entry[0] != "d":
            return
        target = walk.definitions[entry[1]]
    for position, parameter in enumerate(target.params):
        if parameter[1] >= 0 or (target.order, position) in settled:
            continue
        if parameter[3] & 1:
            value = walk.make("r", tuple(values[position:]), 0)
        else:
            value = values[position] if position < len(values) else parameter[2]
        flows = target.flows.setdefault(position, [])
        if value >= 0 and value not in flows:
            flows.append(value)


def _called(walk: Modules, callee: int) -> list[Definition]:
    """The functions and classes of this file that a call reaches, as far as names show."""
    parts = walk.exprs[callee]
    if parts[0] == "d":
        return [walk.definitions[parts[1]]]
    if parts[0] == "g":
        return [walk.definitions[entry[1]] for entry in walk.names.get(parts[1], ()) if entry[0] == "d"]
    if parts[0] == "a":
        slot = walk.slot_of(parts[1])
        entries = slot[0].members.get(slot[1] + parts[2], ()) if slot is not None else ()
        return [walk.definitions[entry[1]] for entry in entries if entry[0] == "d"]
    if parts[0] == "p":
        passed = walk.definitions[parts[1]].flows.get(parts[2], ())
        return [one for value in passed if walk.exprs[value][0] != "p" for one in _called(walk, value)]
    return []


def _rows(
    walk: Modules, visible: list[Definition], root: Node, utf8: bytes, source: bytes, codec: str | None
) -> tuple[SymbolRow, ...]:
    starts = _line_starts(utf8)
    docs = _docs(visible, utf8)
    extents = [
        Extent(one.start, one.name_start, one.name_end, max(one.head_end, one.name_end), one.end, *doc)
        for one, doc in zip(visible, docs, strict=True)
    ]
    hashes = syntax.token_hashes(walk.source, extents, (), _TOKENS)
    offsets = None
    if codec is not None:
        offsets = content.original_offsets(utf8, codec, (offset for extent in extents for offset in extent))
    rows = []
    for one, extent, (signature, whole) in zip(visible, extents, hashes, strict=True):
        parent = one.visible_parent()
        at = extent if offsets is None else Extent(*(offsets[offset] for offset in extent))
        rows.append(SymbolRow(
            one.name, one.kind, -1 if parent is None else parent.index, int(one.flags),
            _line_of(starts, one.start), one.name_line, _line_of(starts, max(one.start, one.end - 1)), at.start,
            at.signature_end, at.end, at.doc_start, at.doc_end, signature, whole,
        ))  # fmt: skip
    return tuple(rows)


def _line_starts(source: bytes) -> list[int]:
    return [0, *[found.end() for found in _NEWLINE.finditer(source)]]


def _line_of(starts: list[int], offset: int) -> int:
    return bisect.bisect_right(starts, offset)


def _docs(visible: Iterable[Definition], source: bytes) -> list[tuple[int, int]]:
    """The JSDoc comment right before each symbol."""
    found: list[tuple[int, int]] = []
    for one in visible:
        end = one.start
        while end > 0 and source[end - 1] in b" \t\r\n":
            end -= 1
        if source[max(0, end - 2) : end] == b"*/":
            start = source.rfind(b"/*", 0, end - 1)
            if start >= 0 and source[start : start + 3] == b"/**":
                found.append((start, end))
                continue
        found.append((0, 0))
    return found


def _pack(walk: Modules) -> tuple[Interface, tuple[Any, ...]]:
    packer = Packer(walk)
    names = _names(walk, packer)
    definitions: dict[str, Expr] = {}
    members: dict[str, dict[str, tuple[Expr, ...]]] = {}
    for one in walk.definitions:
        if not one.hidden and not one.flags & bits.LOCAL:
            packer.needed.append(one)
    public: set[int] = set()
    while packer.needed:
        one = packer.needed.pop()
        if one.order in public:
            continue
        public.add(one.order)
        if (
            one.kind in ("property", "variable", "constant", "enum_member")
            and not one.members
            and not one.spreads
            and not one.assigned
        ):
            continue
        definitions[one.qualified] = packer.definition(one, nested=True)
        if one.members:
            members[one.qualified] = packer.members(one, nested=True)
    announces = [f"js-global:{name}" for name in walk.global_names] + [f"js-module:{name}" for name in walk.module_names]
    stars = tuple(dict.fromkeys(walk.stars))
    interface = Interface(names, definitions, members, stars, tuple(sorted(announces)))
    return interface, _body(walk, packer, public)


def _names(walk: Modules, packer: Packer) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for name, entries in walk.names.items():
        names[name] = packer.entries(entries, "", nested=True)
    for name, entries in walk.exports.items():
        names["=" + name] = packer.entries(entries, "", nested=True)
    values = [value for one in walk.module_values for value in (*_holders(walk, one), one)]
    if walk.exports_object is not None and (walk.exports_object.members or walk.exports_object.spreads):
        own = walk.make("d", walk.exports_object.order)
        if own not in values:
            values.append(own)
    if values:
        names["="] = packer.entries([("v", value, None) for value in values], "", nested=True)
    names["*"] = tuple(sorted(walk.module_names))  # says that the file was read, and which modules it declares
    return names


def _holders(walk: Modules, value: int) -> list[int]:
    """Variables that hold the value and have members of their own (``var app = module.exports = make(); app.use = ...``)."""
    holders = [entry[2] for entries in walk.names.values() for entry in entries if entry[0] == "v" and entry[1] == value]
    return [walk.make("d", order) for order in holders if order is not None and walk.definitions[order].members]


def _body(walk: Modules, packer: Packer, public: set[int]) -> tuple[Any, ...]:
    index_of = {one.order: one.index for one in walk.definitions}
    refs = tuple(
        [(index_of[source] if source >= 0 else -1, kind, expr, line, name) for source, kind, expr, line, name in walk.refs]
    )
    lambdas = tuple(
        [
            (lam.flags, tuple([tuple(parameter) for parameter in lam.params]), lam.ret, lam.returns, lam.context)
            for lam in walk.lambdas
        ]
    )
    private: dict[str, Expr] = {}
    members: dict[str, dict[str, tuple[Expr, ...]]] = {}
    parameters: dict[str, Expr] = {}
    for one in walk.definitions:
        if one.order not in public:
            private[one.qualified] = packer.definition(one, nested=False)
            if one.members:
                members[one.qualified] = packer.members(one, nested=False)
        if one.params and (one.flows or one.context >= 0):
            flows = tuple([tuple(one.flows.get(position, ())[:8]) for position in range(len(one.params))])
            parameters[one.qualified] = (one.context, flows)
    imports = tuple([(index_of[source] if source >= 0 else -1, *rest) for source, *rest in walk.imports])
    heirs = tuple(
        [
            (one.index, one.kind, tuple(one.bases), tuple(one.implements), one.qualified)
            for one in walk.definitions
            if one.index >= 0 and (one.bases or one.implements)
        ]
    )
    exports = tuple([(name, tuple(entries)) for name, entries in walk.exports.items()])
    exported = [(name, entry, 0) for name, entries in exports for entry in entries if entry[0] == "l"]
    if walk.offers:
        names = {name for name, _, _ in walk.offers}
        exported = [row for row in exported if row[0] not in names]
        exported += [row for row in walk.offers if row[1][0] in ("l", "i") or row[1][2:] == (None,)]
    return (packer.table(), refs, lambdas, private, members, parameters, imports, heirs, tuple(exported))
