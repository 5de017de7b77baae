"""The symbols of a run as rows of a `FileIR`: in the order of the file, with hashes, and marked where they are public."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tokenzip.languages import content, syntax
from tokenzip.languages.python.ir import EXPORTED, IS_CONTEXT, IS_SETTER, LOCAL, RETURNS_ANNOTATED
from tokenzip.languages.python.state import Definition, State
from tokenzip.languages.syntax import Extent
from tokenzip.model import SymbolRow

_ROW_FLAGS = ~(IS_CONTEXT | IS_SETTER | RETURNS_ANNOTATED)
# Names and numbers, one sign at a time, strings whole (f-strings too: what lies in their braces is part of the token).
# Classes are spelled out, since `\w` among other characters is tested one by one and not looked up in a table, and white
# space goes with the token before it, so that no match begins at each blank of an indentation: together a third less time.
_WORD, _BLANK = rb"0-9A-Z_a-z\x80-\xff", rb" \t\n\r\f\v"
_TOKENS = re.compile(
    rb"([" + _WORD + rb"]++|[^" + _BLANK + _WORD + rb"\\#\"'\x00]|\x00."
    rb'|"""(?:[^"\\]++|\\.|"(?!""))*+"""|\'\'\'(?:[^\'\\]++|\\.|\'(?!\'\'))*+\'\'\''
    rb"|\"(?:[^\"\\\n]++|\\.)*+\"|'(?:[^'\\\n]++|\\.)*+'|[\"'])[" + _BLANK + rb"]*+"
    rb"|#[^\n\x00\x01-\x08\x0e-\x1f]*+",
    re.DOTALL,
)


def pre_order(symbols: list[Definition]) -> list[int]:
    """Symbol numbers, each before those that it encloses, siblings in the order of the file."""
    children: dict[int, list[int]] = {}
    for number, symbol in enumerate(symbols):
        children.setdefault(symbol.parent, []).append(number)
    for siblings in children.values():
        siblings.sort(key=lambda number: (symbols[number].start, symbols[number].name_start))
    order: list[int] = []
    pending = list(reversed(children.get(-1, [])))
    while pending:
        number = pending.pop()
        order.append(number)
        pending.extend(reversed(children.get(number, [])))
    return order


def qualified_names(state: State, order: list[int]) -> dict[int, str]:
    """As `model.qualified_names` does for the rows; by symbol number of the run."""
    plain: dict[int, str] = {-1: ""}
    seen: dict[str, int] = {}
    qualified: dict[int, str] = {}
    for old in order:
        symbol = state.symbols[old]
        prefix = plain[symbol.parent]
        name = plain[old] = f"{prefix}.{symbol.name}" if prefix else symbol.name
        count = seen[name] = seen.get(name, 0) + 1
        qualified[old] = name if count == 1 else f"{name}#{count}"
    return qualified


def symbol_rows(state: State, order: list[int], position: dict[int, int], codec: str | None) -> tuple[SymbolRow, ...]:
    symbols = [state.symbols[old] for old in order]
    extents = [
        Extent(
            symbol.start, symbol.name_start, symbol.name_end, max(symbol.signature_end, symbol.name_end),
            max(symbol.end, symbol.signature_end, symbol.name_end), *symbol.doc,
        )
        for symbol in symbols
    ]  # fmt: skip
    hashes = syntax.token_hashes(state.source, extents, _marks(state), _TOKENS)
    _mark_exported(state, order)
    if codec is not None:
        moved = content.original_offsets(state.source, codec, {offset for extent in extents for offset in extent})
        extents = [Extent(*(moved[offset] for offset in extent)) for extent in extents]
    return tuple(
        SymbolRow(
            symbol.name, symbol.kind, position[symbol.parent], symbol.flags & _ROW_FLAGS, symbol.line,
            symbol.name_line, symbol.end_line, extent.start, extent.signature_end, extent.end, extent.doc_start,
            extent.doc_end, signature, whole,
        )
        for symbol, extent, (signature, whole) in zip(symbols, extents, hashes, strict=True)
    )  # fmt: skip


def _marks(state: State) -> Iterator[tuple[int, int]]:
    """Control characters where statements begin and where blocks end (one that says how many)."""
    for start in state.starts:
        yield start - 1, 1
    ends: dict[int, int] = {}
    for end in state.ends:
        ends[end] = ends.get(end, 0x0D) + 1
    for end, mark in ends.items():
        yield end, min(mark, 0x1F)


def _mark_exported(state: State, order: list[int]) -> None:
    """Public by `__all__`, else by a name without leading underscore; members of what is public, likewise."""
    exported = state.exported
    for old in order:
        symbol = state.symbols[old]
        if symbol.flags & LOCAL:
            continue
        is_public = not symbol.name.startswith("_") or (symbol.name.startswith("__") and symbol.name.endswith("__"))
        if symbol.parent < 0:
            if exported is not None:
                is_public = symbol.name in exported or (not state.exported_complete and is_public)
            elif symbol.name == "__all__":
                is_public = False
        elif not state.symbols[symbol.parent].flags & EXPORTED:
            is_public = False
        if is_public:
            symbol.flags |= EXPORTED
