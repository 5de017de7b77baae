"""The labelled set for `tokenzip.diff`: edit scripts over small projects, with what they truly change.

``diff_cases/<language>/base`` is a project, ``diff_cases/<language>/cases.toml`` lists edit scripts for it. Truth is one line a
change: ``aspects kind handle effect``, aspects joined by ``+`` with the weightiest first, ``<- old handle`` where it differs.
Members of an added or removed class go with it and are not listed.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitrepo import Repo, hermetic_environment

import tokenzip
from tokenzip.diff import diff
from tokenzip.model import CHANGES, Change
from tokenzip.snapshot import Snapshot

CASES = Path(__file__).parent / "diff_cases"
Files = Mapping[str, str]


@dataclass(frozen=True)
class Label:
    """One true change."""

    aspects: frozenset[str]
    kind: str
    handle: str
    old_handle: str | None
    effect: str

    @classmethod
    def parse(cls, line: str) -> Label:
        found = re.fullmatch(r"(\S+) (\S+) (.+?)(?: <- (.+))? (breaking|compatible|internal)", line)
        assert found, f"not a label: {line}"
        aspects, kind, handle, old_handle, effect = found.groups()
        assert set(aspects.split("+")) <= set(CHANGES), line
        return cls(frozenset(aspects.split("+")), kind, handle, old_handle, effect)

    @classmethod
    def of(cls, change: Change) -> Label:
        return cls(frozenset(change.aspects), change.kind, change.handle, change.old_handle, change.effect)

    def __str__(self) -> str:
        aspects = "+".join(name for name in CHANGES if name in self.aspects)
        old = f" <- {self.old_handle}" if self.old_handle else ""
        return f"{aspects} {self.kind} {self.handle}{old} {self.effect}"


@dataclass(frozen=True)
class Case:
    """One edit script with its truth."""

    language: str
    title: str
    edits: tuple[Mapping[str, Any], ...]
    truth: frozenset[Label]
    gap: str = ""
    """Why this is known not to be found yet."""

    @property
    def name(self) -> str:
        return f"{self.language}: {self.title}"

    def base(self) -> dict[str, str]:
        return read_files(CASES / self.language / "base")

    def head(self) -> dict[str, str]:
        files = self.base()
        for edit in self.edits:
            files = apply(files, edit, CASES / self.language)
        return files


def all_cases() -> list[Case]:
    return [case for folder in sorted(CASES.iterdir()) for case in _cases_of(folder)]


def _cases_of(folder: Path) -> Iterator[Case]:
    for row in tomllib.loads((folder / "cases.toml").read_text(encoding="utf-8"))["case"]:
        truth = frozenset(Label.parse(line) for line in row["change"])
        yield Case(folder.name, row["title"], tuple(row["edit"]), truth, row.get("gap", ""))


def read_files(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}


def apply(files: Files, edit: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """The files after one edit: see `cases.toml` for the forms."""
    after = dict(files)
    match edit:
        case {"in": path, "old": old, "new": new}:
            assert old in after[path], f"{path} does not hold {old!r}"
            after[path] = after[path].replace(old, new)
        case {"everywhere": old, "new": new}:
            pattern = re.compile(rf"(?<![\w$]){re.escape(old)}(?![\w$])")
            assert any(pattern.search(text) for text in after.values()), old
            after = {path: pattern.sub(new, text) for path, text in after.items()}
        case {"append": path, "text": text}:
            after[path] = after.get(path, "") + text
        case {"prepend": path, "text": text}:
            after[path] = text + after.get(path, "")
        case {"write": path, "text": text}:
            after[path] = text
        case {"cut": path, "from": first, "to": last, **rest}:
            piece, after[path] = cut(after[path], first, last)
            if "paste" in rest:
                after[rest["paste"]] = (
                    after.get(rest["paste"], "").rstrip("\n") + rest.get("gap", "\n\n\n") + piece.strip("\n") + "\n"
                )
        case {"move": path, "as": new}:
            after[new] = after.pop(path)
        case {"delete": path}:
            del after[path]
        case {"ruff": options}:
            after = {path: ruff(text, options) if path.endswith(".py") else text for path, text in after.items()}
        case {"overlay": name}:
            after |= read_files(folder / name)
        case {"crlf": True}:
            after = {path: text.replace("\n", "\r\n") for path, text in after.items()}
        case _:
            raise AssertionError(f"no such edit: {edit}")
    return after


def cut(text: str, first: str, last: str) -> tuple[str, str]:
    """The piece that begins where `first` does and ends where `last` does, and the text without it."""
    start = text.index(first)
    end = text.index(last, start) + len(last)
    return text[start:end], text[:start].rstrip("\n") + "\n\n\n" + text[end:].lstrip("\n")


def ruff(text: str, options: Iterable[str]) -> str:
    command = [str(Path(sys.executable).with_name("ruff")), "format", "--isolated", "--quiet", *options, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8", check=True).stdout


@dataclass
class Score:
    """Found, missing and wrong changes, by class."""

    right: Counter[str]
    missing: Counter[str]
    wrong: Counter[str]

    @classmethod
    def empty(cls) -> Score:
        return cls(Counter(), Counter(), Counter())

    def add(self, truth: Iterable[Label], found: Iterable[Label]) -> None:
        """Compare by (aspect, old name, name); the effect counts as a class of its own."""
        wanted, got = set(_facts(truth)), set(_facts(found))
        for counter, facts in ((self.right, wanted & got), (self.missing, wanted - got), (self.wrong, got - wanted)):
            counter.update(fact[0] for fact in facts)

    def rows(self) -> Iterator[tuple[str, int, float, float]]:
        """(class, true changes, precision, recall), `all` without the effects last."""
        for name in (*CHANGES, "effect"):
            yield self._row(name, (name,))
        yield self._row("all", CHANGES)

    def _row(self, name: str, classes: Iterable[str]) -> tuple[str, int, float, float]:
        right, missing, wrong = (sum(counter[c] for c in classes) for counter in (self.right, self.missing, self.wrong))
        return name, right + missing, right / (right + wrong or 1), right / (right + missing or 1)


def _facts(labels: Iterable[Label]) -> Iterator[tuple[str, str, str | None]]:
    for label in labels:
        yield from ((aspect, label.handle, label.old_handle) for aspect in label.aspects)
        yield "effect", f"{label.effect} {label.handle}", None


def labels(changes: Iterable[Change]) -> frozenset[Label]:
    """The changes as labels, without those that go with their container."""
    return frozenset(Label.of(change) for change in changes if change.within is None)


def snapshots(repo: Repo, cases: Iterable[Case]) -> Iterator[tuple[Case, Snapshot, Snapshot]]:
    """Base and head of each case, as commits of one repository."""
    project = tokenzip.repo(str(repo.path))
    for language, group in itertools.groupby(cases, key=lambda case: case.language):
        cases_of_language = list(group)
        base = project.snapshot(_commit(repo, cases_of_language[0].base(), language))
        for case in cases_of_language:
            yield case, base, project.snapshot(_commit(repo, case.head(), case.name))


def _commit(repo: Repo, files: Files, message: str) -> str:
    """A commit that holds exactly these files."""
    present = repo.git("ls-files", "-z").split("\0")
    return repo.commit({name: None for name in present if name and name not in files} | dict(files), message)


def main(words: list[str]) -> int:
    """Print the score, and what differs from the truth."""
    cases = [case for case in all_cases() if not words or any(word in case.name for word in words)]
    score, wrong, unknown = Score.empty(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        environment = hermetic_environment(Path(folder)) | {"TOKENZIP_HOME": f"{folder}/cache"}
        os.environ.update(environment)
        for case, base, head in snapshots(Repo.create(Path(folder) / "repo", environment), cases):
            found = labels(diff(base, head))
            score.add(case.truth, found)
            wrong += found != case.truth
            unknown += found != case.truth and not case.gap
            if found != case.truth:
                print(case.name + (f" (known: {case.gap})" if case.gap else ""))
                print(*(f"  missing  {label}" for label in sorted(map(str, case.truth - found))), sep="\n")
                print(*(f"  wrong    {label}" for label in sorted(map(str, found - case.truth))), sep="\n")
    print(f"{len(cases)} edit scripts, {len(cases) - wrong} exactly right")
    print(f"{'class':10} {'true':>5} {'precision':>10} {'recall':>7}")
    for name, count, precision, recall in score.rows():
        print(f"{name:10} {count:5} {precision:10.3f} {recall:7.3f}")
    return int(unknown > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
