"""The LMDB environment below a store: opening, locking, growing, and telling faults apart.

A store's folder::

    v4/                     the format's number: a newer tokenzip makes its own folder and leaves this one readable
      current               the number of the live generation, one line
      write.lock            taken (and polled) before any write; freed by the system when its holder dies
      index.lock            taken by whoever fills the store with a whole tree, so that only one process does
      <generation>/data.mdb, lock.mdb

`gc` writes a new generation beside the old one and then changes `current`. Whoever still reads the old one goes on
undisturbed and notices at its next transaction; nothing is ever replaced below an open environment.

What is guarded against here was measured (``docs/decisions/0001-store.md``): a map that another process grew, a full
disk, a reader table full of the dead, a truncated file (which would kill the process), a second opening in one process, a
folder that was deleted while open.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, TypeVar

import lmdb

from tokenzip.errors import StoreBusy, StoreChanged, StoreError, StoreFull, StoreReadOnly

FORMAT = 4
"""History of the format. 1: first. 2: records and nodes may be differences to earlier versions. 3: the words of contents are
stored, and each file record has the number that its words are posted under. 4: all records lie in one table, paths in blocks,
keys of the index have 26 bits, edges name their targets by how long ago they were used.

Another format is another folder: what an older tokenzip stored stays for it and is not read, and the first question fills a
new one. `gc` removes what nobody has used for long (`formats`).
"""
TABLES = ("meta", "blob", "pack", "snapshot", "path", "path_id", "postings", "words")
_MAP_SIZE = 1 << 38
_SMALL_MAP_SIZE = 1 << 28
_MAX_READERS = 1024
_READERS_PATIENCE = 60.0
"""Seconds that a reader waits whom LMDB cannot note as one."""
_NEEDED_FREE_BYTES = 16 << 20
"""A commit on a full disk is an I/O error and making a store there can kill the process: ask before."""

_LMDB_MAGIC = 0xBEEFC0DE
_PAGE_SIZES = frozenset(1 << bits for bits in range(9, 17))

_serials = itertools.count()
T = TypeVar("T")


class FileLock:
    """An advisory lock on a file, polled so that waiting can end. The system frees it when the process dies.

    A `shared` one may be held by many, keeps away who wants it alone, and needs no right to write.
    """

    def __init__(self, path: Path, *, shared: bool = False) -> None:
        self._path = path
        self._shared = shared
        self._file: IO[bytes] | None = None

    def acquire(self, seconds: float) -> bool:
        """Whether the lock was had within that time (0: try once)."""
        deadline = time.monotonic() + seconds
        file = self._path.open("rb" if self._shared else "ab")
        while not _try_lock(file, shared=self._shared):
            if time.monotonic() >= deadline:
                file.close()
                return False
            time.sleep(0.01)
        self._file = file
        return True

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _try_lock(file: IO[bytes], *, shared: bool) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            if shared:  # there is none; who may not write shares a store with nobody
                return True
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            return False
        raise
    return True


class Environment:
    """One opened generation of a store. Made by `Opener`, which keeps one for each folder and process."""

    def __init__(self, folder: Path, *, read_only: bool) -> None:
        self.folder = folder
        self.read_only = read_only
        self._data = folder / "data.mdb"
        self._is_noted = True
        """Whether LMDB notes who reads here, so that writers leave in place what is being read."""
        self._refuse_truncated()
        self._lmdb = self._open()
        self._identity = _identity(self._data)
        self.serial = next(_serials)
        """Names this opening in this process."""
        self.tables: dict[str, Any] = {}
        self._open_tables()
        with contextlib.suppress(lmdb.Error):
            self._lmdb.reader_check()

    def _open(self) -> Any:
        options: dict[str, Any] = {
            "max_dbs": len(TABLES) + 4, "max_readers": _MAX_READERS, "create": not self.read_only, "readonly": self.read_only,
            "mode": 0o666,  # as the user's mask allows: in a folder of a group, its members write to one store
        }  # fmt: skip
        with translated(self.folder):
            try:
                return lmdb.open(str(self.folder), map_size=_MAP_SIZE, **options)
            except (lmdb.MemoryError, MemoryError):  # an address-space limit: live with a map that grows
                return lmdb.open(str(self.folder), map_size=max(_SMALL_MAP_SIZE, 2 * _size(self._data)), **options)
            except lmdb.ReadonlyError:
                if not self.read_only:
                    raise
                self._is_noted = False
                return lmdb.open(str(self.folder), map_size=_MAP_SIZE, lock=False, **options)

    def _refuse_truncated(self) -> None:
        """A data file shorter than its own last page kills the process that reads what is missing (SIGBUS)."""
        if _size(self._data) == 0:
            return
        with self._data.open("rb") as file:
            pages = [_meta_page(file, number) for number in (0, 1)]
        valid = [page for page in pages if page is not None]
        if not valid:
            raise DamagedStore(f"{self._data} is no store: its head is damaged")
        _, last_page, page_size = max(valid)
        size = _size(self._data)  # asked for after the head was read: another process may be making both grow
        whole = (last_page + 1) * page_size
        if size < whole and not _can_be_read_through(self.folder):
            raise DamagedStore(f"{self._data} is cut short: {size} bytes where {whole} should be")

    def _open_tables(self) -> None:
        with translated(self.folder), self.undisturbed():
            if self.read_only:
                for name in TABLES:  # not in a transaction of ours: what is opened in one for reading ends with it
                    with contextlib.suppress(lmdb.NotFoundError, lmdb.ReadonlyError):
                        self.tables[name] = self._lmdb.open_db(name.encode(), create=False)
                if len(self.tables) != len(TABLES):
                    raise StoreReadOnly(f"the store in {self.folder} is empty and cannot be written")
            else:
                for name in TABLES:
                    self.tables[name] = self._lmdb.open_db(name.encode(), create=True)

    @contextlib.contextmanager
    def undisturbed(self) -> Iterator[None]:
        """For reading. Who may not even note himself as a reader keeps writers away meanwhile, who may be other users."""
        with contextlib.ExitStack() as held:
            if not self._is_noted:
                lock = FileLock(self.folder.parent / "write.lock", shared=True)
                with contextlib.suppress(OSError):  # nobody has written yet, or nobody else can
                    if not lock.acquire(_READERS_PATIENCE):
                        raise StoreBusy(f"another user has been writing to the store in {self.folder.parent} for long")
                    held.callback(lock.release)
            yield

    @property
    def is_stale(self) -> bool:
        """Whether the file below was deleted or replaced since it was opened."""
        return _identity(self._data) != self._identity

    def begin(self, *, write: bool) -> Any:
        """A transaction, the caller's to end. A map that another process grew is adopted; dead readers make room."""
        with translated(self.folder):
            try:
                return self._lmdb.begin(write=write, buffers=True)
            except lmdb.MapResizedError:
                self._lmdb.set_mapsize(0)
            except lmdb.ReadersFullError:
                self._lmdb.reader_check()
            return self._lmdb.begin(write=write, buffers=True)

    def write(self, work: Callable[[Any], T]) -> T:
        """Run `work` in one write transaction; when the map is full, grow it and run the whole of it again."""
        if _free_bytes(self.folder) < _NEEDED_FREE_BYTES:
            raise _full(self.folder)
        while True:
            try:
                with translated(self.folder), self.begin(write=True) as transaction:
                    return work(transaction)
            except _MapFull:
                with translated(self.folder):
                    self._lmdb.set_mapsize(2 * self._lmdb.info()["map_size"])

    def used_bytes(self) -> int:
        """Bytes of all pages in use, free ones left out."""
        with translated(self.folder), self._lmdb.begin() as transaction:
            stats = [transaction.stat(db=table) for table in self.tables.values()]
        pages: int = sum(stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"] for stat in stats)
        return pages * int(stats[0]["psize"])

    def file_bytes(self) -> int:
        return _size(self._data)

    def sync(self) -> None:
        with translated(self.folder):
            self._lmdb.sync(True)

    def close(self) -> None:
        self._lmdb.close()


class DamagedStore(StoreError):
    """The store's file is not what was written. It is a cache: `Opener` sets it aside and begins a new one."""

    code = "store_damaged"


class _MapFull(Exception):
    pass


class Opener:
    """Finds and opens the live generation of the store in `folder`, and opens again when it was replaced."""

    def __init__(self, folder: Path, *, on_notice: Callable[[str], None] = lambda _: None) -> None:
        self.folder = folder / f"v{FORMAT}"
        self._on_notice = on_notice
        self._environment: Environment | None = None

    def environment(self) -> Environment:
        """The environment to begin a transaction in. Two calls may give two: a transaction stays with its own."""
        opened = self._environment
        if opened is None or opened.folder.name != self._current() or opened.is_stale:
            opened = self._environment = self._open_current()
        return opened

    def _current(self) -> str:
        try:
            return (self.folder / "current").read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return ""

    def _open_current(self) -> Environment:
        generation = self._current() or self._begin_first()
        read_only = not self._is_writable()
        try:
            return _shared_environment(self.folder / generation, read_only=read_only)
        except DamagedStore as damage:
            if read_only:
                raise
            self._set_aside(generation, damage)
            return self._open_current()

    def _is_writable(self) -> bool:
        """Whether the live generation can be written: another user may have made files in our folder that only he may write."""
        files = (*self.folder.glob("*.lock"), *(self.folder / (self._current() or "none")).glob("*.mdb"))
        return _is_writable(self.folder) and all(os.access(file, os.W_OK) for file in files)

    def _begin_first(self) -> str:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _cannot_write(self.folder, error) from error
        if not _is_writable(self.folder):
            raise StoreReadOnly(
                f"the store's folder {self.folder} does not exist yet and cannot be made",
                hint="set TOKENZIP_HOME to a folder that you can write",
            )
        lock = FileLock(self.folder / "write.lock")
        if not lock.acquire(10):
            raise StoreBusy(f"the store in {self.folder} is being set up by another process", hint="try again")
        try:
            return self._current() or self.make_generation("1")
        finally:
            lock.release()

    def make_generation(self, generation: str) -> str:
        """Begin an empty generation and make it the live one; the caller holds the write lock."""
        if _free_bytes(self.folder) < _NEEDED_FREE_BYTES:
            raise _full(self.folder)
        (self.folder / generation).mkdir(exist_ok=True)
        self.point_to(generation)
        return generation

    def point_to(self, generation: str) -> None:
        """Make a generation the live one, in one step."""
        fresh = self.folder / f"current.{os.getpid()}"
        fresh.write_text(generation + "\n", "ascii")
        os.replace(fresh, self.folder / "current")

    def set_aside(self, environment: Environment, damage: DamagedStore) -> None:
        """Begin a new store where `environment` is the live one and was found damaged. Raises `damage` if that may not be."""
        if environment.read_only:
            raise damage
        self._set_aside(environment.folder.name, damage)

    def _set_aside(self, generation: str, damage: DamagedStore) -> None:
        lock = FileLock(self.folder / "write.lock")
        if not lock.acquire(10):
            raise StoreBusy(f"the store in {self.folder} is damaged and in use", hint="try again") from damage
        try:
            if self._current() == generation:
                self.make_generation(str(int(generation) + 1) if generation.isdigit() else "1")
                self._on_notice(f"the store was damaged and is made anew ({damage.message})")
                shutil.rmtree(self.folder / generation, ignore_errors=True)
        finally:
            lock.release()

    def next_generation(self) -> Path:
        """An empty folder for the generation after the live one; what a killed `gc` left there is removed."""
        current = self._current()
        if _free_bytes(self.folder) < _NEEDED_FREE_BYTES + _size(self.folder / current / "data.mdb"):
            raise _full(self.folder)  # LMDB kills the process that makes a store on a full disk
        folder = self.folder / str(int(current) + 1 if current.isdigit() else 1)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def remove_old_generations(self) -> None:
        """Remove every generation but the live one; a system that keeps open files in place leaves them for later."""
        current = self._current()
        for entry in self.folder.iterdir():
            if entry.is_dir() and entry.name.isdigit() and entry.name != current:
                shutil.rmtree(entry, ignore_errors=True)

    @contextlib.contextmanager
    def locked(self, name: str, seconds: float) -> Iterator[None]:
        """Hold the lock file `name` (``write``, ``index``); StoreBusy when another process keeps it longer than that."""
        if not self.folder.is_dir():
            raise StoreChanged(f"the store in {self.folder} was removed", hint="ask again")
        if not self._is_writable():
            raise StoreReadOnly(
                f"the store in {self.folder} cannot be written", hint="set TOKENZIP_HOME to a folder that you can write"
            )
        lock = FileLock(self.folder / f"{name}.lock")
        if not lock.acquire(seconds):
            raise StoreBusy(
                f"another process has been writing to the store in {self.folder} for {seconds:.0f} s",
                hint="wait for it, or look for a tokenzip that hangs",
            )
        try:
            yield
        finally:
            lock.release()


_READ_THROUGH = """
import sys, lmdb
environment = lmdb.open(sys.argv[1], readonly=True, lock=False, max_dbs=64, map_size=1 << 36)
with environment.begin() as transaction:
    names = [name for name, _ in transaction.cursor()]
tables = [environment.open_db(name, create=False) for name in names]
with environment.begin(buffers=True) as transaction:
    for table in tables:
        for _, value in transaction.cursor(table):
            bytes(value)
"""


def _can_be_read_through(folder: Path) -> bool:
    """Whether a child process survives reading everything: LMDB may end its file before a last page that nothing uses."""
    command = (sys.executable, "-P", "-c", _READ_THROUGH, str(folder))
    return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False).returncode == 0


