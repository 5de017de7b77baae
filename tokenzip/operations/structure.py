"""Orientation: the repository, its modules and its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenzip.errors import TokenzipError
from tokenzip.operations.base import Answer, Arguments

if TYPE_CHECKING:
    from tokenzip.repository import Repository


def query_repo_structure(repository: Repository, arguments: Arguments) -> Answer:
    """Modules, sizes, languages, entry points and the symbols that most depends on."""
    raise TokenzipError("not there yet")


def query_module(repository: Repository, arguments: Arguments) -> Answer:
    """One module: its files, packages and neighbours."""
    raise TokenzipError("not there yet")


def query_file(repository: Repository, arguments: Arguments) -> Answer:
    """One file: its symbols, imports and problems."""
    raise TokenzipError("not there yet")
