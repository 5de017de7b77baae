"""What an agent needs to know to edit some files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tokenzip import walk
from tokenzip.errors import UsageError
from tokenzip.items import Item, Lazy, completeness, edge_part, key_item, revision_item
from tokenzip.model import Module, Symbol, SymbolKey
from tokenzip.operations.base import DEFAULT_MAX_TOKENS, Answer, Arguments
from tokenzip.operations.items import DEPENDANT, DEPENDENCY, fitted

if TYPE_CHECKING:
    from tokenzip.context import Need, Related, RelatedFile
    from tokenzip.snapshot import Snapshot

FILES = 10
"""Files of code that an answer within the default budget names; one of twice as much names twice as many."""
OTHERS = 2
"""Documents, data and settings that it names besides."""
MOST_TIMES = 6
"""How many times as many an answer without a budget names."""
_NO_CODE = frozenset({"doc", "other"})


def get_context_for_files(snapshot: Snapshot, arguments: Arguments) -> Answer:
    """The files that go with the given ones, and the symbols one step away, in rounds of all roles: a cut answer has the best
    of each."""
    from tokenzip.context import needed, open_count, related_files

    targets = _targets(snapshot, arguments["files"])
    given = list(dict.fromkeys(target.path for target in targets))
    related = related_files(snapshot, given)
    needs = needed(snapshot, given, related, _symbols_in(snapshot, targets))
    why = "references with unknown targets, here or by names from here, could be more"
    answer: Answer = {
        "at": revision_item(snapshot.at),
        "of": given,
        **({} if "cursor" in arguments else _files(related, arguments.get("max_tokens", DEFAULT_MAX_TOKENS))),
        "items": [],
        "complete": completeness(walk.Open(open_count(snapshot, given, related)), why),
        "truncated": None,
        "token_count": 0,
    }
    items = Lazy(needs, lambda need: _need_item(snapshot, need))
    return fitted(answer, "items", items, arguments, shrinking=("files",) if answer.get("files") else ())


def _targets(snapshot: Snapshot, handles: Sequence[str]) -> list[Symbol | SymbolKey]:
    """The files that the handles name, and the symbols in files, in their order."""
    if not handles:
        raise UsageError("no file is named", hint="Give at least one path.")
    found: list[Symbol | SymbolKey] = []
    for handle in handles:
        target = walk.resolve(snapshot, handle)
        if isinstance(target, Module):
            raise UsageError(
                f"{handle} is a module",
                hint="Name the files in it that are to be edited.",
                calls=[("query_module", {"module": target.path or "."})],
            )
        found.append(target)
    return found


def _symbols_in(snapshot: Snapshot, targets: Sequence[Symbol | SymbolKey]) -> list[SymbolKey]:
    """The symbols among them, with all that is defined in these."""
    named = [target for target in targets if isinstance(target, Symbol)]
    return [member.key for symbol in named for member in walk.nested(snapshot, walk.family(snapshot, symbol))]


def _files(related: Related, budget: int) -> Item:
    """The first related files, how many are left out, and what history they rest on."""
    code = [each for each in related.files if each.role not in _NO_CODE]
    others = [each for each in related.files if each.role in _NO_CODE]
    times = min(max(1, budget // DEFAULT_MAX_TOKENS), MOST_TIMES) if budget else MOST_TIMES
    shown = [*code[: FILES * times], *others[: OTHERS * times]]
    fields: Item = {
        "history": {"commits": related.commits, "changes": related.changes},
        "files": list(map(_file_item, shown)),
    }
    if len(shown) < len(related.files):
        fields["left_out"] = {"files": len(related.files) - len(shown)}
    return fields


def _file_item(each: RelatedFile) -> Item:
    item: Item = {"handle": each.path, "role": each.role}
    for name, count in (("together", each.together), ("uses", each.uses), ("used", each.used)):
        if count:
            item[name] = count
    return item


def _need_item(snapshot: Snapshot, need: Need) -> Item:
    item = key_item(snapshot, need.key, DEPENDANT if need.role == "test" else DEPENDENCY)
    item["role"] = need.role
    item["edge"] = edge_part(walk.strongest(need.edges)[0], DEPENDANT)
    names = [key.qualified for key in need.own if key.qualified]
    if need.is_backward and names:
        item["of"] = names[0]
    return item
