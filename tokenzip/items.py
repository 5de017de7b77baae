"""What every door says about a record of the graph: symbols, files, edges, changes as items of plain JSON."""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from tokenzip.languages import registry
from tokenzip.model import BrokenReference, Change, Edge, Revision, Symbol, SymbolKey

if TYPE_CHECKING:
    from tokenzip.impact import Reached
    from tokenzip.snapshot import Snapshot
    from tokenzip.walk import Open

Item = dict[str, Any]
SIGNATURE_LENGTH = 160
"""Characters of a signature in a list; longer ones are cut at the end and say so with an ellipsis."""

BRIEF_SIGNATURE_LENGTH = 54
"""The same in a short item."""
BRIEF_LINES = 3
"""Lines of an edge with many sites that a short item gives."""
MOST_LINES = 20
"""The same in any other item: the two hundred calls of a test file would leave nothing of a budget to the other items."""
_ORDINAL = re.compile(r"(?<=.)#\d+$")

T = TypeVar("T")


class Lazy(Sequence[Item]):
    """The items of a list, each made when it is looked at: a budget lets few of many be seen."""

    def __init__(self, subjects: Sequence[T], make: Callable[[T], Item]) -> None:
        self._subjects: Sequence[Any] = subjects
        self._make: Callable[[Any], Item] = make

    def __len__(self) -> int:
        return len(self._subjects)

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> Lazy: ...
    def __getitem__(self, place: int | slice) -> Item | Lazy:
        if isinstance(place, slice):
            return Lazy(self._subjects[place], self._make)
        return self._make(self._subjects[place])


def revision_item(revision: Revision) -> Item:
    return {"rev": revision.rev, "commit": revision.commit, "dirty": revision.dirty}


def symbol_item(snapshot: Snapshot, symbol: Symbol, include: Collection[str] = ()) -> Item:
    """What a list says about a symbol: all, or with ``names`` handle, file, line and the fields that `include` names."""
    whole = "names" not in include
    item: Item = {"handle": symbol.handle}
    if _ORDINAL.search(symbol.qualified_name):
        item["name"] = symbol.name
    if whole:
        item["id"] = str(symbol.id)
    if whole or "kind" in include:
        item["kind"] = symbol.kind
    item["file"] = symbol.path
    item["line"] = symbol.line
    if whole or "end_line" in include:
        item["end_line"] = symbol.end_line
    if whole or "signature" in include:
        signature = one_line(signature_of(snapshot, symbol), SIGNATURE_LENGTH if whole else BRIEF_SIGNATURE_LENGTH)
        if signature not in {"", symbol.name}:
            item["signature"] = signature
    if "doc" in include and (doc := doc_text(snapshot.docstring(symbol))):
        item["doc"] = doc
    if "source" in include:
        item["source"] = symbol_source(snapshot, symbol)
    return item


def file_item(snapshot: Snapshot, path: str, include: Collection[str] = ()) -> Item:
    """What a list says about a file, as an end of an edge or as a thing of its own."""
    item: Item = {"handle": path, "file": path}
    whole = "names" not in include
    if whole:
        item["kind"] = "file"
    file = snapshot.file(path)
    if file is not None:
        if whole:
            item["lines"] = file.lines
        if file.status != "parsed":
            item["status"] = file.status
    return item


def key_item(snapshot: Snapshot, key: SymbolKey, include: Collection[str] = ()) -> Item:
    """The item of a symbol or, for an empty qualified name, of its file."""
    symbol = snapshot.symbol(key) if key.qualified else None
    return symbol_item(snapshot, symbol, include) if symbol is not None else file_item(snapshot, key.path, include)


def edge_part(edges: Sequence[Edge], include: Collection[str] = ()) -> Item:
    """The `edge` of an item: the first of equal edges, with all lines when there are several.

    Of many lines the first ones and their number. With ``names`` in `include` no tier is said, and fewer lines; with
    ``one kind`` no kind, for there is one alone that was asked for.
    """
    first = edges[0]
    brief = "names" in include
    part: Item = {"line": first.line} if brief and "one kind" in include else {"kind": first.kind, "line": first.line}
    if not brief:
        part["tier"] = first.tier
    lines = sorted({edge.line for edge in edges})
    if len(lines) > 1:
        part["lines"] = lines[: BRIEF_LINES if brief else MOST_LINES]
        if len(part["lines"]) < len(lines):
            part["sites"] = len(lines)
    details = sorted({edge.detail for edge in edges if edge.detail})
    if details:
        part["detail"] = ", ".join(details)
    return part


@functools.lru_cache(maxsize=16)
def _source(snapshot: Snapshot, path: str) -> bytes:
    """The content of a file; neighbours in a list often come from one file."""
    return snapshot.source(path)


