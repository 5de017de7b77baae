"""`Store`: typed tables over an LMDB environment. A query reads in one transaction; a write is one batch."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import struct
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tokenzip.errors import StoreChanged
from tokenzip.model import BlobId, TreeId
from tokenzip.store.environment import DamagedStore, Environment, Opener, translated
from tokenzip.store.postings import Postings
from tokenzip.store.records import (
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
from tokenzip.store.vocabulary import Vocabulary

_LOG = logging.getLogger(__name__)
_ADDRESS = struct.Struct(">IH")
_BLOB = struct.Struct(">IHI")
"""The first part of a blob's value: address of its record, document number (0: its words are not posted)."""
_CACHE_BYTES = 6 << 20
_CACHED_CHUNKS = 256
"""Of some 12 KB each."""
_WORTHWHILE = 0.25
"""A difference longer than this share of the record is not worth reading two records: it is written whole."""
_SMALLEST_DELTA = 64
"""Bytes of a node from which on a difference to its earlier version is tried."""
DIGEST = 10
"""Bytes of a node's name."""
_SMALLEST_BASE = 8
"""Bytes. zstd takes no shorter text before a record."""
_DOCUMENTS = "documents"
"""Of the meta table: the last document number that was given."""
_ABSENT = b"absent "
WRITE_PATIENCE = 60.0
"""Seconds to wait for another writer's batch before giving up with `StoreBusy`."""


class _Cache:
    """What one environment gave, decoded: packs by table and number (bounded by bytes), chunks of the postings."""

    def __init__(self) -> None:
        self.chunks: dict[bytes, Any] = {}
        self._packs: OrderedDict[tuple[str, int], Pack] = OrderedDict()
        self._bytes = 0
        self._damaged: set[tuple[str, int]] = set()
        self._lock = threading.Lock()

    def pack(self, table: str, number: int, read: Callable[[], Pack]) -> Pack:
        key = (table, number)
        with self._lock:
            known = self._packs.get(key)
            if known is not None:
                self._packs.move_to_end(key)
                return known
        fresh = read()
        with self._lock:
            if key not in self._packs:
                self._packs[key] = fresh
                self._bytes += sum(map(len, fresh.records))
            while self._bytes > _CACHE_BYTES and len(self._packs) > 1:
                _, dropped = self._packs.popitem(last=False)
                self._bytes -= sum(map(len, dropped.records))
            if len(self.chunks) > _CACHED_CHUNKS:
                self.chunks.clear()
        return fresh

    def is_news(self, table: str, number: int) -> bool:
        """Whether it was not known yet that this pack is damaged."""
        with self._lock:
            known = (table, number) in self._damaged
            self._damaged.add((table, number))
        return not known


