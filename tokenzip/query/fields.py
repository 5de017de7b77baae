"""What can be asked of each kind of record, and how: fields, look-ups, conditions."""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Literal

from tokenzip.errors import UsageError
from tokenzip.languages import registry
from tokenzip.model import CHANGES, EDGE_KINDS, SYMBOL_KINDS, TIERS, Flag
from tokenzip.query.records import View, family

FieldType = Literal["text", "number", "truth", "list"]
"""A ``list`` is one of texts; a condition on it holds if it holds for one of them."""
Getter = Callable[[View, Any], Any]
Predicate = Callable[[View, Any], bool]


@dataclass(frozen=True, slots=True)
class Field:
    """Something that a record says."""

    type: FieldType
    get: Getter
    names: Callable[[View, Any], Sequence[Any]] | None = None
    """Everything that answers to a question for it, where that is more than its value."""
    values: Sequence[str] = ()
    """All values that there can be, where these are known."""
    heavy: bool = False
    """Whether it is read from the source: asked last."""
    exists: Getter | None = None
    """Whether there is one, where that is cheaper than to get it."""
    linked: Getter | None = None
    """Further names that answer to a question for it and cost less than its value: asked first."""
    written: Literal["head", "whole", ""] = ""
    """The part of a definition in which its value stands letter by letter: where a text does not occur, nothing is parsed."""
    most: Getter | None = None
    """A number that it cannot exceed, where that is cheaper than to get it."""


def _plain(kind: FieldType, attribute: str, **options: Any) -> Field:
    get = attrgetter(attribute)
    return Field(kind, lambda _, record: get(record), **options)


def _flag(flag: Flag) -> Field:
    return Field("truth", lambda _, record: bool(record.row.flags & flag))


def _module_names(view: View, path: str) -> tuple[str, ...]:
    module = view.module_of(path)
    return module.name, module.path or "."


def _module_by(path: str) -> Field:
    """The module of a record that lies in the file of that attribute, by name or directory."""
    get = attrgetter(path)
    return Field(
        "text", lambda view, record: view.module_of(get(record)).name, lambda view, record: _module_names(view, get(record))
    )


def _language(values: Sequence[str]) -> Field:
    return Field("text", lambda _, record: record.language, lambda _, record: family(record.language), values)


def _written(names: Sequence[str]) -> list[str]:
    """Names of classes as they may be asked for: as written, without type arguments, and the last part of a dotted one."""
    found: dict[str, None] = {}
    for name in names:
        bare = re.split(r"[<\[(]", name, maxsplit=1)[0].strip()
        found.update(dict.fromkeys((name, bare, bare.rpartition(".")[2])))
    return [name for name in found if name]


def _linked(edge_kind: str, attribute: str) -> Field:
    """Bases by any of their names: as written, and those of the symbols of the repository that are meant."""

    def linked(view: View, record: Any) -> list[str]:
        if record.index < 0:
            return []
        targets = [edge.target for edge in view.snapshot.edges_from(record.key) if edge.kind == edge_kind]
        return [name for key in targets for name in (key.handle, key.qualified, key.qualified.rpartition(".")[2])]

    def names(_: View, record: Any) -> list[str]:
        return _written(getattr(record, attribute))

    return _plain("list", attribute, names=names, linked=linked, written="head", heavy=True)


_VALUES = frozenset({"file", "variable", "constant", "property", "enum_member"})


def _most_parameters(view: View, record: Any) -> int:
    """Parameters are parted by commas; values have none."""
    if record.kind in _VALUES:
        return 0
    return view.text(record, whole=False).count(b",") + 1


def _decorator_names(_: View, record: Any) -> list[str]:
    return [name for text in record.decorators for name in (text, *_written([text.lstrip("@")]))]


_SOURCES = [name for name in registry.LANGUAGES if registry.is_source(name)]

