"""The graph of one state of the repository: an overlay of cached blobs, named by its git tree.

`graph` answers questions (`handles`, `edges` and `references` work out some of them, `file` is one file of it, `overlay` what
differs from the stored tree), `view` shows the state to the linker, `build` brings a commit into the store by linking what
changed against the nearest known one, `bulk` brings in a whole tree over several processes, and `outline` reads a tree of
which little is asked.
"""

from tokenzip.snapshot.build import NewFile, empty_snapshot, ensure_commit, in_turn, is_known, known_trees, overlay_changes
from tokenzip.snapshot.collect import Collected, Leftover, collect
from tokenzip.snapshot.file import File, Measured
from tokenzip.snapshot.graph import Snapshot, changed_paths
from tokenzip.snapshot.outline import Outline
from tokenzip.snapshot.references import OpenUse

__all__ = [
    "Collected",
    "File",
    "Leftover",
    "Measured",
    "NewFile",
    "OpenUse",
    "Outline",
    "Snapshot",
    "changed_paths",
    "collect",
    "empty_snapshot",
    "ensure_commit",
    "in_turn",
    "is_known",
    "known_trees",
    "overlay_changes",
]