def signature_of(snapshot: Snapshot, symbol: Symbol) -> str:
    """The head of a definition on one line, without decorators, comments and the sign that opens its body."""
    text = _source(snapshot, symbol.path)[symbol.row.start : symbol.row.signature_end].decode("utf-8", "replace")
    if text.startswith("@"):  # decorators stand on lines of their own, before that of the name
        text = "".join(text.splitlines(keepends=True)[symbol.row.name_line - symbol.row.line :])
    text = registry.without_comments(text, registry.name_for_path(symbol.path))
    text = re.sub(r",?\s*\n\s*([)\]}>])", r"\1", re.sub(r"([(\[{<])\s*\n\s*", r"\1", text))
    return " ".join(text.split()).removesuffix("=>").rstrip(" ={:")


def symbol_source(snapshot: Snapshot, symbol: Symbol) -> str:
    """The text of a definition, decorators included."""
    return _source(snapshot, symbol.path)[symbol.row.start : symbol.row.end].decode("utf-8", "replace")


_QUOTES = re.compile(r"""[A-Za-z]{0,2}(\"{3}|'{3}|"|')(.*)\1""", re.DOTALL)
_COMMENT = re.compile(r"/\*+(.*?)\*+/", re.DOTALL)
_MARGIN = re.compile(r"^[ \t]*(?:\*(?!\*)|///?|//!|#+)[ \t]?", re.MULTILINE)


def doc_text(written: str) -> str:
    """Documentation without the signs that make a string or a comment of it, and without the indentation of the code."""
    text = written.strip()
    if quoted := _QUOTES.fullmatch(text):
        text = quoted[2]
    elif text.startswith(("/*", "//", "#")):
        comment = _COMMENT.fullmatch(text)
        text = _MARGIN.sub("", comment[1] if comment else text)
    first, newline, rest = text.partition("\n")
    return (first.strip() + newline + (textwrap.dedent(rest) if quoted else rest)).strip()


def first_paragraph(text: str) -> str:
    """The text up to its first blank line, with an ellipsis if there is more."""
    head, gap, _ = text.partition("\n\n")
    return " ".join(head.split()) + (" …" if gap else "")


def one_line(text: str, length: int) -> str:
    """The text with runs of white space as single blanks, cut to `length` characters with an ellipsis."""
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1].rstrip() + "…"


def completeness(possible: Open, why: str) -> bool | Item:
    """`complete` of an answer that these open references could add to."""
    if not possible.count:
        return True
    unread = "files not wholly read may add to it" if possible.unread else ""
    reasons = [unread] if possible.unread == possible.count else [why, unread]
    answer: Item = {"why": "; ".join(filter(None, reasons)), "unresolved": possible.count}
    if possible.places:
        answer["places"] = list(possible.places)
    return answer


def reached_item(reached: Reached, include: Collection[str] = ()) -> Item:
    """What a list says about a symbol that a change reaches; with ``names`` in `include` no more than tells it and its way.

    The short form names what something farther away uses (`via`) by its last name: that comes before it in the list.
    Where all are tests (``tests`` in `include`), which are asked for to be run, none says so, nor what it goes through.
    """
    first = reached.path[0]
    item: Item = {"handle": reached.handle, "file": reached.key.path}
    if "names" in include:
        if reached.line:
            item["line"] = reached.line
        item["distance"] = reached.distance
        if "tests" in include:
            return item
        if reached.distance > 1:
            item["via"] = first.target.qualified.rpartition(".")[2] or first.target.path
        if reached.test:
            item["test"] = True
        return item
    item["kind"] = reached.kind
    if reached.line:
        item["line"] = reached.line
    item["edge"] = {"kind": reached.via, "line": first.line, "tier": first.tier}
    item["distance"] = reached.distance
    item["via"] = first.target.handle
    item["test"] = reached.test
    return item


def change_item(change: Change, reached: int | None = None) -> Item:
    """What a list says about a change, with the number of symbols that it reaches where that is known."""
    item: Item = {"handle": change.handle, "kind": change.kind, "change": change.change}
    if change.also:
        item["also"] = list(change.also)
    if change.old_handle is not None:
        item["old_handle"] = change.old_handle
    item["file"] = change.file
    if change.line:
        item["line"] = change.line
    item["breaking"] = change.breaking
    if reached is not None:
        item["reached"] = reached
    if change.reasons:
        item["reasons"] = list(change.reasons)
    if change.within is not None:
        item["within"] = change.within.handle
    if change.test:
        item["test"] = True
    return item


def broken_item(broken: BrokenReference) -> Item:
    """What a list says about a reference that does not hold any more."""
    item: Item = {"handle": broken.source.handle, "kind": broken.kind, "file": broken.file, "line": broken.line}
    item["target"] = broken.target.handle
    if broken.now is not None:
        item["now"] = broken.now.handle
    item["why"] = broken.why
    return item


# Items as rows.

_NO_COLUMN = frozenset({"id", "file", "end_line"})
"""Fields that a table does not show: the handle and the line say as much."""


def table_columns(items: Iterable[Mapping[str, Any]]) -> list[str]:
    """The fields that a table of these items shows, in the order of their first use."""
    return [name for name in dict.fromkeys(name for item in items for name in item) if name not in _NO_COLUMN]


def cell_text(item: Mapping[str, Any], column: str) -> str:
    """A field of an item in words."""
    value = item.get(column)
    if value is None:
        return ""
    if column == "edge":
        return f"{value['kind']} {value['line']}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
