"""The text form of a query: read by `parse`. What is read is looked at as a syntax tree, never run.

::

    repo.at("v1.2").files().filter(ext=".tsx").symbols().filter(kind="class", is_exported=True).limit(10)

A text is a chain of calls that begins at ``repo`` (which may be left out). Names must be steps of the scope that they stand
in; arguments are texts, whole numbers, True, False, None, and lists of these. Nothing else is accepted.
"""

from __future__ import annotations

import ast
import inspect
import warnings
from typing import Any, NamedTuple

from tokenzip.errors import UsageError
from tokenzip.query.chain import Chain, Query, no_step
from tokenzip.query.scopes import RepositoryQuery

LONGEST = 10_000
"""Characters of a text that is still read."""
TERMINALS = ("count", "exists", "first", "to_graph", "to_json", "to_list")
"""What may stand at the end of a text, to say what of the records is wanted."""
_ELSEWHERE = {"to_markdown": "--format markdown", "to_mermaid": "--format mermaid"}
_EXAMPLE = 'A query reads like repo.symbols().filter(kind="class", name__contains="User").limit(10)'


class Expression(NamedTuple):
    """A text as it was understood."""

    query: Query[Any]
    terminal: str
    """One of `TERMINALS`, ``to_list`` if the text names none."""


def parse(text: str) -> Expression:
    """The query that a text stands for, of no repository yet. Raises UsageError that says what is wrong and where."""
    calls = _calls(text)
    terminal = "to_list"
    if calls and (name := _name(calls[-1])) in {*TERMINALS, *_ELSEWHERE}:
        if name in _ELSEWHERE:
            raise UsageError(f"a text cannot end in {name}()", hint=f"Leave it away; on the command line, {_ELSEWHERE[name]}.")
        call = calls.pop()
        if call.args or call.keywords:
            raise UsageError(f"{name}() takes no arguments")
        terminal = name
    chain: Chain = RepositoryQuery()
    for call in calls:
        chain = _with_step(chain, call)
    if not isinstance(chain, Query):
        raise UsageError("the query names nothing to list", hint=_EXAMPLE)
    return Expression(chain, terminal)


def _calls(text: str) -> list[ast.Call]:
    """The calls of the chain, first one first."""
    if len(text) > LONGEST:
        raise UsageError(f"the query is longer than {LONGEST} characters", hint="Make it shorter.")
    if not text.strip():
        raise UsageError("the query is empty", hint=_EXAMPLE)
    if "<predicate " in text:
        raise UsageError("a query with a Python predicate has no text form", hint="Say it by look-ups: filter(line__gte=10).")
    node: ast.expr = _tree(text.strip())
    calls: list[ast.Call] = []
    while isinstance(node, ast.Call):
        calls.append(node)
        if isinstance(node.func, ast.Name):  # the first call, without `repo`
            return calls[::-1]
        if not isinstance(node.func, ast.Attribute):
            break
        node = node.func.value
    if not isinstance(node, ast.Name) or node.id != "repo":
        raise _unreadable(node, f"{_shown(node)} is no step")
    return calls[::-1]


def _tree(text: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about "\w" in texts
            return ast.parse(f"({text}\n)" if "\n" in text else text, mode="eval").body
    except SyntaxError as error:
        place = f" at line {error.lineno}, column {error.offset}" if error.lineno and error.offset else ""
        raise UsageError(f"the query cannot be read{place}: {error.msg}", hint=_EXAMPLE) from None
    except (ValueError, RecursionError, MemoryError):
        raise UsageError("the query cannot be read", hint=_EXAMPLE) from None


def _unreadable(node: ast.AST, why: str) -> UsageError:
    place = f" at line {node.lineno}, column {node.col_offset + 1}" if isinstance(node, ast.expr) else ""
    return UsageError(f"the query cannot be read{place}: {why}", hint=_EXAMPLE)


def _shown(node: ast.expr) -> str:
    try:
        text = ast.unparse(node)
    except (RecursionError, ValueError):
        return "this"
    return text if len(text) <= 40 else text[:39] + "…"


def _name(call: ast.Call) -> str:
    assert isinstance(call.func, ast.Name | ast.Attribute)
    return call.func.id if isinstance(call.func, ast.Name) else call.func.attr


def _with_step(chain: Chain, call: ast.Call) -> Chain:
    name = _name(call)
    if name not in chain.STEPS:
        raise no_step(chain, name)
    step = getattr(chain, name)
    positional = [_value(node) for node in call.args]
    named: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise _unreadable(keyword.value, "arguments must be written out")
        named[keyword.arg] = _value(keyword.value)
    try:
        inspect.signature(step).bind(*positional, **named)
    except TypeError as error:
        takes = ", ".join(inspect.signature(step).parameters)
        raise UsageError(f"{name}(): {error}", hint=f"It takes {takes or 'no arguments'}.") from None
    made = step(*positional, **named)
    assert isinstance(made, Chain)
    return made


def _value(node: ast.expr) -> Any:
    """The value of a literal. Raises UsageError for everything else."""
    match node:
        case ast.Constant(value=bool() | int() | str() | None):
            return node.value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)) if not isinstance(number, bool):
            return -number
        case ast.List(elts=nodes) | ast.Tuple(elts=nodes) | ast.Set(elts=nodes):
            return tuple(_constant(each) for each in nodes)
        case _:
            raise _unreadable(node, f"{_shown(node)} is no text, number, True, False, None or list of them")


def _constant(node: ast.expr) -> Any:
    value = _value(node)
    if isinstance(value, tuple):
        raise _unreadable(node, "a list in a list")
    return value
