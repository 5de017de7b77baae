"""Transactions: typed tables over an LMDB environment. A query reads in one transaction; a write is one batch."""

from __future__ import annotations

import logging
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tokenzip.model import BlobId, TreeId
from tokenzip.store.cache import Cache
from tokenzip.store.environment import DamagedStore, Environment
from tokenzip.store.packs import (
    MOST_RECORDS,
    PACK_BYTES,
    Address,
    Pack,
    decode_pack,
    difference,
    encode_pack,
    pack_value,
    packs_of,
    undo_difference,
    unpack_value,
)
from tokenzip.store.paths import Paths
from tokenzip.store.postings import Postings
from tokenzip.store.vocabulary import Vocabulary

_LOG = logging.getLogger(__name__)
_ADDRESS = struct.Struct(">IH")
_BLOB = struct.Struct(">IHI")
"""The first part of a blob's value: address of its record, document number (0: its words are not posted)."""
_WORTHWHILE = 0.5
"""A difference longer than this share of the record is not worth reading two records: it is written whole."""
_MOST_DIFFERENCES = 8
"""That many lead from a record to a whole one at most: each costs some 30 microseconds of reading. The longer the chain, the
less often a difference has to tell of all that changed since the whole one."""
_BASE_BYTES = 8
"""What it costs to say to which record a difference is."""
_SMALLEST_BASE = 8
"""Bytes. zstd takes no shorter text before a record."""
_DOCUMENTS = "documents"
"""Of the meta table: the last document number that was given."""
_ABSENT = b"absent "


class ReadTransaction:
    """One consistent view of the store."""

    def __init__(self, transaction: Any, environment: Environment, cache: Cache) -> None:
        self._transaction = transaction
        self._tables = environment.tables
        self._cache = cache
        self.postings = Postings(transaction, environment.tables, cache.chunks)
        self.words = Vocabulary(transaction, environment.tables)
        self.paths = Paths(transaction, environment.tables, cache.blocks)
        self.serial = environment.serial
        """Document numbers that were read under another serial mean nothing here."""

    def _get(self, table: str, key: bytes) -> bytes | None:
        value = self._transaction.get(key, db=self._tables[table])
        return None if value is None else bytes(value)

    def blob_address(self, blob: BlobId, tag: bytes) -> Address | None:
        """Where the record of a blob lies, read as the language and extractor version that `tag` stands for."""
        value = self._get("blob", blob_key(blob, tag))
        return None if value is None else Address(*_ADDRESS.unpack_from(value))

    def interface_address(self, blob: BlobId, tag: bytes) -> Address | None:
        """Where the interface of a blob lies, if it was kept."""
        value = self._get("blob", blob_key(blob, tag))
        return Address(*_ADDRESS.unpack_from(value, _BLOB.size)) if value is not None and len(value) > _BLOB.size else None

    def document(self, blob: BlobId, tag: bytes) -> int:
        """The number that the words of a blob are posted under; 0 if they are not."""
        value = self._get("blob", blob_key(blob, tag))
        return 0 if value is None else int(_BLOB.unpack_from(value)[2])

    def record(self, address: Address) -> bytes | None:
        """The bytes of a record; None, with a line in the log, for a damaged pack: a bad entry is a miss."""
        try:
            return self._whole_record(address)
        except (LookupError, ValueError) as error:
            if self._cache.is_news(address.pack):
                _LOG.warning("pack %s is damaged, its records are worked out again: %s", address.pack, error)
            return None

    def _whole_record(self, address: Address) -> bytes:
        *differences, whole = self._chain(address)
        record = self._pack(whole.pack).records[whole.slot]
        for each in reversed(differences):
            record = undo_difference(self._pack(each.pack).records[each.slot], record)
        return record

    def _chain(self, address: Address) -> list[Address]:
        """A record, the one that it is a difference to, and so on to one that is whole."""
        chain = [address]
        while (base := self._pack(chain[-1].pack).bases.get(chain[-1].slot)) is not None:
            if base.pack >= chain[-1].pack:
                raise ValueError("a difference to what was written later")
            chain.append(base)
        return chain

    def _pack(self, number: int) -> Pack:
        return self._cache.pack(number, lambda: self._read_pack(number))

    def _read_pack(self, number: int) -> Pack:
        value = self._transaction.get(number.to_bytes(4, "big"), db=self._tables["pack"])
        if value is None:
            raise LookupError("no such pack")
        return decode_pack(value)

    def node(self, address: Address) -> bytes:
        """A directory's node. Raises DamagedStore for one that is missing or damaged."""
        try:
            return self._whole_record(address)
        except (LookupError, ValueError) as error:
            raise DamagedStore(f"node {address.pack}:{address.slot} is damaged: {error}") from error

    def snapshot_root(self, tree: TreeId, tag: bytes) -> Address | None:
        """Where the root's node lies, if the tree was brought in by this version of the analysis."""
        value = self._get("snapshot", bytes.fromhex(tree) + tag)
        return None if value is None else Address(*_ADDRESS.unpack(value))

    def absent(self, tree: TreeId, tag: bytes) -> tuple[BlobId, ...]:
        """Blobs that the clone which brought the snapshot in did not hold: nothing is said of them, nor of uses in them."""
        value = self._get("meta", _ABSENT + bytes.fromhex(tree) + tag)
        return () if value is None else unpack_value(value)

    def snapshots(self, tag: bytes) -> Iterator[TreeId]:
        """All trees that were brought in by this version of the analysis."""
        with self._transaction.cursor(self._tables["snapshot"]) as cursor:
            for key in cursor.iternext(values=False):
                if bytes(key[-len(tag) :]) == tag:
                    yield TreeId(bytes(key[: -len(tag)]).hex())

    def paths_posted(self, hashes: Iterable[int]) -> list[str]:
        """Paths under any of the key hashes, sorted: a superset, to be verified in the snapshot at hand."""
        return sorted(map(self.paths.path, self.postings.paths(hashes)))

    def meta(self, key: str) -> bytes | None:
        return self._get("meta", key.encode())

    def entries(self, table: str) -> int:
        count: int = self._transaction.stat(db=self._tables[table])["entries"]
        return count


