"""Search: what is found, in which order, and that the order is a function of the snapshot alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from gitrepo import Repo
from hypothesis import given
from hypothesis import strategies as st

import tokenzip
from tokenzip.operations.symbols import search_symbols
from tokenzip.render.answers import document
from tokenzip.search import LONGEST_QUESTION, find, search, search_files
from tokenzip.search.history import History
from tokenzip.search.words import bare_name, edit_distance, inflections, nearest, question, root
from tokenzip.snapshot import Snapshot
from tokenzip.words import parts, words_in, words_of

FILES = {
    "pyproject.toml": '[project]\nname = "shop"\n',
    "shop/__init__.py": "",
    "shop/accounts.py": '''\
"""People and how they sign in."""


class UserService:
    """Signs people in."""

    def authenticate(self, name: str, password: str) -> bool:
        """Compare the password with the stored digest."""
        return self.digest(password) == name

    def digest(self, password: str) -> str:
        return password[::-1]


def make_response(body: str) -> str:
    return render(body)


def render(body: str) -> str:
    return body


def useRenderer() -> None:
    pass
''',
    "shop/cart.py": '''\
from shop.accounts import make_response


class Cart:
    """Things that somebody is about to buy."""

    def add(self, thing: str) -> None:
        self.things.append(thing)

    def checkout(self) -> str:
        # voucher codes are redeemed here
        return make_response("paid")


def one(): pass
def two(): pass
def three(): pass
def four_cart(): pass
''',
    "tests/test_accounts.py": """\
from shop.accounts import UserService


def test_authenticate() -> None:
    assert UserService().authenticate("a", "a")


def test_authenticate_again() -> None:
    assert UserService().authenticate("b", "b")
