"""`PythonEvaluator.link`: from the references of one file to edges, open references and facts."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from tokenzip.languages.base import View, Wanted
from tokenzip.languages.python.evaluate import Evaluation
from tokenzip.languages.python.ir import FIXTURE, LOCAL, TEST, UNKNOWN, Body, Function
from tokenzip.languages.python.meanings import KINDS, Meaning, Meanings
from tokenzip.model import EdgeRow, FileIR, LinkedFile, SymbolRow, UnresolvedRow, qualified_names

_RECURSION = 20_000
"""Between two look-ups the evaluation of one expression nests a few hundred frames; see `languages.evaluation`."""
_new = tuple.__new__
"""Makes rows: half the price of calling the named tuple, and there are hundreds in a file."""
_METHODS = frozenset({"method", "constructor"})
_NAMED = frozenset({"decorate", "inherit"})


class PythonEvaluator(Evaluation):
    """Links Python files of one view."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        if sys.getrecursionlimit() < _RECURSION:
            sys.setrecursionlimit(_RECURSION)

    def link(self, path: str, ir: FileIR, wanted: Wanted | None = None) -> LinkedFile:
        """See `languages.base.Evaluator`."""
        if ir.body is None:
            return LinkedFile()
        body = Body._make(ir.body)
        self._begin(path, body)
        linking = _Linking(self, path, ir.symbols)
        if wanted is None:
            linking.references(body.references)
            linking.overrides()
            linking.fixtures()
        else:
            linking.references([row for row in body.references if wanted(row[0], row[4])])
        for source, module, level, name, line, detail in body.imports:
            if wanted is None or wanted(source, _imported_name(module, name)):
                linking.imported(source, module, level, name, line, detail)
        facts = frozenset([fact for fact in self.facts if fact[1] != path or fact[0] == "path"])
        return LinkedFile(tuple(linking.edges), tuple(linking.unresolved), facts)

    def _begin(self, path: str, body: Body) -> None:
        self.forget()
        self.begin_file()
        self._path = path
        self._own = body.expressions
        self._own_values = {UNKNOWN: ()}
        self._local = dict(body.definitions)
        self._local_members = {}
        for cls, name, entries in body.members:
            self._local_members.setdefault(cls, {})[name] = entries
        self._passed = {(function, name): numbers for function, name, numbers in body.passed}


class _Linking:
    """The edges of one file while they are found."""

    def __init__(self, evaluation: PythonEvaluator, path: str, symbols: tuple[SymbolRow, ...]) -> None:
        self.evaluation = evaluation
        self.path = path
        self.symbols = symbols
        self.qualified = qualified_names(symbols)
        self.edges: list[EdgeRow] = []
        self.unresolved: list[UnresolvedRow] = []
        self._seen: set[tuple[int, str, str, str]] = set()
        self._meanings = Meanings(evaluation, path)

    def references(self, references: Iterable[tuple[int, str, int, int, str]]) -> None:
        """The references of the body. Of equal ones, which are many, only the first is worked out."""
        known: dict[tuple[str, int], Meaning] = {}
        edges, unresolved, seen = self.edges, self.unresolved, self._seen
        for source, kind, expression, line, name in references:
            key = (kind, expression)
            meaning = known.get(key)
            if meaning is None:
                if kind in _NAMED:  # depends on who is decorated
                    self._named(source, KINDS[kind], expression, line, name)
                    continue
                meaning = known[key] = self._meanings.of(kind, expression)
            each, once, left = meaning
            for which, tier, path, qualified, detail in each:
                edges.append(_new(EdgeRow, (source, which, tier, line, path, qualified, detail)))
            for which, tier, path, qualified, detail in once:
                end = (source, which, path, qualified)
                if end not in seen:
                    seen.add(end)
                    edges.append(_new(EdgeRow, (source, which, tier, line, path, qualified, detail)))
            if left is not None:
                unresolved.append(_new(UnresolvedRow, (source, left[0], line, name, left[1], left[2])))

    # ---- decorators and bases

    def _named(self, source: int, kind: str, expression: int, line: int, name: str) -> None:
        types = self.evaluation.ex(self.path, expression)
        found = False
        for item in types:
            targets = [(item[1], item[2])] if item[0] in ("F", "C") else []
            if kind == "decorates" and item[0] in ("I", "V"):
                targets = self._meanings.callees(item)
            for target in targets:
                if target == (self.path, self.qualified[source]):
                    continue
                tier = "exact" if target in self._meanings.bound_by_name(expression) else "typed"
                self._edge(source, kind, tier, line, target)
                found = True
        if not found:
            reason, detail = self._meanings.why(types, expression)
            self.unresolved.append(UnresolvedRow(source, kind, line, name, reason, detail))

    def overrides(self) -> None:
        """For each method the nearest one of the same name in the bases of its class."""
        heirs: dict[int, bool] = {}
        for index, row in enumerate(self.symbols):
            parent = row.parent
            if parent < 0 or row.kind not in _METHODS:
                continue
            is_heir = heirs.get(parent)
            if is_heir is None:
                is_heir = heirs[parent] = len(self.evaluation.mro(self.path, self.qualified[parent])) > 1
            above = self.evaluation.member(self.path, self.qualified[parent], row.name, 1) if is_heir else None
            for entry in above[2] if above is not None else ():
                if above is not None and entry[0] == "def":
                    self._edge(index, "overrides", "exact", row.name_line, (above[0], entry[1]))
                    break

    def fixtures(self) -> None:
        """Tests and fixtures refer to the fixtures that pytest hands them."""
        evaluation = self.evaluation
        for index, row in enumerate(self.symbols):
            if row.kind not in ("function", "method") or not row.flags & (FIXTURE | TEST) or row.flags & LOCAL:
                continue
            definition = evaluation.definition(self.path, self.qualified[index])
            if not isinstance(definition, Function):
                continue
            for name, _, star in definition.parameters:
                if not star and name != "self":
                    function = evaluation.fixture_function(self.path, definition.owner, name, self.qualified[index])
                    if function is not None:
                        self._edge(index, "references", "typed", row.name_line, function, "fixture")

    # ---- imports

    def imported(self, source: int, module: str, level: int, name: str | None, line: int, detail: str) -> None:
        """One imported module or name."""
        evaluation = self.evaluation
        found = evaluation.resolve(module, level, self.path)
        target = found[0]
        if target[0] in ("Y", "Z"):
            written = "." * level + module + (f".{name}" if name and name != "*" else "")
            reason = "external" if target[0] == "Y" else "missing"
            self.unresolved.append(UnresolvedRow(source, "imports", line, _imported_name(module, name), reason, written))
            return
        if target[0] == "M" and target[1] != self.path:
            self._edge(source, "imports", "exact", line, (target[1], ""), detail)
        if not name or name == "*":
            return
        for binding in evaluation.imported(self.path, ("import", module, level, name)):
            if binding[0] == "M":
                self._edge(source, "imports", "exact", line, (binding[1], ""), detail)
            elif binding[0] in ("D", "W"):
                self._edge(source, "imports", "exact", line, (binding[1], binding[2]), detail)
            elif binding[0] in ("Y", "Z"):
                reason = "external" if binding[0] == "Y" else "missing"
                self.unresolved.append(UnresolvedRow(source, "imports", line, name, reason, binding[1]))

    # ---- results

    def _edge(self, source: int, kind: str, tier: str, line: int, target: Any, detail: str = "") -> None:
        self.edges.append(_new(EdgeRow, (source, kind, tier, line, target[0], target[1], detail)))


def _imported_name(module: str, name: str | None) -> str:
    return name if name and name != "*" else module.rpartition(".")[2]
