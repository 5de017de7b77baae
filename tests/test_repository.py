"""`Repository` and its snapshots over real git: uncommitted work, shared stores, gc, and every shape of a repository."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from gitrepo import Repo

import tokenzip
from tokenzip.errors import AmbiguousSymbol, Cancelled, GitError, NotARepository, UnknownRevision, UnknownSymbol
from tokenzip.model import SymbolKey
from tokenzip.repository import Repository
from tokenzip.snapshot import changed_paths
from tokenzip.store import ReadTransaction

MakeRepo = Callable[..., Repo]
FILES = {
    "pkg/__init__.py": "from pkg.core import run\n",
    "pkg/core.py": "def run():\n    return helper()\n\n\ndef helper():\n    return 1\n",
    "app.py": "import pkg\n\n\ndef main():\n    pkg.run()\n",
    "notes.txt": "no language\n",
}


def opened(repo: Repo) -> Repository:
    return tokenzip.repo(str(repo.path))


def callers(repository: Repository, handle: str, rev: str | None = None) -> list[str]:
    snapshot = repository.snapshot(rev)
    return [edge.source.handle for edge in snapshot.edges_to(snapshot.resolve_handle(handle)) if edge.kind == "calls"]


def parsed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every source that this process extracts from now on."""
    from tokenzip import index

    seen: list[bytes] = []
    real = index._extract
    monkeypatch.setattr(index, "_extract", lambda source, language: (seen.append(source), real(source, language))[1])
    return seen


# Uncommitted work.


def test_the_work_tree_is_the_default_and_equals_its_own_commit(repo: Repo):
    repo.commit(FILES)
    repo.write(
        {
            "app.py": FILES["app.py"] + "\n\ndef other():\n    main()\n",
            "new.py": "from app import other\nother()\n",
            "notes.txt": None,
        }
    )
    repository = opened(repo)
    dirty = repository.snapshot()
    assert dirty.at.rev == "WORKTREE"
    assert dirty.at.dirty
    assert callers(repository, "app.py::other") == ["new.py"]
    before = dirty.digest()
    repo.commit()
    assert opened(repo).snapshot("HEAD").digest() == before
    clean = opened(repo).snapshot()
    assert not clean.at.dirty
    assert clean.digest() == before


def test_the_index_is_what_would_be_committed(repo: Repo):
    repo.commit(FILES)
    repo.write({"staged.py": "from app import main\nmain()\n"})
    repo.git("add", "staged.py")
    repo.write({"staged.py": "", "unstaged.py": "from app import main\nmain()\n"})
    repository = opened(repo)
    assert callers(repository, "app.py::main", "INDEX") == ["staged.py"]
    assert callers(repository, "app.py::main", "WORKTREE") == ["unstaged.py"]
    assert callers(repository, "app.py::main", "HEAD") == []


def test_a_change_heals_and_breaks_edges_of_files_that_did_not_change(repo: Repo):
    first = repo.commit({"a.py": "from b import late\n\n\ndef use():\n    late()\n", "b.py": ""})
    second = repo.commit({"b.py": "def late():\n    pass\n"})
    third = repo.commit({"b.py": None, "b/__init__.py": "def late():\n    pass\n"})
    repository = opened(repo)
    assert callers(repository, "b.py::late", second) == ["a.py::use"]
    assert [edge.target.path for edge in repository.snapshot(third).edges_from(SymbolKey("a.py", "use"))] == ["b/__init__.py"]
    assert repository.snapshot(first).edges_from(SymbolKey("a.py", "use")) == ()
    assert changed_paths(repository.snapshot(first), repository.snapshot(third)) == ("b.py", "b/__init__.py")


def test_an_edit_in_the_work_tree_reaches_files_that_did_not_change(repo: Repo):
    repo.commit({"a.py": "from b import gone\n\n\ndef use():\n    gone()\n", "b.py": "def gone():\n    pass\n"})
    repository = opened(repo)
    assert callers(repository, "b.py::gone") == ["a.py::use"]
    repo.write({"b.py": "def other():\n    pass\n"})
    snapshot = repository.snapshot()
    assert snapshot.edges_from(SymbolKey("a.py", "use")) == ()
    assert [row.name for row in snapshot.unresolved_in("a.py") if row.reason == "missing"] == ["gone", "gone"]
    repo.git("checkout", "b.py")
    assert callers(repository, "b.py::gone") == ["a.py::use"]


