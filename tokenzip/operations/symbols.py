"""One symbol, looked at closely, and the search for symbols."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from tokenzip import walk
from tokenzip.errors import UsageError
from tokenzip.items import Item, completeness, edge_part, key_item, signature_of, symbol_item, symbol_source
from tokenzip.model import Edge, Flag, Module, Symbol, SymbolKey
from tokenzip.operations.base import Answer, Arguments, call
from tokenzip.operations.items import listing, wanted

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

NEIGHBOURS = 10
"""Edges a side that an answer about one symbol lists; the counts beside them are of all."""


def query_symbol(snapshot: Snapshot, arguments: Arguments) -> Answer:
    """What a symbol is, where, what it has inside, what it uses and who uses it."""
    symbol = walk.resolve(snapshot, arguments["handle"])
    if not isinstance(symbol, Symbol):
        other = "module" if isinstance(symbol, Module) else "file"
        raise UsageError(f"{arguments['handle']} is a {other}", hint=f"Ask query_{other} instead.")
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
    why = f"references named {symbol.name} whose target is unknown could be more uses"
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
    if doc := snapshot.docstring(symbol):
        item["doc"] = doc
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
    return {"handle": key.handle, "edge": edge_part(walk.strongest(edges)[0])}


def search_symbols(snapshot: Snapshot, arguments: Arguments) -> Answer:
    """Symbols ranked for some words."""
    from tokenzip.search import search

    if not arguments["query"].strip():
        raise UsageError("nothing to search for", hint="Give a name, part of one, or words that describe it.")
    module = None
    if "module" in arguments:
        module = walk.find_module(snapshot, arguments["module"])
        if module is None:
            names = [each.name for each in snapshot.modules().all()]
            raise UsageError(
                f"no module {arguments['module']!r}", hint="Modules are named as in the map.", candidates=names[:10]
            )
    hits = search(
        snapshot,
        arguments["query"],
        kinds=tuple(arguments.get("kinds", ())),
        module=None if module is None else module.path,
        limit=arguments.get("limit", 20),
    )
    items = [_hit_item(snapshot, hit.symbol, hit.score, hit.why, wanted(arguments)) for hit in hits]
    calls = [call("query_symbol", handle=items[0]["handle"], at=arguments.get("at"))] if items else []
    return listing(snapshot, arguments, items, calls=calls)


def _hit_item(snapshot: Snapshot, symbol: Symbol, score: float, why: str, include: Collection[str]) -> dict[str, Any]:
    item = symbol_item(snapshot, symbol, include)
    item["score"] = round(score, 2)
    if why:
        item["match"] = why
    return item
