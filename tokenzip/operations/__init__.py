"""The registry of operations: every question that tokenzip answers, under the name that all doors use.

``OPERATIONS["query_symbol"].run(repository, {"handle": "Flask.route"})`` is what the MCP server sends, what
``tokenzip show Flask.route --format json`` prints, and what the tests compare. Importing this package loads no git, no
store and no parser: those come with the repository.
"""

from __future__ import annotations

from tokenzip.operations.base import (
    COMMON,
    CURSOR,
    DEFAULT_MAX_TOKENS,
    Answer,
    Arguments,
    Operation,
    Parameter,
    error_answer,
)
from tokenzip.operations.table import OPERATIONS, UNLISTED, look_at

__all__ = [
    "COMMON",
    "CURSOR",
    "DEFAULT_MAX_TOKENS",
    "OPERATIONS",
    "UNLISTED",
    "Answer",
    "Arguments",
    "Operation",
    "Parameter",
    "error_answer",
    "look_at",
]
