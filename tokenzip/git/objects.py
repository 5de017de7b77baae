"""Objects by id: blobs and trees as bytes, through one persistent git process or libgit2's object database.

Both give the same bytes; they differ in what they cost. Measured (2 cores, git 2.39, libgit2 1.9):

======================  ================================  ==========================
.                       ``git cat-file --batch``          libgit2 (pygit2)
======================  ================================  ==========================
to start                2 to 3 ms, no memory of ours      40 ms of imports, 14 MB
one object              47 to 80 microseconds             4 to 60
many, asked ahead       3 (loose) to 33 (packed)          3 to 35
sha256, lazily fetched  yes                               no
======================  ================================  ==========================

So the process is the way in, and a caller that has read many single objects is moved over to libgit2. Only its object
database is opened, never the repository: extensions that libgit2 refuses (reftable, partial clones) do not matter to it,
nor do ``GIT_DIR`` and its like.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, Any, Literal, NamedTuple

from tokenzip.errors import GitError, MissingObject
from tokenzip.git.process import Git, decoded, encoded, scratch_file

ObjectKind = Literal["blob", "tree", "commit", "tag"]
_KINDS: dict[str, ObjectKind] = {"blob": "blob", "tree": "tree", "commit": "commit", "tag": "tag"}
_LIBGIT2_KINDS: dict[int, ObjectKind] = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}

SINGLE_READS_BEFORE_LIBGIT2 = 500
"""Where the 40 ms of importing pygit2 are earned back at some 70 microseconds a read."""
_ASKED_AHEAD = 128
"""Questions written before the first answer is read: 128 ids are 8 KB, which fits the smallest pipe buffer (16 KB)."""


class Found(NamedTuple):
    """One object: its full id, kind, size in bytes, and content if it was asked for."""

    id: str
    kind: ObjectKind
    size: int
    data: bytes


class Objects:
    """Reads the objects of one repository. Safe to share between threads."""

    def __init__(self, git: Git, object_folder: str, algorithm: str, absent_hint: Callable[[], str]) -> None:
        self._git = git
        self._contents = Batch(git, "--batch")
        self._headers = Batch(git, "--batch-check")
        self._by_id = self._headers
        self._folder = object_folder
        self.borrowed: tuple[str, ...] = ()
        """Object folders of other repositories, in which objects are looked for by id too; no name is resolved there."""
        self._absent_hint = absent_hint
        self._single_reads = 0
        self._database: Any = None
        self._may_use_libgit2 = self._is_for_libgit2 = algorithm == "sha1"
        self._lock = threading.Lock()

    def read(self, object_id: str) -> tuple[ObjectKind, bytes]:
        """Kind and content of one object; `MissingObject` if it is not here (nothing is ever fetched)."""
        self._single_reads += 1
        if self._database is None and self._may_use_libgit2 and self._single_reads > SINGLE_READS_BEFORE_LIBGIT2:
            self._open_database()
        if self._database is not None:
            with contextlib.suppress(Exception):  # absent, damaged or a gone pack: the process says which
                kind, data = self._database.read(object_id)
                return _LIBGIT2_KINDS[kind], data
        found = self._ask(self._contents, [object_id])[0]
        if found is None:
            raise self.missing(object_id)
        return found.kind, found.data

    def read_many(self, ids: Iterable[str]) -> Iterator[Found | None]:
        """Many objects in the order asked for, None for each that is not here; the questions run ahead of the answers."""
        remaining = iter(ids)
        while chunk := list(islice(remaining, _ASKED_AHEAD)):
            yield from self._ask(self._contents, chunk)

    def headers(self, names: Sequence[str]) -> list[Found | None]:
        """Id, kind and size (no content) of objects named by id or by any revision expression."""
        return self._headers_by(self._headers, names)

    def _headers_by(self, batch: Batch, names: Sequence[str]) -> list[Found | None]:
        out: list[Found | None] = []
        for start in range(0, len(names), _ASKED_AHEAD):
            out += self._ask(batch, names[start : start + _ASKED_AHEAD])
        return out

    def named(self, name: str) -> Found | None:
        """Id, kind and size of what a revision expression names; None if nothing.

        Asked again in a new process: one that began before refs were moved to another format finds none of them.
        """
        found = self.headers([name])[0]
        if found is None:
            self._headers.end()
            found = self.headers([name])[0]
        return found

    def by_id(self, ids: Sequence[str]) -> list[Found | None]:
        """Like `headers` for what begins with a full id (``ID``, ``ID^{tree}``, ``ID:path``), also where it is borrowed."""
        return self._headers_by(self._by_id, ids)

    def borrow(self, folders: Iterable[str]) -> None:
        """Look for objects in these folders too."""
        with self._lock:
            fresh = [folder for folder in dict.fromkeys(folders) if folder not in self.borrowed]
            if not fresh:
                return
            self.borrowed = (*self.borrowed, *fresh)
            git = self._git.varied(variables=self.variables)
            # The processes before end with the last thread that asks them.
            self._contents, self._by_id = Batch(git, "--batch"), Batch(git, "--batch-check")
            self._database, self._may_use_libgit2 = None, self._is_for_libgit2

    @property
    def variables(self) -> dict[str, str]:
        """The environment in which git finds what is borrowed (git(1))."""
        return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join(map(quoted, self.borrowed))} if self.borrowed else {}

    def missing(self, object_id: str) -> MissingObject:
        return MissingObject(f"object {object_id} is not in this repository", hint=self._absent_hint())

    def close(self) -> None:
        self._contents.close()
        self._headers.close()
        self._by_id.close()
        self._database = None

    def _ask(self, batch: Batch, names: Sequence[str]) -> list[Found | None]:
        """What `batch` answers. Where git ends at each object that a partial clone lacks, ask it for the present ones only."""
        if batch.ends_at_absent and self._database is None and self._may_use_libgit2:
            self._open_database()
        if not batch.ends_at_absent or self._database is None:
            return batch.ask(names)
        present = [name for name in names if not _ID.fullmatch(name) or self._database.exists(name)]
        found = dict(zip(present, batch.ask(present), strict=True))
        return [found.get(name) for name in names]

    def _open_database(self) -> None:
        self._may_use_libgit2 = False
        with contextlib.suppress(Exception):  # not installed for this platform, or a folder that it cannot read
            import pygit2

            database = pygit2.Odb(self._folder)
            for folder in self.borrowed:
                database.add_disk_alternate(folder)
            self._database = database


class Batch:
    """One ``git cat-file`` process, started at the first question and again if it died."""

    def __init__(self, git: Git, mode: Literal["--batch", "--batch-check"]) -> None:
        self._git = git
        self._mode = mode
        self._lock = threading.Lock()
        self.ends_at_absent = False
        """Whether this git was seen to end at an object that a partial clone lacks (instead of saying that it is missing)."""
        self._child: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._stop: Callable[[], object] = _nothing

    def ask(self, names: Sequence[str]) -> list[Found | None]:
        """One answer a name. At most `_ASKED_AHEAD` names, so that neither side waits for the other."""
        with self._lock:
            try:
                return self._exchange(names)
            except (_Died, OSError):
                self.close()
            # A damaged object ends the process; so does its folder being replaced. Ask again one by one.
            return [self._ask_one(name) for name in names]

    def end(self) -> None:
        """End the process once it has answered; the next question starts another one."""
        with self._lock:
            self.close()

    def close(self) -> None:
        self._stop()
        self._stop, self._child, self._errors = _nothing, None, None

    def _ask_one(self, name: str) -> Found | None:
        try:
            return self._exchange([name])[0]
        except (_Died, OSError) as cause:
            said = self._last_words()
            self.close()
            if "promisor remote" in said:
                self.ends_at_absent = True
                return None
            raise GitError(
                f"git cannot read {name}: {said or 'it stopped'}", hint="`git fsck` shows what is damaged"
            ) from cause

    def _exchange(self, names: Sequence[str]) -> list[Found | None]:
        child = self._child or self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"".join(encoded(name) + b"\n" for name in names))
        child.stdin.flush()
        return [self._answer(child.stdout) for _ in names]

    def _answer(self, stream: IO[bytes]) -> Found | None:
        line = stream.readline()
        if not line.endswith(b"\n"):
            raise _Died
        words = line.split()
        if len(words) != 3 or words[1] not in _KIND_WORDS or not words[2].isdigit():
            return None  # "NAME missing", "NAME ambiguous"
        size = int(words[2])
        data = b""
        if self._mode == "--batch":
            data = stream.read(size)
            if len(data) != size or stream.read(1) != b"\n":
                raise _Died
        return Found(words[0].decode(), _KINDS[words[1].decode()], size, data)

    def _start(self) -> subprocess.Popen[bytes]:
        errors = scratch_file()
        child = self._git.talk("cat-file", self._mode, stderr=errors)
        self._child, self._errors = child, errors
        self._stop = weakref.finalize(self, _stopped, child, errors)
        return child

    def _last_words(self) -> str:
        if self._child is None or self._errors is None:
            return ""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(timeout=5)
        self._errors.seek(0)
        return decoded(self._errors.read()).strip().rpartition("fatal: ")[2]


_KIND_WORDS = frozenset(kind.encode() for kind in _KINDS)


_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class _Died(Exception):
    """The process ended in the middle of an answer."""


def _nothing() -> None:
    return None


def _stopped(child: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
    """End a process by closing its input, as it expects; no zombie stays."""
    for stream in (child.stdin, child.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    try:
        child.wait(timeout=2)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    errors.close()


class TreeEntry(NamedTuple):
    """One line of a tree: `name` is one path component, `mode` a number such as ``0o100644``, `id` hex."""

    name: str
    mode: int
    id: str


_ENTRY = {
    20: re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL),
    32: re.compile(rb"([0-7]+) ([^\0]+)\0(.{32})", re.DOTALL),
}
# Anything else is an odd mode of ancient history (100664), worth a computation.
_MODES = {b"40000": 0o40000, b"100644": 0o100644, b"100755": 0o100755, b"120000": 0o120000, b"160000": 0o160000}


def parsed_tree(data: bytes, id_bytes: int) -> tuple[TreeEntry, ...]:
    """The entries of a tree object, in git's order (measured: 0.8 microseconds an entry, as fast as libgit2's iterator)."""
    modes, make = _MODES, tuple.__new__
    return tuple(
        make(
            TreeEntry,
            (name.decode("utf-8", "surrogateescape"), modes[mode] if mode in modes else int(mode, 8), raw.hex()),
        )
        for mode, name, raw in _ENTRY[id_bytes].findall(data)
    )


def quoted(path: str) -> str:
    """A path for a list that is separated by colons: git reads it as a C string if it begins with a quote."""
    if not re.search(r'[:"\\\n]', path):
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def object_folder(common_dir: str) -> str:
    return os.path.join(common_dir, "objects")
