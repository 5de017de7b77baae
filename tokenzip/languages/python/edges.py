"""`PythonEvaluator.link`: from the references of one file to edges, open references and facts."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable
from typing import Any

from tokenzip.languages.base import View, Wanted
from tokenzip.languages.python.builtin_names import BUILTINS
from tokenzip.languages.python.evaluate import Evaluation
from tokenzip.languages.python.ir import FIXTURE, LOCAL, PROPERTY, TEST, UNKNOWN, Body, Function
from tokenzip.languages.python.resolve import Binding
from tokenzip.languages.python.types import Alternative, Types
from tokenzip.model import EdgeRow, FileIR, LinkedFile, SymbolRow, UnresolvedRow, qualified_names

_RECURSION = 20_000
"""Between two look-ups the evaluation of one expression nests a few hundred frames; see `languages.evaluation`."""
_new = tuple.__new__
"""Makes rows: half the price of calling the named tuple, and there are hundreds in a file."""
Target = tuple[str, str]
_End = tuple[str, str, str, str, str]
"""Of an edge all but where it begins: kind, tier, path, qualified name, detail."""
_Open = tuple[str, str, str]
"""Of an open reference: kind, reason, detail."""
_Meaning = tuple[tuple[_End, ...], tuple[_End, ...], _Open | None]
"""Where a reference leads: ends of edges for each of its lines, those of which the first line speaks for all, and what
stays open."""
_PROTOCOLS = {
    "iter": ("__iter__",),
    "aiter": ("__aiter__",),
    "enter": ("__enter__", "__exit__", "__aenter__", "__aexit__"),
}
_METHODS = frozenset({"method", "constructor"})
_NAMES = frozenset({"global", "def", "import", "union"})
_NAMED = frozenset({"decorate", "inherit"})
_KINDS = {"use": "reads", "modify": "modifies", "type": "references", "decorate": "decorates", "inherit": "inherits"}


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
        self._exact: dict[int, frozenset[Target]] = {}
        self._bindings: dict[int, tuple[Binding, ...]] = {}

    def references(self, references: Iterable[tuple[int, str, int, int, str]]) -> None:
        """The references of the body. Of equal ones, which are many, only the first is worked out."""
        known: dict[tuple[str, int], _Meaning] = {}
        edges, unresolved, seen = self.edges, self.unresolved, self._seen
        for source, kind, expression, line, name in references:
            key = (kind, expression)
            meaning = known.get(key)
            if meaning is None:
                if kind in _NAMED:  # depends on who is decorated
                    self._named(source, _KINDS[kind], expression, line, name)
                    continue
                meaning = known[key] = self._meaning(kind, expression)
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

    def _meaning(self, kind: str, expression: int) -> _Meaning:
        """What a reference means, wherever in the file it stands."""
        if kind == "call":
            return self._call(expression)
        if kind in _PROTOCOLS:
            return (), tuple(self._protocol(kind, expression)), None
        return self._use(kind, expression)

    # ---- calls

    def _call(self, expression: int) -> _Meaning:
        """What a call of the expression calls, what it merely names, and why it calls nothing."""
        types = self.evaluation.ex(self.path, expression)
        if len(types) > 1 and self._is_any_item(expression):
            return (), (), ("calls", "ambiguous", "")
        # an overload gives either an object or a plain function: nobody can say which is called
        either = len(types) > 1 and _has_callable(types)
        by_name = self._bound_by_name(expression)
        targets: dict[Target, str] = {}
        for item in types:
            if not (either and item[0] == "I"):
                for target in self._callees(item):
                    targets[target] = "exact" if target in by_name else "typed"
        mentioned: list[_End] = []
        for target in sorted(by_name.difference(targets)) if by_name else ():
            is_definition = self.evaluation.definition(*target) is not None
            mentioned.append(("references" if is_definition else "reads", "exact", *target, ""))
        if not targets:
            return (), tuple(mentioned), ("calls", *self._why(types, expression))
        called = [("calls", tier, *target, "") for target, tier in targets.items()]
        run = [end for item in types if item[0] == "C" for end in self._constructors_above(item)]
        return (*called, *run), tuple(mentioned), None

    def _is_any_item(self, expression: int) -> bool:
        """Whether what is called is picked from a container by a key that is not known."""
        row = self.evaluation.row(expression)
        return row is not None and row[0] == "index" and row[2] is None

    def _callees(self, item: Alternative) -> list[Target]:
        tag = item[0]
        if tag in ("F", "C"):
            return [(item[1], item[2])]
        if tag in ("I", "V"):
            return [(f[1], f[2]) for f in self.evaluation.get_attribute(item, "__call__") if f[0] == "F"]
        if tag == "VC":
            return [(bound[1], bound[2]) for bound in item[2] if bound[0] == "I"]
        return []

    def _constructors_above(self, item: Alternative) -> list[_End]:
        """What runs where an object is made of a class that has its constructor from a base; one of its own goes by its name.

        A decorator may give the class a constructor: `dataclass` does.
        """
        evaluation = self.evaluation
        owner = (item[1], item[2])
        found: list[_End] = []
        for name in ("__new__", "__init__"):
            member = evaluation.member(*owner, name)
            if member is None or member[:2] == owner:
                continue
            nearer = itertools.takewhile(lambda each: each != member[:2], evaluation.mro(*owner))  # noqa: B023
            if not any(evaluation.is_decorated(*each) for each in nearer):
                found.extend(
                    ("references", "typed", member[0], entry[1], "constructor") for entry in member[2] if entry[0] == "def"
                )
        return found

    def _protocol(self, kind: str, expression: int) -> list[_End]:
        """The methods that a ``for`` or ``with`` statement calls."""
        evaluation = self.evaluation
        found: list[_End] = []
        for item in evaluation.ex(self.path, expression):
            if item[0] not in ("I", "V"):
                continue
            for name in _PROTOCOLS[kind]:
                for method in evaluation.get_attribute(item, name):
                    if method[0] == "F":
                        found.append(("references", "typed", method[1], method[2], "protocol"))
                        if kind != "enter":
                            found.extend(self._next(kind, method))
        return found

    def _next(self, kind: str, method: Alternative) -> list[_End]:
        evaluation = self.evaluation
        found: list[_End] = []
        for iterator in evaluation.call_function(method, ()):
            if iterator[0] in ("I", "V"):
                for following in evaluation.get_attribute(iterator, "__next__" if kind == "iter" else "__anext__"):
                    if following[0] == "F":
                        found.append(("references", "typed", following[1], following[2], "protocol"))
        return found

    def _why(self, types: Types, expression: int) -> tuple[str, str]:
        """Reason and detail of a call that has no edge."""
        for item in types:
            if item[0] == "Y":
                return "external", item[1]
            if item[0] == "Z":
                return "missing", item[1]
            if item[0] == "B":
                return "external", f"{item[2][1]}.{item[1]}" if item[2][0] == "X" else item[1]
        if len(types) > 1 and _has_callable(types):
            return "ambiguous", ""
        if types and all(item[0] in ("X", "R", "T") for item in types):
            return "external", ""
        return self._why_unknown(expression)

    def _why_unknown(self, expression: int) -> tuple[str, str]:
        evaluation = self.evaluation
        row = evaluation.row(expression)
        if row is None:
            return "dynamic", ""
        if row[0] == "global":
            return ("missing", row[1]) if self._is_missing(row[1]) else ("dynamic", "")
        if row[0] == "attr":
            base = [item for item in evaluation.ex(self.path, row[1]) if item[0] in ("I", "C", "S", "V", "VC")]
            instances = [instance for item in base for instance in _classes_of(item)]
            from_object = row[2].startswith("__") and row[2].endswith("__")
            if instances and (from_object or any(evaluation.has_unknown_base(instance) for instance in instances)):
                return "external", row[2]
            if any(item[0] in ("V", "VC") and item[1] != "Self" for item in base):
                return "dynamic", ""
            if instances and not any(evaluation.member(i[1], i[2], row[2]) for i in instances) and not self._is_lazy(instances):
                return "missing", row[2]
        return "dynamic", ""

    def _is_lazy(self, instances: list[Alternative]) -> bool:
        return any(self.evaluation.member(item[1], item[2], "__getattr__") for item in instances)

    # ---- what is bound by scope and import alone

    def _bound_by_name(self, expression: int) -> frozenset[Target]:
        """The definitions and variables that an expression names without any types: by scopes, imports, modules, classes."""
        known = self._exact.get(expression)
        if known is None:
            bindings = self._bindings_of(expression)
            known = self._exact[expression] = frozenset([(b[1], b[2]) for b in bindings if b[0] in ("D", "W")])
        return known

    def _bindings_of(self, expression: int) -> tuple[Binding, ...]:
        known = self._bindings.get(expression)
        if known is None:
            known = self._bindings[expression] = self._find_bindings(expression) if self._is_name(expression) else ()
        return known

    def _is_name(self, expression: int) -> bool:
        """Whether an expression begins with a name; what begins with a call, a parameter ... names nothing."""
        rows = self.evaluation.rows
        while expression >= 0:
            row = rows[expression]
            if row[0] != "attr":
                return row[0] in _NAMES
            expression = row[1]
        return False

    def _find_bindings(self, expression: int) -> tuple[Binding, ...]:
        evaluation = self.evaluation
        row = evaluation.row(expression)
        if row is None:
            return ()
        kind = row[0]
        if kind == "global":
            return evaluation.bindings(self.path, row[1])
        if kind == "def":
            return (("D", self.path, row[1]),)
        if kind == "import":
            return evaluation.imported(self.path, row)
        if kind == "union":
            return tuple([binding for part in row[1] for binding in self._bindings_of(part)])
        if kind == "attr":
            found: list[Binding] = []
            for base in self._bindings_of(row[1]):
                found.extend(self._below(base, row[2]))
            return tuple(found)
        return ()

    def _below(self, base: Binding, name: str) -> tuple[Binding, ...]:
        evaluation = self.evaluation
        if base[0] == "M":
            return evaluation.bindings(base[1], name) or evaluation.submodule(base, name)
        if base[0] == "N":
            return evaluation.submodule(base, name)
        if base[0] == "D" and evaluation.value_of(base[1], base[2])[:1] == (("C", base[1], base[2], ()),):
            return self._member_bindings(base[1], base[2], name)
        return ()

    def _member_bindings(self, path: str, cls: str, name: str) -> tuple[Binding, ...]:
        found = self.evaluation.member(path, cls, name)
        if found is None:
            return ()
        if name[:1] == "_" and not self.evaluation.entries(found[0], found[1], name):
            name = "__" + name.partition("__")[2]  # written mangled
        return tuple(_binding_of(found[0], found[1], name, entry) for entry in found[2] if entry[0] != "bound")

    # ---- reads, writes, mentions

    def _use(self, kind: str, expression: int) -> _Meaning:
        """What a name or attribute that is read, written or mentioned in an annotation stands for."""
        tier, reason = "exact", ""
        bindings = self._bindings_of(expression)
        if not bindings:
            tier = "typed"
            bindings, reason = self._attribute_bindings(expression)
        ends = [self._mention(kind, tier, binding) for binding in bindings if binding[0] in ("D", "W")]
        left = (_KINDS[kind], reason, "") if reason and (kind != "type" or reason == "missing") else None
        return (), tuple(ends), left

    def _attribute_bindings(self, expression: int) -> tuple[tuple[Binding, ...], str]:
        """The members that an attribute access means, by the type of its receiver; else why they are not known."""
        evaluation = self.evaluation
        row = evaluation.row(expression)
        if row is None:
            return (), "dynamic"
        if row[0] == "global":
            return (), "missing" if self._is_missing(row[1]) else ""
        if row[0] != "attr":
            return (), ""
        base = evaluation.ex(self.path, row[1])
        found: list[Binding] = []
        for item in base:
            if item[0] == "M":
                found.extend(evaluation.bindings(item[1], row[2]))
            for instance in _classes_of(item):
                found.extend(self._member_bindings(instance[1], instance[2], row[2]))
        return tuple(found), "" if base else "dynamic"

    def _is_missing(self, name: str) -> bool:
        """Whether a name is neither bound in the file, nor a builtin, nor possibly given by a wildcard from outside."""
        evaluation = self.evaluation
        if name in BUILTINS or evaluation.interface(self.path).names.get(name) or evaluation.bindings(self.path, name):
            return False
        return not evaluation.is_open(self.path)

    def _mention(self, kind: str, tier: str, binding: Binding) -> _End:
        _, path, qualified = binding
        if kind == "type":
            return "references", tier, path, qualified, "type"
        if binding[0] == "W" or kind == "modify":
            return _KINDS[kind], tier, path, qualified, ""
        definition = self.evaluation.definition(path, qualified)
        is_property = isinstance(definition, Function) and bool(definition.flags & PROPERTY)
        return "reads" if is_property else "references", tier, path, qualified, ""

    # ---- decorators and bases

    def _named(self, source: int, kind: str, expression: int, line: int, name: str) -> None:
        types = self.evaluation.ex(self.path, expression)
        found = False
        for item in types:
            targets = [(item[1], item[2])] if item[0] in ("F", "C") else []
            if kind == "decorates" and item[0] in ("I", "V"):
                targets = self._callees(item)
            for target in targets:
                if target == (self.path, self.qualified[source]):
                    continue
                tier = "exact" if target in self._bound_by_name(expression) else "typed"
                self._edge(source, kind, tier, line, target)
                found = True
        if not found:
            reason, detail = self._why(types, expression)
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


def _has_callable(types: Types) -> bool:
    return any(item[0] == "X" and item[1] == "Callable" for item in types)


def _classes_of(item: Alternative) -> list[Alternative]:
    """The project classes whose members an alternative has, as I alternatives."""
    tag = item[0]
    if tag in ("I", "C"):
        return [item]
    if tag == "S":
        return [item[1]]
    if tag in ("V", "VC"):
        return [bound for bound in item[2] if bound[0] == "I"]
    return []


def _binding_of(path: str, cls: str, name: str, entry: Any) -> Binding:
    if entry[0] == "def":
        return ("D", path, entry[1])
    return ("W", path, entry[2] if len(entry) > 2 else f"{cls}.{name}")