SYMBOL: Mapping[str, Field] = {
    "handle": _plain("text", "handle"),
    "id": Field("text", lambda _, record: str(record.id)),
    "name": _plain("text", "name"),
    "qualified_name": _plain("text", "qualified_name"),
    "kind": _plain("text", "kind", values=("file", *SYMBOL_KINDS)),
    "file": _plain("text", "path"),
    "language": _language(_SOURCES),
    "module": _module_by("path"),
    "parent": _plain("text", "parent"),
    "visibility": _plain("text", "visibility", values=("public", "protected", "private")),
    "line": _plain("number", "line"),
    "end_line": _plain("number", "end_line"),
    "lines": _plain("number", "lines"),
    "distance": _plain("number", "distance"),
    "is_exported": _flag(Flag.EXPORTED),
    "is_default_export": _flag(Flag.DEFAULT_EXPORT),
    "is_async": _flag(Flag.ASYNC),
    "is_static": _flag(Flag.STATIC),
    "is_abstract": _flag(Flag.ABSTRACT),
    "is_generator": _flag(Flag.GENERATOR),
    "is_property": _flag(Flag.PROPERTY),
    "is_readonly": _flag(Flag.READONLY),
    "is_local": _flag(Flag.LOCAL),
    "is_test": _plain("truth", "is_test"),
    "signature": _plain("text", "signature", heavy=True),
    "doc": _plain("text", "doc", heavy=True, exists=lambda _, record: record.has_doc),
    "returns": _plain("text", "returns", written="head", heavy=True),
    "value": _plain("text", "value", written="whole", heavy=True),
    "parameters": _plain("list", "parameters", written="head", heavy=True),
    "parameter_count": Field("number", lambda _, record: len(record.parameters), heavy=True, most=_most_parameters),
    "decorators": _plain("list", "decorators", names=_decorator_names, written="head", heavy=True),
    "generics": _plain("list", "generics", written="head", heavy=True),
    "modifiers": _plain("list", "modifiers", heavy=True),
    "bases": _plain("list", "bases", names=lambda _, record: _written(record.bases), written="head", heavy=True),
    "extends": _linked("inherits", "extends"),
    "implements": _linked("implements", "implements"),
}
FILE: Mapping[str, Field] = {
    "handle": _plain("text", "handle"),
    "path": _plain("text", "path"),
    "name": _plain("text", "name"),
    "ext": _plain("text", "ext"),
    "language": _language(list(registry.LANGUAGES)),
    "module": _module_by("path"),
    "blob": _plain("text", "blob"),
    "status": _plain("text", "status", values=("parsed", "partial", "failed", "skipped")),
    "reason": _plain("text", "reason"),
    "lines": _plain("number", "lines"),
    "size": _plain("number", "size", heavy=True),
    "symbol_count": Field("number", lambda _, record: len(record.rows)),
    "distance": _plain("number", "distance"),
    "is_source": _plain("truth", "is_source"),
    "is_test": _plain("truth", "is_test"),
    "is_generated": _plain("truth", "generated"),
}
MODULE: Mapping[str, Field] = {
    "handle": _plain("text", "handle"),
    "name": _plain("text", "name"),
    "path": _plain("text", "path"),
    "manifest": _plain("text", "manifest"),
    "kind": _plain("text", "kind"),
    "language": _language(_SOURCES),
    "parent": _plain("text", "parent"),
    "version": _plain("text", "version"),
    "description": _plain("text", "description"),
    "packages": _plain("list", "packages"),
    "files": _plain("number", "files"),
    "distance": _plain("number", "distance"),
    "is_root": _plain("truth", "is_root"),
}
REFERENCE: Mapping[str, Field] = {
    "handle": _plain("text", "handle"),
    "target": _plain("text", "target"),
    "kind": _plain("text", "kind", values=EDGE_KINDS),
    "user": _plain("text", "user", values=("file", *SYMBOL_KINDS)),
    "tier": _plain("text", "tier", values=TIERS),
    "detail": _plain("text", "detail"),
    "file": _plain("text", "file"),
    "module": _module_by("file"),
    "line": _plain("number", "line"),
}
CHANGE: Mapping[str, Field] = {
    "handle": _plain("text", "handle"),
    "old_handle": _plain("text", "old_handle"),
    "kind": _plain("text", "kind", values=("file", *SYMBOL_KINDS)),
    "change": _plain("text", "change", values=CHANGES),
    "aspects": _plain("list", "aspects", values=CHANGES),
    "effect": _plain("text", "effect", values=("breaking", "compatible", "internal")),
    "reasons": _plain("list", "reasons"),
    "file": _plain("text", "file"),
    "module": _module_by("file"),
    "line": _plain("number", "line"),
    "breaking": _plain("truth", "breaking"),
    "is_test": _plain("truth", "test"),
}
REACHED: Mapping[str, Field] = {
    "handle": _plain("text", "handle"),
    "kind": _plain("text", "kind", values=("file", *SYMBOL_KINDS)),
    "via": _plain("text", "via"),
    "file": _plain("text", "key.path"),
    "module": _module_by("key.path"),
    "line": _plain("number", "line"),
    "distance": _plain("number", "distance"),
    "is_test": _plain("truth", "test"),
}
COMMIT: Mapping[str, Field] = {
    name: _plain("text", name) for name in ("handle", "id", "short_id", "subject", "author", "email", "date")
}
ALIASES: Mapping[str, str] = {
    "path": "file", "file": "path", "extension": "ext", "docstring": "doc", "return_type": "returns", "manifest_kind": "kind",
}  # fmt: skip
"""Other names for a field, where the record has none of that name."""


