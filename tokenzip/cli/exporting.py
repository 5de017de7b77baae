"""The commands that hand the graph to others: the MCP server, whole exports, the support matrix."""

from __future__ import annotations

import sys

import click

from tokenzip.cli import options as shell
from tokenzip.cli.options import NO_ANSWER, Options, common


@click.command()
@click.option("--transport", type=click.Choice(["stdio", "http"]), default="stdio", help="How clients connect (default stdio).")
@click.option("--host", metavar="HOST", default="127.0.0.1", help="Address of the http transport (default 127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, help="Port of the http transport (default 8765).")
@click.option("--at", metavar="REV", help="Answer for this revision where a call names none.")
@click.option("--repo", metavar="DIR", help="The repository (default: the one that the client works in).")
def serve(*, transport: str, host: str, port: int, at: str | None, repo: str | None) -> None:
    """Serve the graph to coding agents over MCP."""
    from tokenzip.server import serve_http, serve_stdio

    if transport == "http":
        serve_http(repo, at, host=host, port=port)
    serve_stdio(repo, at)


@click.command()
@click.option(
    "--format", "form", type=click.Choice(["edges", "graphml", "dot", "mermaid"]), default="edges",
    help="edges: JSON lines of definitions, calls, imports and inheritance (default).",
)  # fmt: skip
@click.option("--at", metavar="REV", help="Any revision, INDEX or WORKTREE (default: the files as they are).")
@click.option("--repo", metavar="DIR", help="The repository (default: the one around this folder).")
def export(form: str, at: str | None, repo: str | None) -> int:
    """Print the whole graph of a revision.

    edges: JSON lines of definitions, calls, imports and inheritance, with file, line and name at both ends.
    """
    from tokenzip.operations.export import export as lines

    with shell.opened(Options(at, repo, form, 0)) as repository:
        snapshot = repository.snapshot(at)
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace") if hasattr(sys.stdout, "reconfigure") else None
        for line in lines(snapshot, form):
            sys.stdout.write(line)
    return 0


def _given(language: str) -> str:
    from tokenzip.languages import registry

    if registry.is_source(language):
        return "symbols and edges"
    return "found by its words only" if registry.is_searched(language) else "settings only"


@click.command()
@common(unused=NO_ANSWER)
def languages(options: Options) -> int:
    """Which languages are read, and from which files."""
    from tokenzip.languages import registry
    from tokenzip.render.blocks import Block, Cell, Rows

    suffixes: dict[str, list[str]] = {}
    for table in (registry.SUFFIXES, registry.FILENAMES):
        for pattern, name in table.items():
            suffixes.setdefault(name, []).append(pattern)
    items = [
        {
            "language": name,
            "files": suffixes.get(name, []),
            "source": registry.is_source(name),
            "version": registry.VERSIONS[name],
        }
        for name in registry.LANGUAGES
    ]
    rows = [
        (
            Cell(str(item["language"]), "name"),
            Cell(_given(str(item["language"])), "dim"),
            Cell(" ".join(suffixes.get(str(item["language"]), []))),
        )
        for item in items
    ]
    blocks: list[Block] = [Rows(tuple(rows), ("language", "gives", "files"))]
    return shell.print_state({"items": items}, blocks, options)
