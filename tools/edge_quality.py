"""edge_quality SHARED REPOSITORIES [--questions N] [--lies N] [--markdown]: how far edges can be trusted, as one table.

SHARED holds `gold/` (with `gold/micro/`) and `score/score.py`. REPOSITORIES holds a clone of each repository by the name of
its gold file, and the micro-suites as `pycg`, `swarm_js` and `jelly`; what is missing is left out. The clones are only read:
each is indexed at the commit of its gold into a store of its own, exported as `tokenzip export --format edges` does, and
scored. Then a seeded sample of gold definitions is asked for its callers, as an agent asks, and every answer that says
`complete` is held against the gold. Last, the same files are parsed, extracted and linked in memory for the ratio of times
(processor time, so other work on the machine hardly matters).
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

LANGUAGES = {"python": "Python", "typescript": "TypeScript"}
SUITES = {"pycg": "PyCG", "swarm_js": "SWARM-CG JavaScript", "jelly": "Jelly"}
UNCHECKED = frozenset({"express"})
"""Plain JavaScript: its checker cannot resolve most calls, so it says nothing about recall and has a row of its own."""
SEED = 20
KINDS = frozenset({"function", "method", "constructor", "accessor", "objmethod", "method_sig", "class", "interface"})
"""What is called: kinds of gold definitions that are asked for their callers."""
Targets = dict[str, tuple[float | None, float | None]]
TARGETS: Targets = {
    "Python, precision": (0.98, 0.995), "Python, recall": (0.95, 0.985),
    "Python, imports F1": (0.99, 1.0), "Python, inheritance F1": (0.98, 1.0),
    "TypeScript, precision": (0.98, 0.99), "TypeScript, recall": (0.93, 0.97),
    "TypeScript, imports F1": (0.99, 1.0), "TypeScript, inheritance F1": (0.98, 1.0),
    "PyCG, precision": (0.98, 0.99), "PyCG, recall": (0.80, 0.90),
    "SWARM-CG JavaScript, precision": (0.95, 0.98), "SWARM-CG JavaScript, recall": (0.75, 0.88),
    "Jelly, recall": (0.70, 0.85),
    "answers that say complete and are": (0.99, 1.0),
    "link time / parse time": (0.6, 0.35),
}  # fmt: skip


@dataclass(slots=True)
class Row:
    """One measured figure, with what it was measured on."""

    what: str
    value: float | None
    note: str = ""


@dataclass(slots=True)
class Answers:
    """What became of the questions about callers."""

    asked: int = 0
    complete: int = 0
    wrong: list[str] = field(default_factory=list)
    """Answers that said `complete` and lack a caller of the gold."""
    timid: Counter[str] = field(default_factory=Counter)
    """Answers that did not dare to say `complete` though they lack nothing, by the name asked for."""
    lacking: int = 0
    """Answers that lack a caller of the gold, whatever they say."""

    def add(self, other: Answers) -> None:
        self.asked += other.asked
        self.complete += other.complete
        self.wrong += other.wrong
        self.timid += other.timid
        self.lacking += other.lacking


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="edge-quality-") as scratch:
        os.environ.update(TOKENZIP_HOME=scratch, TOKENZIP_STORE="user")
        rows = [*measure(arguments, Path(scratch))]
    print_table(rows, markdown=arguments.markdown)
    sys.exit(any(_misses(row) for row in rows))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path)
    parser.add_argument("repositories", type=Path)
    parser.add_argument("--questions", type=int, default=400, help="definitions asked about in each repository (0: all)")
    parser.add_argument(
        "--lies", type=int, default=0, help="print so many answers that say complete and are not, and timid names"
    )
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    return parser.parse_args()


def measure(arguments: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """All rows of the table, in its order."""
    scoring = _module("score_gold", Path(__file__).with_name("score_gold.py"))
    scorer = _module("score", arguments.shared / "score" / "score.py")
    results: dict[str, list[dict[str, Any]]] = {}
    answers: dict[str, Answers] = {}
    times: dict[str, Counter[str]] = {}
    for gold in sorted((arguments.shared / "gold").glob("*.jsonl.gz")):
        name = gold.name.removesuffix(".jsonl.gz")
        known = scorer.Gold(str(gold))
        language = LANGUAGES.get(known.meta["lang"])
        if language is None or not (arguments.repositories / name).is_dir():
            continue
        print(f"{name} ...", file=sys.stderr)
        from tokenzip.repository import repo

        repository = repo(str((arguments.repositories / name).resolve())).at(known.meta["commit"])
        submission = _exported(repository, scratch / f"{name}.jsonl")
        group = "JavaScript" if name in UNCHECKED else language
        results.setdefault(group, []).append(scorer.score(str(gold), str(submission), 0, None))
        answers.setdefault(group, Answers()).add(ask(repository, known, arguments.questions, name))
        times.setdefault(language, Counter()).update(timed(repository))
    for group, found in results.items():
        yield from _gold_rows(group, scorer.overall(found), ", ".join(result["repo"] for result in found))
    for name, title in SUITES.items():
        root = arguments.repositories / name / scoring.SUITES[name]
        if root.is_dir():
            yield from _suite_rows(
                scoring, scorer, arguments.shared / "gold" / "micro" / f"{name}.jsonl.gz", root, title, scratch
            )
    yield from _answer_rows(answers)
    yield from _time_rows(times)
    for answer in answers.values() if arguments.lies else ():
        for line in (*answer.wrong[: arguments.lies], "timid: " + str(answer.timid.most_common(arguments.lies))):
            print(line, file=sys.stderr)


def _module(name: str, path: Path) -> ModuleType:
    spec = spec_from_loader(name, SourceFileLoader(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _exported(repository: Any, target: Path) -> Path:
    from tokenzip.operations.export import export

    with target.open("w", encoding="utf-8", errors="backslashreplace") as out:
        out.writelines(export(repository.snapshot(), "edges"))
    return target


# ---- precision and recall


def _gold_rows(group: str, result: dict[str, Any], repositories: str) -> Iterator[Row]:
    calls = result["calls"]
    yield Row(
        f"{group}, precision", calls["p"], f"{calls['n_sub']:,} judged calls, {calls['unjudged']:,} unjudged; {repositories}"
    )
    yield Row(f"{group}, recall", calls["r"], f"{calls['tp_gold']:,} of {calls['n_gold']:,} calls")
    yield Row(f"{group}, imports F1", result["imports"]["f1"], f"{result['imports']['n_gold']:,} imports")
    yield Row(f"{group}, inheritance F1", result["inherit"]["f1"], f"{result['inherit']['n_gold']:,} bases")


def _suite_rows(scoring: ModuleType, scorer: ModuleType, gold: Path, root: Path, title: str, scratch: Path) -> Iterator[Row]:
    """All calls of a suite, those at module level included, as the scorer's table has them; beside them functions alone."""
    for decorators in (False, True) if title == "PyCG" else (False,):
        submission = scratch / f"{gold.name}.jsonl"
        scoring.write_suite(gold.name.removesuffix(".jsonl.gz"), root, gold, submission, decorators=decorators)
        result = scorer.score(str(gold), str(submission), 0, None)
        every, inside = result["calls_all"], result["calls"]
        name = f"{title} with decorators as calls" if decorators else title
        if every["p"] is not None:
            yield Row(f"{name}, precision", every["p"], f"inside functions alone {inside['p']:.3f}")
        note = f"{every['tp_gold']} of {every['n_gold']} calls; inside functions alone {inside['r']:.3f} ({inside['n_gold']})"
        yield Row(f"{name}, recall", every["r"], note)


