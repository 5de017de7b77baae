"""Context: which files go with some others, which symbols are one step away, and that a budget holds of each what is needed."""

from __future__ import annotations

from typing import Any

import pytest
from gitrepo import Repo
from hypothesis import given
from hypothesis import strategies as st

import tokenzip
from tokenzip.context import ROLES, needed, related_files
from tokenzip.context.cochange import COMMITS, Cochange
from tokenzip.context.places import path_words
from tokenzip.operations import OPERATIONS
from tokenzip.snapshot import Snapshot

PRICES = '''\
from shop.currency import Currency, rate


class Price:
    """What something costs."""

    def __init__(self, amount: int, currency: Currency) -> None:
        self.amount = amount * rate(currency)


def cheapest(prices: list[Price]) -> Price:
    return min(prices, key=lambda price: price.amount)
'''
FILES = {
    "shop/__init__.py": "",
    "shop/prices.py": PRICES,
    "shop/currency.py": "class Currency:\n    pass\n\n\ndef rate(currency: Currency) -> int:\n    return 1\n",
    "shop/cart.py": (
        "from shop.prices import Price, cheapest\n\n\ndef first(prices: list[Price]) -> Price:\n    return cheapest(prices)\n"
    ),
    "shop/unrelated.py": "def nothing() -> None:\n    pass\n",
    "tests/test_prices.py": (
        "from shop.currency import Currency\nfrom shop.prices import Price, cheapest\n\n\n"
        "def test_cheapest() -> None:\n    assert cheapest([Price(1, Currency())])\n"
    ),
    "billing/engine.go": "package billing\n\nfunc Engine() { reconcileLedger() }\n",
    "billing/ledger.go": "package billing\n\nfunc reconcileLedger() {}\n",
    "billing/engine_test.go": "package billing\n\nfunc TestEngine() { Engine() }\n",
    "billing/other.go": "package billing\n\nfunc Other() {}\n",
    "docs/prices.md": "# Prices\n",
}


@pytest.fixture
def shop(repo: Repo) -> Repo:
    repo.commit(FILES, "First")
    return repo


def snapshot_of(repo: Repo, rev: str = "HEAD") -> Snapshot:
    return tokenzip.repo(str(repo.path)).snapshot(rev)


def paths(repo: Repo, *given: str, rev: str = "HEAD") -> list[str]:
    return [each.path for each in related_files(snapshot_of(repo, rev), given).files]


def asked(repo: Repo, *files: str, **arguments: Any) -> dict[str, Any]:
    return OPERATIONS["get_context_for_files"].run(tokenzip.repo(str(repo.path)), {"files": list(files), **arguments})


def change(repo: Repo, *files: str) -> None:
    """A commit that adds a line to each file."""
    repo.commit({path: (repo.path / path).read_text() + "\n" for path in files})


# What was changed together.


def modified(*names: str) -> list[tuple[str, str, str]]:
    return [("M", name, "") for name in names]


def test_of_small_commits_more_is_concluded_than_of_large_ones() -> None:
    history = Cochange([modified("a", "b"), modified("a", "c", "d", "e"), modified("x", "y")])
    together, changes = history.with_files({"a"})
    assert changes == 2
    assert {path: each.times for path, each in together.items()} == {"b": 1, "c": 1, "d": 1, "e": 1}
    assert together["b"].share > 2 * together["c"].share == 2 * together["e"].share


def test_newer_commits_count_more() -> None:
    history = Cochange([modified("a", "new"), *[modified("x")] * 500, modified("a", "old")])
    together, _ = history.with_files({"a"})
    assert together["new"].share > together["old"].share > 0.5 * together["new"].share


def test_commits_of_everything_say_nothing() -> None:
    history = Cochange([modified("a", *(f"file{number}" for number in range(200)))])
    assert history.with_files({"a"}) == ({}, 0)
    assert len(history) == 1


def test_history_is_that_of_the_file_under_all_its_names() -> None:
    history = Cochange(
        [
            modified("src/a", "new"),
            [("R", "src/a", "lib/a")],
            modified("lib/a", "old"),
            [("R", "lib/a", "a")],
            modified("a", "oldest"),
        ]
    )
    together, changes = history.with_files({"src/a"})
    assert set(together) == {"new", "old", "oldest"}
    assert changes == 5


def test_what_was_written_anew_where_a_file_was_moved_from_shares_its_history() -> None:
    history = Cochange([modified("a", "new"), [("R", "b", "a")], modified("a", "old")])
    assert set(history.with_files({"a"})[0]) == {"new", "b", "old"}
    assert set(history.with_files({"b"})[0]) == {"a", "old"}


def test_names_that_were_swapped_are_told_apart() -> None:
    history = Cochange([[("R", "a", "b"), ("R", "b", "a")], modified("a", "with_b"), modified("b", "with_a")])
    assert "with_a" in history.with_files({"a"})[0]
    assert "with_b" in history.with_files({"b"})[0]


