"""Chains of questions as values: scopes, filters, relations, printed and read as text (``docs/query.md``).

`steps` are its plain values, `chain` says what a query is, `scopes` which steps there are; `fields` what can be asked of
records, `records` what these are; `evaluate` what each step does, `text` reads what `print` shows; `output` and `graph` are
what terminals make of it all. A `Repository` begins a chain: ``repo.modules().files().symbols()``.
"""

from tokenzip.query.chain import Query
from tokenzip.query.graph import Graph, GraphEdge, Node
from tokenzip.query.records import CommitRecord, FileRecord, ModuleRecord, Reference, SymbolRecord
from tokenzip.query.scopes import (
    ChangeQuery,
    CommitQuery,
    DocumentQuery,
    FileQuery,
    ModuleQuery,
    ReachedQuery,
    ReferenceQuery,
    RepositoryQuery,
    SectionQuery,
    SymbolQuery,
    TableQuery,
)
from tokenzip.query.steps import Source
from tokenzip.query.text import Expression, parse

__all__ = [
    "ChangeQuery",
    "CommitQuery",
    "CommitRecord",
    "DocumentQuery",
    "Expression",
    "FileQuery",
    "FileRecord",
    "Graph",
    "GraphEdge",
    "ModuleQuery",
    "ModuleRecord",
    "Node",
    "Query",
    "ReachedQuery",
    "Reference",
    "ReferenceQuery",
    "RepositoryQuery",
    "SectionQuery",
    "Source",
    "SymbolQuery",
    "SymbolRecord",
    "TableQuery",
    "parse",
]
