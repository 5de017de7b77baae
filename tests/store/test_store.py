"""The store under what machines do to it: killed writers, damage, deletion, full tables, two writers, no rights."""

import ast
import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tokenzip.errors import StoreBusy, StoreChanged, StoreFull, StoreReadOnly
from tokenzip.model import BlobId, TreeId
from tokenzip.store import Address, Store, database, environment, older_formats, remove_format

BLOB = BlobId("ab" * 20)
TREE = TreeId("cd" * 20)


def put(store: Store, *records: bytes) -> list[Address]:
    addresses: list[Address] = store.write(lambda writing: writing.put_records(list(records)))
    return addresses


def get(store: Store, address: Address) -> bytes | None:
    with store.reading() as reading:
        return reading.record(address)


def test_records_are_found_again_in_another_process(tmp_path):
    store = Store(tmp_path)
    (address,) = put(store, b"one")
    store.write(lambda writing: writing.put_blob(BLOB, b"lang", address))
    script = (
        "import sys; from pathlib import Path; from tokenzip.store import Store\n"
        "with Store(Path(sys.argv[1])).reading() as r: print(r.record(r.blob_address('ab' * 20, b'lang')))"
    )
    out = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert out.stdout == "b'one'\n"


def test_a_failed_write_leaves_nothing(tmp_path):
    store = Store(tmp_path)
    put(store, b"one")

    def fail(writing):
        writing.put_records([b"two"])
        writing.put_meta("x", b"y")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.write(fail)
    with store.reading() as reading:
        assert reading.meta("x") is None
        assert reading.entries("pack") == 1
    (address,) = put(store, b"three")
    assert get(store, address) == b"three"


def test_a_map_that_is_too_small_grows(tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "_MAP_SIZE", 1 << 18)
    store = Store(tmp_path)
    big = [os.urandom(20_000) for _ in range(100)]
    addresses = put(store, *big)
    assert get(store, addresses[-1]) == big[-1]


def test_a_map_grown_by_another_process_is_adopted(tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "_MAP_SIZE", 1 << 18)
    store = Store(tmp_path)
    (first,) = put(store, b"one")
    script = (
        "import os, sys; from pathlib import Path; from tokenzip.store import Store\n"
        "Store(Path(sys.argv[1])).write(lambda w: w.put_records([os.urandom(20000) for _ in range(100)]))"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True)
    assert get(store, first) == b"one"
    (after,) = put(store, b"two")
    assert get(store, after) == b"two"


