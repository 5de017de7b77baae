"""What `extract` and `describe` say of single JavaScript and TypeScript sources: odd, broken and hostile ones, hashes."""

from __future__ import annotations

import time
from random import Random
from typing import Any

import msgpack
import pytest

from tokenzip.languages import registry
from tokenzip.languages.javascript import JAVASCRIPT, TSX, TYPESCRIPT
from tokenzip.link import Linker, MemoryView
from tokenzip.model import FileIR, Interface, SymbolRow, qualified_names

SAMPLE = b"""/** Adds. */
export function add(a: number, b = 1, ...rest: number[]): number { return a + b }

/** A store of things. */
@Injectable({ scope: "x" })
export default class Store<T extends object> extends Base<T> implements Api, Other<T> {
  /** How many. */
  static readonly limit: number = 10
  constructor(private readonly db: Db, name?: string) { super() }
  protected async load(key: string): Promise<T> { return this.db.get(key).map((x) => x.y(add(1))) }
  get size() { return 1 }
}
export const handler = async <U,>(x: U) => ({ x, run() { return x } })
export enum Mode { On = 1, Off }
export type Id = string | number
"""


def symbols(source: bytes, language: Any = TYPESCRIPT) -> dict[str, SymbolRow]:
    rows = language.extract(source).symbols
    return dict(zip(qualified_names(rows), rows, strict=True))


def as_tuples(value: Any) -> Any:
    return msgpack.unpackb(msgpack.packb(value), use_list=False, strict_map_key=False)


def interface_of(ir: FileIR) -> tuple[Any, ...]:
    interface = ir.interface
    return (dict(interface.names), dict(interface.definitions), dict(interface.members), interface.stars, interface.announces)


def test_interface_and_body_survive_the_store() -> None:
    ir = TYPESCRIPT.extract(SAMPLE)
    packed = as_tuples(interface_of(ir))
    assert packed == interface_of(ir)
    assert as_tuples(ir.body) == ir.body
    stored = FileIR(ir.status, ir.lines, Interface(*packed), ir.symbols, as_tuples(ir.body))
    linked = Linker(MemoryView({"a.ts": ir})).link("a.ts", ir)
    assert linked.edges
    assert Linker(MemoryView({"a.ts": stored})).link("a.ts", stored) == linked


def test_symbols_lie_where_they_say() -> None:
    found = symbols(SAMPLE)
    row = found["Store"]
    assert SAMPLE[row.start : row.end].startswith(b"@Injectable") or SAMPLE[row.start : row.end].startswith(b"export default")
    assert SAMPLE[row.start : row.end].endswith(b"}")
    assert (row.name_line, row.end_line) == (6, 12)
    assert SAMPLE[row.doc_start : row.doc_end] == b"/** A store of things. */"
    load = found["Store.load"]
    assert SAMPLE[load.start : load.signature_end].strip() == b"protected async load(key: string): Promise<T>"
    limit = found["Store.limit"]
    assert SAMPLE[limit.doc_start : limit.doc_end] == b"/** How many. */"
    assert all(row.start <= row.signature_end <= row.end for row in found.values())


def test_every_symbol_has_a_parent_before_its_index_is_used() -> None:
    rows = TYPESCRIPT.extract(SAMPLE).symbols
    assert all(-1 <= row.parent < len(rows) and row.parent != index for index, row in enumerate(rows))


def test_an_edit_of_layout_comments_or_bodies_leaves_the_interface_equal() -> None:
    before = TYPESCRIPT.extract(SAMPLE)
    moved = TYPESCRIPT.extract(b"// a comment\n\n" + SAMPLE.replace(b"{ return a + b }", b"{\n  // sum\n  return b + a\n}"))
    assert interface_of(moved) == interface_of(before)
    assert interface_of(TYPESCRIPT.extract(SAMPLE.replace(b"b = 1", b"c = 'x'"))) != interface_of(before)


def test_hashes_tell_signature_body_and_layout_apart() -> None:
    before = symbols(SAMPLE)["add"]
    layout = symbols(b"\n" + SAMPLE.replace(b"a + b", b"a  +  /* and */ b"))["add"]
    body = symbols(SAMPLE.replace(b"a + b", b"a - b"))["add"]
    signature = symbols(SAMPLE.replace(b"a: number, b", b"a: string, b"))["add"]
    renamed = symbols(SAMPLE.replace(b"function add", b"function sum"))["sum"]
    documented = symbols(SAMPLE.replace(b"/** Adds. */", b"/** Adds two numbers. */"))["add"]
    assert (layout.signature_hash, layout.content_hash) == (before.signature_hash, before.content_hash)
    assert body.signature_hash == before.signature_hash
    assert body.content_hash != before.content_hash
    assert signature.signature_hash != before.signature_hash
    assert renamed.content_hash == before.content_hash
    assert documented.content_hash == before.content_hash


