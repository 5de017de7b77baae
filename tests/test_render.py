"""Rendering: what a terminal, a pipe, a document and a chart get to see."""

from __future__ import annotations

import json

import pytest

from tokenzip.errors import UsageError
from tokenzip.operations import OPERATIONS, UNLISTED
from tokenzip.render import Style, render, to_json
from tokenzip.render.answers import BUILDERS
from tokenzip.render.blocks import Cell, Code, Note, Rows, Section, Title, columns, shown, write_markdown, write_text
from tokenzip.render.mermaid import MOST_NODES
from tokenzip.render.words import at_text, counted

AT = {"rev": "WORKTREE", "commit": "a" * 40, "dirty": True}
CALLERS = {
    "at": AT,
    "of": {"handle": "a.py::f", "kind": "function", "file": "a.py", "line": 1, "end_line": 2},
    "items": [
        {
            "handle": "b.py::g", "kind": "function", "file": "b.py", "line": 3, "end_line": 9, "signature": "def g(x)",
            "edge": {"kind": "calls", "line": 5, "tier": "exact", "lines": [5, 7]}, "distance": 1,
        },
        {
            "handle": "c.py", "kind": "file", "file": "c.py", "edge": {"kind": "calls", "line": 1, "tier": "typed"},
            "distance": 2, "via": "b.py::g",
        },
    ],
    "complete": {"why": "who knows", "unresolved": 4, "places": ["d.py:1"]},
    "truncated": {"shown": 2, "total": 9, "cursor": "2.abc"},
    "token_count": 1, "next": [],
}  # fmt: skip


def test_every_operation_has_a_text() -> None:
    assert set(BUILDERS) == set(OPERATIONS) | set(UNLISTED)


def test_text_aligns_and_says_what_is_missing() -> None:
    assert render("get_dependants", CALLERS) == (
        "a.py::f  function  WORKTREE on aaaaaaaaaa, with changes\n"
        "\n"
        "Direct\n"
        "  calls  b.py:5 (+1)  g  def g(x)\n"
        "\n"
        "2 steps away\n"
        "  calls  c.py:1  (module level)  via b.py::g\n"
        "\n"
        "2 of 9 shown; go on with --cursor 2.abc\n"
        "May be incomplete. 4 open references: who knows (d.py:1, …)\n"
    )


def test_of_many_sites_the_number_is_said_though_few_lines_are_known() -> None:
    edge = {"kind": "calls", "line": 5, "lines": [5, 7], "sites": 207}
    item = {"handle": "b.py::g", "file": "b.py", "line": 3, "edge": edge, "distance": 1}
    assert "calls  b.py:5 (+206)  g" in render("get_dependants", CALLERS | {"items": [item]})


def test_lists_of_a_workflow_have_the_names_of_their_columns() -> None:
    answer = {
        "at": AT, "workflow": "w", "stamp": {"snapshot": "s", "made": None}, "summary": {"failures": [{}]},
        "tests": [{"handle": "t.py::t", "distance": 1, "line": 100, "outside": True}],
        "complete": True, "truncated": None, "token_count": 1, "left_out": {"tests": 2}, "next": [],
    }  # fmt: skip
    text = render("execute_workflow_template", answer)
    assert "           distance  line  outside\n  t.py::t         1   100  yes\n" in text
    assert "failures" not in text
    assert "2 more of tests left out\n" in text


def test_no_name_breaks_a_line_or_turns_its_direction() -> None:
    blocks = [Title((Cell("a\nb.py", "name"),)), Rows(((Cell("c\n\u202ed.py", "name"), Cell("x\ty")),), ("file", ""))]
    assert write_text(blocks) == "a\\nb.py\n\n  c\\n\\u202ed.py  x\\ty\n"
    assert "`a\\nb.py`" in write_markdown(blocks)
    assert "`c\\n\\u202ed.py`" in write_markdown(blocks)


def test_markdown_is_a_table() -> None:
    text = render("get_dependants", CALLERS, "markdown")
    assert "# `a.py::f` function" in text
    assert "| calls | `b.py:5 (+1)` | `g` | `def g(x)` |" in text
    assert "> 2 of 9 shown" in text


def test_mermaid_is_a_graph() -> None:
    assert render("get_dependants", CALLERS, "mermaid") == (
        "flowchart LR\n"
        '  n0["a.py::f"]\n'
        '  n1["b.py::g"]\n'
        "  n1 -->|calls| n0\n"
        '  n2["c.py"]\n'
        "  n2 -->|calls| n1\n"
    )  # fmt: skip


