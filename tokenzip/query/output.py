"""What terminals make of records: answers in JSON, and Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from tokenzip import walk
from tokenzip.budget import counted, lay_out
from tokenzip.impact import Reached
from tokenzip.items import (
    Item,
    Lazy,
    cell_text,
    change_item,
    edge_part,
    file_item,
    reached_item,
    revision_item,
    symbol_item,
    table_columns,
)
from tokenzip.model import Change
from tokenzip.query import fields
from tokenzip.query.graph import graph_of, printable
from tokenzip.query.records import CommitRecord, FileRecord, ModuleRecord, Record, Reference, SymbolRecord
from tokenzip.query.steps import Step, write
from tokenzip.query.work import FIELDS, Found

# Answers.


class Outcome(NamedTuple):
    """What a query says, before it is fitted into a budget."""

    head: dict[str, Any]
    """Fields of the answer beside its items."""
    items: Sequence[Item]
    complete: bool | Item


def outcome(found: Found, terminal: str = "to_list") -> Outcome:
    """The answer to a query that ends in that terminal."""
    if terminal == "exists":
        return Outcome({"exists": any(True for _ in found.records)}, [], True)
    if terminal == "first":
        return Outcome({}, [_item(found, record) for record in [*found.records][:1]], completeness(found))
    if terminal == "to_graph":
        graph = graph_of(found)
        return Outcome(
            {"edges": [edge.item() for edge in graph.edges]}, [node.item() for node in graph.nodes], completeness(found)
        )
    records = list(found.records)
    if terminal == "count":
        return Outcome({"count": len(records)}, [], completeness(found))
    return Outcome({}, Lazy(records, lambda record: _item(found, record)), completeness(found))


def completeness(found: Found) -> bool | Item:
    """True, or why something may be missing. The records are read to their end for it."""
    for _ in found.records:
        pass
    doubts = [each for doubt in found.doubts if not isinstance(each := doubt(), bool)]
    if not doubts:
        return True
    answer: Item = {
        "why": "; ".join(dict.fromkeys(doubt["why"] for doubt in doubts)),
        "unresolved": sum(doubt["unresolved"] for doubt in doubts),
    }
    places = [place for doubt in doubts for place in doubt.get("places", ())]
    if places:
        answer["places"] = places[:3]
    return answer


def json_text(found: Found) -> str:
    """The whole answer as JSON."""
    said = outcome(found)
    answer = {"at": revision_item(found.at), **said.head, "items": list(said.items), "complete": said.complete}
    return lay_out(counted({**answer, "truncated": None, "token_count": 0, "next": []}))


def _item(found: Found, record: Record) -> Item:
    names = selected(found.chain)
    if not names:
        return _whole_item(found, record)
    item: Item = {"handle": record.handle}
    table = FIELDS[found.scope]
    for name in names:
        value = table[fields.field_name(table, name)].get(found.view, record)
        item[name] = list(value) if isinstance(value, tuple) else value
    return item


def selected(chain: Sequence[Step]) -> tuple[str, ...]:
    """The fields that the last `select` of the last scope names; none if there is none."""
    staying = {"filter", "exclude", "sort", "limit", "offset", "within_module", "with_kind"}
    for step in reversed(chain):
        if step.name == "select":
            return tuple(map(str, step.arguments))
        if step.name not in staying:
            break
    return ()


def _whole_item(found: Found, record: Record) -> Item:
    snapshot = found.snapshot
    match record:
        case SymbolRecord():
            item = symbol_item(snapshot, record) if record.index >= 0 else file_item(snapshot, record.path)
            return _with_edges(item, record)
        case FileRecord():
            return _with_edges(file_item(snapshot, record.path), record)
        case ModuleRecord():
            return _module_item(record)
        case Reference():
            edge = record.edge
            item = {"handle": record.handle, "kind": record.user, "file": record.file, "line": record.line}
            return {**item, "edge": edge_part([edge]), "target": record.target}
        case Change():
            return change_item(record)
        case Reached():
            return reached_item(record)
        case CommitRecord():
            item = {"handle": record.short_id, "kind": "commit", "subject": record.subject}
            return {**item, "author": record.author, "date": record.date}


def _with_edges(item: Item, record: SymbolRecord | FileRecord) -> Item:
    if record.edges:
        edges, others = walk.strongest(record.edges)
        item["edge"] = edge_part(edges)
        if others:
            item["edge"]["also"] = others
        item["distance"] = record.distance
    return item


def _module_item(record: ModuleRecord) -> Item:
    item: Item = {"handle": record.handle, "kind": "module", "name": record.name}
    for name, value in (("manifest", record.kind), ("language", record.language), ("version", record.version)):
        if value:
            item[name] = value
    item["files"] = record.files
    if record.edges:
        item["edges"] = len(record.edges)
    return item


# Markdown.


def markdown(found: Found) -> str:
    """A document: the query, the state it was asked of, a table of the records, what may be missing."""
    said = outcome(found)
    at = found.at
    state = (
        at.rev + (f" = {at.commit[:10]}" if at.commit and at.commit != at.rev else "") + (", with changes" if at.dirty else "")
    )
    parts = [f"## {_code(write(found.chain))}", f"At {_code(state)}: {len(said.items)} found."]
    items = list(said.items)
    if items:
        columns = table_columns(items)
        lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
        lines += ["| " + " | ".join(_cell(column, cell_text(item, column)) for column in columns) + " |" for item in items]
        parts.append("\n".join(lines))
    if not isinstance(said.complete, bool):
        places = ", ".join(said.complete.get("places", ()))
        parts.append(
            f"> May be incomplete: {_escaped(said.complete['why'])}" + (f" ({_escaped(places)})" if places else "") + "."
        )
    return "\n\n".join(parts) + "\n"


def _cell(column: str, text: str) -> str:
    flat = " ".join(text.split())
    if not flat:
        return ""
    return (_code(flat) if column in {"handle", "signature", "target", "via", "old_handle"} else _escaped(flat)).replace(
        "|", "\\|"
    )


def _code(text: str) -> str:
    text = printable(text)
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _escaped(text: str) -> str:
    return re.sub(r"([\\*_<>\[\]`])", r"\\\1", printable(text))
