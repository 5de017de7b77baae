"""How much memory this process holds, and giving back what it no longer needs."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from typing import Any

M_ARENA_MAX = -8
"""From glibc's malloc.h."""
MADV_DONTNEED = 4
"""From Linux's mman.h."""


def share_one_arena() -> None:
    """Have all threads allocate from one arena: glibc gives each its own, and each keeps the pages of its last peak."""
    library = _c_library()
    if library is not None:
        library.mallopt(M_ARENA_MAX, 1)


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
    library = _c_library()
    if library is not None:
        library.malloc_trim(0)


def let_go_of_maps(suffix: str) -> None:
    """Unload the pages of mapped files whose names end so: what is asked for again comes from the system's cache of files.

    They are not ours to hold, but count as such, and a large store that was read once would stay for good.
    """
    library = _c_library()
    if library is None:
        return
    import ctypes

    with contextlib.suppress(OSError, ValueError), open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            if line.rstrip().endswith(suffix):
                begin, _, end = line.partition(" ")[0].partition("-")
                start = int(begin, 16)
                library.madvise(ctypes.c_void_p(start), ctypes.c_size_t(int(end, 16) - start), MADV_DONTNEED)


def _c_library() -> Any:
    """glibc, None elsewhere."""
    if sys.platform != "linux":
        return None
    with contextlib.suppress(ImportError, OSError):
        import ctypes

        library = ctypes.CDLL(None)
        if hasattr(library, "malloc_trim"):
            return library
    return None