def test_files_before_the_first_commit_are_there(repo: Repo):
    repo.write(FILES)
    snapshot = opened(repo).snapshot()
    assert snapshot.at.commit is None
    assert callers(opened(repo), "pkg/core.py::run") == ["app.py::main"]
    with pytest.raises(UnknownRevision):
        opened(repo).snapshot("HEAD")


def test_an_empty_repository_has_an_empty_graph(repo: Repo):
    snapshot = opened(repo).snapshot()
    assert list(snapshot.paths()) == []
    assert len(snapshot.modules().all()) == 1
    repo.commit({}, "nothing")
    assert list(opened(repo).snapshot("HEAD").paths()) == []


# What a query costs.


def test_a_known_blob_is_never_parsed_again(repo: Repo, monkeypatch: pytest.MonkeyPatch):
    repo.commit(FILES)
    opened(repo).snapshot("HEAD")
    repo.commit({"pkg/deep/copy.py": FILES["pkg/core.py"]})
    repo.commit({"pkg/deep/copy.py": None})
    seen = parsed(monkeypatch)
    snapshot = opened(repo).snapshot("HEAD")
    assert callers(opened(repo), "pkg/core.py::run", "HEAD") == ["app.py::main"]
    assert seen == []
    assert snapshot.digest() == opened(repo).snapshot("HEAD~2").digest()


def test_a_changed_commit_parses_only_what_changed_and_what_consulted_it(repo: Repo, monkeypatch: pytest.MonkeyPatch):
    files = {f"m{number}.py": f"def f{number}():\n    pass\n" for number in range(30)}
    repo.commit(files | {"user.py": "from m1 import f1\nf1()\n"})
    opened(repo).snapshot("HEAD")
    repo.commit({"m1.py": "def f1(x):\n    return x\n"})
    seen = parsed(monkeypatch)
    opened(repo).snapshot("HEAD")
    assert sorted(set(seen)) == [b"def f1(x):\n    return x\n", b"from m1 import f1\nf1()\n"]


