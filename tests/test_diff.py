"""`tokenzip.diff`: the labelled edit scripts, the laws, and who is left behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from edit_scripts import all_cases, labels, ruff, snapshots
from gitrepo import Repo, hermetic_environment

import tokenzip
from tokenzip.diff import broken_references, diff
from tokenzip.languages.shape import Shape
from tokenzip.model import BrokenReference, Change, SymbolKey

CASES = {case.name: case for case in all_cases()}


@dataclass
class Project:
    """A repository of its own, and what tokenzip makes of its commits."""

    repo: Repo

    def diff(self, base: str, head: str) -> tuple[Change, ...]:
        project = tokenzip.repo(str(self.repo.path))
        return diff(project.snapshot(base), project.snapshot(head))

    def broken(self, base: str, head: str) -> tuple[BrokenReference, ...]:
        project = tokenzip.repo(str(self.repo.path))
        return broken_references(project.snapshot(base), project.snapshot(head))

    def change(self, before: dict[str, str], after: dict[str, str | None]) -> tuple[str, str]:
        """Two commits, one on the other."""
        return self.repo.commit(before), self.repo.commit(after)


@pytest.fixture
def project(repo: Repo) -> Project:
    return Project(repo)


@dataclass(frozen=True)
class Found:
    """What diff says about an edit script, both ways round."""

    there: tuple[Change, ...]
    back: tuple[Change, ...]
    nothing: tuple[Change, ...]


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Found]]:
    """What diff finds for all edit scripts, made in one repository."""
    folder = tmp_path_factory.mktemp("scripts")
    with pytest.MonkeyPatch.context() as patch:
        environment = hermetic_environment(folder) | {"TOKENZIP_HOME": str(folder / "cache")}
        for name, value in environment.items():
            patch.setenv(name, value)
        repo = Repo.create(folder / "repo", environment)
        yield {
            case.name: Found(diff(base, head), diff(head, base), diff(head, head))
            for case, base, head in snapshots(repo, CASES.values())
        }


@pytest.mark.parametrize("name", CASES)
def test_edit_script(scripted: dict[str, Found], name: str, request: pytest.FixtureRequest) -> None:
    if CASES[name].gap:
        request.applymarker(pytest.mark.xfail(reason=CASES[name].gap, strict=True))
    assert sorted(map(str, labels(scripted[name].there))) == sorted(map(str, CASES[name].truth))


def test_there_are_enough_scripts_in_each_language() -> None:
    languages = [case.language for case in CASES.values()]
    assert len(languages) >= 60
    assert min(languages.count(language) for language in ("python", "typescript", "javascript")) >= 15


# ---- laws

_MIRROR = {"added": "removed", "removed": "added"}


@pytest.mark.parametrize("name", CASES)
def test_diff_is_its_own_mirror(scripted: dict[str, Found], name: str) -> None:
    found = scripted[name]
    mirrored = {
        (_MIRROR.get(change.change, change.change), change.also, change.old_key or change.key, change.key)
        for change in found.there
    }
    assert {(change.change, change.also, change.key, change.old_key or change.key) for change in found.back} == mirrored
    assert found.nothing == ()


# ---- attributes and properties

_PLAIN = "class Box:\n    def __init__(self):\n        self.size = 3\n"
_GETTER = (
    "class Box:\n    def __init__(self):\n        self._size = 3\n\n"
    "    @property\n    def size(self):\n        return self._size\n"
)
_SETTER = "\n    @size.setter\n    def size(self, size):\n        self._size = size\n"
_USERS = (
    "from box import Box\n\n\ndef read(box: Box):\n    return box.size\n\n\n"
    "def write(box: Box):\n    box.size = 4\n"
)  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "breaking", "broken"),
    [
        (_PLAIN, _GETTER + _SETTER, False, []),
        (_GETTER + _SETTER, _PLAIN, False, []),
        (_PLAIN, _GETTER, True, ["modifies"]),
    ],
    ids=["attribute to property", "property to attribute", "attribute to property without a setter"],
)
def test_an_attribute_that_is_made_otherwise_is_read_as_before(
    repo: Repo, before: str, after: str, breaking: bool, broken: list[str]
) -> None:
    project = tokenzip.repo(str(repo.path))
    ends = [project.snapshot(repo.commit({"box.py": text, "use.py": _USERS})) for text in (before, after)]
    change = next(change for change in diff(*ends) if change.key.qualified == "Box.size")
    assert change.breaking == breaking, change
    assert [row.kind for row in broken_references(*ends)] == broken


# ---- layout


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("python", "a * (b + c)", "a * b + c"),
        ("python", "(a,)", "(a)"),
        ("python", "f()", "f"),
        ("python", "'a'", "b'a'"),
        ("python", "if a:\n    b()\nc()\n", "if a:\n    b()\n    c()\n"),
        ("python", "a < b < c", "(a < b) < c"),
        ("python", "1", "1.0"),
        ("python", "x = 'a\\'b'", "x = 'a b'"),
        ("tsx", "for (; a; b) {}", "for (a; ; b) {}"),
        ("tsx", "x = a && (b || c)", "x = (a && b) || c"),
        ("tsx", "x = `a b`", "x = `a  b`"),
        ("tsx", "x = [,]", "x = [1]"),
        ("tsx", "x = 010", "x = 10"),
    ],
)
def test_what_means_something_else_has_another_shape(language: str, one: str, other: str) -> None:
    assert shape(language, one) != shape(language, other)


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("python", "x = U'it\\'s'", 'x = "it\'s"'),
        ("python", "x = 0XAB + 1E5", "x = 0xAB + 1e5"),
        ("python", "x = ('a'\n 'b')", 'x = "ab"'),
        ("python", "def f(a,): return (a)", "def f(\n    a,\n):\n    return a\n"),
        ("python", "a = 1; b = 2", "a = 1\nb = 2\n"),
        ("python", "assert x, \\\n    y", "assert x, y"),
        ("tsx", "const f = x => ({ 'a': .50 })", "const f = (x) => ({ a: 0.5 });"),
        ("tsx", "type A = | B | C", "type A = B | C;"),
        ("tsx", "x = <a b='c'>d{' '}<e/></a>", 'x = (\n  <a b="c">\n    d <e />\n  </a>\n);'),
    ],
)
def test_what_a_formatter_changes_has_one_shape(language: str, one: str, other: str) -> None:
    assert shape(language, one) == shape(language, other)


def shape(language: str, text: str) -> tuple[str, ...]:
    source = text.encode()
    return Shape(language, source).tokens(0, len(source))


@pytest.mark.parametrize("module", ["argparse", "dataclasses", "typing", "tarfile", "http.client", "difflib"])
def test_formatting_the_standard_library_changes_nothing(project: Project, module: str) -> None:
    source = Path(__import__(module, fromlist=["_"]).__file__ or "").read_text(encoding="utf-8")
    formatted = ruff(source, ["--line-length", "70", "--config", "format.quote-style='double'"])
    assert formatted != source
    assert project.diff(*project.change({"m.py": source}, {"m.py": formatted})) == ()


# ---- broken references

LIBRARY = "def f(a):\n    return a\n\n\ndef g(a, b=1):\n    return a, b\n\n\nclass C:\n    def m(self):\n        return 1\n"
USER = (
    "from lib import C, f, g\n\n\ndef one():\n    return f(1)\n\n\ndef two():\n    return g(1)\n\n\n"
    "def three(c: C):\n    return c.m()\n"
)


def said(broken: tuple[BrokenReference, ...]) -> list[str]:
    return [f"{row.file}:{row.line} {row.kind} {row.target.qualified or row.target.path} {row.why}" for row in broken]


def test_uses_of_a_removed_function(project: Project) -> None:
    base, head = project.change({"lib.py": LIBRARY, "user.py": USER}, {"lib.py": LIBRARY.partition("\n\n\n")[2]})
    assert said(project.broken(base, head)) == ["user.py:1 imports f removed", "user.py:5 calls f removed"]


def test_uses_of_a_renamed_function_name_where_it_went(project: Project) -> None:
    base, head = project.change({"lib.py": LIBRARY, "user.py": USER}, {"lib.py": LIBRARY.replace("def g(", "def h(")})
    broken = project.broken(base, head)
    assert said(broken) == ["user.py:1 imports g renamed", "user.py:9 calls g renamed"]
    assert {row.now for row in broken} == {SymbolKey("lib.py", "h")}


def test_uses_of_a_removed_method(project: Project) -> None:
    base, head = project.change({"lib.py": LIBRARY, "user.py": USER}, {"lib.py": LIBRARY.replace("def m(", "def n(")})
    assert said(project.broken(base, head)) == ["user.py:13 calls C.m renamed"]


def test_imports_of_a_moved_file(project: Project) -> None:
    base, head = project.change({"lib.py": LIBRARY, "user.py": USER}, {"lib.py": None, "base/lib.py": LIBRARY})
    whys = {(row.file, row.why) for row in project.broken(base, head)}
    assert whys == {("user.py", "moved")}


def test_a_dropped_reexport(project: Project) -> None:
    before = {"p/__init__.py": "from p.a import f\n", "p/a.py": "def f():\n    pass\n", "user.py": "from p import f\n\nf()\n"}
    base, head = project.change(before, {"p/__init__.py": ""})
    assert said(project.broken(base, head)) == ["user.py:1 imports f unresolved", "user.py:3 calls f unresolved"]


def test_users_of_an_incompatible_signature_that_did_not_change(project: Project) -> None:
    base, head = project.change(
        {"lib.py": LIBRARY, "user.py": USER, "other.py": "from lib import g\n\n\ndef x():\n    return g(1)\n"},
        {"lib.py": LIBRARY.replace("b=1", "b"), "other.py": "from lib import g\n\n\ndef x():\n    return g(1, 2)\n"},
    )
    assert said(project.broken(base, head)) == ["user.py:9 calls g incompatible"]


def test_what_was_adapted_is_not_broken(project: Project) -> None:
    base, head = project.change(
        {"lib.py": LIBRARY, "user.py": USER},
        {"lib.py": LIBRARY.replace("def f(", "def ff("), "user.py": USER.replace("f,", "ff,").replace("f(1)", "ff(1)", 1)},
    )
    assert project.broken(base, head) == ()


def test_typescript_imports_of_a_removed_export(project: Project) -> None:
    base, head = project.change(
        {
            "a.ts": "export function f() {}\nexport const c = 1;\n",
            "b.ts": 'import { f, c } from "./a";\nexport function g() {\n  return f() ?? c;\n}\n',
        },
        {"a.ts": "export const c = 1;\n"},
    )
    assert said(project.broken(base, head)) == ["b.ts:1 imports f removed", "b.ts:3 calls f removed"]


# ---- the state of files


def test_a_syntax_error_removes_nothing(project: Project) -> None:
    base, head = project.change({"lib.py": LIBRARY}, {"lib.py": "x" * 5 + "\0" + LIBRARY})
    changes = project.diff(base, head)
    assert [(change.kind, change.change) for change in changes] == [("file", "body")]
    assert "skipped at the head" in changes[0].reasons[0]


def test_files_of_no_language(project: Project) -> None:
    base, head = project.change(
        {"a.txt": "one\n" * 9, "b.bin": "x", "e": ""}, {"a.txt": None, "c/a.txt": "one\n" * 9, "b.bin": "y"}
    )
    found = [(change.change, change.handle, change.old_handle) for change in project.diff(base, head)]
    assert found == [("body", "b.bin", None), ("moved", "c/a.txt", "a.txt")]


def test_a_package_that_is_renamed_takes_its_empty_files_along(project: Project) -> None:
    before = {"a/__init__.py": "", "a/lib.py": LIBRARY}
    base, head = project.change(before, {"a/__init__.py": None, "a/lib.py": None, "b/__init__.py": "", "b/lib.py": LIBRARY})
    found = [(change.change, change.handle, change.old_handle) for change in project.diff(base, head)]
    assert found == [("moved", "b/__init__.py", "a/__init__.py"), ("moved", "b/lib.py", "a/lib.py")]


def test_uncommitted_files(project: Project) -> None:
    project.repo.commit({"lib.py": LIBRARY})
    project.repo.write({"lib.py": LIBRARY.replace("return 1", "return 2"), "new.py": "def n():\n    pass\n"})
    found = [(change.change, change.handle) for change in project.diff("HEAD", "WORKTREE")]
    assert found == [("body", "lib.py::C.m"), ("added", "new.py"), ("added", "new.py::n")]
