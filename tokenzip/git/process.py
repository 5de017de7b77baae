"""The git executable as a child process that no environment and no setting of the user can mislead or make write.

Three traps this module exists for, each met by tools of this kind (``docs/git.md``):

- inside a hook git exports ``GIT_DIR``, ``GIT_INDEX_FILE`` ...; a child that inherits them works on another repository or
  destroys the user's index;
- readers take "optional" locks (``git status`` refreshes the index), which breaks the user's own git command beside it;
- in a partial clone every look-up of an absent object fetches it over the network.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from tokenzip.errors import GitError, NotARepository

# What `git rev-parse --local-env-vars` prints (git 2.39 to 2.50), so that no process is needed to learn it.
LOCAL_VARIABLES = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS",
        "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NO_REPLACE_OBJECTS", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)  # fmt: skip
# Not local to a repository, but they change what a path argument means or write where answers are read from.
_MISLEADING_VARIABLES = frozenset(
    {
        "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_NAMESPACE",
        "GIT_REDIRECT_STDIN", "GIT_REDIRECT_STDOUT", "GIT_REDIRECT_STDERR", "GIT_TRACE", "GIT_TRACE2",
    }
)  # fmt: skip
_ALWAYS = {
    "LC_ALL": "C",  # messages are recognised below
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",  # a blob's content is a function of its id: see docs/git.md
    "GIT_GRAFT_FILE": os.path.join(os.devnull, "none"),  # a file that is there, even empty, makes git give advice
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # for versions before 2.39.4, which do not know the variable above: no transport may run
}


def clean_environment(environment: Mapping[str, str] | None = None, *, index_file: str | None = None) -> dict[str, str]:
    """The environment for a child git: nothing that is local to some repository, readers only, messages in English."""
    source = os.environ if environment is None else environment
    dropped = LOCAL_VARIABLES | _MISLEADING_VARIABLES
    clean = {k: v for k, v in source.items() if k not in dropped and not k.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"))}
    clean.update(_safe_directories(source))
    clean.update(_ALWAYS)
    if index_file is not None:
        clean["GIT_INDEX_FILE"] = index_file
    return clean


def _safe_directories(environment: Mapping[str, str]) -> dict[str, str]:
    """``safe.directory`` given through the environment, as containers and CI do; the only such setting that is kept."""
    count = environment.get("GIT_CONFIG_COUNT", "")
    pairs = [
        (environment.get(f"GIT_CONFIG_KEY_{i}", ""), environment.get(f"GIT_CONFIG_VALUE_{i}", ""))
        for i in range(int(count) if count.isdecimal() and len(count) < 4 else 0)
    ]
    kept = [pair for pair in pairs if pair[0].lower() == "safe.directory"]
    if not kept:
        return {}
    out = {"GIT_CONFIG_COUNT": str(len(kept))}
    for i, (key, value) in enumerate(kept):
        out[f"GIT_CONFIG_KEY_{i}"], out[f"GIT_CONFIG_VALUE_{i}"] = key, value
    return out


def as_variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings for a child git, added to those that it gets anyway (see `clean_environment`)."""
    first = int(clean_environment().get("GIT_CONFIG_COUNT", "0"))
    variables = {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (name, value) in enumerate(settings.items(), first):
        variables[f"GIT_CONFIG_KEY_{number}"], variables[f"GIT_CONFIG_VALUE_{number}"] = name, value
    return variables


def trusting(folder: str) -> dict[str, str]:
    """The environment under which git reads the repository of a folder whoever owns it: one inside a repository that is
    trusted, for which git does the same."""
    return as_variables({"safe.directory": os.path.realpath(folder)})


class Git:
    """Runs git in one folder. `index_file` stands in for the repository's own index (a partial commit makes one);
    `variables` are added to the environment."""

    def __init__(self, folder: str, index_file: str | None = None, variables: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.index_file = index_file
        self.variables = variables or {}

    def varied(
        self, folder: str | None = None, *, index_file: str | None = None, variables: Mapping[str, str] | None = None
    ) -> Git:
        """One for another folder or index, or with more in the environment."""
        return Git(folder or self.folder, index_file, {**self.variables, **(variables or {})})

    def run(self, *arguments: str, data: bytes | None = None, accept: Sequence[int] = (0,)) -> bytes:
        """Standard output of one command; `GitError` (or `NotARepository`) when its exit code is not accepted."""
        code, out, err = self.attempt(*arguments, data=data)
        if code not in accept:
            raise translated(err, self.folder)
        return out

    def attempt(self, *arguments: str, data: bytes | None = None) -> tuple[int, bytes, str]:
        """Exit code, standard output and the text of standard error of one command, whatever the outcome."""
        with self._started(*arguments, stdin=subprocess.DEVNULL if data is None else subprocess.PIPE) as child:
            out, err = child.communicate(data)
        return child.returncode, out, err.decode("utf-8", "replace").strip()

    def text(self, *arguments: str, accept: Sequence[int] = (0,)) -> str:
        """Like `run`, decoded (surrogateescape), the last newline removed."""
        return decoded(self.run(*arguments, accept=accept)).removesuffix("\n")

    def records(self, *arguments: str, fields: int = 1) -> Iterator[tuple[str, ...]]:
        """NUL-separated output as it arrives, `fields` at a time; a reader may stop early, which ends the command."""
        with scratch_file() as err, self._started(*arguments, stdin=subprocess.DEVNULL, stderr=err) as child:
            assert child.stdout is not None
            try:
                pending: list[str] = []
                for piece in _pieces(child.stdout):
                    pending.append(decoded(piece))
                    if len(pending) == fields:
                        yield tuple(pending)
                        pending = []
            except GeneratorExit:
                child.kill()
                raise
            child.stdout.close()
            if child.wait() != 0:
                err.seek(0)
                raise translated(err.read().decode("utf-8", "replace").strip(), self.folder)

    def talk(self, *arguments: str, stderr: IO[bytes]) -> subprocess.Popen[bytes]:
        """A child that answers questions until its standard input is closed."""
        return self._started(*arguments, stdin=subprocess.PIPE, stderr=stderr)

    def _started(self, *arguments: str, stdin: int, stderr: IO[bytes] | int = subprocess.PIPE) -> subprocess.Popen[bytes]:
        command = ["git", "--no-optional-locks", "--no-pager", *arguments]
        environment = _where_git_is_found(clean_environment(index_file=self.index_file)) | dict(self.variables)
        try:
            return subprocess.Popen(
                command, cwd=self.folder, env=environment, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr
            )
        except (FileNotFoundError, NotADirectoryError, PermissionError) as cause:
            if not os.path.isdir(self.folder):
                raise NotARepository(f"no such folder: {shown(self.folder)}") from cause
            if isinstance(cause, PermissionError):
                raise GitError(f"cannot enter {shown(self.folder)} or run git: {cause.strerror}") from cause
            raise GitError("the git executable was not found", hint="install git, or put its folder on PATH") from cause


def _where_git_is_found(environment: dict[str, str]) -> dict[str, str]:
    """With the system's own folders last on the PATH: agents start servers with less than a shell has."""
    if os.name != "posix":  # the system's folders are searched anyway
        return environment
    return environment | {"PATH": os.pathsep.join(filter(None, (environment.get("PATH"), os.defpath)))}


def _pieces(stream: IO[bytes]) -> Iterator[bytes]:
    """The NUL-terminated pieces of a stream."""
    rest = b""
    while block := stream.read(1 << 16):
        *whole, rest = (rest + block).split(b"\0")
        yield from whole
    if rest:
        yield rest


def scratch_file() -> IO[bytes]:
    """A nameless file for what a child complains of: unlike a pipe it never fills up and stops the child."""
    if hasattr(os, "memfd_create"):
        return open(os.memfd_create("git-errors"), "w+b")
    import tempfile  # costs a few milliseconds to import

    return tempfile.TemporaryFile()


def translated(message: str, folder: str) -> GitError | NotARepository:
    """The error for what git printed."""
    if "dubious ownership" in message or "unsafe repository" in message:
        named = re.search(r"safe\.directory (.+)", message)  # as git wants it written: we may stand in a folder below
        return GitError(
            f"git refuses to read the repository at {shown(folder)}: it belongs to another user",
            hint=f"if you trust it: git config --global --add safe.directory {named[1] if named else shown(folder)}",
        )
    if "not a git repository" in message.lower():
        return NotARepository(
            f"not a git repository: {shown(folder)}",
            hint=_broken_link_hint(message) or "run inside a repository, name one with --repo, or make one with `git init`",
        )
    if "unknown repository extension" in message or "Expected git repo version" in message:
        return GitError(
            f"the installed git cannot read the repository at {shown(folder)}: {message.removeprefix('fatal: ')}",
            hint="a newer git can; tokenzip reads whatever the git on PATH reads",
        )
    lines = [line for line in message.splitlines() if line.strip()]
    return GitError(next((line for line in lines if line.startswith("fatal: ")), lines[-1] if lines else "git failed"))


def _broken_link_hint(message: str) -> str:
    """A `.git` file that points at a folder which is gone (a worktree or submodule that was moved or pruned)."""
    if "(or any" in message or ": " not in message:
        return ""
    return f"its .git file points at {message.rsplit(': ', 1)[-1]}, which is not there; `git worktree repair` may mend it"


def decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def shown(path: str) -> str:
    """A path for a message: what is not UTF-8 escaped."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
