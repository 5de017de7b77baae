"""Handles as people and agents write them, and what is proposed for mistyped ones."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from gitrepo import Repo, shared_repo

from tokenzip import walk
from tokenzip.cli import root as cli
from tokenzip.errors import UnknownSymbol, UsageError
from tokenzip.model import Module, SymbolKey
from tokenzip.operations import OPERATIONS, look_at
from tokenzip.repository import Repository
from tokenzip.repository import repo as open_repository
from tokenzip.snapshot import Snapshot
from tokenzip.snapshot.spelling import slips

FILES = {
    "pyproject.toml": '[project]\nname = "lamp"\n',
    "src/lamp/core.py": "import os\n\n\nclass Lamp:\n    def glow(self):\n        return os.name\n\n\ndef light():\n    pass\n",
    "src/lamp/deep/core.py": "def glimmer():\n    pass\n",
    "src/lamp/odd name%20.py": "def strange():\n    pass\n",
    "tests/test_core.py": "def test_glow():\n    pass\n",
    "notes.txt": "no language\n",
}
GLOW = SymbolKey("src/lamp/core.py", "Lamp.glow")
CORE = SymbolKey("src/lamp/core.py")


@pytest.fixture(scope="module")
def lamp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    with shared_repo(tmp_path_factory, "lamp") as repo:
        repo.commit(FILES, "lamp")
        yield repo


@pytest.fixture
def repository(lamp: Repo) -> Repository:
    return open_repository(str(lamp.path))


@pytest.fixture
def snapshot(repository: Repository) -> Snapshot:
    return repository.snapshot()


def named(snapshot: Snapshot, text: str) -> str:
    target = walk.resolve(snapshot, text)
    return target.path or "." if isinstance(target, Module) else target.handle


@pytest.mark.parametrize(
    "text",
    [
        "./src/lamp/core.py", "src//lamp/core.py", "src/lamp/../lamp/core.py", "src/lamp/./core.py", "src\\lamp\\core.py",
        ".\\src\\lamp\\core.py", "src/lamp/core.py\n", " src/lamp/core.py\t", '"src/lamp/core.py"', "`src/lamp/core.py`",
        "/src/lamp/core.py", "src%2Flamp%2Fcore.py", "src/lamp/core.py/", "lamp/core.py", "src/lamp/core.py:1",
        "src/lamp/core.py::",
    ],
)  # fmt: skip
def test_a_path_has_many_spellings(snapshot: Snapshot, text: str) -> None:
    assert snapshot.resolve_handle(text) == CORE


@pytest.mark.parametrize(
    "text",
    [
        "src\\lamp\\core.py::Lamp.glow", " ./src/lamp/core.py::Lamp.glow\n", "src/lamp/core.py :: Lamp.glow", "Lamp.glow()",
        "src/lamp/core.py::Lamp.glow()", "src/lamp/core.py::Lamp::glow", "src/lamp/core.py:Lamp.glow", "core.py::Lamp.glow",
        "Lamp::glow", "::Lamp.glow", "'Lamp.glow'", "src/lamp/core.py:6", "src/lamp/core.py:5:9", "src/lamp/core.py#L5-L6",
        "lamp/core.py:5-6",
    ],
)  # fmt: skip
def test_a_symbol_has_many_spellings(snapshot: Snapshot, text: str) -> None:
    assert snapshot.resolve_handle(text) == GLOW


def test_absolute_paths_inside_the_repository_are_counted_from_its_root(lamp: Repo, snapshot: Snapshot, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(lamp.path)
    for root in (str(lamp.path), str(link), f"file://{lamp.path}", f"{lamp.path}/src/.."):
        assert snapshot.resolve_handle(f"{root}/src/lamp/core.py::Lamp.glow") == GLOW
    assert named(snapshot, f"{lamp.path}") == named(snapshot, f"{lamp.path}/") == named(snapshot, "./") == "."
    assert walk.find_folder(snapshot, f"{lamp.path}/src/lamp") == walk.find_folder(snapshot, "src\\lamp\\") == "src/lamp"


def test_a_parametrized_test_and_an_odd_file_name(snapshot: Snapshot) -> None:
    assert named(snapshot, "tests/test_core.py::test_glow[one-2]") == "tests/test_core.py::test_glow"
    assert named(snapshot, "src/lamp/odd name%20.py") == "src/lamp/odd name%20.py"
    assert named(snapshot, "notes.txt:7") == "notes.txt"


@pytest.mark.parametrize(
    ("text", "says", "candidates"),
    [
        ("../other/core.py", "leads out of the repository", ()),
        ("src/../../core.py::Lamp", "leads out of the repository", ()),
        ("..", "leads out of the repository", ()),
        ("/etc/passwd", "is not in the repository", ()),
        ("/elsewhere/lamp/src/lamp/core.py::Lamp", "is not in the repository", ("src/lamp/core.py",)),
        ("C:\\work\\src\\lamp\\core.py", "is not in the repository", ("src/lamp/core.py",)),
        ("src/lamp/core.py:99", "has no line 99 at WORKTREE: it has 10", ()),
        ("", "the handle is empty", ()),
        ("\n", "the handle is empty", ()),
        ("''", "the handle is empty", ()),
        ("src/lamp/core.py\0::Lamp", "there is no", ("src/lamp/core.py::Lamp",)),
    ],
)
def test_what_has_no_meaning_is_refused(snapshot: Snapshot, text: str, says: str, candidates: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match=says) as error:
        walk.resolve(snapshot, text)
    assert error.value.candidates[:1] == candidates


@pytest.mark.parametrize("form", ["core.py::Lamp.glow", "core.py:5", "../lamp/core.py::Lamp.glow", ".\\core.py::Lamp.glow"])
def test_the_command_line_counts_from_its_folder(
    lamp: Repo, form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(lamp.path / "src" / "lamp")
    assert cli.run(["show", form]) == 0
    assert "Lamp.glow" in capsys.readouterr().out
    assert cli.run(["context", form]) == 0


def test_every_question_about_a_place_takes_all_spellings(repository: Repository) -> None:
    for text in (" ./src/lamp/core.py::Lamp.glow\n", "src\\lamp\\core.py:5"):
        assert look_at(repository, {"handle": text})[1]["symbol"]["handle"] == GLOW.handle
        for name, arguments in (
            ("query_file", {"path": text}),
            ("get_dependants", {"handle": text}),
            ("get_dependencies", {"handle": text}),
            ("get_impact_analysis", {"handles": [text]}),
            ("get_context_for_files", {"files": [text]}),
            ("get_git_history", {"handle": text}),
            ("trace_path", {"from": text, "to": "light"}),
        ):
            assert "error" not in OPERATIONS[name].run(repository, arguments), (name, text)
    assert OPERATIONS["query_file"].run(repository, {"path": "core.py:5"})["error"]["code"] == "ambiguous_symbol"
    assert OPERATIONS["query_module"].run(repository, {"module": "src\\lamp"})["module"]["handle"] == "src/lamp"


# What is proposed.


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("src/lmp/core.py", "src/lamp/core.py"),
        ("lamp/core.ts", "src/lamp/core.py"),
        ("src/lamp/CORE.PY", "src/lamp/core.py"),
        ("src/core.py::Lamp.glow", "src/lamp/core.py::Lamp.glow"),
        ("core.py::Lmap.glow", "src/lamp/core.py::Lamp.glow"),
        ("src/lamp/deep/core.py::Lamp.glow", "src/lamp/core.py::Lamp.glow"),
        ("src/lamp/core.py::glimer", "src/lamp/deep/core.py::glimmer"),
        ("src/lamp/core.py::Lamp.lgow", "src/lamp/core.py::Lamp.glow"),
        ("lamp.core.Lamp.glow", "src/lamp/core.py::Lamp.glow"),
        ("LIGHTS", "src/lamp/core.py::light"),
        ("cor.py", "src/lamp/core.py"),
        ("src/lamp/core.py::Zebra.gallop", "src/lamp/core.py"),
    ],
)
def test_a_mistyped_name_is_met_with_the_right_one(snapshot: Snapshot, text: str, meant: str) -> None:
    with pytest.raises(UnknownSymbol) as error:
        walk.resolve(snapshot, text)
    assert meant in error.value.candidates[:3]


def test_a_mistyped_module_is_met_with_the_nearest_folders(repository: Repository) -> None:
    for text in ("src/lmap", "deap", "lamps"):
        error = OPERATIONS["query_module"].run(repository, {"module": text})["error"]
        assert {"src/lamp", "src/lamp/deep", "lamp"} & set(error["candidates"][:2]), text


def test_what_resembles_nothing_has_no_candidates(snapshot: Snapshot) -> None:
    with pytest.raises(UnknownSymbol) as error:
        walk.resolve(snapshot, "xylophone/quartz")
    assert not error.value.candidates


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [("", "", 0), ("a", "", 1), ("ab", "ba", 1), ("flask", "flsk", 1), ("flask", "flaks", 1), ("abc", "xyz", 3)],
)
def test_slips_are_counted(one: str, other: str, count: int) -> None:
    assert slips(one, other) == slips(other, one) == count


def test_most_seeded_slips_are_understood(repo: Repo) -> None:
    """Any one slip in a path or name of 60 files: the right one is among the first three of at least 95 in 100."""
    rng = random.Random(7)
    words = ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(4, 9))) for _ in range(240)]
    repo.commit(
        {
            f"{rng.choice(words[:5])}/{rng.choice(words[:9])}/{word}.py": f"class {rng.choice(words)}:\n    {other} = 1\n"
            for word, other in zip(words[:60], words[60:120], strict=True)
        }
    )
    snapshot = open_repository(str(repo.path)).snapshot()
    handles = [file.path for file in snapshot.files()] + [symbol.handle for file in snapshot.files() for symbol in file.symbols]
    asked = found = 0
    for handle in rng.choices(handles, k=100):
        try:
            walk.resolve(snapshot, slipped(handle, rng))
        except UsageError as error:
            asked, found = asked + 1, found + (handle in error.candidates[:3])
    assert asked > 60
    assert found >= 0.95 * asked


def slipped(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) - 1)
    head, one, other, tail = text[:at], text[at], text[at + 1], text[at + 2 :]
    return rng.choice(
        [f"{head}{other}{one}{tail}", f"{head}{other}{tail}", f"{head}x{one}{other}{tail}", f"{head}x{other}{tail}"]
    )


def test_modules_and_folders_are_typed_as_seen_from_the_folder(
    lamp: Repo, repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(lamp.path / "src")
    assert cli.run(["map", "lamp/deep"]) == 0
    assert "src/lamp/deep" in capsys.readouterr().out
    assert cli.run(["search", "glimmer", "--module", "lamp/deep"]) == 0
    assert "src/lamp/deep/core.py::glimmer" in capsys.readouterr().out


def test_a_search_may_be_bound_to_a_folder(repository: Repository) -> None:
    def found(**arguments: str) -> list[str]:
        return [item["handle"] for item in OPERATIONS["search_symbols"].run(repository, arguments)["items"]]

    assert found(query="glow") == ["src/lamp/core.py::Lamp.glow"]
    assert found(query="glow", module="src\\lamp") == ["src/lamp/core.py::Lamp.glow"]
    assert found(query="glow", module="tests") == ["tests/test_core.py::test_glow"]
    assert found(query="what glows", module="src/lamp/deep/") == []
