"""One symbol, looked at closely, and the search for symbols."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from tokenzip import walk
from tokenzip.errors import UsageError
from tokenzip.items import (
    Item,
    Lazy,
    completeness,
    doc_text,
    edge_part,
    file_item,
    first_paragraph,
    key_item,
    signature_of,
    symbol_item,
    symbol_source,
)  # fmt: skip
from tokenzip.model import Edge, Flag, Symbol, SymbolKey
from tokenzip.operations.base import Answer, Arguments, call
from tokenzip.operations.items import DEFINITION, is_whole, listing, other_kind, unknown_module, wanted

if TYPE_CHECKING:
    from tokenzip.search import FileHit, Hit
    from tokenzip.snapshot import Snapshot

NEIGHBOURS = 10
"""Edges a side that an answer about one symbol lists; the counts beside them are of all."""
SIMILAR = 2
"""Other names that a search for a name which exists mentions."""
COUNTED = 60
"""Definitions of one name whose users are counted to put the most used first."""


def query_symbol(snapshot: Snapshot, arguments: Arguments) -> Answer:
    """What a symbol is, where, what it has inside, what it uses and who uses it."""
    symbol = walk.resolve(snapshot, arguments["handle"])
    if not isinstance(symbol, Symbol):
        raise other_kind(arguments["handle"], symbol)
    uses = walk.by_use(snapshot, walk.closure(snapshot, symbol.key, 1, (), backward=False))
    users = walk.by_use(snapshot, walk.closure(snapshot, symbol.key, 1, (), backward=True))
    head = {
        "symbol": described(snapshot, symbol, arguments.get("include", ())),
        "members": _members(snapshot, symbol),
        "uses": _side(snapshot, uses),
        "used_by": _side(snapshot, users),
    }
    known = [edge for user in users for edge in user.edges]
    home = walk.confined_to(snapshot, symbol)
    possible = walk.possible_uses(snapshot, walk.names_of(snapshot, symbol), known, (), home)
    why = f"unresolved uses of the name {symbol.name} may belong here"
    calls = [
        call(tool, handle=symbol.handle, at=arguments.get("at"))
        for tool, nodes in (("get_dependants", users), ("get_dependencies", uses))
        if len(nodes) > NEIGHBOURS
    ]
    items = [key_item(snapshot, member.key) for member in walk.family(snapshot, symbol) if member != symbol]
    return listing(snapshot, arguments, items, head=head, complete=completeness(possible, why), calls=calls)


def described(snapshot: Snapshot, symbol: Symbol, include: Sequence[str] = ()) -> Item:
    """The long form of a symbol: as in a list, with its documentation, properties and details from the source."""
    item = symbol_item(snapshot, symbol)
    item["signature"] = signature_of(snapshot, symbol)
    if doc := doc_text(snapshot.docstring(symbol)):
        item["doc"] = doc if "doc" in include else first_paragraph(doc)
    if flags := flag_names(symbol.flags):
        item["flags"] = flags
    detail = snapshot.detail(symbol)
    for name, value in (
        ("returns", detail.returns),
        ("decorators", list(detail.decorators)),
        ("generics", list(detail.generics)),
        ("bases", list(detail.bases)),
        ("value", detail.value),
    ):
        if value:
            item[name] = value
    if detail.parameters:
        item["parameters"] = [
            _parameter_text(parameter.name, parameter.annotation, parameter.default) for parameter in detail.parameters
        ]
    if symbol.row.parent >= 0:
        item["parent"] = walk.symbols_of(snapshot, symbol.path)[symbol.row.parent].handle
    if "source" in include:
        item["source"] = symbol_source(snapshot, symbol)
    return item


def _parameter_text(name: str, annotation: str, default: str) -> str:
    return name + (f": {annotation}" if annotation else "") + (f" = {default}" if default else "")


def flag_names(flags: Flag) -> list[str]:
    """The properties of a symbol in words: ``async``, ``static``, ``exported`` ..."""
    return [flag.name.lower() for flag in Flag if flag in flags and flag.name]


def _members(snapshot: Snapshot, symbol: Symbol) -> list[Item]:
    return [
        {"handle": member.handle, "kind": member.kind, "line": member.line}
        for member in walk.symbols_of(snapshot, symbol.path)
        if member.row.parent == symbol.index and member.kind not in {"parameter", "generic_param"}
    ]


def _side(snapshot: Snapshot, nodes: Sequence[walk.Reached]) -> Item:
    """One side of a symbol's edges: how many of each kind, and the first few."""
    kinds = Counter(walk.strongest(node.edges)[0][0].kind for node in nodes)
    return {
        "total": len(nodes),
        "kinds": dict(sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0]))),
        "first": [_neighbour(node.key, node.edges) for node in nodes[:NEIGHBOURS]],
    }


