"""create-module, update-module, implement-feature and upgrade-feature; and what all templates share."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from gitrepo import Repo

from tokenzip.budget import estimate_tokens, lay_out
from tokenzip.operations import OPERATIONS
from tokenzip.repository import Repository
from tokenzip.repository import repo as open_repository
from tokenzip.workflows import TEMPLATES
from tokenzip.workflows.around import dependency_first
from tokenzip.workflows.implementing import NAME
from tokenzip.workflows.naming import STYLES, fits, placeholders, style_of, styled

Run = Callable[..., dict[str, Any]]
EXAMPLES: dict[str, tuple[str, ...]] = {
    "bug-fix": ('File "/srv/shop/prices.py", line 11, in fetch\nKeyError: 1',),
    "create-module": ("name=web/packages/view-grid", "dependencies=@shop/view-list,left-pad"),
    "implement-feature": ("description=a `Voucher` for Cart.total that lowers each price, see shop/vouchers.py", "module=shop"),
    "update-module": ("module=shop", "description=price of an item"),
    "upgrade-feature": ("feature=fetch",),
}


def handles(items: list[dict[str, Any]]) -> list[str]:
    return [item["handle"] for item in items]


# What all share.


def test_every_template_has_an_example() -> None:
    assert set(EXAMPLES) == set(TEMPLATES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_answer_says_what_it_is_about_and_when_it_was_made(name: str, run: Run) -> None:
    answer = run(name, *EXAMPLES[name])
    assert "error" not in answer, answer
    assert list(answer)[:4] == ["at", "workflow", "stamp", "summary"]
    assert set(answer["stamp"]) == {"snapshot", "made"}
    assert answer["complete"] is True or answer["complete"]["why"]
    parts = {part.partition(".")[0] for step in TEMPLATES[name].steps for part in step.gives.split(", ")}
    assert parts <= set(answer), "every step gives what its description says"
    lists = {name for name, value in answer.items() if isinstance(value, list)} - {"next"}
    assert lists <= parts, "and nothing that no description names"


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_same_question_gets_the_same_bytes(name: str, run: Run, project: Repository) -> None:
    first = run(name, *EXAMPLES[name])
    again = OPERATIONS["execute_workflow_template"].run(
        open_repository(project.root or "."), {"name": name, "inputs": list(EXAMPLES[name]), "max_tokens": 0}
    )
    assert lay_out(first) == lay_out(again)


@pytest.mark.parametrize("name", EXAMPLES)
def test_running_it_anew_finds_the_same(name: str, project: Repository) -> None:
    template = TEMPLATES[name]
    inputs = template.checked(EXAMPLES[name])
    results = [template.run(open_repository(project.root or ".").snapshot("HEAD"), inputs).as_json() for _ in range(2)]
    assert json.dumps(results[0]) == json.dumps(results[1])


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("budget", [200, 400, 900])
def test_a_budget_holds_and_pages_make_the_whole(name: str, budget: int, run: Run) -> None:
    whole = run(name, *EXAMPLES[name])
    lists = [part for part, value in whole.items() if isinstance(value, list) and part != "next"]
    got: dict[str, list[Any]] = {part: [] for part in lists}
    cursor: str | None = None
    for _ in range(200):
        answer = run(name, *EXAMPLES[name], max_tokens=budget, **({"cursor": cursor} if cursor else {}))
        assert estimate_tokens(lay_out(answer)) <= answer["token_count"] <= max(budget, 160)
        for part in lists:
            got[part] += answer.get(part, [])
        if answer["truncated"] is None:
            break
        cursor = answer["truncated"]["cursor"]
        if cursor is None:
            budget *= 2
    assert got == {part: whole[part] for part in lists}


@pytest.mark.parametrize("name", EXAMPLES)
def test_proposed_calls_can_be_made(name: str, run: Run, project: Repository) -> None:
    for each in run(name, *EXAMPLES[name]).get("next", ()):
        assert "error" not in OPERATIONS[each["tool"]].run(project, each["arguments"]), each


@pytest.mark.parametrize("name", EXAMPLES)
def test_handles_exist(name: str, run: Run, project: Repository) -> None:
    snapshot = project.snapshot("HEAD")
    for part, items in run(name, *EXAMPLES[name]).items():
        for item in items if isinstance(items, list) else ():
            if isinstance(item, dict) and "handle" in item:
                assert snapshot.resolve_handle(item["handle"]).handle == item["handle"], part


def test_an_unknown_template_gets_the_nearest(run: Run) -> None:
    error = run("bugfix", "x")["error"]
    assert error["candidates"] == ["bug-fix"]
    assert "create-module" in error["hint"]


def test_names_may_be_written_otherwise(run: Run) -> None:
    assert run("Bug_Fix", "message=x")["workflow"] == "bug-fix"


@pytest.mark.parametrize(
    ("name", "inputs", "word"),
    [
        ("create-module", (), "name"),
        ("create-module", ("name=a b",), "no name for a module"),
        ("create-module", ("name=../out",), "no name for a module"),
        ("create-module", ("name=a", "kind=pom.xml"), "no module of kind"),
        ("create-module", ("name=nowhere/a",), "nowhere"),
        ("update-module", ("description=x",), "module"),
        ("update-module", ("module=shopp",), "shopp"),
        ("update-module", ("modul=shop",), "modul"),
        ("implement-feature", ("module=shop",), "description"),
        ("upgrade-feature", (), "feature"),
    ],
)
def test_mistakes_say_what_to_give_instead(name: str, inputs: tuple[str, ...], word: str, run: Run) -> None:
    error = run(name, *inputs)["error"]
    assert word in error["message"]
    assert error["hint"] or error["candidates"]


def test_a_module_that_is_mistyped_gets_the_nearest(run: Run) -> None:
    assert run("update-module", "module=shopp")["error"]["candidates"] == ["shop"]


# update-module.


def test_update_module_finds_what_a_change_is_about(run: Run) -> None:
    answer = run("update-module", "module=shop", "description=price of an item")
    assert answer["symbols"][0]["handle"] == "shop/prices.py::price"
    assert answer["summary"]["module"] == {"path": "shop", "name": "shop", "files": 3, "tests": 0, "module": "."}
    changes = [step["file"] for step in answer["order"] if step["do"] == "change"]
    assert changes.index("shop/prices.py") < changes.index("shop/cart.py"), "what is used comes first"
    assert "tests/test_cart.py" in [step["file"] for step in answer["order"] if step["do"] == "run"]
    outside = [item for item in answer["dependants"] if item.get("outside")]
    assert "manage.py::main" in handles(outside)


@pytest.mark.parametrize("name", ["shop", "./shop/", "shop/cart.py", "shop.cart", "web", "@shop/view-list", "."])
def test_a_module_may_be_named_in_many_ways(name: str, run: Run) -> None:
    assert "error" not in run("update-module", f"module={name}")


def test_without_a_description_all_that_a_module_offers_counts(run: Run) -> None:
    answer = run("update-module", "module=shop")
    assert set(handles(answer["symbols"])) >= {"shop/prices.py::price", "shop/cart.py::Cart", "shop/cart.py::checkout"}


def test_what_fits_nothing_is_said(run: Run) -> None:
    answer = run("update-module", "module=shop", "description=zzzqqq")
    assert answer["symbols"] == []
    assert "fits the description" in answer["complete"]["why"]


@pytest.mark.parametrize("name", ["-x", "src/-x", "../evil", "a/../b", "a\nb", "."])
def test_create_module_takes_no_name_that_would_do_harm(name: str, run: Run) -> None:
    assert "is no name for a module" in run("create-module", f"name={name}")["error"]["message"]


def test_files_in_a_circle_wait_only_for_those_before_them(circle: Repository) -> None:
    found = dependency_first(circle.snapshot(), ["a.py", "b.py", "c.py"])
    place = {path: number for number, (path, _) in enumerate(found)}
    assert set(place) == {"a.py", "b.py", "c.py"}
    assert all(place[used] < place[path] for path, uses in found for used in uses)


@pytest.fixture
def circle(repo: Repo) -> Repository:
    repo.commit({"a.py": "import b\n", "b.py": "import c\n", "c.py": "import a\n"}, "circle")
    return open_repository(str(repo.path))


# implement-feature.


@pytest.mark.parametrize(
    "text", ["a" * 60_000, "a$" * 30_000, "-" * 60_000, "Foo" + "A" * 200 + "_x", "a." * 30_000, "a/" * 30_000]
)
def test_names_in_a_text_are_found_in_time_proportional_to_its_length(text: str) -> None:
    started = time.process_time()
    for _ in NAME.finditer(text):
        pass
    assert time.process_time() - started < 1


def test_names_in_prose() -> None:
    text = "`ab` in src/a/b.py and foo.ts, use_x fooBar FooBar FooBar_x baz() Cart.total a::b, not Foo nor bar"
    found = [next(name for name in match.groups() if name) for match in NAME.finditer(text)]
    assert found == ["ab", "src/a/b.py", "foo.ts", "use_x", "fooBar", "FooBar", "FooBar_x", "baz", "Cart.total", "a::b"]


def test_implement_feature_tells_what_is_there_and_what_is_missing(run: Run) -> None:
    answer = run("implement-feature", *EXAMPLES["implement-feature"])
    assert answer["named"] == [{"name": "Cart.total", "handle": "shop/cart.py::Cart.total"}]
    assert [gap["name"] for gap in answer["gaps"]] == ["Voucher", "shop/vouchers.py"]
    assert answer["gaps"][0]["in"] == "shop/vouchers.py"
    assert answer["symbols"][0]["handle"] == "shop/cart.py::Cart.total"
    files = {item["file"]: item["do"] for item in answer["files"]}
    assert files["shop/cart.py"] == "change"
    assert (files["shop/vouchers.py"], files["tests/test_vouchers.py"], files["tests/test_cart.py"]) == (
        "create",
        "create",
        "change",
    )


def test_a_new_member_goes_to_its_class(run: Run) -> None:
    gaps = run("implement-feature", "description=let `Cart.empty` and ViewList.clear() empty things")["gaps"]
    assert {gap["name"]: gap["in"] for gap in gaps} == {
        "Cart.empty": "shop/cart.py::Cart",
        "ViewList.clear": "web/packages/view-list/src/index.ts::ViewList",
    }


def test_paths_between_related_symbols_are_calls(run: Run) -> None:
    answer = run("implement-feature", "description=Cart.total, `fetch` and checkout() should log")
    ends = {(path["from"], path["to"]): path for path in answer["paths"]}
    found = ends["shop/cart.py::Cart.total", "shop/prices.py::fetch"]
    assert found["distance"] == 2
    assert found["steps"] == [
        "calls shop/prices.py::price at shop/cart.py:9",
        "calls shop/prices.py::fetch at shop/prices.py:15",
    ]


# upgrade-feature.


def test_upgrade_feature_lists_what_breaks_and_the_order(run: Run) -> None:
    answer = run("upgrade-feature", "feature=shop/prices.py::fetch")
    assert answer["summary"]["found_by"] == "name"
    assert [(item["handle"], item["line"], item["target"]) for item in answer["breaking"]] == [
        ("shop/prices.py::price", 15, "shop/prices.py::fetch")
    ]
    assert {"shop/prices.py::PRICES", "shop/prices.py::PriceError"} <= set(handles(answer["dependencies"]))
    assert answer["order"][0] == {"step": 1, "do": "upgrade", "file": "shop/prices.py"}
    assert answer["order"][-1] == {"step": len(answer["order"]), "do": "run", "file": "tests/test_cart.py"}


def test_a_feature_may_be_words_a_file_or_a_module(run: Run) -> None:
    assert run("upgrade-feature", "feature=checkout of a cart")["summary"]["found_by"] == "search"
    assert handles(run("upgrade-feature", "feature=shop/prices.py")["symbols"])[0] == "shop/prices.py::PriceError"
    answer = run("upgrade-feature", "feature=@shop/view-list")
    assert [item["handle"] for item in answer["breaking"]].count("web/packages/view-item/src/index.ts::show") >= 1
    assert "web/packages/view-item" in [item["module"] for item in answer["modules"]]


# create-module.


def test_create_module_looks_like_its_siblings(run: Run) -> None:
    answer = run("create-module", "name=web/packages/view-grid", "dependencies=@shop/view-list, left-pad, lefft-pad")
    files = {item["path"]: item for item in answer["files"]}
    root = "web/packages/view-grid"
    assert set(files) == {
        f"{root}/package.json",
        f"{root}/tsconfig.json",
        f"{root}/src/index.ts",
        f"{root}/src/view-grid.test.ts",
    }
    assert json.loads(files[f"{root}/package.json"]["content"]) == {
        "name": "@shop/view-grid", "version": "1.0.0", "type": "module", "license": "MIT",
        "dependencies": {"@shop/view-list": "*", "left-pad": "^1.0.0"},
    }  # fmt: skip
    assert files[f"{root}/tsconfig.json"]["content"] == '{ "extends": "../../tsconfig.json" }\n'
    assert {(edge.get("to") or edge["package"], edge.get("as")) for edge in answer["imports"]} == {
        ("web/packages/view-list/src/index.ts", "@shop/view-list"),
        ("left-pad", None),
    }
    assert answer["conflicts"] == [{"what": "unknown dependency", "name": "lefft-pad", "candidates": ["left-pad"]}]
    assert answer["summary"]["style"] == "kebab-case"


def test_a_single_file_is_a_module_too(run: Run) -> None:
    answer = run("create-module", "name=shop/shipping", "dependencies=shop.cart,click")
    assert [item["path"] for item in answer["files"]] == ["shop/shipping.py", "tests/test_shipping.py"]
    assert answer["imports"] == [
        {"from": "shop/shipping.py", "to": "shop/cart.py", "kind": "imports", "as": "shop.cart"},
        {"from": "shop/shipping.py", "package": "click", "range": ">=8", "kind": "imports"},
    ]


def test_what_is_in_the_way_is_told(run: Run) -> None:
    def conflicts(*inputs: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = run("create-module", *inputs)["conflicts"]
        return found

    assert {"what": "exists", "path": "shop/cart.py"} in conflicts("name=shop/cart")
    assert {"what": "differs in case only", "path": "shop/Cart.py", "from": "shop/cart.py"} in conflicts("name=shop/Cart")
    taken = conflicts("name=web/packages/view-list")
    assert {"what": "exists", "path": "web/packages/view-list"} in taken
    assert {"what": "named unlike its siblings", "style": "kebab-case", "suggestion": "view-grid"} in conflicts(
        "name=viewGrid", "kind=web/packages"
    )


@pytest.mark.parametrize(
    ("kind", "folder"),
    [
        ("package.json", "web/packages"),
        ("npm", "web/packages"),
        ("web/packages", "web/packages"),
        ("file", "shop"),
        ("python", "shop"),
    ],
)
def test_the_kind_chooses_the_siblings(kind: str, folder: str, run: Run) -> None:
    assert run("create-module", "name=thing", f"kind={kind}")["summary"]["siblings"]["in"] == folder


# Names.


def test_names_are_written_in_styles() -> None:
    assert [styled("rateLimit", style) for style in STYLES] == ["rate-limit", "rate_limit", "rateLimit", "RateLimit"]
    assert fits("rate-limit", "kebab-case")
    assert style_of(["a", "b-c", "d-e", "f_g"]) == "kebab-case"
    assert style_of(["a", "b"]) == ""
    text = "rate-limit rateLimit RateLimit rate_limit rates"
    assert placeholders(text, "rate-limit") == "{kebab-case} {camelCase} {PascalCase} {snake_case} rates"
