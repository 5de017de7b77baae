"""Vue and Svelte files: everything that extraction says refers to the bytes of the whole file."""

from __future__ import annotations

import time

import pytest

from tokenzip.languages import registry
from tokenzip.model import FileIR, Flag, qualified_names

VUE = """<!-- <script> function no() {} </script> -->
<template>
  <p :title="`größe`">{{ press(1) }} it's "</p>
</template>

<script setup lang="ts" generic="T extends Record<string, number>">
import Other from './Other.vue'
/** Prüft. */
export function press(ä: number): number {
  return ä
}
</script>

<style>p { color: red }</style>
"""


def extracted(text: str | bytes, name: str = "a.vue") -> FileIR:
    language = registry.for_path(name)
    assert language is not None
    return language.extract(text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize("codec", ["utf-8", "latin-1", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_offsets_and_lines_are_those_of_the_file(codec: str, line_end: str) -> None:
    source = VUE.replace("\n", line_end).encode(codec)
    ir = extracted(source)
    assert (ir.status, ir.reason) == ("parsed", None)
    rows = dict(zip(qualified_names(ir.symbols), ir.symbols, strict=True))
    press = rows["press"]
    plain = codec.removesuffix("-sig")
    shown = source[press.start : press.end].decode("utf-16-le" if codec == "utf-16" else plain)
    assert shown.startswith("export function press(ä: number)")
    assert shown.endswith("return ä" + line_end + "}")
    assert (press.line, press.name_line, press.end_line) == (9, 9, 11)
    doc = source[press.doc_start : press.doc_end].decode("utf-16-le" if codec == "utf-16" else plain)
    assert doc == "/** Prüft. */"
    assert rows["default"].flags & Flag.DEFAULT_EXPORT
    assert rows["default"].name_line == 2
    assert set(rows) == {"default", "press"}


def test_a_change_of_the_markup_is_a_change_of_the_component_alone() -> None:
    def hashes(text: str) -> dict[str, int]:
        rows = extracted(text).symbols
        return {name: row.content_hash for name, row in zip(qualified_names(rows), rows, strict=True)}

    before = hashes(VUE)
    assert hashes(VUE.replace("  <p", "      <p")) == before
    after = hashes(VUE.replace("press(1)", "press(2)"))
    assert {name for name in before if before[name] != after[name]} == {"default"}


def test_details_belong_to_their_symbols() -> None:
    language = registry.for_path("a.vue")
    assert language is not None
    names = qualified_names(extracted(VUE).symbols)
    details = dict(zip(names, language.describe(VUE.encode(), extracted(VUE).symbols), strict=True))
    assert details["press"].returns == "number"
    assert [parameter.name for parameter in details["press"].parameters] == ["ä"]


@pytest.mark.parametrize("name", ["a.vue", "a.svelte"])
@pytest.mark.parametrize(
    "text",
    [
        "", " \n", "<script>", "<script", "</script>", "<script>const a = 1", "<template>", "{{", "{", "<!--", "<script/>",
        "<script src='a.js'></script>", "<script lang=ts>let a: number</script>{a}", "<SCRIPT>let a</SCRIPT><A/>",
        "<script>export default (</script><p>x</p>", "<script lang='coffee'>a = -> 1</script>", "\ufeff<script>let a</script>",
        "<script>export default a</script><p/>", "<script>export { a as default } from './a'</script><p/>",
        "<script>'</script>'</script>", "{@html {}}{{{}}}", "<A.B.C/><-a/><a-/>",
    ],
)  # fmt: skip
def test_odd_files_are_read(text: str, name: str) -> None:
    ir = extracted(text, name)
    assert ir.status in ("parsed", "partial")
    assert all(0 <= row.start <= row.signature_end <= row.end <= len(text.encode()) for row in ir.symbols)


@pytest.mark.parametrize("name", ["a.vue", "a.svelte"])
@pytest.mark.parametrize("piece", ['<script "', "{{ a", "{ a", "<!-", '<p :a="', "<script>", "a.", "{{b}", "<style "])
def test_unfinished_markup_costs_no_more_than_its_length(piece: str, name: str) -> None:
    started = time.process_time()
    extracted(piece * (200_000 // len(piece)), name)
    assert time.process_time() - started < 5
