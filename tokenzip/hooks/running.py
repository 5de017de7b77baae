"""What the hooks do: pre-commit looks at what is staged, the others bring HEAD's graph into the store.

Nothing that goes wrong here may reach git: errors end in the log file and exit code 0.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tokenzip.config import cache_home
from tokenzip.errors import Cancelled, NotARepository, TokenzipError
from tokenzip.hooks.block import BLOCKED, NAMES

if TYPE_CHECKING:
    from tokenzip.model import BrokenReference
    from tokenzip.repository import Repository

PATIENCE = 5.0
"""Seconds that a commit waits for its check; it goes on unchecked after that."""
_SHOWN = 10
"""Findings that are printed; the others are counted."""
_NEAR = 100
"""Ancestors of HEAD among which one must be known: a first index of everything is nothing to wait for in a commit."""
_LOG_BYTES = 1 << 20
_GONE = frozenset({"removed", "renamed", "moved", "unresolved"})


def main(arguments: Sequence[str]) -> int:
    """``NAME ARGUMENTS...`` as the shell block passes them; the exit code is 0 or `BLOCKED`."""
    if not arguments:
        return 0
    if arguments[0] != "pre-commit":
        with contextlib.suppress(OSError, AttributeError):
            os.setsid()  # in the background: the terminal's signals are for git
        with contextlib.suppress(OSError, AttributeError):
            os.nice(5)
    return run(arguments[0], arguments[1:])


def run(name: str, arguments: Sequence[str] = (), *, path: str = ".") -> int:
    """Do what one hook does in the repository around `path`: 0, or `BLOCKED` if the commit is to be stopped."""
    began = time.monotonic()
    try:
        from tokenzip.repository import repo

        if name not in NAMES:
            raise TokenzipError(f"there is no hook called {name}", hint="one of " + ", ".join(NAMES))
        repository = repo(path)
        if not is_enabled(repository) or not _is_due(repository, name, arguments):
            return 0
        if name == "pre-commit":
            return _check(repository, _index_of_this_commit(repository, os.environ))
        for head in _refresh(repository):
            _log(f"{name}: {repository.root} at {head} in {time.monotonic() - began:.2f} s")
    except NotARepository:
        return 0
    except (TokenzipError, OSError) as error:
        _log(f"{name} in {os.path.abspath(path)}: {error}")
    except Exception:
        _log(f"{name} in {os.path.abspath(path)}:\n{traceback.format_exc()}")
    return 0


def is_enabled(repository: Repository) -> bool:
    """Whether somebody asked for tokenzip here: hooks were installed, or there is a file of settings."""
    return marker(repository).exists() or repository.config.source is not None


def marker(repository: Repository) -> Path:
    """Says that hooks were installed for this repository: for all its work trees, and none that they were copied to."""
    return Path(repository.git.common_dir) / "tokenzip-hooks"


def log_file(home: Path) -> Path:
    return home / "logs" / "hooks.log"


def _is_due(repository: Repository, name: str, arguments: Sequence[str]) -> bool:
    """The same questions that the shell block asks before it starts Python."""
    if name in ("post-commit", "post-checkout") and repository.git.rewriting() is not None:
        return False  # one commit of many: post-rewrite comes at the end
    if name == "post-rewrite":
        return list(arguments[:1]) == ["rebase"]
    return name != "post-checkout" or len(arguments) < 3 or arguments[2] == "1"


# ---- pre-commit


def _index_of_this_commit(repository: Repository, environment: Mapping[str, str]) -> str | None:
    """The index that git is about to commit: ``git commit PATH`` and ``-a`` make one of their own, and say where."""
    named = environment.get("GIT_INDEX_FILE")
    if not named:
        return None
    path = os.path.realpath(named)
    inside = os.path.dirname(path) == os.path.realpath(repository.git.git_dir)
    return path if inside and os.path.isfile(path) else None


def _check(repository: Repository, index_file: str | None) -> int:
    """Say what this commit breaks; `BLOCKED` if the settings want it stopped."""
    for problem in repository.config.problems:
        print(f"tokenzip: {problem}", file=sys.stderr)
    mode = repository.config.pre_commit
    if mode == "off" or repository.git.head() is None:
        return 0
    repository.git.use_index(index_file)
    if not _touches_code(repository):
        return 0
    try:
        with _patience(repository):
            broken = _newly_broken(repository)
    except Cancelled:
        return _unchecked(mode, f"it took more than {PATIENCE:.0f} s")
    if broken is None:
        return _unchecked(mode, "this repository is not indexed yet")
    if not broken:
        return 0
    print("\n".join(_report(broken, mode)), file=sys.stderr)
    return BLOCKED if mode == "block" else 0


def _touches_code(repository: Repository) -> bool:
    from tokenzip.git import GITLINK
    from tokenzip.languages import registry

    return any(
        registry.for_path(path) is not None or (state is not None and state.mode == GITLINK)
        for path, state in repository.git.index_changes().items()
    )


def _newly_broken(repository: Repository) -> list[BrokenReference] | None:
    """References that HEAD resolves and the index does not; None where that would mean to index everything first."""
    from tokenzip.diff import broken_references
    from tokenzip.snapshot.build import is_known

    if not any(is_known(repository.git, repository.store, tree) for _, tree in repository.git.ancestors("HEAD", _NEAR)):
        return None
    found = broken_references(*repository.snapshots("HEAD", "INDEX"))
    return [reference for reference in found if reference.why in _GONE]


@contextlib.contextmanager
def _patience(repository: Repository) -> Iterator[None]:
    """Let the work that reports progress end when a commit has waited long enough."""
    before, deadline = repository.progress, time.monotonic() + PATIENCE

    def progress(what: str, done: int, total: int) -> None:
        if time.monotonic() > deadline:
            raise Cancelled(f"{what}: {done} of {total}")

    repository.progress = progress
    try:
        yield
    finally:
        repository.progress = before


def _unchecked(mode: str, why: str) -> int:
    """A commit that is not checked is not stopped; who asked for stopping is told."""
    _log(f"pre-commit: not checked, {why}")
    if mode == "block":
        print(f"tokenzip: this commit was not checked: {why}", file=sys.stderr)
    return 0


def _report(broken: Sequence[BrokenReference], mode: str) -> Iterator[str]:
    """One line for each finding, as `path:line` that editors understand."""
    count = len(broken)
    yield f"tokenzip: this commit breaks {count} reference{'' if count == 1 else 's'}"
    for each in broken[:_SHOWN]:
        yield f"  {_shown(each.file)}:{each.line}  {each.kind} {_shown(each.target.handle)}, {_fate(each)}"
    if count > _SHOWN:
        yield f"  and {count - _SHOWN} more: tokenzip diff --staged"
    if mode == "block":
        yield "The commit was stopped, as hooks.pre-commit says; `git commit --no-verify` commits anyway."


def _fate(reference: BrokenReference) -> str:
    if reference.now is not None:
        return f"{'renamed to' if reference.why == 'renamed' else 'now'} {_shown(reference.now.handle)}"
    return "removed" if reference.why == "removed" else "no longer found from there"


def _shown(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


# ---- the others


def _refresh(repository: Repository) -> Iterator[str]:
    """Bring HEAD into the store, once more if it moved meanwhile. Many hooks at a time are one run: see `_turns`."""
    for _ in _turns(repository):
        head = repository.git.head()
        if head is not None:
            repository.snapshot("HEAD")
            yield head[:10]


def _turns(repository: Repository) -> Iterator[None]:
    """Yields while there are wishes, to one process of a work tree at a time.

    Each hook first leaves a wish, then tries for the lock. Who has it fulfils wishes until none is left, and looks once more
    after letting go: so no wish is lost, and none waits.
    """
    from tokenzip.store.environment import FileLock

    wish, locked = _turn_files(repository, repository.git.git_dir)
    wish.parent.mkdir(parents=True, exist_ok=True)
    wish.touch()
    while wish.exists():
        lock = FileLock(locked)
        if not lock.acquire(0):
            return
        try:
            while wish.exists():
                wish.unlink(missing_ok=True)
                yield
        finally:
            lock.release()


def _turn_files(repository: Repository, git_dir: str) -> tuple[Path, Path]:
    """The wish and the lock of one work tree."""
    name = hashlib.blake2b(os.fsencode(os.path.realpath(git_dir)), digest_size=8).hexdigest()
    folder = repository.config.home / "hooks"
    return folder / f"{name}.wanted", folder / f"{name}.lock"


def forget_turns(repository: Repository) -> None:
    """Remove what `_turns` left behind for the work trees of a repository, but for a hook that is at work."""
    from tokenzip.store.environment import FileLock

    common = Path(repository.git.common_dir)
    with contextlib.suppress(OSError):
        for git_dir in (common, *(common / "worktrees").glob("*")):
            wish, locked = _turn_files(repository, str(git_dir))
            lock = FileLock(locked)
            if locked.exists() and lock.acquire(0):
                wish.unlink(missing_ok=True)
                locked.unlink()
                lock.release()


def _log(message: str) -> None:
    """Append to the log in the user's cache; a log that cannot be written is no reason to fail."""
    path = log_file(cache_home())
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > _LOG_BYTES:
            path.replace(path.with_suffix(".log.old"))
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {message}\n")
