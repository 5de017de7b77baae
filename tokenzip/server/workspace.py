"""Which repository the server speaks for. Found anew at each call: folders, HEAD and files change under a living server.

The first of these that names a place decides: the argument of ``serve``, ``TOKENZIP_REPO``, the workspace folders that the
client declared, the folder the client started us in. Clients start their servers in sub-folders of a repository, in the
home folder or in ``/``; so we walk up from there, and never take the home folder or ``/`` for a project.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from tokenzip.errors import NotARepository
from tokenzip.server.memory import give_back, share_one_arena

if TYPE_CHECKING:
    from tokenzip.repository import Repository

REPOSITORY_VARIABLE = "TOKENZIP_REPO"
MOST_IDLE = 2
"""Open repositories that are kept while nobody uses them. Calls overlap now and then, rarely more than two."""

HINT = "Start the server inside a git repository, or as `tokenzip serve --repo DIR`."


class Workspace:
    """The places to look for a repository, in order, and the repositories that are open."""

    def __init__(
        self,
        named: str | None = None,
        *,
        declared: Callable[[], Sequence[str]] = tuple,
        environment: Mapping[str, str] = os.environ,
        open_repository: Callable[[str], Any] | None = None,
    ) -> None:
        self._named = os.path.abspath(named) if named else None
        self._started_in = _current_folder()
        self._declared = declared
        self._environment = environment
        self._open = open_repository or _open_repository
        self._idle: list[tuple[Hashable, Any]] = []
        self._lock = threading.Lock()

    @contextmanager
    def lent(self) -> Iterator[Any]:
        """A repository for one caller alone: its caches do not go from thread to thread. Raises NotARepository.

        It is kept for the next caller, unless something went wrong with it.
        """
        identity, repository = self._take()
        try:
            yield repository
        except BaseException:
            _close(repository)
            raise
        with self._lock:
            self._idle.append((identity, repository))
            surplus = self._idle[:-MOST_IDLE]
            del self._idle[:-MOST_IDLE]
        for _, other in surplus:
            _close(other)

    def release(self) -> None:
        """Close what nobody uses, and give its memory back."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, repository in idle:
            _close(repository)
        if idle:
            idle.clear()
            give_back()

    def _take(self) -> tuple[Hashable, Any]:
        first_error: NotARepository | None = None
        for place in self._places():
            identity = _identity(place)
            repository = self._reused(identity)
            try:
                if repository is None:
                    repository = self._open(place)
                    _refuse_home(repository)
            except NotARepository as error:
                first_error = first_error or error
            else:
                return identity, repository
        reason = f": {first_error.message}" if first_error else ""
        raise NotARepository(f"No git repository to answer for{reason}", hint=HINT)

    def _reused(self, identity: Hashable | None) -> Any:
        if identity is None:
            return None
        with self._lock:
            for number in range(len(self._idle) - 1, -1, -1):
                if self._idle[number][0] == identity:
                    return self._idle.pop(number)[1]
        return None

    def _places(self) -> Iterator[str]:
        named = self._named or self._environment.get(REPOSITORY_VARIABLE)
        if named:
            yield named
            return
        yield from filter(None, map(_local_path, self._declared()))
        here = _current_folder() or self._made_anew()
        if here is not None:
            yield here

    def _made_anew(self) -> str | None:
        """The folder that we were started in, if it was removed under us and made again: a worktree that came back."""
        if self._started_in is None or not os.path.isdir(self._started_in):
            return None
        os.chdir(self._started_in)
        return self._started_in


def _current_folder() -> str | None:
    """None once it was removed."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return None


def _open_repository(place: str) -> Repository:
    import tokenzip
    from tokenzip.server.journal import keep_library_logs

    keep_library_logs()
    share_one_arena()
    return tokenzip.repo(place)


def _close(repository: Any) -> None:
    close = getattr(getattr(repository, "git", None), "close", None)
    if close is not None:
        close()


def _identity(place: str) -> Hashable | None:
    """What tells that a place still belongs to the same repository with the same settings. None where it cannot be told.

    A ``.git`` that was made anew may get the number of the old one, but not its configuration's time as well.
    """
    folder = os.path.realpath(place)
    while not os.path.lexists(git := os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    files = (git, os.path.join(git, "config"), os.path.join(folder, ".tokenzip", "config.json"))
    return (place, folder, *map(_file_identity, files))


def _file_identity(path: str) -> Hashable:
    try:
        status = os.stat(path)
    except OSError:
        return None
    changes = None if stat.S_ISDIR(status.st_mode) else status.st_mtime_ns
    return status.st_dev, status.st_ino, changes


def _refuse_home(repository: Any) -> None:
    root = repository.root
    if root is None:
        return
    root = os.path.realpath(root)
    if root == os.path.realpath(os.path.expanduser("~")) or root == os.path.dirname(root):
        raise NotARepository(f"{root} is a home folder or the root of the disk, not a project", hint=HINT)


def _local_path(uri: str) -> str | None:
    """The folder that a ``file://`` URI names on this machine."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or not parts.path:
        return None
    path = unquote(parts.path)
    if os.name == "nt" and path[:1] == "/" and path[2:3] == ":":  # file:///C:/project
        return path[1:]
    return path
