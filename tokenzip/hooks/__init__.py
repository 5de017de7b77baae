"""Git hooks: install, uninstall, status, and what each of them does.

Hooks only make answers faster: without them every question catches up by itself and gets the same answer. So a hook is
silent where it was never asked for, returns at once where work can wait, and never changes what git does unless the
settings say ``block``. `docs/hooks.md` tells it to users; `block` holds the text that is put into hook files,
`installing` puts it there, `running` is what it calls.
"""

from tokenzip.hooks.block import BLOCKED, NAMES
from tokenzip.hooks.installing import install, status, uninstall
from tokenzip.hooks.running import forget_turns, main, run

__all__ = ["BLOCKED", "NAMES", "forget_turns", "install", "main", "run", "status", "uninstall"]
