"""Two snapshots compared as graphs: what changed, what that breaks, who still uses what is gone.

`side` is one end, read when asked for; `pairing` says what belongs together, `aspects` what differs about it, `rules` what
that does to others (`docs/diff.md`), `changes` puts it into one list, and `broken` looks for those left behind.
"""

from tokenzip.diff.broken import broken_references
from tokenzip.diff.changes import Comparison, compare, diff

__all__ = ["Comparison", "broken_references", "compare", "diff"]
