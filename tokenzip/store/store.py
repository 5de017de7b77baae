"""`Store`: the store of one repository family: opens it, hands out transactions, replaces it when it is damaged or renewed."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tokenzip.errors import StoreChanged
from tokenzip.store.cache import Cache
from tokenzip.store.database import ReadTransaction, WriteTransaction
from tokenzip.store.environment import DamagedStore, Environment, Opener, translated

WRITE_PATIENCE = 60.0
"""Seconds to wait for another writer's batch before giving up with `StoreBusy`."""


class Store:
    """The store of one repository family. Opened at first use; safe to share between threads."""

    def __init__(self, folder: Path, *, on_notice: Callable[[str], None] = lambda _: None) -> None:
        self.folder = folder
        self._opener = Opener(folder, on_notice=on_notice)
        self._caches: dict[int, Cache] = {}
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
            environment.undisturbed(),
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
                    outcome = work(writer)
                    writer.flush()
                    return outcome
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

    def _cache_of(self, environment: Environment) -> Cache:
        key = id(environment)
        cache = self._caches.get(key)
        if cache is None:
            self._caches = {key: (cache := Cache())}
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
                reader = ReadTransaction(transaction, old, Cache())

                def copy_all(writing: Any) -> None:
                    writer = WriteTransaction(writing, fresh, Cache())
                    copy(reader, writer)
                    writer.flush()

                fresh.write(copy_all)
            fresh.sync()
            fresh.close()
            self._opener.point_to(folder.name)
            self._opener.remove_old_generations()