def test_a_linked_worktree_and_a_clone_share_the_store_and_see_themselves(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    repo.commit(FILES)
    opened(repo).snapshot("HEAD")
    inside = repo.worktree(repo.path / "trees" / "one", "-b", "side")
    clone = repo.clone(tmp_path / "clone")
    seen = parsed(monkeypatch)
    for other in (inside, clone):
        assert opened(other).store.folder == opened(repo).store.folder
        assert callers(opened(other), "pkg/core.py::run") == ["app.py::main"]
    assert seen == []
    inside.commit({"app.py": "def main():\n    pass\n"})
    assert callers(opened(inside), "pkg/core.py::run") == []
    assert callers(tokenzip.repo(str(repo.path / "pkg")), "pkg/core.py::run") == ["app.py::main"]


# The store's life.


def test_gc_keeps_what_any_clone_reaches_and_drops_the_rest(repo: Repo, tmp_path: Path):
    repo.commit(FILES)
    clone = repo.clone(tmp_path / "clone")
    clone.commit({"only.py": "def here():\n    pass\n"})
    repo.switch("side", create=True)
    gone = repo.commit({"gone.py": "def gone():\n    pass\n"})
    repo.switch("main")
    for rev in ("HEAD", gone):
        opened(repo).snapshot(rev)
    digest = opened(clone).snapshot("HEAD").digest()
    repo.git("branch", "-D", "side")
    repo.git("reflog", "expire", "--expire=now", "--all")
    kept = opened(repo).gc()
    assert kept.snapshots == 2
    assert opened(repo).is_indexed("HEAD")
    assert not opened(repo).is_indexed(gone)
    assert opened(clone).is_indexed("HEAD")
    assert opened(clone).snapshot("HEAD").digest() == digest
    assert opened(repo).snapshot(gone).digest() == opened(repo).index(gone, full=True).digest()


def test_snapshots_taken_before_a_gc_answer_after_it(repo: Repo):
    repo.commit(FILES)
    repository = opened(repo)
    snapshot = repository.snapshot("HEAD")
    digest = snapshot.digest()
    opened(repo).gc()
    assert snapshot.digest() == digest
    repo.commit({"x.py": "import app\napp.main()\n"})
    assert callers(repository, "app.py::main", "HEAD") == ["x.py"]


def test_a_deleted_store_is_made_anew(repo: Repo):
    repo.commit(FILES)
    repository = opened(repo)
    digest = repository.snapshot().digest()
    shutil.rmtree(os.environ["TOKENZIP_HOME"])
    assert repository.snapshot().digest() == digest


def test_another_version_of_the_analysis_shares_the_folder_and_no_record(repo: Repo, monkeypatch: pytest.MonkeyPatch):
    from tokenzip import index
    from tokenzip.languages import registry

    repo.commit(FILES)
    old = opened(repo).snapshot("HEAD").digest()
    index.language_tag.cache_clear()
    index.analysis_tag.cache_clear()
    monkeypatch.setitem(registry.VERSIONS, "python", registry.VERSIONS["python"] + 1)
    seen = parsed(monkeypatch)
    try:
        assert not opened(repo).is_indexed("HEAD")
        assert opened(repo).snapshot("HEAD").digest() == old
    finally:
        index.language_tag.cache_clear()
        index.analysis_tag.cache_clear()
    assert seen == []  # a whole tree is read by workers


# Shapes.


def test_a_bare_repository_answers_for_its_commits(repo: Repo, tmp_path: Path):
    repo.commit(FILES)
    bare = repo.clone(tmp_path / "bare.git", "--bare")
    assert opened(bare).revision == "HEAD"
    assert callers(opened(bare), "run") == ["app.py::main"]
    for rev in ("WORKTREE", "INDEX"):
        with pytest.raises(NotARepository, match="bare"):
            opened(bare).snapshot(rev)


def test_a_shallow_clone_answers_and_has_no_merge_base_to_invent(repo: Repo, tmp_path: Path):
    repo.commit(FILES)
    repo.commit({"a.py": "1\n"})
    repo.switch("side", create=True)
    repo.commit({"b.py": "1\n"})
    shallow = repo.clone(tmp_path / "shallow", "--depth=1", "--no-single-branch")
    assert callers(opened(shallow), "run") == ["app.py::main"]
    with pytest.raises(GitError, match="shallow"):
        opened(shallow).merge_base("origin/main", "origin/side")


def test_a_partial_clone_says_what_is_absent(repo: Repo, tmp_path: Path):
    repo.commit(FILES)
    repo.commit({"app.py": "def main():\n    pass\n"})
    repo.git("config", "uploadpack.allowFilter", "true")
    partial = repo.clone(tmp_path / "partial", "--filter=blob:none")
    assert opened(partial).snapshot("HEAD").file("app.py").status == "parsed"
    old = opened(partial).snapshot("HEAD~1")
    assert (old.file("app.py").status, old.file("pkg/core.py").status) == ("skipped", "parsed")
    assert "partial clone" in old.file("app.py").reason


def test_links_submodules_and_foreign_files_are_nodes_with_a_reason(make_repo: MakeRepo, tmp_path: Path):
    inner = make_repo("inner")
    inner.commit({"in.py": "def inside():\n    pass\n"})
    repo = make_repo("outer")
    repo.write(FILES)
    os.symlink("pkg", repo.path / "link")
    os.symlink("app.py", repo.path / "again.py")
    repo.submodule(inner, "vendor/inner")
    repo.commit()
    snapshot = opened(repo.clone(tmp_path / "clone")).snapshot()
    reasons = {file.path: file.reason for file in snapshot.files() if file.status == "skipped"}
    assert reasons["link"] == reasons["again.py"] == "symbolic link"
    assert reasons["vendor/inner"] == "submodule"
    assert "language" in reasons["notes.txt"]
    assert len(snapshot.named("main")) == 1


def test_directories_deeper_than_the_stack(repo: Repo):
    deep = "d/" * 900 + "deep.py"
    entry = repo.run("git", "hash-object", "-w", "--stdin", stdin="def deepest():\n    pass\n").stdout.strip()
    repo.git("update-index", "--add", "--cacheinfo", f"100644,{entry},{deep}")
    repo.git("commit", "--quiet", "-m", "deep")
    (symbol,) = opened(repo).snapshot("HEAD").named("deepest")
    assert symbol.path == deep


def test_odd_paths_and_two_that_differ_in_case(repo: Repo):
    odd = 'sp ace/qu"ote\\back\udcff\ttab.py'
    repo.commit({odd: "def odd():\n    pass\n", "A.py": "def upper():\n    pass\n", "a.py": "def lower():\n    pass\n"})
    snapshot = opened(repo).snapshot()
    assert snapshot.named("odd")[0].path == odd
    assert snapshot.resolve_handle("A.py::upper").path == "A.py"
    assert snapshot.resolve_handle("a.py::lower").path == "a.py"


def test_a_conflicted_file_is_read_as_it_lies_there(repo: Repo):
    repo.commit({"f.py": "def one():\n    pass\n"})
    repo.switch("side", create=True)
    repo.commit({"f.py": "def two():\n    pass\n"})
    repo.switch("main")
    repo.commit({"f.py": "def three():\n    pass\n"})
    repo.merge("side", check=False)
    snapshot = opened(repo).snapshot()
    assert {symbol.name for symbol in snapshot.file("f.py").symbols} >= {"two", "three"}
    assert snapshot.file("f.py").status == "partial"


# Handles.


def test_handles_short_and_long(repo: Repo):
    repo.commit(
        {
            "lib/shop.py": "class Cart:\n    def add(self):\n        pass\n",
            "lib/zoo.py": "class Cage:\n    def add(self):\n        pass\n",
            "deep/shop.py": "class Cart:\n    pass\n",
        }
    )
    snapshot = opened(repo).snapshot()
    add = SymbolKey("lib/shop.py", "Cart.add")
    for text in ("lib/shop.py::Cart.add", "Cart.add", "lib/shop.py::add", "shop.py::Cart.add"):
        assert snapshot.resolve_handle(text) == add
    assert snapshot.resolve_handle("zoo.py") == SymbolKey("lib/zoo.py")
    with pytest.raises(AmbiguousSymbol) as several:
        snapshot.resolve_handle("add")
    assert several.value.candidates == ("lib/shop.py::Cart.add", "lib/zoo.py::Cage.add")
    with pytest.raises(AmbiguousSymbol) as files:
        snapshot.resolve_handle("shop.py::Cart")
    assert files.value.candidates == ("deep/shop.py::Cart", "lib/shop.py::Cart")
    with pytest.raises(UnknownSymbol) as typing_error:
        snapshot.resolve_handle("Catr")
    assert "lib/shop.py::Cart" in typing_error.value.candidates


def fresh_digest(repo: Repo, monkeypatch: pytest.MonkeyPatch, home: Path, rev: str = "HEAD") -> str:
    """What a store that nobody disturbed says."""
    with monkeypatch.context() as patched:
        patched.setenv("TOKENZIP_HOME", str(home))
        return opened(repo).snapshot(rev).digest()


def test_a_gc_waits_for_who_fills_the_store(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It moves records to other places, which the one who fills the store has noted already."""
    repo.commit(FILES)
    opened(repo).snapshot("HEAD")
    repo.commit({f"pkg/more{number}.py": f"from pkg import run\nx{number} = run()\n" for number in range(30)})
    repository, other = opened(repo), opened(repo)
    collecting = threading.Thread(target=other.gc)

    def collect_once(stage: str, done: int, total: int) -> None:
        if collecting.ident is None:
            collecting.start()

    repository.progress = collect_once
    assert repository.index("HEAD", full=True).digest() == fresh_digest(repo, monkeypatch, tmp_path / "fresh")
    collecting.join()
    assert repository.snapshot("HEAD").digest() == fresh_digest(repo, monkeypatch, tmp_path / "fresh")


def test_bringing_in_a_few_changes_tells_how_far_it_is(repo: Repo):
    repo.commit(FILES)
    opened(repo).snapshot("HEAD")
    repo.commit({"pkg/core.py": "def run():\n    return 2\n", "new.py": "import pkg\n"})
    told: list[tuple[str, int, int]] = []
    repository = opened(repo)
    repository.progress = lambda *stage: told.append(stage)
    repository.snapshot("HEAD")
    assert list(dict.fromkeys(stage for stage, _, _ in told)) == ["comparing", "reading", "linking", "writing"]
    assert [each for each in told if each[0] == "reading"] == [("reading", 0, 2), ("reading", 1, 2)]
    told.clear()
    repo.write({"app.py": "import new\n"})
    repository.snapshot()
    assert {(stage, total) for stage, _, total in told} == {("uncommitted", 0)}, "nothing of it will be in the store"


@pytest.mark.parametrize("stage", ["comparing", "reading", "linking", "writing"])
def test_a_few_changes_that_are_cancelled_leave_nothing_behind(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
):
    repo.commit(FILES)
    opened(repo).snapshot("HEAD")
    repo.commit({"pkg/core.py": "def run():\n    return 2\n"})

    def cancel(now: str, done: int, total: int) -> None:
        if now == stage:
            raise Cancelled("enough")

    repository = opened(repo)
    repository.progress = cancel
    with pytest.raises(Cancelled):
        repository.snapshot("HEAD")
    assert not repository.is_indexed("HEAD")
    assert opened(repo).snapshot("HEAD").digest() == fresh_digest(repo, monkeypatch, tmp_path / "fresh")


@pytest.mark.parametrize("stage", ["reading", "linking"])
def test_a_store_that_is_removed_while_it_is_filled_is_filled_again(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
):
    repo.commit(FILES)
    repository = opened(repo)
    removed: list[str] = []

    def remove_once(now: str, done: int, total: int) -> None:
        if now == stage and not removed:
            removed.append(now)
            shutil.rmtree(repository.store.folder)

    repository.progress = remove_once
    assert repository.snapshot("HEAD").digest() == fresh_digest(repo, monkeypatch, tmp_path / "fresh")
    assert removed


def test_a_graph_that_a_gc_drops_in_the_middle_of_a_question_is_made_again(repo: Repo, monkeypatch: pytest.MonkeyPatch):
    from tokenzip import snapshot
    from tokenzip.operations import OPERATIONS

    lost = repo.commit(FILES)
    repo.git("checkout", "--quiet", "--orphan", "other")
    repo.commit({"other.py": "x = 1\n"})
    repo.git("branch", "--quiet", "-D", "main")
    shutil.rmtree(repo.path / ".git" / "logs")
    repository = opened(repo)
    real = snapshot.Snapshot.reading
    collected: list[int] = []

    def reading(self: snapshot.Snapshot) -> contextlib.AbstractContextManager[ReadTransaction]:
        if not collected:
            collected.append(opened(repo).gc().snapshots)
        return real(self)

    monkeypatch.setattr(snapshot.Snapshot, "reading", reading)
    answer = OPERATIONS["get_dependants"].run(repository, {"handle": "pkg/core.py::helper", "at": lost})
    assert collected == [0]
    assert [item["handle"] for item in answer["items"]] == ["pkg/core.py::run"]
    assert answer["complete"] is True


def test_a_full_index_tries_a_file_again_that_killed_its_worker(repo: Repo, monkeypatch: pytest.MonkeyPatch):
    from tokenzip.snapshot import bulk

    repo.commit(FILES)
    with monkeypatch.context() as crashing:
        crashing.setattr(bulk.Workers, "map", lambda self, work, tasks, on_crash: map(on_crash, tasks))
        file = opened(repo).snapshot("HEAD").file("app.py")
        assert file is not None
        assert (file.status, file.reason) == ("failed", "the parser crashed on this file")
    assert opened(repo).index("HEAD", full=True).file("app.py").status == "parsed"  # type: ignore[union-attr]
    assert callers(opened(repo), "pkg/core.py::run") == ["app.py::main"]


def test_what_a_partial_clone_does_not_hold_is_unknown_there_and_nowhere_else(repo: Repo, tmp_path: Path):
    """All clones share a store: that one lacks a blob is no property of the blob."""
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.commit(FILES)
    repo.commit({"app.py": FILES["app.py"] + "\n\ndef other():\n    main()\n"})
    digest = opened(repo).snapshot("HEAD").digest()
    before = opened(repo).snapshot("HEAD~1").digest()
    shutil.rmtree(os.environ["TOKENZIP_HOME"])
    partial = repo.clone(tmp_path / "partial", "--filter=blob:none", "--no-checkout")
    for rev in ("HEAD~1", "HEAD"):
        snapshot = opened(partial).snapshot(rev)
        assert {file.reason for file in snapshot.files() if file.is_source} == {"absent: this is a partial clone"}
    assert opened(partial).is_indexed("HEAD")
    assert not opened(repo).is_indexed("HEAD")
    assert opened(repo).snapshot("HEAD").digest() == digest
    assert callers(opened(partial), "app.py::main", "HEAD") == ["app.py::other"]
    assert not opened(repo).is_indexed("HEAD~1")
    opened(repo).gc()
    assert opened(repo).snapshot("HEAD~1").digest() == before


def test_a_partial_clone_that_fetched_looks_again(repo: Repo, tmp_path: Path):
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.commit(FILES)
    partial = repo.clone(tmp_path / "partial", "--filter=blob:none", "--no-checkout")
    opened(partial).snapshot("HEAD")
    partial.git("-c", "protocol.file.allow=always", "checkout", "--quiet")
    assert callers(opened(partial), "pkg/core.py::run") == ["app.py::main"]
    assert opened(partial).snapshot("HEAD").digest() == opened(repo).index("HEAD", full=True).digest()


def test_a_source_that_was_not_read_leaves_answers_open_where_it_holds_the_name(repo: Repo, monkeypatch: pytest.MonkeyPatch):
    from tokenzip.operations import OPERATIONS
    from tokenzip.snapshot import bulk

    def complete(tool: str, **arguments: object) -> object:
        return OPERATIONS[tool].run(opened(repo), arguments)["complete"]

    def asked(name: str) -> object:
        return complete("get_dependants", handle=f"pkg/core.py::{name}")

    repo.commit(FILES)
    assert asked("helper") is True
    repo.write({"binary.py": b"\x00\n\nimport pkg\n\npkg.core.helper()\n"})
    for _ in ("not committed", "committed"):
        assert asked("run") is True
        told = asked("helper")
        assert isinstance(told, dict)
        assert (told["unresolved"], told["places"]) == (1, ["binary.py:5"])
        assert isinstance(complete("get_impact_analysis", handles=["pkg/core.py::helper"]), dict)
        repo.commit()
    monkeypatch.setattr(bulk, "link_batch", bulk._crashed_links)
    with monkeypatch.context() as crashing:
        real = bulk.Workers.map
        crashing.setattr(
            bulk.Workers,
            "map",
            lambda self, work, tasks, on_crash: (
                map(work, tasks) if work is bulk.link_batch else real(self, work, tasks, on_crash)
            ),
        )
        opened(repo).index("HEAD", full=True)
    told = asked("run")
    assert isinstance(told, dict)
    assert told["places"] == ["app.py:5", "pkg/__init__.py:1", "pkg/core.py:1"]


def test_references_without_an_edge_that_are_wanted_are_those_among_all(repo: Repo):
    repo.commit(
        {
            "a.py": "import gone\nfrom gone import lost\n\n\ndef f(x):\n    x.run()\n    x.stop()\n    gone.run()\n\n\n"
            "@lost\nclass A:\n    def run(self, y):\n        y.run()\n        [lost(z) for z in y]\n",
            "b.ts": "import { lost } from 'gone'\nexport function f(x: any) { x.run(); lost(x.stop()) }\n"
            "export class A { run(y) { y.run() } }\n",
        }
    )
    for path in ("a.py", "b.ts"):
        everything = opened(repo).snapshot().unresolved_in(path)
        assert len(everything) >= 4
        for name in {row.name for row in everything}:
            found = opened(repo).snapshot().unresolved_in(path, lambda _, referred: referred == name)  # noqa: B023
            assert found == tuple(row for row in everything if row.name == name)
        for qualified in {row.source.qualified for row in everything}:
            found = opened(repo).snapshot().unresolved_in(path, lambda source, _: source == qualified)  # noqa: B023
            assert found == tuple(row for row in everything if row.source.qualified == qualified)


def test_a_file_that_comes_to_mean_the_same_for_other_reasons_is_found_when_these_change(repo: Repo, tmp_path: Path):
    """`use.py` is linked again in vain when `pkg/deep` begins; but from then on it looks for `pkg/deep/late.py` in there."""
    repo.commit({"pkg/near.py": "", "use.py": "from pkg.deep.late import f\n\n\ndef use():\n    return f()\n"})
    opened(repo).index()
    repo.commit({"pkg/deep/other.py": ""})
    opened(repo).index()
    repo.write({"pkg/deep/late.py": "def f():\n    return 1\n"})
    for at in ("WORKTREE", "HEAD"):
        edges = opened(repo).snapshot(at).edges_to(SymbolKey("pkg/deep/late.py", "f"))
        assert "calls" in {edge.kind for edge in edges}, at
        repo.commit()
