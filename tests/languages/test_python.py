"""What `extract` and `describe` say of single Python sources: bytes in odd encodings, broken and hostile ones, hashes."""

from __future__ import annotations

import codecs
import time
from typing import Any

import msgpack
import pytest

from tokenzip.languages.python import PYTHON
from tokenzip.link import Linker, MemoryView
from tokenzip.model import FileIR, Interface, SymbolRow, qualified_names

SAMPLE = b'''"""Module."""
import os
from typing import overload
LIMIT: int = 3
"""What it bounds."""
@decorated(1)
class A(Base, metaclass=Meta):
    """Doc of A."""
    x: int = 0
    def m(self, a, /, b: int = 1, *args: str, c, **kw) -> "A":
        """Doc of m."""
        self.y = [v.f() for v in args if v]
        def inner(): return self
        return inner()
'''


def symbols(source: bytes) -> dict[str, SymbolRow]:
    rows = PYTHON.extract(source).symbols
    return dict(zip(qualified_names(rows), rows, strict=True))


def as_tuples(value: Any) -> Any:
    return msgpack.unpackb(msgpack.packb(value), use_list=False, strict_map_key=False)


def interface_of(ir: FileIR) -> tuple[Any, ...]:
    interface = ir.interface
    return (dict(interface.names), dict(interface.definitions), dict(interface.members), interface.stars, interface.announces)


def test_interface_and_body_survive_the_store() -> None:
    ir = PYTHON.extract(SAMPLE)
    packed = as_tuples(interface_of(ir))
    assert packed == interface_of(ir)
    assert as_tuples(ir.body) == ir.body
    stored = FileIR(ir.status, ir.lines, Interface(*packed), ir.symbols, as_tuples(ir.body))
    linked = Linker(MemoryView({"a.py": ir})).link("a.py", ir)
    assert linked.edges
    assert Linker(MemoryView({"a.py": stored})).link("a.py", stored) == linked


def test_symbols_lie_where_they_say() -> None:
    found = symbols(SAMPLE)
    row = found["A.m"]
    assert SAMPLE[row.start : row.signature_end] == b'def m(self, a, /, b: int = 1, *args: str, c, **kw) -> "A"'
    assert SAMPLE[row.doc_start : row.doc_end] == b'"""Doc of m."""'
    assert (row.line, row.name_line, row.end_line) == (10, 10, 14)
    assert SAMPLE[found["A"].start : found["A"].signature_end].startswith(b"@decorated(1)\nclass A(Base")
    assert SAMPLE[found["LIMIT"].doc_start : found["LIMIT"].doc_end] == b'"""What it bounds."""'
    assert list(found) == ["LIMIT", "A", "A.x", "A.m", "A.m.inner", "A.y"]


def test_the_interface_has_no_positions() -> None:
    moved = b"# a comment\n\n" + SAMPLE.replace(b"return inner()", b"\n        # more\n        return inner()")
    assert interface_of(PYTHON.extract(moved)) == interface_of(PYTHON.extract(SAMPLE))
    longer = SAMPLE.replace(b"        self.y", b"        other()\n        self.y")
    assert interface_of(PYTHON.extract(longer)) == interface_of(PYTHON.extract(SAMPLE))


def test_describe_answers_for_each_symbol() -> None:
    details = dict(zip(symbols(SAMPLE), PYTHON.describe(SAMPLE, PYTHON.extract(SAMPLE).symbols), strict=True))
    names = [(p.name, p.annotation, p.default) for p in details["A.m"].parameters]
    assert names == [
        ("self", "", ""), ("a", "", ""), ("b", "int", "1"), ("*args", "str", ""), ("c", "", ""), ("**kw", "", ""),
    ]  # fmt: skip
    positional = [p.name for p in details["A.m"].parameters if p.positional_only]
    assert positional == ["self", "a"]
    assert [p.name for p in details["A.m"].parameters if p.keyword_only] == ["c"]
    assert details["A.m"].returns == '"A"'
    assert details["A"].bases == ("Base", "metaclass=Meta")
    assert details["A"].decorators == ("decorated(1)",)
    assert (details["LIMIT"].returns, details["LIMIT"].value) == ("int", "3")


HASH_CASES = {
    "layout": (b"def f(a, b):\n    return [a,  b]\n", b"def f( a,b ):\n\n    return [ a,\n      b ]\n"),
    "comment": (b"def f():\n    return 1\n", b"def f():\n    # why\n    return 1  # so\n"),
    "docs": (b"def f():\n    return 1\n", b'def f():\n    """New."""\n    return 1\n'),
    "name": (b"def f():\n    return 1\n", b"def g():\n    return 1\n"),
    "indentation": (b"def f():\n    return 1\n", b"def f():\n\treturn 1\n"),
}


