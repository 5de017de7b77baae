"""Fixtures that several test modules share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from gitrepo import Repo, hermetic_environment


@pytest.fixture
def hermetic(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of a machine without git configuration; also set for this process, with a cache folder of its own."""
    home = tmp_path_factory.mktemp("home")
    environment = hermetic_environment(home) | {"TOKENZIP_HOME": str(home / "cache")}
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return environment


@pytest.fixture
def make_repo(tmp_path: Path, hermetic: dict[str, str]) -> Callable[..., Repo]:
    """A maker of repositories: ``make_repo("name", *options of git init)``."""

    def make(name: str = "repo", *options: str) -> Repo:
        return Repo.create(tmp_path / name, hermetic, *options)

    return make


@pytest.fixture
def repo(make_repo: Callable[..., Repo]) -> Repo:
    """An empty repository on an unborn branch."""
    return make_repo()
