"""Measures the budgets of the design on real repositories, beside a floor that is taken in the same run.

    tools/bench REPOSITORY...                      measure each; the repositories themselves are only read
    tools/bench --build FOLDER REPOSITORY...       make one large repository out of them first, and measure that
    tools/bench --only index,mcp REPOSITORY...     some of the measurements
    tools/bench --json FILE REPOSITORY...          also write the figures down

The *floor* is a command of its own that starts, spawns the same number of processes, reads the same blobs and has tree-sitter
parse them, nothing else. Times are wall times of whole commands unless a row says otherwise; memory is the proportional set
size (PSS) of all processes of a command together. Linux only (it reads /proc).
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

COMMENT = {
    ".py": b"# ",
    ".pyi": b"# ",
    ".js": b"// ",
    ".jsx": b"// ",
    ".mjs": b"// ",
    ".cjs": b"// ",
    ".ts": b"// ",
    ".tsx": b"// ",
}
STEPS = 12
"""Commits that each source of a built repository moves through."""
HISTORY = 200
"""First-parent commits over which growth is measured."""
Rows = list["Row"]


@dataclass(frozen=True)
class Row:
    """One measured figure beside its budget. `must` and `aim` are upper bounds, or lower ones if `least`."""

    what: str
    value: float
    unit: str
    must: float | None = None
    aim: float | None = None
    least: bool = False

    @property
    def verdict(self) -> str:
        if self.must is None or self.aim is None:
            return ""
        value, must, aim = (-self.value, -self.must, -self.aim) if self.least else (self.value, self.must, self.aim)
        return "aim" if value <= aim else "must" if value <= must else "OVER"


class Bench:
    """One repository under measurement: a clone to change, and a folder for its stores."""

    def __init__(self, source: Path, work: Path, jobs: int) -> None:
        self.name = source.resolve().name
        self.jobs = jobs
        self.clone = work / self.name
        self.homes = work / f"{self.name}-stores"
        self.home = self.homes / "head"
        self.homes.mkdir()
        clone_of(source, self.clone)
        blobs, self.source_bytes = tracked_sources(self.clone)
        self.files = sorted(blobs)

    def tokenzip(self, *arguments: str, home: Path | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run the command on the clone. Raises CalledProcessError with what it printed."""
        done = subprocess.run(
            command(*arguments),
            cwd=self.clone,
            env=self.environment(home),
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode not in (0, 1):
            raise SystemExit(f"tokenzip {' '.join(arguments)} failed ({done.returncode}):\n{done.stderr.decode()[-2000:]}")
        return done

    def python(self, script: str, home: Path, stdin: bytes = b"") -> bytes:
        """What a script prints that uses the API on the clone."""
        done = subprocess.run(
            (sys.executable, "-c", script),
            cwd=self.clone,
            env=self.environment(home),
            check=False,
            input=stdin,
            capture_output=True,
        )
        if done.returncode:
            raise SystemExit(f"a script failed:\n{done.stderr.decode()[-2000:]}")
        return done.stdout

    def environment(self, home: Path | None = None) -> dict[str, str]:
        return {**hermetic_environment(), "TOKENZIP_HOME": str(home or self.home)}

    def fresh_home(self, name: str, like: Path | None = None) -> Path:
        """An empty folder for stores, or a copy of another one."""
        home = self.homes / name
        shutil.rmtree(home, ignore_errors=True)
        if like is not None:
            shutil.copytree(like, home)
        return home


# The measurements, in the order of the table.


def measure_index(bench: Bench) -> Rows:
    """A full index into an empty store, against the floor; then the same again with nothing to do."""
    home = bench.fresh_home("head")
    with peak_memory() as peak:
        seconds = timed(lambda: bench.tokenzip("index", "HEAD", "--jobs", str(bench.jobs), home=home))
    floor, parsing = floor_seconds(bench)
    again = [timed(lambda: bench.tokenzip("index", "HEAD")) for _ in range(7)]
    return [
        Row("files of indexed languages", len(bench.files), ""),
        Row("parse-only floor, whole command", floor, "s"),
        Row("parse-only floor, parsing alone", parsing, "s"),
        Row("full index", seconds, "s"),
        Row("full index / floor", seconds / floor, "", 3.0, 2.0),
        Row("full index / parsing alone", seconds / parsing, ""),
        Row("full index, files a second", len(bench.files) / seconds, "", 500, 800, least=True),
        Row("peak memory, all processes", peak() / 1e6, "MB", 500, 350),
        Row("re-index, nothing changed, p95", percentile(again, 95) * 1e3, "ms", 200, 100),
    ]


def measure_size(bench: Bench) -> Rows:
    """One live snapshot after `gc`, as a share of the source."""
    home = bench.fresh_home("size", like=indexed_home(bench))
    before = folder_bytes(home)
    bench.tokenzip("gc", home=home)
    size = folder_bytes(home)
    rows = [Row("source of indexed languages", bench.source_bytes / 1e6, "MB"), Row("store before gc", before / 1e6, "MB")]
    if bench.source_bytes < 2e6:
        return [*rows, Row("store after gc (small repository)", size / 1e3, "KB", 256, 256)]
    return [*rows, Row("store after gc / source", size / bench.source_bytes * 100, "%", 10, 6)]


def measure_commit(bench: Bench) -> Rows:
    """Commits of fewer than ten files, without hooks and then with them: the difference is what the hooks cost.

    Between two commits what the last one left to the background is let come to its end, and timed.
    """
    home = bench.fresh_home("hooks", like=indexed_home(bench))
    clone = bench.clone.with_name(f"{bench.name}-hooks")
    clone_of(bench.clone, clone)
    environment = {**bench.environment(home), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    chosen = random.Random(1)

    def tokenzip(*arguments: str) -> None:
        subprocess.run(
            command(*arguments), cwd=clone, env=environment, check=True, capture_output=True, stdin=subprocess.DEVNULL
        )

    def commit(number: int) -> float:
        paths = chosen.sample(bench.files, min(len(bench.files), chosen.randint(1, 9)))
        for path in paths:
            edit(clone / path, number)
        git("add", "--", *paths, cwd=clone)
        return timed(lambda: git("commit", "--quiet", "--message", f"edit {number}", cwd=clone, environment=environment))

    plain = statistics.median([commit(number) for number in range(12)])
    tokenzip("init")
    with_hooks, background = [], []
    for number in range(12, 36):
        with_hooks.append(commit(number))
        background.append(timed(lambda: tokenzip("index", "HEAD")))
    return [
        Row("git commit of < 10 files, without hooks, p50", plain * 1e3, "ms"),
        Row("git commit of < 10 files, with hooks, p50", statistics.median(with_hooks) * 1e3, "ms"),
        Row("what the hooks add, p95", (percentile(with_hooks, 95) - plain) * 1e3, "ms", 500, 200),
        Row("until the graph of the commit is known, in the background, p95", percentile(background, 95) * 1e3, "ms"),
    ]


def measure_diff(bench: Bench) -> Rows:
    """`diff HEAD~3` where the store knows HEAD alone."""
    taken = []
    for _ in range(5):
        home = bench.fresh_home("diff", like=indexed_home(bench))
        taken.append(timed(lambda: bench.tokenzip("diff", "HEAD~3", "HEAD", "--format", "json", home=home)))  # noqa: B023
    return [Row("diff HEAD~3, unseen, p95", percentile(taken, 95), "s", 1.0, 0.4)]


def measure_query(bench: Bench) -> Rows:
    """Questions through the Python API of one process: what the graph itself costs, without starting a program."""
    script = (
        "import json, sys, time\nimport tokenzip\nfrom tokenzip.operations import OPERATIONS\n"
        "repository = tokenzip.repo('.')\nfor name, arguments in json.load(sys.stdin):\n"
        "    start = time.perf_counter()\n    answer = OPERATIONS[name].run(repository, arguments)\n"
        "    print(json.dumps([name, time.perf_counter() - start, 'error' in answer]))\n"
    )
    home = indexed_home(bench)
    questions = json.dumps(list(some_questions(bench, 240))).encode()
    printed = bench.python(script, home, questions)
    answers = [json.loads(line) for line in printed.splitlines()][12:]
    times = [seconds for _, seconds, _ in answers]
    slowest = max({name for name, _, _ in answers}, key=lambda name: percentile([t for n, t, _ in answers if n == name], 95))
    return [
        Row("query, p50", percentile(times, 50) * 1e3, "ms"),
        Row("query, p95", percentile(times, 95) * 1e3, "ms", 100, 30),
        Row(f"slowest kind of query ({slowest}), p95", percentile([t for n, t, _ in answers if n == slowest], 95) * 1e3, "ms"),
        Row("queries answered with an error", sum(failed for _, _, failed in answers), ""),
    ]


def measure_mcp(bench: Bench) -> Rows:
    """A server over stdio, as an agent starts it."""
    home = indexed_home(bench)
    starts = []
    for _ in range(10):
        with McpServer(bench, home) as server:
            starts.append(server.started)
    with McpServer(bench, home) as server:
        server.call("query_repo_structure", {"at": "HEAD"})
        idle = memory_of(server.process.pid) / 1e6
        taken = [timed(lambda: server.call(name, arguments)) for name, arguments in some_questions(bench, 120)]  # noqa: B023
    return [
        Row("MCP: process start to initialize answered, p95", percentile(starts, 95) * 1e3, "ms", 200, 120),
        Row("MCP: idle memory after the first query", idle, "MB", 50, 40),
        Row("MCP: tool call, p95", percentile(taken, 95) * 1e3, "ms", 200, 60),
    ]


def measure_growth(bench: Bench) -> Rows:
    """The store over successive commits, against what git's own packs need for them."""
    commits = git("rev-list", "--first-parent", f"--max-count={HISTORY + 1}", "HEAD", cwd=bench.clone).split()[::-1]
    if len(commits) < 20:
        return []
    home = bench.fresh_home("growth")
    git("checkout", "--quiet", "--detach", commits[0], cwd=bench.clone)  # `gc` keeps what a work tree stands at
    bench.tokenzip("index", "HEAD", home=home)
    bench.tokenzip("gc", home=home)
    git("checkout", "--quiet", "-", cwd=bench.clone)
    before = folder_bytes(home)
    seconds = timed(lambda: bench.tokenzip("index", *commits[1:], home=home))
    grown = folder_bytes(home) - before
    packed = len(
        git_bytes(
            *("pack-objects", "--revs", "--thin", "--stdout", "--delta-base-offset", "--quiet", "--missing=allow-any"),
            cwd=bench.clone,
            stdin=f"{commits[-1]}\n^{commits[0]}\n".encode(),
        )
    )
    return [
        Row(f"{len(commits) - 1} commits, one after the other", seconds / (len(commits) - 1) * 1e3, "ms a commit"),
        Row("store growth", grown / 1e6, "MB"),
        Row("store growth / growth of git's packs", grown / packed, "", 1.0, 0.5),
    ]


MEASUREMENTS: dict[str, Callable[[Bench], Rows]] = {
    "index": measure_index,
    "size": measure_size,
    "commit": measure_commit,
    "diff": measure_diff,
    "query": measure_query,
    "mcp": measure_mcp,
    "growth": measure_growth,
}


def indexed_home(bench: Bench) -> Path:
    """The store that knows HEAD and nothing else."""
    if not bench.home.exists():
        bench.tokenzip("index", "HEAD")
    return bench.home


def some_questions(bench: Bench, number: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Calls of every kind about symbols of the repository, the same ones in each run."""
    script = (
        "import json, tokenzip\nsnapshot = tokenzip.repo('.').snapshot('HEAD')\n"
        "print(json.dumps([[s.handle, s.name, s.path] for f in snapshot.files() for s in f.symbols if not s.flags & 4096]))"
    )
    symbols = json.loads(bench.python(script, indexed_home(bench)))
    chosen = random.Random(2)
    for index in range(number):
        handle, name, path = chosen.choice(symbols)
        yield (
            ("query_symbol", {"handle": handle, "at": "HEAD"}),
            ("get_dependants", {"handle": handle, "at": "HEAD", "depth": chosen.choice((1, 1, 3))}),
            ("get_dependencies", {"handle": handle, "at": "HEAD"}),
            ("search_symbols", {"query": name, "at": "HEAD"}),
            ("query_file", {"path": path, "at": "HEAD"}),
            ("get_impact_analysis", {"handles": [handle], "at": "HEAD"}),
        )[index % 6]


class McpServer:
    """A running server and the client side of its wire."""

    def __init__(self, bench: Bench, home: Path) -> None:
        begun = time.perf_counter()
        self.process = subprocess.Popen(
            command("serve"), cwd=bench.clone, env=bench.environment(home),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._number = 0
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        self.request("initialize", client)
        self.started = time.perf_counter() - begun
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> McpServer:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(10)

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def request(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdout is not None
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters})
        while line := self.process.stdout.readline():
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == self._number:
                return message
        raise SystemExit(f"the server ended at {method}")

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()


# The floor: a command of its own (`tools/bench --floor JOBS`), so that it pays for its start as the index does.


def floor_seconds(bench: Bench) -> tuple[float, float]:
    """Seconds of the whole parse-only command, and of the parsing in it once all processes are up."""
    parsing: list[float] = []
    files = json.dumps(parsed_files(bench)).encode()

    def run() -> None:
        command = (sys.executable, __file__, "--floor", str(bench.jobs), str(bench.clone))
        done = subprocess.run(command, check=True, capture_output=True, input=files)
        parsing.append(float(done.stdout))

    return min(timed(run) for _ in range(3)), min(parsing)


def parsed_files(bench: Bench) -> list[tuple[str, str]]:
    """Blob and suffix of the files that the index parsed: it leaves out generated ones, and so must the floor."""
    script = (
        "import json, tokenzip\nsnapshot = tokenzip.repo('.').snapshot('HEAD')\n"
        "print(json.dumps([[f.path, f.blob] for f in snapshot.files() if f.status in ('parsed', 'partial')]))"
    )
    parsed = json.loads(bench.python(script, indexed_home(bench)))
    return [(blob, suffix) for path, blob in parsed if (suffix := Path(path).suffix.lower()) in GRAMMARS]


def run_floor(jobs: int, repository: Path) -> None:
    """Parse the files told on standard input in `jobs` processes; print the seconds from the moment they are all up."""
    blobs = json.load(sys.stdin)
    slices = [(str(repository), blobs[start : start + 64]) for start in range(0, len(blobs), 64)]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context) as pool:
        list(pool.map(warm_up, range(jobs * 4)))
        begun = time.perf_counter()
        list(pool.map(parse_blobs, slices))
        print(time.perf_counter() - begun)


def warm_up(_: int) -> None:
    import pygit2  # noqa: F401
    import tree_sitter_language_pack

    for language in set(GRAMMARS.values()):
        tree_sitter_language_pack.get_parser(language)
    time.sleep(0.05)  # so that each process gets its share of the warming


GRAMMARS = {
    ".py": "python", ".pyi": "python", ".pyw": "python", ".js": "javascript", ".jsx": "javascript", ".mjs": "javascript",
    ".cjs": "javascript", ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx",
}  # fmt: skip


def parse_blobs(part: tuple[str, list[tuple[str, str]]]) -> None:
    import pygit2
    import tree_sitter_language_pack

    repository = pygit2.Repository(part[0])
    parsers: dict[str, Any] = {name: tree_sitter_language_pack.get_parser(name) for name in set(GRAMMARS.values())}  # type: ignore[arg-type]
    for blob, suffix in part[1]:
        parsers[GRAMMARS[suffix]].parse(repository[blob].data)


# One large repository out of several.


def build(target: Path, sources: Sequence[Path], files: int) -> None:
    """A repository with at least `files` source files: the sources side by side, as often as it takes, and real commits.

    The first copy of each source is true to it and moves through its last commits, one after another; further copies carry a
    comment at the end of each file, so that no two of their blobs are equal.
    """
    import pygit2

    git("init", "--quiet", "--initial-branch=main", str(target))
    for source in sources:
        git("fetch", "--quiet", "--no-tags", f"--depth={STEPS + 1}", source.resolve().as_uri(), "HEAD", cwd=target)
    repository = pygit2.Repository(str(target))
    heads = {source.resolve().name: first_parents(source) for source in sources}
    parts: dict[str, pygit2.Oid] = {}
    count = number = 0
    while count < files:
        for name, commits in heads.items():
            tree = repository[commits[-1 if number == 0 else 0]].peel(pygit2.Tree)
            parts[f"{name}-{number}" if number else name] = tree.id if number == 0 else marked(repository, tree, number)
            count += len(tracked_sources(target, commits[0])[0])
        number += 1
    parent = commit_parts(repository, parts, [], "the beginning")
    for step in range(2, STEPS + 1):
        for name, commits in heads.items():
            if len(commits) >= step:
                parts[name] = repository[commits[-step]].peel(pygit2.Tree).id
                parent = commit_parts(repository, parts, [parent], f"{name}: {commits[-step][:12]}")
    git("reset", "--quiet", "--hard", "main", cwd=target)
    git("repack", "-a", "-d", "-q", cwd=target)


def first_parents(source: Path) -> list[str]:
    """The last commits, newest first."""
    return git("rev-list", "--first-parent", f"--max-count={STEPS}", "HEAD", cwd=source).split()


def marked(repository: Any, tree: Any, number: int) -> Any:
    """The tree with a comment added to every source file."""
    builder = repository.TreeBuilder()
    for entry in tree:
        identifier = entry.id
        if entry.filemode == 0o040000:
            identifier = marked(repository, entry, number)
        elif entry.filemode in (0o100644, 0o100755) and (sign := COMMENT.get(Path(entry.name).suffix)):
            identifier = repository.create_blob(entry.data + b"\n" + sign + b"copy %d\n" % number)
        elif entry.filemode == 0o160000:
            continue
        builder.insert(entry.name, identifier, entry.filemode)
    return builder.write()


def commit_parts(repository: Any, parts: dict[str, Any], parents: list[Any], message: str) -> Any:
    import pygit2

    builder = repository.TreeBuilder()
    for name, tree in parts.items():
        builder.insert(name, tree, 0o040000)
    who = pygit2.Signature("A U Thor", "author@example.com", 1_700_000_000, 0)
    return repository.create_commit("refs/heads/main", who, who, message, builder.write(), parents)


# Small tools.


def command(*arguments: str) -> tuple[str, ...]:
    return (str(Path(sys.executable).with_name("tokenzip")), *arguments)


def clone_of(source: Path, target: Path) -> None:
    """A clone with a work tree. What the source itself lacks (a partial copy) is left out of it, as in a sparse checkout."""
    git("clone", "--quiet", "--no-tags", "--local", "--no-checkout", str(source), str(target))
    git("read-tree", "HEAD", cwd=target)
    entries = dict(entry.split("\t")[::-1] for entry in git("ls-files", "--stage", "-z", cwd=target).split("\0") if entry)
    blobs = {path: stage.split()[1] for path, stage in entries.items() if not stage.startswith("160000")}
    states = git_bytes("cat-file", "--batch-check", cwd=target, stdin="\n".join(blobs.values()).encode()).decode().splitlines()
    missing = [path for path, state in zip(blobs, states, strict=True) if state.endswith(" missing")]
    git_bytes("update-index", "--skip-worktree", "-z", "--stdin", cwd=target, stdin="\0".join(missing).encode())
    git("checkout-index", "--all", "--quiet", cwd=target)
    git_bytes("update-index", "--refresh", "-q", cwd=target)


def tracked_sources(repository: Path, revision: str = "HEAD") -> tuple[dict[str, str], int]:
    """Path to blob id of the tracked files of the indexed languages (no links, no submodules), and their bytes together."""
    blobs, total = {}, 0
    for entry in git("ls-tree", "-r", "-l", "-z", revision, cwd=repository).split("\0"):
        meta, _, path = entry.partition("\t")
        if meta.startswith("100") and Path(path).suffix.lower() in GRAMMARS:
            blobs[path] = meta.split()[2]
            total += int(meta.split()[3])
    return blobs, total


def hermetic_environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "TOKENZIP_"))}
    names = ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")
    return kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull} | dict.fromkeys(names, "bench@example.com")


def git_bytes(
    *arguments: str, cwd: Path | None = None, stdin: bytes | None = None, environment: dict[str, str] | None = None
) -> bytes:
    done = subprocess.run(
        ("git", *arguments), cwd=cwd, input=stdin, env=environment or hermetic_environment(), check=False, capture_output=True
    )
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments)} failed:\n{done.stderr.decode()}")
    return done.stdout


def git(*arguments: str, cwd: Path | None = None, environment: dict[str, str] | None = None) -> str:
    return git_bytes(*arguments, cwd=cwd, environment=environment).decode("utf-8", "surrogateescape")


def timed(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that at least `percent` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def edit(path: Path, number: int) -> None:
    """A new function at the end of the file: a change of its interface."""
    text = (
        f"\ndef added_{number}():\n    return {number}\n"
        if path.suffix == ".py"
        else f"\nfunction added{number}() {{ return {number} }}\n"
    )
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def folder_bytes(folder: Path) -> int:
    """Bytes that the files of a folder take on the disk."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


@contextmanager
def peak_memory() -> Iterator[Callable[[], float]]:
    """The largest sum of the memory of this process's descendants meanwhile."""
    peak, ended = [0.0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.1):
            peak[0] = max(peak[0], sum(memory_of(child) for child in descendants(os.getpid())))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield lambda: peak[0]
    finally:
        ended.set()
        watcher.join()


def descendants(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in map(int, children):
            yield child
            yield from descendants(child)


def memory_of(pid: int) -> float:
    """Proportional set size in bytes; 0 for a process that has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) * 1024.0 for line in text.splitlines() if line.startswith("Pss:")), 0.0)


def table(name: str, rows: Rows) -> str:
    """The rows as a Markdown table."""
    lines = [f"### {name}", "", "| what | measured | must | aim | |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        must, aim = ("" if bound is None else f"{bound:g}" for bound in (row.must, row.aim))
        lines.append(f"| {row.what} | {shown(row.value)} {row.unit}".rstrip() + f" | {must} | {aim} | {row.verdict} |")
    return "\n".join(lines) + "\n"


def shown(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or value >= 100 else f"{value:.3g}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes, for the floor and the index alike")
    parser.add_argument("--only", default=",".join(MEASUREMENTS), help=f"some of: {', '.join(MEASUREMENTS)}")
    parser.add_argument(
        "--build", type=Path, metavar="FOLDER", help="make one repository out of the given ones, and measure that"
    )
    parser.add_argument("--files", type=int, default=10_000, help="source files that --build must reach")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--floor", type=int, metavar="JOBS", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.floor:
        run_floor(options.floor, options.repositories[0])
        return 0
    repositories = options.repositories
    if options.build:
        build(options.build, repositories, options.files)
        repositories = [options.build]
    figures = {}
    with tempfile.TemporaryDirectory(prefix="tokenzip-bench-") as work:
        for source in repositories:
            bench = Bench(source, Path(work), options.jobs)
            rows = [row for name in options.only.split(",") for row in MEASUREMENTS[name](bench)]
            figures[bench.name] = [asdict(row) for row in rows]
            print(table(bench.name, rows), flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