# LMDB refuses a second opening of one file in a process, so repositories that share a store share its environment. A
# replaced one is kept until the process ends: closing it below a reader would be fatal, and an idle one costs nothing.
_environments: dict[Path, Environment] = {}
_replaced: list[Environment] = []
_environments_lock = threading.Lock()


def _shared_environment(folder: Path, *, read_only: bool) -> Environment:
    key = folder.resolve()
    with _environments_lock:
        known = _environments.get(key)
        if known is not None and not known.is_stale and known.read_only == read_only:
            return known
        if known is not None:
            _replaced.append(known)
        _environments[key] = fresh = Environment(folder, read_only=read_only)
        return fresh


@contextlib.contextmanager
def translated(folder: Path) -> Iterator[None]:
    """LMDB's faults in our words; faults that a caller handles by itself pass."""
    try:
        yield
    except (lmdb.MapResizedError, lmdb.ReadersFullError, lmdb.ReadonlyError, lmdb.MemoryError):
        raise
    except lmdb.MapFullError as error:
        raise _MapFull from error
    except (
        lmdb.CorruptedError,
        lmdb.InvalidError,
        lmdb.PanicError,
        lmdb.PageNotFoundError,
        lmdb.VersionMismatchError,
        lmdb.BadTxnError,  # what follows in a transaction that came upon damage
    ) as error:
        raise DamagedStore(f"the store in {folder} is damaged: {error}") from error
    except lmdb.DiskError as error:
        raise _full(folder) from error
    except lmdb.Error as error:
        if _free_bytes(folder) < _NEEDED_FREE_BYTES:
            raise _full(folder) from error
        if "Permission denied" in str(error) or "Read-only" in str(error):
            raise _cannot_write(folder, error) from error
        raise StoreError(f"the store in {folder} does not answer: {error}", hint="run `tokenzip doctor`") from error