@pytest.mark.parametrize("what", HASH_CASES)
def test_hashes_leave_out(what: str) -> None:
    before, after = (PYTHON.extract(source).symbols[0] for source in HASH_CASES[what])
    assert before.signature_hash == after.signature_hash
    assert before.content_hash == after.content_hash


CHANGES = {
    "a parameter": (b"def f(a):\n    return 1\n", b"def f(a, b):\n    return 1\n", True),
    "a decorator": (b"def f():\n    return 1\n", b"@d\ndef f():\n    return 1\n", True),
    "the body": (b"def f():\n    return 1\n", b"def f():\n    return 2\n", False),
    "a dedent": (b"def f():\n    if a:\n        b()\n        c()\n", b"def f():\n    if a:\n        b()\n    c()\n", False),
    "a line break": (b"def f():\n    return\n    g()\n", b"def f():\n    return g()\n", False),
    "space in a string": (b"def f():\n    return 'a b'\n", b"def f():\n    return 'a  b'\n", False),
    "words in a string": (b"def f():\n    return '# a'\n", b"def f():\n    return '# b'\n", False),
    "a call of the line above": (b"def f():\n    a\n    (b)\n", b"def f():\n    a(b)\n", False),
}


@pytest.mark.parametrize("what", CHANGES)
def test_hashes_tell(what: str) -> None:
    before, after, in_signature = CHANGES[what]
    old, new = PYTHON.extract(before).symbols[0], PYTHON.extract(after).symbols[0]
    assert (old.signature_hash != new.signature_hash) == in_signature
    assert old.content_hash != new.content_hash


def test_a_method_that_moves_keeps_its_content() -> None:
    inside = symbols(b"class A:\n    def f(self):\n        if x:\n            return 1\n")["A.f"]
    outside = symbols(b"def f(self):\n    if x:\n        return 1\n")["f"]
    assert inside.content_hash == outside.content_hash


