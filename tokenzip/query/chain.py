"""The chain itself: queries as values. A step makes a new query; nothing is read before a terminal asks for records.

The classes of `scopes` add the steps that make sense where a chain is. What a step does is in `evaluate`, how a chain is
written in `text`, what a terminal makes of the records in `output` and `graph`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from tokenzip.errors import UsageError
from tokenzip.model import EDGE_KINDS
from tokenzip.query import fields
from tokenzip.query.evaluate import evaluated
from tokenzip.query.graph import Graph, graph_of
from tokenzip.query.output import completeness, json_text, markdown
from tokenzip.query.steps import Source, Step, Value, write

R = TypeVar("R")
C = TypeVar("C", bound="Chain")


@dataclass(frozen=True, repr=False)
class Chain:
    """Steps that were taken so far, and whom to ask. Two are equal if they are the same steps, whoever is asked."""

    chain: tuple[Step, ...] = ()
    source: Source | None = field(default=None, compare=False)

    SCOPE: ClassVar[str] = ""
    """What it is about, in words."""
    STEPS: ClassVar[tuple[str, ...]] = ()
    """Names of the methods that make a longer chain: all that may stand in a query's text."""

    def __str__(self) -> str:
        return write(self.chain)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(name if name.startswith("_") else no_step(self, name).message)

    def _then(self, scope: type[C], name: str, *arguments: Value, **options: Value) -> C:
        return scope((*self.chain, Step(name, arguments, tuple(options.items()))), self.source)

    def on(self, source: Source) -> Self:
        """The same question to another repository."""
        return type(self)(self.chain, source)


@dataclass(frozen=True, repr=False)
class Query(Chain, Generic[R]):
    """Records of one kind, as a chain of steps says. Immutable and lazy: only terminals look at the repository.

    Terminals: `to_list` `first` `count` `exists` `to_json` `to_markdown` `to_mermaid` `to_graph` `complete`, and iteration.
    """

    FIELDS: ClassVar[Mapping[str, fields.Field]] = {}
    STEPS: ClassVar[tuple[str, ...]] = ("filter", "exclude", "sort", "limit", "offset", "select")

    # ---- steps that every scope has

    def filter(self, *predicates: Callable[[R], object], **lookups: Any) -> Self:
        """Those records for which all look-ups hold (``name__contains="x"``) and all predicates.

        Raises UsageError for a field or look-up that there is not. A query with a predicate has no text form that could be
        read again.
        """
        return self._filtered("filter", predicates, lookups)

    def exclude(self, *predicates: Callable[[R], object], **lookups: Any) -> Self:
        """Those records for which not all look-ups and predicates hold."""
        return self._filtered("exclude", predicates, lookups)

    def _filtered(self, name: str, predicates: Sequence[Callable[[R], object]], lookups: Mapping[str, Any]) -> Self:
        for predicate in predicates:
            if not callable(predicate):
                raise UsageError(f"{name} takes look-ups by name, or a function, not {predicate!r}", hint=f'{name}(name="x")')
        options = tuple((lookup, _frozen(value)) for lookup, value in lookups.items())
        for lookup, value in options:
            fields.condition(self.FIELDS, lookup, value)
        if not predicates and not options:
            raise UsageError(f"{name} needs at least one look-up", hint=f'{name}(name__contains="x")')
        return type(self)((*self.chain, Step(name, tuple(predicates), options)), self.source)

    def sort(self, *names: str) -> Self:
        """By these fields; ``-name`` for the largest first. Records without a value come last, equal ones stay in order."""
        if not names:
            raise UsageError("sort needs a field", hint='sort("name") or sort("-lines")')
        for name in names:
            fields.field_name(self.FIELDS, text_argument("a field", name).removeprefix("-"))
        return self._then(type(self), "sort", *names)

    def limit(self, count: int) -> Self:
        """The first `count` records."""
        return self._then(type(self), "limit", number_argument("limit", count, 0))

    def offset(self, count: int) -> Self:
        """Without the first `count` records."""
        return self._then(type(self), "offset", number_argument("offset", count, 0))

    def select(self, *names: str) -> Self:
        """The same records; in JSON and Markdown they say these fields, beside their handle, and nothing else."""
        if not names:
            raise UsageError("select needs a field", hint='select("name", "doc")')
        for name in names:
            fields.field_name(self.FIELDS, text_argument("a field", name))
        return self._then(type(self), "select", *names)

    # ---- terminals

    def to_list(self) -> list[R]:
        """All records. Raises UsageError for a query that asks no repository, UnknownSymbol for names that are not there."""
        return evaluated(self.chain, self.source, lambda found: list(found.records))

    def __iter__(self) -> Iterator[R]:
        return iter(self.to_list())

    def first(self) -> R | None:
        """The first record, None if there is none."""
        return evaluated(self.chain, self.source, lambda found: next(found.records, None))

    def exists(self) -> bool:
        """Whether there is any."""
        return evaluated(self.chain, self.source, lambda found: any(True for _ in found.records))

    def count(self) -> int:
        """How many there are."""
        return evaluated(self.chain, self.source, lambda found: sum(1 for _ in found.records))

    def complete(self) -> bool | dict[str, Any]:
        """True, or why something may be missing: ``{"why", "unresolved", "places"}`` as in every answer."""
        return evaluated(self.chain, self.source, completeness)

    def to_graph(self) -> Graph:
        """The records as nodes, with the edges between them and those by which a relation found them."""
        return evaluated(self.chain, self.source, graph_of)

    def to_mermaid(self) -> str:
        """`to_graph` as a Mermaid flowchart."""
        return self.to_graph().to_mermaid()

    def to_json(self) -> str:
        """The answer that ``tokenzip query --format json`` and agents get, without a bound."""
        return evaluated(self.chain, self.source, json_text)

    def to_markdown(self) -> str:
        """A Markdown document: the query, the state that it was asked of, a table, and what may be missing."""
        return evaluated(self.chain, self.source, markdown)


