"""Plain values as bytes, and several neighbouring records to a compressed pack: all that touches msgpack and zstandard.

Part of the store's format (`environment.FORMAT`): change a form here, and the format number changes with it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgpack
import zstandard

PACK_BYTES = 1 << 17
"""Raw size at which a pack is closed: about 28 KB after compression, since what does not fill its last page is lost."""
MOST_RECORDS = 0xFFFF
"""Records to a pack: places have two bytes."""
_LEVEL = 9


class Address(NamedTuple):
    """Where a record lies: the pack's number and the place in it."""

    pack: int
    slot: int


class Pack(NamedTuple):
    """A pack as it was read. A record with a base is the outcome of `difference` to the record that lies there."""

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


def pack_value(value: Any) -> bytes:
    """Any plain value as bytes; odd path names (lone surrogates) survive."""
    packed: bytes = msgpack.packb(value, use_bin_type=True, unicode_errors="surrogatepass")
    return packed


def unpack_value(data: bytes | memoryview) -> Any:
    """The value again, with tuples where there were tuples or lists."""
    return msgpack.unpackb(data, use_list=False, strict_map_key=False, unicode_errors="surrogatepass")
