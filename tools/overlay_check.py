"""overlay_check REPOSITORY... [--commits N] [--at REV] [--seed N]: overlay = scratch on real histories, merges included.

Takes the N newest commits of REV, with those of the branches that were merged, and brings them into one store over a random
route (runs forwards, runs backwards, jumps; the seed fixes it). The graph of each must then equal, digest for digest, the one
that is built in an empty store. Besides, for each merge, the merge of its parents that is made in memory must equal the commit
where git puts the same files there; and of a sample of commits every edge must be found from its target too.

The repositories are only read. What differs is listed with the state that it was built on. Exit code 1 if anything does.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import tokenzip
from tokenzip.errors import GitError
from tokenzip.model import SymbolKey
from tokenzip.repository import Repository
from tokenzip.snapshot import Snapshot

LONGEST_RUN = 12
"""Commits that the route goes on in one direction, at most."""
LOOKED_UP_BACKWARDS = 10
"""Of so many commits, one is looked at from the targets of its edges."""


@dataclass
class Report:
    """What came of one repository."""

    commits: int = 0
    merges: int = 0
    bases: Counter[str] = field(default_factory=Counter)
    """What the commits were built on: an ancestor, another state, nothing."""
    remade: int = 0
    """Merges made again in memory."""
    reversed_edges: int = 0
    faults: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    parser.add_argument("--commits", type=int, default=100, metavar="N", help="of each repository (default: 100)")
    parser.add_argument("--at", default="HEAD", metavar="REV", help="the newest commit (default: HEAD)")
    parser.add_argument("--seed", type=int, default=4, metavar="N", help="chooses the route (default: 4)")
    options = parser.parse_args()
    faulty = False
    for path in options.repositories:
        begun = time.process_time()
        with tempfile.TemporaryDirectory(prefix="overlay-check-") as work:
            report = check(path, options.at, options.commits, options.seed, Path(work))
        on = ", ".join(f"{count} on {base}" for base, count in sorted(report.bases.items()))
        print(
            f"{path.resolve().name}: {report.commits} commits, {report.merges} of them merges ({on}); {report.remade} merges "
            f"made in memory, {report.reversed_edges:,} edges looked up backwards: {len(report.faults)} differ "
            f"({time.process_time() - begun:.0f} s of processor time)"
        )
        print("".join(f"  {fault}\n" for fault in report.faults), end="", flush=True)
        faulty = faulty or bool(report.faults)
    return int(faulty)


def check(path: Path, at: str, count: int, seed: int, work: Path) -> Report:
    """Walk one repository."""
    commits = newest(path, at, count)
    overlaid = opened(path, work / "overlaid")
    report = Report(len(commits), sum(len(parents) > 1 for parents in commits.values()))
    expected = {}
    for done, commit in enumerate(route(list(commits), random.Random(seed))):
        print(f"\r{path.name} {done + 1}/{len(commits)} ", end="", file=sys.stderr, flush=True)
        base = nearest(overlaid, commit)
        report.bases[kind_of(path, base, commit)] += 1
        snapshot = overlaid.index(commit, processes=1)
        scratch, expected[commit] = from_scratch(path, commit, work / "empty")
        if snapshot.digest() != expected[commit]:
            report.faults += differences(snapshot, scratch, f"{commit[:10]} on {base[:10] if base else 'nothing'}")
        if done % LOOKED_UP_BACKWARDS == 0:
            look_up_backwards(snapshot, report)
        shutil.rmtree(work / "empty")
    print("\r", end="", file=sys.stderr)
    for commit, parents in commits.items():
        if len(parents) == 2:
            remake(overlaid, commit, parents, expected[commit], report)
    return report


def newest(path: Path, at: str, count: int) -> dict[str, list[str]]:
    """Commit -> its parents, parents first."""
    listed = git(path, "log", "--topo-order", "--reverse", "--format=%H %P", f"--max-count={count}", at)
    return {commit: parents for commit, *parents in map(str.split, listed.splitlines())}


def route(commits: Sequence[str], chance: random.Random) -> Iterator[str]:
    """Every commit once: runs to the next one that is left above or below, and jumps."""
    left = list(commits)
    place = chance.randrange(len(left))
    while left:
        step = chance.choice((1, -1, 0))
        for _ in range(1 if step == 0 else chance.randint(2, LONGEST_RUN)):
            if step == 0:
                place = chance.randrange(len(left))
            if not 0 <= place < len(left):
                break
            yield left.pop(place)
            place -= step < 0
        place = min(max(place, 0), max(len(left) - 1, 0))


def opened(path: Path, home: Path) -> Repository:
    os.environ["TOKENZIP_HOME"] = str(home)
    return tokenzip.repo(str(path))


def from_scratch(path: Path, commit: str, home: Path) -> tuple[Snapshot, str]:
    """The graph of a commit in an empty store, and its digest."""
    snapshot = opened(path, home).index(commit, processes=1)
    return snapshot, snapshot.digest()


def nearest(repository: Repository, commit: str) -> str | None:
    """The tree that a commit will be built on."""
    from tokenzip.snapshot.nearest import nearest_known

    base = nearest_known(repository.git, repository.store, *repository.git.resolve(commit))
    return None if base is None else base.tree


def kind_of(path: Path, base: str | None, commit: str) -> str:
    if base is None:
        return "nothing"
    above = git(path, "log", "--format=%T", "--max-count=200", commit).split()
    return "its own tree" if base == above[0] else "an ancestor" if base in above else "another state"


def differences(overlaid: Snapshot, scratch: Snapshot, where: str) -> list[str]:
    """The files whose records differ, with a few of the edges and open references that do."""
    rows = []
    for path in sorted({*overlaid.paths(), *scratch.paths()}):
        records = [overlaid.link(path), scratch.link(path)] if overlaid.tree_file(path) and scratch.tree_file(path) else []
        if not records:
            rows.append(f"{where}: {path} is in one of both only")
        elif records[0] != records[1]:
            more = set(records[0].edges) - set(records[1].edges), set(records[0].open) - set(records[1].open)
            less = set(records[1].edges) - set(records[0].edges), set(records[1].open) - set(records[0].open)
            rows.append(f"{where}: {path}: more {[*more[0], *more[1]][:3]}, less {[*less[0], *less[1]][:3]}")
    return rows or [f"{where}: a status, mode or reason differs"]


def look_up_backwards(snapshot: Snapshot, report: Report) -> None:
    """Whether each edge is among those to its target."""
    forward: dict[SymbolKey, Counter[object]] = {}
    for path in snapshot.paths():
        for edge in snapshot.file_edges(path):
            forward.setdefault(edge.target, Counter())[edge] += 1
    for target, edges in forward.items():
        report.reversed_edges += edges.total()
        if Counter(snapshot.edges_to(target)) != edges:
            report.faults.append(f"{snapshot.at.rev[:10]}: edges to {target.handle} are not found from there")


def remake(repository: Repository, commit: str, parents: Sequence[str], expected: str, report: Report) -> None:
    """Whether the merge in memory has the graph of the commit, if it has its files."""
    try:
        made = repository.merge(*parents)
    except GitError:  # no merge base: unrelated histories
        return
    files = dict(made.merged.overlay)
    changed = {
        change.path: change.new for change in repository.git.diff_trees(made.ours.tree, repository.git.resolve(commit)[1])
    }
    made_here = {path: None if over is None else (over.file.mode, over.file.blob) for path, over in files.items()}
    relinked = {path for path, over in files.items() if over is not None and over.ir is None and path not in changed}
    if made.conflicts or {path: new for path, new in made_here.items() if path not in relinked} != changed:
        return
    report.remade += 1
    if made.merged.digest() != expected:
        report.faults.append(f"{commit[:10]}: the merge of {parents[0][:10]} and {parents[1][:10]} in memory differs")


def git(path: Path, *arguments: str) -> str:
    return subprocess.run(("git", *arguments), cwd=path, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