# ---- complete


def ask(repository: Any, gold: Any, questions: int, name: str) -> Answers:
    """Asks for the callers of a sample of the gold's definitions and compares those answers that say `complete`."""
    from tokenzip.operations import OPERATIONS

    snapshot = repository.snapshot()
    callers = _callers(gold)
    answers = Answers()
    for definition, handle in _sample(snapshot, gold, questions):
        asked = {"handle": handle, "kinds": ["calls"], "max_tokens": 0, "detail": "signatures"}
        answer = OPERATIONS["get_dependants"].run(repository, asked)
        assert "error" not in answer, answer
        given = {source for item in answer["items"] for source in _sources(gold, item)}
        lacking = [each for each in callers.get(gold.canon(definition["i"]), ()) if not each[0] & given]
        answers.asked += 1
        answers.lacking += bool(lacking)
        if answer["complete"] is True:
            answers.complete += 1
            if lacking:
                answers.wrong.append(f"{name}: {handle} lacks {', '.join(place for _, place in lacking)}")
        elif not lacking:
            answers.timid[f"{name}: {definition['n']}"] += 1
    return answers


def _callers(gold: Any) -> dict[int, list[tuple[frozenset[Any], str]]]:
    """For each definition the callers that the gold requires: the names that each may go by, and where it calls."""
    found: dict[int, list[tuple[frozenset[Any], str]]] = {}
    for call in gold.calls:
        file = gold.defs[call["s"]]["f"] if call["s"] >= 0 else call["f"]
        if not gold.ok[file] or call.get("k", "call") not in ("call", "iface"):
            continue
        names = set(gold.accept(call["s"])) if call["s"] >= 0 else {("F", call["f"])}
        if "a" in call:  # in a decorator or default of that definition
            names |= {gold.grp(call["a"]), ("F", file)}
        if call["s"] >= 0 and gold.defs[call["s"]]["k"] not in ("function", "method", "constructor", "accessor", "objmethod"):
            names.add(("F", file))
        if gold.canon(call["d"]) not in names:  # who calls itself needs no telling
            found.setdefault(gold.canon(call["d"]), []).append((frozenset(names), f"{gold.paths[file]}:{call['l']}"))
    return found