def field_name(fields: Mapping[str, Field], name: str) -> str:
    """The field of that name or alias. Raises UsageError with the nearest names."""
    if name in fields:
        return name
    if ALIASES.get(name) in fields:
        return ALIASES[name]
    near = difflib.get_close_matches(name, fields, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"The fields are {', '.join(fields)}."
    raise UsageError(f"there is no field {name!r} here", hint=hint, candidates=near)


# Look-ups.

_TEXT_TESTS: Mapping[str, Callable[[str, str], bool]] = {
    "exact": operator.eq,
    "iexact": lambda value, wanted: value.lower() == wanted.lower(),
    "contains": lambda value, wanted: wanted in value,
    "icontains": lambda value, wanted: wanted.lower() in value.lower(),
    "startswith": str.startswith,
    "endswith": str.endswith,
}
_NUMBER_TESTS: Mapping[str, Callable[[int, int], bool]] = {
    "exact": operator.eq, "gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le,
}  # fmt: skip
LOOKUPS: Mapping[FieldType, tuple[str, ...]] = {
    "text": (*_TEXT_TESTS, "matches", "in", "exists"),
    "list": (*_TEXT_TESTS, "matches", "in", "exists"),
    "number": (*_NUMBER_TESTS, "in"),
    "truth": ("exact",),
}
_PYTHON: Mapping[FieldType, type] = {"text": str, "list": str, "number": int, "truth": bool}
_WORDS: Mapping[type, str] = {str: "a text", int: "a number", bool: "True or False"}


@dataclass(frozen=True, slots=True)
class Condition:
    """One look-up of a filter, ready to be asked."""

    holds: Predicate
    heavy: bool


def condition(fields: Mapping[str, Field], lookup: str, value: Any) -> Condition:
    """The condition that ``lookup=value`` stands for. Raises UsageError for what makes no sense."""
    name, _, test = lookup.partition("__")
    field = fields[field_name(fields, name)]
    test = test or "exact"
    if test not in LOOKUPS[field.type]:
        near = difflib.get_close_matches(test, LOOKUPS[field.type], n=2, cutoff=0.5)
        known = ", ".join(LOOKUPS[field.type])
        raise UsageError(
            f"{name!r} has no look-up {test!r}", hint=f"It has {known}.", candidates=[f"{name}__{n}" for n in near]
        )
    if test == "exists" or (test == "exact" and value is None and field.type != "truth"):
        wanted = value if test == "exists" else False
        _check(lookup, wanted, bool)
        return Condition(_existence(field, wanted), field.heavy and field.exists is None)
    _check_value(field, name, test, value)
    return Condition(_test(field, _matcher(field.type, lookup, test, value), _precheck(field, test, value)), field.heavy)


def _check_value(field: Field, name: str, test: str, value: Any) -> None:
    wanted = _PYTHON[field.type]
    if test != "in":
        _check(name if test == "exact" else f"{name}__{test}", value, wanted)
    elif not isinstance(value, Sequence) or isinstance(value, str):
        raise UsageError(f"{name}__in must be a list, not {value!r}")
    else:
        for each in value:
            _check(f"each of {name}__in", each, wanted)
    if field.values and test in {"exact", "in"}:
        for each in value if test == "in" else (value,):
            if each not in field.values:
                near = difflib.get_close_matches(each, field.values, n=3, cutoff=0.5)
                hint = f"did you mean {' or '.join(near)}?" if near else f"It is one of {', '.join(field.values)}."
                raise UsageError(f"{name} is never {each!r}", hint=hint, candidates=near)


def _check(name: str, value: Any, wanted: type) -> None:
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise UsageError(f"{name} must be {_WORDS[wanted]}, not {value!r}")


def _existence(field: Field, wanted: bool) -> Predicate:
    exists = field.exists or field.get
    return lambda view, record: bool(exists(view, record)) is wanted


def _matcher(kind: FieldType, lookup: str, test: str, wanted: Any) -> Callable[[Any], bool]:
    if test == "in":
        values = frozenset(wanted)
        return lambda value: value in values
    if test == "matches":
        try:
            pattern = re.compile(wanted)
        except (re.error, RecursionError, OverflowError) as error:
            raise UsageError(f"{lookup}: not a regular expression: {error}", hint="See Python's `re`.") from None
        return lambda value: pattern.search(value) is not None
    if kind in {"number", "truth"}:
        compare = _NUMBER_TESTS[test]
        return lambda value: compare(value, wanted)
    compare_text = _TEXT_TESTS[test]
    return lambda value: compare_text(value, wanted)


def _precheck(field: Field, test: str, wanted: Any) -> Predicate | None:
    """What must hold for the value to be worth getting, where that can be said cheaply."""
    if field.most is not None and test in {"exact", "gt", "gte", "in"}:
        most, least = field.most, min(wanted, default=0) if test == "in" else wanted + (test == "gt")
        return lambda view, record: bool(most(view, record) >= least)
    texts = wanted if test == "in" else (wanted,)
    if not field.written or test in {"iexact", "icontains", "matches"} or not all(map(str.isascii, texts)):
        return None
    sought, whole = [text.encode() for text in texts], field.written == "whole"

    def occurs(view: View, record: Any) -> bool:
        text = view.text(record, whole=whole)
        return b"\0" in text or any(each in text for each in sought)  # zeros: UTF-16, in which nothing is found so

    return occurs


def _test(field: Field, matches: Callable[[Any], bool], precheck: Predicate | None) -> Predicate:
    linked = field.linked or (lambda _, record: ())
    values = field.names or _values(field)

    def holds(view: View, record: Any) -> bool:
        if any(matches(value) for value in linked(view, record)):
            return True
        if precheck is not None and not precheck(view, record):
            return False
        return any(matches(value) for value in values(view, record))

    return holds


def _values(field: Field) -> Getter:
    get = field.get
    if field.type == "list":
        return get

    def values(view: View, record: Any) -> tuple[Any, ...]:
        value = get(view, record)
        return () if value is None else (value,)

    return values


def order_key(field: Field, view: View, record: Any) -> tuple[bool, Any]:
    """By what a record is sorted: those without a value last."""
    value = field.get(view, record)
    return value is None, "" if value is None else value
