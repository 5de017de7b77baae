"""How records become bytes: columns of small integers beside tables of strings, several neighbours to a compressed pack.

Every form here is part of the store's format (`environment.FORMAT`): change one, and the format number changes with it.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, NamedTuple

import msgpack
import zstandard

from tokenzip.model import (
    EDGE_KINDS,
    REASONS,
    SYMBOL_KINDS,
    TIERS,
    EdgeRow,
    FileIR,
    Interface,
    LinkedFile,
    ParseProblem,
    Status,
    SymbolRow,
)

PACK_BYTES = 1 << 17
"""Raw size at which a pack is closed: about 28 KB after compression, since what does not fill its last page is lost."""
MOST_RECORDS = 0xFFFF
"""Records to a pack: places have two bytes."""
_LEVEL = 9
_RECENT = 60
"""Targets of edges that are named by how long ago they were used."""
_STATUSES: tuple[Status, ...] = ("parsed", "partial", "failed", "skipped")
_SYMBOL_KIND = {name: number for number, name in enumerate(SYMBOL_KINDS)}
_EDGE_KIND = {name: number for number, name in enumerate(EDGE_KINDS)}
_TIER = {name: number for number, name in enumerate(TIERS)}
_REASON = {name: number for number, name in enumerate(REASONS)}


class Address(NamedTuple):
    """Where a record lies: the pack's number and the place in it."""

    pack: int
    slot: int


class OpenReference(NamedTuple):
    """References of one file that have no edge, grouped: the lines are read again from the blob when somebody asks."""

    kind: str
    name: str
    reason: str
    detail: str
    times: int


class Extent(NamedTuple):
    """How much a file holds."""

    status: Status
    reason: str | None
    lines: int
    symbols: int


class Uses(NamedTuple):
    """What a file uses, in the columns of its link record: for counting over many files."""

    sources: Sequence[int]
    kinds: Sequence[str]
    targets: Sequence[int]
    """Places in `table`."""
    table: Sequence[tuple[str, str]]
    """(path, qualified name) of all targets."""
    open: Sequence[tuple[str, int]]
    """Reason and times of each open reference."""


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """What the store keeps of a `LinkedFile`."""

    edges: tuple[EdgeRow, ...] = ()
    open: tuple[OpenReference, ...] = ()


def pack_value(value: Any) -> bytes:
    """Any plain value as bytes; odd path names (lone surrogates) survive."""
    packed: bytes = msgpack.packb(value, use_bin_type=True, unicode_errors="surrogatepass")
    return packed


def unpack_value(data: bytes | memoryview) -> Any:
    """The value again, with tuples where there were tuples or lists."""
    return msgpack.unpackb(data, use_list=False, strict_map_key=False, unicode_errors="surrogatepass")


# ---- files


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


def decode_names(data: bytes) -> tuple[str, ...]:
    """The names of a file's symbols, without the rest of `decode_ir`."""
    head = _unpacker(data)
    head.skip()
    symbols = head.unpack()
    return tuple(_unpacker(symbols).unpack()) if symbols else ()


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


def decode_top_names(data: bytes) -> set[str]:
    """The names of a file's symbols that lie in no other, or in one without a name; sooner had than `decode_ir`."""
    _, symbols = unpack_value(data)
    if not symbols:
        return set()
    columns = _unpacker(symbols)
    names = columns.unpack()
    columns.skip()
    places = enumerate(zip(names, columns.unpack(), strict=True))
    return {name for index, (name, up) in places if up > index or not names[index - up]}


def _unpacker(data: bytes) -> Any:
    """Reads the fields of an array one by one."""
    unpacker = msgpack.Unpacker(use_list=False, strict_map_key=False, unicode_errors="surrogatepass", max_buffer_size=0)
    unpacker.feed(data)
    unpacker.read_array_header()
    return unpacker


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
            _deltas(lines),
            _minus(name_lines, lines),
            _minus(ends, lines),
            _deltas(starts),
            _minus(heads, starts),
            _minus(stops, starts),
            [start - base if start != stop else 0 for start, stop, base in zip(doc_starts, doc_stops, starts, strict=True)],
            _minus(doc_stops, doc_starts),
            struct.pack(f"<{len(rows)}I", *hashes[0]),
            struct.pack(f"<{len(rows)}I", *hashes[1]),
        )
    )


