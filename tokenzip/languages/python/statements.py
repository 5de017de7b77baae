"""Statements: the flow of what names stand for, and the symbols, imports and references on the way.

Kinds of references in the body: ``call``; ``use`` (a read of a variable or attribute, or a function or class passed on);
``type`` (mentioned in an annotation); ``modify``; ``decorate`` (source: what is decorated); ``inherit``; ``iter``, ``aiter``,
``enter`` (the methods that a ``for`` or ``with`` calls).

Function bodies wait until what encloses them has been walked: closures see the final bindings of their surroundings.
"""

from __future__ import annotations

from tokenzip.languages.python.bindings import assignment, augmented, extend_exported, import_from, import_names, type_alias
from tokenzip.languages.python.blocks import STATEMENTS, block
from tokenzip.languages.python.branches import break_, for_, if_, try_, while_, with_
from tokenzip.languages.python.classes import class_, decorated
from tokenzip.languages.python.definitions import function
from tokenzip.languages.python.expressions import reduce
from tokenzip.languages.python.ir import GENERATOR, UNKNOWN
from tokenzip.languages.python.matching import match
from tokenzip.languages.python.narrowing import narrow
from tokenzip.languages.python.paths import forget, path_of
from tokenzip.languages.python.state import Definition, Scope, State
from tokenzip.languages.syntax import EXTRAS, Node

_NEVER_RETURN = frozenset({"sys.exit", "pytest.skip", "pytest.fail", "os._exit"})


def run(state: State, root: Node) -> None:
    """Walk a module, then the function bodies that were put off, outer ones first."""
    block(state, root)
    done = 0
    while done < len(state.deferred):
        body, scope, symbol, annotated = state.deferred[done]
        done += 1
        state.scope, state.owner = scope, symbol
        state.conditional = 0
        block(state, body)
        state.bound[symbol] = frozenset(scope.ever) - scope.globals
        _settle_returns(state, state.symbols[symbol], scope, annotated)
    state.scope, state.owner = state.module, UNKNOWN


def _settle_returns(state: State, symbol: Definition, scope: Scope, annotated: bool) -> None:
    if scope.yields:
        symbol.flags |= GENERATOR
    if annotated:
        return
    if scope.yields:
        symbol.returns = state.make("container", "Generator", (state.union(scope.yields),))
        return
    none = state.literal("None")
    symbol.returns = state.union([value for value in scope.returns if value != none])


def _expression(state: State, node: Node) -> bool:
    for child in node.named_children:
        reduce(state, child)
    return False


def _call_statement(state: State, node: Node) -> bool:
    reduce(state, node)
    if state.scope.outer is None:
        extend_exported(state, node)
    function = node.child(0)
    return function is not None and function.end_byte - function.start_byte < 12 and state.text(function) in _NEVER_RETURN


def _return(state: State, node: Node) -> bool:
    values = [reduce(state, child) for child in node.named_children if child.type not in EXTRAS]
    state.scope.returns.append(values[0] if values else state.literal("None"))
    return True


def _raise(state: State, node: Node) -> bool:
    for child in node.named_children:
        reduce(state, child)
    return True


def _assert(state: State, node: Node) -> bool:
    for child in node.named_children:
        reduce(state, child)
    if node.named_children:
        narrow(state, node.named_children[0])
    return False


def _global(state: State, node: Node) -> bool:
    state.scope.globals |= {state.text(child) for child in node.named_children}
    return False


def _nonlocal(state: State, node: Node) -> bool:
    state.scope.nonlocals |= {state.text(child) for child in node.named_children}
    return False


def _delete(state: State, node: Node) -> bool:
    for child in node.named_children:
        for target in child.named_children if child.type in ("expression_list", "tuple") else [child]:
            path = path_of(state, target)
            reduce(state, target)
            if path and path in state.scope.env and "." in path:
                del state.scope.env[path]
                forget(state.scope.env, path)
    return False


STATEMENTS |= {
    "expression_statement": _expression,
    "assignment": assignment,
    "augmented_assignment": augmented,
    "call": _call_statement,
    "return_statement": _return,
    "raise_statement": _raise,
    "if_statement": if_,
    "for_statement": for_,
    "while_statement": while_,
    "with_statement": with_,
    "try_statement": try_,
    "match_statement": match,
    "assert_statement": _assert,
    "global_statement": _global,
    "nonlocal_statement": _nonlocal,
    "delete_statement": _delete,
    "import_statement": import_names,
    "import_from_statement": import_from,
    "type_alias_statement": type_alias,
    "decorated_definition": decorated,
    "class_definition": class_,
    "function_definition": function,
    "break_statement": break_,
    "continue_statement": lambda state, node: True,
    "comment": lambda state, node: False,
    "pass_statement": lambda state, node: False,
    "future_import_statement": lambda state, node: False,
}