""",
    "tools/lib/setup.py": "",
    "tools/lib/voucher_printer.py": "def print_all():\n    return render_page()\n\ndef render_page():\n    return 1\n",
}


@pytest.fixture
def shop(repo: Repo) -> Repo:
    repo.commit(FILES, "First")
    return repo


def snapshot_of(repo: Repo, rev: str = "HEAD") -> Snapshot:
    return tokenzip.repo(str(repo.path)).snapshot(rev)


def found(snapshot: Snapshot, text: str, **options: object) -> list[str]:
    return [hit.symbol.handle for hit in search(snapshot, text, **options)]  # type: ignore[arg-type]


def test_an_exact_name_comes_first(shop: Repo) -> None:
    snapshot = snapshot_of(shop)
    assert found(snapshot, "render")[0] == "shop/accounts.py::render"
    assert found(snapshot, "UserService.authenticate")[0] == "shop/accounts.py::UserService.authenticate"
    assert found(snapshot, "Cart")[0] == "shop/cart.py::Cart"
    assert search(snapshot, "make_response")[0].why == "exact name"


def test_names_in_other_case_beginnings_and_parts(shop: Repo) -> None:
    snapshot = snapshot_of(shop)
    assert found(snapshot, "userservice")[0] == "shop/accounts.py::UserService"
    assert found(snapshot, "authen")[0] == "shop/accounts.py::UserService.authenticate"
    assert found(snapshot, "response")[0] == "shop/accounts.py::make_response"
    assert found(snapshot, "renderer")[0] == "shop/accounts.py::useRenderer"


def test_words_that_spell_a_name_come_close_to_writing_it(shop: Repo) -> None:
    snapshot = snapshot_of(shop)
    assert found(snapshot, "user service")[0] == "shop/accounts.py::UserService"
    assert found(snapshot, "Make response")[0] == "shop/accounts.py::make_response"
    assert found(snapshot, "four cart")[0] == "shop/cart.py::four_cart"


def test_typing_errors(shop: Repo) -> None:
    snapshot = snapshot_of(shop)
    assert found(snapshot, "autenticate")[0] == "shop/accounts.py::UserService.authenticate"
    assert found(snapshot, "make_repsonse")[0] == "shop/accounts.py::make_response"
    assert "read as response" in search(snapshot, "make_repsonse")[0].why


def test_words_of_documentation_bodies_and_paths(shop: Repo) -> None:
    snapshot = snapshot_of(shop)
    assert found(snapshot, "compare password with stored digest")[0] == "shop/accounts.py::UserService.authenticate"
    assert "shop/cart.py::Cart.checkout" in found(snapshot, "redeemed codes")
    assert any(handle.startswith("tools/lib/voucher_printer.py") for handle in found(snapshot, "voucher printer"))


def test_tests_come_after_what_they_test(shop: Repo) -> None:
    handles = found(snapshot_of(shop), "authenticate")
    assert handles[0] == "shop/accounts.py::UserService.authenticate"
    assert "tests/test_accounts.py::test_authenticate" in handles


def test_filters(shop: Repo) -> None:
    snapshot = snapshot_of(shop)
    assert found(snapshot, "authenticate", kinds=("class",)) == [
        handle for handle in found(snapshot, "authenticate", kinds=("class", "table")) if "::" in handle
    ]
    assert all(snapshot.symbol(hit.symbol.key) for hit in search(snapshot, "render", kinds=("function",)))
    assert found(snapshot, "render", module="tools/lib")[0] == "tools/lib/voucher_printer.py::render_page"
    assert not any(handle.startswith("tools/lib") for handle in found(snapshot, "render", module=""))


def test_at_most_three_symbols_a_file_unless_more_are_asked_for(shop: Repo) -> None:
    snapshot = snapshot_of(shop)
    assert sum(handle.startswith("shop/accounts.py") for handle in found(snapshot, "accounts render password")) == 3
    assert sum(handle.startswith("shop/accounts.py") for handle in found(snapshot, "accounts render password", per_file=0)) > 3
    assert len(found(snapshot, "accounts render password", limit=2)) == 2


def test_what_is_leaned_on_comes_before_its_equals(repo: Repo) -> None:
    body = "def send():\n    return 1\n"
    for name in ("alpha", "beta"):
        repo.write({f"{name}.py": body})
    for number in range(4):
        repo.write({f"user{number}.py": "from beta import send\n\nsend()\n"})
    repo.commit(None, "First")
    assert found(snapshot_of(repo), "send", kinds=("function",)) == ["beta.py::send", "alpha.py::send"]


def test_code_that_no_language_reads_is_found_by_its_words(repo: Repo) -> None:
    repo.write({"cmd/voucher.go": "package cmd\n\nfunc redeemVoucher() {}\n", "cmd/voucher_test.go": "package cmd\n"})
    repo.commit(None, "First")
    repo.commit({"shop/cart.py": "def checkout():\n    return 1\n", "notes.bin": "voucher"}, "Second")
    snapshot = snapshot_of(repo)
    assert [hit.path for hit in search_files(snapshot, "redeem voucher")] == ["cmd/voucher.go", "cmd/voucher_test.go"]
    assert [hit.path for hit in find(snapshot, "redeem voucher")] == ["cmd/voucher.go", "cmd/voucher_test.go"]
    assert search(snapshot, "redeem voucher") == ()
    assert find(snapshot, "redeem voucher", kinds=("function",)) == ()
    assert [hit.path for hit in find(snapshot, "checkout")] == ["shop/cart.py"]
    answer = search_symbols(snapshot, {"query": "redeem voucher"})
    assert answer["items"][0] == {"handle": "cmd/voucher.go", "file": "cmd/voucher.go", "kind": "file", "status": "skipped"}
    assert document("search_symbols", answer)


def test_an_answer_says_what_of_a_long_question_was_read(shop: Repo) -> None:
    snapshot = snapshot_of(shop)
    assert search_symbols(snapshot, {"query": "voucher codes"})["complete"] is True
    assert "4000" in search_symbols(snapshot, {"query": "voucher codes " * 1000})["complete"]["why"]


def test_examples_and_what_others_wrote_come_last(repo: Repo) -> None:
    body = "def deliver():\n    return 1\n"
    repo.commit(dict.fromkeys(("benchmarks/a.py", "examples/b.py", "product/c.py", "vendor/d.py"), body), "First")
    assert found(snapshot_of(repo), "deliver", kinds=("function",))[0] == "product/c.py::deliver"
    assert search_files(snapshot_of(repo), "deliver")[0].path == "product/c.py"


def test_words_in_other_forms(shop: Repo) -> None:
    snapshot = snapshot_of(shop)
    assert found(snapshot, "rendering of the response")[0] in {"shop/accounts.py::render", "shop/accounts.py::make_response"}
    assert "tools/lib/voucher_printer.py::print_all" in found(snapshot, "vouchers printing")


def test_messages_of_commits_count(repo: Repo) -> None:
    repo.write({"alpha.py": "def one():\n    return 1\n"})
    repo.write({"beta.py": "def two():\n    return 1\n"})
    repo.commit(None, "First")
    repo.write({"beta.py": "def two():\n    return 2\n"})
    repo.commit(None, "Honour the sabbatical rule")
    before, after = snapshot_of(repo, "HEAD~1"), snapshot_of(repo)
    assert search_files(after, "sabbatical")[0].path == "beta.py"
    assert search_files(before, "sabbatical") == ()


def test_uncommitted_files_are_searched(shop: Repo) -> None:
    shop.write({"shop/fresh.py": "def brand_new_thing():\n    return 1\n"})
    shop.write({"shop/cart.py": "def voucher_desk():\n    return 1\n"})
    snapshot = snapshot_of(shop, "WORKTREE")
    assert found(snapshot, "brand new thing")[0] == "shop/fresh.py::brand_new_thing"
    assert found(snapshot, "voucher desk")[0] == "shop/cart.py::voucher_desk"
    assert not any(handle.endswith("Cart.checkout") for handle in found(snapshot, "checkout cart"))


def test_the_order_does_not_depend_on_what_was_asked_before(shop: Repo) -> None:
    questions = ("render", "authenticate password", "voucher codes", "cart")
    forward = {text: search(snapshot_of(shop), text) for text in questions}
    backward = {text: search(snapshot_of(shop), text) for text in reversed(questions)}
    assert {text: [(hit.symbol.handle, hit.score) for hit in hits] for text, hits in forward.items()} == {
        text: [(hit.symbol.handle, hit.score) for hit in hits] for text, hits in backward.items()
    }


QUESTIONS = ("checkout", "voucher codes", "render", "autenticate", "chec", "sabbatical", "userservice", "printer", "cart thing")


def answers(repository: tokenzip.Repository, rev: str) -> list[object]:
    snapshot = repository.snapshot(rev)
    return [
        ([(hit.symbol.handle, hit.score, hit.why) for hit in search(snapshot, text)], search_files(snapshot, text))
        for text in QUESTIONS
    ]


def test_answers_do_not_depend_on_what_else_the_store_holds(
    shop: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Older and newer versions of files, copies, renames, uncommitted files, and what `gc` keeps of them."""
    shop.commit({"shop/cart.py": "def sabbatical_check():\n    return 1\n"}, "Second")
    shop.commit({"shop/copy.py": FILES["shop/cart.py"], "shop/cart.py": FILES["shop/cart.py"]}, "Third")
    shop.git("mv", "tools/lib/voucher_printer.py", "shop/printer.py")
    shop.git("commit", "-qm", "Fourth")
    revisions = [shop.git("rev-parse", f"HEAD~{back}").strip() for back in range(4)]
    full = tokenzip.repo(str(shop.path))
    for rev in reversed(revisions):
        full.snapshot(rev)
    shop.write({"shop/copy.py": "def sabbatical():\n    return voucher_codes\n"})
    uncommitted = answers(full, "WORKTREE")
    kept = {rev: answers(full, rev) for rev in revisions}
    for number, rev in enumerate(revisions):
        monkeypatch.setenv("TOKENZIP_HOME", str(tmp_path / f"fresh{number}"))
        assert answers(tokenzip.repo(str(shop.path)), rev) == kept[rev]
    assert answers(tokenzip.repo(str(shop.path)), "WORKTREE") == uncommitted
    shop.git("add", "-A")
    assert answers(tokenzip.repo(str(shop.path)), "INDEX") == uncommitted


