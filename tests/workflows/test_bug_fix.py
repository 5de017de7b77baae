"""bug-fix: what it makes of each input, and that what it says is so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from gitrepo import Repo

from tokenzip.operations import OPERATIONS
from tokenzip.repository import repo as open_repository

Run = Callable[..., dict[str, Any]]
TRACE = """trace=web-1  | Traceback (most recent call last):
web-1  |   File "/srv/manage.py", line 5, in main
web-1  |   File "/srv/shop/cart.py", line 9, in total
web-1  |   File "/srv/shop/cart.py", line 9, in <genexpr>
web-1  |   File "/srv/shop/prices.py", line 15, in price
web-1  |   File "/srv/shop/prices.py", line 11, in fetch
web-1  | KeyError: 'coffee'
"""


def confidences(answer: dict[str, Any]) -> dict[str, str]:
    return {item["handle"]: item["confidence"] for item in answer["candidates"]}


def test_a_stack_trace(run: Run) -> None:
    answer = run("bug-fix", TRACE)
    assert answer["summary"]["failures"] == [{"type": "KeyError", "message": "'coffee'"}]
    assert answer["summary"]["frames"] == {"total": 5, "here": 5, "external": 0}
    assert confidences(answer) == {
        "shop/prices.py::fetch": "high", "shop/prices.py::price": "medium", "shop/cart.py::Cart.total": "low",
        "manage.py::main": "low",
    }  # fmt: skip
    best = answer["candidates"][0]
    assert best["reasons"][0] == "raised KeyError"
    assert best["line"] == 11
    assert any("0 commits before" in reason for reason in best["reasons"])
    assert [item["handle"] for item in answer["frames"]][:2] == ["shop/prices.py::fetch", "shop/prices.py::price"]
    assert {item["match"] for item in answer["frames"]} <= {"function", "line"}


def test_the_radius_is_that_of_the_impact(run: Run, project: Any) -> None:
    answer = run("bug-fix", TRACE)
    impact = answer["summary"]["impact"]
    assert impact["of"] == ["shop/prices.py::fetch"]
    found = OPERATIONS["get_impact_analysis"].run(project, {"handles": impact["of"], "depth": 3, "max_tokens": 0})
    assert impact["reached"] == found["summary"]["reached"]
    assert [item["handle"] for item in answer["callers"] if item["distance"] == 1] == ["shop/prices.py::price"]
    assert "tests/test_cart.py::test_total" in [item["handle"] for item in answer["tests"]]
    assert not any("conftest" in item["handle"] for item in answer["tests"]), "a fixture is no test"
    assert {item["file"] for item in answer["files"]} >= {"shop/prices.py", "shop/cart.py"}


def test_the_order_begins_with_the_best_and_names_the_change(run: Run) -> None:
    order = run("bug-fix", TRACE)["order"]
    assert [(step["do"], step["handle"]) for step in order[:2]] == [
        ("read", "shop/prices.py::fetch"),
        ("compare", "shop/prices.py::fetch"),
    ]
    assert [step["step"] for step in order] == list(range(1, len(order) + 1))
    assert ("run", "tests/test_cart.py::test_total") in [(step["do"], step["handle"]) for step in order]


def test_lines_are_those_of_the_revision(run: Run) -> None:
    before = run("bug-fix", "trace=" + 'File "/srv/shop/prices.py", line 9, in fetch\nKeyError: 1', at="HEAD~1")
    assert [(item["handle"], item["match"]) for item in before["frames"]] == [("shop/prices.py::fetch", "function")]
    assert before["at"]["rev"] == "HEAD~1"
    assert all(each["arguments"]["at"] == "HEAD~1" for each in before["next"])
    shifted = run("bug-fix", "trace=" + 'File "/srv/shop/prices.py", line 13, in price\nKeyError: 1')
    assert shifted["frames"][0]["match"] == "name"
    assert "is not in price at this revision" in shifted["frames"][0]["note"]
    assert shifted["candidates"][0]["confidence"] == "medium", "found by name alone: never high"


def test_the_code_outside_is_counted_and_named(run: Run) -> None:
    answer = run(
        "bug-fix",
        'trace=  File "/srv/shop/cart.py", line 9, in total\n    x\n'
        '  File "/usr/lib/python3.11/site-packages/requests/api.py", line 3, in get\n    x\n'
        '  File "/usr/lib/python3.11/json/decoder.py", line 3, in decode\nValueError: x',
    )
    assert answer["summary"]["frames"]["packages"] == {"python": 1, "requests": 1}
    assert answer["candidates"][0]["reasons"] == [
        "the last frame of this repository before ValueError was raised in python, requests",
        "what line 9 of the trace shows is not there at this revision",
    ]


def test_a_failed_test_is_no_root_but_what_it_calls(run: Run) -> None:
    answer = run("bug-fix", "tests/test_cart.py:5: in test_total\n    assert x\nE   assert 2 == 3\n")
    assert answer["candidates"][0]["handle"] == "shop/cart.py::Cart.total"
    assert answer["candidates"][0]["confidence"] == "medium"
    assert answer["tests"][0]["handle"] == "tests/test_cart.py::test_total"


def test_a_message_alone_is_found_in_the_source(run: Run) -> None:
    answer = run("bug-fix", "message=PriceError: an item without a name has no price: 7")
    best = answer["candidates"][0]
    assert best["handle"] == "shop/prices.py::fetch"
    assert "the text of the message stands here, line 10" in best["reasons"]
    assert "makes a PriceError, line 10" in best["reasons"]
    assert best["confidence"] == "high"


def test_a_type_a_symbol_a_place(run: Run) -> None:
    assert confidences(run("bug-fix", "type=shop.prices.PriceError"))["shop/prices.py::fetch"] == "medium"
    assert confidences(run("bug-fix", "symbol=Cart.total"))["shop/cart.py::Cart.total"] == "medium"
    for inputs in (
        ("file=shop/cart.py:9",), ("file=shop/cart.py:9:5",), ("file=/srv/shop/cart.py", "line=9"),
        ("file=C:\\work\\shop\\cart.py:9",), ('{"file": "cart.py", "line": 9}',),
    ):  # fmt: skip
        found = confidences(run("bug-fix", *inputs))
        assert found["shop/cart.py::Cart.total"] == "high"
        assert found["shop/prices.py::price"] == "medium", "called on that line"


def test_names_in_a_message_are_looked_up(run: Run) -> None:
    answer = run("bug-fix", "message=TypeError: checkout() missing 1 required positional argument: 'cart'")
    assert answer["candidates"][0]["handle"] == "shop/cart.py::checkout"
    assert "named in the message" in answer["candidates"][0]["reasons"]


def test_languages_without_symbols_have_files(run: Run) -> None:
    answer = run("bug-fix", "panic: oh\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/go/cart/cart.go:3 +0x1d\n")
    assert answer["candidates"][0]["handle"].startswith("go/cart/cart.go")
    assert answer["frames"][0]["line"] == 3


def test_text_that_says_nothing_is_answered_so(run: Run) -> None:
    answer = run("bug-fix", "It does not work")
    assert answer["candidates"] == []
    assert "nothing of this repository" in answer["complete"]["why"]


def test_uncommitted_changes_weigh_most(repo: Repo) -> None:
    repo.commit({"a.py": "def f():\n    return g()\n\n\ndef g():\n    return 1\n"})
    repo.write({"a.py": "def f():\n    return g(2)\n\n\ndef g():\n    return 1\n"})
    arguments = {"name": "bug-fix", "inputs": ['File "a.py", line 6, in g\n  File "a.py", line 2, in f\nTypeError: x']}
    answer = OPERATIONS["execute_workflow_template"].run(open_repository(str(repo.path)), arguments)
    changed = next(item for item in answer["candidates"] if item["handle"] == "a.py::f")
    assert "changed and not committed yet" in changed["reasons"]
    assert answer["changes"][0]["commit"] is None


@pytest.mark.parametrize(
    ("inputs", "word"),
    [
        ((), "at least one of trace, message, file, line, symbol, type"),
        (("trce=x",), "no input 'trce'"),
        (("message=",), "empty"),
        (("type=A", "type=B"), "twice"),
        (("line=3",), "without file"),
        (("file=shop/cart.py", "line=x"), "no line number"),
        (("file=shop/cart.py:x",), "shop/cart.py has no symbol x"),
        (("file=nowhere.py:3",), "nowhere.py"),
        (("symbol=Crat",), "Crat"),
        (("symbol=web",), "module"),
    ],
)
def test_mistakes_say_what_to_give_instead(inputs: tuple[str, ...], word: str, run: Run) -> None:
    error = run("bug-fix", *inputs)["error"]
    assert word in error["message"]
    assert error["hint"]


def test_unnamed_text_is_the_trace_and_json_holds_several(run: Run) -> None:
    assert run("bug-fix", TRACE.removeprefix("trace="))["candidates"] == run("bug-fix", TRACE)["candidates"]
    logged = run("bug-fix", '{"level": 50, "err": "Error: x\\n    at show (/app/web/packages/view-item/src/index.ts:4:10)"}')
    assert logged["candidates"][0]["handle"] == "web/packages/view-item/src/index.ts::show"
    answer = run("bug-fix", '{"file": "shop/cart.py", "line": 9}')
    assert answer["candidates"][0]["handle"] == "shop/cart.py::Cart.total"


def test_what_may_have_given_an_empty_value_counts(repo: Repo) -> None:
    """Nothing on the stack is wrong: what was called before gave None."""
    source = (
        "def find(name):\n    return None\n\n\ndef label(thing):\n    return thing.name\n\n\n"
        "def show(name):\n    thing = find(name)\n    return label(thing)\n"
    )
    repo.commit({"a.py": source})
    trace = (
        'File "a.py", line 11, in show\n    return label(thing)\n  File "a.py", line 6, in label\n    return thing.name\n'
        "AttributeError: 'NoneType' object has no attribute 'name'\n"
    )
    arguments = {"name": "bug-fix", "inputs": [trace]}
    answer = OPERATIONS["execute_workflow_template"].run(open_repository(str(repo.path)), arguments)
    found = {item["handle"]: item for item in answer["candidates"]}
    assert list(found) == ["a.py::label", "a.py::show", "a.py::find"]
    assert found["a.py::find"]["reasons"] == ["called before the line that failed, a.py:10"]


def test_what_decorates_a_function_inside_gives_nothing(repo: Repo) -> None:
    source = (
        "def register(name):\n    return lambda function: function\n\n\ndef test_it():\n    @register('x')\n    def inner():\n"
        "        return 1\n\n    assert inner() is None\n"
    )
    product, _, test = source.partition("def test_it")
    repo.commit({"a.py": product, "test_a.py": f"from a import register\n\n\ndef test_it{test}"})
    arguments = {"name": "bug-fix", "inputs": ["test_a.py:9: in test_it\n    assert inner() is None\nE   assert 1 is None"]}
    answer = OPERATIONS["execute_workflow_template"].run(open_repository(str(repo.path)), arguments)
    assert "a.py::register" not in [item["handle"] for item in answer["candidates"]]


# What does not agree with the revision lowers the confidence and is said.


@pytest.mark.parametrize(
    ("frames", "remark", "why"),
    [
        ((("shop/prices.py", 999, "<module>"),), "line 999 is beyond the 15 lines", "do not agree"),
        ((("shop/prices.py", 11, "fetched"),), "no fetched in shop/prices.py", "do not agree"),
        ((("shop/prices.py", 99, "fetch"),), "line 99 is not in fetch", "do not agree"),
        ((("shop/prices.py", 11, "fetch"), ("shop/gone.py", 3, "f")), "there is no shop/gone.py", "not at this revision"),
    ],
)
def test_doubtful_frames_are_remarked_and_never_high(
    frames: tuple[tuple[str, int, str], ...], remark: str, why: str, run: Run
) -> None:
    lines = "\n".join(f'  File "/srv/{file}", line {line}, in {function}' for file, line, function in frames)
    answer = run("bug-fix", f"trace=Traceback (most recent call last):\n{lines}\nValueError: x")
    best = answer["candidates"][0]
    assert best["confidence"] == "medium"
    assert any(reason.startswith(remark) for reason in best["reasons"])
    assert any(item.get("note", "").startswith(remark) for item in answer["frames"])
    assert why in answer["complete"]["why"]


def test_an_asked_line_beyond_the_end_is_remarked(run: Run) -> None:
    answer = run("bug-fix", "file=shop/cart.py", "line=999")
    assert answer["candidates"][0]["confidence"] == "low"
    assert "line" not in answer["candidates"][0]
    assert answer["frames"][0]["note"] == "line 999 is beyond the 16 lines of the file at this revision"
