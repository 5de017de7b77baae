"""All languages in one table; `for_path` says which of them reads a file."""

from __future__ import annotations

import fnmatch
import functools
import importlib
import posixpath
import re
from collections.abc import Iterable

from tokenzip.languages.base import Language

# name -> "module:attribute"; resolved at first use, so that start-up pays only for the languages that a question needs.
LANGUAGES = {
    "python": "tokenzip.languages.python:PYTHON",
    "javascript": "tokenzip.languages.javascript:JAVASCRIPT",
    "typescript": "tokenzip.languages.javascript:TYPESCRIPT",
    "tsx": "tokenzip.languages.javascript:TSX",
    "vue": "tokenzip.languages.javascript:VUE",
    "svelte": "tokenzip.languages.javascript:SVELTE",
    "json": "tokenzip.languages.manifest:JSON",
    "toml": "tokenzip.languages.manifest:TOML",
    "ini": "tokenzip.languages.manifest:INI",
    "yaml": "tokenzip.languages.manifest:YAML",
    "go.mod": "tokenzip.languages.manifest:GO_MOD",
    "pom": "tokenzip.languages.manifest:POM",
    "gradle": "tokenzip.languages.manifest:GRADLE",
    "text": "tokenzip.languages.text:TEXT",
}
# suffix -> language: kept here as data, so that a path can be told apart without importing the language (a test compares).
SUFFIXES = {
    ".py": "python", ".pyi": "python", ".pyw": "python",
    ".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx",
    ".vue": "vue", ".svelte": "svelte",
    **dict.fromkeys((
        ".go", ".java", ".kt", ".kts", ".scala", ".groovy", ".clj", ".rs", ".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp",
        ".m", ".mm", ".swift", ".zig", ".cs", ".fs", ".vb", ".dart", ".rb", ".php", ".pl", ".pm", ".lua", ".r", ".jl", ".ex",
        ".exs", ".erl", ".hs", ".ml", ".elm", ".sh", ".bash", ".ps1", ".proto", ".graphql", ".gql", ".thrift",
    ), "text"),
}  # fmt: skip
# Manifests and settings: one language a format, since content alone cannot always tell the formats apart.
FILENAMES = {
    "package.json": "json", "tsconfig.json": "json", "tsconfig.*.json": "json", "tsconfig-*.json": "json",
    "jsconfig.json": "json", "lerna.json": "json",
    "pyproject.toml": "toml", "Cargo.toml": "toml", "setup.cfg": "ini", "pnpm-workspace.yaml": "yaml",
    "go.mod": "go.mod", "pom.xml": "pom",
    "build.gradle": "gradle", "build.gradle.kts": "gradle", "settings.gradle": "gradle", "settings.gradle.kts": "gradle",
}  # fmt: skip
# Grows whenever extraction or linking of a language may answer differently: records of other versions are misses.
VERSIONS = {
    "python": 8, "javascript": 5, "typescript": 5, "tsx": 5, "vue": 5, "svelte": 5,
    "json": 1, "toml": 1, "ini": 1, "yaml": 1, "go.mod": 1, "pom": 1, "gradle": 1, "text": 1,
}  # fmt: skip
_WITHOUT_SYMBOLS = frozenset({*FILENAMES.values(), "text"})
_EXACT = {name: language for name, language in FILENAMES.items() if "*" not in name}
_GLOBS = tuple((name, language) for name, language in FILENAMES.items() if "*" in name)


_STRING = r"""(\"\"\".*?\"\"\"|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`)"""
_HASH_COMMENT = re.compile(_STRING + r"|\#[^\n]*", re.DOTALL)
_SLASH_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
# How comments look, for showing a piece of source without them; here, so that showing does not load a parser.
COMMENTS = {
    "python": _HASH_COMMENT, "javascript": _SLASH_COMMENT, "typescript": _SLASH_COMMENT, "tsx": _SLASH_COMMENT,
    "vue": _SLASH_COMMENT, "svelte": _SLASH_COMMENT,
}  # fmt: skip


def without_comments(text: str, language: str | None) -> str:
    """A piece of source without its comments; strings that look like comments stay."""
    pattern = COMMENTS.get(language or "")
    return pattern.sub(lambda found: found[1] or " ", text) if pattern is not None else text


@functools.cache
def get(name: str) -> Language:
    """The language of that name. Raises KeyError for an unknown one."""
    module, _, attribute = LANGUAGES[name].partition(":")
    language: Language = getattr(importlib.import_module(module), attribute)
    return language


def name_for_path(path: str) -> str | None:
    """The name of the language that reads `path`, by base name or suffix; None if there is none."""
    name = posixpath.basename(path)
    exact = _EXACT.get(name)
    if exact is not None:
        return exact
    suffix = posixpath.splitext(name)[1].lower()
    if suffix == ".json":
        return next((language for pattern, language in _GLOBS if fnmatch.fnmatchcase(name, pattern)), None)
    return SUFFIXES.get(suffix)


def is_source(name: str) -> bool:
    """Whether a language has symbols; manifests and settings have not, nor has code that no language reads."""
    return name not in _WITHOUT_SYMBOLS


def is_searched(name: str) -> bool:
    """Whether the words of its files are searched for."""
    return name == "text" or name not in _WITHOUT_SYMBOLS


def for_path(path: str) -> Language | None:
    """The language that reads `path`, or None."""
    name = name_for_path(path)
    return None if name is None else get(name)


def all_languages() -> Iterable[Language]:
    """Every known language, in the order of the table."""
    return (get(name) for name in LANGUAGES)
