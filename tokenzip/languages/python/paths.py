"""Dotted paths (``self.x``, ``a['k']``) as keys of the flow, beside plain names."""

from __future__ import annotations

from tokenzip.languages.python.state import Env, State
from tokenzip.languages.syntax import Node


def path_of(state: State, node: Node | None) -> str:
    """``a.b`` or ``a['k']`` as a key of the flow; empty if the expression is not such a path."""
    steps: list[str] = []
    while node is not None and len(steps) < 8:
        if node.type == "identifier":
            steps.append(state.text(node))
            return "".join(reversed(steps))
        if node.type == "attribute":
            steps.append("." + state.text(node.children[-1]))
        elif node.type == "subscript" and node.named_child_count == 2:
            key = constant(state, node.named_children[1])
            if key is None:
                return ""
            steps.append(f"[{key!r}]")
        else:
            return ""
        node = node.child(0)
    return ""


def constant(state: State, node: Node) -> int | str | None:
    """The value of a string or small integer literal (a string behind a quote, so that ``1`` and ``"1"`` differ)."""
    if node.type == "integer":
        digits = state.text(node)
        return int(digits) if digits.isdecimal() and len(digits) < 6 else None
    if node.type == "string" and node.named_child_count == 3 and node.end_byte - node.start_byte < 80:
        return "'" + state.text(node).strip("\"'")
    return None


def forget(env: Env, path: str) -> None:
    """Drop what was known of paths below a name or path that is bound anew."""
    for known in [key for key in env if key.startswith(path) and key[len(path) : len(path) + 1] in (".", "[")]:
        del env[known]