class WriteTransaction(ReadTransaction):
    """The writer's view; everything written in it becomes visible at once, or not at all."""

    def __init__(self, transaction: Any, environment: Environment, cache: Cache) -> None:
        super().__init__(transaction, environment, cache)
        self._nodes: dict[bytes, Address] = {}
        """Nodes of directories that were taken, and where each lies or will lie."""
        self._waiting_nodes: list[tuple[bytes, Address | None]] = []
        """Those that wait for others to share the next pack, each with the address of its earlier version."""
        self._waiting_bytes = 0

    def put_packs(self, packs: Sequence[bytes]) -> list[int]:
        """Append encoded packs; their numbers."""
        self._write_nodes()
        return self._append(packs)

    def _append(self, packs: Sequence[bytes]) -> list[int]:
        first = self._next_pack()
        for number, pack in enumerate(packs, first):
            self._transaction.put(number.to_bytes(4, "big"), pack, db=self._tables["pack"], append=True)
        return list(range(first, first + len(packs)))

    def _next_pack(self) -> int:
        with self._transaction.cursor(self._tables["pack"]) as cursor:
            return 1 + int.from_bytes(cursor.key(), "big") if cursor.last() else 1

    def put_records(self, records: Sequence[bytes], bases: Sequence[Address | None] = ()) -> list[Address]:
        """Pack, compress and append records; where each lies.

        `bases` are the addresses of earlier versions of them: where that is worth it, only the difference is written.
        """
        written, kept = self._shortened(records, bases)
        addresses: list[Address] = []
        for group in packs_of(written):
            start = len(addresses)
            here = {slot - start: base for slot, base in kept.items() if start <= slot < start + len(group)}
            (number,) = self.put_packs([encode_pack(group, here)])
            addresses.extend(Address(number, slot) for slot in range(len(group)))
        return addresses

    def _shortened(self, records: Sequence[bytes], bases: Sequence[Address | None]) -> tuple[list[bytes], dict[int, Address]]:
        """The records, as differences where that is worth it; and to which record each difference is."""
        written, kept = list(records), {}
        for slot, (record, earlier) in enumerate(zip(records, bases, strict=False)):
            base = self._base(earlier)
            standing = self.record(base) if base is not None else None
            if base is not None and standing is not None and len(standing) >= _SMALLEST_BASE:
                short = difference(record, standing)
                if len(short) + _BASE_BYTES < len(record) * _WORTHWHILE:
                    written[slot], kept[slot] = short, base
        return written, kept

    def _base(self, earlier: Address | None) -> Address | None:
        """What a new version is written as a difference to: the earlier version, or the whole one that it goes back to."""
        if earlier is None or earlier.pack == 0:
            return None
        try:
            chain = self._chain(earlier)
        except (LookupError, ValueError):
            return None
        return earlier if len(chain) <= _MOST_DIFFERENCES else chain[-1]

    def put_blob(self, blob: BlobId, tag: bytes, address: Address) -> None:
        """Say where the record of a blob lies. Its document number stays; where its interface lies is to be said anew."""
        self._transaction.put(blob_key(blob, tag), _BLOB.pack(*address, self.document(blob, tag)), db=self._tables["blob"])

    def put_blobs(self, rows: Iterable[tuple[tuple[BlobId, bytes], Address, int, Address | None]]) -> None:
        """Say of blobs that are new here where their records lie, their document numbers, and where their interfaces lie."""
        values = {
            blob_key(*blob): _BLOB.pack(*record, document) + (b"" if interface is None else _ADDRESS.pack(*interface))
            for blob, record, document, interface in rows
        }
        is_first = not self.entries("blob")  # pages that are filled in order are full
        for key in sorted(values):
            self._transaction.put(key, values[key], db=self._tables["blob"], append=is_first)

    def load_words(self, documents: int, postings: Iterable[tuple[str, Sequence[int]]]) -> None:
        """Post the words of the documents from 1 on where none are posted yet: (word, numbers, ascending), sorted by word."""
        self.put_meta(_DOCUMENTS, documents.to_bytes(4, "big"))
        self.words.add(postings)

    def post_words(self, blobs: Sequence[tuple[BlobId, bytes]], postings: Iterable[tuple[str, Sequence[int]]]) -> None:
        """Give document numbers to known blobs and post their words: (word, places in `blobs`, ascending), sorted by word."""
        first = 1 + int.from_bytes(self.meta(_DOCUMENTS) or b"", "big")
        self.put_meta(_DOCUMENTS, (first + len(blobs) - 1).to_bytes(4, "big"))
        for number, (blob, tag) in enumerate(blobs, first):
            key = blob_key(blob, tag)
            value = self._get("blob", key)
            if value is not None:
                whole = _BLOB.pack(*_ADDRESS.unpack_from(value), number) + value[_BLOB.size :]
                self._transaction.put(key, whole, db=self._tables["blob"])
        self.words.add((word, [first + place for place in places]) for word, places in postings)

    def put_interface(self, blob: BlobId, tag: bytes, address: Address) -> None:
        """Say where the interface of a known blob lies."""
        key = blob_key(blob, tag)
        file = self._get("blob", key)
        if file is not None:
            self._transaction.put(key, file[: _BLOB.size] + _ADDRESS.pack(*address), db=self._tables["blob"])

    def put_node(self, value: bytes, earlier: Address | None = None) -> Address:
        """Take a directory's node; where it will lie when the transaction ends. `earlier` is where its earlier version lies."""
        if earlier is not None and self.record(earlier) == value:
            return earlier
        known = self._nodes.get(value)
        if known is None:
            if self._waiting_bytes > PACK_BYTES or len(self._waiting_nodes) >= MOST_RECORDS:
                self._write_nodes()
            known = self._nodes[value] = Address(self._next_pack(), len(self._waiting_nodes))
            self._waiting_nodes.append((value, earlier))
            self._waiting_bytes += len(value)
        return known

    def _write_nodes(self) -> None:
        """Write the nodes that wait: one pack, whose number they know already."""
        waiting, self._waiting_nodes, self._waiting_bytes = self._waiting_nodes, [], 0
        if waiting:
            written, bases = self._shortened([node for node, _ in waiting], [earlier for _, earlier in waiting])
            self._append([encode_pack(written, bases)])

    def flush(self) -> None:
        """Write what waits for the end of the transaction."""
        self._write_nodes()
        self.paths.flush()

    def put_snapshot(self, tree: TreeId, tag: bytes, root: Address, absent: Sequence[BlobId] = ()) -> None:
        key = bytes.fromhex(tree) + tag
        self._transaction.put(key, _ADDRESS.pack(*root), db=self._tables["snapshot"])
        if absent:
            self._transaction.put(_ABSENT + key, pack_value(tuple(absent)), db=self._tables["meta"])
        else:
            self._transaction.delete(_ABSENT + key, db=self._tables["meta"])

    def put_meta(self, key: str, value: bytes) -> None:
        self._transaction.put(key.encode(), value, db=self._tables["meta"])

    def post(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Add (key hash, path id) pairs to the inverted index."""
        self.postings.add(pairs)

    def post_sorted(self, pairs: Iterator[tuple[int, int]]) -> None:
        """Like `post`, for pairs in order of their keys; they are not held in memory."""
        self.postings.add_sorted(pairs)


def blob_key(blob: BlobId, tag: bytes) -> bytes:
    """10 bytes of the id are enough to tell the blobs of one family apart (2^-40 at a million of them)."""
    return bytes.fromhex(blob[:20]) + tag
