"""The answer to a query that is written as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenzip.errors import UsageError
from tokenzip.operations.base import Answer, Arguments
from tokenzip.operations.items import listing

if TYPE_CHECKING:
    from tokenzip.query.work import Found
    from tokenzip.repository import Repository
    from tokenzip.snapshot import Snapshot


def run_query(repository: Repository, arguments: Arguments) -> Answer:
    """What the query in `query` finds, in the order that it asks for."""
    from tokenzip.query import parse
    from tokenzip.query.evaluate import evaluated
    from tokenzip.query.output import outcome

    query, terminal = parse(arguments["query"])
    at = arguments.get("at")
    if at is not None and query.chain[0].name == "at" and query.chain[0].arguments[0] != at:
        raise UsageError(f"the query is about another revision than {at}", hint="Name it once: beside the query or in it.")

    def answer(found: Found) -> Answer:
        said = outcome(found, terminal)
        return listing(found.snapshot, arguments, said.items, head=said.head, complete=said.complete)

    return evaluated(query.chain, _Pinned(repository, at), answer)


@dataclass(frozen=True, slots=True)
class _Pinned:
    """A repository that is asked about one revision unless another one is named."""

    repository: Repository
    at: str | None

    def snapshot(self, rev: str | None = None) -> Snapshot:
        return self.repository.snapshot(rev or self.at)

    def snapshots(self, base: str | None, head: str | None) -> tuple[Snapshot, Snapshot]:
        return self.repository.snapshots(base or self.at, head or self.at)

    def merge_base(self, a: str, b: str) -> str:
        return self.repository.merge_base(a, b)
