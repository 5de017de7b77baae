"""score_gold SHARED REPOSITORIES [NAME ...]: edge quality on the public gold and the micro-suites, as one table.

SHARED holds `gold/` and `score/score.py`; REPOSITORIES holds a checkout for each gold file that is to be scored, by its
name (the suites as `pycg`, `swarm_js`, `jelly`). Extracts and links each checkout in memory, writes the edges form that the
scorer reads to `--out`, and prints the scorer's figures. `--samples N` also prints wrong and missing edges.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from tokenzip.languages import registry
from tokenzip.link import Linker, MemoryView
from tokenzip.model import FileIR, SymbolRow, qualified_names

# Where the sources of a micro-suite lie inside its repository.
SUITES = {
    "pycg": "micro-benchmark/snippets", "swarm_js": "benchmarks/javascript/swarm_js", "jelly": "tests/micro",
}  # fmt: skip
WHOLE = frozenset({"jelly"})
"""Suites whose cases require each other: one project. In the others every case is one."""
KINDS = {"calls": "call", "inherits": "inherit", "implements": "inherit"}
"""The suites count the application of a decorator as a call, where the decorated definition stands; the checkers do not."""
TYPES = frozenset({"class", "interface", "enum", "type_alias"})
DEFINITIONS = {
    "function", "method", "constructor", "class", "interface", "enum", "type_alias", "struct", "trait", "namespace",
}  # fmt: skip


def main() -> None:
    arguments = _arguments()
    scorer = _scorer(arguments.shared / "score" / "score.py")
    results = []
    for name, gold in _gold_files(arguments.shared / "gold"):
        root = arguments.repositories / name / SUITES.get(name, "")
        if root.is_dir() and (not arguments.names or name in arguments.names):
            with gzip.open(gold, "rt") as lines:
                meta = json.loads(next(lines))
            submission = arguments.out / f"{meta['repo']}.jsonl"
            if name in SUITES:
                seconds = write_suite(name, root, gold, submission, decorators=True)
            else:
                seconds = write_submission(root, submission)
            result = scorer.score(str(gold), str(submission), arguments.samples, None)
            results.append(result)
            _print_row(result, seconds)
            if arguments.samples:
                _print_samples(result)
    if len(results) > 1:
        for micro in (0, 1):
            chosen = [result for result in results if result["micro"] == micro]
            if len(chosen) > 1:
                _print_row({**scorer.overall(chosen), "repo": "all micro" if micro else "all"}, {})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path)
    parser.add_argument("repositories", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", type=Path, default=Path("/tmp"))
    parser.add_argument("--samples", type=int, default=0)
    return parser.parse_args()


def _scorer(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("score", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _gold_files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted([*folder.glob("*.jsonl.gz"), *folder.glob("micro/*.jsonl.gz")]):
        yield path.name.removesuffix(".jsonl.gz"), path


def covered(gold: Path) -> set[str]:
    """The files that a gold speaks of."""
    with gzip.open(gold, "rt") as lines:
        return {row["p"] for row in map(json.loads, lines) if row["t"] == "file"}


def write_suite(name: str, root: Path, gold: Path, target: Path, *, decorators: bool) -> dict[str, float]:
    """The same for a micro-suite: the files that its gold speaks of, each case a project; applied decorators count if asked."""
    whole = name in WHOLE
    only = {path.relative_to(root).as_posix() for path in root.rglob("*")} if whole else covered(gold)
    return write_submission(root, target, only, apart=not whole, decorators=decorators)


def write_submission(
    root: Path, target: Path, only: set[str] | None = None, *, apart: bool = False, decorators: bool = False
) -> dict[str, float]:
    """Extract and link a checkout, write its edges; seconds for each stage."""
    irs: dict[str, FileIR] = {}
    started = time.perf_counter()
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root).as_posix()
        language = registry.for_path(relative) if path.is_file() and not path.is_symlink() else None
        if language is not None and (relative in only if only else not relative.startswith((".git/", "node_modules/"))):
            irs[relative] = language.extract(path.read_bytes())
    extracted = time.perf_counter()
    with target.open("w") as out:
        for project in _projects(irs) if apart else [irs]:
            linker = Linker(MemoryView(project))
            for path, ir in project.items():
                for row in _rows(path, ir, linker, project, decorators):
                    out.write(json.dumps(row) + "\n")
    return {"extract": extracted - started, "link": time.perf_counter() - extracted, "files": len(irs)}


def _projects(irs: dict[str, FileIR]) -> list[dict[str, FileIR]]:
    """The cases of a micro-suite (two folders deep), each on its own, under their full paths."""
    cases: dict[str, dict[str, FileIR]] = {}
    for path, ir in irs.items():
        cases.setdefault("/".join(path.split("/")[:-1][:2]), {})[path] = ir
    return list(cases.values())


def _rows(path: str, ir: FileIR, linker: Linker, project: dict[str, FileIR], decorators: bool) -> Iterator[dict[str, Any]]:
    for symbol in ir.symbols:
        if symbol.kind in DEFINITIONS:
            kind = {"type_alias": "type"}.get(symbol.kind, symbol.kind)
            yield {"t": "def", "file": path, "line": symbol.name_line, "name": symbol.name, "kind": kind}
    named: dict[str, dict[str, SymbolRow]] = {}
    for edge in linker.link(path, ir).edges:
        if edge.kind == "imports":
            if not edge.qualified:
                yield {"t": "import", "sf": path, "df": edge.path}
            continue
        kind = (KINDS | {"decorates": "call"} if decorators else KINDS).get(edge.kind)
        if kind is None or edge.path not in project:
            continue
        if kind == "inherit" and edge.source >= 0 and ir.symbols[edge.source].kind not in TYPES:
            continue  # a method that implements one of an interface
        source = ir.symbols[edge.source].parent if edge.kind == "decorates" else edge.source
        if edge.path not in named:
            rows = project[edge.path].symbols
            named[edge.path] = dict(zip(qualified_names(rows), rows, strict=True))
        target = named[edge.path].get(edge.qualified)
        row = {
            "t": kind, "sf": path, "sl": ir.symbols[source].name_line if source >= 0 else 0,
            "sn": ir.symbols[source].name if source >= 0 else "", "df": edge.path,
            "dl": target.name_line if target is not None else 0, "dn": target.name if target is not None else "",
        }  # fmt: skip
        yield {**row, "at": edge.line} if kind == "call" else row


def _print_row(result: dict[str, Any], seconds: dict[str, float]) -> None:
    def figures(name: str) -> str:
        row = result[name]
        return "/".join("-" if row[key] is None else f"{row[key]:.3f}" for key in ("p", "r", "f1"))

    extra = ""
    if seconds:
        each = 1000 / max(1.0, seconds["files"])
        extra = f"extract {seconds['extract'] * each:.2f} link {seconds['link'] * each:.2f} ms/file"
    unjudged = result["calls"].get("unjudged", "")
    print(
        f"{result['repo']:12} defs {figures('defs')}  calls {figures('calls')} (unjudged {unjudged})"
        f"  imports {figures('imports')}  inherits {figures('inherit')}  {extra}"
    )


def _print_samples(result: dict[str, Any]) -> None:
    for name in ("def_fp", "def_miss", "call_fp", "call_miss", "import_fp", "import_miss", "inherit_fp", "inherit_miss"):
        for sample in result["samples"].get(name, ()):
            print(f"    {name:12} {sample}")


if __name__ == "__main__":
    sys.exit(main())
