"""The commands that ask: each turns its words into the arguments of one operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from tokenzip.cli import options as shell
from tokenzip.cli.options import Options, common

EDGE_KINDS = (
    "calls", "imports", "exports", "inherits", "implements", "overrides", "reads", "modifies", "references", "decorates",
)  # fmt: skip
SCREENS = 5000
"""Tokens of a module's text where no bound was asked for: its main files, not all thousands."""
FINDINGS = ("breaking", "broken")

_handle = click.argument("handle")
_depth = click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Follow N steps (default 1).")
_kind = click.option(
    "--kind", "kinds", multiple=True, type=click.Choice(EDGE_KINDS), help="Only this kind of edge; repeatable."
)
_source = click.option("--source", is_flag=True, help="With the source text.")
_doc = click.option("--doc", is_flag=True, help="With the documentation.")


def _include(source: bool, doc: bool = False) -> list[str] | None:
    return [name for name, wanted in (("source", source), ("doc", doc)) if wanted] or None


def _ask_about(tool: str, handle: str, options: Options, **arguments: Any) -> int:
    """Ask about a handle, typed as seen from the root or from the current folder."""
    with shell.opened(options) as repository:
        arguments["handle"] = shell.from_here(handle, repository)
        return shell.show(tool, shell.run(tool, repository, arguments, options), options)


@click.command("map")
@click.argument("module", required=False)
@common(graph=True)
def map_(module: str | None, options: Options) -> int:
    """Modules, sizes, where to start, most-used symbols.

    With MODULE (its directory or name), show that module alone.
    """
    if module is None:
        return shell.ask("query_repo_structure", {}, options)
    if options.form == "text" and not options.max_tokens:
        options = replace(options, max_tokens=SCREENS)
    with shell.opened(options) as repository:
        arguments = {"module": shell.from_here(module, repository)}
        return shell.show("query_module", shell.run("query_module", repository, arguments, options), options)


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--kind", "kinds", multiple=True, metavar="KIND", help="Only this kind of symbol (function, class ...); repeatable."
)
@click.option("--module", metavar="MODULE", help="Only in this module.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N symbols (default 20).")
@_source
@_doc
@common()
def search(
    *,
    words: Sequence[str],
    kinds: Sequence[str],
    module: str | None,
    limit: int | None,
    source: bool,
    doc: bool,
    options: Options,
) -> int:
    """Find symbols by words.

    WORDS are names or parts of them, parts of paths, or words of the documentation; typing errors are forgiven.
    """
    with shell.opened(options) as repository:
        place = shell.from_here(module, repository) if module is not None else None
        arguments = {"query": " ".join(words), "kinds": list(kinds) or None, "module": place, "limit": limit}
        answer = shell.run("search_symbols", repository, {**arguments, "include": _include(source, doc)}, options)
        return shell.show("search_symbols", answer, options)


@click.command()
@click.argument("expression", metavar="EXPR")
@common(graph=True)
def query(expression: str, options: Options) -> int:
    """List by conditions and relations, as a chain.

    EXPR is a chain as the Python API prints it, for example
    'symbols().filter(kind="class", extends="Base").sort("-lines").limit(10)': modules, files or symbols, filters by field
    (name__contains, line__gte, kind__in, name__matches, doc__exists ...), relations (callers, dependants, files ...), and at
    the end count(), exists(), first() or to_graph() if you like. It is read, never run. See docs/query.md.
    """
    if options.form == "mermaid":
        from tokenzip.query import parse

        expression = f"{parse(expression).query}.to_graph()"
    return shell.ask("query", {"query": expression}, options)


@click.command("show")
@_handle
@_source
@common(graph=True)
def show(handle: str, source: bool, options: Options) -> int:
    """One symbol, file or module, with its edges in and out.

    HANDLE is path::Qualified.name, a short form that is unique (Flask.route, app.py), a path, or a module.
    """
    from tokenzip.operations import look_at

    with shell.opened(options) as repository:
        arguments = {"handle": shell.from_here(handle, repository), "include": _include(source, doc=options.form != "json")}
        with shell.as_read(options, _tool_for):
            tool, answer = look_at(
                repository, {**arguments, "at": options.at, "max_tokens": options.max_tokens, "cursor": options.cursor}
            )
        return shell.show(tool, answer, options)


def _tool_for(answer: Mapping[str, Any]) -> str:
    """The tool that such an answer is of; any if too little is left of it to tell."""
    return next((f"query_{kind}" for kind in ("symbol", "file", "module") if kind in answer), "query_symbol")


@click.command()
@_handle
@_depth
@_source
@common(graph=True)
def callers(handle: str, depth: int | None, source: bool, options: Options) -> int:
    """Who calls a symbol."""
    return _ask_about("get_dependants", handle, options, kinds=["calls"], depth=depth, include=_include(source))


@click.command()
@_handle
@_depth
@_source
@common(graph=True)
def callees(handle: str, depth: int | None, source: bool, options: Options) -> int:
    """What a symbol calls."""
    return _ask_about("get_dependencies", handle, options, kinds=["calls"], depth=depth, include=_include(source))


