"""What can be told about a file without loading its language."""

from __future__ import annotations

import pytest

from tokenzip.languages import registry


@pytest.mark.parametrize(
    ("language", "text", "shown"),
    [
        ("python", 'def f(a,  # the a\n  b=\'#x\', c="""# no"""):', 'def f(a, b=\'#x\', c="""# no"""):'),
        (
            "typescript",
            "const h = (// why\n app: A, u = 'http://x', t = `//y`/* z */)",
            "const h = ( app: A, u = 'http://x', t = `//y` )",
        ),
        ("tsx", "f(a: 'it\\'s // not')", "f(a: 'it\\'s // not')"),
        (None, "a # b // c", "a # b // c"),
    ],
)
def test_source_is_shown_without_comments(language: str | None, text: str, shown: str) -> None:
    assert " ".join(registry.without_comments(text, language).split()) == shown


@pytest.mark.parametrize(
    ("path", "name"),
    [("a/B.PY", "python"), ("x.d.mts", "typescript"), ("tsconfig.build.json", "json"), ("data.json", None), ("Makefile", None)],
)
def test_a_path_tells_its_language(path: str, name: str | None) -> None:
    assert registry.name_for_path(path) == name


@pytest.mark.parametrize("name", registry.LANGUAGES)
def test_the_tables_agree_with_the_languages(name: str) -> None:
    language = registry.get(name)
    assert (language.name, language.version) == (name, registry.VERSIONS[name])
    assert language.is_source == registry.is_source(name)
    assert {suffix for suffix, owner in registry.SUFFIXES.items() if owner == name} == set(language.suffixes)