def decode_symbols(data: bytes) -> tuple[SymbolRow, ...]:
    if not data:
        return ()
    (
        names,
        kinds,
        parents,
        flags,
        lines,
        name_lines,
        ends,
        starts,
        heads,
        stops,
        doc_starts,
        doc_sizes,
        signatures,
        contents,
    ) = unpack_value(data)
    count = len(kinds)
    lines = tuple(accumulate(lines))
    starts = tuple(accumulate(starts))
    doc_starts = [base + offset if size else 0 for base, offset, size in zip(starts, doc_starts, doc_sizes, strict=True)]
    return tuple(
        map(
            SymbolRow._make,
            zip(
                names,
                [SYMBOL_KINDS[kind] for kind in kinds],
                [index - up for index, up in enumerate(parents)],
                flags,
                lines,
                _plus(name_lines, lines),
                _plus(ends, lines),
                starts,
                _plus(heads, starts),
                _plus(stops, starts),
                doc_starts,
                _plus(doc_sizes, doc_starts),
                struct.unpack(f"<{count}I", signatures),
                struct.unpack(f"<{count}I", contents),
                strict=True,
            ),
        )
    )


def _deltas(numbers: Sequence[int]) -> list[int]:
    return [number - before for number, before in zip(numbers, (0, *numbers), strict=False)]


def _minus(numbers: Sequence[int], bases: Sequence[int]) -> list[int]:
    return [number - base for number, base in zip(numbers, bases, strict=True)]


def _plus(numbers: Sequence[int], bases: Sequence[int]) -> list[int]:
    return [number + base for number, base in zip(numbers, bases, strict=True)]


# ---- links


def link_record(linked: LinkedFile) -> LinkRecord:
    """What is kept of a link: its edges, and its open references without their lines.

    A reference that leaves the repository keeps its name only if it is an import: those name the packages depended on.
    """
    counts: dict[tuple[str, str, str, str], int] = {}
    for row in linked.unresolved:
        if row.reason == "external" and row.kind != "imports":
            key = (row.kind, "", row.reason, "")
        else:
            key = (row.kind, row.name, row.reason, row.detail if row.kind == "imports" or not row.name else "")
        counts[key] = counts.get(key, 0) + 1
    return LinkRecord(linked.edges, tuple(OpenReference(*key, times) for key, times in sorted(counts.items())))


def encode_link(record: LinkRecord, path: str) -> bytes:
    """Columns over a table of targets; a target in the own file has no path, so equal files in two places look alike."""
    if not record.edges and not record.open:
        return b""
    targets: dict[tuple[str, str], int] = {}
    details: dict[str, int] = {"": 0}
    columns: tuple[list[int], list[int], list[int], list[int], list[int]] = ([], [], [], [], [])
    for source, kind, tier, line, target_path, qualified, detail in record.edges:
        target = ("" if target_path == path else target_path, qualified)
        columns[0].append(source)
        columns[1].append(_EDGE_KIND[kind] * len(TIERS) + _TIER[tier])
        columns[2].append(line)
        columns[3].append(targets.setdefault(target, len(targets)))
        columns[4].append(details.setdefault(detail, len(details)))
    paths: dict[str, int] = {}
    target_paths = [paths.setdefault(target_path, len(paths)) for target_path, _ in targets]
    has_details = len(details) > 1
    return pack_value(
        (
            _deltas(columns[0]),
            columns[1],
            _deltas(columns[2]),
            _by_recency(columns[3]),
            (columns[4], tuple(details)) if has_details else (),
            tuple(paths),
            target_paths,
            [qualified for _, qualified in targets],
            [row.name for row in record.open],
            [_EDGE_KIND[row.kind] * len(REASONS) + _REASON[row.reason] for row in record.open],
            [row.times for row in record.open],
            tuple((index, row.detail) for index, row in enumerate(record.open) if row.detail),
        )
    )