@click.command()
@_handle
@_depth
@_kind
@_source
@common(graph=True)
def deps(handle: str, depth: int | None, kinds: Sequence[str], source: bool, options: Options) -> int:
    """All that a symbol, file or module uses."""
    return _ask_about("get_dependencies", handle, options, kinds=list(kinds) or None, depth=depth, include=_include(source))


@click.command()
@_handle
@_depth
@_kind
@_source
@common(graph=True)
def dependants(handle: str, depth: int | None, kinds: Sequence[str], source: bool, options: Options) -> int:
    """All that uses a symbol, file or module."""
    return _ask_about("get_dependants", handle, options, kinds=list(kinds) or None, depth=depth, include=_include(source))


@click.command()
@click.argument("handles", nargs=-1, required=True, metavar="HANDLE...")
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Follow N steps (default 3).")
@click.option("--tests", is_flag=True, help="Only the tests among them.")
@common(graph=True)
def impact(handles: Sequence[str], depth: int | None, tests: bool, options: Options) -> int:
    """Who is reached if these symbols or files change."""
    with shell.opened(options) as repository:
        named = [shell.from_here(handle, repository) for handle in handles]
        arguments = {"handles": named, "depth": depth, "tests": tests or None}
        return shell.show("get_impact_analysis", shell.run("get_impact_analysis", repository, arguments, options), options)


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@common()
def context(paths: Sequence[str], options: Options) -> int:
    """What to know before editing these files.

    Files that go with them, then the symbols one step away: what they use, who uses them, tests, types, documentation. Cut to
    2,500 tokens unless --max-tokens says otherwise.
    """
    if not options.max_tokens:
        from tokenzip.operations import DEFAULT_MAX_TOKENS

        options = replace(options, max_tokens=DEFAULT_MAX_TOKENS)
    with shell.opened(options) as repository:
        arguments = {"files": [shell.from_here(path, repository) for path in paths]}
        return shell.show("get_context_for_files", shell.run("get_context_for_files", repository, arguments, options), options)


@click.command()
@click.argument("start", metavar="FROM")
@click.argument("goal", metavar="TO")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N paths (default 3).")
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Paths of at most N steps (default 12).")
@common(graph=True)
def trace(start: str, goal: str, limit: int | None, depth: int | None, options: Options) -> int:
    """Shortest paths between two symbols, with the call sites."""
    with shell.opened(options) as repository:
        arguments = {
            "from": shell.from_here(start, repository),
            "to": shell.from_here(goal, repository),
            "limit": limit,
            "depth": depth,
        }
        return shell.show("trace_path", shell.run("trace_path", repository, arguments, options), options)


@click.command()
@click.argument("base", required=False, metavar="[A")
@click.argument("head", required=False, metavar="[B]]")
@click.option("--staged", is_flag=True, help="Compare with what is staged instead of the files as they are.")
@click.option(
    "--impact", "depth", type=click.IntRange(min=0), metavar="N", help="Follow N steps from what changed (default 1)."
)
@click.option("--tests", is_flag=True, help="Which tests to run: those that reach a change, nearest first.")
@click.option(
    "--fail-on", "findings", multiple=True, metavar="KIND",
    help="Exit with 1 on: breaking, broken, or impact>N (more than N symbols reached); several with commas.",
)  # fmt: skip
@common(graph=True)
def diff(
    *,
    base: str | None,
    head: str | None,
    staged: bool,
    depth: int | None,
    tests: bool,
    findings: Sequence[str],
    options: Options,
) -> int:
    """What changed, what breaks, and who is reached.

    Compares two revisions as graphs: without arguments HEAD and the files as they are; with A, that revision and the files
    as they are. A..B is the same as A B; A...B starts at the merge base.
    """
    limits = [_finding(part) for text in findings for part in text.split(",")]
    if staged and head is not None:
        raise click.UsageError("--staged already names the newer side; give at most one revision with it.")
    if options.at is not None and (head is not None or staged):
        raise click.UsageError("--at is the newer side of a diff; give it or B, not both.")
    head = head or ("INDEX" if staged else options.at)
    answer = shell.answer_of("diff_commits", {"base": base, "head": head, "impact": depth, "tests": tests or None}, options)
    code = shell.show("diff_commits", answer, options)
    return code or int(any(_is_found(limit, answer["summary"]) for limit in limits))


def _finding(text: str) -> tuple[str, int]:
    """A kind of finding and the count above which it fails."""
    name, sign, number = text.replace(" ", "").partition(">")
    if (name in FINDINGS and not sign) or (name in {*FINDINGS, "impact"} and number.isdecimal()):
        return name, int(number or 0)
    raise click.BadParameter(f"{text!r} is none of breaking, broken, impact>N", param_hint="--fail-on")


def _is_found(limit: tuple[str, int], summary: Mapping[str, Any]) -> bool:
    name, most = limit
    return int(summary["reached" if name == "impact" else name]) > most