def test_what_is_no_graph_is_refused_as_one() -> None:
    with pytest.raises(UsageError, match="not a graph"):
        render("query_file", CALLERS, "mermaid")


def test_json_is_what_the_operation_said() -> None:
    assert json.loads(render("get_dependants", CALLERS, "json")) == CALLERS


ODD = "src/caf\udce9 \x1b[31m.py"


def test_odd_bytes_of_names_are_shown_escaped() -> None:
    assert shown(ODD) == "src/caf\\xe9 \\x1b[31m.py"
    text = to_json({"file": ODD})
    assert text.encode("utf-8")
    assert json.loads(text) == {"file": ODD}
    assert write_text([Rows(((Cell(ODD, "name"),),))]).encode("utf-8")
    assert write_markdown([Rows(((Cell(ODD, "name"),),))]).encode("utf-8")


def test_a_terminal_without_unicode_gets_ascii() -> None:
    assert shown("a → b…", Style(unicode=False)) == "a -> b..."


def test_narrow_terminals_lose_signatures_and_never_names() -> None:
    rows = (Cell("path/to/file.py::Some.name", "name"), Cell("def name(self, much: int, more: str) -> None", "code"))
    for width in range(20, 100, 7):
        (line,) = write_text([Rows((rows,))], Style(width=width)).splitlines()
        assert "path/to/file.py::Some.name" in line
        assert len(line) <= max(width, 28)
    assert "def name(self, much: int, more: str) -> None" in write_text([Rows((rows,))])


def test_colors_only_where_wanted_and_never_in_widths() -> None:
    rows = Rows(((Cell("a", "name"), Cell("x")), (Cell("bbb", "name"), Cell("y"))))
    plain, colored = write_text([rows]), write_text([rows], Style(color=True))
    assert "\x1b" not in plain
    assert "\x1b[1ma\x1b[0m  " in colored
    assert plain == "  a    x\n  bbb  y\n"


def test_wide_characters_take_two_columns() -> None:
    assert columns("日本") == 4
    assert columns("e\u0301") == 1
    assert write_text([Rows(((Cell("日本"), Cell("x")), (Cell("abcd"), Cell("y"))))]) == "  日本  x\n  abcd  y\n"


def test_a_title_that_does_not_fit_breaks_before_its_aside() -> None:
    title = Title((Cell("a" * 30, "name"),), "WORKTREE on abc")
    assert write_text([title], Style(width=40)).splitlines() == ["a" * 30, "WORKTREE on abc"]
    assert write_text([title]).splitlines() == ["a" * 30 + "  WORKTREE on abc"]


def test_markdown_escapes_and_fences() -> None:
    text = write_markdown(
        [Section("a*b"), Code("x = '```'", "python"), Note("one\ntwo"), Rows(((Cell("p|q", "name"),),), ("h",))]
    )
    assert "## a\\*b" in text
    assert "````python\nx = '```'\n````" in text
    assert "> one\n> two" in text
    assert "| `p\\|q` |" in text


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (AT, "WORKTREE on aaaaaaaaaa, with changes"),
        ({"rev": "INDEX", "commit": None, "dirty": False}, "INDEX no commit yet"),
        ({"rev": "main", "commit": "b" * 40, "dirty": False}, "main = bbbbbbbbbb"),
        ({"rev": "b" * 40, "commit": "b" * 40, "dirty": False}, "b" * 40),
    ],
)
def test_the_state_that_is_answered_for_is_named(at: dict, text: str) -> None:
    assert at_text(at) == text


def test_counts_read_well() -> None:
    assert [counted(1, "file"), counted(2000, "file"), counted(2, "dependency")] == ["1 file", "2,000 files", "2 dependencies"]