def _by_recency(numbers: Iterable[int]) -> list[int]:
    """Numbers that are given in order of first use, so that a new one among them leaves the others as they are.

    0: the next new one; up to `_RECENT`: used that many different ones ago; above: itself, after `_RECENT`.
    """
    recent: list[int] = []
    out: list[int] = []
    count = 0
    for number in numbers:
        if number == count:
            count += 1
            out.append(0)
        elif number in recent:
            place = recent.index(number)
            del recent[place]
            out.append(1 + place)
        else:
            out.append(1 + _RECENT + number)
        recent.insert(0, number)
        del recent[_RECENT:]
    return out


def _from_recency(codes: Iterable[int]) -> list[int]:
    """The numbers that `_by_recency` was given."""
    recent: list[int] = []
    out: list[int] = []
    count = 0
    for code in codes:
        if code == 0:
            number = count
            count += 1
        elif code <= _RECENT:
            number = recent.pop(code - 1)
        else:
            number = code - 1 - _RECENT
        recent.insert(0, number)
        del recent[_RECENT:]
        out.append(number)
    return out


def decode_link(data: bytes, path: str) -> LinkRecord:
    if not data:
        return LinkRecord()
    (sources, kinds, lines, targets, details, paths, target_paths, qualified, names, open_kinds, counts, open_details) = (
        unpack_value(data)
    )
    table = [(paths[where] or path, name) for where, name in zip(target_paths, qualified, strict=True)]
    detail_of = [details[1][index] for index in details[0]] if details else [""] * len(kinds)
    edges = tuple(
        EdgeRow(
            source, EDGE_KINDS[kind // len(TIERS)], TIERS[kind % len(TIERS)], line, table[target][0], table[target][1], detail
        )
        for source, kind, line, target, detail in zip(
            accumulate(sources), kinds, accumulate(lines), _from_recency(targets), detail_of, strict=True
        )
    )
    opens = _opens(names, open_kinds, counts, open_details)
    return LinkRecord(edges, opens)


def _opens(names: Sequence[str], kinds: Sequence[int], counts: Sequence[int], details: Any) -> tuple[OpenReference, ...]:
    extra = dict(details)
    return tuple(
        OpenReference(EDGE_KINDS[kind // len(REASONS)], name, REASONS[kind % len(REASONS)], extra.get(index, ""), count)
        for index, (kind, name, count) in enumerate(zip(kinds, names, counts, strict=True))
    )


def decode_opens(data: bytes) -> tuple[OpenReference, ...]:
    """Only the open references of a link record."""
    return _opens(*unpack_value(data)[8:]) if data else ()


def decode_edges_to(data: bytes, path: str, wanted: Container[tuple[str, str]]) -> list[EdgeRow]:
    """Only the edges of a link record to these targets (path, qualified name), in their order: a tenth of the whole, mostly."""
    if not data:
        return []
    sources, kinds, lines, targets, details, paths, target_paths, qualified, *_ = unpack_value(data)
    table = [(paths[where] or path, name) for where, name in zip(target_paths, qualified, strict=True)]
    hits = {number for number, target in enumerate(table) if target in wanted}
    if not hits:
        return []
    detail_of = [details[1][index] for index in details[0]] if details else [""] * len(kinds)
    rows = zip(accumulate(sources), kinds, accumulate(lines), _from_recency(targets), detail_of, strict=True)
    return [
        EdgeRow(
            source, EDGE_KINDS[kind // len(TIERS)], TIERS[kind % len(TIERS)], line, table[target][0], table[target][1], detail
        )
        for source, kind, line, target, detail in rows
        if target in hits
    ]


_KIND_OF_CODE = tuple(kind for kind in EDGE_KINDS for _ in TIERS)
_REASON_OF_CODE = tuple(reason for _ in EDGE_KINDS for reason in REASONS)


def decode_uses(data: bytes, path: str) -> Uses:
    """The columns of a link record."""
    if not data:
        return Uses((), (), (), (), ())
    sources, kinds, _, targets, _, paths, target_paths, qualified, _, open_kinds, counts, _ = unpack_value(data)
    return Uses(
        tuple(accumulate(sources)),
        [_KIND_OF_CODE[kind] for kind in kinds],
        _from_recency(targets),
        [(paths[where] or path, name) for where, name in zip(target_paths, qualified, strict=True)],
        [(_REASON_OF_CODE[kind], times) for kind, times in zip(open_kinds, counts, strict=True)],
    )


def uses_of(record: LinkRecord) -> Uses:
    """The columns of a link record that was not stored."""
    numbers: dict[tuple[str, str], int] = {}
    targets = [numbers.setdefault((row.path, row.qualified), len(numbers)) for row in record.edges]
    return Uses(
        [row.source for row in record.edges],
        [row.kind for row in record.edges],
        targets,
        list(numbers),
        [(row.reason, row.times) for row in record.open],
    )


# ---- packs


class Pack(NamedTuple):
    """A pack as it was read. A record with a base is the outcome of `difference` to the (whole) record that lies there."""

    records: tuple[bytes, ...]
    bases: dict[int, Address]


def encode_pack(records: Sequence[bytes], bases: Mapping[int, Address] | None = None) -> bytes:
    """Several neighbouring records, compressed together. `bases` says which slots hold differences, and to what."""
    told = tuple((slot, *base) for slot, base in sorted((bases or {}).items()))
    return compress(pack_value((records, told)))


def decode_pack(data: bytes | memoryview) -> Pack:
    """The records of a pack. Raises ValueError for bytes that are no pack."""
    try:
        records, told = unpack_value(decompress(data))
    except (zstandard.ZstdError, msgpack.UnpackException, ValueError) as error:
        raise ValueError(f"not a pack: {error}") from error
    return Pack(records, {slot: Address(pack, place) for slot, pack, place in told})


def difference(record: bytes, base: bytes) -> bytes:
    """A record as zstd writes it with `base` before it: a few bytes where the two are nearly equal."""
    compressor = zstandard.ZstdCompressor(level=_LEVEL, dict_data=_prefix(base), write_checksum=False)
    return compressor.compress(record)


def undo_difference(data: bytes, base: bytes) -> bytes:
    """The record of which `difference` was taken. Raises ValueError if it was not to this base."""
    try:
        return zstandard.ZstdDecompressor(dict_data=_prefix(base)).decompress(data)
    except zstandard.ZstdError as error:
        raise ValueError(f"not a difference to this record: {error}") from error


def _prefix(base: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


def packs_of(records: Iterable[bytes]) -> list[list[bytes]]:
    """The records in their order, cut into packs of about `PACK_BYTES`."""
    packs: list[list[bytes]] = []
    room = 0
    for record in records:
        if not packs or room < len(record) or len(packs[-1]) >= MOST_RECORDS:
            packs.append([])
            room = PACK_BYTES
        packs[-1].append(record)
        room -= len(record)
    return packs


def compress(data: bytes) -> bytes:
    return _compressor().compress(data)


def decompress(data: bytes | memoryview) -> bytes:
    """What `compress` was given. Raises ValueError for bytes that it did not give."""
    try:
        return _decompressor().decompress(data)
    except (zstandard.ZstdError, MemoryError) as error:  # the length that damaged bytes claim may be any
        raise ValueError(f"not compressed by us: {error}") from error


_local = threading.local()  # zstd contexts must not be shared between threads


def _compressor() -> zstandard.ZstdCompressor:
    if not hasattr(_local, "compressor"):
        _local.compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    compressor: zstandard.ZstdCompressor = _local.compressor
    return compressor


def _decompressor() -> zstandard.ZstdDecompressor:
    if not hasattr(_local, "decompressor"):
        _local.decompressor = zstandard.ZstdDecompressor()
    decompressor: zstandard.ZstdDecompressor = _local.decompressor
    return decompressor
