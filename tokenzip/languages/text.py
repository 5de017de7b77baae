"""Sources in languages that are not read yet: their words are searched for, and that is all that is known of them.

A language that joins the registry takes its suffixes from here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tokenzip.languages.base import Evaluator, NoEdges, View
from tokenzip.model import FileIR, SymbolDetail, SymbolRow

_SUFFIXES = (
    ".go", ".java", ".kt", ".kts", ".scala", ".groovy", ".clj", ".rs", ".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp",
    ".m", ".mm", ".swift", ".zig", ".cs", ".fs", ".vb", ".dart", ".rb", ".php", ".pl", ".pm", ".lua", ".r", ".jl", ".ex",
    ".exs", ".erl", ".hs", ".ml", ".elm", ".sh", ".bash", ".ps1", ".proto", ".graphql", ".gql", ".thrift",
)  # fmt: skip
_TEST = re.compile(r"(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)test_[^/]*$|_(?:test|spec)\.\w+$|(?:Test|Tests|Spec)\.\w+$")


@dataclass(frozen=True, slots=True)
class Text:
    """Everything in code that no language reads, as a `Language`."""

    name: str = "text"
    family: str = "text"
    version: int = 1
    suffixes: tuple[str, ...] = _SUFFIXES
    filenames: tuple[str, ...] = ()
    is_source: bool = False

    def extract(self, source: bytes) -> FileIR:
        """Skipped, as is a file of no language at all."""
        lines = source.count(b"\n") + (1 if source and not source.endswith(b"\n") else 0)
        return FileIR("skipped", lines, reason="no language reads this kind of file")

    def describe(self, source: bytes, symbols: Sequence[SymbolRow]) -> tuple[SymbolDetail, ...]:
        return ()

    def evaluator(self, view: View) -> Evaluator:
        return NoEdges()

    def is_test(self, path: str) -> bool:
        """By the folders and endings that the usual runners of these languages go by."""
        return _TEST.search(path) is not None


TEXT = Text()
