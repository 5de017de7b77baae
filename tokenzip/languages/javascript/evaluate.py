"""Links files of the family: every reference of a file becomes edges, or an open reference with its reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tokenzip.languages.base import Wanted
from tokenzip.languages.javascript.alternatives import Alternative, Alternatives
from tokenzip.languages.javascript.contexts import Contexts
from tokenzip.languages.javascript.modules import REEXPORT, TYPE_ONLY
from tokenzip.languages.javascript.names import GLOBALS
from tokenzip.model import EdgeRow, FileIR, LinkedFile, UnresolvedRow, qualified_names

_new = tuple.__new__
"""Makes rows: half the price of calling the named tuple, and there are hundreds in a file."""
Target = tuple[str, str]
"""(path, qualified name)"""
_End = tuple[str, str, str, str, str]
"""Of an edge all but where it begins: kind, tier, path, qualified name, detail."""
_Meaning = tuple[list[_End], tuple[str, str] | None]
"""Where a reference leads; reason and detail if that is not known."""
_CALLS = frozenset({"c", "n"})
_BINDING = frozenset({"call", "apply", "bind"})


class JavaScriptEvaluator(Contexts):
    """Links files of one view."""

    def link(self, path: str, ir: FileIR, wanted: Wanted | None = None) -> LinkedFile:
        """Edges, open references and facts of one file."""
        if ir.body is None:
            return LinkedFile()
        self.begin_file()
        self._begin(path, ir.body)
        edges: list[EdgeRow] = []
        unresolved: list[UnresolvedRow] = []
        references = ir.body[1] if wanted is None else [row for row in ir.body[1] if wanted(row[0], row[4])]
        self._link_references(references, edges, unresolved)
        self._link_imports(ir.body[6], edges, unresolved)
        self._link_exports(ir.body[8], edges)
        self._link_heirs(ir, edges)
        facts = frozenset(self.facts)
        self._end()
        return LinkedFile(tuple(edges), tuple(unresolved), facts)

    def _begin(self, path: str, body: tuple[Any, ...]) -> None:
        self.path = path
        self.table, _, self.lambdas, self.private, self.private_members, self.parameters = body[:6]
        self.memo = [None] * len(self.table)
        self.level, self.own = 0, True

    def _end(self) -> None:
        for key in self.temporary:
            self._shared.pop(key, None)
        self.temporary = []
        self.path, self.table, self.memo, self.lambdas = "", (), [], ()
        self.private, self.private_members, self.parameters = {}, {}, {}

    # References

    def _link_references(self, refs: Iterable[Any], edges: list[EdgeRow], unresolved: list[UnresolvedRow]) -> None:
        """Of equal references, which are many, only the first is worked out."""
        known: dict[tuple[str, int], _Meaning] = {}
        for source, kind, expr, line, name in refs:
            key = (kind, expr)
            meaning = known.get(key)
            if meaning is None:
                meaning = known[key] = self._meaning(kind, expr)
            for which, tier, path, qualified, detail in meaning[0]:
                edges.append(_new(EdgeRow, (source, which, tier, line, path, qualified, detail)))
            if meaning[1] is not None:
                unresolved.append(_new(UnresolvedRow, (source, "calls", line, name, *meaning[1])))

    def _meaning(self, kind: str, expr: int) -> _Meaning:
        """What a reference means, wherever in the file it stands."""
        if kind in _CALLS:
            return self._call_meaning(kind, expr)
        if kind == "r":
            return self._named_ends(expr), None
        if kind in ("m", "W"):
            return self._member_ends(kind, expr), None
        if kind == "t":
            return [("references", "exact", *target, "type") for target in self._type_symbols(expr)], None
        if kind == "w":
            return [("modifies", "exact", *target, "") for target in self._declared_as(self.table[expr][1])], None
        if kind == "j":
            return self._used_ends("references", expr, "jsx"), None
        if kind == "e":
            return self._used_ends("decorates", expr, ""), None
        return [], None

    def _call_meaning(self, kind: str, expr: int) -> _Meaning:
        alternatives = self.expand(self.value(self.path, expr))
        if (
            len(alternatives) == 1
            and alternatives[0][0] in ("Y", "B")
            and alternatives[0][1] not in _BINDING
            and self.table[expr][0] != "g"
        ):
            return [], self._reason(expr, alternatives)
        targets = self._called(alternatives)
        if kind == "n":
            targets.extend(self._inherited_constructors(alternatives))
        if targets:
            tier = self._tier(expr)
            return [("calls", tier, *target, "") for target in targets], None
        if any(one[0] in ("L", "o", "F", "C") for one in alternatives):
            return [], None  # a function without a symbol
        ends: list[_End] = []
        parts: Any = self.table[expr] if expr >= 0 else None
        if parts is not None and parts[0] in ("g", "a"):
            declared = self.symbols_of(self.path, parts[1]) if parts[0] == "g" else self._member_symbols(expr)
            declared = [target for target in declared if self._is_value(target)]
            known = bool(alternatives) and not any(one[0] == "Y" for one in alternatives)
            # where a function type is written it is as good as a method; else a value that is used
            which, tier = "calls" if known else "references", self._tier(expr)
            ends = [(which, tier, *target, "") for target in declared]
            if ends and known:
                return ends, None
        return ends, self._reason(expr, alternatives)

    def _called(self, alternatives: Alternatives) -> list[Target]:
        targets: list[Target] = []
        for one in alternatives:
            if one[0] in ("F", "C"):
                targets.append((one[1], one[2]))
            elif one[0] == "U":
                declared = self.definition(one[1], one[2])
                if declared is not None:
                    targets.extend((base[1], base[2]) for base in self.direct_bases(one[1], declared) if base[0] == "I")
            elif one[0] == "B" and one[1] in ("call", "apply") and one[2][0] == "F":
                targets.append((one[2][1], one[2][2]))
        if not targets:
            return targets
        return [target for target in dict.fromkeys(targets) if "~" not in target[1]]

    def _inherited_constructors(self, classes: Alternatives) -> list[Target]:
        """The constructors that ``new`` runs for classes without one of their own."""
        found: list[Target] = []
        for one in classes:
            if one[0] == "C":
                constructor = self.find_member(one[1], one[2], "constructor")
                if constructor is not None and constructor[0][:2] != one[1:3]:
                    found.extend((constructor[0][0], name) for name in _symbols(constructor[1])[:1])
        return [target for target in found if "~" not in target[1]]

    def _is_value(self, target: Target) -> bool:
        """Whether a symbol is a variable or property (what has a definition is a function, class or type)."""
        declared = self.definition(*target)
        return declared is None or declared[0] in ("o", "f")

    def _tier(self, expr: int) -> str:
        parts: Any = self.table[expr] if expr >= 0 else ("",)
        if parts[0] in ("g", "d"):
            return "exact"
        if parts[0] == "a":
            base = self.value(self.path, parts[1])
            return "exact" if base and all(one[0] in ("M", "U") for one in base) else "typed"
        return "typed"

    def _reason(self, expr: int, alternatives: Alternatives) -> tuple[str, str]:
        for one in alternatives:
            if one[0] == "Y":
                return "external", one[1][:120]
            if one[0] == "U":
                return "external", "super"
            if one[0] == "B":
                owner = one[2][1] if one[2][0] == "X" else "Array" if one[2][0] == "T" else "Function"
                return "external", f"{owner}.{one[1]}"
        if alternatives:
            return "dynamic", ""
        parts: Any = self.table[expr] if expr >= 0 else None
        if parts is None:
            return "dynamic", ""
        if parts[0] == "g":
            return self._name_reason(parts[1])
        if parts[0] == "a" and parts[1] >= 0:
            return self._member_reason(self.expand(self.value(self.path, parts[1])))
        return "dynamic", ""

    def _name_reason(self, name: str) -> tuple[str, str]:
        entries = self.view.interface(self.path).names.get(name)
        if not entries:
            return ("external", name) if name in GLOBALS else ("missing", "")
        for entry in entries:
            if entry[0] == "i":
                state, target = self.resolve(entry[1], self.path)
                if state == "missing" or (state == "file" and entry[2] != "*" and self._lacks(target, entry[2])):
                    return "missing", ""
        return "dynamic", ""

    def _member_reason(self, base: Alternatives) -> tuple[str, str]:
        if len(base) == 1 and (base[0][0] == "M" or (base[0][0] in ("I", "C") and not self._is_open(base[0]))):
            return "missing", ""
        return "dynamic", ""

    def _is_open(self, one: Alternative) -> bool:
        """Whether a class inherits from something that is not in the repository."""
        for path, name, _ in self.bases(one[1], one[2]):
            declared = self.definition(path, name)
            if declared is None or declared[0] not in ("c", "i"):
                return True
            inside = [base for base in self.direct_bases(path, declared) if base[0] == "I"]
            if len([base for base in declared[3] if base not in (None, -1)]) > len(inside):
                return True
        return False

    def _named_ends(self, expr: int) -> list[_End]:
        parts = self.table[expr]
        if parts[0] == "d":
            return [("references", "exact", self.path, parts[1], "")] if self._is_reference((self.path, parts[1])) else []
        return [
            ("references" if self._is_reference(target) else "reads", "exact", *target, "")
            for target in self.symbols_of(self.path, parts[1])
        ]

    def _is_reference(self, target: Target) -> bool:
        """Functions and classes are referred to, variables are read."""
        if "~" in target[1]:
            return False
        declared = self.definition(*target)
        return declared is not None and declared[0] != "o"

    def _member_ends(self, kind: str, expr: int) -> list[_End]:
        ends: list[_End] = []
        for target in self._member_symbols(expr, own=kind == "W"):
            if "~" in target[1]:
                continue
            declared = self.definition(*target)
            is_reference = declared is not None and declared[0] in ("f", "c", "i", "e") and not self._is_accessor(declared)
            which = "modifies" if kind == "W" else "references" if is_reference else "reads"
            ends.append((which, "typed", *target, ""))
        return ends

    def _is_accessor(self, declared: Any) -> bool:
        return declared[0] == "f" and bool(declared[1] & 8)

    def _member_symbols(self, expr: int, own: bool = False) -> list[Target]:
        """The symbols that a member expression names; `own`: not those whose value it merely holds."""
        parts = self.table[expr]
        if parts[0] != "a" or parts[1] < 0:
            return []
        found: list[Target] = []
        for one in self.expand(self.value(self.path, parts[1])):
            found.extend(self._owned_symbols(one, parts[2], own))
        return list(dict.fromkeys(found))

    def _owned_symbols(self, one: Alternative, name: str, own: bool = False) -> list[Target]:
        """The symbols that a member of an alternative is."""
        kind = one[0]
        if kind == "M":
            return self.exported_symbols(one[1], name)
        if kind == "I":
            owner = self.find_member(one[1], one[2], name)
            return [(owner[0][0], target) for target in _symbols(owner[1])] if owner is not None else []
        if kind not in ("O", "C", "F"):
            return []
        key = name if kind == "O" else f"static {name}"
        entries = self.member_entries(one[1], one[2], key)
        named = [(one[1], target) for target in _symbols(entries)]
        if named or own:
            return named
        if entries:
            return list(self.lookup(("passed", one[1], one[2], key), self._passed_symbols, one[1], entries))
        return list(self.lookup(("shared", one[1], one[2], name), self._shared_symbols, *one[1:3], name))

    def _passed_symbols(self, path: str, entries: tuple[Any, ...]) -> tuple[Target, ...]:
        """What members are that only hand on what has another name."""
        found = [target for entry in entries if entry[0] in ("v", "s") for target in self._value_symbols(path, entry[1])]
        return tuple(dict.fromkeys(found))

    def _shared_symbols(self, path: str, owner: str, name: str) -> tuple[Target, ...]:
        """Members that an object has from others (``{ ...other }``, ``Object.assign(it, other)``)."""
        declared = self.definition(path, owner)
        if declared is None or declared[0] != "o":
            return ()
        for value in (*reversed(declared[3]), *reversed(declared[2])):
            for one in self.expand(self.value(path, value)):
                found = self._owned_symbols(one, name)
                if found:
                    return tuple(found)
        return ()

    def _value_symbols(self, path: str, expr: Any) -> list[Target]:
        """The symbols whose value an expression hands on as it is: names, members, what is required."""
        parts = self.node(path, expr)
        op = parts[0] if parts is not None else ""
        if op == "d":
            found = [(path, parts[1])]
        elif op == "g":
            found = self.symbols_of(path, parts[1])
        elif op == "a":
            found = [target for one in self.expand(self.value(path, parts[1])) for target in self._owned_symbols(one, parts[2])]
        elif op == "R":
            found = [(one[1], one[2]) for one in self.value(path, expr) if one[0] in ("F", "C")]
        else:
            found = []
        return [target for target in dict.fromkeys(found) if "~" not in target[1]]

    def _is_required(self, path: str, expr: Any) -> bool:
        """Whether a value is what another module exports, or a member of that."""
        parts = self.node(path, expr)
        while parts is not None and parts[0] == "a":
            parts = self.node(path, parts[1])
        return parts is not None and parts[0] == "R"

    def _type_symbols(self, expr: int) -> list[Target]:
        parts: Any = self.table[expr] if expr >= 0 else ("",)
        if parts[0] == "tr":
            return [target for target in self.symbols_of(self.path, parts[1]) if self._is_type(target)]
        if parts[0] == "td":
            return [(self.path, parts[1])]
        if parts[0] == "tq":
            found: list[Target] = []
            for one in self.value(self.path, parts[1]):
                if one[0] == "M":
                    found.extend(self.exported_symbols(one[1], parts[2]))
                elif one[0] == "O":
                    found.extend((one[1], target) for target in _symbols(self.member_entries(one[1], one[2], parts[2])))
            return [target for target in dict.fromkeys(found) if self._is_type(target)]
        return []

    def _is_type(self, target: Target) -> bool:
        declared = self.definition(*target)
        return declared is not None and declared[0] in ("c", "i", "t", "e")

    def _used_ends(self, kind: str, expr: int, detail: str) -> list[_End]:
        alternatives = self.expand(self.value(self.path, expr))
        found = [(one[1], one[2]) for one in alternatives if one[0] in ("F", "C")]
        parts = self.table[expr]
        if not found and parts[0] == "g":
            found = self.symbols_of(self.path, parts[1])
        tier = self._tier(expr)
        return [(kind, tier, *target, detail) for target in dict.fromkeys(found) if "~" not in target[1]]

    # Symbols of names

    def _declared_as(self, name: str) -> list[Target]:
        """The variables that a name itself is, not what it may hold."""
        entries = self.view.interface(self.path).names.get(name)
        if not entries:
            return self.symbols_of(self.path, name)
        found = [entry[-1] for entry in entries if entry[0] in ("d", "v") and entry[-1] is not None]
        return [(self.path, qualified) for qualified in dict.fromkeys(found) if "~" not in qualified]

    def symbols_of(self, path: str, name: str) -> list[Target]:
        """The symbols that a name at the top level of a file stands for, through imports and re-exports."""
        entries = self.view.interface(path).names.get(name)
        if entries and len(entries) == 1 and entries[0][0] in ("d", "v") and entries[0][-1] is not None:
            self.note("sym", path, name)
            return [(path, entries[0][-1])] if "~" not in entries[0][-1] else []
        found: tuple[Target, ...] = self.lookup(("symbols", path, name), self._symbols_of, path, name)
        return list(found)

    def _symbols_of(self, path: str, name: str) -> tuple[Target, ...]:
        self.note("sym", path, name)
        entries = self.view.interface(path).names.get(name)
        if entries:
            return self._entry_symbols(path, entries)
        self.note("announced", f"js-global:{name}")
        found: list[Target] = []
        for file in self.view.announcing(f"js-global:{name}"):
            self.note("sym", file, name)
            found.extend(self._entry_symbols(file, self.view.interface(file).names.get(name, ())))
        return tuple(dict.fromkeys(found))

    def _entry_symbols(self, path: str, entries: tuple[Any, ...]) -> tuple[Target, ...]:
        found: list[Target] = []
        for entry in entries:
            op = entry[0]
            if op == "d":
                found.append((path, entry[1]))
            elif op == "v" and entry[2] is not None:
                found.append((path, entry[2]))
            elif op == "l":
                found.extend(self.symbols_of(path, entry[1]))
            elif op == "i":
                state, target = self.resolve(entry[1], path)
                if state == "file":
                    found.extend([(target, "")] if entry[2] == "*" else self.exported_symbols(target, entry[2]))
            elif op == "v":
                found.extend((one[1], one[2]) for one in self.value(path, entry[1]) if one[0] in ("F", "C"))
        if not found:
            for entry in entries:
                if entry[0] == "v" and self._is_required(path, entry[1]):
                    found.extend(self._value_symbols(path, entry[1]))
        return tuple([target for target in dict.fromkeys(found) if "~" not in target[1]])

    def exported_symbols(self, path: str, name: str) -> list[Target]:
        found: tuple[Target, ...] = self.lookup(("exported symbols", path, name), self._exported_symbols, path, name)
        return list(found)

    def _exported_symbols(self, path: str, name: str) -> tuple[Target, ...]:
        origin: tuple[str, Any] | None = self.lookup(("origin", path, name), self._origin, path, name)
        if origin is not None:
            return self._entry_symbols(*origin)
        self.note("sym", path, "=")
        found: list[Target] = []
        for one in self.exported(path, name):
            if one[0] in ("F", "C") and "~" not in one[2]:
                found.append((one[1], one[2]))
        common = self.view.interface(path).names.get("=")
        for one in self.entries_value(path, common) if common and not found else ():
            if one[0] == "O":
                found.extend(self._owned_symbols(one, name))
        return tuple([target for target in dict.fromkeys(found) if "~" not in target[1]])

    # Imports and exports

    def _link_imports(self, imports: tuple[Any, ...], edges: list[EdgeRow], unresolved: list[UnresolvedRow]) -> None:
        for source, specifier, names, flags, line in imports:
            state, target = self.resolve(specifier, self.path)
            if state != "file":
                detail = specifier if state == "external" else ""
                unresolved.append(UnresolvedRow(source, "imports", line, specifier.rsplit("/", 1)[-1], state, detail))
                continue
            detail = "type" if flags & TYPE_ONLY else ""
            edges.append(EdgeRow(source, "imports", "exact", line, target, "", detail))
            for imported, local, own in names:
                self._link_imported(source, line, target, imported, local, own, edges, unresolved)

    def _link_imported(
        self, source: int, line: int, target: str, imported: str, local: str, flags: int, edges: list[EdgeRow],
        unresolved: list[UnresolvedRow],
    ) -> None:  # fmt: skip
        if imported == "*":
            if flags & REEXPORT:
                edges.append(EdgeRow(source, "exports", "exact", line, target, "", local))
            return
        alias = local if local != imported else ""
        detail = "type" if flags & TYPE_ONLY else "default" if imported == "default" else alias
        found = self.exported_symbols(target, imported)
        for symbol in found:
            edges.append(EdgeRow(source, "imports", "exact", line, *symbol, detail))
            if flags & REEXPORT:
                edges.append(EdgeRow(source, "exports", "exact", line, *symbol, alias))
        if not found and self._lacks(target, imported):
            unresolved.append(UnresolvedRow(source, "imports", line, imported, "missing", ""))

    def _lacks(self, path: str, name: str) -> bool:
        """Whether a file that lists its exports (not: settings, CommonJS, what has a star into the unknown) lacks one."""
        interface = self.view.interface(path)
        if not interface.names or "=" in interface.names or path.endswith((".json", ".vue", ".svelte")):
            return False
        if self.lookup(("origin", path, name), self._origin, path, name) is not None:
            return False
        return name == "default" or self.lookup(("closed", path), self._is_closed, path)

    def _is_closed(self, path: str) -> bool:
        """Whether all stars of a file, and theirs, lead to files of the repository that list their exports."""
        self.note("star", path)
        for _, specifier in self.view.interface(path).stars:
            state, target = self.resolve(specifier, path)
            if state != "file":
                return False
            self.note("sym", target, "=")
            if "=" in self.view.interface(target).names or not self.lookup(("closed", target), self._is_closed, target):
                return False
        return True

    def _link_exports(self, exported: tuple[Any, ...], edges: list[EdgeRow]) -> None:
        """``import { a } from './a'; export { a }`` is a re-export in two steps; CommonJS knows no other."""
        names = self.view.interface(self.path).names
        for name, entry, line in exported:
            held = names.get(entry[1], ()) if entry[0] == "l" else (entry,)
            if not any(one[0] == "i" or (one[0] == "v" and self._is_required(self.path, one[1])) for one in held):
                continue
            for target in self._entry_symbols(self.path, held) or self._required_files(held):
                if target[0] != self.path:
                    detail = name if name != _last(target[1]) else ""
                    edges.append(EdgeRow(-1, "exports", "exact", line, *target, detail))

    def _required_files(self, entries: tuple[Any, ...]) -> list[Target]:
        """The modules that entries are as a whole."""
        found: list[Target] = []
        for entry in entries:
            parts = self.node(self.path, entry[1]) if entry[0] == "v" else None
            if parts is not None and parts[0] == "R":
                state, target = self.resolve(parts[1], self.path)
                if state == "file":
                    found.append((target, ""))
        return found

    # Inheritance

    def _link_heirs(self, ir: FileIR, edges: list[EdgeRow]) -> None:
        heirs = ir.body[7] if ir.body is not None else ()
        if not heirs:
            return
        index_of = {name: index for index, name in enumerate(qualified_names(ir.symbols))}
        for index, kind, bases, implements, name in heirs:
            line = ir.symbols[index].name_line
            for base in bases:
                for target in self._base_symbols(base):
                    edges.append(EdgeRow(index, "inherits", "exact", line, *target))
            interfaces: list[Alternative] = []
            for expr in implements:
                for target in self._base_symbols(expr):
                    edges.append(EdgeRow(index, "implements", "exact", line, *target))
                interfaces.extend(one for one in self.type_of(self.path, expr) if one[0] == "I")
            if kind == "class":
                self._link_overrides(ir, name, interfaces, index_of, edges)

    def _base_symbols(self, expr: int) -> list[Target]:
        if expr < 0:
            return []
        parts = self.table[expr]
        if parts[0] == "B":
            found = [(one[1], one[2]) for one in self.base_class(self.path, expr) if one[0] == "I"]
        else:
            found = self._type_symbols(expr) or [(one[1], one[2]) for one in self.type_of(self.path, expr) if one[0] == "I"]
        return [target for target in dict.fromkeys(found) if "~" not in target[1]]

    def _link_overrides(
        self, ir: FileIR, name: str, interfaces: list[Alternative], index_of: dict[str, int], edges: list[EdgeRow]
    ) -> None:
        members = self.view.interface(self.path).members.get(name) or self.private_members.get(name) or {}
        for member, entries in members.items():
            if member == "constructor":
                continue
            own = [index_of[target] for target in _symbols(entries) if target in index_of]
            if not own:
                continue
            found = (
                self._static_base(name, member)
                if member.startswith("static ")
                else self.find_member(self.path, name, member, 1)
            )
            targets = [(found[0][0], target, "overrides") for target in _symbols(found[1])[:1]] if found is not None else []
            for one in interfaces:
                declared = self.find_member(one[1], one[2], member)
                if declared is not None:
                    targets.extend((declared[0][0], target, "implements") for target in _symbols(declared[1])[:1])
            for path, target, kind in dict.fromkeys(targets):
                for index in own:
                    if "~" not in target:
                        edges.append(EdgeRow(index, kind, "typed", ir.symbols[index].name_line, path, target))

    def _static_base(self, name: str, member: str) -> Any:
        for base in self.bases(self.path, name)[1:]:
            entries = self.member_entries(base[0], base[1], member)
            if entries:
                return base, entries
        return None


def _last(qualified: str) -> str:
    """The name of a symbol without what it is in and its ordinal."""
    return qualified.rpartition(".")[2].partition("#")[0]


def _symbols(entries: tuple[Any, ...]) -> list[str]:
    """The symbols behind entries of a member."""
    found: list[str] = []
    for entry in entries:
        if entry[0] in ("d", "set"):
            found.append(entry[1])
        elif entry[0] in ("v", "s") and entry[2] is not None:
            found.append(entry[2])
    return found
