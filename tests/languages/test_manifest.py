"""Manifest formats: what is read of each, and that nothing hostile or broken escapes."""

from __future__ import annotations

import datetime
import json
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenzip.languages import registry
from tokenzip.languages.manifest import MAX_BYTES, MAX_DEPTH, Manifest, normalised, plain, settings
from tokenzip.model import FileIR

FORMATS = ("json", "toml", "ini", "yaml", "go.mod", "pom", "gradle")


def read(path: str, text: str | bytes) -> FileIR:
    language = registry.for_path(path)
    assert language is not None
    assert language.family == "manifest"
    return language.extract(text if isinstance(text, bytes) else text.encode())


def names(path: str, text: str | bytes) -> dict[str, Any]:
    ir = read(path, text)
    assert ir.status == "parsed", ir.problems
    return said(ir)


def said(ir: FileIR) -> dict[str, Any]:
    """All top-level keys, with lists as the formats write them."""
    found: dict[str, Any] = _listed(settings(ir.interface))
    return found


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _listed(item) for key, item in value.items()}
    return [_listed(item) for item in value] if isinstance(value, tuple) else value


@pytest.mark.parametrize("name", FORMATS)
def test_the_registry_and_the_formats_agree(name: str) -> None:
    language = registry.get(name)
    assert isinstance(language, Manifest)
    assert language.name == name
    assert not language.is_source
    named = {file for file, of in registry.FILENAMES.items() if of == name}
    assert named == set(language.filenames)


def test_package_json() -> None:
    ir = read("package.json", '{"name": "@scope/core", "exports": {".": ["./a.js", null]}, "private": true}\n')
    assert said(ir) == {"name": "@scope/core", "exports": {".": ["./a.js", None]}, "private": True}
    assert ir.interface.announces == ("package:@scope/core",)
    assert (ir.status, ir.lines, ir.symbols, ir.body) == ("parsed", 1, (), None)


def test_jsonc_with_comments_trailing_commas_and_byte_order_mark() -> None:
    text = """\ufeff// head
{
  "extends": "./base.json", /* why, not "what" */
  "compilerOptions": {
    "paths": {"@/*": ["src/*", /* last */ ], "//x": ["a, ]"],}, // "end",
  },
}
"""
    assert names("tsconfig.json", text) == {
        "extends": "./base.json",
        "compilerOptions": {"paths": {"@/*": ["src/*"], "//x": ["a, ]"]}},
    }
    assert names("tsconfig.json", text[1:].encode("utf-16"))["extends"] == "./base.json"
    assert names("tsconfig.build.json", b'\xef\xbb\xbf{"files": []}') == {"files": []}


def test_a_tsconfig_announces_no_package() -> None:
    assert read("tsconfig.json", '{"name": "x", "compilerOptions": {}}').interface.announces == ()


@pytest.mark.parametrize(
    ("text", "line"), [("", 1), ('{"a": 1,\n"b" 2}', 2), ("[1]", 1), ('{\n<<<<<<< ours\n"a": 1}', 2), ("{", 1), ("\0", 1)]
)
def test_broken_json_fails_with_its_line(text: str, line: int) -> None:
    ir = read("package.json", text)
    assert ir.status == "failed"
    assert [problem.line for problem in ir.problems] == [line]
    assert ir.reason
    assert said(ir) == {}


def test_pyproject() -> None:
    text = '[project]\nname = "Zope.Inter_face"\nversion = "1"\n[tool.setuptools]\npackage-dir = {"" = "src"}\n'
    ir = read("pyproject.toml", text.replace("\n", "\r\n"))
    assert said(ir)["tool"] == {"setuptools": {"package-dir": {"": "src"}}}
    assert ir.interface.announces == ("package:zope-inter-face",)


def test_poetry_and_cargo_names() -> None:
    assert read("pyproject.toml", '[tool.poetry]\nname = "My_App"').interface.announces == ("package:my-app",)
    assert read("Cargo.toml", '[package]\nname = "aho_corasick"').interface.announces == ("package:aho_corasick",)


