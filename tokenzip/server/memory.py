"""How much memory this process holds, and giving back what it no longer needs."""

from __future__ import annotations

import contextlib
import gc
import os
import sys


def resident_bytes() -> int | None:
    """Bytes of this process that are in memory now; None where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def give_back() -> None:
    """Collect what only cycles hold, and return free pages to the system: glibc keeps them for the next peak otherwise."""
    gc.collect()
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library
            import ctypes

            ctypes.CDLL(None).malloc_trim(0)
