"""Which repository the server speaks for. Found anew at each call: folders, HEAD and files change under a living server.

The first of these that names a place decides: the argument of ``serve``, ``TOKENZIP_REPO``, the workspace folders that the
client declared, the folder the client started us in. Clients start their servers in sub-folders of a repository, in the
home folder or in ``/``; so we walk up from there, and never take the home folder or ``/`` for a project.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from tokenzip.errors import NotARepository

if TYPE_CHECKING:
    from tokenzip.repository import Repository

REPOSITORY_VARIABLE = "TOKENZIP_REPO"
HINT = "Start the server inside a git repository, or as `tokenzip serve --repo DIR`."


class Workspace:
    """The places to look for a repository, in order."""

    def __init__(
        self,
        named: str | None = None,
        *,
        declared: Callable[[], Sequence[str]] = tuple,
        environment: Mapping[str, str] = os.environ,
        open_repository: Callable[[str], Any] | None = None,
    ) -> None:
        self._named = os.path.abspath(named) if named else None
        self._declared = declared
        self._environment = environment
        self._open = open_repository or _open_repository

    def repository(self) -> Any:
        """A repository of its own for each caller: handles of git and their caches do not go from thread to thread.

        Raises NotARepository.
        """
        first_error: NotARepository | None = None
        for place in self._places():
            try:
                repository = self._open(place)
                _refuse_home(repository)
            except NotARepository as error:
                first_error = first_error or error
            else:
                return repository
        reason = f": {first_error.message}" if first_error else ""
        raise NotARepository(f"No git repository to answer for{reason}", hint=HINT)

    def _places(self) -> Iterator[str]:
        named = self._named or self._environment.get(REPOSITORY_VARIABLE)
        if named:
            yield named
            return
        yield from filter(None, map(_local_path, self._declared()))
        try:
            yield os.getcwd()
        except FileNotFoundError:  # removed under us
            return


def _open_repository(place: str) -> Repository:
    import tokenzip
    from tokenzip.server.journal import keep_library_logs

    keep_library_logs()
    return tokenzip.repo(place)


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
