"""Real git histories without a network of git hosts: successive releases of packages, one commit and tag a version.

The versions are pinned and the commits carry a fixed author and date, so every machine makes the same ids. What was built is
kept between runs in the user's cache directory (``TOKENZIP_TEST_CACHE`` names another one). The packages come through the
ordinary clients, pip and npm, with whatever registry those are set up for; where none answers, `Unavailable` says so.

``python tests/history.py NAME`` builds the history and prints its folder; ``python tests/history.py`` lists the names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

FORMAT = 1
"""Grows when the same versions would give other commits."""
FIRST_DATE = 1_700_000_000
"""Seconds since 1970 of the first commit; each later one follows a day after the one before."""
CLIENT_TIMEOUT = 120
"""Seconds that a package client may take; it is ended then, and the history counts as unavailable."""


@dataclass(frozen=True)
class Package:
    """A package of a registry, and the releases that make its history."""

    registry: str
    """``pip`` or ``npm``."""
    name: str
    listed: str
    """Versions with spaces between them, oldest first."""

    @property
    def versions(self) -> tuple[str, ...]:
        return tuple(self.listed.split())


_PACKAGES = (
    Package(
        "pip",
        "httpx",
        "0.11.0 0.12.0 0.12.1 0.13.0 0.13.1 0.13.2 0.13.3 0.14.0 0.14.1 0.14.2 0.14.3 0.15.0 0.15.1 0.15.4 0.15.5 0.16.0 "
        "0.16.1 0.17.0 0.17.1 0.18.0 0.18.1 0.18.2 0.19.0 0.20.0 0.21.0 0.22.0 0.23.0 0.23.3 0.24.0 0.25.0 0.26.0 0.27.0 "
        "0.28.1",
    ),
    Package(
        "pip",
        "flask",
        "1.0 1.0.1 1.0.2 1.0.3 1.0.4 1.1.0 1.1.1 1.1.2 1.1.4 2.0.0 2.0.1 2.0.2 2.0.3 2.1.0 2.1.1 2.1.2 2.1.3 2.2.0 2.2.1 "
        "2.2.2 2.2.3 2.2.5 2.3.0 2.3.1 2.3.2 2.3.3 3.0.0 3.0.2 3.0.3 3.1.0",
    ),
    Package(
        "npm",
        "redux",
        "3.0.0 3.0.4 3.1.0 3.1.7 3.2.0 3.2.1 3.3.0 3.4.0 3.5.0 3.5.2 3.6.0 3.7.0 3.7.2 4.0.0-beta.1 4.0.0-rc.1 4.0.0 4.0.1 "
        "4.0.3 4.0.5 4.1.0 4.1.2 4.2.0 4.2.1 5.0.0-alpha.0 5.0.0-alpha.2 5.0.0-alpha.5 5.0.0-alpha.6 5.0.0-beta.0 "
        "5.0.0-rc.0 5.0.0 5.0.1",
    ),
    Package(
        "npm",
        "immer",
        "6.0.0 6.0.3 6.0.5 6.0.9 7.0.0 7.0.3 7.0.5 7.0.8 7.0.9 7.0.14 8.0.0 8.0.1 8.0.4 9.0.0 9.0.2 9.0.3 9.0.6 9.0.7 "
        "9.0.12 9.0.16 9.0.18 9.0.19 9.0.21 10.0.0 10.0.2 10.0.4 10.1.1 10.1.3 10.2.0 11.0.0",
    ),
)
PACKAGES = {package.name: package for package in _PACKAGES}


class Unavailable(Exception):
    """No registry answered, or its client is not installed."""


def history(name: str) -> Path:
    """A repository with a work tree at the newest version. Treat it as read-only: it is shared between runs."""
    package = PACKAGES[name]
    kept = _cache() / f"{package.registry}-{name}-{package.versions[-1]}-{len(package.versions)}-v{FORMAT}"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as work:
            built = _build(package, Path(work))
            try:
                built.rename(kept)
            except OSError:  # another run was faster
                if not kept.exists():
                    raise
    return kept


def needed_history(name: str) -> Path:
    """For tests: `history`, or the test is skipped with the reason; in CI it fails, since there it must run."""
    import pytest

    try:
        return history(name)
    except Unavailable as error:
        if os.environ.get("CI"):
            pytest.fail(f"the history of {name} must be at hand in CI: {error}")
        pytest.skip(f"no history of {name}: {error}")


def clone(name: str, folder: Path) -> Path:
    """A repository of one's own to change, made from `needed_history`."""
    source = needed_history(name)
    git("clone", "--quiet", "--no-hardlinks", str(source), str(folder))
    return folder


