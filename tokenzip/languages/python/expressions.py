"""All forms of expressions in one table, in which `reduce` looks them up; the longer ones have modules of their own.

- `chains`: what leans to the left, attribute access and operators, with calls in `invocations`;
- `displays`: strings, lists, dicts and comprehensions;
- `annotations`, `narrowing`, `targets`, `paths`: what else a statement consists of.
"""

from __future__ import annotations

from tokenzip.languages.python.chains import CHAINED, chain
from tokenzip.languages.python.displays import comprehension, dictionary, sequence, string
from tokenzip.languages.python.invocations import lambda_
from tokenzip.languages.python.ir import UNKNOWN
from tokenzip.languages.python.narrowing import narrow
from tokenzip.languages.python.reduce import FORMS, reduce, reduce_children
from tokenzip.languages.python.state import State
from tokenzip.languages.python.targets import bind
from tokenzip.languages.syntax import EXTRAS, Node, parts


def _parenthesized(state: State, node: Node) -> int:
    result = UNKNOWN
    for child in node.named_children:
        if child.type not in EXTRAS:
            result = reduce(state, child)
    return result


def _conditional(state: State, node: Node) -> int:
    operands = parts(node)
    if len(operands) != 3:
        return reduce_children(state, node)
    when, condition, otherwise = operands
    reduce(state, condition)
    scope = state.scope
    before = scope.env
    scope.env = dict(before)
    narrow(state, condition)
    when_true = reduce(state, when)
    scope.env = dict(before)
    narrow(state, condition, negated=True)
    when_false = reduce(state, otherwise)
    scope.env = before
    return state.union((when_true, when_false))


def _comparison(state: State, node: Node) -> int:
    for child in node.named_children:
        reduce(state, child)
    return state.literal("bool")


def _not(state: State, node: Node) -> int:
    reduce_children(state, node)
    return state.literal("bool")


def _await(state: State, node: Node) -> int:
    return state.over("await", reduce(state, parts(node)[0]))


def _yield(state: State, node: Node) -> int:
    values = [reduce(state, child) for child in node.named_children]
    value = values[0] if values else state.literal("None")
    if any(child.type == "from" for child in node.children):
        value = state.over("iter", value)
    state.scope.yields.append(value)
    return UNKNOWN


def _named(state: State, node: Node) -> int:
    value = reduce(state, node.children[-1])
    bind(state, node.children[0], value)
    return value


FORMS |= {
    **dict.fromkeys(CHAINED, chain),
    "parenthesized_expression": _parenthesized,
    "string": string,
    "concatenated_string": string,
    "list": sequence,
    "tuple": sequence,
    "set": sequence,
    "expression_list": sequence,
    "pattern_list": sequence,
    "dictionary": dictionary,
    "list_comprehension": comprehension,
    "set_comprehension": comprehension,
    "generator_expression": comprehension,
    "dictionary_comprehension": comprehension,
    "lambda": lambda_,
    "conditional_expression": _conditional,
    "comparison_operator": _comparison,
    "not_operator": _not,
    "await": _await,
    "yield": _yield,
    "named_expression": _named,
    "comment": lambda state, node: UNKNOWN,
}

__all__ = ["reduce"]
