"""What extraction and evaluation of Python agree on: the closed expressions, and the entries of interface and body.

**Expressions.** Flow of locals, closures and scopes are settled in extraction; what is left of an expression has leaves that
only the project can answer. Two forms of the same thing:

- in the *body* an expression is a row in one table (equal ones once) and refers to others by row number; -1 is unknown;
- in the *interface* it is a nested tuple (no row numbers: an edit elsewhere must not change it), cut to None where it would
  grow beyond `MAX_CLOSED` parts.

===================================  ==================================================================================
``("global", name)``                 a module-level name or a builtin
``("def", qualified)``               a function or class of this file
``("raw", qualified)``               that function before its decorators
``("import", module, level, name)``  an import; name None: the module itself
``("self", cls)``                    an instance of the class of this file whose method this is
``("class", cls)``                   that class itself (``cls`` in class methods)
``("super", cls, on_class)``         ``super()`` in a method of the class
``("literal", type)``                a literal of that builtin type
``("param", function, name)``        a parameter without annotation
``("instance", annotation)``         what has the annotation
``("declared", annotation, value)``  annotated and assigned: the annotation unless it says nothing
``("attr", base, name)``             ``base.name``
``("call", callee, arguments)``      a call; the first `MAX_ARGUMENTS` positional arguments; with two more parts, names and
                                     values of keyword arguments that are classes, functions or made by calls
``("index", base, key, arguments)``  ``base[...]``; key is the constant, if it is one
``("tuple", items)``                 a display whose items are told apart
``("container", type, items)``       a builtin container with its element types (``dict``: key, value)
``("record", keys, values)``         a ``dict`` display with constant keys
``("union", alternatives)``          any of them
``("await", e)``                     the awaited
``("enter", e)``                     what ``with e as`` binds
``("iter", e)``, ``("aiter", e)``    an element
``("item", e, i)``                   the i-th part when unpacked
``("type", e)``                      ``type(e)``
``("function", result)``             a lambda
``("argument", callee, slot, i)``    the i-th parameter of a lambda that is passed in that slot (position or keyword)
``("guard", callee, value)``         a value for which a call of `callee` (a ``TypeGuard``, perhaps) was true
``("typevar", name, bound)``         a type variable
``("alias", annotation)``            a type alias made by ``type X = ...`` or ``X: TypeAlias = ...``
===================================  ==================================================================================

**Interface.** `names[name]` is a tuple of entries: ``("def", qualified)``, ``("import", module, level, name)``,
``("value", expression)`` (``bound`` if there is no symbol: a loop variable, say), for ``__all__`` ``("all", names,
is_complete)``, for ``pytest_plugins`` ``("plugins", modules)``. `members[cls][name]` likewise, with ``("set", expression)`` for
attributes set on self. A third part of an entry is the qualified name of its symbol where that is not the usual one.
`definitions[qualified]` is a `Function` or a `Class`. `stars` are
``(module, level)``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tokenzip.model import Flag

UNKNOWN = -1
Expression = tuple[Any, ...]

MAX_UNION = 8
"""Alternatives of one expression; more say nothing."""
MAX_ENTRIES = 6
"""Entries of one name."""
MAX_ARGUMENTS = 3
MAX_ITEMS = 8
"""Items of a tuple or dict display that are told apart."""
MAX_CLOSED = 40
"""Parts of one expression in the interface."""
MAX_HEIGHT = 50
"""Height of an expression: limits how deep evaluation of one expression can go."""


class Function(NamedTuple):
    """A function in `Interface.definitions`."""

    tag: str
    """``function``"""
    flags: int
    """`model.Flag` bits, and `IS_CONTEXT` and `RETURNS_ANNOTATED`."""
    parameters: tuple[tuple[str, Any, str], ...]
    """Name, annotation (an expression or None), and ``*``, ``**`` or nothing."""
    returns: Any
    """The return annotation, or else what is returned (yielded, in a generator)."""
    decorators: tuple[Any, ...]
    owner: str
    """Qualified name of the class whose method it is."""
    passed: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    """Of a constructor: what the calls in its own file pass for parameters without annotation."""


class Class(NamedTuple):
    """A class in `Interface.definitions`."""

    tag: str
    """``class``"""
    flags: int
    bases: tuple[Any, ...]
    decorators: tuple[Any, ...]
    type_parameters: tuple[str, ...]
    metaclass: Any


# `model.Flag` as plain numbers: arithmetic on enum members costs ten times as much.
ASYNC = Flag.ASYNC.value
STATIC = Flag.STATIC.value
CLASSMETHOD = Flag.CLASSMETHOD.value
PROPERTY = Flag.PROPERTY.value
ABSTRACT = Flag.ABSTRACT.value
GENERATOR = Flag.GENERATOR.value
OVERLOAD = Flag.OVERLOAD.value
EXPORTED = Flag.EXPORTED.value
PRIVATE = Flag.PRIVATE.value
LOCAL = Flag.LOCAL.value
FIXTURE = Flag.FIXTURE.value
TEST = Flag.TEST.value
# Beyond the bits of `model.Flag`: what linking must know of a function and nobody else asks for.
IS_CONTEXT = 1 << 24
"""Decorated as a context manager."""
RETURNS_ANNOTATED = 1 << 25
IS_SETTER = 1 << 26
"""Property setter or deleter: not what reading the attribute calls."""


class Body(NamedTuple):
    """`FileIR.body` of a Python file: all that only linking this very file needs."""

    expressions: tuple[Expression, ...]
    references: tuple[tuple[int, str, int, int, str], ...]
    """Source symbol, kind (see `statements`), expression, line, last name as written."""
    imports: tuple[tuple[Any, ...], ...]
    """Source symbol, module, level, name (None: the module itself, ``*``), line, detail."""
    definitions: tuple[tuple[str, Any], ...]
    """Local definitions which no other file can reach: pairs of qualified name and `Function` or `Class`."""
    members: tuple[Any, ...]
    """Likewise: triples of qualified name of the class, member name, entries."""
    passed: tuple[Any, ...]
    """(function, parameter, expressions): what calls in this file pass for an unannotated parameter."""
    bases: tuple[tuple[int, tuple[int, ...]], ...]
    """Class symbol and its bases."""