class ReadTransaction:
    """One consistent view of the store."""

    def __init__(self, transaction: Any, environment: Environment, cache: _Cache) -> None:
        self._transaction = transaction
        self._tables = environment.tables
        self._cache = cache
        self.postings = Postings(transaction, environment.tables, cache.chunks)
        self.words = Vocabulary(transaction, environment.tables)
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

    def ir_record(self, address: Address) -> bytes | None:
        return self._record("ir", address)

    def interface_record(self, address: Address) -> bytes | None:
        return self._record("interface", address)

    def link_record(self, address: Address) -> bytes | None:
        return self._record("link", address)

    def _record(self, table: str, address: Address) -> bytes | None:
        """The bytes of a record; None, with a line in the log, for a damaged pack: a bad entry is a miss."""
        try:
            return self._whole_record(table, address)
        except (LookupError, ValueError) as error:
            if self._cache.is_news(table, address.pack):
                _LOG.warning("pack %s of table %s is damaged, its records are worked out again: %s", address.pack, table, error)
            return None

    def _whole_record(self, table: str, address: Address) -> bytes:
        pack = self._pack(table, address.pack)
        base = pack.bases.get(address.slot)
        record = pack.records[address.slot]
        return record if base is None else undo_difference(record, self._pack(table, base.pack).records[base.slot])

    def _pack(self, table: str, number: int) -> Pack:
        return self._cache.pack(table, number, lambda: self._read_pack(table, number))

    def _read_pack(self, table: str, number: int) -> Pack:
        value = self._transaction.get(number.to_bytes(4, "big"), db=self._tables[table])
        if value is None:
            raise LookupError("no such pack")
        return decode_pack(value)

    def node(self, digest: bytes) -> bytes:
        """A directory's node by its digest. Raises DamagedStore for one that is missing or another."""
        try:
            content = self._node(digest)
        except ValueError as error:
            raise DamagedStore(f"node {digest.hex()} is damaged: {error}") from error
        if content is None or node_digest(content) != digest:
            raise DamagedStore(f"node {digest.hex()} is {'missing' if content is None else 'damaged'}")
        return content

    def _node(self, digest: bytes) -> bytes | None:
        value = self._get("node", digest)
        if value is None or value[0] == 0:
            return None if value is None else value[1:]
        base = self._node(value[1 : 1 + DIGEST])
        return None if base is None else undo_difference(value[1 + DIGEST :], base)

    def snapshot_root(self, tree: TreeId, tag: bytes) -> bytes | None:
        """Digest of the root's node, if the tree was brought in by this version of the analysis."""
        return self._get("snapshot", bytes.fromhex(tree) + tag)

    def absent(self, tree: TreeId, tag: bytes) -> tuple[BlobId, ...]:
        """Blobs that the clone which brought the snapshot in did not hold: nothing is said of them, nor of uses in them."""
        value = self._get("meta", _ABSENT + bytes.fromhex(tree) + tag)
        return () if value is None else unpack_value(value)

    def snapshots(self, tag: bytes) -> Iterator[tuple[TreeId, bytes]]:
        """All trees in the store and their roots."""
        with self._transaction.cursor(self._tables["snapshot"]) as cursor:
            for key, value in cursor:
                if bytes(key[-len(tag) :]) == tag:
                    yield TreeId(bytes(key[: -len(tag)]).hex()), bytes(value)

    def path(self, path_id: int) -> str:
        value = self._get("path", path_id.to_bytes(4, "big"))
        if value is None:
            raise DamagedStore(f"path {path_id} is not in the store")
        return value.decode("utf-8", "surrogateescape")

    def all_paths(self) -> Iterator[tuple[int, str]]:
        """Every path that was ever given an id."""
        with self._transaction.cursor(self._tables["path"]) as cursor:
            for key, value in cursor:
                yield int.from_bytes(key, "big"), bytes(value).decode("utf-8", "surrogateescape")

    def path_id(self, path: str) -> int | None:
        value = self._get("path_id", _path_digest(path))
        return None if value is None else int.from_bytes(value, "big")

    def paths_posted(self, hashes: Iterable[int]) -> list[str]:
        """Paths under any of the key hashes, sorted: a superset, to be verified in the snapshot at hand."""
        return sorted(self.path(path_id) for path_id in self.postings.paths(hashes))

    def meta(self, key: str) -> bytes | None:
        return self._get("meta", key.encode())

    def entries(self, table: str) -> int:
        count: int = self._transaction.stat(db=self._tables[table])["entries"]
        return count


