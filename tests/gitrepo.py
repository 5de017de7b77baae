"""Temporary git repositories for tests: real git, nothing of the machine's configuration, fixed names and dates."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

Content = str | bytes | None
_NULL = os.devnull
_FIRST_DATE = 1_700_000_000


def hermetic_environment(home: Path) -> dict[str, str]:
    """Variables under which git (and libgit2) see no configuration but the repository's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_CONFIG_GLOBAL": _NULL,
        "GIT_CONFIG_SYSTEM": _NULL,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
        "GIT_EDITOR": "true",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


@contextlib.contextmanager
def shared_repo(folders: pytest.TempPathFactory, name: str) -> Iterator[Repo]:
    """An empty repository, with a store of its own, that many tests read; the process sees its environment meanwhile."""
    home = folders.mktemp("home")
    environment = hermetic_environment(home) | {"TOKENZIP_HOME": str(home / "cache")}
    with pytest.MonkeyPatch.context() as patch:
        for variable in [variable for variable in os.environ if variable.startswith("GIT_")]:
            patch.delenv(variable)
        for variable, value in environment.items():
            patch.setenv(variable, value)
        yield Repo.create(folders.mktemp(name), environment)


class Repo:
    """A git repository in a temporary folder. Each commit is a minute younger than the one before."""

    def __init__(self, path: Path, environment: Mapping[str, str], clock: list[int] | None = None) -> None:
        self.path = path
        self.environment = dict(environment)
        self._clock = clock if clock is not None else [_FIRST_DATE]

    @classmethod
    def create(cls, path: Path, environment: Mapping[str, str], *options: str) -> Repo:
        """``git init`` with these options, on branch main."""
        path.mkdir(parents=True, exist_ok=True)
        repo = cls(path, environment)
        repo.git("-c", "init.defaultBranch=main", "init", "--quiet", *options)
        return repo

    def git(self, *arguments: str, check: bool = True, cwd: Path | None = None, **environment: str) -> str:
        """Standard output of one git command, without the last newline."""
        return self.run("git", *arguments, check=check, cwd=cwd, **environment).stdout.removesuffix("\n")

    def run(
        self, *command: str, check: bool = True, cwd: Path | None = None, stdin: str = "", **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Any command, in the repository and its environment; output decoded with surrogateescape."""
        dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{self._clock[0]} +0000")
        done = subprocess.run(
            command,
            cwd=cwd or self.path,
            env=self.environment | dates | environment,
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(command)} -> {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    def write(self, files: Mapping[str, Content]) -> None:
        """Write files into the work tree; None removes. Text is UTF-8 with the line ends as given."""
        for name, content in files.items():
            path = os.path.join(self.path, name)
            if content is None:
                os.remove(path)
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)

    def commit(self, files: Mapping[str, Content] | None = None, message: str = "change", *options: str) -> str:
        """Write files, stage everything and commit; the new commit's id."""
        self.write(files or {})
        self.git("add", "--all")
        self._clock[0] += 60
        self.git("commit", "--quiet", "--allow-empty", "-m", message, *options)
        return self.head()

    def merge(self, branch: str, *, check: bool = True) -> str:
        """Merge a branch with a merge commit; the commit of HEAD afterwards."""
        self._clock[0] += 60
        self.git("merge", "--quiet", "--no-ff", "-m", f"merge {branch}", branch, check=check)
        return self.head()

    def switch(self, branch: str, *, create: bool = False) -> None:
        self.git("switch", "--quiet", *(["--create"] if create else []), branch)

    def head(self) -> str:
        return self.git("rev-parse", "--verify", "--quiet", "HEAD", check=False)

    def tree(self, rev: str = "HEAD") -> str:
        return self.git("rev-parse", f"{rev}^{{tree}}")

    def worktree(self, path: Path, *options: str) -> Repo:
        """``git worktree add``."""
        self.git("worktree", "add", "--quiet", *options, str(path))
        return Repo(path, self.environment, self._clock)

    def clone(self, path: Path, *options: str) -> Repo:
        """``git clone`` of this repository (over ``file://``, so that depth and filters work)."""
        url = "file://" + str(self.path)
        self.git("-c", "protocol.file.allow=always", "clone", "--quiet", *options, url, str(path))
        return Repo(path, self.environment, self._clock)

    def submodule(self, other: Repo, path: str) -> None:
        """Add another repository as a submodule (staged, not committed)."""
        self.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.path), path)
