"""Names, definitions, members and bases of the files in a view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.base import View
from tokenzip.languages.javascript.alternatives import (
    NOTHING,
    Alternative,
    Alternatives,
    Bound,
    singular,
    substitute,
    union,
    with_receiver,
)
from tokenzip.languages.javascript.names import GLOBALS
from tokenzip.languages.javascript.resolve import Resolver
from tokenzip.languages.javascript.structure import variables

_FUNCTION_KINDS = frozenset({"f"})
_NO_IMPLEMENTATION = bits.OVERLOAD | bits.DECLARATION
_MAX_BASES = 40
_MAX_ALIASES = 6
"""Aliases inside aliases that are followed."""
Base = tuple[str, str, tuple[Alternatives, ...]]


class Definitions(Resolver):
    """Looks at interfaces, and at the private part of the file that is being linked."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self.path = ""
        self.table: tuple[Any, ...] = ()
        self.memo: list[Alternatives | None] = []
        self.lambdas: tuple[Any, ...] = ()
        self.private: dict[str, Any] = {}
        self.private_members: dict[str, Any] = {}
        self.parameters: dict[str, Any] = {}
        self.temporary: list[tuple[Any, ...]] = []
        self.asked: dict[tuple[Any, ...], tuple[Any]] = {}
        self.level = 0
        self.alias_level = 0
        """Type aliases inside type aliases, up to here. Recursive ones end at a level, which is part of each key."""
        self.own = False
        """Whether an expression of the linked file itself is being worked out: only then may what its calls pass count."""

    def lookup(self, key: Any, function: Callable[..., Any], *arguments: Any) -> Any:
        """As in `Lookups`. What was asked for by the file itself is at hand at once (its facts are noted already); what rests
        on the private part of the file is forgotten with it: such keys begin with (kind, path, private name)."""
        if not self._active:
            known = self.asked.get(key)
            if known is not None:
                return known[0]
        saved = self.own, self.level, self.alias_level
        self.own, self.level, self.alias_level = False, 0, 0
        if len(key) > 2 and key[1] == self.path and key[2] in self.private:
            key = (self.path, *key)
            self.temporary.append(key)
            found = super().lookup(key, function, *arguments)
        else:
            found = super().lookup(key, function, *arguments)
            if not self._active:
                self.asked[key] = (found,)
        self.own, self.level, self.alias_level = saved
        return found

    # What the evaluators below define

    def value(self, path: str, expr: Any, env: Any = None) -> Alternatives:
        raise NotImplementedError

    def type_of(self, path: str, expr: Any, env: Any = None) -> Alternatives:
        raise NotImplementedError

    def returned(self, path: str, name: str) -> Alternatives:
        raise NotImplementedError

    # Definitions

    def definition(self, path: str, name: str) -> Any:
        self.note("def", path, name)
        found = self.view.interface(path).definitions.get(name)
        if found is None and path == self.path:
            return self.private.get(name)
        return found

    def defined(self, path: str, name: str) -> Alternatives:
        """The value that a definition is."""
        one = self.definition(path, name)
        if one is None:
            return NOTHING
        kind = one[0]
        if kind == "f":
            return (("F", path, name, None, self._outer_variables(path, name)),)
        if kind == "c":
            return (("C", path, name),)
        return (("O", path, name),) if kind in ("o", "e") else NOTHING

    def _outer_variables(self, path: str, name: str) -> Bound:
        """The type variables of the class or interface that a method belongs to, each standing for itself."""
        owner = name.rpartition(".")[0]
        outer = self.definition(path, owner) if owner else None
        if outer is None or outer[0] not in ("c", "i") or not outer[2]:
            return ()
        return tuple([((path, owner, parameter), (("V", path, owner, parameter),)) for parameter, _, _ in outer[2]])

    def defined_type(self, path: str, name: str, arguments: tuple[Alternatives, ...]) -> Alternatives:
        """The type that a definition declares, with its arguments."""
        one = self.definition(path, name)
        if one is None:
            return NOTHING
        kind = one[0]
        if kind in ("c", "i", "e"):
            return (("I", path, name, arguments),)
        if kind == "f":
            return (("I", path, name, ()),)
        if kind == "t":
            level = self.alias_level + 1
            if level > _MAX_ALIASES:
                return NOTHING
            found: Alternatives = self.lookup(("alias", path, name, level), self._alias, path, name, level)
            return substitute(found, self.bind_arguments(path, name, one[2], arguments)) if one[2] else found
        return NOTHING

    def _alias(self, path: str, name: str, level: int) -> Alternatives:
        self.alias_level = level
        one = self.definition(path, name)
        return self.type_of(path, one[3]) if one is not None and one[0] == "t" else NOTHING

    def bind_arguments(
        self, path: str, owner: str, parameters: tuple[Any, ...], arguments: tuple[Alternatives, ...]
    ) -> dict[tuple[str, str, str], Alternatives]:
        """Type variables of a definition -> arguments, or else their defaults."""
        mapping: dict[tuple[str, str, str], Alternatives] = {}
        for position, (name, _, given) in enumerate(parameters):
            if position < len(arguments):
                mapping[path, owner, name] = arguments[position]
            elif arguments and given not in (None, -1):
                mapping[path, owner, name] = substitute(self.type_of(path, given), mapping)
        return mapping

    def variable_bound(self, variable: Alternative) -> Alternatives:
        """What is known of a type variable that nothing has bound: its constraint, else its default."""
        own = self.own and variable[1] == self.path
        found: Alternatives = self.lookup(("bound", *variable[1:], own), self._variable_bound, *variable[1:], own)
        return found

    def _variable_bound(self, path: str, owner: str, name: str, own: bool) -> Alternatives:
        if name.startswith("\0"):
            self.own = own
            return self.parameter_value(path, owner, int(name[1:]))
        one = self.definition(path, owner) if owner else None
        if one is None or one[0] not in ("f", "c", "i", "t"):
            return NOTHING
        for parameter, bound, given in one[2]:
            if parameter == name:
                for part in (bound, given):
                    if part not in (None, -1):
                        found = self.type_of(path, part)
                        if found:
                            return found
        return NOTHING

    def parameter_value(self, path: str, owner: str, position: int) -> Alternatives:
        raise NotImplementedError

    def expand(self, alternatives: Alternatives) -> Alternatives:
        """With type variables replaced by what bounds them."""
        for one in alternatives:
            if one[0] in ("V", "S"):
                break
        else:
            return alternatives
        parts = []
        for one in alternatives:
            if one[0] == "V":
                parts.append(self.variable_bound(one))
            elif one[0] == "S":
                parts.append(singular(self.expand(one[1])))
            else:
                parts.append((one,))
        return union(parts)

    # Names

    def module_name(self, path: str, name: str) -> Alternatives:
        """The value of a name at the top level of a file."""
        found: Alternatives = self.lookup(("name", path, name), self._module_name, path, name)
        return found

    def _module_name(self, path: str, name: str) -> Alternatives:
        self.note("sym", path, name)
        entries = self.view.interface(path).names.get(name)
        if entries:
            return self.entries_value(path, entries)
        return self.global_name(name)

    def global_name(self, name: str) -> Alternatives:
        self.note("announced", f"js-global:{name}")
        files = self.view.announcing(f"js-global:{name}")
        parts = []
        for file in files:
            self.note("sym", file, name)
            entries = self.view.interface(file).names.get(name)
            if entries:
                parts.append(self.entries_value(file, entries))
        found = union(parts)
        if found or name not in GLOBALS:
            return found
        return (("Y", name),)

    def entries_value(self, path: str, entries: tuple[Any, ...]) -> Alternatives:
        parts: list[Alternatives] = []
        for entry in entries:
            op = entry[0]
            if op == "d":
                parts.append(self.defined(path, entry[1]))
            elif op in ("v", "s"):
                parts.append(self.value(path, entry[1]))
            elif op == "i":
                parts.append(self.imported(path, entry[1], entry[2]))
            elif op == "l":
                parts.append(self.module_name(path, entry[1]))
        return self.implementations(union(parts))

    def implementations(self, alternatives: Alternatives) -> Alternatives:
        """Without the signatures beside an implementation."""
        if len(alternatives) < 2:
            return alternatives
        kept = tuple([one for one in alternatives if one[0] != "F" or not self._is_signature(one)])
        return kept if any(one[0] == "F" for one in kept) else alternatives

    def _is_signature(self, function: Alternative) -> bool:
        one = self.definition(function[1], function[2])
        return one is not None and bool(one[1] & _NO_IMPLEMENTATION)

    def module_type(self, path: str, name: str, arguments: tuple[Alternatives, ...]) -> Alternatives:
        """The type of a name at the top level of a file."""
        if not arguments:
            level = self.alias_level
            found: Alternatives = self.lookup(("type", path, name, level), self._module_type, path, name, (), level)
            return found
        return self._module_type(path, name, arguments, self.alias_level)

    def _module_type(self, path: str, name: str, arguments: tuple[Alternatives, ...], level: int) -> Alternatives:
        self.alias_level = level
        self.note("sym", path, name)
        entries = self.view.interface(path).names.get(name)
        if entries:
            return self.entries_type(path, entries, arguments)
        return self.global_type(name, arguments)

    def global_type(self, name: str, arguments: tuple[Alternatives, ...]) -> Alternatives:
        self.note("announced", f"js-global:{name}")
        parts = []
        for file in self.view.announcing(f"js-global:{name}"):
            self.note("sym", file, name)
            entries = self.view.interface(file).names.get(name)
            if entries:
                parts.append(self.entries_type(file, entries, arguments))
        return union(parts)

    def entries_type(self, path: str, entries: tuple[Any, ...], arguments: tuple[Alternatives, ...]) -> Alternatives:
        parts: list[Alternatives] = []
        for entry in entries:
            op = entry[0]
            if op == "d":
                parts.append(self.defined_type(path, entry[1], arguments))
            elif op == "i":
                parts.append(self.imported_type(path, entry[1], entry[2], arguments))
            elif op == "l":
                parts.append(self.module_type(path, entry[1], arguments))
            elif op == "v":
                parts.append(self.value_as_type(self.value(path, entry[1]), arguments))
        return union(parts)

    def value_as_type(self, alternatives: Alternatives, arguments: tuple[Alternatives, ...]) -> Alternatives:
        """A class that was reached as a value, named in a type."""
        parts: list[Alternative] = []
        for one in alternatives:
            if one[0] == "C":
                parts.append(("I", one[1], one[2], arguments))
            elif one[0] == "Y":
                parts.append(one)
        return tuple(parts)

    # Imports

    def imported(self, path: str, specifier: str, name: str) -> Alternatives:
        state, target = self.resolve(specifier, path)
        if state != "file":
            return (("Y", specifier if name == "*" else f"{specifier}.{name}"),) if state == "external" else NOTHING
        if name == "*":
            return (("M", target),)
        return self.exported(target, name)

    def exported(self, path: str, name: str) -> Alternatives:
        """What a file exports under a name."""
        found: Alternatives = self.lookup(("export", path, name), self._exported, path, name)
        return found

    def _exported(self, path: str, name: str) -> Alternatives:
        self.note("sym", path, "=" + name)
        interface = self.view.interface(path)
        entries = interface.names.get("=" + name)
        if entries:
            return self.entries_value(path, entries)
        self.note("sym", path, "=")
        common = interface.names.get("=")
        if common:
            values = self.entries_value(path, common)
            if name == "default":
                found = union([self.member(one, "default") for one in values if one[0] == "O"])
                return found or values
            return union([self.member(one, name) for one in self.expand(values)])
        self.note("star", path)
        if name != "default":
            for _, specifier in interface.stars:
                state, target = self.resolve(specifier, path)
                if state == "file" and target != path:
                    found = self.exported(target, name)
                    if found:
                        return found
        return self._ambient_member(path, name)

    def _ambient_member(self, path: str, name: str) -> Alternatives:
        """A member of ``declare module`` in a file that exports nothing under that name."""
        if not path.endswith((".d.ts", ".d.mts", ".d.cts")):
            return NOTHING
        parts = []
        for module in self._declared_modules(path):
            parts.append(self.member(("O", path, module), name))
        return union(parts)

    def _declared_modules(self, path: str) -> tuple[str, ...]:
        """Names of the modules that a file declares (``declare module "x"``)."""
        self.note("sym", path, "*")
        return tuple(self.view.interface(path).names.get("*", ()))

    def imported_type(self, path: str, specifier: str, name: str, arguments: tuple[Alternatives, ...]) -> Alternatives:
        state, target = self.resolve(specifier, path)
        if state != "file":
            return (("Y", f"{specifier}.{name}"),) if state == "external" else NOTHING
        return self.exported_type(target, name, arguments) if name != "*" else NOTHING

    def exported_type(self, path: str, name: str, arguments: tuple[Alternatives, ...]) -> Alternatives:
        if not arguments:
            level = self.alias_level
            found: Alternatives = self.lookup(("export type", path, name, level), self._exported_type, path, name, (), level)
            return found
        origin: tuple[str, Any] | None = self.lookup(("origin", path, name), self._origin, path, name)
        return self.entries_type(origin[0], origin[1], arguments) if origin is not None else NOTHING

    def _exported_type(self, path: str, name: str, arguments: tuple[Alternatives, ...], level: int) -> Alternatives:
        self.alias_level = level
        origin: tuple[str, Any] | None = self.lookup(("origin", path, name), self._origin, path, name)
        return self.entries_type(origin[0], origin[1], arguments) if origin is not None else NOTHING

    def _origin(self, path: str, name: str) -> tuple[str, Any] | None:
        """(file, entries) under which a file exports a name, through its wildcards."""
        self.note("sym", path, "=" + name)
        interface = self.view.interface(path)
        entries = interface.names.get("=" + name)
        if entries:
            return path, entries
        self.note("sym", path, "=")
        common = interface.names.get("=")
        if common and name == "default":
            return path, common
        self.note("star", path)
        for _, specifier in interface.stars if name != "default" else ():
            state, target = self.resolve(specifier, path)
            if state == "file" and target != path:
                found: tuple[str, Any] | None = self.lookup(("origin", target, name), self._origin, target, name)
                if found:
                    return found
        return self._ambient_origin(path, name)

    def _ambient_origin(self, path: str, name: str) -> tuple[str, Any] | None:
        for owner in self._declared_modules(path):
            entries = self.member_entries(path, owner, name)
            if entries:
                return path, entries
        return None

    def required(self, path: str, specifier: str) -> Alternatives:
        """What ``require(specifier)`` gives."""
        state, target = self.resolve(specifier, path)
        if state != "file":
            return (("Y", specifier),) if state == "external" else NOTHING
        return self.module_value(target)

    def module_value(self, path: str) -> Alternatives:
        self.note("sym", path, "=")
        common = self.view.interface(path).names.get("=")
        if common:
            found: Alternatives = self.lookup(("module", path), self.entries_value, path, common)
            return found
        return (("M", path),)

    # Members

    def member_entries(self, path: str, owner: str, name: str) -> tuple[Any, ...]:
        self.note("mem", path, owner, name)
        members = self.view.interface(path).members.get(owner)
        if members is None and path == self.path and owner in self.private:
            members = self.private_members.get(owner)
        return tuple(members.get(name, ())) if members else ()

    def bases(self, path: str, name: str) -> tuple[Base, ...]:
        """The class or interface and what it inherits from, nearest first, with the arguments in terms of its own variables."""
        found: tuple[Base, ...] = self.lookup(("bases", path, name), self._bases, path, name)
        return found or ((path, name, ()),)

    def _bases(self, path: str, name: str) -> tuple[Base, ...]:
        one = self.definition(path, name)
        found: list[Base] = [(path, name, ())]
        if one is None:
            return tuple(found)
        known = {(path, name)}
        for alternative in self.direct_bases(path, one):
            if alternative[0] != "I" or len(found) > _MAX_BASES:
                continue
            parent = self.definition(alternative[1], alternative[2])
            mapping = {}
            if parent is not None and parent[0] in ("c", "i") and alternative[3] != "this":
                mapping = self.bind_arguments(alternative[1], alternative[2], parent[2], alternative[3])
            for path_, name_, arguments in self.bases(alternative[1], alternative[2]):
                if (path_, name_) not in known:
                    known.add((path_, name_))
                    given = alternative[3] if (path_, name_) == alternative[1:3] and alternative[3] != "this" else arguments
                    if given is arguments:
                        given = tuple([substitute(argument, mapping) for argument in arguments])
                    found.append((path_, name_, given))
        return tuple(found)

    def direct_bases(self, path: str, one: Any) -> Alternatives:
        """The bases as instances, in order; merged declarations of the same name too."""
        if one[0] == "i":
            return union([self.expand(self.type_of(path, base)) for base in one[3]])
        if one[0] == "c":
            return union([self.base_class(path, base) for base in one[3]])
        return NOTHING

    def base_class(self, path: str, expr: Any) -> Alternatives:
        """Instances of what ``extends`` names."""
        parts = self.node(path, expr)
        if parts is None or parts[0] != "B":
            return NOTHING
        arguments = tuple([self.type_of(path, argument) for argument in parts[2]])
        found: list[Alternative] = []
        for one in self.expand(self.value(path, parts[1])):
            if one[0] == "C":
                found.append(("I", one[1], one[2], arguments))
            elif one[0] == "F":
                found.append(("I", one[1], one[2], ()))
            elif one[0] in ("Ct", "It", "I"):
                found.extend(self.constructed(one, (), path))
        call = self.node(path, parts[1])
        if call is not None and call[0] == "c":
            for argument in call[2]:
                found.extend(("I", one[1], one[2], ()) for one in self.value(path, argument) if one[0] == "C")
        return tuple(found)

    def constructed(self, alternative: Alternative, arguments: tuple[Any, ...], path: str) -> Alternatives:
        raise NotImplementedError

    def node(self, path: str, expr: Any) -> Any:
        """The parts of an expression; None if nothing is known."""
        if isinstance(expr, int):
            return self.table[expr] if expr >= 0 and path == self.path else None
        return expr

    def closed(self, path: str, expr: Any, env: Any) -> Bound:
        """The variables of an expression with what the environment says of them; by default each stands for itself."""
        keys = variables(path, expr, self.node, self.lambdas)
        if not keys:
            return ()
        return tuple([(key, env[key] if env and key in env else (("V", *key),)) for key in keys])

    def find_member(self, path: str, name: str, member: str, skip: int = 0) -> tuple[Base, tuple[Any, ...]] | None:
        """(where, entries) of a member of instances, in the order of inheritance."""
        found: tuple[Base, tuple[Any, ...]] | None = self.lookup(
            ("find", path, name, member, skip), self._find_member, path, name, member, skip
        )
        return found or None  # the unknown answer of a cycle is an empty tuple

    def _find_member(self, path: str, name: str, member: str, skip: int) -> tuple[Base, tuple[Any, ...]] | None:
        for base in self.bases(path, name)[skip:]:
            entries = self.member_entries(base[0], base[1], member) or self._mixed_in(base[0], base[1], member)
            if entries:
                return base, entries
        return None

    def _mixed_in(self, path: str, name: str, member: str) -> tuple[Any, ...]:
        """A member that ``Object.assign(X.prototype, ...)`` gives to a class."""
        declared = self.definition(path, name)
        if declared is None or declared[0] not in ("c", "f"):
            return ()
        for spread in declared[5] if declared[0] == "c" else declared[8]:
            if not isinstance(spread, int) and self.through(path, spread, member):
                return (("v", ("a", spread, member), None),)
        return ()

    def member(self, one: Alternative, name: str) -> Alternatives:
        """What a member of an alternative may be."""
        raise NotImplementedError

    def through(self, path: str, expr: Any, name: str) -> Alternatives:
        """A member of what is spread into a definition: a look-up of its own, since it may lead back to the definition."""
        found: Alternatives = self.lookup(("through", path, expr, name), self._through, path, expr, name)
        return found

    def _through(self, path: str, expr: Any, name: str) -> Alternatives:
        return union([self.member(one, name) for one in self.expand(self.value(path, expr))])

    def instance_member(
        self, instance: Alternative, name: str, skip: int = 0, receiver: Alternative | None = None
    ) -> Alternatives:
        found = self.find_member(instance[1], instance[2], name, skip)
        if found is None:
            return NOTHING
        (base_path, base, _), entries = found
        value: Alternatives = self.lookup(("member", base_path, base, name), self._member_value, base_path, base, entries)
        return self.bound(substitute(value, self.instance_variables(instance, found[0])), receiver or instance)

    def instance_variables(self, instance: Alternative, base: Base) -> dict[tuple[str, str, str], Alternatives]:
        """What the type variables of a base (or the class itself) are in an instance."""
        _, path, owner, arguments = instance
        base_path, base_name, given = base
        mapping: dict[tuple[str, str, str], Alternatives] = {}
        declared = self.definition(base_path, base_name)
        if given and declared is not None and declared[0] in ("c", "i"):
            mapping = self.bind_arguments(base_path, base_name, declared[2], given)
        if arguments and arguments != "this":
            own = declared if (base_path, base_name) == (path, owner) else self.definition(path, owner)
            if own is not None and own[0] in ("c", "i"):
                outer = self.bind_arguments(path, owner, own[2], arguments)
                mapping = {key: substitute(bound, outer) for key, bound in mapping.items()} | outer
        return mapping

    def _member_value(self, path: str, owner: str, entries: tuple[Any, ...]) -> Alternatives:
        parts: list[Alternatives] = []
        assigned: list[Alternatives] = []
        for entry in entries:
            if entry[0] == "d":
                parts.append(self._defined_member(path, entry[1]))
            elif entry[0] == "v":
                parts.append(self.value(path, entry[1]))
            elif entry[0] == "s":
                assigned.append(self.value(path, entry[1]))
        if assigned and not any(parts):
            values = union(assigned)
            parts.append((("S", values),) if any(one[0] == "V" for one in values) else singular(values))
        return self.implementations(union(parts))

    def _defined_member(self, path: str, name: str) -> Alternatives:
        one = self.definition(path, name)
        if one is not None and one[0] == "f" and one[1] & bits.PROPERTY:
            return self.returned(path, name)
        return self.defined(path, name)

    def bound(self, alternatives: Alternatives, receiver: Alternative) -> Alternatives:
        """Methods that know their receiver."""
        found = tuple(
            [("F", one[1], one[2], receiver, one[4]) if one[0] == "F" and one[3] is None else one for one in alternatives]
        )
        return with_receiver(found, receiver) if receiver[0] == "I" else found

    def static_member(self, one: Alternative, name: str) -> Alternatives:
        """A member of a class or function itself."""
        _, path, owner, *_ = one
        entries = self.member_entries(path, owner, f"static {name}")
        if entries:
            known: Alternatives = self.lookup(
                ("member", path, owner, f"static {name}"), self._member_value, path, owner, entries
            )
            return self.bound(known, one)
        declared = self.definition(path, owner)
        if declared is None:
            return NOTHING
        if declared[0] == "c":
            for base in declared[3]:
                parts = self.node(path, base)
                for parent in self.expand(self.value(path, parts[1])) if parts is not None and parts[0] == "B" else ():
                    if parent[0] in ("C", "F") and parent[1:3] != (path, owner):
                        found: Alternatives = self.lookup(
                            ("static", parent[1], parent[2], name), self.static_member, parent, name
                        )
                        if found:
                            return self.bound(found, one)
        spreads = declared[8] if declared[0] == "f" else declared[5] if declared[0] == "c" else ()
        for spread in spreads:
            found = self.through(path, spread, name)
            if found:
                return found
        return self._merged_namespace(path, owner, name)

    def _merged_namespace(self, path: str, owner: str, name: str) -> Alternatives:
        """A function or class and a namespace of the same name are one."""
        if "." in owner:
            return NOTHING
        self.note("sym", path, owner.split("#")[0])
        for entry in self.view.interface(path).names.get(owner.split("#")[0], ()):
            if entry[0] == "d" and entry[1] != owner:
                entries = self.member_entries(path, entry[1], name)
                if entries:
                    known: Alternatives = self.lookup(
                        ("member", path, entry[1], name), self._member_value, path, entry[1], entries
                    )
                    return known
        return NOTHING

    def object_member(self, one: Alternative, name: str) -> Alternatives:
        _, path, owner = one
        declared = self.definition(path, owner)
        is_object = declared is not None and declared[0] == "o"
        for value in reversed(declared[3]) if is_object else ():
            found = self.through(path, value, name)
            if found and found[0][0] not in ("B", "Y"):
                return found
        entries = self.member_entries(path, owner, name)
        if entries:
            known: Alternatives = self.lookup(("member", path, owner, name), self._member_value, path, owner, entries)
            return self.bound(known, one)
        for spread in reversed(declared[2]) if is_object else ():
            found = self.through(path, spread, name)
            if found:
                return found
        return self._merged_namespace(path, owner, name) if declared is not None else NOTHING
