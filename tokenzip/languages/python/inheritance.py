"""Classes of the project: method resolution order, members found along it, what type parameters stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokenzip.languages.python.ir import (
    Class,
)
from tokenzip.languages.python.names import Names
from tokenzip.languages.python.types import Alternative, Types, substitute

Owner = tuple[str, str]
"""Path and qualified name of a class; ("", "") is a base class that is not known."""
OUTSIDE: Owner = ("", "")
_TRANSPARENT = frozenset({"object", "Generic", "Protocol", "ABC"})
_ENUM_BASES = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"})


class Inheritance(Names):
    """Look-ups of classes and of the entries of their members."""

    def mro(self, path: str, qualified: str) -> tuple[Owner, ...]:
        """The method resolution order (C3); `OUTSIDE` at the end if a base is not known."""
        return self.lookup(self._key("mro", path, qualified), self._mro, path, qualified) or ((path, qualified),)

    def _mro(self, path: str, qualified: str) -> tuple[Owner, ...]:
        me = (path, qualified)
        found = self.definition(path, qualified)
        if not isinstance(found, Class):
            return (me,)
        sequences: list[list[Owner]] = []
        direct: list[Owner] = []
        unknown = False
        for base in found.bases:
            types = self.ex(path, base)
            cls = next((item for item in types if item[0] == "C" and item[1:3] != me), None)
            if cls is None:
                unknown = unknown or not self._is_transparent(types)
                continue
            above = [owner for owner in self.mro(cls[1], cls[2]) if owner != me]
            if OUTSIDE in above:
                unknown = True
            sequences.append([owner for owner in above if owner != OUTSIDE] or [cls[1:3]])
            direct.append(cls[1:3])
        sequences.append(direct)
        order = [me, *_merge(sequences)]
        return tuple([*order, OUTSIDE] if unknown else order)

    def _is_transparent(self, types: Types) -> bool:
        """Whether a base outside the project adds no members that matter (``Generic[T]``, say)."""
        for item in types:
            if item[0] == "A":
                return self._is_transparent(self.ex(item[1], item[2][1])) if item[2] and item[2][0] == "index" else False
            if item[0] == "Y" and item[1].rpartition(".")[2] in _TRANSPARENT:
                return True
        return False

    def bases(self, path: str, qualified: str) -> tuple[Types, ...]:
        """The types of each base of a class."""
        return self.lookup(self._key("bases", path, qualified), self._bases, path, qualified)  # type: ignore[no-any-return]

    def _bases(self, path: str, qualified: str) -> tuple[Types, ...]:
        found = self.definition(path, qualified)
        if not isinstance(found, Class):
            return ()
        bases: list[Types] = []
        for base in found.bases:
            bases.append(self.ex(path, base))
        return tuple(bases)

    def is_enum(self, path: str, qualified: str) -> bool:
        """Whether a class derives from an enumeration of the standard library."""
        return self.lookup(self._key("enum", path, qualified), self._is_enum, path, qualified) is True

    def _is_enum(self, path: str, qualified: str) -> bool:
        for owner in self.mro(path, qualified):
            if owner != OUTSIDE:
                for base in self.bases(*owner):
                    for item in base:
                        if item[0] == "Y" and item[1].rpartition(".")[2] in _ENUM_BASES:
                            return True
        return False

    def member(self, path: str, qualified: str, name: str, skip: int = 0) -> tuple[str, str, Any] | None:
        """(path, class, entries) of the member of a class or its bases; None if there is none that is known."""
        return self.lookup(self._key("member", path, qualified, name, skip), self._member, path, qualified, name, skip) or None

    def _member(self, path: str, qualified: str, name: str, skip: int) -> tuple[str, str, Any] | None:
        for owner in self.mro(path, qualified)[skip:]:
            if owner == OUTSIDE:
                return None
            entries = self.entries(owner[0], owner[1], name) or self._mangled_entries(owner, name)
            if entries:
                return owner[0], owner[1], entries
        return None

    def _mangled_entries(self, owner: Owner, name: str) -> Any:
        """``_C__x`` is how the outside names the member ``__x`` of a class C."""
        if name[:1] != "_" or name[:2] == "__" or "__" not in name[2:]:
            return None
        prefix = "_" + owner[1].rpartition(".")[2].partition("#")[0].lstrip("_")
        return self.entries(owner[0], owner[1], name[len(prefix) :]) if name.startswith(prefix + "__") else None

    def entries(self, path: str, cls: str, name: str) -> Any:
        """The entries of a member in the class itself."""
        self._facts.add(("mem", path, cls, name))
        members = self.interface(path).members.get(cls)
        if members is None and path == self._path:
            members = self._local_members.get(cls)
        return members.get(name) if members else None

    def has_unknown_base(self, alternative: Alternative) -> bool:
        """Whether a class may inherit what is not known."""
        return OUTSIDE in self.mro(alternative[1], alternative[2])

    def parameters_of(self, alternative: Alternative, owner: Owner) -> Mapping[str, Types]:
        """What the type parameters of `owner`, a base of the alternative's class, stand for in it."""
        key = self._key("parameters", alternative[1], alternative[2], alternative[3], owner)
        return self.lookup(key, self._parameters_of, alternative, owner) or {}

    def _parameters_of(self, alternative: Alternative, owner: Owner) -> Mapping[str, Types]:
        path, qualified, arguments = alternative[1:4]
        found = self.definition(path, qualified)
        if not isinstance(found, Class):
            return {}
        values: dict[str, Types] = dict(zip(found.type_parameters, arguments, strict=False))
        if (path, qualified) == owner:
            return values
        for base in self.bases(path, qualified):
            for item in base:
                if item[0] == "C" and item[1:3] != (path, qualified) and owner in self.mro(item[1], item[2]):
                    given = tuple([substitute(part, values) for part in item[3]])
                    return self.parameters_of((item[0], item[1], item[2], given), owner)
        return {}


def _merge(sequences: list[list[Owner]]) -> list[Owner]:
    """C3 merge; where no order satisfies all, the first head goes on (Python would refuse the class)."""
    order: list[Owner] = []
    while sequences := [sequence for sequence in sequences if sequence]:
        head = sequences[0][0]
        for sequence in sequences:
            if not any(sequence[0] in other[1:] for other in sequences):
                head = sequence[0]
                break
        order.append(head)
        sequences = [[owner for owner in sequence if owner != head] for sequence in sequences]
    return order
