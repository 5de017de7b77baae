"""The registry of operations: one small shop in Python and TypeScript, asked every question."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from gitrepo import Repo, shared_repo

from tokenzip.budget import estimate_tokens, lay_out
from tokenzip.errors import FileVanished, StoreChanged, TokenzipError
from tokenzip.items import doc_text
from tokenzip.operations import OPERATIONS, look_at
from tokenzip.operations.base import LONGEST_MESSAGE, Arguments, Operation
from tokenzip.operations.survey import Survey, survey
from tokenzip.repository import Repository
from tokenzip.repository import repo as open_repository

SHOP = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1.2"\ndependencies = ["requests>=2"]\n',
    "shop/__init__.py": "from shop.cart import Cart\n\n__all__ = ['Cart']\n",
    "shop/prices.py": (
        "import requests\n\n\n"
        "def fetch(name: str) -> int:\n"
        '    """The price of a thing, in cents."""\n'
        "    return int(requests.get(name).text)\n\n\n"
        "def discounted(name: str, share: float = 0.1) -> int:\n"
        "    return int(fetch(name) * (1 - share))\n"
    ),
    "shop/cart.py": (
        "from shop.prices import discounted\n\n\n"
        "class Cart:\n"
        '    """Things to buy."""\n\n'
        "    def __init__(self) -> None:\n"
        "        self.names: list[str] = []\n\n"
        "    def add(self, name: str) -> None:\n"
        "        self.names.append(name)\n\n"
        "    def total(self) -> int:\n"
        "        return sum(discounted(name) for name in self.names)\n\n\n"
        "def checkout(cart: Cart) -> int:\n"
        "    return cart.total()\n\n\n"
        "def guess(anything):\n"
        "    return anything.total()\n"
    ),
    "shop/__main__.py": (
        "from shop.cart import Cart, checkout\n\n\ndef main() -> None:\n    print(checkout(Cart()))\n\n\nmain()\n"
    ),
    "tests/test_cart.py": (
        "from shop import Cart\n\n\ndef test_total() -> None:\n    cart = Cart()\n    assert cart.total() == 0\n"
    ),
    "shop/shelves.py": (
        "class Shelf:\n"
        "    def put(self, name: str) -> None: ...\n\n\n"
        "class Fridge(Shelf):\n"
        "    def put(self, name: str) -> None: ...\n\n\n"
        "def stock(shelf: Shelf) -> None:\n"
        '    shelf.put("milk")\n\n\n'
        "def by_name(name: str) -> str:\n"
        "    return name\n\n\n"
        "def tidy(names: list[str]) -> list[str]:\n"
        "    by_name(names[0])\n"
        "    return sorted(names, key=by_name)\n\n\n"
        "def put_away(shelf: Shelf, how: str) -> None:\n"
        '    getattr(shelf, "put_" + how)()\n\n\n'
        "class Drawer(Shelf):\n"
        "    def put_flat(self) -> None: ...\n\n\n"
        "def count(names: list[str]) -> int:\n"
        "    def total() -> int:\n"
        "        return len(names)\n\n"
        "    return total()\n"
    ),
    "web/src/parse.ts": (
        "export function parse(text: string): string\n"
        "export function parse(text: number): number\n"
        "export function parse(text: any): any {\n  return text\n}\n\n"
        "export const three = (): number => parse(3)\n"
    ),
    "web/package.json": '{"name": "web", "version": "0.1.0"}\n',
    "web/src/api.ts": "export function fetch(path: string): string {\n  return path\n}\n",
    "web/src/index.ts": "import { fetch } from './api'\n\nexport const start = (): string => fetch('/')\n",
    "notes.txt": "nothing\n",
}


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    """The shop as committed; tests that share it only read."""
    with shared_repo(tmp_path_factory, "shop") as repo:
        repo.commit(SHOP, "shop")
        yield repo


@pytest.fixture(scope="module")
def shop(unchanged: Repo) -> Repository:
    return open_repository(str(unchanged.path))


@pytest.fixture(scope="module")
def ask(shop: Repository) -> Callable[..., dict[str, Any]]:
    def ask(tool: str, **arguments: object) -> dict[str, Any]:
        return OPERATIONS[tool].run(shop, {"max_tokens": 0, **arguments})

    return ask


Ask = Callable[..., dict[str, Any]]
QUESTIONS: dict[str, dict[str, Any]] = {
    "diff_commits": {"base": "HEAD", "head": "WORKTREE"},
    "execute_workflow_template": {"name": "bug-fix", "inputs": ['File "/app/shop/cart.py", line 14, in total\nKeyError: 1']},
    "get_context_for_files": {"files": ["shop/prices.py"]},
    "get_dependants": {"handle": "shop/prices.py::discounted", "depth": 3},
    "get_dependencies": {"handle": "shop/cart.py::Cart.total", "depth": 2},
    "get_git_history": {"handle": "shop/prices.py::fetch"},
    "get_impact_analysis": {"handles": ["shop/prices.py::fetch"]},
    "get_workflow": {},
    "query_file": {"path": "shop/cart.py"},
    "query_module": {"module": "."},
    "query_repo_structure": {},
    "query_symbol": {"handle": "Cart"},
    "search_symbols": {"query": "cart total"},
    "trace_path": {"from": "shop/__main__.py::main", "to": "shop/prices.py::fetch"},
}


def handles(answer: dict[str, Any]) -> list[str]:
    return [item["handle"] for item in answer["items"]]


# Shapes that all answers share.


def test_every_operation_is_asked_here_and_registered_under_its_name() -> None:
    assert set(QUESTIONS) == set(OPERATIONS)
    assert all(name == operation.name for name, operation in OPERATIONS.items())


@pytest.mark.parametrize("tool", QUESTIONS)
def test_every_answer_carries_the_envelope(tool: str, ask: Ask) -> None:
    answer = ask(tool, **QUESTIONS[tool])
    assert "error" not in answer, answer
    assert set(answer["at"]) == {"rev", "commit", "dirty"}
    assert answer["complete"] is True or set(answer["complete"]) >= {"why", "unresolved"}
    assert answer["truncated"] is None
    assert 1 <= len(answer.get("next", ["none"])) <= 2, "an answer that stands alone proposes nothing"
    assert json.loads(lay_out(answer)) == answer


@pytest.mark.parametrize("tool", QUESTIONS)
def test_proposed_calls_can_be_made(tool: str, ask: Ask, shop: Repository) -> None:
    for each in ask(tool, **QUESTIONS[tool]).get("next", ()):
        assert "error" not in OPERATIONS[each["tool"]].run(shop, each["arguments"]), each


@pytest.mark.parametrize("tool", QUESTIONS)
def test_the_same_question_gets_the_same_bytes(tool: str, ask: Ask, unchanged: Repo) -> None:
    first = ask(tool, **QUESTIONS[tool])
    again = OPERATIONS[tool].run(open_repository(str(unchanged.path)), {"max_tokens": 0, **QUESTIONS[tool]})
    assert lay_out(first) == lay_out(again)


@pytest.mark.parametrize("tool", QUESTIONS)
@pytest.mark.parametrize("budget", [50, 100, 150, 200, 250, 500, 1000])
def test_a_budget_holds_and_what_is_missing_is_said(tool: str, budget: int, ask: Ask) -> None:
    whole = ask(tool, **QUESTIONS[tool])
    answer = ask(tool, **QUESTIONS[tool] | {"max_tokens": budget})
    assert estimate_tokens(lay_out(answer)) <= answer["token_count"] <= budget, lay_out(answer)
    always = {"next", "left_out", "truncated", "token_count", "at", "base", "head", "complete"}
    if any(answer.get(name) != value for name, value in whole.items() if name not in always):
        assert answer["truncated"] or answer.get("left_out") or any("cut" in item for item in answer.get("items", ())), answer


@pytest.mark.parametrize("budget", [50, 100, 200])
def test_a_budget_holds_for_mistakes(budget: int, ask: Ask) -> None:
    for tool, arguments in (("query_symbol", {"handle": "fetch"}), ("get_dependants", {"hanlde": "x" * 400})):
        assert estimate_tokens(lay_out(ask(tool, **arguments, max_tokens=budget))) <= budget


@pytest.mark.parametrize(
    "tool",
    [
        name
        for name, operation in OPERATIONS.items()
        if "cursor" in {each.name for each in operation.parameters} and name in QUESTIONS
    ],
)
@pytest.mark.parametrize("budget", [180, 260, 400])
def test_cursors_lead_to_everything_that_was_left_out_once(tool: str, budget: int, ask: Ask) -> None:
    whole = ask(tool, **QUESTIONS[tool])
    got: list[dict[str, Any]] = []
    cursor = None
    for _ in range(len(whole["items"]) + 1 if "items" in whole else 0):
        answer = ask(tool, **QUESTIONS[tool], max_tokens=budget, cursor=cursor)
        got += answer["items"]
        if answer["truncated"] is None:
            break
        cursor = answer["truncated"]["cursor"]
        assert cursor, answer
    assert [item["handle"] for item in got] == [item["handle"] for item in whole.get("items", ())]


# Mistakes are answers.


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "word"),
    [
        ("get_dependants", {"handle": "Crat"}, "unknown_symbol", "Crat"),
        ("get_dependants", {"handle": "fetch"}, "ambiguous_symbol", "fetch"),
        ("get_dependants", {"handle": "Cart", "depth": 0}, "usage", "depth"),
        ("get_dependants", {"handle": "Cart", "kinds": ["hugs"]}, "usage", "hugs"),
        ("get_dependants", {}, "usage", "handle"),
        ("get_dependants", {"handle": " "}, "usage", "empty"),
        ("query_module", {"module": ""}, "unknown_symbol", "no module"),
        ("get_dependants", {"handle": 3}, "usage", "string"),
        ("get_dependants", {"hanlde": "Cart"}, "usage", "hanlde"),
        ("get_dependants", {"handle": "Cart", "at": "nowhere"}, "unknown_revision", "nowhere"),
        ("get_dependants", {"handle": "Cart", "cursor": "zz"}, "usage", "cursor"),
        ("query_module", {"module": "shops"}, "unknown_symbol", "shops"),
        ("query_symbol", {"handle": "shop/cart.py"}, "usage", "query_file"),
        ("query_file", {"path": "Cart"}, "usage", "query_symbol"),
        ("search_symbols", {"query": "  "}, "usage", "search"),
        ("get_impact_analysis", {"handles": []}, "usage", "handles"),
        ("trace_path", {"from": "Cart", "to": "web"}, "usage", "module"),
    ],
)
def test_mistakes_are_answers(tool: str, arguments: dict[str, Any], code: str, word: str, ask: Ask) -> None:
    answer = ask(tool, **arguments)
    error = answer["error"]
    assert error["code"] == code
    assert word in error["message"] + error["hint"] or word == answer["next"][0]["tool"]
    assert error["hint"]


def test_candidates_of_an_ambiguous_name_can_be_fed_back(ask: Ask) -> None:
    candidates = ask("query_symbol", handle="fetch")["error"]["candidates"]
    assert candidates == ["shop/prices.py::fetch", "web/src/api.ts::fetch"]
    assert [ask("query_symbol", handle=each)["symbol"]["handle"] for each in candidates] == candidates


def test_an_unknown_name_gets_the_nearest(ask: Ask) -> None:
    assert "shop/cart.py::checkout" in ask("query_symbol", handle="chekout")["error"]["candidates"]


# Relations.


def test_callers_are_listed_with_their_edges_nearest_first(ask: Ask) -> None:
    answer = ask("get_dependants", handle="discounted", kinds=["calls"], depth=3)
    assert [(item["handle"], item["distance"]) for item in answer["items"]] == [
        ("shop/cart.py::Cart.total", 1),
        ("shop/cart.py::checkout", 2),
        ("tests/test_cart.py::test_total", 2),
        ("shop/__main__.py::main", 3),
    ]
    assert "of" in answer, "the question named it in short"
    first = answer["items"][0]
    assert first == {
        "handle": "shop/cart.py::Cart.total",
        "file": "shop/cart.py",
        "line": 13,
        "edge": {"line": 14},
        "distance": 1,
    }
    assert answer["items"][1]["via"] == "Cart.total"


def test_the_kind_of_edges_is_said_once_where_it_was_asked_for(ask: Ask) -> None:
    one = ask("get_dependants", handle="discounted", kinds=["calls"])
    assert ("edge_kind" in one, one["items"][0]["edge"]) == (False, {"line": 14})
    several = ask("get_dependants", handle="discounted", kinds=["calls", "inherits"])
    assert (several["edge_kind"], several["items"][0]["edge"]) == ("calls", {"line": 14})
    whatever = ask("get_dependants", handle="discounted")
    assert all("kind" in item["edge"] for item in whatever["items"])


def test_all_is_said_of_each_item_on_request(ask: Ask) -> None:
    arguments = {"handle": "shop/prices.py::discounted", "kinds": ["calls"], "depth": 3}
    assert "of" not in ask("get_dependants", **arguments)
    answer = ask("get_dependants", **arguments, detail="signatures")
    assert answer["of"]["handle"] == arguments["handle"]
    first = answer["items"][0]
    assert first["edge"] == {"kind": "calls", "line": 14, "tier": "exact"}
    assert {"id", "kind", "file", "line", "end_line", "signature"} <= first.keys()
    assert answer["items"][2]["test"] is True
    assert answer["items"][1]["via"] == "shop/cart.py::Cart.total"
    found = ask("get_impact_analysis", handles=["shop/prices.py::fetch"], detail="signatures")
    assert found["modules"] == [{"module": ".", "reached": len(found["items"])}]
    assert {each["file"] for each in found["files"]} >= {"shop/cart.py", "shop/prices.py"}
    assert {"kind", "file", "edge", "via", "test"} <= found["items"][-1].keys()


def test_calls_of_a_class_are_calls_of_its_constructor_and_the_other_way_round(ask: Ask) -> None:
    expected = ["shop/__main__.py::main", "tests/test_cart.py::test_total"]
    for handle in ("Cart", "Cart.__init__"):
        assert handles(ask("get_dependants", handle=handle, kinds=["calls"])) == expected, handle


def test_what_may_be_missing_is_counted(ask: Ask) -> None:
    complete = ask("get_dependants", handle="Cart.total", kinds=["calls"])["complete"]
    assert complete["unresolved"] == 1
    assert complete["places"] == ["shop/cart.py:22"]
    assert ask("get_dependants", handle="checkout", kinds=["calls"])["complete"] is True


@pytest.mark.parametrize("rest", ["x = (\n", "def g(:\n    f()\n"])
def test_a_file_that_was_read_in_part_leaves_answers_open(rest: str, repo: Repo) -> None:
    repo.commit(SHOP | {"shop/part.py": "def h():\n    return 1\n\n\n" + rest + "\n# fetched, then discounted\n"})
    opened = open_repository(str(repo.path))
    assert opened.snapshot().file("shop/part.py").status == "partial"  # type: ignore[union-attr]

    def complete(tool: str, **arguments: object) -> Any:
        return OPERATIONS[tool].run(opened, arguments)["complete"]

    for tool, arguments in (
        ("get_dependants", {"handle": "discounted", "kinds": ["calls"]}),
        ("query_symbol", {"handle": "discounted"}),
        ("search_symbols", {"query": "discounted"}),
        ("get_impact_analysis", {"handles": ["discounted"]}),
    ):
        said = complete(tool, **arguments)
        assert said is not True, tool
        assert any(place.startswith("shop/part.py") for place in said["places"]), said
    assert complete("get_dependants", handle="checkout", kinds=["calls"]) is True, "it does not speak of that"
    assert complete("get_dependencies", handle="shop/part.py") is not True


def test_who_calls_a_value_is_not_known(ask: Ask) -> None:
    answer = ask("get_dependants", handle="by_name", kinds=["calls"])
    assert handles(answer) == ["shop/shelves.py::tidy"]
    assert (answer["complete"]["unresolved"], answer["complete"]["places"]) == (1, ["shop/shelves.py:19"])
    assert ask("get_dependants", handle="by_name")["complete"] is True, "the place is in the list"


def test_calls_of_what_a_method_overrides_may_be_calls_of_it(ask: Ask) -> None:
    complete = ask("get_dependants", handle="Fridge.put", kinds=["calls"])["complete"]
    assert "shop/shelves.py::Shelf.put" in complete["why"]
    assert complete["places"] == ["shop/shelves.py:10"]
    assert ask("get_dependants", handle="Shelf.put", kinds=["calls"])["complete"] is True


def test_what_runs_without_a_call_of_its_name_is_told(repo: Repo) -> None:
    repo.commit(
        {
            "base.py": "class Base:\n    def __init__(self, x): ...\n\n    def __iter__(self):\n        return iter(())\n",
            "use.py": "from base import Base\n\n\nclass Sub(Base):\n    pass\n\n\n"
            "def make():\n    return Sub(1)\n\n\ndef loop(base: Base):\n    for each in base:\n        print(each)\n\n\n"
            "def direct():\n    return Base(2)\n",
        }
    )

    def asked(**arguments: object) -> dict[str, Any]:
        return OPERATIONS["get_dependants"].run(open_repository(str(repo.path)), arguments)

    calls = asked(handle="Base.__init__", kinds=["calls"])
    assert handles(calls) == ["use.py::direct"]
    assert (calls["complete"]["places"], "constructor" in calls["complete"]["why"]) == (["use.py:9"], True)
    assert asked(handle="Base.__iter__", kinds=["calls"])["complete"]["places"] == ["use.py:13"]
    everything = asked(handle="Base.__init__")
    assert (handles(everything), everything["complete"]) == (["use.py::direct", "use.py::make"], True)


def test_a_name_that_is_computed_may_be_one_that_begins_so(ask: Ask) -> None:
    complete = ask("get_dependants", handle="Drawer.put_flat", kinds=["calls"])["complete"]
    assert (complete["unresolved"], complete["places"]) == (1, ["shop/shelves.py:23"])


def test_no_other_file_can_name_a_function_inside_a_function(ask: Ask) -> None:
    answer = ask("get_dependants", handle="count.total", kinds=["calls"])
    assert handles(answer) == ["shop/shelves.py::count"]
    assert answer["complete"] is True, "a call of some total elsewhere cannot mean it"


def test_every_overload_has_the_callers_of_all(ask: Ask) -> None:
    for handle in ("parse", "web/src/parse.ts::parse#2", "web/src/parse.ts::parse#3"):
        assert handles(ask("get_dependants", handle=handle, kinds=["calls"])) == ["web/src/parse.ts::three"], handle


def test_where_there_are_no_calls_other_uses_are_told(ask: Ask) -> None:
    answer = ask("get_dependants", handle="checkout", kinds=["inherits"])
    assert answer["items"] == []
    assert set(answer["other_kinds"]) == {"calls", "imports"}
    assert answer["next"][0]["tool"] == "get_dependants"


def test_dependencies_of_a_class_are_those_of_its_members(ask: Ask) -> None:
    assert "shop/prices.py::discounted" in handles(ask("get_dependencies", handle="Cart"))


def test_a_file_is_asked_about_by_files(ask: Ask) -> None:
    used = ask("get_dependencies", handle="shop/cart.py")
    assert handles(used) == ["shop/prices.py"]
    assert used["items"][0]["edge"]["kind"] == "imports"
    users = ask("get_dependants", handle="shop/cart.py")
    assert set(handles(users)) >= {"shop/__main__.py", "shop/__init__.py"}
    assert ask("get_dependencies", handle="shop/prices.py")["external"] == ["requests"]


def test_include_source(ask: Ask) -> None:
    item = ask("get_dependants", handle="discounted", kinds=["calls"], include=["source", "doc"])["items"][0]
    assert item["source"].startswith("def total(self)")


def test_paths_are_traced_with_their_call_sites(ask: Ask) -> None:
    answer = ask("trace_path", **QUESTIONS["trace_path"])
    steps = answer["items"][0]["steps"]
    assert [step["handle"].rpartition("::")[2] for step in steps] == ["main", "checkout", "Cart.total", "discounted", "fetch"]
    assert [step["edge"]["line"] for step in steps[1:]] == [5, 18, 14, 10]
    assert answer["over"] == "calls"


def test_where_there_is_no_path_the_answer_says_so(ask: Ask) -> None:
    answer = ask("trace_path", **{"from": "shop/prices.py::fetch", "to": "checkout"})
    assert answer["items"] == []
    assert answer["next"][0]["tool"] == "trace_path"


# Symbols, files, modules, the map.


def test_a_symbol_is_described(ask: Ask) -> None:
    answer = ask("query_symbol", handle="Cart")
    assert answer["symbol"]["doc"].strip("\"' ") == "Things to buy."
    assert [member["handle"].rpartition(".")[2] for member in answer["members"]][:1] == ["__init__"]
    assert answer["used_by"]["total"] >= 2
    discounted = ask("query_symbol", handle="discounted", include=["source"])["symbol"]
    assert discounted["parameters"] == ["name: str", "share: float = 0.1"]
    assert discounted["returns"] == "int"
    assert discounted["source"].startswith("def discounted")


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('"""One.\n\n    Two.\n      Three.\n    """', "One.\n\nTwo.\n  Three."),
        ("r'one'", "one"),
        ("/**\n   * One `x`.\n   *\n   * @see {@link y}\n   */", "One `x`.\n\n@see {@link y}"),
        ("/** One. */", "One."),
        ("// One\n// two", "One\ntwo"),
        ("# One\n#   two", "One\n  two"),
        ("plain * text", "plain * text"),
    ],
)
def test_documentation_is_told_without_the_signs_around_it(written: str, text: str) -> None:
    assert doc_text(written) == text


def test_of_a_long_documentation_the_first_paragraph_is_enough(repo: Repo) -> None:
    repo.commit({"a.py": 'def f():\n    """One\n    and two.\n\n    Three.\n    """\n'})
    opened = open_repository(str(repo.path))
    assert OPERATIONS["query_symbol"].run(opened, {"handle": "f"})["symbol"]["doc"] == "One and two. …"
    whole = OPERATIONS["query_symbol"].run(opened, {"handle": "f", "include": ["doc"]})
    assert whole["symbol"]["doc"] == "One\nand two.\n\nThree."


def test_a_folder_is_answered_for(ask: Ask, shop: Repository) -> None:
    answer = ask("query_module", module="web/src/")
    assert answer["module"] | {"lines": 0, "symbols": 0} == {
        "handle": "web/src", "kind": "folder", "name": "src", "files": 3, "lines": 0, "symbols": 0,
        "language": "typescript", "parent": "web",
    }  # fmt: skip
    assert set(handles(answer)) == {"web/src/api.ts", "web/src/index.ts", "web/src/parse.ts"}
    assert ask("query_module", module="shop/")["used_by"] == [{"module": "tests", "edges": 4}]
    assert look_at(shop, {"handle": "web/src"})[0] == "query_module"
    refused = ask("get_dependants", handle="web/src")
    assert (refused["error"]["code"], "folder" in refused["error"]["message"]) == ("usage", True)
    assert refused["next"] == [{"tool": "query_module", "arguments": {"module": "web/src"}}]


def test_the_map_orients(ask: Ask) -> None:
    answer = ask("query_repo_structure")
    assert [(item["handle"], item["name"]) for item in answer["items"]] == [(".", "shop"), ("web", "web")]
    assert answer["counts"]["status"]["skipped"] == 1
    assert [item["language"] for item in answer["languages"]] == ["python", "typescript"]
    assert "shop/__main__.py" in [item["handle"] for item in answer["entry_points"]]
    assert answer["most_used"]


def test_a_module_shows_its_packages_and_files(ask: Ask) -> None:
    answer = ask("query_module", module=".")
    assert answer["module"]["packages"] == [{"name": "requests", "range": ">=2", "source": "pip"}]
    assert handles(answer)[-1] == "tests/test_cart.py"
    assert handles(ask("query_module", module="web")) == ["web/src/api.ts", "web/src/index.ts", "web/src/parse.ts"]


def test_a_file_shows_its_outline(ask: Ask) -> None:
    answer = ask("query_file", path="cart.py")
    assert answer["file"]["status"] == "parsed"
    assert [handle.rpartition("::")[2] for handle in handles(answer)] == [
        "Cart", "Cart.__init__", "Cart.names", "Cart.add", "Cart.total", "checkout", "guess",
    ]  # fmt: skip
    assert answer["imports"] == [{"file": "shop/prices.py", "names": ["discounted"]}]


@pytest.mark.parametrize(
    ("handle", "tool"), [("Cart", "query_symbol"), ("cart.py", "query_file"), ("web", "query_module"), (".", "query_module")]
)
def test_a_handle_is_looked_at_by_what_it_names(handle: str, tool: str, shop: Repository) -> None:
    found, answer = look_at(shop, {"handle": handle, "max_tokens": 0})
    assert (found, "error" in answer) == (tool, False)


# Changes.


@pytest.fixture
def changed(repo: Repo) -> Repository:
    repo.commit(SHOP, "shop")
    prices = SHOP["shop/prices.py"].replace("share: float = 0.1", "share: float")
    cart = SHOP["shop/cart.py"].replace(
        "def guess(anything):\n    return anything.total()\n", "def empty() -> Cart:\n    return Cart()\n"
    )
    repo.write({"shop/prices.py": prices, "shop/cart.py": "\n\n" + cart})
    return open_repository(str(repo.path))


def test_a_diff_lists_what_changed_and_nothing_that_only_shifted(changed: Repository) -> None:
    answer = OPERATIONS["diff_commits"].run(changed, {"max_tokens": 0})
    changes = {change["handle"].rpartition("::")[2]: change for change in answer["changes"] if change["kind"] != "file"}
    assert {name: change["change"] for name, change in changes.items()} == {
        "discounted": "signature", "guess": "removed", "empty": "added",
    }  # fmt: skip
    assert changes["discounted"]["breaking"] is True
    assert changes["discounted"]["reached"] >= 1
    assert answer["changes"][0]["handle"] == "shop/prices.py::discounted"
    assert [each["handle"] for each in answer["broken"]] == ["shop/cart.py::Cart.total"]
    assert answer["base"]["rev"] == "HEAD"
    assert answer["head"] == {"rev": "WORKTREE", "commit": answer["base"]["commit"], "dirty": True}
    assert answer["summary"]["breaking"] >= 1


def test_a_diff_of_a_state_with_itself_is_empty(ask: Ask) -> None:
    answer = ask("diff_commits", base="HEAD", head="HEAD")
    assert (answer["changes"], answer["broken"], answer["impact"]) == ([], [], [])


def test_the_tests_to_run(repo: Repo) -> None:
    """Changed ones first, then by distance; a helper and a file of fixtures are no tests, a file without test symbols is."""
    repo.commit({
        "lib.py": "def core(a):\n    return a\n\n\ndef middle():\n    return core(1)\n",
        "tests/__init__.py": "",
        "tests/conftest.py": (
            "import pytest\nfrom lib import core\n\n\n@pytest.fixture\ndef box():\n    return core(2)\n"
        ),
        "tests/helper.py": "from lib import core\n\n\ndef help():\n    return core(3)\n",
        "tests/test_far.py": "from lib import middle\n\n\ndef test_far():\n    assert middle()\n",
        "tests/test_box.py": "def test_box(box):\n    assert box\n",
        "tests/test_help.py": "from tests.helper import help\n\n\nclass TestIt:\n    def test(self):\n        assert help()\n",
        "tests/test_near.py": "from lib import core\n\n\ndef test_near():\n    assert core(1)\n\n\ndef test_no():\n    pass\n",
        "tests/test_own.py": "def test_own():\n    pass\n\n\ndef test_same():\n    pass\n",
        "web/api.ts": "export const size = (a: string): number => a.length\n",
        "web/api.test.ts": "import { size } from './api'\n\ntest('size', () => { expect(size('a')).toBe(1) })\n",
    })  # fmt: skip
    repo.write({
        "lib.py": "def core(a):\n    return a + 1\n\n\ndef middle():\n    return core(1)\n",
        "tests/test_own.py": "def test_own():\n    assert True\n\n\ndef test_same():\n    pass\n",
        "web/api.ts": "export const size = (a: string): number => a.length + 0\n",
    })  # fmt: skip
    shop = open_repository(str(repo.path))
    answer = OPERATIONS["diff_commits"].run(shop, {"tests": True, "max_tokens": 0})
    assert [(item["handle"], item["distance"]) for item in answer["run"]] == [
        ("tests/test_own.py::test_own", 0),
        ("tests/test_near.py::test_near", 1),
        ("web/api.test.ts", 1),
        ("tests/test_box.py::test_box", 2),
        ("tests/test_far.py::test_far", 2),
        ("tests/test_help.py::TestIt.test", 2),
    ]
    near = OPERATIONS["diff_commits"].run(shop, {"tests": True, "max_tokens": 0, "impact": 1})
    assert [item["distance"] for item in near["run"]] == [0, 1, 1]
    assert "beyond 1 step" in near["complete"]["why"]
    short = OPERATIONS["diff_commits"].run(shop, {"tests": True, "max_tokens": 250})
    assert short["token_count"] <= 250
    assert short["truncated"]["total"] == 6


def test_a_diff_takes_ranges(changed: Repository, repo: Repo) -> None:
    repo.commit({}, "second")
    two = OPERATIONS["diff_commits"].run(changed, {"base": "HEAD~1", "head": "HEAD", "max_tokens": 0})
    for text in ("HEAD~1..HEAD", "HEAD~1...HEAD"):
        assert OPERATIONS["diff_commits"].run(changed, {"base": text, "max_tokens": 0})["changes"] == two["changes"]


def test_impact_is_told_by_distance_file_module_and_test(ask: Ask) -> None:
    answer = ask("get_impact_analysis", handles=["shop/prices.py::fetch"], depth=3)
    assert [item["handle"] for item in answer["items"] if item["distance"] == 1] == ["shop/prices.py::discounted"]
    assert answer["summary"]["tests"] == 1
    assert not {"modules", "files"} & answer.keys(), "one module, and every item is there"
    assert answer["items"][0] == {"handle": "shop/prices.py::discounted", "file": "shop/prices.py", "line": 9, "distance": 1}
    assert answer["items"][-1]["via"]
    assert answer["complete"]["why"].endswith("more beyond 3 steps")
    assert "uses of total" in answer["complete"]["why"]
    tests = ask("get_impact_analysis", handles=["shop/prices.py::fetch"], depth=3, tests=True)
    assert handles(tests) == ["tests/test_cart.py::test_total"]
    assert tests["summary"] == answer["summary"]
    assert "files" in ask("get_impact_analysis", handles=["shop/prices.py::fetch"], max_tokens=200)


# The survey: kept for commits, brought up to date for the work tree.


def test_a_survey_of_the_work_tree_is_what_counting_anew_gives(repo: Repo) -> None:
    repo.commit(SHOP, "shop")
    opened = open_repository(str(repo.path))
    OPERATIONS["query_repo_structure"].run(opened, {"at": "HEAD"})
    for edit in (
        {"shop/cart.py": SHOP["shop/cart.py"].replace("discounted(name)", "len(name)")},
        {"shop/prices.py": None},
        {"web/package.json": '{"name": "site"}'},
        {"new/pyproject.toml": '[project]\nname = "new"\n', "new/main.py": "def broken(:\n"},
    ):
        repo.write(edit)
        snapshot = opened.snapshot()
        kept, counted = survey(snapshot), survey(snapshot, whole=True)
        for name in Survey.__slots__:
            kept_part, counted_part = getattr(kept, name), getattr(counted, name)
            if isinstance(kept_part, Counter):
                assert +kept_part == +counted_part, name
            elif isinstance(kept_part, dict):
                assert {key: tally.item() for key, tally in kept_part.items() if tally.files} == {
                    key: tally.item() for key, tally in counted_part.items()
                }, name
        fresh = open_repository(str(repo.path))
        assert OPERATIONS["query_repo_structure"].run(opened, {}) == OPERATIONS["query_repo_structure"].run(fresh, {})


def test_a_short_memory_of_users_never_changes_an_answer(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(SHOP, "shop")
    opened = open_repository(str(repo.path))
    whole = [OPERATIONS[tool].run(opened, {**arguments, "max_tokens": 0}) for tool, arguments in ORIENTATION]
    monkeypatch.setattr("tokenzip.operations.survey.KEPT_USERS", 1)
    monkeypatch.setattr("tokenzip.operations.survey.FORMAT", -1)
    for _ in range(2):
        assert [OPERATIONS[tool].run(opened, {**arguments, "max_tokens": 0}) for tool, arguments in ORIENTATION] == whole


ORIENTATION: list[tuple[str, dict[str, Any]]] = [
    ("query_repo_structure", {}),
    ("query_module", {"module": "."}),
    ("query_module", {"module": "web"}),
]


def test_levels_of_detail(ask: Ask) -> None:
    arguments = {"handle": "discounted", "kinds": ["calls"], "depth": 3}
    whole, names = ask("get_dependants", **arguments, detail="signatures"), ask("get_dependants", **arguments, detail="names")
    assert handles(whole) == handles(names)
    assert set(names["items"][0]) == {"handle", "file", "line", "edge", "distance"}
    assert names["token_count"] < 0.7 * whole["token_count"]
    assert set(ask("search_symbols", query="cart", detail="names")["items"][0]) == {"handle", "file", "line"}
    found = ask("search_symbols", query="cart total")["items"][0]
    assert set(found) == {"handle", "kind", "file", "line", "end_line", "signature"}


def test_a_search_for_a_name_that_there_is_answers_with_its_definitions(ask: Ask) -> None:
    answer = ask("search_symbols", query="fetch")
    assert handles(answer) == ["shop/prices.py::fetch", "web/src/api.ts::fetch"]
    assert handles(ask("search_symbols", query="fetch", module="web")) == ["web/src/api.ts::fetch"]
    assert handles(ask("search_symbols", query="Cart.total")) == ["shop/cart.py::Cart.total"]
    limited = ask("search_symbols", query="fetch", limit=1)
    assert (len(limited["items"]), limited["definitions"]) == (1, 2)
    assert "Cart" in ask("search_symbols", query="cart")["items"][0]["handle"], "no name is spelled so"


@pytest.mark.parametrize(
    ("tool", "argument"), [("diff_commits", "base"), ("query_repo_structure", "at"), ("query_symbol", "handle")]
)
def test_half_a_surrogate_pair_is_a_mistake_and_no_bug(tool: str, argument: str, ask: Callable[..., dict[str, Any]]) -> None:
    answer = ask(tool, **{argument: "\ud800"})
    assert answer["error"]["code"] == "usage"
    assert argument in answer["error"]["message"]


def test_an_error_does_not_say_back_a_whole_file(ask: Callable[..., dict[str, Any]]) -> None:
    for tool, argument in (("query_symbol", "handle"), ("query_module", "module"), ("diff_commits", "base")):
        assert len(ask(tool, **{argument: "word " * 5000})["error"]["message"]) <= LONGEST_MESSAGE


@pytest.mark.parametrize("error", [FileVanished, StoreChanged])
def test_a_question_is_asked_again_when_what_it_is_about_was_taken_away_meanwhile(
    error: type[TokenzipError], shop: Repository
) -> None:
    times: list[int] = []

    def vanishing(repository: Repository, arguments: Arguments) -> dict[str, Any]:
        times.append(1)
        if len(times) < 3:
            raise error("gone")
        return {"items": []}

    assert Operation("vanishing", "", (), vanishing).run(shop, {}) == {"items": []}
    assert len(times) == 3
