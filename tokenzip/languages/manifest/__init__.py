"""Manifests and settings: what package.json, tsconfig.json, pyproject.toml, go.mod, pom.xml ... say at their top level.

One language for each *format*, told apart by file name in the registry: content alone cannot tell INI from TOML
(``[bdist_wheel]`` / ``universal = 1`` is both) nor say which of them a broken file was meant to be.

`Interface.names` holds the parsed top level as it is written: plain dicts, lists, strings, finite numbers, booleans and None
(dates as strings), at most `MAX_DEPTH` levels deep. There are no symbols and no body. `Interface.announces` holds

- ``package:NAME`` for npm, Python (normalised as PEP 503 says) and Cargo packages. The same name may come from several
  ecosystems, and ``name`` in a JSON file that is not a package.json announces too: whoever asks looks at the file name;
- ``module:PATH`` for Go modules.

Messages are our own and not the parsers', because those differ between versions of Python and the answer must not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tokenzip.languages.base import Evaluator, NoEdges, View
from tokenzip.languages.manifest.go_mod import announce_go, parse_go_mod
from tokenzip.languages.manifest.gradle import parse_gradle
from tokenzip.languages.manifest.ini import announce_ini, parse_ini
from tokenzip.languages.manifest.jsonc import announce_json, parse_json
from tokenzip.languages.manifest.pom import parse_pom
from tokenzip.languages.manifest.text import normalised
from tokenzip.languages.manifest.toml import announce_toml, parse_toml
from tokenzip.languages.manifest.values import MAX_DEPTH, Malformed, Parsed, Values, plain
from tokenzip.languages.manifest.yaml import parse_yaml
from tokenzip.model import FileIR, Interface, Status, SymbolDetail, SymbolRow

VERSION = 1
MAX_BYTES = 1_000_000
"""A larger file is skipped: no known manifest comes near, and the parsers are not linear on hostile input."""
_MAX_PROBLEMS = 10
TOOLS = "tool"
"""The table of ``pyproject.toml`` in which each tool has a table of its own."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest format as a `Language`: a parser, and which of the values are names to be found by."""

    name: str
    filenames: tuple[str, ...]
    parse: Callable[[bytes], Parsed]
    announce: Callable[[Values], Iterator[str]]
    family: str = "manifest"
    version: int = VERSION
    suffixes: tuple[str, ...] = ()
    is_source: bool = False

    def extract(self, source: bytes) -> FileIR:
        """Interface without symbols or body; `failed` or `partial` with the line if the file is malformed."""
        lines = source.count(b"\n") + (1 if source and not source.endswith(b"\n") else 0)
        if len(source) > MAX_BYTES:
            return FileIR("skipped", lines, reason=f"larger than {MAX_BYTES:,} bytes")
        try:
            parsed = self.parse(source)
        except Malformed as error:
            return FileIR("failed", lines, problems=(error.problem,), reason=error.problem.message)
        values, problems = plain(parsed.values), parsed.problems[:_MAX_PROBLEMS]
        status: Status = "partial" if problems else "parsed"
        reason = problems[0].message if problems else None
        announces = tuple(sorted(set(self.announce(values))))
        return FileIR(status, lines, _interface(values, announces), problems=problems, reason=reason)

    def describe(self, source: bytes, symbols: Sequence[SymbolRow]) -> tuple[SymbolDetail, ...]:
        return ()

    def evaluator(self, view: View) -> Evaluator:
        return NoEdges()

    def is_test(self, path: str) -> bool:
        return False


def announce_nothing(values: Values) -> Iterator[str]:
    yield from ()


def _interface(values: Values, announces: tuple[str, ...]) -> Interface:
    """Top-level keys as names; what is in the table of tools by its dotted table and key, each entry a fact of its own: what
    a linter is told must not make every file of a project be linked again."""
    tools = values.get(TOOLS)
    if not isinstance(tools, dict):
        return Interface(names=values, announces=announces)
    names = {key: value for key, value in values.items() if key != TOOLS}
    return Interface(names, members=dict(_flattened(TOOLS, tools)), announces=announces)


def _flattened(name: str, table: Values) -> Iterator[tuple[str, Values]]:
    """A table and those in it by their dotted names, each with its plain values."""
    yield name, {key: value for key, value in table.items() if not isinstance(value, dict)}
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flattened(f"{name}.{key}", value)


def settings(interface: Interface) -> Values:
    """Everything that a manifest says, nested as it is written there."""
    values = dict(interface.names)
    for name, table in interface.members.items():
        here = values
        for key in name.split("."):
            here = here.setdefault(key, {})
        here.update(table)
    return values


JSON = Manifest(
    "json",
    ("package.json", "tsconfig.json", "tsconfig.*.json", "tsconfig-*.json", "jsconfig.json", "lerna.json"),
    parse_json,
    announce_json,
)
TOML = Manifest("toml", ("pyproject.toml", "Cargo.toml"), parse_toml, announce_toml)
INI = Manifest("ini", ("setup.cfg",), parse_ini, announce_ini)
YAML = Manifest("yaml", ("pnpm-workspace.yaml",), parse_yaml, announce_nothing)
GO_MOD = Manifest("go.mod", ("go.mod",), parse_go_mod, announce_go)
POM = Manifest("pom", ("pom.xml",), parse_pom, announce_nothing)
GRADLE = Manifest(
    "gradle", ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"), parse_gradle, announce_nothing
)

__all__ = [
    "GO_MOD", "GRADLE", "INI", "JSON", "MAX_BYTES", "MAX_DEPTH", "POM", "TOML", "TOOLS", "YAML", "Manifest", "normalised",
    "plain", "settings",
]  # fmt: skip
