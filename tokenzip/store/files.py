"""What the store keeps of a file: status and symbols, how much it holds, and the interface that others look at.

Part of the store's format (`environment.FORMAT`): change a form here, and the format number changes with it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, repeat
from typing import Any, NamedTuple

from tokenzip.model import SYMBOL_KINDS, FileIR, Interface, ParseProblem, Status, SymbolRow
from tokenzip.store.columns import deltas, minus, plus
from tokenzip.store.packs import pack_value, unpack_value

_STATUSES: tuple[Status, ...] = ("parsed", "partial", "failed", "skipped")
_HASH = struct.Struct("<I")
_NO_SYMBOLS: tuple[Any, ...] = ((), b"") + ((),) * 10 + (b"", b"")
_SYMBOL_KIND = {name: number for number, name in enumerate(SYMBOL_KINDS)}


class Extent(NamedTuple):
    """How much a file holds."""

    status: Status
    reason: str | None
    lines: int
    symbols: int


def encode_ir(ir: FileIR) -> bytes:
    """The stored form of a file: status and symbols. Interface and body are left out."""
    head = (_STATUSES.index(ir.status), ir.lines, int(ir.generated), ir.reason, tuple(map(tuple, ir.problems)))
    return pack_value((head, encode_symbols(ir.symbols)))


def decode_ir(data: bytes) -> FileIR:
    """Status and symbols of a file; its interface is empty here, its body None."""
    (status, lines, generated, reason, problems), symbols = unpack_value(data)
    return FileIR(
        status=_STATUSES[status],
        lines=lines,
        symbols=decode_symbols(symbols),
        problems=tuple(ParseProblem(*problem) for problem in problems),
        reason=reason,
        generated=bool(generated),
    )


def decode_columns(data: bytes) -> SymbolColumns:
    """The symbols of a file column by column: sooner had than by `decode_ir` where few of them are asked for."""
    _, symbols = unpack_value(data)
    return SymbolColumns(symbols)


def decode_extent(data: bytes) -> Extent:
    """How much a file holds: the head of its record, and how many symbols follow."""
    (status, lines, _, reason, _), symbols = unpack_value(data)
    return Extent(_STATUSES[status], reason, lines, _array_length(symbols, 1) if symbols else 0)


def _array_length(data: bytes, at: int) -> int:
    """The length in the head of an array, as msgpack writes it: to unpack one row of heads costs ten times that."""
    code = data[at]
    if code < 0xDC:
        return code & 0x0F
    return int.from_bytes(data[at + 1 : at + (3 if code == 0xDC else 5)], "big")


_PLAIN = b""
"""Stands for the entry that says no more than "the definition of this name": most names and members are such."""


def encode_consulted(interface: Interface) -> bytes:
    """The stored form of an interface, for files that others look at: `encode_interface` without its plain entries."""
    return encode_interface(
        replace(
            interface,
            names={name: _PLAIN if entries == (("def", name),) else entries for name, entries in interface.names.items()},
            members={
                owner: {
                    name: _PLAIN if entries == (("def", f"{owner}.{name}"),) else entries for name, entries in members.items()
                }
                for owner, members in interface.members.items()
            },
        )
    )


def decode_consulted(data: bytes) -> Interface:
    """The interface that `encode_consulted` was given."""
    interface = decode_interface(data)
    return replace(
        interface,
        names={name: (("def", name),) if entries == _PLAIN else entries for name, entries in interface.names.items()},
        members={
            owner: {name: (("def", f"{owner}.{name}"),) if entries == _PLAIN else entries for name, entries in members.items()}
            for owner, members in interface.members.items()
        },
    )


def encode_interface(interface: Interface) -> bytes:
    return pack_value(
        (interface.names, interface.definitions, interface.members, interface.stars, interface.announces)
        if interface.names or interface.definitions or interface.members or interface.stars or interface.announces
        else ()
    )


def decode_interface(data: bytes) -> Interface:
    fields = unpack_value(data)
    return Interface(*fields) if fields else Interface()


def encode_symbols(rows: Sequence[SymbolRow]) -> bytes:
    """Columns of names, kinds, places and hashes."""
    if not rows:
        return b""
    names, kinds, parents, flags, lines, name_lines, ends, starts, heads, stops, doc_starts, doc_stops, *hashes = zip(
        *rows, strict=True
    )
    return pack_value(
        (
            names,
            bytes(_SYMBOL_KIND[kind] for kind in kinds),
            [index - parent for index, parent in enumerate(parents)],
            flags,
            deltas(lines),
            minus(name_lines, lines),
            minus(ends, lines),
            deltas(starts),
            minus(heads, starts),
            minus(stops, starts),
            [start - base if start != stop else 0 for start, stop, base in zip(doc_starts, doc_stops, starts, strict=True)],
            minus(doc_stops, doc_starts),
            struct.pack(f"<{len(rows)}I", *hashes[0]),
            struct.pack(f"<{len(rows)}I", *hashes[1]),
        )
    )


def decode_symbols(data: bytes) -> tuple[SymbolRow, ...]:
    return SymbolColumns(data).rows()


class SymbolColumns:
    """The symbols of a file as `encode_symbols` wrote them: all names at once, and a row only for those asked for."""

    __slots__ = ("_kinds", "_numbers", "names", "parents")

    def __init__(self, data: bytes) -> None:
        names, kinds, ups, *numbers = unpack_value(data) if data else _NO_SYMBOLS
        self.names: tuple[str, ...] = names
        self._kinds: bytes = kinds
        self._numbers: list[Any] = numbers
        self.parents = [index - up for index, up in enumerate(ups)]

    def top_names(self) -> set[str]:
        """The names of symbols that lie in no other, or in one without a name."""
        return {name for name, parent in zip(self.names, self.parents, strict=True) if parent < 0 or not self.names[parent]}

    def row(self, index: int) -> SymbolRow:
        """The symbol at a place."""
        flags, lines, name_lines, ends, starts, heads, stops, doc_starts, doc_sizes, signatures, contents = self._numbers
        line, start = sum(lines[: index + 1]), sum(starts[: index + 1])
        doc_start = start + doc_starts[index] if doc_sizes[index] else 0
        return SymbolRow(
            self.names[index],
            SYMBOL_KINDS[self._kinds[index]],
            self.parents[index],
            flags[index],
            line,
            line + name_lines[index],
            line + ends[index],
            start,
            start + heads[index],
            start + stops[index],
            doc_start,
            doc_start + doc_sizes[index],
            *_HASH.unpack_from(signatures, _HASH.size * index),
            *_HASH.unpack_from(contents, _HASH.size * index),
        )

    def rows(self) -> tuple[SymbolRow, ...]:
        """All symbols in their order, sooner than one by one."""
        flags, lines, name_lines, ends, starts, heads, stops, doc_starts, doc_sizes, signatures, contents = self._numbers
        lines, starts = tuple(accumulate(lines)), tuple(accumulate(starts))
        doc_starts = [base + offset if size else 0 for base, offset, size in zip(starts, doc_starts, doc_sizes, strict=True)]
        columns = zip(
            self.names,
            [SYMBOL_KINDS[kind] for kind in self._kinds],
            self.parents,
            flags,
            lines,
            plus(name_lines, lines),
            plus(ends, lines),
            starts,
            plus(heads, starts),
            plus(stops, starts),
            doc_starts,
            plus(doc_sizes, doc_starts),
            struct.unpack(f"<{len(self.names)}I", signatures),
            struct.unpack(f"<{len(self.names)}I", contents),
            strict=True,
        )
        return tuple(map(tuple.__new__, repeat(SymbolRow), columns))