def test_details_are_read_again_from_the_source() -> None:
    rows = TYPESCRIPT.extract(SAMPLE).symbols
    details = TYPESCRIPT.describe(SAMPLE, rows)
    assert len(rows) == len(details)
    found = dict(zip(qualified_names(rows), details, strict=True))
    add = found["add"]
    assert [(p.name, p.annotation, p.default, p.variadic, p.optional) for p in add.parameters] == [
        ("a", "number", "", False, False),
        ("b", "", "1", False, True),
        ("rest", "number[]", "", True, True),
    ]
    assert add.returns == "number"
    store = found["Store"]
    assert store.generics == ("T extends object",)
    assert store.bases == ("Base<T>", "Api", "Other<T>")
    assert store.decorators == ('Injectable({ scope: "x" })',)
    assert store.modifiers == ("export", "default")
    assert found["Store.limit"].value == "10"
    assert found["Store.load"].modifiers == ("protected", "async")
    assert found["Mode.On"].value == "1"
    assert found["Id"].value == "string | number"


@pytest.mark.parametrize(
    ("source", "status", "reason"),
    [
        (b"", "parsed", None),
        (b"#!/usr/bin/env node\nfoo()\n", "parsed", None),
        ("\ufeffexport const a = 'ü'".encode(), "parsed", None),
        (b"export const a = '\xfc'", "parsed", None),
        (b"\0\1\2", "skipped", "binary"),
        (b"!function(){" + b"var a=1;b(a);return function(){return a};" * 200 + b"}()", "skipped", "minified"),
        (b"/******/ (function(modules) { // webpackBootstrap\n", "skipped", "bundled by a program"),
        (b"function f( { broken", "partial", None),
    ],
)
def test_odd_sources(source: bytes, status: str, reason: str | None) -> None:
    ir = TYPESCRIPT.extract(source)
    assert ir.status == status
    assert reason is None or ir.reason == reason
    assert status != "partial" or ir.problems


def test_offsets_are_those_of_the_blob_in_another_encoding() -> None:
    source = "// ü\nexport function f() {}\n".encode("latin-1")
    row = symbols(source)["f"]
    assert source[row.start : row.end] == b"export function f() {}"


def test_a_broken_file_still_yields_what_it_holds() -> None:
    ir = TYPESCRIPT.extract(b"export function good() {}\nlet x = = ;;\nfunction other() { good() }\n")
    assert ir.status == "partial"
    assert {"good", "other"} <= {row.name for row in ir.symbols}


NESTED = {
    "sum": "x=" + "+".join(["a"] * 20_000),
    "fluent": "a" + ".b()" * 20_000,
    "else if": "if (a) { b() } else " * 3000 + "{}",
    "choice": "x=" + "a ? b :\n" * 3000 + "c",
    "sequence": "x=(" + ",".join(["a"] * 20_000) + ")",
    "union": "type A = " + " | ".join(f"B{n}" for n in range(5000)),
    "parentheses": "x=" + "(" * 5000 + "a" + ")" * 5000,
    "arrays": "x=" + "[" * 5000 + "]" * 5000,
    "functions": "function f(){\n" * 3000 + "}" * 3000,
    "arrows": "x=\n" + "()=>\n" * 3000 + "1",
    "classes": "class A { m() {\n" * 2000 + "}}" * 2000,
    "objects": "x=" + "{a(){return \n" * 2000 + "1" + "}}" * 2000,
    "namespaces": "namespace A {\n" * 2000 + "}" * 2000,
    "one dotted namespace": "namespace " + ".".join(["A"] * 20_000) + " { export const x = 1 }",
    "blocks": "{" * 5000 + "}" * 5000,
    "calls": "f(\n" * 3000 + ")" * 3000,
    "generics": "let x: " + "A<" * 3000 + "B" + ">" * 3000,
    "conditional types": "type A = " + "B extends C ? D :\n" * 3000 + "E",
    "negations": "x=" + "!" * 5000 + "a",
    "templates": "`${" * 2000 + "a" + "}`" * 2000,
    "elements": "x=" + "<a>" * 2000 + "</a>" * 2000,
}


