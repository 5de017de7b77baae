"""JavaScript and TypeScript: one family of three grammars that share everything but the parser, and what embeds them.

The grammars and all that walks them are loaded when a file is read: questions about stored graphs ask for none of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenzip.languages.base import Evaluator, View
from tokenzip.model import FileIR, SymbolDetail, SymbolRow

if TYPE_CHECKING:
    from tokenzip.languages.javascript.components import Framework
    from tokenzip.languages.javascript.extract import Grammar

VERSION = 5
_TEST = re.compile(
    r"(?:^|/)(?:__tests__|tests?|specs?|e2e|cypress)/|[.\-_](?:test|spec|e2e|cy|test-d|bench)\.(?:[cm]?[jt]sx?|vue|svelte)$|(?:^|/)test\.[cm]?[jt]sx?$"
)


@dataclass(frozen=True, slots=True)
class JavaScript:
    """One grammar of the family as a `Language`."""

    name: str
    grammar: Grammar
    suffixes: tuple[str, ...]
    family: str = "javascript"
    version: int = VERSION
    filenames: tuple[str, ...] = ()
    is_source: bool = True
    framework: Framework | None = None
    """Whose single-file components these are; then the grammar is that of a script that names none."""

    def extract(self, source: bytes) -> FileIR:
        from tokenzip.languages.javascript.extract import extract

        return extract(self.grammar, source, self.framework)

    def describe(self, source: bytes, symbols: Sequence[SymbolRow]) -> tuple[SymbolDetail, ...]:
        from tokenzip.languages.javascript.describe import describe

        return describe(self.grammar, source, self.framework)

    def evaluator(self, view: View) -> Evaluator:
        from tokenzip.languages.javascript.evaluate import JavaScriptEvaluator

        return JavaScriptEvaluator(view)

    def is_test(self, path: str) -> bool:
        """By folder (``__tests__``, ``test`` ...) or ending (``.test.ts`` ...): jest, vitest, mocha, cypress, tsd."""
        return _TEST.search(path) is not None


JAVASCRIPT = JavaScript("javascript", "javascript", (".js", ".jsx", ".mjs", ".cjs"))
TYPESCRIPT = JavaScript("typescript", "typescript", (".ts", ".mts", ".cts"))
TSX = JavaScript("tsx", "tsx", (".tsx",))
VUE = JavaScript("vue", "javascript", (".vue",), framework="vue")
SVELTE = JavaScript("svelte", "javascript", (".svelte",), framework="svelte")
