"""`tokenzip.impact`: who is reached, how far, by which way, and how sure that is."""

from __future__ import annotations

import pytest
from gitrepo import Repo

import tokenzip
from tokenzip.diff import diff
from tokenzip.impact import Impact, impact, reach_counts
from tokenzip.model import SymbolKey
from tokenzip.snapshot import Outline, Snapshot

FILES = {
    "shapes.py": (
        "class Shape:\n"
        "    def __init__(self, side):\n"
        "        self.side = side\n\n"
        "    def area(self):\n"
        "        return self.side\n\n"
        "    def show(self):\n"
        "        return str(self.area())\n\n\n"
        "class Square(Shape):\n"
        "    def area(self):\n"
        "        return self.side * self.side\n\n\n"
        "UNIT = Square(1)\n"
    ),
    "use.py": (
        "from shapes import Shape, Square\n\n\n"
        "def total(shape: Shape):\n"
        "    return shape.area()\n\n\n"
        "def make():\n"
        "    return Square(2)\n\n\n"
        "def outer():\n"
        "    def inner():\n"
        "        return total(make())\n\n"
        "    return inner\n\n\n"
        "def open_end(thing):\n"
        "    return thing.area()\n"
    ),
    "run.py": "from use import outer\n\nprint(outer())\n",
    "only.py": "from use import make\n",
    "test_use.py": "from use import total\n\n\ndef test_total():\n    assert total(None) == 1\n",
    "web/package.json": '{"name": "web"}\n',
    "web/a.ts": "export interface Named {\n  name(): string;\n}\n",
    "web/b.ts": (
        'import type { Named } from "./a";\n\n'
        'export class Cat implements Named {\n  name() {\n    return "cat";\n  }\n}\n\n'
        "export function greet(who: Named) {\n  return who.name();\n}\n"
    ),
}


@pytest.fixture
def snapshot(repo: Repo) -> Snapshot:
    repo.commit(FILES)
    return tokenzip.repo(str(repo.path)).snapshot("HEAD")


def of(snapshot: Snapshot, *handles: str, depth: int | None = None) -> Impact:
    return impact(snapshot, [SymbolKey(*handle.split("::")) for handle in handles], depth)


def said(found: Impact) -> list[str]:
    return [f"{item.distance} {item.via} {item.handle}{' test' if item.test else ''}" for item in found.reached]


def test_callers_by_distance_with_tests_behind(snapshot: Snapshot) -> None:
    assert said(of(snapshot, "use.py::total")) == [
        "1 calls use.py::outer",
        "1 calls test_use.py::test_total test",
        "2 calls run.py",
    ]


def test_the_path_leads_back_to_the_root_and_names_the_local_function(snapshot: Snapshot) -> None:
    reached = {item.handle: item for item in of(snapshot, "use.py::total").reached}
    assert [(edge.source.handle, edge.line, edge.target.handle) for edge in reached["run.py"].path] == [
        ("run.py", 3, "use.py::outer"),
        ("use.py::outer.inner", 14, "use.py::total"),
    ]


def test_a_method_reaches_what_overrides_it_and_its_callers(snapshot: Snapshot) -> None:
    found = said(of(snapshot, "shapes.py::Shape.area", depth=1))
    assert found == ["1 calls shapes.py::Shape.show", "1 overrides shapes.py::Square.area", "1 calls use.py::total"]


def test_an_overriding_method_reaches_callers_of_what_it_overrides(snapshot: Snapshot) -> None:
    found = said(of(snapshot, "shapes.py::Square.area", depth=1))
    assert found == ["1 dispatch shapes.py::Shape.show", "1 dispatch use.py::total"]


def test_a_class_stands_for_its_members(snapshot: Snapshot) -> None:
    found = {item.handle for item in of(snapshot, "shapes.py::Shape", depth=1).reached}
    assert {"use.py::total", "shapes.py::Square", "shapes.py::Square.area"} <= found


def test_a_constructor_stands_for_calls_of_its_class(snapshot: Snapshot) -> None:
    assert "use.py::make" in {item.handle for item in of(snapshot, "shapes.py::Square").reached}


def test_a_file_that_only_imports_is_listed_as_such(snapshot: Snapshot) -> None:
    found = said(of(snapshot, "use.py::make", depth=1))
    assert found == ["1 imports only.py", "1 calls use.py::outer"]


def test_a_file_reaches_its_importers(snapshot: Snapshot) -> None:
    found = {item.handle for item in of(snapshot, "use.py", depth=1).reached}
    assert found == {"only.py", "run.py", "test_use.py::test_total"}


def test_interfaces_across_modules(snapshot: Snapshot) -> None:
    found = of(snapshot, "web/a.ts::Named.name")
    assert said(found) == ["1 implements web/b.ts::Cat.name", "1 calls web/b.ts::greet"]
    assert found.modules == ("web",)
    assert found.files == ("web/b.ts",)


def test_completeness(snapshot: Snapshot) -> None:
    open_ended = of(snapshot, "shapes.py::Shape.area")
    assert open_ended.unresolved == 1
    assert not open_ended.complete
    cut = of(snapshot, "use.py::total", depth=1)
    assert cut.cut
    assert not cut.complete
    assert of(snapshot, "use.py::total").complete


def test_counts_are_those_of_impact(repo: Repo, snapshot: Snapshot) -> None:
    after = {"shapes.py": FILES["shapes.py"].replace("self.side * self.side", "self.side**2").replace("str(", "repr(")}
    repo.commit(after | {"use.py": FILES["use.py"].replace("Square(2)", "Square(3)")})
    head = tokenzip.repo(str(repo.path)).snapshot("HEAD")
    changes = diff(snapshot, head)
    assert len(changes) == 3
    for depth in (1, 2, None):
        assert reach_counts(head, changes, depth) == tuple(len(impact(head, [change], depth).reached) for change in changes)


def test_documentation_reaches_nobody(repo: Repo, snapshot: Snapshot) -> None:
    repo.commit({"use.py": FILES["use.py"].replace("def make():\n", 'def make():\n    """A square."""\n')})
    head = tokenzip.repo(str(repo.path)).snapshot("HEAD")
    changes = diff(snapshot, head)
    assert [change.change for change in changes] == ["docs"]
    assert impact(head, changes).reached == ()


def test_what_is_not_there_is_passed_over(snapshot: Snapshot) -> None:
    assert of(snapshot, "use.py::gone", "nowhere.py").reached == ()


@pytest.mark.parametrize("rev", ["HEAD", "WORKTREE", "outline"])
def test_many_looked_up_at_once_are_what_they_are_one_by_one(repo: Repo, rev: str) -> None:
    commit = repo.commit(FILES)
    repo.write({"use.py": FILES["use.py"] + "\n\ndef more(thing):\n    return thing.show() + total(thing)\n"})
    project = tokenzip.repo(str(repo.path))
    snapshot = project.snapshot("HEAD" if rev == "outline" else rev)
    if rev == "outline":
        snapshot = Outline(snapshot, project.git.resolve(commit)[1])
    keys = [symbol.key for file in snapshot.files() for symbol in file.symbols] + [SymbolKey(path) for path in snapshot.paths()]
    assert any(snapshot.edges_to(key) for key in keys)
    assert project.snapshot(snapshot.at.rev).edges_to_each(keys) == {key: snapshot.edges_to(key) for key in keys}
    names = ("area", "show", "nothing")
    one_by_one = {use for name in names for use in snapshot.open_uses(name)}
    assert set(project.snapshot(snapshot.at.rev).open_uses(*names)) == one_by_one
