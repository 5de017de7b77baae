"""The commands about history: what became of a symbol, and what a merge would break."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tokenzip.cli import options as shell
from tokenzip.cli.options import Options, common

CONFLICT_FINDINGS = {"finding": "findings", "textual": "textual"}
"""What `conflicts --fail-on` takes, and the number in the summary that it looks at."""


@click.command()
@click.argument("handles", nargs=-1, required=True, metavar="HANDLE")
@click.option("--edge", is_flag=True, help="Since when FROM uses TO: the commit that added or removed that dependency.")
@click.option("--signature", is_flag=True, help="Only commits that changed its signature; the first is the last to do so.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N changes.")
@click.option(
    "--commits", type=click.IntRange(min=1), metavar="N", help="Look back over N commits (default 2000; --edge: 20000)."
)
@common()
def log(
    *, handles: Sequence[str], edge: bool, signature: bool, limit: int | None, commits: int | None, options: Options
) -> int:
    """History of one symbol, through renames and moves.

    With --edge give two handles, FROM and TO.
    """
    if len(handles) != 1 + edge:
        raise click.UsageError("--edge takes two handles, FROM and TO." if edge else "log takes one handle; two with --edge.")
    if edge and (signature or limit):
        raise click.UsageError("--edge looks for one commit: --signature and --limit do not go with it.")
    with shell.opened(options) as repository:
        names = [shell.from_here(handle, repository) for handle in handles]
        arguments = {"handle": names[0], "signature": signature or None, "limit": limit, "commits": commits}
        if edge:
            arguments["to"] = names[1]
        return shell.show("get_git_history", shell.run("get_git_history", repository, arguments, options), options)


@click.command()
@click.argument("ours", metavar="A")
@click.argument("theirs", metavar="[B]", required=False)
@click.option(
    "--fail-on", "findings", multiple=True, metavar="KIND",
    help="Exit with 1 on: finding (what the merge breaks), textual (files that git cannot merge); repeatable.",
)  # fmt: skip
@common(unused={"at"})
def conflicts(*, ours: str, theirs: str | None, findings: Sequence[str], options: Options) -> int:
    """What merging two commits breaks without a conflict in the text.

    One side removed, renamed or changed what the other newly uses. B is HEAD if left out. The merge is made in memory; nothing
    is written to the repository.
    """
    kinds = [kind.strip() for text in findings for kind in text.split(",")]
    for kind in kinds:
        if kind not in CONFLICT_FINDINGS:
            raise click.BadParameter(f"{kind!r} is none of {', '.join(CONFLICT_FINDINGS)}", param_hint="--fail-on")
    if options.at is not None:
        raise click.UsageError("conflicts has two sides, A and B, and no --at.")
    if ours == (theirs or "HEAD"):
        raise click.UsageError(f"{ours} cannot conflict with itself; name another branch or commit.")
    answer = shell.answer_of("find_conflicts", {"ours": ours, "theirs": theirs or "HEAD"}, options)
    code = shell.show("find_conflicts", answer, options)
    return code or int(any(answer["summary"][CONFLICT_FINDINGS[kind]] for kind in kinds))
