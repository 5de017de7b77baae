"""When words of contents are posted: a search finds them before and after, also those of code that no language reads."""

from __future__ import annotations

import pytest
from gitrepo import Repo

import tokenzip
from tokenzip.search import search_files
from tokenzip.snapshot import posting

FIRST = {"shop/cart.py": "def checkout(): ...\n", "cmd/voucher.go": "package cmd\n", "package.json": "{}\n"}
SECOND = {
    "shop/cart.py": "def checkout(): ...\n\ndef refunded(): ...\n",
    "cmd/voucher.go": "package cmd\n\nfunc redeemed() {}\n",
    "package.json": '{"name": "shop"}\n',
}


def unposted(repository: tokenzip.Repository) -> set[str]:
    return {content.path for content in repository.snapshot("HEAD").contents() if not content.document}


def found(repository: tokenzip.Repository, words: str) -> list[str]:
    return [hit.path for hit in search_files(repository.snapshot("HEAD"), words)]


@pytest.fixture
def repository(repo: Repo) -> tokenzip.Repository:
    """The second commit was brought in over the first."""
    repo.commit(FIRST, "First")
    repository = tokenzip.repo(repo.path)
    repository.snapshot("HEAD")
    repo.commit(SECOND, "Second")
    return repository


def test_new_contents_wait_and_are_found(repository: tokenzip.Repository) -> None:
    assert unposted(repository) == {"shop/cart.py", "cmd/voucher.go"}
    assert found(repository, "refunded") == ["shop/cart.py"]
    assert found(repository, "redeemed") == ["cmd/voucher.go"]


def test_many_that_wait_are_posted_together(repository: tokenzip.Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "_AT_ONCE", 1)
    assert unposted(repository) == set()
    assert found(repository, "refunded") == ["shop/cart.py"]
    assert found(repository, "redeemed") == ["cmd/voucher.go"]


def test_gc_posts_what_waits(repository: tokenzip.Repository) -> None:
    assert unposted(repository)
    repository.gc()
    assert unposted(repository) == set()
    assert found(repository, "refunded") == ["shop/cart.py"]
    assert found(repository, "redeemed") == ["cmd/voucher.go"]
