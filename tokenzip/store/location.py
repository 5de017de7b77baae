"""Where the store of a repository lies: one folder for each *family*, shared by linked worktrees and clones."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path


def family_folder(roots: Sequence[str], origin: str | None, common_directory: str) -> str:
    """The folder name of a repository family: same root commits, else same origin, else the git common directory."""
    if roots:
        basis = "roots\0" + "\0".join(sorted(roots))
    elif origin:
        basis = "origin\0" + normalised_url(origin)
    else:
        basis = "directory\0" + os.path.realpath(common_directory)
    name = Path(origin or common_directory.rstrip("/").removesuffix("/.git")).name.removesuffix(".git")
    readable = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:40] or "repository"
    return f"{readable}-{hashlib.blake2b(basis.encode('utf-8', 'surrogateescape'), digest_size=8).hexdigest()}"


def normalised_url(url: str) -> str:
    """A remote's address without scheme, user, ``.git`` and case of the host: ``git@h:o/n.git`` is ``https://h/o/n``."""
    url = url.strip()
    match = re.fullmatch(r"(?:[a-z+]+://)?(?:[^@/]+@)?([^/:]+)(?::(?:\d+/)?|/)(.+)", url, re.IGNORECASE)
    if match is None:
        return url.rstrip("/").removesuffix(".git")
    host, path = match.groups()
    return f"{host.lower()}/{path.strip('/').removesuffix('.git')}"
