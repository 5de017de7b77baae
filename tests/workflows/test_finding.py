"""What a description is about: less by the way of chance, and nothing beside the product."""

from __future__ import annotations

import pytest
from gitrepo import Repo

from tokenzip import search
from tokenzip.repository import Repository
from tokenzip.repository import repo as open_repository
from tokenzip.search import Hit
from tokenzip.workflows.finding import about
from tokenzip.workflows.registry import template

FILES = {
    "web/app.py": (
        "app = object()\n\n\n"
        "class Response:\n    def stream(self):\n        '''Send a large response in chunks.'''\n\n"
        "    def close(self):\n        pass\n"
    ),
    "web/chunks.py": "def split_chunks(response):\n    '''Cut a large response into chunks.'''\n",
    "web/other.py": "class Other:\n    def stream(self):\n        pass\n",
    "web/more.py": "class More:\n    def stream(self):\n        pass\n",
    "examples/stream.py": "def stream_large_response_in_chunks():\n    '''Stream a large response in chunks.'''\n",
    "docs/stream.py": "def stream_chunks():\n    '''Stream a large response in chunks.'''\n",
    "tests/test_app.py": "def test_stream_large_response_in_chunks():\n    pass\n",
}  # fmt: skip
DESCRIPTION = "Stream large responses in chunks. Nobody wants an app that fills the memory."


@pytest.fixture
def web(repo: Repo) -> Repository:
    repo.commit(FILES, "web")
    return open_repository(str(repo.path))


def test_what_lies_beside_the_product_is_no_place_for_a_feature(web: Repository) -> None:
    with web.snapshot().reading():
        found = about(web.snapshot(), DESCRIPTION, ())
    assert found
    assert {symbol.path.partition("/")[0] for symbol in found} == {"web"}


def test_examples_are_told_of_where_they_are_asked_for(web: Repository) -> None:
    found = about(web.snapshot(), DESCRIPTION, (), inside=lambda path: path.startswith("examples/"))
    assert [symbol.path for symbol in found] == ["examples/stream.py"]


def test_a_plain_word_is_no_name_and_one_written_as_code_is(web: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    symbols = {symbol.name: symbol for symbol in web.snapshot().file("web/app.py").symbols}
    hits = [Hit(symbols["app"], 9.0, "exact name"), Hit(symbols["stream"], 2.0, "text"), Hit(symbols["close"], 1.5, "text")]
    monkeypatch.setattr(search, "search", lambda *_, **__: hits)
    assert [symbol.name for symbol in about(web.snapshot(), DESCRIPTION, ())] == ["stream", "close", "app"]
    assert [symbol.name for symbol in about(web.snapshot(), DESCRIPTION, {"app"})] == ["app"]


def test_of_one_name_the_best_is_told_of(web: Repository) -> None:
    names = [symbol.name for symbol in about(web.snapshot(), "the method stream", {"stream"})]
    assert names.count("stream") == 1


def test_the_files_are_ranked_by_all_that_fits_in_them(web: Repository) -> None:
    chosen = template("implement-feature")
    result = chosen.run(web.snapshot(), chosen.checked([f"description={DESCRIPTION}"]), web.progress).as_json()
    changed = [item["file"] for item in result["parts"]["files"] if item["do"] == "change" and "tests" not in item]
    assert set(changed) <= {"web/app.py", "web/chunks.py", "web/other.py"}
    assert changed