class WriteTransaction(ReadTransaction):
    """The writer's view; everything written in it becomes visible at once, or not at all."""

    def put_packs(self, table: str, packs: Sequence[bytes]) -> list[int]:
        """Append encoded packs; their numbers."""
        first = self._last_number(table) + 1
        for number, pack in enumerate(packs, first):
            self._transaction.put(number.to_bytes(4, "big"), pack, db=self._tables[table], append=True)
        return list(range(first, first + len(packs)))

    def put_records(self, table: str, records: Sequence[bytes], bases: Sequence[Address | None] = ()) -> list[Address]:
        """Pack, compress and append records; where each lies.

        `bases` are the addresses of earlier versions of them: where that is worth it, only the difference is written.
        """
        written, kept = list(records), {}
        for slot, (record, earlier) in enumerate(zip(records, bases, strict=False)):
            base = self._whole_base(table, earlier)
            if base is not None:
                short = difference(record, self._pack(table, base.pack).records[base.slot])
                if len(short) < len(record) * _WORTHWHILE:
                    written[slot], kept[slot] = short, base
        addresses: list[Address] = []
        for group in packs_of(written):
            start = len(addresses)
            here = {slot - start: base for slot, base in kept.items() if start <= slot < start + len(group)}
            (number,) = self.put_packs(table, [encode_pack(group, here)])
            addresses.extend(Address(number, slot) for slot in range(len(group)))
        return addresses

    def _whole_base(self, table: str, earlier: Address | None) -> Address | None:
        """The whole record that an earlier version is, or is written as a difference to; so differences never add up."""
        if earlier is None or earlier.pack == 0:
            return None
        try:
            address = self._pack(table, earlier.pack).bases.get(earlier.slot, earlier)
            size = len(self._pack(table, address.pack).records[address.slot])
        except (LookupError, ValueError):
            return None
        return address if size >= _SMALLEST_BASE else None

    def put_blob(self, blob: BlobId, tag: bytes, address: Address) -> None:
        """Say where the record of a blob lies. Its document number stays; where its interface lies is to be said anew."""
        self._transaction.put(blob_key(blob, tag), _BLOB.pack(*address, self.document(blob, tag)), db=self._tables["blob"])

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

    def put_node(self, value: bytes, base: bytes | None = None) -> bytes:
        """Store a directory's node under the digest of its value, which is returned; `base` is its earlier version's digest."""
        digest = node_digest(value)
        stored = b"\0" + value
        earlier = self._get("node", base) if base is not None and len(value) >= _SMALLEST_DELTA else None
        if earlier is not None and base is not None:
            whole = base if earlier[0] == 0 else earlier[1 : 1 + DIGEST]
            content = self._node(whole)
            if content is not None and len(content) >= _SMALLEST_BASE:
                stored = min(stored, b"\1" + whole + difference(value, content), key=len)
        self._transaction.put(digest, stored, db=self._tables["node"], overwrite=False)
        return digest

    def put_snapshot(self, tree: TreeId, tag: bytes, root: bytes, absent: Sequence[BlobId] = ()) -> None:
        key = bytes.fromhex(tree) + tag
        self._transaction.put(key, root, db=self._tables["snapshot"])
        if absent:
            self._transaction.put(_ABSENT + key, pack_value(tuple(absent)), db=self._tables["meta"])
        else:
            self._transaction.delete(_ABSENT + key, db=self._tables["meta"])

    def put_meta(self, key: str, value: bytes) -> None:
        self._transaction.put(key.encode(), value, db=self._tables["meta"])

    def intern_path(self, path: str) -> int:
        """The id of a path, given now if it has none."""
        known = self.path_id(path)
        if known is not None:
            return known
        number = self._last_number("path") + 1
        key = number.to_bytes(4, "big")
        self._transaction.put(key, path.encode("utf-8", "surrogateescape"), db=self._tables["path"], append=True)
        self._transaction.put(_path_digest(path), key, db=self._tables["path_id"])
        return number

    def post(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Add (key hash, path id) pairs to the inverted index."""
        self.postings.add(pairs)

    def post_sorted(self, pairs: Iterator[tuple[int, int]]) -> None:
        """Like `post`, for pairs in order of their keys; they are not held in memory."""
        self.postings.add_sorted(pairs)

    def _last_number(self, table: str) -> int:
        with self._transaction.cursor(self._tables[table]) as cursor:
            return int.from_bytes(cursor.key(), "big") if cursor.last() else 0


class Store:
    """The store of one repository family. Opened at first use; safe to share between threads."""

    def __init__(self, folder: Path, *, on_notice: Callable[[str], None] = lambda _: None) -> None:
        self.folder = folder
        self._opener = Opener(folder, on_notice=on_notice)
        self._caches: dict[int, _Cache] = {}
        self._local = threading.local()

    @contextlib.contextmanager
    def reading(self) -> Iterator[ReadTransaction]:
        """A read transaction for one question; nested calls of a thread share the outermost one."""
        open_now: ReadTransaction | None = getattr(self._local, "reading", None)
        if open_now is not None:
            yield open_now
            return
        environment = self._opener.environment()
        with (
            self._renewed_if_damaged(environment),
            translated(environment.folder),
            environment.begin(write=False) as transaction,
        ):
            self._local.reading = ReadTransaction(transaction, environment, self._cache_of(environment))
            try:
                yield self._local.reading
            finally:
                self._local.reading = None

    @contextlib.contextmanager
    def _renewed_if_damaged(self, environment: Environment) -> Iterator[None]:
        """Damage that shows only when a page is read costs the store, a cache, and makes the question be asked again."""
        try:
            yield
        except DamagedStore as damage:
            self._opener.set_aside(environment, damage)
            raise StoreChanged(f"the store in {self.folder} was damaged and is made anew", hint="ask again") from damage

    def write(self, work: Callable[[WriteTransaction], Any], *, patience: float = WRITE_PATIENCE) -> Any:
        """Run `work` in one write transaction (again from its start if the map had to grow) and give what it gives.

        Raises StoreBusy after `patience` seconds of waiting, StoreFull, StoreReadOnly; StoreChanged in a `single_flight`
        that began in another store.
        """
        opened = self._opener.environment()
        with self._renewed_if_damaged(opened), self._opener.locked("write", patience):
            environment = self._opener.environment()
            if getattr(self._local, "filling", environment) is not environment:
                raise StoreChanged(f"the store in {self.folder} was replaced while it was filled", hint="ask again")
            cache = self._cache_of(environment)

            def transaction_work(transaction: Any) -> Any:
                writer = WriteTransaction(transaction, environment, cache)
                outer = getattr(self._local, "reading", None)
                self._local.reading = writer
                try:
                    return work(writer)
                except BaseException:
                    self._caches = {}  # it may hold what this transaction wrote and now takes back
                    raise
                finally:
                    self._local.reading = outer

            return environment.write(transaction_work)

    @contextlib.contextmanager
    def single_flight(self, patience: float) -> Iterator[None]:
        """Held by the one process that brings a whole tree in, or renews the store; others wait and find it done.

        What is written meanwhile goes to one and the same store: it refers to what was written before.
        """
        self._opener.environment()
        with self._opener.locked("index", patience):
            self._local.filling = self._opener.environment()
            try:
                yield
            finally:
                del self._local.filling

    def _cache_of(self, environment: Environment) -> _Cache:
        key = id(environment)
        cache = self._caches.get(key)
        if cache is None:
            self._caches = {key: (cache := _Cache())}
        return cache

    @property
    def used_bytes(self) -> int:
        return self._opener.environment().used_bytes()

    @property
    def file_bytes(self) -> int:
        return self._opener.environment().file_bytes()

    def rewrite(self, copy: Callable[[ReadTransaction, WriteTransaction], None], *, patience: float = WRITE_PATIENCE) -> None:
        """Begin a new generation with what `copy` takes over from the live one, and make it the live one."""
        opened = self._opener.environment()
        with self._renewed_if_damaged(opened), self._opener.locked("write", patience):
            old = self._opener.environment()
            folder = self._opener.next_generation()
            fresh = Environment(folder, read_only=False)
            with old.begin(write=False) as transaction:
                reader = ReadTransaction(transaction, old, _Cache())
                fresh.write(lambda writing: copy(reader, WriteTransaction(writing, fresh, _Cache())))
            fresh.sync()
            fresh.close()
            self._opener.point_to(folder.name)
            self._opener.remove_old_generations()


def blob_key(blob: BlobId, tag: bytes) -> bytes:
    """10 bytes of the id are enough to tell the blobs of one family apart (2^-40 at a million of them)."""
    return bytes.fromhex(blob[:20]) + tag


def node_digest(value: bytes) -> bytes:
    return hashlib.blake2b(value, digest_size=DIGEST).digest()


def _path_digest(path: str) -> bytes:
    return hashlib.blake2b(path.encode("utf-8", "surrogateescape"), digest_size=8).digest()