@pytest.mark.parametrize("damage", ["half", "head", "junk"])
def test_a_damaged_file_is_set_aside_and_told_once(tmp_path, damage):
    store = Store(tmp_path)
    put(store, *[os.urandom(9000) for _ in range(50)])
    data = tmp_path / f"v{environment.FORMAT}" / "1" / "data.mdb"
    content = data.read_bytes()
    damaged = {"half": content[: len(content) // 2], "head": b"\0" * 8192 + content[8192:], "junk": b"junk" * 5000}[damage]
    script = (
        "import sys; from pathlib import Path; from tokenzip.store import Store\n"
        "s = Store(Path(sys.argv[1]), on_notice=print); s.write(lambda w: w.put_records([b'x']))"
    )
    data.write_bytes(damaged)
    out = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert "made anew" in out.stdout
    again = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert again.stdout == ""


def test_a_damaged_record_is_a_miss(tmp_path, caplog):
    store = Store(tmp_path)
    (number,) = store.write(lambda writing: writing.put_packs([b"no pack at all"]))
    assert get(store, Address(number, 0)) is None
    assert "worked out again" in caplog.text
    assert get(store, Address(999, 0)) is None


def test_a_deleted_folder_is_noticed(tmp_path):
    store = Store(tmp_path)
    put(store, b"one")
    shutil.rmtree(tmp_path)
    (address,) = put(store, b"two")
    assert get(store, address) == b"two"
    assert list(tmp_path.rglob("data.mdb"))


def test_two_writers_wait_in_turn_or_give_up(tmp_path):
    store = Store(tmp_path)
    put(store, b"one")
    entered, leave = threading.Event(), threading.Event()

    def slow(writing):
        entered.set()
        leave.wait(10)

    other = threading.Thread(target=lambda: store.write(slow))
    other.start()
    entered.wait(10)
    with pytest.raises(StoreBusy, match="another process"):
        store.write(lambda writing: None, patience=0.05)
    assert get(store, Address(1, 0)) == b"one"
    leave.set()
    other.join()
    put(store, b"two")


def _hold(folder: str, ready: str) -> None:
    def forever(writing):
        Path(ready).touch()
        time.sleep(60)

    Store(Path(folder)).write(forever)


def test_a_killed_writer_frees_its_place(tmp_path):
    store = Store(tmp_path / "store")
    put(store, b"one")
    ready = tmp_path / "ready"
    process = multiprocessing.get_context("spawn").Process(target=_hold, args=(str(tmp_path / "store"), str(ready)))
    process.start()
    while not ready.exists():
        time.sleep(0.01)
    process.kill()
    process.join()
    (address,) = put(store, b"two")
    assert get(store, address) == b"two"


def test_a_full_disk_is_told_before_anything_is_lost(tmp_path, monkeypatch):
    store = Store(tmp_path)
    (address,) = put(store, b"one")
    monkeypatch.setattr(environment, "_free_bytes", lambda folder: 1 << 20)
    with pytest.raises(StoreFull, match="no room") as caught:
        put(store, b"two")
    assert "TOKENZIP_HOME" in caught.value.hint
    assert get(store, address) == b"one"


def test_a_home_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreReadOnly) as caught:
        put(Store(tmp_path / "file" / "store"), b"one")
    assert "TOKENZIP_HOME" in caught.value.hint


def test_a_rewrite_leaves_readers_of_the_old_generation_in_peace(tmp_path):
    store = Store(tmp_path)
    (address,) = put(store, b"one")
    with store.reading() as reading:
        store.rewrite(lambda old, new: new.put_records([b"zero", old.record(address) or b""]))
        assert reading.record(address) == b"one"
    assert get(store, Address(1, 1)) == b"one"
    assert get(store, Address(1, 0)) == b"zero"
    assert sorted(entry.name for entry in (tmp_path / f"v{environment.FORMAT}").iterdir() if entry.is_dir()) == ["2"]


def test_a_killed_rewrite_is_swept_away(tmp_path):
    store = Store(tmp_path)
    (address,) = put(store, b"one")
    leftover = tmp_path / f"v{environment.FORMAT}" / "2"
    leftover.mkdir()
    (leftover / "data.mdb").write_bytes(b"half written")
    assert get(store, address) == b"one"
    store.rewrite(lambda old, new: new.put_records([old.record(address) or b""]))
    assert get(store, Address(1, 0)) == b"one"


def test_another_format_is_left_alone(tmp_path):
    other = tmp_path / f"v{environment.FORMAT + 1}"
    other.mkdir(parents=True)
    (other / "current").write_text("1")
    store = Store(tmp_path)
    put(store, b"one")
    assert (other / "current").read_text() == "1"


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files mean nothing")
def test_a_group_may_write_what_its_members_make_if_their_masks_allow(tmp_path):
    before = os.umask(0o002)
    try:
        put(Store(tmp_path), b"one")
    finally:
        os.umask(before)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name: path.stat().st_mode & 0o777 for path in files} == dict.fromkeys(
        ("current", "data.mdb", "lock.mdb", "write.lock"), 0o664
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there is no shared lock")
def test_who_cannot_be_noted_as_a_reader_keeps_writers_away(tmp_path, monkeypatch):
    store = Store(tmp_path)
    (address,) = put(store, b"one")
    monkeypatch.setattr(store._opener.environment(), "_is_noted", False)
    monkeypatch.setattr(environment, "_READERS_PATIENCE", 0)
    writers = environment.FileLock(store._opener.folder / "write.lock")
    with store.reading() as reading:
        assert reading.record(address) == b"one"
        assert get(Store(tmp_path), address) == b"one"
        assert not writers.acquire(0)
    assert writers.acquire(0)
    with pytest.raises(StoreBusy, match="another user"):
        get(store, address)
    writers.release()
    assert get(store, address) == b"one"


@pytest.mark.skipif(sys.platform == "win32", reason="there the system itself refuses")
def test_an_older_format_goes_when_no_process_has_it_open(tmp_path):
    put(Store(tmp_path), b"one")
    old = tmp_path / "v1"
    shutil.copytree(tmp_path / f"v{environment.FORMAT}", old)
    (tmp_path / f"v{environment.FORMAT + 1}").mkdir()
    (tmp_path / "v0.removed-1").mkdir()
    holder = subprocess.Popen(
        [sys.executable, "-c", f"import lmdb; held = lmdb.open({str(old / '1')!r}); print(flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout.readline()
    grave, found = older_formats(tmp_path)
    assert (grave.name, found.name, found.bytes > 0, found.used > time.time() - 60) == ("v0", "v1", True, True)
    assert remove_format(grave)
    assert not remove_format(found)
    holder.communicate(b"\n")
    lock = environment.FileLock(old / "write.lock")
    assert lock.acquire(0)
    assert not remove_format(found)
    lock.release()
    assert remove_format(found)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"v{environment.FORMAT}", f"v{environment.FORMAT + 1}"]


def test_nodes_are_shared_and_snapshots_found(tmp_path):
    store = Store(tmp_path)

    def work(writing):
        first, second = writing.put_node(b"same"), writing.put_node(b"same")
        assert first == second
        writing.put_snapshot(TREE, b"tag1", first)
        return first

    root = store.write(work)
    with store.reading() as reading:
        assert reading.snapshot_root(TREE, b"tag1") == root
        assert reading.snapshot_root(TREE, b"tag2") is None
        assert list(reading.snapshots(b"tag1")) == [TREE]
        assert reading.node(root) == b"same"


def test_paths_keep_odd_names_and_any_length(tmp_path):
    store = Store(tmp_path)
    odd = ["a.py", "dir\udcff/x.py", "d/" * 900 + "deep.py", "ü.py"]
    numbers = store.write(lambda writing: [writing.paths.intern(path) for path in odd])
    more = [f"more/{number}.py" for number in range(400)]
    further = store.write(lambda writing: [writing.paths.intern(path) for path in (*odd, *more)])
    assert further[: len(odd)] == numbers
    assert store.write(lambda writing: [writing.paths.intern(path) for path in odd]) == numbers
    with store.reading() as reading:
        assert [reading.paths.path(number) for number in further] == [*odd, *more]
        assert list(reading.paths.all()) == list(zip(further, (*odd, *more), strict=True))
        assert reading.paths.number("unknown.py") is None


def test_versions_are_kept_as_differences_and_read_whole(tmp_path):
    store = Store(tmp_path)
    versions = [b"".join(b"line %d of the file\n" % (line + (line == version)) for line in range(300)) for version in range(30)]
    (address,) = put(store, versions[0])
    addresses = [address]
    for version in versions[1:]:
        addresses += store.write(lambda writing, v=version, a=addresses[-1]: writing.put_records([v, b"new"], [a]))[:1]
    assert [get(store, address) for address in addresses] == versions
    with store.reading() as reading:
        assert all(len(reading._pack(address.pack).records[0]) < 200 for address in addresses[1:])
        chains = [reading._chain(address) for address in addresses]
        assert all(chain[-1] == addresses[0] for chain in chains)
        assert max(map(len, chains)) == 1 + database._MOST_DIFFERENCES


def test_a_record_without_its_base_is_a_miss(tmp_path):
    store = Store(tmp_path)
    (first,) = put(store, bytes(range(250)))
    (second,) = store.write(lambda writing: writing.put_records([bytes(range(249))], [first]))
    store.write(lambda writing: writing._transaction.delete((1).to_bytes(4, "big"), db=writing._tables["pack"]))
    fresh = Store(tmp_path)
    assert get(fresh, second) is None


def test_nodes_are_kept_as_differences_and_read_whole(tmp_path):
    store = Store(tmp_path)
    values = [os.urandom(6) * 5 + bytes(range(200)) + os.urandom(6) for _ in range(10)]
    (address,) = [store.write(lambda writing: writing.put_node(values[0]))]
    addresses = [address]
    for value in values[1:]:
        addresses.append(store.write(lambda writing, value=value: writing.put_node(value, addresses[-1])))
    with store.reading() as reading:
        assert [reading.node(address) for address in addresses] == values
        assert reading._chain(addresses[3]) == addresses[3::-1]
    assert store.write(lambda writing: writing.put_node(values[-1], addresses[-1])) == addresses[-1]


def test_nodes_and_records_of_one_transaction_find_their_packs(tmp_path):
    store = Store(tmp_path)

    def work(writing):
        nodes = [writing.put_node(b"one"), writing.put_node(b"two")]
        records = writing.put_records([b"a record"])
        return [*nodes, writing.put_node(b"three"), writing.put_node(b"one")], records

    nodes, records = store.write(work)
    with store.reading() as reading:
        assert [reading.node(node) for node in nodes] == [b"one", b"two", b"three", b"one"]
        assert [reading.record(record) for record in records] == [b"a record"]


@pytest.mark.parametrize(
    "replace", [lambda store: store.rewrite(lambda old, new: None), lambda store: shutil.rmtree(store.folder)]
)
def test_who_fills_a_store_never_goes_on_in_another(tmp_path, replace):
    store = Store(tmp_path / "store")
    other = Store(tmp_path / "store")
    with store.single_flight(1):
        put(store, b"one")
        replace(other)
        with pytest.raises(StoreChanged):
            put(store, b"two")
    (address,) = put(store, b"three")
    assert get(store, address) == b"three"


def damage(store: Store, table: str) -> None:
    """Overwrite every page that holds rows of a table (leaves and what overflows them) with noise."""
    script = (
        "import sys, lmdb\n"
        "env = lmdb.open(sys.argv[1], max_dbs=20, readonly=True, lock=False)\n"
        "db = env.open_db(sys.argv[2].encode(), create=False)\n"
        "with env.begin() as t: print([v if len(v) > 64 else k + v for k, v in t.cursor(db)])"
    )
    (data,) = store.folder.glob("v*/*/data.mdb")
    command = [sys.executable, "-c", script, str(data.parent), table]
    values = ast.literal_eval(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    content = bytearray(data.read_bytes())
    for value in values:
        at = content.find(value)
        while at >= 0:
            page = at // 4096 * 4096
            content[page : page + 4096] = b"\xa5" * 4096
            at = content.find(value, page + 4096)
    with data.open("r+b") as file:  # in place, as a bad disk does: the same file, below who has it open
        file.write(content)


@pytest.mark.parametrize("table", ["meta", "postings", "path", "pack", "snapshot"])
def test_damage_that_shows_only_while_reading_makes_the_store_anew(tmp_path, table):
    notices: list[str] = []
    store = Store(tmp_path, on_notice=notices.append)

    def fill(writing):
        digest = writing.put_node(b"a node of some length")
        writing.put_snapshot(TREE, b"lang", digest)
        writing.post([(7, writing.paths.intern("some/path.py"))])

    def ask() -> list[str]:
        with store.reading() as reading:
            root = reading.snapshot_root(TREE, b"lang")
            return [] if root is None else [reading.node(root).decode(), *reading.paths_posted([7])]

    store.write(fill)
    assert ask() == ["a node of some length", "some/path.py"]
    damage(store, table)
    store._caches.clear()
    with pytest.raises(StoreChanged):
        ask()
    assert ask() == []
    assert len(notices) == 1
    store.write(fill)
    assert ask() == ["a node of some length", "some/path.py"]


def test_a_file_without_a_last_page_that_nothing_uses_is_sound(tmp_path):
    """LMDB counts pages that a transaction took and gave back; they may lie beyond the end of the file."""
    store = Store(tmp_path)
    (address,) = put(store, b"one")
    data = tmp_path / f"v{environment.FORMAT}" / "1" / "data.mdb"
    content = bytearray(data.read_bytes())
    for head in (0, 4096):  # say of both heads that the last page is one further on
        last = int.from_bytes(content[head + 136 : head + 144], sys.byteorder)
        content[head + 136 : head + 144] = (last + 1).to_bytes(8, sys.byteorder)
    data.write_bytes(content)
    script = (
        "import sys; from pathlib import Path; from tokenzip.store import Address, Store\n"
        "with Store(Path(sys.argv[1]), on_notice=print).reading() as r: print(r.record(Address(*map(int, sys.argv[2:]))))"
    )
    command = [sys.executable, "-c", script, str(tmp_path), *map(str, address)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "b'one'\n"


def test_a_store_is_not_renewed_on_a_full_disk(tmp_path, monkeypatch):
    """LMDB begins a store with pages that it writes through its map, which kills the process on a full disk."""
    store = Store(tmp_path)
    (address,) = put(store, b"one")
    monkeypatch.setattr(environment, "_free_bytes", lambda folder: environment._NEEDED_FREE_BYTES + 100)
    with pytest.raises(StoreFull):
        store.rewrite(lambda old, new: None)
    assert get(store, address) == b"one"
    assert [entry.name for entry in store.folder.glob("v*/*") if entry.is_dir()] == ["1"]