ENCODINGS = {
    "utf-8": "# -*- coding: utf-8 -*-\n",
    "latin-1": "# -*- coding: latin-1 -*-\n",
    "cp1252": "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n",
    "shift_jis": "# coding: shift_jis\n",
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_offsets_are_those_of_the_blob(encoding: str) -> None:
    accents = "ソ表" if encoding == "shift_jis" else "éü"
    source = (ENCODINGS[encoding] + f"x = '{accents}{accents}'\ndef f(a):\n    return '{accents}'\n").encode(encoding)
    ir = PYTHON.extract(source)
    row = {row.name: row for row in ir.symbols}["f"]
    assert ir.status == "parsed"
    assert source[row.start : row.signature_end] == b"def f(a)"
    assert source[row.start : row.end] == f"def f(a):\n    return '{accents}'".encode(encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_details_are_found_whatever_the_encoding(encoding: str) -> None:
    accents = "ソ表" if encoding == "shift_jis" else "éü"
    source = (ENCODINGS[encoding] + f"x: int = '{accents}'\n@d('{accents}')\ndef f(a=1): pass\n").encode(encoding)
    details = PYTHON.describe(source, PYTHON.extract(source).symbols)
    assert (details[0].returns, details[0].value) == ("int", f"'{accents}'")
    assert (details[1].decorators, details[1].parameters[0].default) == ((f"d('{accents}')",), "1")


def test_bytes_that_are_no_utf8_without_a_coding_line() -> None:
    source = b"# caf\xe9\ndef f(): pass\n"
    row = PYTHON.extract(source).symbols[0]
    assert source[row.start : row.end] == b"def f(): pass"


@pytest.mark.parametrize("bom", [codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_byte_order_marks(bom: bytes) -> None:
    codec = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}[bom]
    source = bom + "x = 'é'\ndef f(): pass\n".encode(codec)
    rows = {row.name: row for row in PYTHON.extract(source).symbols}
    assert source[rows["f"].start : rows["f"].end].decode(codec) == "def f(): pass"


def test_line_endings_of_windows() -> None:
    source = SAMPLE.replace(b"\n", b"\r\n")
    assert [(row.name, row.line, row.content_hash) for row in PYTHON.extract(source).symbols] == [
        (row.name, row.line, row.content_hash) for row in PYTHON.extract(SAMPLE).symbols
    ]


REFUSED = {
    "binary": b"x = 1\0\n",
    "a pointer to a file in Git LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    "minified": b"f=lambda a:b(c,d[e])or(g);" * 200,
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refused_with_a_reason(reason: str) -> None:
    ir = PYTHON.extract(REFUSED[reason])
    assert (ir.status, ir.reason, ir.symbols) == ("skipped", reason, ())
    assert PYTHON.describe(REFUSED[reason], ()) == ()


def test_long_lines_of_data_are_not_minified() -> None:
    assert PYTHON.extract(b'DATA = "' + b"QUJDRA" * 5000 + b'"\n').status == "parsed"


def test_generated_is_still_extracted() -> None:
    ir = PYTHON.extract(b"# -*- coding: utf-8 -*-\n# Generated by the protocol buffer compiler.  DO NOT EDIT!\nx = 1\n")
    assert ir.generated
    assert [row.name for row in ir.symbols] == ["x"]
    assert not PYTHON.extract(b"x = 'DO NOT EDIT'\n").generated


def test_syntax_errors_leave_the_rest() -> None:
    ir = PYTHON.extract(b"def f():\n    return 1\n\ndef broken(:\n    x ==\n\nclass A:\n    def m(self): return f()\n")
    assert ir.status == "partial"
    assert ir.problems
    assert ir.problems[0].line in (4, 5)
    assert {"f", "A"} <= {row.name for row in ir.symbols}


def test_problems_are_counted_not_listed_without_end() -> None:
    ir = PYTHON.extract(b"def f(:\n  x = (\n" * 300)
    assert 0 < len(ir.problems) <= 41
    assert ir.status == "partial"


HOSTILE = {
    "parentheses": b"x = " + b"(" * 20_000 + b"1" + b")" * 20_000,
    "lists": b"x = " + b"[" * 5_000 + b"]" * 5_000,
    "sum": b"x = " + b" + ".join([b"a"] * 20_000),
    "calls": b"x = a" + b".b()" * 20_000,
    "subscripts": b"x = a" + b"[0]" * 20_000,
    "not": b"x = " + b"not " * 20_000 + b"a",
    "lambdas": b"x = " + b"lambda: " * 5_000 + b"a",
    "conditions": b"x = " + b"a if b else " * 5_000 + b"c",
    "elif": b"if a: pass\n" + b"elif b: pass\n" * 10_000,
    "blocks": b"".join(b" " * n + b"if a:\n" for n in range(1_000)) + b" " * 1_000 + b"pass\n",
    "functions": b"".join(b" " * n + b"def f():\n" for n in range(500)) + b" " * 500 + b"pass\n",
    "classes": b"".join(b" " * n + b"class A:\n" for n in range(500)) + b" " * 500 + b"pass\n",
    "annotations": b"x: " + b"A[" * 5_000 + b"B" + b"]" * 5_000 + b" = 1",
    "patterns": b"match x:\n  case " + b"[" * 5_000 + b"]" * 5_000 + b": pass\n",
    "targets": b"(" * 5_000 + b"a" + b",)" * 5_000 + b" = x",
    "chained": b" = ".join([b"a"] * 10_000) + b" = 1",
    "growth": b"def f(x):\n" + b"    x = x.y(x)\n" * 5_000 + b"    x.z()\n",
    "unclosed": b"f(" * 10_000,
    "quotes": b'"""' * 10_001,
    "decorators": b"@d\n" * 10_000 + b"def f(): pass\n",
    "augmented": b"x += (" * 3_000,
    "fstrings": b'f"{' * 2_000,
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_sources_end(what: str) -> None:
    started = time.process_time()
    ir = PYTHON.extract(HOSTILE[what])
    assert ir.status in ("parsed", "partial"), ir.reason
    Linker(MemoryView({"a.py": ir})).link("a.py", ir)
    PYTHON.describe(HOSTILE[what], ir.symbols)
    assert time.process_time() - started < 20


def test_what_lies_too_deep_is_reported() -> None:
    ir = PYTHON.extract(HOSTILE["lists"])
    assert ir.status == "partial"
    assert "nested too deeply" in ir.problems[0].message


def test_chains_through_thousands_of_functions_link() -> None:
    source = b"class A:\n    def go(self): ...\ndef f0(): return A()\n" + b"".join(
        b"def f%d(): return f%d()\n" % (n + 1, n) for n in range(3_000)
    )
    ir = PYTHON.extract(source + b"f3000().go()\n")
    linked = Linker(MemoryView({"a.py": ir})).link("a.py", ir)
    assert ("A.go", 3004) in {(edge.qualified, edge.line) for edge in linked.edges if edge.kind == "calls"}
