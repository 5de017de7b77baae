"""`tokenzip.history`: one symbol through edits, renames and moves; since when a dependency is there."""

from __future__ import annotations

import pytest
from gitrepo import Repo

import tokenzip
from tokenzip.errors import UnknownSymbol
from tokenzip.history import conflicts, edge_log, symbol_log
from tokenzip.model import SymbolKey

BODY = "    words = [word.strip() for word in text.split()]\n    return '-'.join(word for word in words if word)\n"
OTHER = "\n\ndef other(a, b):\n    for one in a:\n        yield one, b[one]\n"


@pytest.fixture
def storied(repo: Repo) -> Repo:
    """slug: added, edited, renamed, shifted, its file renamed, moved, documented, its signature changed."""
    repo.commit({"a.py": f"def slug(text):\n{BODY}{OTHER}", "c.py": "def c():\n    return 'c'\n"}, "add")
    edited = BODY.replace("strip()", "strip('-')")
    repo.commit({"a.py": f"def slug(text):\n{edited}{OTHER}"}, "edit")
    repo.commit({"c.py": "def c():\n    return 'd'\n"}, "elsewhere")
    repo.commit({"a.py": f"def slugify(text):\n{edited}{OTHER}"}, "rename")
    repo.commit({"a.py": f"X = 1\n\n\ndef slugify(text):\n{edited}{OTHER}"}, "shift")
    repo.commit({"a.py": None, "b.py": f"X = 1\n\n\ndef slugify(text):\n{edited}{OTHER}"}, "rename the file")
    repo.commit({"b.py": f"X = 1\n{OTHER}", "c.py": f"def c():\n    return 'd'\n\n\ndef slugify(text):\n{edited}"}, "move")
    documented = f'def slugify(text):\n    """For addresses."""\n{edited}'
    repo.commit({"c.py": f"def c():\n    return 'd'\n\n\n{documented}"}, "document")
    repo.commit({"c.py": f"def c():\n    return 'd'\n\n\n{documented.replace('(text)', '(text, limit=9)')}"}, "limit")
    return repo


def told(repo: Repo, handle: str, rev: str = "HEAD") -> list[str]:
    snapshot = tokenzip.repo(str(repo.path)).snapshot(rev)
    return [
        f"{event.commit.subject if event.commit else '-'}: {'+'.join(event.change.aspects)} {event.key.handle}"
        for event in symbol_log(snapshot, SymbolKey(*handle.split("::")))
    ]


def test_a_symbol_through_edits_renames_and_moves(storied: Repo) -> None:
    assert told(storied, "c.py::slugify") == [
        "limit: signature c.py::slugify",
        "document: docs c.py::slugify",
        "move: moved c.py::slugify",
        "rename the file: renamed b.py::slugify",
        "rename: renamed a.py::slugify",
        "edit: body a.py::slug",
        "add: added a.py::slug",
    ]


def test_a_log_from_an_older_commit_and_of_a_file(storied: Repo) -> None:
    assert told(storied, "a.py::slugify", "HEAD~5") == [
        "rename: renamed a.py::slugify",
        "edit: body a.py::slug",
        "add: added a.py::slug",
    ]
    assert told(storied, "b.py")[-1] == "add: added a.py"


def test_uncommitted_work_comes_first(storied: Repo) -> None:
    text = (storied.path / "c.py").read_text()
    storied.write({"c.py": text.replace("if word)", "if word != '')")})
    assert told(storied, "c.py::slugify", "WORKTREE")[:2] == ["-: body c.py::slugify", "limit: signature c.py::slugify"]


def test_a_merge_is_no_event_of_its_own(repo: Repo) -> None:
    repo.commit({"a.py": f"def slug(text):\n{BODY}", "b.py": "B = 1\n"}, "add")
    repo.switch("side", create=True)
    repo.commit({"a.py": f"def slug(text):\n{BODY.replace('strip()', 'lower()')}"}, "on the side")
    repo.switch("main")
    repo.commit({"b.py": "B = 2\n"}, "on main")
    repo.merge("side")
    assert told(repo, "a.py::slug") == ["on the side: body a.py::slug", "add: added a.py::slug"]