def git(*arguments: str, cwd: Path | None = None, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> str:
    """Standard output of git, run with none of the machine's or the user's settings. Raises CalledProcessError."""
    return subprocess.run(
        ("git", *arguments),
        cwd=cwd,
        input=stdin,
        env={**hermetic_environment(), **(env or {})},
        check=True,
        capture_output=True,
    ).stdout.decode("utf-8", "surrogateescape")


def hermetic_environment() -> dict[str, str]:
    """The environment without git's variables, and with an author and a date that do not change."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    date = f"{FIRST_DATE} +0000"
    return kept | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_NAME": "A U Thor",
        "GIT_AUTHOR_EMAIL": "author@example.com",
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": "C O Mitter",
        "GIT_COMMITTER_EMAIL": "committer@example.com",
        "GIT_COMMITTER_DATE": date,
    }


def _cache() -> Path:
    chosen = os.environ.get("TOKENZIP_TEST_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tokenzip-tests"


def _build(package: Package, work: Path) -> Path:
    archives = (_from_pip if package.registry == "pip" else _from_npm)(package, work / "archives")
    repository = work / "repository"
    git("init", "--quiet", "--initial-branch=main", str(repository))
    stream = b"".join(_commits(package, archives)) + b"done\n"
    git("fast-import", "--quiet", "--done", cwd=repository, stdin=stream)
    git("reset", "--quiet", "--hard", "main", cwd=repository)
    return repository


def _from_pip(package: Package, folder: Path) -> dict[str, Path]:
    """The wheel of each version: pure Python, and nothing has to be built."""

    def fetch(version: str) -> Path:
        target = folder / version
        _client(
            *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"),
            *("--only-binary=:all:", "--ignore-requires-python", "--dest", str(target), f"{package.name}=={version}"),
        )
        return next(target.glob("*.whl"))

    with ThreadPoolExecutor(2) as pool:
        return dict(zip(package.versions, pool.map(fetch, package.versions), strict=True))


def _from_npm(package: Package, folder: Path) -> dict[str, Path]:
    folder.mkdir(parents=True)
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not installed")
    specifications = [f"{package.name}@{version}" for version in package.versions]
    _client(npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", str(folder), *specifications)
    return {version: folder / f"{package.name}-{version}.tgz" for version in package.versions}


def _client(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=CLIENT_TIMEOUT, stdin=subprocess.DEVNULL)
    except subprocess.CalledProcessError as error:
        raise Unavailable(f"{Path(command[0]).name} failed: {(error.stderr or error.stdout).strip()[-300:]}") from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{Path(command[0]).name} did not answer within {CLIENT_TIMEOUT} s") from error


def _commits(package: Package, archives: Mapping[str, Path]) -> Iterator[bytes]:
    """The history as a stream for ``git fast-import``."""
    for number, version in enumerate(package.versions):
        who = f"Release Robot <robot@example.com> {FIRST_DATE + number * 86_400} +0000".encode()
        message = f"{package.name} {version}\n".encode()
        yield b"commit refs/heads/main\nauthor " + who + b"\ncommitter " + who + b"\n" + _data(message) + b"deleteall\n"
        for path, content in sorted(_files(archives[version])):
            yield b"M 644 inline " + path.encode() + b"\n" + _data(content)
        yield b"\nreset refs/tags/v" + version.encode() + b"\nfrom refs/heads/main\n\n"


def _data(content: bytes) -> bytes:
    return b"data %d\n" % len(content) + content + b"\n"


def _files(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Path and content of what a person would have written: no package metadata of the wheel, no source maps."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for name in wheel.namelist():
                if not name.endswith("/") and ".dist-info/" not in name:
                    yield name, wheel.read(name)
    else:
        with tarfile.open(archive) as tarball:
            for member in tarball:
                file = tarball.extractfile(member) if member.isreg() else None
                if file is not None and not member.name.endswith(".map"):
                    yield member.name.partition("/")[2], file.read()


def main(arguments: list[str]) -> int:
    if not arguments:
        print("\n".join(PACKAGES))
        return 0
    try:
        print(history(arguments[0]))
    except Unavailable as error:
        print(f"no history of {arguments[0]}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
