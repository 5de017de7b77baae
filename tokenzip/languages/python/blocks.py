"""The way into every block of statements, and where branches of the flow meet again.

Compound statements hold blocks, so what they all call lies below them; `statements` is the table of them.
"""

from __future__ import annotations

from collections.abc import Callable

from tokenzip.languages.python.bindings import attribute_doc
from tokenzip.languages.python.expressions import reduce
from tokenzip.languages.python.state import KINDS, MAX_DEPTH, Env, State
from tokenzip.languages.syntax import Node

STATEMENTS: dict[str, Callable[[State, Node], bool]] = {}
"""Kind of node -> what walks it and says whether control never passes it. `statements` fills it."""
_NO_STATEMENTS = frozenset({";", "comment"})


def block(state: State, node: Node | None) -> bool:
    """Walk the statements of a block (or module). True if control never reaches its end."""
    if node is None:
        return False
    state.block_depth += 1
    if state.block_depth > MAX_DEPTH:
        state.leave_out(node)
        state.block_depth -= 1
        return False
    ends = False
    starts = state.starts
    previous: Node | None = None
    for child in node.children:
        kind = KINDS[child.kind_id]
        if kind in _NO_STATEMENTS:
            continue
        if kind != "string":
            starts.append(child.start_byte)
        handler = STATEMENTS.get(kind)
        depths = state.depth, state.block_depth
        try:
            if handler is not None:
                ends = handler(state, child) or ends
            elif kind == "string" and previous is not None and previous.type == "assignment":
                attribute_doc(state, previous, child)
            else:
                reduce(state, child)
        except (AttributeError, IndexError, ValueError) as fault:
            # In a tree with syntax errors nodes lack what the grammar promises; elsewhere it is a fault of ours, and reported.
            if not state.tolerant:
                state.report(child, f"statement not understood ({type(fault).__name__}): left out")
            state.depth, state.block_depth = depths
        previous = child
    state.ends.append(node.end_byte)
    state.block_depth -= 1
    return ends


def merge(state: State, envs: list[Env]) -> None:
    """Go on with what any of the branches may have left."""
    first = envs[0]
    if len(envs) == 1 or all(env is first for env in envs):
        state.scope.env = first
        return
    merged: Env = {}
    narrowed = state.narrowed
    for name in dict.fromkeys([name for env in envs for name in env]):
        values = [env.get(name) for env in envs]
        value = values[0]
        if value is None or values.count(value) < len(values):
            values = [_widened(narrowed, name, value) for value in values] if narrowed else values
            known = list(dict.fromkeys([value for value in values if value is not None]))
            if not known or (None in values and ("." in name or "[" in name)):
                continue
            value = known[0] if len(known) == 1 else state.union(known)
        merged[name] = value
    state.scope.env = merged


def _widened(narrowed: dict[tuple[str, int], int | None], name: str, value: int | None) -> int | None:
    """The value as it was before conditions narrowed it."""
    for _ in range(MAX_DEPTH):
        if value is None or (name, value) not in narrowed:
            break
        value = narrowed[name, value]
    return value
