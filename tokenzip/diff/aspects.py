"""What changed about a pair of nodes: name, place, signature, modifiers, body, documentation. Layout is no change."""

from __future__ import annotations

from dataclasses import dataclass

from tokenzip.diff.pairing import Pairing
from tokenzip.diff.side import CONTAINERS, Node
from tokenzip.languages.shape import canonical_text, same_statements
from tokenzip.model import Flag, SymbolDetail

MODIFIER_FLAGS = (
    Flag.ASYNC | Flag.STATIC | Flag.CLASSMETHOD | Flag.PROPERTY | Flag.ABSTRACT | Flag.GENERATOR | Flag.OVERLOAD | Flag.EXPORTED
    | Flag.DEFAULT_EXPORT | Flag.PRIVATE | Flag.PROTECTED | Flag.READONLY | Flag.OPTIONAL | Flag.DECLARATION
)  # fmt: skip
_NO_FLAGS = Flag(0)
_NAMED_VISIBILITY = Flag.EXPORTED | Flag.PRIVATE | Flag.PROTECTED
"""What a name itself says in some languages (``_x``): a rename is not also a change of visibility."""


@dataclass(frozen=True, slots=True)
class Aspects:
    """What changed about one symbol."""

    renamed: bool = False
    moved: bool = False
    signature: bool = False
    modifiers: bool = False
    body: bool = False
    docs: bool = False
    flags: Flag = _NO_FLAGS
    """The flags that differ."""

    def names(self) -> tuple[str, ...]:
        """The aspects that apply, in the order of `model.CHANGES`."""
        said = {
            "renamed": self.renamed, "moved": self.moved, "signature": self.signature, "modifiers": self.modifiers,
            "body": self.body, "docs": self.docs,
        }  # fmt: skip
        return tuple(name for name, applies in said.items() if applies)


def aspects(base: Node, head: Node, pairing: Pairing) -> Aspects:
    """What differs between the two ends of a pair."""
    if base.symbol is None:
        return _file_aspects(base, head)
    renamed = base.name != head.name
    flags = _differing_flags(base, head, renamed)
    docs = base.documentation != head.documentation
    signature, modifiers = _signature(base, head)
    body = _body_differs(base, head)
    if body and base.kind == head.kind == "type_alias":
        signature, body = True, False  # what it stands for is all there is to it
    return Aspects(
        renamed=renamed,
        moved=not pairing.is_same_place(base, head),
        signature=signature,
        modifiers=modifiers or bool(flags),
        body=body,
        docs=docs,
        flags=flags,
    )


def _file_aspects(base: Node, head: Node) -> Aspects:
    before, after = base.file, head.file
    directory, _, name = before.path.rpartition("/")
    new_directory, _, new_name = after.path.rpartition("/")
    renamed, moved = name != new_name, directory != new_directory
    if before.facts.blob == after.facts.blob:
        return Aspects(renamed, moved)
    if not (before.is_read and after.is_read):
        return Aspects(renamed, moved, body=True)
    if base.own_bytes == head.own_bytes:
        return Aspects(renamed, moved)
    return Aspects(
        renamed,
        moved,
        body=not same_statements(base.statements, head.statements),
        docs=base.documentation != head.documentation,
    )


def _differing_flags(base: Node, head: Node, renamed: bool) -> Flag:
    flags = (base.flags ^ head.flags) & MODIFIER_FLAGS
    if base.parent is not None and head.parent is not None:
        flags &= ~((base.parent.flags ^ head.parent.flags) & Flag.EXPORTED)  # members are exported with their class
    return flags & ~_NAMED_VISIBILITY if renamed and base.file.facts.language == "python" else flags


def _signature(base: Node, head: Node) -> tuple[bool, bool]:
    """(signature differs, modifiers or decorators differ)."""
    if base.group != head.group or (base.group == "type" and base.kind != head.kind):
        return True, False
    if base.hashes[0] == head.hashes[0] or base.signature_tokens == head.signature_tokens:
        return False, False
    language = head.file.facts.language or ""
    if base.group == "callable" and language in _ARROWS and _is_other_form(base, head):
        return interface_of(language, base.detail) != interface_of(language, head.detail), False
    interface = interface_of(language, base.detail) != interface_of(language, head.detail)
    rebound = base.group == "value" and base.kind != head.kind  # a constant is a variable now
    modifiers = rebound or modifiers_of(language, base.detail) != modifiers_of(language, head.detail)
    flags = bool((base.flags ^ head.flags) & MODIFIER_FLAGS) or base.kind != head.kind
    return interface or not (modifiers or flags or _is_value_only(base, head)), modifiers


_ARROWS = frozenset({"javascript", "typescript", "tsx"})
_OF_PROPERTIES = frozenset({"public", "private", "protected", "readonly", "override"})
"""What may stand before a parameter of a constructor: it is said about the property that it makes."""


def _is_other_form(base: Node, head: Node) -> bool:
    """Whether the same parameters and results are merely written another way: an arrow for a declared function, a property
    beside a parameter."""
    if base.is_arrow != head.is_arrow:
        return True
    before, after = ([token for token in node.signature_tokens if token not in _OF_PROPERTIES] for node in (base, head))
    return base.kind == head.kind == "constructor" and before == after


def _is_value_only(base: Node, head: Node) -> bool:
    """Whether the signature text differs by an initial value, which counts as body."""
    return base.group == "value" and head.group == "value" and base.detail.value != head.detail.value


def interface_of(language: str, detail: SymbolDetail) -> tuple[object, ...]:
    """What callers and subclasses rely on, as canonical text."""
    return (
        tuple(
            (
                parameter.name, canonical_text(language, parameter.annotation, is_type=True),
                canonical_text(language, parameter.default), parameter.variadic, parameter.keyword_only,
                parameter.positional_only, parameter.optional,
            )
            for parameter in detail.parameters
        ),
        canonical_text(language, detail.returns, is_type=True),
        tuple(canonical_text(language, generic, is_type=True) for generic in detail.generics),
        tuple(canonical_text(language, base) for base in detail.bases),
    )  # fmt: skip


def modifiers_of(language: str, detail: SymbolDetail) -> tuple[object, ...]:
    """Decorators in their order (it matters) and modifiers in any order."""
    decorators = tuple(canonical_text(language, decorator.removeprefix("@")) for decorator in detail.decorators)
    return decorators, frozenset(detail.modifiers)


def _body_differs(base: Node, head: Node) -> bool:
    if base.kind == head.kind == "enum_member" and base.counted_value != head.counted_value:
        return True
    if base.hashes[1] == head.hashes[1] or base.group != head.group or (base.kind in CONTAINERS) != (head.kind in CONTAINERS):
        return False
    if base.body_tokens != head.body_tokens:
        return True
    if base.group != "value" or base.hashes[0] == head.hashes[0]:
        return False
    language = head.file.facts.language or ""  # where the value is part of what is taken for the signature
    return canonical_text(language, base.detail.value) != canonical_text(language, head.detail.value)
