"""Files -> what one needs to know to edit them: the files that go with them, and the symbols one step away.

Both are ranked. Of files (`related_files`) history says the most: what was changed together with the given ones will be so
again. Symbols (`needed`) come in five roles, in the order of need: what the files use, who uses them, their tests, their types,
their documentation. ``docs/context.md`` has the measurements.
"""

from __future__ import annotations

from tokenzip.context.needs import ROLES, Need, needed, open_count
from tokenzip.context.related import Related, RelatedFile, related_files

__all__ = ["ROLES", "Need", "Related", "RelatedFile", "needed", "open_count", "related_files"]