def test_a_broken_table_costs_only_itself() -> None:
    text = '[project]\nname = "app"\n\n[tool.ruff]\nselect = [\n"E"\nline = 3\n\n[tool.other]\nx = 1\n'
    ir = read("pyproject.toml", text)
    assert ir.status == "partial"
    assert said(ir) == {"project": {"name": "app"}, "tool": {"other": {"x": 1}}}
    assert ir.problems[0].line in (6, 7)


def test_toml_without_any_sense_fails() -> None:
    ir = read("pyproject.toml", "= = =\n" + "".join(f"[{n}\n" for n in range(30)))
    assert ir.status == "failed"
    assert ir.problems[0].line == 1


def test_setup_cfg() -> None:
    text = """\
# c
[metadata]
name = my_app
long-description:
    one
    two

[options]
install_requires =
    a>=1
    # no
    b
"""
    ir = read("setup.cfg", text)
    assert said(ir)["metadata"] == {"name": "my_app", "long-description": "one\ntwo"}
    assert said(ir)["options"] == {"install_requires": "a>=1\nb"}
    assert ir.interface.announces == ("package:my-app",)


def test_broken_ini_keeps_the_rest() -> None:
    ir = read("setup.cfg", "stray = 1\n[metadata]\nname = x\njunk\n")
    assert (ir.status, [problem.line for problem in ir.problems]) == ("partial", [1, 4])
    assert said(ir) == {"metadata": {"name": "x"}}


def test_pnpm_workspace() -> None:
    text = """\
# comment
packages:
  # all packages
  - 'packages/*'
  - "apps/*"   # trailing
  - tools/#odd
catalog:
  react: ^18
  '@scope/x': 'it''s'
onlyBuilt: [esbuild, "a, b",]
nested:
  - one
flag: true
"""
    assert names("pnpm-workspace.yaml", text) == {
        "packages": ["packages/*", "apps/*", "tools/#odd"],
        "catalog": {"react": "^18", "@scope/x": "it's"},
        "onlyBuilt": ["esbuild", "a, b"],
        "nested": ["one"],
        "flag": True,
    }


def test_sequences_may_stand_at_the_level_of_their_key() -> None:
    assert names("pnpm-workspace.yaml", "packages:\n- a\n- b\nx: 1\n") == {"packages": ["a", "b"], "x": "1"}


def test_yaml_beyond_the_subset_is_reported_and_the_rest_kept() -> None:
    ir = read("pnpm-workspace.yaml", "packages:\n  - a\n  - {b: c}\nref: *x\nlast: 1\n")
    assert (ir.status, [problem.line for problem in ir.problems]) == ("partial", [3, 4])
    assert said(ir) == {"packages": ["a"], "last": "1"}


def test_go_mod() -> None:
    text = """\
// Deprecated: see https://example.org
module example.org/a/v2 // v2

go 1.22
require example.org/one v1.0.0
require (
\texample.org/two v2.0.0 // indirect
\t"example.org/three" v3.0.0
)
replace example.org/one => ../one
exclude example.org/two v1.9.0
"""
    ir = read("go.mod", text)
    assert ir.status == "parsed"
    assert ir.interface.announces == ("module:example.org/a/v2",)
    assert said(ir) == {
        "module": "example.org/a/v2",
        "go": "1.22",
        "require": {
            "example.org/one": {"version": "v1.0.0", "indirect": False},
            "example.org/two": {"version": "v2.0.0", "indirect": True},
            "example.org/three": {"version": "v3.0.0", "indirect": False},
        },
        "replace": {"example.org/one": "../one"},
        "exclude": ["example.org/two v1.9.0"],
    }
    broken = read("go.mod", "module a\nwhat is this\nrequire b\n")
    assert (broken.status, [problem.line for problem in broken.problems]) == ("partial", [2, 3])


def test_pom() -> None:
    text = """<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <parent><groupId>org.x</groupId><version>1</version></parent>
  <artifactId>core</artifactId>
  <description>A
     core</description>
  <modules><module>a</module><module>b</module></modules>
  <properties><java.version>17</java.version></properties>
  <dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId><scope>test</scope></dependency></dependencies>
</project>
"""
    assert names("pom.xml", text) == {
        "parent": {"groupId": "org.x", "version": "1"},
        "artifactId": "core",
        "description": "A core",
        "modules": ["a", "b"],
        "properties": {"java.version": "17"},
        "dependencies": [{"groupId": "g", "artifactId": "a", "scope": "test"}],
    }