def no_step(chain: Chain, name: str) -> UsageError:
    """The error for a step that a scope does not have."""
    near = difflib.get_close_matches(name, chain.STEPS, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"They have {', '.join(chain.STEPS)}."
    return UsageError(f"{chain.SCOPE} have no {name!r}", hint=hint, candidates=near)


def _frozen(value: Any) -> Any:
    """A list, tuple or set as a tuple, so that a query can be compared and kept."""
    if isinstance(value, (set, frozenset)):
        return tuple(sorted(value, key=repr))
    return tuple(value) if isinstance(value, (list, tuple)) else value


def text_argument(what: str, value: object) -> str:
    """The value, if it is a text that says something. Raises UsageError."""
    if not isinstance(value, str) or not value:
        raise UsageError(f"{what} must be a text, not {value!r}")
    return value


def number_argument(what: str, value: object, least: int) -> int:
    """The value, if it is a number of at least `least`. Raises UsageError."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UsageError(f"{what} must be a number from {least} on, not {value!r}")
    return value


def among(what: str, values: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The values, all of them known ones. Raises UsageError with the nearest."""
    if isinstance(values, str):
        values = (values,)
    for value in values:
        if text_argument(what, value) not in known:
            near = difflib.get_close_matches(value, known, n=3, cutoff=0.5)
            raise UsageError(f"there is no {what} {value!r}", hint=f"It is one of {', '.join(known)}.", candidates=near)
    return tuple(values)


def walk_options(depth: int, kinds: Sequence[str] = ()) -> dict[str, Value]:
    """The options of a relation, but for those that say nothing."""
    options: dict[str, Value] = {}
    if number_argument("depth", depth, 1) != 1:
        options["depth"] = depth
    if kinds:
        options["kinds"] = among("kind of edge", kinds, EDGE_KINDS)
    return options


def depth_option(depth: int | None) -> dict[str, Value]:
    """The option of a question that goes as far as it can unless a depth is named."""
    return {} if depth is None else {"depth": number_argument("depth", depth, 1)}
