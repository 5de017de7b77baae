"""Ranked files and symbols for each question of a data set of commit messages: see tools/retrieval."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

FILES = SYMBOLS = 20


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, "usage: tools/retrieval DATASET CLONES [REPOSITORY...]", file=sys.stderr, sep="\n")
        return 2
    data, clones, chosen = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    queries = [query for query in read(data / "queries.jsonl.gz") if query["kind"] == "query"]
    queries = [query for query in queries if not chosen or query["repo"] in chosen]
    run = Path(os.environ.get("RUN") or Path(tempfile.mkdtemp()) / "run.jsonl")
    os.environ.setdefault("TOKENZIP_HOME", tempfile.mkdtemp())
    seconds: list[float] = []
    with run.open("w") as out:
        for name in sorted({query["repo"] for query in queries}):
            if not (clones / name).exists():
                print(f"{name}: no clone in {clones}, left out", file=sys.stderr)
                continue
            for answer in answers(clones / name, [query for query in queries if query["repo"] == name], seconds):
                out.write(json.dumps(answer) + "\n")
    report(data, run, chosen)
    seconds.sort()
    half, most = (1000 * seconds[len(seconds) * share // 100] for share in (50, 95))
    print(f"processor time of a question: median {half:.0f} ms, p95 {most:.0f} ms")
    return 0


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def answers(clone: Path, queries: list[dict[str, Any]], seconds: list[float]) -> list[dict[str, Any]]:
    import tokenzip
    from tokenzip.search import search, search_files

    found = []
    repository = tokenzip.repo(str(clone))
    for query in queries:
        snapshot = repository.snapshot(query["parent"])
        files = search_files(snapshot, query["query"], limit=FILES)
        begin = time.process_time()
        hits = search(snapshot, query["query"], limit=SYMBOLS, per_file=0)
        seconds.append(time.process_time() - begin)
        symbols = [f"{hit.symbol.path}::{hit.symbol.name}" for hit in hits]
        found.append({"id": query["id"], "files": [file.path for file in files], "symbols": symbols})
    return found


def report(data: Path, run: Path, chosen: list[str]) -> None:
    script = data / "evaluate.py"
    if script.exists():
        repos = ["--repos", ",".join(chosen)] if chosen else []
        subprocess.run([sys.executable, str(script), str(data), str(run), *repos], check=True)
        return
    truth = {one["id"]: one for one in read(data / "truth.jsonl.gz")}
    means: dict[str, list[float]] = defaultdict(list)
    for line in run.read_text().splitlines():
        answer = json.loads(line)
        for field in ("files", "symbols"):
            wanted = set(truth[answer["id"]][field])
            if wanted:
                means[field].append(len(wanted & set(dict.fromkeys(answer[field][:10]))) / len(wanted))
    for field, values in means.items():
        print(f"recall at 10 {field}: {sum(values) / len(values):.3f} of {len(values)}")


if __name__ == "__main__":
    sys.exit(main())
