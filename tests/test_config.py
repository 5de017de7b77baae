"""Settings: file, environment, and what becomes of nonsense."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokenzip import config


def written(folder: Path, text: str) -> Path:
    (folder / config.FOLDER).mkdir(parents=True)
    (folder / config.FOLDER / config.FILE).write_text(text, encoding="utf-8")
    return folder


def test_without_a_file_all_is_at_its_default(tmp_path: Path) -> None:
    assert config.load([tmp_path], {"TOKENZIP_HOME": "/h"}) == config.Config(home=Path("/h"))


def test_a_relative_home_is_seen_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert config.cache_home({"TOKENZIP_HOME": "kept/../here"}) == tmp_path / "here"


def test_the_file_of_the_first_checkout_that_has_one_counts(tmp_path: Path) -> None:
    main = written(tmp_path / "main", '{"store": "local", "hooks": {"pre-commit": "block"}, "jobs": 2}')
    loaded = config.load([tmp_path / "linked", main], {})
    assert (loaded.store, loaded.pre_commit, loaded.jobs, loaded.problems) == ("local", "block", 2, ())


def test_the_environment_wins(tmp_path: Path) -> None:
    main = written(tmp_path, '{"store": "local", "jobs": 2}')
    loaded = config.load([main], {"TOKENZIP_STORE": "shared", "TOKENZIP_JOBS": "7", "TOKENZIP_PRE_COMMIT": "off"})
    assert (loaded.store, loaded.pre_commit, loaded.jobs) == ("shared", "off", 7)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not JSON"),
        ("[]", "does not hold an object"),
        ('{"store": "cloud"}', "it may be shared, local"),
        ('{"jobs": -1}', "a number, 0 for all"),
        ('{"jobs": true}', "a number, 0 for all"),
        ('{"colour": 1}', "is not a setting"),
        ('{"hooks": {"post-commit": "x"}}', "is not a setting"),
    ],
)
def test_nonsense_is_reported_and_changes_nothing(text: str, problem: str, tmp_path: Path) -> None:
    loaded = config.load([written(tmp_path, text)], {"TOKENZIP_HOME": "/h"})
    assert [problem in each for each in loaded.problems] == [True]
    assert (loaded.store, loaded.pre_commit, loaded.jobs) == ("shared", "warn", 0)


def test_writing_keeps_what_the_file_holds(tmp_path: Path) -> None:
    written(tmp_path, '{"jobs": 2, "note": "mine"}')
    path = config.write(tmp_path, {"store": "local"})
    assert json.loads(path.read_text()) == {"jobs": 2, "note": "mine", "store": "local"}
    before = path.stat().st_mtime_ns
    config.write(tmp_path, {"store": "local"})
    assert path.stat().st_mtime_ns == before
