"""What `doctor` looks at: each check says what it found and, if that is bad, what to do."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tokenzip import __version__
from tokenzip.cli import options as shell
from tokenzip.cli.options import Options
from tokenzip.errors import TokenzipError

if TYPE_CHECKING:
    from tokenzip.repository import Repository

LIBRARIES = ("pygit2", "lmdb", "msgpack", "zstandard", "tree-sitter", "tree-sitter-language-pack", "click")
PROBE_SECONDS = 60
_PROBE = """
import sys
from tokenzip.repository import repo
with repo(sys.argv[1]).store.reading() as reading:
    print(reading.entries("snapshot"))
"""


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    ok: bool | None
    """True, False, or None for something to know that is no fault."""
    detail: str
    hint: str = ""

    def item(self) -> dict[str, Any]:
        item: dict[str, Any] = {"check": self.name, "ok": self.ok, "detail": self.detail}
        return {**item, "hint": self.hint} if self.hint else item


def checks(options: Options) -> Iterator[Check]:
    """All checks, from the installation to the contents of the store."""
    yield from _installation()
    try:
        with shell.opened(options) as repository:
            yield from _repository(repository)
            yield from _settings(repository)
            yield from _hooks(repository)
            yield from _store(repository)
    except TokenzipError as error:
        yield Check("repository", False, error.message, error.hint)


def _installation() -> Iterator[Check]:
    yield Check("tokenzip", True, f"{__version__} on Python {platform.python_version()}, {sys.executable}")
    versions, missing = [], []
    for name in LIBRARIES:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            missing.append(name)
    yield Check("libraries", not missing, ", ".join(versions), f"Install {', '.join(missing)}." if missing else "")
    git = shutil.which("git")
    found = (
        subprocess.run([git, "--version"], capture_output=True, text=True, check=False).stdout.strip() if git else "not on PATH"
    )
    yield Check("git", git is not None, found, "" if git else "Install git, or add it to PATH.")
    command = shutil.which("tokenzip")
    hint = "" if command else "Agents and people call `tokenzip` by name; add its folder to PATH."
    yield Check("command", True if command else None, command or "tokenzip is not on PATH", hint)


def _repository(repository: Repository) -> Iterator[Check]:
    git = repository.git
    remarks = [
        text
        for text, holds in (
            ("bare", git.root is None),
            ("shallow: history ends early", git.is_shallow),
            ("partial clone: absent contents are skipped", git.is_partial),
        )
        if holds
    ]
    head = git.head()
    detail = f"{repository.root or git.common_dir} at {head[:10] if head else 'no commit yet'}"
    yield Check("repository", True, "; ".join([detail, *remarks]))


def _settings(repository: Repository) -> Iterator[Check]:
    config = repository.config
    detail = "; ".join(config.problems) or (str(config.source) if config.source else "none, all at their defaults")
    yield Check("settings", not config.problems, detail, "Mend or remove these settings." if config.problems else "")


def _hooks(repository: Repository) -> Iterator[Check]:
    from tokenzip import hooks

    state = hooks.status(repository)
    name, why = str(state.get("state")), str(state.get("why", ""))
    if name == "bypassed":
        yield Check("hooks", False, why or name, str(state.get("hint", "")))
    else:
        yield Check("hooks", True if name == "installed" else None, f"{name} {why}".strip(), str(state.get("hint", "")))


def _store(repository: Repository) -> Iterator[Check]:
    folder = repository.store.folder
    writable = _nearest_existing(str(folder))
    if not os.access(writable, os.W_OK):
        yield Check("store folder", False, f"{writable} cannot be written", "Set TOKENZIP_HOME to a folder that you can write.")
    free = shutil.disk_usage(writable).free
    yield Check(
        "store folder", free > 50_000_000, f"{folder}, {free / 1e9:.1f} GB free", "" if free > 50_000_000 else "Make room."
    )
    if not folder.is_dir():
        yield Check("store", None, "there is none yet; questions make one")
        return
    probe = subprocess.run(
        [sys.executable, "-c", _PROBE, repository.root or repository.git.common_dir],
        capture_output=True, text=True, check=False, timeout=PROBE_SECONDS,
    )  # fmt: skip
    if probe.returncode:
        last = (probe.stderr.strip().splitlines() or [f"exit code {probe.returncode}"])[-1]
        yield Check("store", False, f"it does not open: {last}", "`tokenzip clean` removes it; questions fill it again.")
        return
    yield Check("store", True, f"opens; {probe.stdout.strip()} snapshots")
    yield from _older_formats(repository)
    if repository.git.head() is not None:
        yield _sample(repository)


def _older_formats(repository: Repository) -> Iterator[Check]:
    from tokenzip.repository import OLD_FORMAT_DAYS

    old = repository.older_formats()
    if old:
        detail = f"{', '.join(each.name for each in old)} of an older tokenzip: {sum(each.bytes for each in old) / 1e6:.1f} MB"
        yield Check("older formats", None, detail, f"`tokenzip gc` removes what was not used for {OLD_FORMAT_DAYS} days.")


def _nearest_existing(path: str) -> str:
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return path


def _sample(repository: Repository) -> Check:
    from tokenzip.operations.state import sample_differences

    *different, (_, compared) = sample_differences(repository)
    if not different:
        return Check("contents", True, f"{compared} worked out again, all as stored")
    names = ", ".join(f"{path} ({what})" for path, what in different[:5])
    return Check(
        "contents", False, f"{compared} worked out again; {len(different)} differ: {names}", "`tokenzip index --full` mends it."
    )