def test_of_removed_files_nothing_is_said() -> None:
    assert Cochange([[("M", "a", ""), ("D", "gone", "")]]).with_files({"a"})[0] == {}


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True, max_size=5), max_size=12))
def test_shares_are_parts(commits: list[list[str]]) -> None:
    together, changes = Cochange([modified(*names) for names in commits]).with_files({"a"})
    assert changes == sum("a" in names for names in commits)
    assert sum(each.share for each in together.values()) <= 1.0
    assert all(1 <= each.times <= changes for each in together.values())


def test_git_tells_what_commits_did(repo: Repo) -> None:
    repo.commit({"a.py": "one\ntwo\nthree\n", "b c.py": "x\n"}, "First")
    repo.commit({"a.py": None, "d.py": "one\ntwo\nthree\n", "b c.py": "y\n"}, "Second")
    repo.commit({}, "Nothing")
    repo.commit({"b c.py": None}, "Third")
    found = list(tokenzip.repo(str(repo.path)).git.changes("HEAD", 10))
    assert found == [
        (("D", "b c.py", ""),),
        (),
        (("M", "b c.py", ""), ("R", "d.py", "a.py")),
        (("A", "a.py", ""), ("A", "b c.py", "")),
    ]
    assert list(tokenzip.repo(str(repo.path)).git.changes("HEAD", 1)) == found[:1]
    assert COMMITS <= 5000


# Files.


def test_words_of_paths() -> None:
    assert path_words("src/UserService.test.ts") == path_words("src/user_service.ts") == {"src", "user", "service"}
    assert path_words("tests/test_app.py") == {"app"}
    assert path_words("v1.2/Makefile") == path_words("v1.2/Makefile.am") - {"am"}


def test_tests_and_users_come_before_the_rest(shop: Repo) -> None:
    ranked = paths(shop, "shop/prices.py")
    assert ranked[0] == "tests/test_prices.py"
    assert ranked.index("shop/cart.py") < ranked.index("shop/unrelated.py")
    assert ranked[-1] == "docs/prices.md"
    roles = {each.path: each.role for each in related_files(snapshot_of(shop), ["shop/prices.py"]).files}
    assert (roles["tests/test_prices.py"], roles["shop/cart.py"], roles["docs/prices.md"]) == ("test", "code", "doc")


def test_files_that_are_changed_together_go_together(shop: Repo) -> None:
    before = paths(shop, "shop/prices.py")
    for _ in range(4):
        change(shop, "shop/prices.py", "shop/unrelated.py")
    related = related_files(snapshot_of(shop), ["shop/prices.py"])
    assert related.files[0].path == "shop/unrelated.py" != before[0]
    assert (related.files[0].together, related.changes, related.commits) == (5, 5, 5)


def test_only_commits_that_the_revision_reaches_count(shop: Repo) -> None:
    first = paths(shop, "shop/prices.py")
    shop.switch("other", create=True)
    for _ in range(4):
        change(shop, "shop/prices.py", "shop/unrelated.py")
    shop.switch("main")
    assert paths(shop, "shop/prices.py", rev="main") == first != paths(shop, "shop/prices.py", rev="other")
    assert paths(shop, "shop/prices.py", rev="other~4") == first


def test_files_that_no_language_reads_are_ranked_too(shop: Repo) -> None:
    ranked = paths(shop, "billing/engine.go")
    assert ranked[0] == "billing/engine_test.go"
    assert ranked.index("billing/ledger.go") < ranked.index("billing/other.go"), "it holds a rare word of the file"


def test_what_a_program_made_is_told_apart(shop: Repo) -> None:
    for number in range(3):
        made = "// Code generated by a program. DO NOT EDIT.\n" + "export const a=1;" * (number + 1)
        shop.commit({"web/main.js": f"export const n = {number}\n", "web/bundle.min.js": made, "web/part.js": f"// {number}\n"})
    roles = {each.path: each.role for each in related_files(snapshot_of(shop), ["web/main.js"]).files}
    assert (roles["web/part.js"], roles["web/bundle.min.js"]) == ("code", "generated")


def test_several_files_are_one_question(shop: Repo) -> None:
    ranked = paths(shop, "shop/prices.py", "shop/cart.py")
    assert not {"shop/prices.py", "shop/cart.py"} & set(ranked)
    assert {"tests/test_prices.py", "shop/currency.py"} <= set(ranked[:3])


def test_uncommitted_files_are_known(shop: Repo) -> None:
    shop.write({"shop/ledger.py": "from shop.prices import cheapest\n\n\ndef reckon() -> None:\n    cheapest([])\n"})
    assert "shop/ledger.py" in paths(shop, "shop/prices.py", rev="WORKTREE")
    assert "shop/prices.py" in paths(shop, "shop/ledger.py", rev="WORKTREE")


