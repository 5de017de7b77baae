"""What a reference means, wherever in its file it stands: the ends of its edges, and why it stays open where it does.

A name or attribute is *exact* where scopes, imports, modules and classes alone say what it is; *typed* where that took the
type of a receiver.
"""

from __future__ import annotations

import itertools
from typing import Any

from tokenzip.languages.python.builtin_names import BUILTINS
from tokenzip.languages.python.evaluate import Evaluation
from tokenzip.languages.python.ir import PROPERTY, Function
from tokenzip.languages.python.resolve import Binding
from tokenzip.languages.python.types import Alternative, Types

Target = tuple[str, str]
End = tuple[str, str, str, str, str]
"""Of an edge all but where it begins: kind, tier, path, qualified name, detail."""
Open = tuple[str, str, str]
"""Of an open reference: kind, reason, detail."""
Meaning = tuple[tuple[End, ...], tuple[End, ...], Open | None]
"""Where a reference leads: ends of edges for each of its lines, those of which the first line speaks for all, and what
stays open."""
_PROTOCOLS = {
    "iter": ("__iter__",),
    "aiter": ("__aiter__",),
    "enter": ("__enter__", "__exit__", "__aenter__", "__aexit__"),
}
_NAMES = frozenset({"global", "def", "import", "union"})
# Kind of reference (`statements`) -> kind of edge.
KINDS = {"use": "reads", "modify": "modifies", "type": "references", "decorate": "decorates", "inherit": "inherits"}


class Meanings:
    """The meanings of the expressions of one file; those bound by name are worked out once each."""

    def __init__(self, evaluation: Evaluation, path: str) -> None:
        self.evaluation = evaluation
        self.path = path
        self._exact: dict[int, frozenset[Target]] = {}
        self._bindings: dict[int, tuple[Binding, ...]] = {}

    def of(self, kind: str, expression: int) -> Meaning:
        """What a reference means, wherever in the file it stands."""
        if kind == "call":
            return self._call(expression)
        if kind in _PROTOCOLS:
            return (), tuple(self._protocol(kind, expression)), None
        return self._use(kind, expression)

    # ---- calls

    def _call(self, expression: int) -> Meaning:
        """What a call of the expression calls, what it merely names, and why it calls nothing."""
        types = self.evaluation.ex(self.path, expression)
        if len(types) > 1 and self._is_any_item(expression):
            return (), (), ("calls", "ambiguous", "")
        # an overload gives either an object or a plain function: nobody can say which is called
        either = len(types) > 1 and _has_callable(types)
        by_name = self.bound_by_name(expression)
        targets: dict[Target, str] = {}
        for item in types:
            if not (either and item[0] == "I"):
                for target in self.callees(item):
                    targets[target] = "exact" if target in by_name else "typed"
        mentioned: list[End] = []
        for target in sorted(by_name.difference(targets)) if by_name else ():
            is_definition = self.evaluation.definition(*target) is not None
            mentioned.append(("references" if is_definition else "reads", "exact", *target, ""))
        if not targets:
            return (), tuple(mentioned), ("calls", *self.why(types, expression))
        called = [("calls", tier, *target, "") for target, tier in targets.items()]
        run = [end for item in types if item[0] == "C" for end in self._constructors_above(item)]
        return (*called, *run), tuple(mentioned), None

    def _is_any_item(self, expression: int) -> bool:
        """Whether what is called is picked from a container by a key that is not known."""
        row = self.evaluation.row(expression)
        return row is not None and row[0] == "index" and row[2] is None

    def callees(self, item: Alternative) -> list[Target]:
        """The definitions that a call of the alternative calls."""
        tag = item[0]
        if tag in ("F", "C"):
            return [(item[1], item[2])]
        if tag in ("I", "V"):
            return [(f[1], f[2]) for f in self.evaluation.get_attribute(item, "__call__") if f[0] == "F"]
        if tag == "VC":
            return [(bound[1], bound[2]) for bound in item[2] if bound[0] == "I"]
        return []

    def _constructors_above(self, item: Alternative) -> list[End]:
        """What runs where an object is made of a class that has its constructor from a base; one of its own goes by its name.

        A decorator may give the class a constructor: `dataclass` does.
        """
        evaluation = self.evaluation
        owner = (item[1], item[2])
        found: list[End] = []
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

    def _protocol(self, kind: str, expression: int) -> list[End]:
        """The methods that a ``for`` or ``with`` statement calls."""
        evaluation = self.evaluation
        found: list[End] = []
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

    def _next(self, kind: str, method: Alternative) -> list[End]:
        evaluation = self.evaluation
        found: list[End] = []
        for iterator in evaluation.call_function(method, ()):
            if iterator[0] in ("I", "V"):
                for following in evaluation.get_attribute(iterator, "__next__" if kind == "iter" else "__anext__"):
                    if following[0] == "F":
                        found.append(("references", "typed", following[1], following[2], "protocol"))
        return found

    def why(self, types: Types, expression: int) -> tuple[str, str]:
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

    def bound_by_name(self, expression: int) -> frozenset[Target]:
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

    def _use(self, kind: str, expression: int) -> Meaning:
        """What a name or attribute that is read, written or mentioned in an annotation stands for."""
        tier, reason = "exact", ""
        bindings = self._bindings_of(expression)
        if not bindings:
            tier = "typed"
            bindings, reason = self._attribute_bindings(expression)
        ends = [self._mention(kind, tier, binding) for binding in bindings if binding[0] in ("D", "W")]
        left = (KINDS[kind], reason, "") if reason and (kind != "type" or reason == "missing") else None
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

    def _mention(self, kind: str, tier: str, binding: Binding) -> End:
        _, path, qualified = binding
        if kind == "type":
            return "references", tier, path, qualified, "type"
        if binding[0] == "W" or kind == "modify":
            return KINDS[kind], tier, path, qualified, ""
        definition = self.evaluation.definition(path, qualified)
        is_property = isinstance(definition, Function) and bool(definition.flags & PROPERTY)
        return "reads" if is_property else "references", tier, path, qualified, ""


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