def test_entities_are_refused() -> None:
    bomb = '<!DOCTYPE p [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>\n<project><name>&b;</name></project>'
    ir = read("pom.xml", bomb)
    assert (ir.status, ir.reason) == ("failed", "has a document type")


def test_broken_xml_keeps_what_was_closed() -> None:
    ir = read("pom.xml", "<project>\n<artifactId>a</artifactId>\n<name>b</nam>\n</project>")
    assert (ir.status, ir.problems[0].line, said(ir)) == ("partial", 3, {"artifactId": "a"})
    assert read("pom.xml", "no xml").status == "failed"
    assert read("pom.xml", "<html/>").status == "failed"


def test_gradle_in_both_languages() -> None:
    groovy = """\
// implementation 'no:no:1'
group = 'org.x'
version '1.2'
dependencies {
    implementation 'a:b:1'
    testImplementation("c:d:2")
    api project(':core')
    /* api 'no:no:2' */
}
repositories { maven { url "https://example.org/x" } }
"""
    kotlin = 'rootProject.name = "app"\ninclude(":a", ":b")\ninclude(\n  ":c",\n)\ndescription = "text"\n'
    assert names("build.gradle", groovy) == {
        "group": "org.x",
        "version": "1.2",
        "dependencies": [
            {"configuration": "implementation", "notation": "a:b:1"},
            {"configuration": "testImplementation", "notation": "c:d:2"},
        ],
        "projects": [{"configuration": "api", "path": ":core"}],
    }
    assert names("settings.gradle.kts", kotlin) == {
        "rootProject.name": "app",
        "include": [":a", ":b", ":c"],
        "description": "text",
    }


def test_values_are_plain() -> None:
    found = plain({"d": datetime.date(2024, 1, 2), "f": float("nan"), "i": 1 << 70, "s": "\ud800", "t": (1, 2)})
    assert found["d"] == "2024-01-02"
    assert found["f"] == "nan"
    assert found["i"] == hex(1 << 70)
    assert found["s"].encode()
    assert found["t"] == (1, 2)


@pytest.mark.parametrize(
    "source",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"a = " + b"[" * 100_000,
        b"a = " + b"{a=" * 100_000,
        b"a." * 100_000 + b"a = 1",
        b"<a>" * 100_000,
        b"\n".join(b" " * n + b"a:" for n in range(500)),
    ],
)
@pytest.mark.parametrize("name", FORMATS)
def test_deep_nesting_is_refused_or_cut(name: str, source: bytes) -> None:
    ir = registry.get(name).extract(source)
    assert ir.status in ("failed", "partial", "parsed")
    msgpack.unpackb(msgpack.packb(ir.interface.names))


@pytest.mark.parametrize("name", FORMATS)
def test_a_huge_file_is_skipped(name: str) -> None:
    ir = registry.get(name).extract(b"\n" * (MAX_BYTES + 1))
    assert (ir.status, ir.lines) == ("skipped", MAX_BYTES + 1)


@pytest.mark.parametrize("name", FORMATS)
@given(source=st.one_of(st.binary(max_size=200), st.text(alphabet="{}[]<>\"'=:#-.,/\\ \nab1()", max_size=200).map(str.encode)))
def test_nothing_escapes_and_everything_survives_the_store(name: str, source: bytes) -> None:
    language = registry.get(name)
    ir = language.extract(source)
    assert ir == language.extract(source)
    assert (ir.status == "parsed") == (not ir.problems)
    assert msgpack.unpackb(msgpack.packb(ir.interface.names), strict_map_key=False, use_list=False) == ir.interface.names


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.recursive(
            st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=8),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
            max_leaves=8,
        ),
        max_size=4,
    )
)
def test_json_reads_what_json_writes(value: dict[str, Any]) -> None:
    assert names("package.json", json.dumps(value)) == value
    assert names("package.json", json.dumps(value, indent=1)[:-1].rstrip() + (",\n}" if value else "}")) == value


def test_normalised() -> None:
    assert normalised("Friendly._-.Bard") == "friendly-bard"
    assert MAX_DEPTH < 200  # far below the recursion limit, at which Python's own parsers give up