def _neighbour(key: SymbolKey, edges: Sequence[Edge]) -> Item:
    return {"handle": key.handle, "edge": edge_part(walk.strongest(edges)[0], {"names"})}


def search_symbols(snapshot: Snapshot, arguments: Arguments) -> Answer:
    """Symbols, and files that no language reads, ranked for some words; for a name that there is, its definitions."""
    from tokenzip.search import LONGEST_QUESTION, find

    if not arguments["query"].strip():
        raise UsageError("nothing to search for", hint="Give a name, part of one, or words that describe it.")
    module = _module_to_search(snapshot, arguments)
    kinds, include = tuple(arguments.get("kinds", ())), wanted(arguments, DEFINITION)
    named = _definitions(snapshot, arguments["query"].strip(), kinds, module)
    limit = arguments.get("limit", 20)
    is_enough = len(named) > limit  # nobody looks at other names beside so many of the very name
    found = [] if is_enough else find(snapshot, arguments["query"], kinds=kinds, module=module, limit=limit)
    if not named:
        cut: Item = {"why": f"only the first {LONGEST_QUESTION} characters of the query were looked for"}
        whole = len(arguments["query"]) <= LONGEST_QUESTION
        return listing(
            snapshot, arguments, [_hit_item(snapshot, hit, include) for hit in found], complete=True if whole else cut
        )
    shared = [symbol for symbol in named if not symbol.flags & Flag.LOCAL]
    shown = _by_use(snapshot, shared or named)[: arguments.get("limit")]
    head: dict[str, Any] = {}
    if len(shared or named) > len(shown):
        head["definitions"] = len(shared or named)
    if shared and len(named) > len(shared):
        head["local"] = len(named) - len(shared)
    if similar := _similar(found, named):
        head["similar"] = similar
    items = Lazy(shown, lambda symbol: symbol_item(snapshot, symbol, include))
    elsewhere = walk.unread_places(snapshot, [named[0].name])
    return listing(snapshot, arguments, items, head=head, complete=completeness(elsewhere, ""))


def _module_to_search(snapshot: Snapshot, arguments: Arguments) -> str | None:
    """The path of the module or folder that the search is bound to, None without a bound."""
    if "module" not in arguments:
        return None
    module = walk.find_module(snapshot, arguments["module"])
    if module is not None:
        return module.path
    folder = walk.find_folder(snapshot, arguments["module"])
    if folder is None:
        raise unknown_module(snapshot, arguments["module"])
    return folder


def _definitions(snapshot: Snapshot, name: str, kinds: Collection[str], module: str | None) -> list[Symbol]:
    """The definitions of exactly that name, which is what a search for it is about."""
    if not all(part.lstrip("#").isidentifier() for part in re.split(r"\.|::", name)):
        return []
    return [
        symbol
        for symbol in walk.defined_as(snapshot, name)
        if (not kinds or symbol.kind in kinds) and (module is None or walk.lies_in(snapshot, symbol.path, module))
    ]


def _by_use(snapshot: Snapshot, symbols: Sequence[Symbol]) -> list[Symbol]:
    """Product before tests, then what most files lean on."""

    def order(symbol: Symbol) -> tuple[object, ...]:
        users = len({edge.source.path for edge in snapshot.edges_to(symbol.key)}) if len(symbols) <= COUNTED else 0
        return walk.is_test_symbol(snapshot, symbol), -users, symbol.path, symbol.line

    return sorted(symbols, key=order)


def _similar(found: Sequence[Hit | FileHit], named: Sequence[Symbol]) -> list[str]:
    """Other names that the search would have found by their letters."""
    known = {symbol.name for symbol in named}
    by_name = (hit.symbol.name for hit in found if hit.symbol and "name" in hit.why and hit.symbol.name not in known)
    return list(dict.fromkeys(by_name))[:SIMILAR]


def _hit_item(snapshot: Snapshot, hit: Hit | FileHit, include: Collection[str]) -> Item:
    if hit.symbol:
        item = symbol_item(snapshot, hit.symbol, include)
    else:
        item = {"handle": hit.path, "kind": "file", **file_item(snapshot, hit.path, include)}
    if is_whole(include):
        item["score"] = round(hit.score, 2)
        if hit.why:
            item["match"] = hit.why
    return item