def test_gc_keeps_words(shop: Repo) -> None:
    shop.commit({"shop/cart.py": "def sabbatical_check():\n    return 1\n"}, "Second")
    shop.commit({"shop/cart.py": FILES["shop/cart.py"]}, "Third")
    repository = tokenzip.repo(str(shop.path))
    for rev in ("HEAD~2", "HEAD~1", "HEAD"):
        repository.snapshot(rev)
    before = answers(repository, "HEAD")
    assert found(repository.snapshot("HEAD~1"), "sabbatical")
    repository.gc()
    after = tokenzip.repo(str(shop.path))
    with after.store.reading() as reading:
        assert reading.words.documents("voucher")
    assert answers(after, "HEAD") == before
    shop.commit({"shop/desk.py": "def voucher_desk():\n    return 1\n"}, "Fourth")
    assert found(after.snapshot("HEAD"), "voucher desk")[0] == "shop/desk.py::voucher_desk"


@pytest.mark.parametrize("text", ["", " ", "the", "???", "zzzzqqqq", "a.b.c(d)", "`", "\ud800", "x" * 5000, "ü", "::"])
def test_odd_questions_have_answers(shop: Repo, text: str) -> None:
    assert isinstance(search(snapshot_of(shop), text), tuple)


@pytest.mark.parametrize("text", ["x" * 100_000, "a." * 50_000, "fooBar" * 16_000, "`" * 100_000, "voucher " * 14_000])
def test_of_a_long_question_only_the_beginning_is_read(shop: Repo, text: str) -> None:
    snapshot = snapshot_of(shop)
    begin = time.process_time()
    hits = search(snapshot, text)
    assert time.process_time() - begin < 2
    assert hits == search(snapshot, text[:LONGEST_QUESTION])