def _sample(snapshot: Any, gold: Any, questions: int) -> list[tuple[dict[str, Any], str]]:
    """Gold definitions that are here too, with their handles, in an order that only the seed decides."""
    pairs = []
    for number, path in enumerate(gold.paths):
        file = snapshot.file(path)
        if not gold.ok[number] or file is None or not file.is_source:
            continue
        handles = {(symbol.line, symbol.name): symbol.handle for symbol in file.symbols}
        for definition in gold.byfile.get(number, ()):
            handle = handles.get((definition["l"], definition["n"]))
            if handle is not None and definition["k"] in KINDS:
                pairs.append((definition, handle))
    random.Random(SEED).shuffle(pairs)
    return pairs[:questions] if questions else pairs


def _sources(gold: Any, item: dict[str, Any]) -> Iterator[Any]:
    """What an item of an answer may stand for in the gold."""
    path = item["file"]
    if item["kind"] == "file":
        yield ("F", gold.files.get(path))
        return
    name = item["handle"].rpartition("::")[2].rpartition(".")[2].partition("#")[0]
    found = gold.find(path, item["line"], name) or gold.enclosing(path, item["line"])
    if found is None:  # a function without a name is the file's, there
        yield ("F", gold.files.get(path))
    else:
        yield from gold.accept(found["i"])
        if found["k"] in ("class", "interface"):
            yield ("F", gold.files.get(path))


def _answer_rows(answers: dict[str, Answers]) -> Iterator[Row]:
    total = Answers()
    for each in answers.values():
        total.add(each)
    if total.complete:
        note = f"{len(total.wrong)} of {total.complete:,} lack a caller"
        yield Row("answers that say complete and are", 1 - len(total.wrong) / total.complete, note)
        for language, each in answers.items():
            note = f"of {each.asked:,} questions; {each.lacking} answers lack a caller of the gold, {len(each.wrong)} unsaid"
            yield Row(f"answers that dare to say complete, {language}", each.complete / each.asked, note)


# ---- time


def timed(repository: Any) -> Counter[str]:
    """Seconds of processor time to parse (tree-sitter alone), extract and link all sources of a repository.

    As the workers of the index do it: without the collector of cycles, grammars loaded. Sources that extraction does not parse
    (a minified one may take longer to parse than all others together) are not parsed here either.
    """
    from tokenzip.languages import registry, syntax
    from tokenzip.link import Linker, MemoryView

    snapshot = repository.snapshot()
    sources = {file.path: snapshot.source(file.path) for file in snapshot.files() if file.language is not None}
    grammars = {
        path: registry.name_for_path(path) for path in sources if registry.is_source(registry.name_for_path(path) or "")
    }
    for grammar in set(grammars.values()):
        syntax.parse(grammar, b"")
    spent: Counter[str] = Counter()
    irs = {}
    gc.collect()
    gc.disable()
    begun = time.process_time()
    for path, source in sources.items():
        language = registry.for_path(path)
        assert language is not None
        irs[path] = language.extract(source)
    spent["extract"] += time.process_time() - begun
    begun = time.process_time()
    for path, grammar in grammars.items():
        if irs[path].status in ("parsed", "partial"):
            syntax.parse(grammar, sources[path])
    spent["parse"] += time.process_time() - begun
    linker = Linker(MemoryView(irs))
    begun = time.process_time()
    for path, ir in irs.items():
        linker.link(path, ir)
    spent["link"] += time.process_time() - begun
    gc.enable()
    return spent


def _time_rows(times: dict[str, Counter[str]]) -> Iterator[Row]:
    total: Counter[str] = Counter()
    for each in times.values():
        total.update(each)
    for name, spent in (("", total), *((f", {language}", each) for language, each in times.items())):
        if spent["parse"]:
            note = (
                f"parsing by tree-sitter alone; extraction with parsing takes {spent['extract'] / spent['parse']:.2f} of it, "
                f"linking {spent['link'] / spent['extract']:.2f} of extraction"
            )
            yield Row(f"link time / parse time{name}", spent["link"] / spent["parse"], note)


# ---- the table


def print_table(rows: list[Row], *, markdown: bool) -> None:
    """Each figure beside what it must and should be."""
    cells = [("", "measured", "must", "aim", "")]
    for row in rows:
        must, aim = TARGETS.get(row.what, (None, None))
        cells.append(
            (row.what, _figure(row.value), _figure(must), _figure(aim), f"{row.note}{'  MISSED' if _misses(row) else ''}")
        )
    if markdown:
        cells.insert(1, ("---",) * 5)
        for line in cells:
            print("| " + " | ".join(line) + " |")
        return
    widths = [max(len(line[column]) for line in cells) for column in range(5)]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _misses(row: Row) -> bool:
    must = TARGETS.get(row.what, (None, None))[0]
    if must is None or row.value is None:
        return False
    return row.value > must if "time" in row.what else row.value < must


if __name__ == "__main__":
    main()
