"""What of an answer about files is one step away from them, and which files it names first: see tools/context_quality."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenzip.budget import answer_text, estimate_tokens

if TYPE_CHECKING:
    from tokenzip.repository import Repository

BUDGETS = (2000, 4000, 8000)
LEAST = 3
"""Symbols next to a file from which on it is asked about: of fewer there is nothing to choose."""
RANKED = 20
Place = tuple[str, str]
"""A file and the last part of a symbol's name; empty for module level."""


def main() -> int:
    arguments = _arguments()
    os.environ.setdefault("TOKENZIP_HOME", tempfile.mkdtemp())
    if arguments.only != "seeds":
        _gold(arguments)
    if arguments.only != "gold":
        _seeds(arguments)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", type=Path)
    parser.add_argument("repositories", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--only", choices=("gold", "seeds"))
    return parser.parse_args()


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") as lines:
        yield from map(json.loads, lines)


# ---- neighbourhoods


def _gold(arguments: argparse.Namespace) -> None:
    print("share of tokens on symbols one step away (of the items | of the whole answer); part of these symbols that is shown")
    totals: dict[int, list[tuple[float, float, float]]] = defaultdict(list)
    for gold in sorted((arguments.shared / "gold").glob("*.jsonl.gz")):
        name = gold.name.removesuffix(".jsonl.gz")
        clone = arguments.repositories / name
        if clone.exists() and (not arguments.names or name in arguments.names):
            rows = list(_lines(gold))
            found = _measured(clone, rows[0]["commit"], _neighbourhoods(rows))
            if found:
                _print_gold(name, found)
                for budget, values in found.items():
                    totals[budget].extend(values)
    _print_gold("all", totals)


def _print_gold(name: str, found: dict[int, list[tuple[float, float, float]]]) -> None:
    parts = []
    for budget, values in found.items():
        items, whole, shown = (statistics.fmean(column) for column in zip(*values, strict=True))
        parts.append(f"{budget}: {items:.3f} | {whole:.3f}  {shown:.3f}")
    print(f"{name:12}{len(next(iter(found.values()))):5} files   " + "   ".join(parts), flush=True)


def _neighbourhoods(rows: Iterable[dict[str, Any]]) -> dict[str, set[Place]]:
    """File -> the symbols elsewhere that its symbols use or are used by; what is local to a function is that function."""
    files: dict[int, str] = {}
    places: dict[int, Place] = {}
    found: dict[str, set[Place]] = defaultdict(set)
    for row in rows:
        if row["t"] == "file":
            files[row["i"]] = row["p"]
        elif row["t"] == "def":
            is_local = "loc" in row and row.get("p") in places
            places[row["i"]] = places[row["p"]] if is_local else (files[row["f"]], row["n"])
        elif row["t"] in {"call", "ref", "inh"}:
            source = places[row["s"]] if row["s"] >= 0 else (files[row["f"]], "")
            target = places[row["d"]]
            if source[0] != target[0]:
                found[source[0]].add(target)
                found[target[0]].add(source)
    return {path: symbols for path, symbols in sorted(found.items()) if len(symbols) >= LEAST}


def _measured(clone: Path, commit: str, neighbourhoods: dict[str, set[Place]]) -> dict[int, list[tuple[float, float, float]]]:
    import tokenzip

    repository = tokenzip.repo(str(clone))
    found: dict[int, list[tuple[float, float, float]]] = {budget: [] for budget in BUDGETS}
    for path, symbols in neighbourhoods.items():
        for budget in BUDGETS:
            answer = _asked(repository, commit, path, budget)
            if answer["items"]:
                found[budget].append(_shares(answer, symbols))
    return {budget: values for budget, values in found.items() if values}


def _asked(repository: Repository, commit: str, path: str, budget: int) -> dict[str, Any]:
    from tokenzip.operations import OPERATIONS

    answer = OPERATIONS["get_context_for_files"].run(repository, {"files": [path], "at": commit, "max_tokens": budget})
    assert answer["token_count"] <= budget, (path, budget)
    return answer


def _shares(answer: dict[str, Any], symbols: set[Place]) -> tuple[float, float, float]:
    costs: list[tuple[bool, int]] = []
    seen: set[Place] = set()
    for item in answer["items"]:
        path, _, qualified = item["handle"].partition("::")
        place = (path, qualified.partition("#")[0].rpartition(".")[2])
        owner = (path, qualified.rpartition(".")[0].rpartition(".")[2])
        names = {place, owner} if place[1] in {"__init__", "constructor"} else {place}
        seen.update(names)
        costs.append((not names.isdisjoint(symbols), estimate_tokens(answer_text(item) + ",\n")))
    near = sum(cost for is_near, cost in costs if is_near)
    return near / sum(cost for _, cost in costs), near / answer["token_count"], len(symbols & seen) / len(symbols)


# ---- files of one commit


def _seeds(arguments: argparse.Namespace) -> None:
    data = arguments.shared / "retrieval"
    items = [row for row in _lines(data / "queries.jsonl.gz") if row["kind"] == "seed"]
    items = [row for row in items if not arguments.names or row["repo"] in arguments.names]
    run = Path(os.environ.get("RUN") or Path(tempfile.mkdtemp()) / "run.jsonl")
    seconds: list[float] = []
    with run.open("w") as out:
        for name in sorted({row["repo"] for row in items}):
            clone = arguments.repositories / name
            if not clone.exists():
                print(f"{name}: no clone in {arguments.repositories}, left out", file=sys.stderr)
                continue
            for answer in _ranked(clone, [row for row in items if row["repo"] == name], seconds):
                out.write(json.dumps(answer) + "\n")
    repositories = ["--repos", ",".join(arguments.names)] if arguments.names else []
    subprocess.run([sys.executable, str(data / "evaluate.py"), str(data), str(run), *repositories], check=True)
    seconds.sort()
    half, most = (1000 * seconds[len(seconds) * share // 100] for share in (50, 95))
    print(f"warm answer of 2,500 tokens: median {half:.0f} ms, p95 {most:.0f} ms of processor time")


def _ranked(clone: Path, items: list[dict[str, Any]], seconds: list[float]) -> Iterator[dict[str, Any]]:
    import tokenzip

    repository = tokenzip.repo(str(clone))
    for row in sorted(items, key=lambda row: str(row["day"])):
        _asked(repository, row["parent"], row["given"], 2500)
        begin = time.process_time()
        answer = _asked(repository, row["parent"], row["given"], 2500)
        seconds.append(time.process_time() - begin)
        names = [item["handle"].rpartition("::") for item in answer["items"]]
        yield {
            "id": row["id"],
            "files": [each["handle"] for each in answer["files"]][:RANKED],
            "symbols": [f"{path}::{name.rpartition('.')[2]}" for path, mark, name in names if mark],
        }


if __name__ == "__main__":
    sys.exit(main())
