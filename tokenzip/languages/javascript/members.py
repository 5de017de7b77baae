"""Members of instances, classes and objects, through bases and mixins."""

from __future__ import annotations

from typing import Any

from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.javascript.alternatives import (
    NOTHING,
    Alternative,
    Alternatives,
    singular,
    substitute,
    union,
    with_receiver,
)
from tokenzip.languages.javascript.bindings import Bindings

_MAX_BASES = 40
Base = tuple[str, str, tuple[Alternatives, ...]]


class Members(Bindings):
    """Bases and members."""

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
        return self.bound(self.substituted(value, self.instance_variables(instance, found[0])), receiver or instance)

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
        plain = owner.partition("#")[0]
        self.note("sym", path, plain)
        for entry in self.view.interface(path).names.get(plain, ()):
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
