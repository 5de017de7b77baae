"""History as a graph: what became of a symbol, since when a dependency is there, and what a merge would break."""

from tokenzip.history.commits import Commit
from tokenzip.history.merging import Conflict, conflicts
from tokenzip.history.since import EdgeEvent, Since, dependency, edge_log
from tokenzip.history.symbol import Event, SymbolLog, symbol_log

__all__ = [
    "Commit",
    "Conflict",
    "EdgeEvent",
    "Event",
    "Since",
    "SymbolLog",
    "conflicts",
    "dependency",
    "edge_log",
    "symbol_log",
]