def test_an_empty_repository(make_repo: Callable[..., Repo]) -> None:
    repo = make_repo("empty")
    assert search(snapshot_of(repo, "WORKTREE"), "anything") == ()


def test_parts_of_identifiers() -> None:
    assert parts("parseHTTPHeader_v2") == ("parse", "http", "header")
    assert parts("_make_response2") == ("make", "response")
    assert parts("größeÄndern") == tuple(part for part in parts("größeÄndern") if part)
    assert words_of(b"fooBar baz_qux") == words_in("fooBar baz_qux") == {"foo", "bar", "baz", "qux"}


def test_questions() -> None:
    asked = question("Fix `res.status` when makeResponse is used\n\nAlso the cookie")
    assert list(asked.words) == ["res", "status", "make", "response", "cookie"]
    assert asked.words["cookie"] < asked.words["status"]
    assert asked.compounds == ("res.status", "makeresponse")
    assert question("the").words == {"the": 1.0}
    assert list(question("app.use").words) == ["app", "use"]


def test_inflections() -> None:
    assert {root(word) for word in ("handle", "handles", "handled", "handler", "handling")} == {"handl"}
    assert {"handle", "handled", "handling"} <= set(inflections("handler"))
    assert "entry" in inflections("entries")
    assert "entries" in inflections("entry")
    assert {"matching", "matches", "matched"} <= set(inflections("match"))
    assert all(root(other) == root("running") for other in inflections("running"))
    assert inflections("ab") == inflections("größe") == inflections("x" * 50) == ()


def test_nearest_words() -> None:
    vocabulary = ["response", "request", "render", "authenticate"]
    assert nearest("repsonse", vocabulary) == ["response"]
    assert nearest("autenticate", vocabulary) == ["authenticate"]
    assert nearest("abc", vocabulary) == []


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_distances_are_symmetric_and_bounded(one: str, other: str) -> None:
    distance = edit_distance(one, other, 2)
    assert distance == edit_distance(other, one, 2)
    assert (distance == 0) == (one == other)
    assert distance >= min(abs(len(one) - len(other)), 3) or distance == 3


def test_bare_names() -> None:
    for path in (
        "a/app.py",
        "test_app.py",
        "app_test.go",
        "x/app.test.ts",
        "app.spec.js",
        "App.java",
        "AppTest.java",
        "AppTests.kt",
    ):
        assert bare_name(path) == "app"
    assert bare_name("test.py") == "test"


def test_a_message_speaks_of_files_the_more_the_fewer_they_are() -> None:
    history = History(
        [("the voucher desk", ["a"]), ("vouchers and more", ["b", *map(str, range(50))]), ("a voucher", ["a", "c"])]
    )
    spoken = history.spoken_of({"voucher": 1.0})
    assert spoken["a"] > spoken["c"] > spoken.get("b", 0.0)
    assert history.spoken_of({"nothing": 1.0}) == {}
