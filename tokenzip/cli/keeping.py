"""The commands that look after the store: index, status, gc, clean, doctor."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from tokenzip.cli import options as shell
from tokenzip.cli.options import NO_ANSWER, Options, common
from tokenzip.cli.terminal import is_terminal, say

if TYPE_CHECKING:
    from tokenzip.config import Config
    from tokenzip.render.blocks import Block, Cell
    from tokenzip.repository import Repository
    from tokenzip.snapshot import Leftover, Snapshot

_REASONS = 4
"""Why files were not read: the most frequent reasons, the others are counted."""


@click.command()
@click.argument("revisions", nargs=-1, metavar="[REV]...")
@click.option("--full", is_flag=True, help="Work everything out again instead of building on what the store has.")
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes that parse at the same time (default: all processors)."
)
@common(unused={"max_tokens", "cursor"})
def index(*, revisions: Sequence[str], full: bool, jobs: int | None, options: Options) -> int:
    """Bring revisions into the store (also called parse).

    Without REV, HEAD. Questions do this by themselves.
    """
    from tokenzip.render.blocks import Rows

    items: list[dict[str, Any]] = []
    rows = []
    with shell.opened(options) as repository:
        for revision in list(revisions) or [options.at or "HEAD"]:
            begun = time.monotonic()
            items.append(_index_one(repository, revision, full=full, jobs=jobs))
            rows.append(_index_row(items[-1], time.monotonic() - begun))
    blocks: list[Block] = [Rows(tuple(rows), ("revision", "commit", "files", "", "time"))]
    return shell.print_state({"items": items}, blocks, options)


def _index_one(repository: Repository, revision: str, *, full: bool, jobs: int | None) -> dict[str, Any]:
    """Bring one revision in, and say whether it had been there; then its files are not counted: that would take longer."""
    was_known = repository.is_indexed(revision) if _is_committed(revision) else False
    if _is_committed(revision):
        snapshot = repository.index(revision, full=full, processes=jobs)
    else:
        snapshot = repository.snapshot(revision)
    item: dict[str, Any] = {"rev": revision, "commit": snapshot.at.commit, "state": "indexed"}
    if was_known and not full:
        return {**item, "state": "was indexed"}
    if revision == "HEAD":
        keep_survey(snapshot)
    return {**item, "files": sum(1 for _ in snapshot.paths())}


def _index_row(item: Mapping[str, Any], seconds: float) -> tuple[Cell, ...]:
    from tokenzip.render.blocks import Cell

    return (
        Cell(item["rev"], "name"),
        Cell((item["commit"] or "")[:10], "dim"),
        Cell(f"{item['files']:,} files" if "files" in item else "", "number"),
        Cell(item["state"]),
        Cell(f"{seconds:.1f} s", "dim"),
    )


def keep_survey(snapshot: Snapshot) -> None:
    """Count what the first orientation and `status` would have to wait for, and would take memory for in a server."""
    from tokenzip.operations.survey import survey

    survey(snapshot)


def _is_committed(revision: str) -> bool:
    return revision not in {"WORKTREE", "INDEX"}


@click.command()
@common(unused=NO_ANSWER)
def status(options: Options) -> int:
    """What is indexed, how fresh, and what could not be read."""
    from tokenzip import hooks
    from tokenzip.operations.state import status as state_of

    with shell.opened(options) as repository:
        state = state_of(repository)
        state["hooks"] = dict(hooks.status(repository))
        if repository.config.problems:
            state["settings"] = list(repository.config.problems)
    return shell.print_state(state, list(_status_blocks(state)), options)


def _status_blocks(state: Mapping[str, Any]) -> Iterator[Block]:
    from tokenzip.render.blocks import Cell, Paragraph, Rows, Section, Title

    head, store, fresh = state["head"], state["store"], state["freshness"]
    yield Title(
        (Cell(state["repository"], "name"), Cell(head["branch"] or "detached HEAD"), Cell((head["commit"] or "")[:10], "dim"))
    )
    role = {"fresh": "good", "behind": "warn"}.get(fresh["state"], "bad")
    behind = f" ({fresh['commits']:,} commits behind)" if "commits" in fresh else ""
    rows: list[tuple[Cell, ...]] = [(Cell("index", "dim"), Cell(fresh["state"], role), Cell(fresh["why"] + behind))]
    size = (
        f"{megabytes(store['bytes'])}, {store['snapshots']:,} snapshots, {store['files']:,} file contents"
        if store["exists"]
        else "none yet"
    )
    rows.append((Cell("store", "dim"), Cell(size), Cell(store["folder"], "dim")))
    if "refs" in state:
        refs = state["refs"]
        names = [each["ref"].removeprefix("refs/heads/").removeprefix("refs/") for each in refs["indexed"]]
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        rows.append(
            (
                Cell("refs", "dim"),
                Cell(f"{len(names):,} of {refs['total']:,} indexed"),
                Cell(", ".join(names[:6]) + more, "dim"),
            )
        )
    rows.append((Cell("hooks", "dim"), *_hook_cells(state["hooks"])))
    yield Rows(tuple(rows))
    yield from _submodule_blocks(state.get("submodules", ()))
    if "coverage" in state:
        yield from _coverage_blocks(state["coverage"])
    elif fresh["state"] != "fresh":
        yield Paragraph("Any question indexes what it needs; `tokenzip index` does it now.")
    if "settings" in state:
        yield Section("Settings that were not understood")
        yield Rows(tuple((Cell(problem, "warn"),) for problem in state["settings"]))


def _submodule_blocks(submodules: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    from tokenzip.render.blocks import Cell, Rows, Section

    if not submodules:
        return
    roles = {"here": "good", "elsewhere": "warn"}
    yield Section("Submodules: --repo PATH asks one about itself")
    yield Rows(
        tuple(
            (
                Cell(each["path"], "place"),
                Cell(each["commit"][:10], "dim"),
                Cell(each["state"], roles.get(each["state"], "")),
                Cell(each["why"], "dim"),
            )
            for each in submodules
        )
    )


def _hook_cells(hooks: Mapping[str, Any]) -> tuple[Cell, ...]:
    from tokenzip.render.blocks import Cell

    role = {"installed": "good", "bypassed": "bad"}.get(str(hooks.get("state")), "")
    return Cell(str(hooks.get("state")), role), Cell(str(hooks.get("why", "")), "dim")


def _coverage_blocks(coverage: Mapping[str, Any]) -> Iterator[Block]:
    from tokenzip.render.blocks import Cell, Rows, Section

    yield Section(f"Coverage of {coverage['commit'][:10]} ({coverage['files']:,} files)")
    rows: list[tuple[Cell, ...]] = []
    for name, count in coverage["status"].items():
        reasons = coverage["reasons"].get(name, {})
        why = "; ".join(f"{number:,} {reason}" for reason, number in list(reasons.items())[:_REASONS])
        if len(reasons) > _REASONS:
            rest = sum(list(reasons.values())[_REASONS:])
            why += f"; {rest:,} for {len(reasons) - _REASONS:,} other reasons (--format json lists them)"
        rows.append((Cell(f"{count:,}", "number"), Cell(name, "bad" if name == "failed" else ""), Cell(why, "code")))
    yield Rows(tuple(rows))
    languages = [
        (Cell(f"{each['resolved']:.1%}", "number"), Cell(each["language"], "name"), Cell(f"{each['files']:,} files", "dim"))
        for each in coverage["languages"]
        if "resolved" in each
    ]
    if languages:
        yield Section("References inside the repository with a known target")
        yield Rows(tuple(languages))
    if coverage["problems"]:
        yield Section(f"Files with errors ({len(coverage['problems'])})")
        yield Rows(tuple(_problem_row(each) for each in coverage["problems"][:20]))
        if len(coverage["problems"]) > 20:
            yield Rows(((Cell(f"and {len(coverage['problems']) - 20} more; --format json lists them", "dim"),),))


def _problem_row(each: Mapping[str, Any]) -> tuple[Cell, ...]:
    from tokenzip.render.blocks import Cell

    first: Mapping[str, Any] = each["problems"][0] if each["problems"] else {"line": 0, "message": ""}
    more = f" (+{each['count'] - 1})" if each["count"] > 1 else ""
    return Cell(f"{each['file']}:{first['line']}", "place"), Cell(first["message"] + more, "warn")


def megabytes(count: int) -> str:
    """A size for people."""
    return f"{count / 1_000_000:.1f} MB" if count >= 100_000 else f"{count / 1000:.0f} kB"


@click.command()
@common(unused=NO_ANSWER)
def gc(options: Options) -> int:
    """Drop from the store what nothing needs any more.

    Branches, tags, worktrees and recent commits of all clones are kept, and for 14 days what `index REV` brought in. What an
    older tokenzip stored in another format goes when nobody has used it for 14 days.
    """
    from tokenzip.render.blocks import Paragraph

    with shell.opened(options) as repository:
        if not repository.store.folder.is_dir():
            return shell.print_state(
                {"snapshots": 0, "dropped": 0, "bytes_before": 0, "bytes_after": 0, "formats": []},
                [Paragraph("There is no store yet.")],
                options,
            )
        with repository.store.reading() as reading:
            before = reading.entries("snapshot")
        kept = repository.gc()
    dropped = max(0, before - kept.snapshots)
    state = {
        "snapshots": kept.snapshots,
        "dropped": dropped,
        "bytes_before": kept.bytes_before,
        "bytes_after": kept.bytes_after,
        "formats": [{"format": old.name, "bytes": old.bytes, "kept": old.kept} for old in kept.formats],
    }
    sizes = f"from {megabytes(kept.bytes_before)} to {megabytes(kept.bytes_after)}"
    text = f"Kept {kept.snapshots:,} snapshot{'s' * (kept.snapshots != 1)}, dropped {dropped:,}; the store went {sizes}."
    blocks: list[Block] = [Paragraph(text), *(Paragraph(_leftover(old)) for old in kept.formats)]
    return shell.print_state(state, blocks, options)


def _leftover(old: Leftover) -> str:
    """What became of the store of an older format."""
    what = f"the store of the older format {old.name} ({megabytes(old.bytes)})"
    return f"Removed {what}." if old.kept is None else f"Kept {what}: {old.kept}."


@click.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@common(unused=NO_ANSWER)
def clean(*, yes: bool, options: Options) -> int:
    """Remove the store of this repository, and whatever else is kept for it. Questions fill it again."""
    from tokenzip import hooks
    from tokenzip.render.blocks import Paragraph

    with shell.opened(options) as repository:
        folder = repository.store.folder
        if not folder.is_dir():
            return shell.print_state({"removed": None}, [Paragraph("There is no store.")], options)
        if not yes:
            if not is_terminal(sys.stdin):
                raise click.UsageError("clean removes the store; say --yes where nobody can be asked.")
            say(f"This removes {folder}, which all clones and worktrees of this repository share.")
            click.confirm("Remove it?", abort=True, err=True)
        _remove(folder)
        hooks.forget_turns(repository)
        repository.forget_family()
        _remove_empty(repository.config)
    blocks: list[Block] = [Paragraph(f"Removed {folder}.")]
    return shell.print_state({"removed": str(folder)}, blocks, options)


def _remove(folder: os.PathLike[str]) -> None:
    """Take the folder away under its own name first, so that no other process finds half of it."""
    grave = f"{os.fspath(folder)}.removed-{os.getpid()}"
    os.replace(folder, grave)
    shutil.rmtree(grave, ignore_errors=True)


def _remove_empty(config: Config) -> None:
    """Once no repository has anything in our folder, take that away too, with the logs."""
    kept = [config.home / name for name in ("stores", "families", "hooks")]
    for folder in kept:
        with contextlib.suppress(OSError):
            folder.rmdir()
    if config.home.is_dir() and not any(folder.exists() for folder in kept):
        shutil.rmtree(config.logs, ignore_errors=True)
        with contextlib.suppress(OSError):
            config.home.rmdir()


@click.command()
@common(unused=NO_ANSWER)
def doctor(options: Options) -> int:
    """Check the installation, the hooks and the store.

    A sample of the store is worked out again and compared.
    """
    from tokenzip.cli.checking import checks
    from tokenzip.render.blocks import Cell, Rows

    items: list[dict[str, Any]] = [check.item() for check in checks(options)]
    signs: dict[bool | None, Cell] = {True: Cell("ok", "good"), False: Cell("FAIL", "bad"), None: Cell("note", "warn")}
    rows: list[tuple[Cell, ...]] = [(signs[item["ok"]], Cell(item["check"], "name"), Cell(item["detail"])) for item in items]
    hints = [(Cell(""), Cell(item["check"], "name"), Cell(item["hint"], "warn")) for item in items if item.get("hint")]
    blocks: list[Block] = [Rows(tuple(rows), ("", "check", "found"))]
    if hints:
        from tokenzip.render.blocks import Section

        blocks += [Section("What to do"), Rows(tuple(hints))]
    shell.print_state({"checks": items}, blocks, options)
    return int(any(item["ok"] is False for item in items))
