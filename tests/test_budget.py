"""Budgets: the count is that of the very answer, the answer fits, and what was left out can be asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenzip.budget import answer_text, answer_tokens, bounded, counted, cursor_at, estimate_tokens, fit, lay_out, offset_of
from tokenzip.errors import UsageError

HEAD: dict[str, Any] = {
    "at": {"rev": "HEAD", "commit": "a" * 40, "dirty": False},
    "items": [],
    "complete": True,
    "truncated": None,
}


def items(count: int, size: int = 20) -> list[dict[str, Any]]:
    return [
        {"handle": f"src/app.py::name{number}", "line": number, "signature": "def name " * (size // 9)}
        for number in range(count)
    ]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=600),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=12), inner, max_size=6),
    max_leaves=30,
)


@given(st.dictionaries(st.text(max_size=12), VALUES, max_size=8))
def test_an_answer_is_counted_by_lines_as_in_one_piece(answer):
    assert abs(answer_tokens(answer) - estimate_tokens(lay_out(answer))) == 0


# Texts and their counts in o200k_base, taken once.
@pytest.mark.parametrize(
    ("text", "count"),
    [
        (
            '{"handle":"src/flask/app.py::Flask.make_response","kind":"method","file":"src/flask/app.py","line":1170,"end_line":1290}',
            37,
        ),
        ("    def make_response(self, rv: ft.ResponseReturnValue) -> Response:\n        if isinstance(rv, tuple):\n", 23),
        ('{"id":"3f2b8c1e-9a4d-4e7f-8b21-0c9d5e6f7a81"}', 38),
    ],
)
def test_estimates_are_near_a_real_count(text: str, count: int) -> None:
    assert 0.95 * count <= estimate_tokens(text) <= 1.25 * count


def test_an_empty_text_has_no_tokens() -> None:
    assert estimate_tokens("") == 0


@given(st.text(max_size=300), st.text(max_size=300))
def test_more_text_is_never_fewer_tokens_than_its_longer_part_by_far(left: str, right: str) -> None:
    both = estimate_tokens(left + " " + right)
    assert both <= estimate_tokens(left) + estimate_tokens(right) + 3
    assert both >= max(estimate_tokens(left), estimate_tokens(right)) * 0.5 - 3


@given(st.integers(0, 60), st.integers(0, 3000), st.integers(0, 200), st.integers(0, 70))
def test_the_count_is_that_of_the_answer_itself_and_holds(count: int, max_tokens: int, size: int, start: int) -> None:
    given_items = items(count, size)
    start = min(start, count)
    answer = fit(HEAD, "items", given_items, max_tokens=max_tokens, start=start)
    assert abs(answer["token_count"] - estimate_tokens(lay_out(answer))) <= 1
    assert answer["items"] == given_items[start : start + len(answer["items"])] or any(
        "cut" in item for item in answer["items"]
    )
    smallest = fit(HEAD, "items", given_items, max_tokens=1, start=start)["token_count"]
    if max_tokens >= smallest:
        assert answer["token_count"] <= max_tokens
    shown, rest = len(answer["items"]), count - start - len(answer["items"])
    assert (answer["truncated"] is None) == (rest == 0)
    if rest:
        assert (answer["truncated"]["shown"], answer["truncated"]["total"]) == (shown, count)


def test_cursors_lead_through_the_whole_list() -> None:
    given_items, seen, cursor = items(100), [], None
    for _ in range(100):
        start = offset_of(cursor, 100, "q")
        answer = fit(HEAD, "items", given_items, max_tokens=400, start=start, question="q")
        seen += answer["items"]
        if answer["truncated"] is None:
            break
        cursor = answer["truncated"]["cursor"]
    assert seen == given_items


def test_as_many_items_as_fit_are_kept() -> None:
    given_items = items(50)
    answer = fit(HEAD, "items", given_items, max_tokens=700)
    shown = len(answer["items"])
    one_more = counted({**answer, "items": given_items[: shown + 1]})
    assert answer["token_count"] <= 700 < one_more["token_count"]


def test_no_budget_keeps_everything() -> None:
    answer = fit(HEAD, "items", items(500), max_tokens=0)
    assert len(answer["items"]) == 500
    assert answer["truncated"] is None


def test_an_item_that_could_never_fit_is_cut_and_says_so() -> None:
    source = "".join(f"    line_{number} = compute(number={number})\n" for number in range(400))
    given_items = [{"handle": "a.py::f", "line": 1, "doc": "short", "source": source}, {"handle": "a.py::g", "line": 2}]
    answer = fit(HEAD, "items", given_items, max_tokens=500)
    item = answer["items"][0]
    assert item["cut"] == ["source"]
    assert item["source"].endswith("…")
    assert source.startswith(item["source"][:-1])
    assert item["doc"] == "short"
    assert 300 < answer["token_count"] <= 500


def test_a_bound_takes_what_helps_least_first() -> None:
    calls = [{"tool": "query_symbol", "arguments": {"handle": "a" * 50}}]
    complete = {"why": "unresolved references " * 6, "unresolved": 3, "places": ["a.py:1", "b.py:2"]}
    whole = counted({**HEAD, "items": items(2), "complete": complete, "summary": {"files": list(range(30))}, "next": calls})
    sizes = []
    for budget in range(whole["token_count"], 20, -1):
        answer = bounded(whole, budget)
        is_fitting = answer["token_count"] <= budget
        assert is_fitting or answer == bounded(whole, 1)
        sizes.append(
            ("next" in answer, len(answer["at"]["commit"]), "places" in str(answer), "summary" in answer, len(answer["items"]))
        )
    assert list(dict.fromkeys(sizes)) == [
        (True, 40, True, True, 2),
        (False, 40, True, True, 2),
        (False, 12, True, True, 2),
        (False, 12, False, True, 2),
        (False, 12, False, False, 2),
        (False, 12, False, False, 0),
        (False, 7, False, False, 0),
    ]
    smallest = bounded(whole, 1)
    assert smallest["items"] == []
    assert smallest["truncated"] == {"shown": 0, "total": 2}
    assert smallest["token_count"] <= 50


def test_candidates_of_an_error_go_from_the_end() -> None:
    many = [f"src/app.py::name{number}" for number in range(200)]
    error = {
        "code": "ambiguous_symbol",
        "message": "name names 200 symbols",
        "hint": "give the whole handle",
        "candidates": many,
    }
    answer = bounded({"error": error}, 300)
    assert estimate_tokens(lay_out(answer)) <= 300
    shown = answer["error"]["candidates"]
    assert shown == many[: len(shown)]
    assert len(shown) > 10
    assert estimate_tokens(lay_out(bounded({"error": error}, 40))) <= 40


def test_an_answer_that_proposes_nothing_has_no_proposals() -> None:
    assert "next" not in counted({**HEAD, "next": []})


@given(st.integers(0, 2**31), st.text(max_size=20))
def test_cursors_are_stable_and_bound_to_their_question(offset: int, question: str) -> None:
    cursor = cursor_at(offset, question)
    assert cursor == cursor_at(offset, question)
    assert offset_of(cursor, 2**31, question) == offset
    with pytest.raises(UsageError):
        offset_of(cursor, 2**31, question + "x")


@pytest.mark.parametrize("cursor", ["7", "x", "0.", "../..", "5.000000", "-1.abcdef", "9" * 500])
def test_a_cursor_that_was_never_given_out_is_a_mistake(cursor: str) -> None:
    with pytest.raises(UsageError):
        offset_of(cursor, 10)


def test_no_cursor_is_the_beginning_and_a_short_list_ends_early() -> None:
    assert offset_of(None, 10) == 0
    assert offset_of("", 10) == 0
    assert offset_of(cursor_at(8), 3) == 3


def test_the_text_is_compact_json() -> None:
    assert answer_text({"a": ["ü", 1]}) == '{"a":["ü",1]}'
    assert json.loads(answer_text(counted(HEAD)))["token_count"] > 0