def _full(folder: Path) -> StoreFull:
    return StoreFull(
        f"no room on the disk for the store in {folder} ({_free_bytes(folder) >> 20} MB free)",
        hint="make room, remove a store with `tokenzip clean`, or set TOKENZIP_HOME to a folder on another disk",
    )


def _cannot_write(folder: Path, error: Exception) -> StoreReadOnly:
    return StoreReadOnly(
        f"the store's folder {folder} cannot be written ({error})", hint="set TOKENZIP_HOME to a folder that you can write"
    )


def _meta_page(file: IO[bytes], number: int) -> tuple[int, int, int] | None:
    """(transaction, last page, page size) of one of LMDB's two meta pages, None if it is not one.

    Layout: ``struct MDB_meta`` in LMDB's mdb.c (64-bit): 16 bytes page head, magic, version, address, map size, two 48-byte
    trees (the first begins with the page size), last page, transaction.
    """
    file.seek(number and _page_size(file))
    page = file.read(152)
    if len(page) < 152 or int.from_bytes(page[16:20], sys.byteorder) != _LMDB_MAGIC:
        return None
    last_page, transaction = (int.from_bytes(page[at : at + 8], sys.byteorder) for at in (136, 144))
    return transaction, last_page, int.from_bytes(page[40:44], sys.byteorder)


def _page_size(file: IO[bytes]) -> int:
    file.seek(40)
    size = int.from_bytes(file.read(4), sys.byteorder)
    return size if size in _PAGE_SIZES else 4096


def _identity(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return status.st_dev, status.st_ino


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


def _free_bytes(folder: Path) -> int:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 1 << 62