@pytest.mark.parametrize("kind", NESTED)
def test_hostile_nesting_never_ends_a_run(kind: str) -> None:
    for language in (JAVASCRIPT, TYPESCRIPT, TSX):
        begun = time.monotonic()
        ir = language.extract(NESTED[kind].encode())
        Linker(MemoryView({"a.ts": ir})).link("a.ts", ir)
        assert time.monotonic() - begun < 20
        assert ir.status in ("parsed", "partial", "failed", "skipped")


def test_long_chains_are_read_to_their_end() -> None:
    ir = JAVASCRIPT.extract(b"function f() {}\nx = a" + b" + a" * 5000 + b" + f()\ny" + b".z()" * 3000 + b".w(f())\n")
    assert ir.status == "parsed"
    calls = [edge for edge in Linker(MemoryView({"a.js": ir})).link("a.js", ir).edges if edge.kind == "calls"]
    assert [edge.line for edge in calls] == [2, 3]


def test_damaged_sources_never_raise() -> None:
    random = Random(7)
    pieces = [
        b"{",
        b"}",
        b"(",
        b")",
        b"class ",
        b"<",
        b"=>",
        b"`",
        b"/*",
        b"async ",
        b"...",
        b"@",
        b"#",
        b"export ",
        b"import ",
        b"?.",
    ]
    for _ in range(300):
        source = bytearray(SAMPLE)
        for _ in range(random.randrange(1, 12)):
            at = random.randrange(len(source))
            if random.random() < 0.4:
                del source[at : at + random.randrange(20)]
            else:
                source[at:at] = random.choice(pieces)
        for language in (JAVASCRIPT, TSX):
            ir = language.extract(bytes(source))
            Linker(MemoryView({"a.ts": ir})).link("a.ts", ir)


def test_extraction_depends_on_the_bytes_alone() -> None:
    assert TYPESCRIPT.extract(SAMPLE) == TYPESCRIPT.extract(bytes(SAMPLE))


def test_suffixes_agree_with_the_registry() -> None:
    for language in (JAVASCRIPT, TYPESCRIPT, TSX):
        for suffix in language.suffixes:
            assert registry.name_for_path(f"a{suffix}") == language.name
    assert registry.name_for_path("types/a.d.ts") == "typescript"


@pytest.mark.parametrize("path", ["src/a.test.ts", "a.spec.jsx", "__tests__/a.js", "test/b.mjs", "types/x.test-d.ts"])
def test_paths_of_tests(path: str) -> None:
    assert TYPESCRIPT.is_test(path)


@pytest.mark.parametrize("path", ["src/testing.ts", "latest/a.js", "contest.ts", "src/spec.ts"])
def test_paths_of_no_tests(path: str) -> None:
    assert not TYPESCRIPT.is_test(path)


COMMONJS = b"""const f = () => 1
/** Verbs. */
exports.METHODS = ['GET', 'POST']
module.exports.f = f
exports.defaults = { limit: 3 }
"""


def test_values_that_commonjs_exports_lie_where_they_are_assigned() -> None:
    rows = symbols(COMMONJS, JAVASCRIPT)
    assert list(rows) == ["f", "METHODS", "defaults", "defaults.limit"]
    methods = rows["METHODS"]
    assert COMMONJS[methods.start : methods.end] == b"exports.METHODS = ['GET', 'POST']"
    assert COMMONJS[methods.doc_start : methods.doc_end] == b"/** Verbs. */"
    assert (methods.name_line, methods.line, methods.end_line) == (3, 3, 3)
    details = dict(zip(rows, JAVASCRIPT.describe(COMMONJS, list(rows.values())), strict=True))
    assert details["METHODS"].value == "['GET', 'POST']"


def test_another_value_is_another_body_and_nothing_else() -> None:
    before, after = symbols(COMMONJS, JAVASCRIPT), symbols(COMMONJS.replace(b"'POST'", b"'PUT'"), JAVASCRIPT)
    same = {name for name in before if before[name].content_hash == after[name].content_hash}
    assert same == before.keys() - {"METHODS"}
    assert before["METHODS"].signature_hash == after["METHODS"].signature_hash


def test_names_that_commonjs_exports_are_in_the_interface_wherever_they_stand() -> None:
    shifted = JAVASCRIPT.extract(b"// one\n\n" + COMMONJS).interface
    assert shifted == JAVASCRIPT.extract(COMMONJS).interface
    assert {name for name in shifted.names if name.startswith("=")} == {"=", "=METHODS", "=f", "=defaults"}


def test_an_object_that_is_a_table_of_data_has_no_symbols() -> None:
    pairs = b", ".join(b"key%d: %d" % (number, number) for number in range(65))
    assert list(symbols(b"function f() {}\nmodule.exports = { f, " + pairs + b" }\n", JAVASCRIPT)) == ["f"]