def test_a_repository_without_commits(repo: Repo) -> None:
    repo.write({"a.py": "def f(): ...\n", "test_a.py": "from a import f\n\n\ndef test_f():\n    f()\n"})
    assert paths(repo, "a.py", rev="WORKTREE") == ["test_a.py"]


# Symbols.


def roles(repo: Repo, *given: str) -> dict[str, set[str]]:
    snapshot = snapshot_of(repo)
    found: dict[str, set[str]] = {}
    for need in needed(snapshot, given, related_files(snapshot, given)):
        found.setdefault(need.role, set()).add(need.key.handle)
    return found


def test_each_neighbour_has_one_role(shop: Repo) -> None:
    assert roles(shop, "shop/prices.py") == {
        "uses": {"shop/currency.py::rate"},
        "used_by": {"shop/cart.py::first"},
        "test": {"tests/test_prices.py::test_cheapest"},
        "type": {"shop/currency.py::Currency"},
    }


def test_what_lies_between_the_given_files_is_left_out(shop: Repo) -> None:
    found = roles(shop, "shop/prices.py", "shop/currency.py", "shop/cart.py")
    assert found == {"test": {"tests/test_prices.py::test_cheapest"}}


def test_any_beginning_has_something_of_each_role(repo: Repo) -> None:
    helpers = "".join(f"def help{number}() -> None: ...\n" for number in range(30))
    calls = "".join(f"    helpers.help{number}()\n" for number in range(30))
    users = "".join(f"def use{number}() -> None:\n    core.work()\n" for number in range(10))
    tests = "".join(f"def test_{number}() -> None:\n    core.work()\n" for number in range(10))
    repo.commit(
        {
            "helpers.py": helpers,
            "core.py": f"import helpers\n\n\ndef work() -> None:\n{calls}",
            "users.py": f"import core\n\n{users}",
            "test_core.py": f"import core\n\n{tests}",
        }
    )
    snapshot = snapshot_of(repo)
    needs = needed(snapshot, ["core.py"], related_files(snapshot, ["core.py"]))
    counts = [sum(need.role == role for need in needs[:32]) for role in ROLES]
    assert counts == [16, 10, 6, 0, 0]
    assert [need.role for need in needs[:16]] == ["uses"] * 8 + ["used_by"] * 5 + ["test"] * 3
    assert len(needs) == 50


# The answer.


def test_the_answer_names_roles_files_and_history(shop: Repo) -> None:
    whole = asked(shop, "shop/prices.py", max_tokens=0)
    assert [item["role"] for item in whole["items"]] == ["uses", "used_by", "test", "type"]
    assert whole["of"] == ["shop/prices.py"]
    assert whole["history"] == {"commits": 1, "changes": 1}
    user = next(item for item in whole["items"] if item["role"] == "used_by")
    assert user["of"] == "Price"
    assert user["signature"] == "def first(prices: list[Price]) -> Price"
    assert "signature" not in next(item for item in whole["items"] if item["role"] == "test")


def test_files_are_named_on_the_first_page_only(shop: Repo) -> None:
    first = asked(shop, "shop/prices.py", max_tokens=260)
    assert first["truncated"]
    second = asked(shop, "shop/prices.py", max_tokens=260, cursor=first["truncated"]["cursor"])
    assert "files" in first
    assert "files" not in second
    assert not {item["handle"] for item in first["items"]} & {item["handle"] for item in second["items"]}


def test_symbols_stand_for_their_files(shop: Repo) -> None:
    assert asked(shop, "cheapest", "prices.py")["of"] == ["shop/prices.py"]


@pytest.mark.parametrize("files", [["."], ["shop/price.py"], []])
def test_what_is_no_file_is_a_mistake(shop: Repo, files: list[str]) -> None:
    error = asked(shop, *files)["error"]
    assert error["hint"] or error["candidates"]


def test_the_neighbours_of_a_symbol_that_is_named_come_first(repo: Repo) -> None:
    """The one is used on many lines, the other once."""
    calls = "".join(f"    much({n})\n" for n in range(5))
    users = {f"user{n}.py": f"from core import much\n\n\ndef use():\n{calls}" for n in range(4)}
    other = "from core import little\n\n\ndef once():\n    return little()\n"
    repo.commit({"core.py": "def much(n):\n    return n\n\n\ndef little():\n    return 2\n", "other.py": other, **users})
    for text in ("core.py::little", "core.py:5", "little"):
        answer = OPERATIONS["get_context_for_files"].run(tokenzip.repo(str(repo.path)), {"files": [text]})
        assert answer["of"] == ["core.py"]
        assert answer["items"][0]["handle"] == "other.py::once"
    whole = OPERATIONS["get_context_for_files"].run(tokenzip.repo(str(repo.path)), {"files": ["core.py"]})
    assert whole["items"][0]["handle"] != "other.py::once"
