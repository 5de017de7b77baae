"""Canonical tokens: statements compared side by side are the same as all their tokens compared."""

from __future__ import annotations

import itertools

import pytest

from tokenzip.languages.shape import Shape, same_statements

_PYTHON = (
    b"",
    b"# nothing\n",
    b"print('a')\n",
    b'print("a")\n',
    b'print(("a"))\n',
    b"print(a)\n",
    b"if a:\n    print((1, 2,), {'b': 3})\nfor x in y:\n    print(x)\n",
    b'if (a):\n    print(\n        (1, 2),\n        {"b": 3},\n    )  # said\nfor x in (y):\n    print(x)\n',
    b"if a:\n    print((1, 2), {'b': 3})\nfor x in y:\n    print(x + 1)\n",
    b"print(a * (b + c))\n",
    b"print(a * b + c)\n",
    b"print(b'a' 'b')\nprint(1)\n",
)
_TYPESCRIPT = (
    b"",
    b"run(x => { a(1); b({ 'c': 2 }) })",
    b"run((x) => {\n  a(1)\n  b({ c: 2, })\n})\n",
    b"run((x, y) => {\n  a(1)\n  b({ c: 2 })\n})\n",
    b"run((x) => {\n  a(1)\n  b({ c: 3 })\n})\nrun(1)\n",
    b"for (;;) { a() }",
    b"for (; b;) { a() }",
    b"a(); ;\nb()",
    b"a()\nb();\n",
    b"a()\nb()\nc()\n",
)


@pytest.mark.parametrize(("language", "sources"), [("python", _PYTHON), ("typescript", _TYPESCRIPT), ("unknown", _PYTHON)])
def test_statements_side_by_side(language: str, sources: tuple[bytes, ...]) -> None:
    shapes = [(Shape(language, source), source) for source in sources]
    equal = 0
    for (one, source), (other, other_source) in itertools.product(shapes, repeat=2):
        same = one.tokens(0, len(source)) == other.tokens(0, len(other_source))
        equal += same
        if source and other_source and not ({b"# nothing\n"} & {source, other_source}):
            assert same_statements(one.statements(()), other.statements(())) == same, (source, other_source)
    assert len(sources) <= equal < len(sources) ** 2


@pytest.mark.parametrize("holes", [[(0, 0)], [(0, 9)], [(2, 5), (4, 12)], [(0, 30), (3, 4)], []])
def test_holes_are_left_out(holes: list[tuple[int, int]]) -> None:
    """Whatever overlaps: a token is there exactly if no hole holds it as a whole."""
    source = b"a(bb, ccc)\ndddd(e)\nffff\n"
    words = {b"a": 0, b"bb": 2, b"ccc": 6, b"dddd": 11, b"e": 16, b"ffff": 19}
    there = {word.decode() for word, at in words.items() if not any(s <= at and at + len(word) <= e for s, e in holes)}
    assert {token for token in Shape("python", source).tokens(0, len(source), holes) if token.isalpha()} == there


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (
            "try:\n    import a\nexcept ImportError:\n    a = 0\n",
            "try:\n    import b as a\nexcept ImportError:\n    a = 0\n",
            True,
        ),
        ("try:\n    import a\nexcept ImportError:\n    a = 0\n", "try:\n    import a\nexcept ImportError:\n    a = 1\n", False),
        ("if a:\n    import x\n    f()\n", "if a:\n    f()\n", True),
        ("if a:\n    import x\n    f()\n", "if a:\n    import x\nf()\n", False),
    ],
)
def test_an_import_in_a_branch_is_no_part_of_what_a_file_does(old: str, new: str, same: bool) -> None:
    sides = [Shape("python", source.encode()).statements(()) for source in (old, new)]
    assert same_statements(*sides) is same
