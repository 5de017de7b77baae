"""The table itself: each operation with its parameters, in alphabetical order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenzip import walk
from tokenzip.errors import AmbiguousSymbol, Cancelled, TokenzipError, UsageError
from tokenzip.model import EDGE_KINDS, SYMBOL_KINDS, Module, Symbol, SymbolKey
from tokenzip.operations import changes, context, history, querying, relations, structure, symbols, workflow
from tokenzip.operations.base import (
    COMMON,
    CURSOR,
    DEFAULT_MAX_TOKENS,
    Answer,
    Arguments,
    Operation,
    Parameter,
    error_answer,
    on_snapshot,
)

if TYPE_CHECKING:
    from tokenzip.repository import Repository
    from tokenzip.snapshot import Snapshot

_INCLUDE = Parameter("include", "array", description="Add to each item", enum=("source", "doc"))
_DETAIL = Parameter("detail", "string", description="Of each item: little, or all (signatures)", enum=("names", "signatures"))
_HANDLE = Parameter("handle", "string", True, "path::Qualified.name, a unique short form, or a path")
_KINDS = Parameter("kinds", "array", description="Only these edges (default: all)", enum=EDGE_KINDS)
_DEPTH = Parameter("depth", "integer", description="How many steps to follow (default 1)")

OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation(
            "diff_commits",
            "What changed between two revisions as symbols, what breaks, and who is reached",
            (
                Parameter(
                    "base",
                    "string",
                    description="Older revision (default HEAD); A..B or A...B (from the merge base) names both",
                ),
                Parameter("head", "string", description="Newer revision (default WORKTREE)"),
                Parameter("impact", "integer", description="How many steps to follow from what changed (default 1)"),
                Parameter("tests", "boolean", description="Instead: the tests to run, nearest first"),
                *COMMON,
                CURSOR,
            ),
            changes.diff_commits,
        ),
        Operation(
            "execute_workflow_template",
            "Run a fixed sequence of queries, such as bug-fix on a stack trace (get_workflow tells the inputs)",
            (
                Parameter("name", "string", True, "Of the template"),
                Parameter("inputs", "array", description='Each as "input=text"'),
                *COMMON,
                CURSOR,
            ),
            workflow.execute_workflow_template,
        ),
        Operation(
            "get_context_for_files",
            "Before editing files: which go with them (tests, changed together), what they use, who uses them",
            (Parameter("files", "array", True, "Paths"), *COMMON, CURSOR),
            on_snapshot(context.get_context_for_files),
        ),
        Operation(
            "get_dependants",
            "Who uses a symbol or file (kinds: calls for callers alone, imports, inherits ...)",
            (_HANDLE, _KINDS, _DEPTH, _DETAIL, _INCLUDE, *COMMON, CURSOR),
            on_snapshot(relations.get_dependants),
        ),
        Operation(
            "get_dependencies",
            "What a symbol or file uses (kinds: calls for callees alone, imports, inherits ...)",
            (_HANDLE, _KINDS, _DEPTH, _DETAIL, _INCLUDE, *COMMON, CURSOR),
            on_snapshot(relations.get_dependencies),
        ),
        Operation(
            "get_git_history",
            "Commits that changed a symbol, through renames and moves; with `to`: since when it uses that one",
            (
                _HANDLE,
                Parameter("to", "string", description="Handle: find the commit that added or removed this dependency"),
                Parameter("signature", "boolean", description="Only commits that changed its signature"),
                Parameter("limit", "integer", description="At most so many changes"),
                Parameter("commits", "integer", description="How far to look back (default 2000 of its file)"),
                *COMMON,
                CURSOR,
            ),
            history.get_git_history,
        ),
        Operation(
            "get_impact_analysis",
            "What may break if these symbols or files change: by distance, file, module and test",
            (
                Parameter("handles", "array", True, "Symbols or files that would change"),
                Parameter("depth", "integer", description="How many steps to follow (default 3)"),
                Parameter("tests", "boolean", description="Only the tests among them"),
                _DETAIL,
                *COMMON,
                CURSOR,
            ),
            on_snapshot(changes.get_impact_analysis),
        ),
        Operation(
            "get_workflow",
            "The workflow templates and their inputs; of one, its steps",
            (Parameter("name", "string", description="Of one"), *COMMON),
            on_snapshot(workflow.get_workflow),
        ),
        Operation(
            "query_file",
            "One file: its symbols, imports, problems and who uses it",
            (Parameter("path", "string", True, "File path from the repository root"), _DETAIL, _INCLUDE, *COMMON, CURSOR),
            on_snapshot(structure.query_file),
        ),
        Operation(
            "query_module",
            "One module or folder: files, entry points, external packages, modules it uses and that use it",
            (Parameter("module", "string", True, "Module name, or a directory"), *COMMON, CURSOR),
            on_snapshot(structure.query_module),
        ),
        Operation(
            "query_repo_structure",
            "Orientation: modules, sizes, languages, entry points, most-depended-on symbols",
            (
                Parameter("query", "string", description='Instead: a list by conditions, symbols().filter(kind="class")'),
                *COMMON,
                CURSOR,
            ),
            lambda repository, arguments: (
                querying.run_query if "query" in arguments else on_snapshot(structure.query_repo_structure)
            )(repository, arguments),
        ),
        Operation(
            "query_symbol",
            "One symbol: signature, doc, place, members, and its edges in and out",
            (_HANDLE, _INCLUDE, *COMMON),
            on_snapshot(symbols.query_symbol),
        ),
        Operation(
            "search_symbols",
            "Where a name is defined, or ranked symbols for some words: sub-words, paths, docs; forgives typing errors",
            (
                Parameter("query", "string", True, "Words, a name or part of one"),
                Parameter("kinds", "array", description="Only these kinds of symbol", enum=SYMBOL_KINDS),
                Parameter("module", "string", description="Only in this module (name or directory)"),
                Parameter("limit", "integer", description="How many at most (default 20)"),
                _DETAIL,
                _INCLUDE,
                *COMMON,
                CURSOR,
            ),
            on_snapshot(symbols.search_symbols),
        ),
        Operation(
            "trace_path",
            "Shortest paths between two symbols, with the lines of the calls",
            (
                Parameter("from", "string", True, "Handle to start from"),
                Parameter("to", "string", True, "Handle to reach"),
                Parameter("limit", "integer", description="How many paths at most (default 3)"),
                Parameter("depth", "integer", description="How long a path may be (default 12)"),
                *COMMON,
            ),
            on_snapshot(relations.trace_path),
        ),
    )
}

UNLISTED: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation(
            "find_conflicts",
            "What a merge of two commits would break, although git merges their text cleanly",
            (
                Parameter("ours", "string", True, "One side: branch, tag or commit"),
                Parameter("theirs", "string", True, "The other side"),
                *COMMON,
                CURSOR,
            ),
            history.find_conflicts,
        ),
        Operation(
            "query",
            "What a chain of scopes, filters and relations finds, written as text",
            (Parameter("query", "string", True, 'A chain: repo.symbols().filter(kind="class").callers()'), *COMMON, CURSOR),
            querying.run_query,
        ),
    )
}
"""Questions that are no tools of their own: each tool of the list costs every session of an agent its tokens."""


def _target(snapshot: Snapshot, handle: str) -> Symbol | SymbolKey | Module | None:
    """What a handle names; None stands for a folder. Raises UsageError."""
    try:
        return walk.resolve(snapshot, handle)
    except AmbiguousSymbol:
        raise
    except UsageError:
        if walk.find_folder(snapshot, handle) is None:
            raise
        return None


def look_at(repository: Repository, arguments: Arguments) -> tuple[str, Answer]:
    """What a handle names, by the operation that answers for its kind: that operation's name, and its answer."""
    from tokenzip.budget import bounded

    tool = "query_symbol"
    try:
        snapshot = repository.snapshot(arguments.get("at"))
        with snapshot.reading():
            target = _target(snapshot, arguments["handle"])
            if target is None:
                tool, named, ask = "query_module", {"module": arguments["handle"]}, structure.query_module
            elif isinstance(target, Symbol):
                named, ask = {"handle": target.handle}, symbols.query_symbol
            elif isinstance(target, Module):
                tool, named, ask = "query_module", {"module": target.path or "."}, structure.query_module
            else:
                tool, named, ask = "query_file", {"path": target.path}, structure.query_file
            known = {parameter.name for parameter in OPERATIONS[tool].parameters}
            given = {name: value for name, value in arguments.items() if name in known}
            answer = ask(snapshot, OPERATIONS[tool].checked({**given, **named}))
    except Cancelled:
        raise
    except TokenzipError as error:
        answer = error_answer(error, at=arguments.get("at"))
    return tool, bounded(answer, arguments.get("max_tokens", DEFAULT_MAX_TOKENS))
