"""`tokenzip.history`: one symbol through edits, renames and moves; since when a dependency is there; what merges break."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from gitrepo import Repo

import tokenzip
from tokenzip.errors import GitError, UnknownSymbol, UsageError
from tokenzip.history import Since, conflicts, edge_log, symbol_log
from tokenzip.model import SymbolKey
from tokenzip.snapshot import Outline

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


def test_a_symbol_that_was_removed_and_came_back(repo: Repo) -> None:
    with_slug, without = f"def slug(text):\n{BODY}{OTHER}", OTHER
    repo.commit({"a.py": with_slug}, "add")
    repo.commit({"a.py": with_slug.replace("strip()", "lower()")}, "edit")
    repo.commit({"a.py": without + "\n# slug was here\n"}, "remove")
    repo.commit({"a.py": without}, "wait")
    repo.commit({"a.py": with_slug}, "again")
    repo.commit({"a.py": None}, "remove the file")
    repo.commit({"a.py": with_slug.replace("word in", "each in")}, "bring back the file")
    assert told(repo, "a.py::slug") == [
        "bring back the file: added a.py::slug",
        "remove the file: removed a.py::slug",
        "again: added a.py::slug",
        "remove: removed a.py::slug",
        "edit: body a.py::slug",
        "add: added a.py::slug",
    ]
    assert told(repo, "a.py")[:3] == ["bring back the file: added a.py", "remove the file: removed a.py", "add: added a.py"]


def test_what_had_the_name_before_and_went_elsewhere_is_another_symbol(repo: Repo) -> None:
    repo.commit({"a.py": f"def slug(text):\n{BODY}"}, "add")
    repo.commit({"a.py": f"def slugify(text):\n{BODY}"}, "rename")
    repo.commit({"a.py": f"def slugify(text):\n{BODY}\n\ndef slug(a):\n    return [each + 1 for each in a.all()]\n"}, "another")
    assert told(repo, "a.py::slug") == ["another: added a.py::slug"]


def test_a_member_goes_along_with_its_class(repo: Repo) -> None:
    owner = f"class C:\n    def slug(text):\n{BODY.replace('    ', '        ')}\n    def rest(self): ...\n"
    repo.commit({"a.py": owner + OTHER, "b.py": "B = 1\n"}, "add")
    repo.commit({"a.py": owner.replace("class C", "class D") + OTHER}, "rename the class")
    repo.commit({"a.py": OTHER, "b.py": owner.replace("class C", "class D")}, "move the class")
    assert told(repo, "b.py::D.slug") == [
        "move the class: moved b.py::D.slug",
        "rename the class: renamed a.py::D.slug",
        "add: added a.py::C.slug",
    ]


def test_overloads_that_come_later_do_not_hide_what_was_before(repo: Repo) -> None:
    overloads = "from typing import overload\n\n\n@overload\ndef slug(text: str): ...\n@overload\ndef slug(text: int): ...\n"
    repo.commit({"a.py": f"def slug(text):\n{BODY}"}, "add")
    repo.commit({"a.py": f"def slug(text):\n{BODY.replace('strip()', 'lower()')}"}, "edit")
    repo.commit({"a.py": f"{overloads}def slug(text):\n{BODY.replace('strip()', 'lower()')}"}, "overloads")
    assert told(repo, "a.py::slug") == ["overloads: added a.py::slug", "edit: body a.py::slug", "add: added a.py::slug"]
    assert told(repo, "a.py::slug#3")[-2:] == ["edit: body a.py::slug", "add: added a.py::slug"]


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


def test_both_sides_define_the_same_name(repo: Repo) -> None:
    base = {"lib.py": LIBRARY["lib.py"], "c.py": "class C:\n    def first(self):\n        return 1\n\n    Z = 2\n"}
    ours = {"lib.py": "def h(a):\n    return -a\n\n\n" + base["lib.py"], "c.py": base["c.py"] + "\n    def m(self): ...\n"}
    theirs = {
        "lib.py": base["lib.py"] + "\n\ndef h(a, b):\n    return a + b\n",
        "c.py": base["c.py"].replace("class C:\n", "class C:\n    def m(self):\n        return 0\n\n"),
    }
    assert merged_with(repo, base, ours, theirs) == [
        "both c.py:10 defines C.m duplicate after -",
        "both lib.py:13 defines h duplicate after -",
    ]


def test_one_side_renames_to_what_the_other_defines_in_the_renamed_file(repo: Repo) -> None:
    base = {"lib.py": LIBRARY["lib.py"] + OTHER}
    ours = {"lib.py": None, "library.py": base["lib.py"].replace("def g", "def h")}
    theirs = {"lib.py": base["lib.py"] + "\n\ndef h(x):\n    return x * x * x\n"}
    assert merged_with(repo, base, ours, theirs) == ["both library.py:14 defines h duplicate after -"]


def test_what_both_sides_define_alike_or_one_side_twice_is_no_conflict(repo: Repo) -> None:
    overloads = "\n\n@property\ndef h(a): ...\n\n\n@h.setter\ndef h(a, b): ...\n"
    ours = {"lib.py": LIBRARY["lib.py"] + overloads}
    theirs = {"lib.py": LIBRARY["lib.py"] + overloads, "use.py": "X = 1\n\n\ndef h(): ...\n"}
    assert merged_with(repo, LIBRARY, ours, theirs) == []


LONG = "def f(a):\n    total = 0\n    for one in range(9):\n        total += one\n    print(total)\n    return total\n"


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (("(a)", "(b)"), ("return total", "return total + a"), ["both lib.py:1 changes f both changed after signature"]),
        (("return total", "return total + a"), ("(a)", "(b)"), ["both lib.py:1 changes f both changed after signature"]),
        (("(a)", "(a, b=1)"), ("return total", "return total + a"), []),
        (("(a)", "(b)"), ("range(9)", "range(9)"), []),
        (("range(9)", "range(8)"), ("return total", "return total + a"), []),
    ],
)
def test_both_sides_change_the_same_and_one_of_them_incompatibly(
    repo: Repo, ours: tuple[str, str], theirs: tuple[str, str], expected: list[str]
) -> None:
    sides = [{"lib.py": LONG.replace(*edit), "use.py": f"X = {edit}\n"} for edit in (ours, theirs)]
    assert merged_with(repo, {"lib.py": LONG}, sides[0], {"lib.py": sides[1]["lib.py"]}) == expected


def test_a_file_renamed_and_not_committed_is_followed(storied: Repo) -> None:
    (storied.path / "c.py").rename(storied.path / "d.py")
    assert told(storied, "d.py::slugify", "WORKTREE")[:2] == ["-: renamed d.py::slugify", "limit: signature c.py::slugify"]


def test_a_merge_that_takes_a_branch_s_text_is_no_event(repo: Repo) -> None:
    """Its file differs from both parents, and the symbol from the first one only."""
    repo.commit({"a.py": f"def slug(text):\n{BODY}{OTHER}"}, "add")
    repo.switch("side", create=True)
    repo.commit({"a.py": f"def slug(text):\n{BODY.replace('strip()', 'lower()')}{OTHER}"}, "on the side")
    repo.switch("main")
    repo.commit({"a.py": f"def slug(text):\n{BODY}{OTHER.replace('yield', 'return')}"}, "on main")
    repo.merge("side")
    assert told(repo, "a.py::slug") == ["on the side: body a.py::slug", "add: added a.py::slug"]


def test_a_log_says_where_it_stopped(storied: Repo) -> None:
    snapshot = tokenzip.repo(str(storied.path)).snapshot("HEAD")
    log = symbol_log(snapshot, SymbolKey("c.py", "slugify"), most=2)
    assert [event.change.change for event in log] == ["signature", "docs"]
    assert (log.is_cut, log.has_begun, log.looked_at) == (True, False, 2)
    whole = symbol_log(snapshot, SymbolKey("c.py", "slugify"))
    assert len(list(whole)) == 7
    assert (whole.is_cut, whole.has_begun) == (False, True)


# Since when.

USER = "from lib import f\n\n\ndef g():\n    return f()\n"
NO_USER = "def g():\n    return 1\n"
LIB = "def f():\n    return [one for one in range(3) if one]\n"


def since(repo: Repo, source: str, target: str, *, rev: str = "HEAD", most: int = 1000) -> tuple[str, bool] | None:
    """Subject of the commit that is found, and whether the dependency appeared there."""
    project = tokenzip.repo(str(repo.path))
    search = Since(project.snapshot(rev), project.snapshot, most=most)
    found = search.find(SymbolKey(*source.split("::")), SymbolKey(*target.split("::")))
    assert search.is_cut == (found is None and most < 1000)
    return None if found is None else (found.commit.subject if found.commit else "-", found.appeared)


def test_a_dependency_that_came_with_a_merged_branch(repo: Repo) -> None:
    repo.commit({"lib.py": LIB, "use.py": NO_USER}, "start")
    repo.switch("side", create=True)
    repo.commit({"n.txt": "1"}, "side 1")
    repo.commit({"use.py": USER}, "side with")
    repo.commit({"n.txt": "2"}, "side 2")
    repo.switch("main")
    for number in range(4):
        repo.commit({"m.txt": str(number)}, f"main {number}")
    repo.merge("side")
    repo.commit({"m.txt": "9"}, "after")
    assert since(repo, "use.py::g", "lib.py::f") == ("side with", True)


def test_a_dependency_under_the_names_of_that_time(repo: Repo) -> None:
    repo.commit({"lib.py": LIB, "use.py": NO_USER}, "start")
    repo.commit({"use.py": USER}, "with")
    repo.commit({"n.txt": "1"}, "wait")
    repo.commit({"use.py": None, "user.py": USER}, "file renamed")
    repo.commit({"lib.py": LIB.replace("def f", "def first"), "user.py": USER.replace("f()", "first()")
                 .replace("import f", "import first").replace("def gfirst()", "def g()")}, "target renamed")  # fmt: skip
    assert since(repo, "user.py", "lib.py::first") == ("with", True)


def test_a_dependency_that_is_gone_or_not_committed_or_always_there(repo: Repo) -> None:
    repo.commit({"lib.py": LIB, "use.py": USER}, "start")
    repo.commit({"n.txt": "1"}, "wait")
    assert since(repo, "use.py::g", "lib.py::f") == ("start", True)
    assert since(repo, "lib.py", "use.py") is None
    assert since(repo, "use.py::g", "lib.py::f", most=1) is None
    repo.commit({"use.py": NO_USER}, "without")
    repo.commit({"lib.py": None}, "nothing left")
    assert since(repo, "use.py::g", "lib.py::f") == ("without", False)
    repo.write({"lib.py": LIB, "use.py": USER})
    assert since(repo, "use.py::g", "lib.py::f", rev="WORKTREE") == ("-", True)


def test_what_outlines_do_not_know_is_asked_of_whole_graphs(repo: Repo) -> None:
    """A fixture is found through what its file announces to all others."""
    fixture = "import pytest\n\n\n@pytest.fixture\ndef box():\n    return 1\n"
    test = "def test_it(box):\n    assert box\n"
    repo.commit({"tests/conftest.py": fixture, "tests/test_a.py": "def test_it():\n    pass\n"}, "start")
    repo.commit({"tests/test_a.py": test}, "with")
    repo.commit({"n.txt": "1"}, "wait")
    assert since(repo, "tests/test_a.py::test_it", "tests/conftest.py::box") == ("with", True)


def test_outlines_say_what_whole_graphs_say(storied: Repo) -> None:
    project = tokenzip.repo(str(storied.path))
    storied.commit(
        {"user.py": "from c import c, slugify\n\n\nclass A:\n    def m(self):\n        return slugify(c())\n"}, "use"
    )
    whole = project.snapshot("HEAD")
    outline = Outline(whole, whole.tree)
    assert list(outline.paths()) == list(whole.paths())
    for path in whole.paths():
        assert outline.file_edges(path) == whole.file_edges(path)
        assert outline.interface(path) == whole.interface(path)


# Merges in memory.


def contents(repo: Repo) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in repo.path.rglob("*") if path.is_file()}


def test_a_merge_in_memory_is_the_merge_that_git_makes(repo: Repo) -> None:
    """Renames, edits on both sides, additions, removals, modes; and the repository stays as it is."""
    text = "".join(f"line {number}\n" for number in range(20))
    repo.commit({"a.py": text, "b.py": LIB, "gone.py": "X = 1\n", "d/e.py": text.upper()}, "base")
    repo.switch("side", create=True)
    repo.commit({"a.py": text.replace("line 2\n", "line two\n"), "new.py": USER, "gone.py": None}, "theirs")
    (repo.path / "b.py").chmod(0o755)
    repo.commit({}, "mode")
    repo.switch("main")
    repo.commit({"a.py": None, "moved/a.py": text.replace("line 17\n", "line seventeen\n"), "d/f.py": LIB}, "ours")
    before = contents(repo)
    project = tokenzip.repo(str(repo.path))
    outcome = project.merge("main", "side")
    assert contents(repo) == before
    assert outcome.conflicts == ()
    merge = project.snapshot(repo.merge("side"))
    assert outcome.merged.digest() == merge.digest()
    assert [outcome.merged.source(path) for path in merge.paths()] == [merge.source(path) for path in merge.paths()]


def test_files_that_git_cannot_merge_hold_what_either_side_has(repo: Repo) -> None:
    repo.commit({"a.py": "A = 1\n", "b.py": "B = 1\n", "c.bin": b"\0\1"}, "base")
    repo.switch("side", create=True)
    repo.commit({"a.py": "A = 2\n", "b.py": None, "c.bin": b"\0\2", "n.py": "N = 1\n"}, "theirs")
    repo.switch("main")
    repo.commit({"a.py": "A = 3\n", "b.py": "B = 2\n", "c.bin": b"\0\3", "n.py": "M = 1\n"}, "ours")
    outcome = tokenzip.repo(str(repo.path)).merge("main", "side")
    kinds = {conflict.path: conflict.kind for conflict in outcome.conflicts}
    assert kinds.keys() == {"a.py", "b.py", "c.bin", "n.py"}
    assert (kinds["a.py"], kinds["b.py"]) == ("contents", "modify/delete")
    assert outcome.merged.source("a.py") == b"A = 3\nA = 2\n"
    assert outcome.merged.source("b.py") == b"B = 2\n"
    assert outcome.merged.source("n.py") == b"M = 1\nN = 1\n"


def test_merge_drivers_and_filters_of_the_user_do_not_run(repo: Repo) -> None:
    trap = repo.path / "ran"
    repo.git("config", "merge.own.driver", f"touch {trap}")
    repo.git("config", "filter.own.clean", f"touch {trap}; cat")
    repo.git("config", "merge.renormalize", "true")
    text = "".join(f"line {number}\n" for number in range(20))
    repo.write({".gitattributes": "*.txt merge=own filter=own\nlist.cfg merge=union\n"})
    repo.commit({"a.txt": text, "list.cfg": "1\n"}, "base")
    repo.switch("side", create=True)
    repo.commit({"a.txt": text.replace("line 1\n", "line one\n"), "list.cfg": "1\n2\n"}, "theirs")
    repo.switch("main")
    repo.commit({"a.txt": text.replace("line 18\n", "line eighteen\n"), "list.cfg": "1\n3\n"}, "ours")
    trap.unlink(missing_ok=True)
    outcome = tokenzip.repo(str(repo.path)).merge("main", "side")
    assert not trap.exists()
    assert outcome.conflicts == ()
    assert outcome.merged.source("a.txt").decode() == text.replace("e 1\n", "e one\n").replace("line 18\n", "line eighteen\n")
    assert outcome.merged.source("list.cfg") == b"1\n3\n2\n"


def test_merges_that_cannot_be(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit({"a.py": "A = 1\n"}, "base")
    repo.switch("side", create=True)
    repo.commit({"b.py": "B = 1\n"}, "side")
    repo.switch("main")
    repo.commit({"c.py": "C = 1\n"}, "main")
    project = tokenzip.repo(str(repo.path))
    with pytest.raises(UsageError, match="WORKTREE is no commit"):
        project.merge("WORKTREE", "side")
    shallow = repo.clone(tmp_path / "shallow", "--depth=1", "--no-single-branch")
    with pytest.raises(GitError, match="no common commit") as caught:
        tokenzip.repo(str(shallow.path)).merge("main", "origin/side")
    assert "--unshallow" in caught.value.hint
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text('#!/bin/sh\ncase "$*" in *merge-tree*) exit 129;; esac\nexec "$REAL_GIT" "$@"\n')
    old.chmod(0o755)
    monkeypatch.setenv("REAL_GIT", shutil.which("git") or "")
    monkeypatch.setenv("PATH", str(old.parent), prepend=os.pathsep)
    with pytest.raises(GitError, match=r"git 2\.38 or later"):
        project.merge("main", "side")


def test_a_merge_in_a_bare_repository_and_one_of_sha256(make_repo: Callable[..., Repo], tmp_path: Path) -> None:
    repo = make_repo("long", "--object-format=sha256")
    repo.commit(LIBRARY, "base")
    repo.switch("side", create=True)
    repo.commit({"new.py": "from lib import g\n\n\ndef n():\n    return g(1)\n"}, "theirs")
    repo.switch("main")
    repo.commit({"lib.py": LIBRARY["lib.py"].replace("def g", "def h")}, "ours")
    for path in (repo.path, repo.clone(tmp_path / "bare.git", "--bare").path):
        merge = tokenzip.repo(str(path)).merge("main", "side")
        assert len(conflicts(merge.base, merge.ours, merge.theirs, merge.merged)) == 2