CHANGED = {
    "at": AT, "base": AT | {"rev": "HEAD", "dirty": False}, "head": AT,
    "summary": {
        "changes": 4, "breaking": 1, "broken": 1, "reached": 2, "files": 2, "tests": 1, "depth": 1,
        "broken_targets": {"count": 1, "first": ["a.py::gone"]}, "broken_files": {"count": 1, "first": ["b.py"]},
    },
    "changes": [
        {"handle": "a.py::f", "kind": "function", "change": "signature", "file": "a.py", "line": 3, "breaking": True,
         "reached": 2, "reasons": ["parameter `b` is new and required"]},
        {"handle": "a.py::New", "kind": "class", "change": "added", "file": "a.py", "line": 9, "breaking": False, "reached": 0},
        {"handle": "a.py::gone", "kind": "function", "change": "removed", "file": "a.py", "line": 7, "breaking": True,
         "reached": 0},
        {"handle": "a.py::New.m", "kind": "method", "change": "added", "file": "a.py", "line": 10, "breaking": False,
         "reached": 0, "within": "a.py::New"},
    ],
    "broken": [{"handle": "b.py::g", "kind": "calls", "file": "b.py", "line": 5, "target": "a.py::gone", "why": "removed"}],
    "impact": [
        {"handle": "b.py::h", "kind": "function", "file": "b.py", "line": 8,
         "edge": {"kind": "calls", "line": 9, "tier": "exact"}, "distance": 1, "via": "a.py::f", "test": False},
        {"handle": "t.py::test_f", "kind": "function", "file": "t.py", "line": 1,
         "edge": {"kind": "calls", "line": 2, "tier": "exact"}, "distance": 1, "via": "a.py::f", "test": True},
    ],
    "modules": [], "complete": True, "truncated": None, "token_count": 1, "next": [],
}  # fmt: skip


def test_a_diff_as_a_comment_on_a_pull_request() -> None:
    """What matters is open, the rest is folded; members of a new class are its own affair; the graph comes last."""
    text = render("diff_commits", CHANGED, "markdown")
    assert text.startswith(
        "## HEAD = aaaaaaaaaa → WORKTREE on aaaaaaaaaa, with changes\n\n"
        "Breaks 1 reference to gone in 1 file (b.py). 4 changes, 1 breaking. Reaches 2 symbols in 2 files within 1 step, 1 test"
    )
    assert "**`a.py`**\n\n|  | change | line | symbol | kind | breaks | reached | why |\n" in text
    assert "| ~ | signature | 3 | `f` | function | **breaking** | reaches 2 | parameter `b` is new and required |" in text
    assert "| + | added | 9 | `New` | class |  |  | with 1 member |" in text
    assert "`New.m`" not in text
    assert "### Broken\n\n| where | symbol |  | why |\n" in text
    assert "<details><summary>Reached directly</summary>\n\n| where | symbol | via |\n" in text
    assert text.count("<details>") == text.count("</details>") == 3
    assert text.rstrip().endswith("```\n\n</details>")


def test_the_chart_of_a_diff_shows_what_changed_and_whom_that_reaches() -> None:
    lines = render("diff_commits", CHANGED, "mermaid").splitlines()
    assert '  n0["a.py::f (signature)"]' in lines
    assert "  n3 -.->|calls: removed| n2" in lines
    assert "  n4 -->|calls| n0" in lines
    assert not any("New.m" in line for line in lines)
    assert [line for line in lines if line.startswith("  class ")] == [
        "  class n0 breaking", "  class n1 added", "  class n2 removed", "  class n5 test",
    ]  # fmt: skip


def test_a_chart_of_a_diff_has_an_end() -> None:
    changes = [CHANGED["changes"][1] | {"handle": f"a.py::N{number}"} for number in range(500)]
    text = render("diff_commits", CHANGED | {"changes": changes, "broken": [], "impact": []}, "mermaid")
    assert text.count("a.py::N") == MOST_NODES // 2
    assert '["460 more"]' in text


def test_a_reason_keeps_to_one_line() -> None:
    """Types are quoted as they were written, over several lines if need be."""
    long = "type of `x` was `Optional[\n    Mapping[" + "str, " * 100 + "int]\n]`, is `int`"
    changes = [CHANGED["changes"][0] | {"reasons": [long]}]
    row = next(
        line for line in render("diff_commits", CHANGED | {"changes": changes}, "markdown").splitlines() if "| `f` |" in line
    )
    assert "type of `x` was `Optional\\[ Mapping" in row
    assert row.endswith("int\\] \\]`, is `int` |")
    assert len(row) < 300


def test_the_tests_to_run_are_told_by_distance() -> None:
    run = [
        {"handle": "t.py::test_g", "kind": "function", "file": "t.py", "line": 4, "distance": 0},
        {"handle": "t.py::test_f", "kind": "function", "file": "t.py", "line": 1, "distance": 2, "via": "b.py::h"},
    ]
    text = render("diff_commits", {name: CHANGED[name] for name in ("at", "base", "head", "summary")} | {"run": run})
    assert text.splitlines()[5:] == ["Changed themselves", "  t.py::test_g", "", "In 2 steps", "  t.py::test_f  h"]