def test_what_is_not_there(storied: Repo) -> None:
    with pytest.raises(UnknownSymbol):
        told(storied, "c.py::gone")


def test_since_when_a_dependency_is_there(repo: Repo) -> None:
    use = "from lib import f\n\n\ndef g():\n    return f()\n"
    repo.commit({"lib.py": "def f():\n    pass\n", "use.py": "def g():\n    return 1\n"}, "without")
    for number in range(6):
        repo.commit({"n.txt": str(number)}, f"wait {number}")
    repo.commit({"use.py": use}, "with")
    for number in range(6, 15):
        repo.commit({"n.txt": str(number)}, f"wait {number}")
    project = tokenzip.repo(str(repo.path))
    commits = list(project.git.log("HEAD", first_parent=True))
    asked: list[str] = []

    def snapshot_of(commit: object) -> object:
        asked.append(commit.id)  # type: ignore[attr-defined]
        return project.snapshot(commit.id)  # type: ignore[attr-defined]

    found = edge_log(commits, snapshot_of, SymbolKey("use.py"), SymbolKey("lib.py", "f"))  # type: ignore[arg-type]
    assert found is not None
    assert (found.commit.subject, found.appeared, len(asked)) == ("with", True, len(set(asked)))
    assert [(edge.kind, edge.line) for edge in found.edges] == [("imports", 1), ("calls", 5)]
    assert edge_log(commits, snapshot_of, SymbolKey("lib.py"), SymbolKey("use.py")) is None  # type: ignore[arg-type]


def merged_with(repo: Repo, base: dict[str, str], ours: dict[str, str], theirs: dict[str, str]) -> list[str]:
    """What `conflicts` says of two changes that git merges without a word."""
    start = repo.commit(base)
    repo.switch("side", create=True)
    theirs_id = repo.commit(theirs)
    repo.switch("main")
    ours_id = repo.commit(ours)
    merge = repo.merge("side")
    project = tokenzip.repo(str(repo.path))
    found = conflicts(*(project.snapshot(commit) for commit in (start, ours_id, theirs_id, merge)))
    return [
        f"{row.user} {row.broken.file}:{row.broken.line} {row.broken.kind} {row.broken.target.qualified} {row.broken.why}"
        f" after {row.cause.change if row.cause else '-'}"
        for row in found
    ]


LIBRARY = {"lib.py": "def f(a):\n    return a\n\n\ndef g(a):\n    return [a]\n", "use.py": "X = 1\n"}


def test_one_side_renames_what_the_other_newly_uses(repo: Repo) -> None:
    ours = {"lib.py": LIBRARY["lib.py"].replace("def g", "def h")}
    theirs = {"new.py": "from lib import g\n\n\ndef n():\n    return g(1)\n"}
    assert merged_with(repo, LIBRARY, ours, theirs) == [
        "theirs new.py:1 imports g renamed after renamed",
        "theirs new.py:5 calls g renamed after renamed",
    ]


def test_one_side_changes_incompatibly_what_the_other_newly_uses(repo: Repo) -> None:
    ours = {"lib.py": LIBRARY["lib.py"].replace("def f(a)", "def f(a, b)")}
    theirs = {"new.py": "from lib import f\n\n\ndef n():\n    return f(1)\n"}
    assert merged_with(repo, LIBRARY, ours, theirs) == ["theirs new.py:5 calls f incompatible after signature"]


def test_what_a_side_breaks_by_itself_is_no_conflict(repo: Repo) -> None:
    base = LIBRARY | {"use.py": "from lib import g\n\n\ndef u():\n    return g(1)\n"}
    assert merged_with(repo, base, {"lib.py": LIBRARY["lib.py"].replace("def g", "def h")}, {"new.py": "Y = 1\n"}) == []
