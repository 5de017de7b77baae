"""Python: see `docs/adding-a-language.md` for what each member of a language says.

The grammar and all that walks it are loaded when a file is read: questions about stored graphs ask for none of it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from tokenzip.languages.base import Evaluator, View
from tokenzip.model import FileIR, SymbolDetail, SymbolRow


class Python:
    """The language."""

    name = "python"
    family = "python"
    version = 8
    suffixes = (".py", ".pyi", ".pyw")
    filenames: tuple[str, ...] = ()
    is_source = True

    def extract(self, source: bytes) -> FileIR:
        """See `languages.base.Language`."""
        from tokenzip.languages.python.extract import extract

        return extract(source)

    def describe(self, source: bytes, symbols: Sequence[SymbolRow]) -> tuple[SymbolDetail, ...]:
        """See `languages.base.Language`."""
        from tokenzip.languages.python.describe import describe

        return describe(source, symbols)

    def evaluator(self, view: View) -> Evaluator:
        """See `languages.base.Language`."""
        from tokenzip.languages.python.edges import PythonEvaluator

        return PythonEvaluator(view)

    def is_test(self, path: str) -> bool:
        """``test_x.py``, ``x_test.py``, ``conftest.py``, ``tests.py``, or anything below a directory of tests."""
        *directories, name = path.split("/")
        stem = posixpath.splitext(name)[0]
        if stem.startswith("test_") or stem.endswith("_test") or stem in ("conftest", "tests"):
            return True
        return any(directory in ("tests", "test", "testing") for directory in directories)


PYTHON = Python()
