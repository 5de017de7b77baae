"""What the store keeps of a file's links: edges and open references, in columns over a table of targets.

Part of the store's format (`environment.FORMAT`): change a form here, and the format number changes with it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat
from typing import Any, NamedTuple

from tokenzip.model import EDGE_KINDS, REASONS, TIERS, EdgeRow, LinkedFile
from tokenzip.store.columns import by_recency, deltas, from_recency
from tokenzip.store.packs import pack_value, unpack_value

_EDGE_KIND = {name: number for number, name in enumerate(EDGE_KINDS)}
_TIER = {name: number for number, name in enumerate(TIERS)}
_REASON = {name: number for number, name in enumerate(REASONS)}


class OpenReference(NamedTuple):
    """References of one file that have no edge, grouped: the lines are read again from the blob when somebody asks."""

    kind: str
    name: str
    reason: str
    detail: str
    times: int


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
            deltas(columns[0]),
            columns[1],
            deltas(columns[2]),
            by_recency(columns[3]),
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


def decode_link(data: bytes, path: str) -> LinkRecord:
    if not data:
        return LinkRecord()
    columns = unpack_value(data)
    return LinkRecord(tuple(_edges(columns, _table(columns, path))), _opens(*columns[8:]))


def _table(columns: Sequence[Any], path: str) -> list[tuple[str, str]]:
    """(path, qualified name) of each target."""
    paths, target_paths, qualified = columns[5:8]
    return [(paths[where] or path, name) for where, name in zip(target_paths, qualified, strict=True)]


def _edges(columns: Sequence[Any], table: Sequence[tuple[str, str]], hits: Container[int] | None = None) -> Iterator[EdgeRow]:
    """The edges, or only those to the targets at these places in the table."""
    sources, kinds, lines, targets, details = columns[:5]
    read = [tuple(accumulate(sources)), kinds, tuple(accumulate(lines)), from_recency(targets)]
    read.append(details[0] if details else (0,) * len(kinds))
    if hits is not None:
        chosen = [place for place, target in enumerate(read[3]) if target in hits]
        read = [[column[place] for place in chosen] for column in read]
    paths, names, texts = [path for path, _ in table], [name for _, name in table], details[1] if details else ("",)
    return map(
        tuple.__new__,
        repeat(EdgeRow),
        zip(
            read[0],
            [_KIND_OF_CODE[kind] for kind in read[1]],
            [_TIER_OF_CODE[kind] for kind in read[1]],
            read[2],
            [paths[target] for target in read[3]],
            [names[target] for target in read[3]],
            [texts[detail] for detail in read[4]],
            strict=True,
        ),
    )


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
    columns = unpack_value(data)
    table = _table(columns, path)
    hits = {number for number, target in enumerate(table) if target in wanted}
    return list(_edges(columns, table, hits)) if hits else []


_KIND_OF_CODE = tuple(kind for kind in EDGE_KINDS for _ in TIERS)
_TIER_OF_CODE = TIERS * len(EDGE_KINDS)
_REASON_OF_CODE = tuple(reason for _ in EDGE_KINDS for reason in REASONS)


def decode_uses(data: bytes, path: str) -> Uses:
    """The columns of a link record."""
    if not data:
        return Uses((), (), (), (), ())
    columns = unpack_value(data)
    sources, kinds, _, targets = columns[:4]
    open_kinds, counts = columns[9:11]
    return Uses(
        tuple(accumulate(sources)),
        [_KIND_OF_CODE[kind] for kind in kinds],
        from_recency(targets),
        _table(columns, path),
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
