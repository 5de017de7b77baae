"""`extract(source) -> FileIR` for Python: what one file says, whatever lies around it."""

from __future__ import annotations

from tokenzip.languages import content, syntax
from tokenzip.languages.base import uncollected
from tokenzip.languages.python import statements
from tokenzip.languages.python.packing import Packing
from tokenzip.languages.python.state import State
from tokenzip.model import FileIR


def extract(source: bytes) -> FileIR:
    """What the bytes say as Python. Never raises; see `FileIR.status`."""
    lines = syntax.line_count(source)
    reason = content.refusal(source)
    if reason is not None:
        return FileIR("skipped", lines, reason=reason)
    utf8, codec = content.as_utf8(source, coding_line=True)
    try:
        with uncollected():
            ir = _extract(utf8, lines, codec)
    except Exception as fault:  # a fault of ours in one file must not end a run; it is reported as such
        return FileIR("failed", lines, reason=f"extraction failed: {type(fault).__name__}: {fault}")
    return ir


def _extract(source: bytes, lines: int, codec: str | None) -> FileIR:
    root = syntax.parse("python", source).root_node
    state = State(source)
    state.tolerant = root.has_error
    statements.run(state, root)
    problems = tuple(sorted([*syntax.problems(root, source), *state.problems]))
    return Packing(state).file_ir(lines, codec, problems)
