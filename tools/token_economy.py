"""Questions with exact answers, asked as an agent asks them over MCP, and the price of their answers: see tools/token_economy.

Each kind of question goes to the tool whose description fits it, with the arguments that the description names. A cut answer is
followed to its end, and every byte of every answer counts. The figures are those of the questions' own `evaluate.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Question = dict[str, Any]
Item = dict[str, Any]

LANGUAGES = frozenset({"python", "typescript"})
MOST_PAGES = 50


def main() -> int:
    arguments = _arguments()
    folder = arguments.shared / "tokens"
    os.environ.setdefault("TOKENZIP_HOME", tempfile.mkdtemp())
    run = Path(os.environ.get("RUN") or Path(tempfile.mkdtemp()) / "run.jsonl")
    questions = run.parent / "questions"
    questions.mkdir(exist_ok=True)
    for old in questions.iterdir():
        old.unlink()
    with run.open("w", encoding="utf-8") as out:
        for path in sorted((folder / "questions").glob("*.jsonl")):
            meta, *asked = map(json.loads, path.read_text(encoding="utf-8").splitlines())
            clone = arguments.clones / meta["repo"]
            is_wanted = meta["repo"] in arguments.names if arguments.names else meta["lang"] in LANGUAGES
            if is_wanted and clone.is_dir():
                (questions / path.name).symlink_to(path.resolve())
                for answer in answers(clone, meta["commit"], asked, arguments.show):
                    out.write(json.dumps(answer) + "\n")
    report(folder, questions, run, arguments.misses)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path)
    parser.add_argument("clones", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--misses", type=int, default=0, help="print so many wrong and missing items of each answer")
    parser.add_argument("--show", help="print the answers to questions whose id contains this")
    return parser.parse_args()


# From a question to a call: the tool and its arguments. Then from the answer to what is asked for.


def _handle(question: Question) -> str:
    target = question["target"]
    return target["file"] if target["kind"] == "file" else f"{target['file']}::{target['q']}"


CALLS: dict[str, Callable[[Question], tuple[str, dict[str, Any]]]] = {
    "callers": lambda question: ("get_dependants", {"handle": _handle(question), "kinds": ["calls"]}),
    "callees": lambda question: ("get_dependencies", {"handle": _handle(question), "kinds": ["calls"]}),
    "defs": lambda question: ("search_symbols", {"query": question["target"]["name"]}),
    "subclasses": lambda question: (
        "get_dependants",
        {"handle": _handle(question), "kinds": ["inherits", "implements"]},
    ),
    "importers": lambda question: ("get_dependants", {"handle": _handle(question), "kinds": ["imports"]}),
    "impact": lambda question: ("get_impact_analysis", {"handles": [_handle(question)], "depth": 2}),
    "tests": lambda question: ("get_impact_analysis", {"handles": [_handle(question)], "depth": 2, "tests": True}),
}


def _is_meant(question: Question, item: Item) -> bool:
    """Whether a reader of the answer takes the item for what was asked for."""
    if question["kind"] == "tests":
        return "test" in item["file"].lower()
    return True


def answers(clone: Path, commit: str, questions: list[Question], shown: str | None) -> Iterator[dict[str, Any]]:
    """The text of every answer and the items in it, question by question."""
    import tokenzip
    from tokenzip.budget import lay_out
    from tokenzip.operations import OPERATIONS

    repository = tokenzip.repo(str(clone))
    is_there = repository.git.resolve("HEAD")[0] == commit
    for question in questions:
        tool, arguments = CALLS[question["kind"]](question)
        if not is_there:
            arguments["at"] = commit
        texts: list[str] = []
        items: list[Item] = []
        cursor = None
        while len(texts) < MOST_PAGES and (cursor or not texts):
            answer = OPERATIONS[tool].run(repository, {**arguments, **({"cursor": cursor} if cursor else {})})
            texts.append(lay_out(answer))
            items += [place(item) for item in answer.get("items", ())]
            cursor = (answer.get("truncated") or {}).get("cursor")
        if shown and shown in question["id"]:
            print(f"--- {question['id']} {tool} {json.dumps(arguments)}", *texts, sep="\n")
        meant = [item for item in items if _is_meant(question, item)]
        yield {"id": question["id"], "texts": texts, "calls": len(texts), "items": meant}


def place(item: Item) -> Item:
    """File, line and name of what an item speaks of; the handle holds what is not said apart."""
    path, _, qualified = item["handle"].partition("::")
    return {"file": item.get("file", path), "line": item.get("line", 0), "name": item.get("name", qualified.rpartition(".")[2])}


def report(folder: Path, questions: Path, run: Path, misses: int) -> None:
    """The tables of the questions' own evaluation, by kind, by repository, by number of answers."""
    command = [sys.executable, str(folder / "evaluate.py"), str(questions), str(run), "--base", str(folder / "baseline")]
    for by, most in (("repo", 0), ("size", 0), ("kind", misses)):
        subprocess.run([*command, "--by", by, "--miss", str(most)], check=True)
        print()


if __name__ == "__main__":
    sys.exit(main())
