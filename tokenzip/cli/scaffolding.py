"""`tokenzip workflow create-module --write`: the one place where a template's answer becomes files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenzip.cli.options import Options
from tokenzip.cli.terminal import say
from tokenzip.errors import UsageError

if TYPE_CHECKING:
    from tokenzip.repository import Repository
    from tokenzip.workflows.creating import Proposed

_IN_THE_WAY = frozenset({"exists", "differs in case only", "name taken"})


def write_files(repository: Repository, arguments: Mapping[str, Any], options: Options) -> int:
    """Write the files that create-module proposes for these inputs; all of them or none. Raises UsageError."""
    from tokenzip.workflows.creating import CREATE_MODULE, CreateModule

    if arguments["name"] != CREATE_MODULE.name:
        raise UsageError(f"{arguments['name']} proposes no files", hint="--write goes with create-module.")
    if repository.root is None or options.at not in (None, "WORKTREE"):
        raise UsageError("files are written to the work tree only", hint="Leave out --at.")
    snapshot = repository.snapshot("WORKTREE")
    with snapshot.reading():
        work = CreateModule(snapshot, CREATE_MODULE.checked(arguments["inputs"]), repository.progress)
        for step in CREATE_MODULE.steps:
            step.run(work)
    blocked = [each for each in work.conflicts if each["what"] in _IN_THE_WAY]
    if blocked:
        places = [str(each.get("path") or each.get("name")) for each in blocked]
        raise UsageError("nothing was written: something is in the way", hint="Take another name.", candidates=places)
    written = _write_all(Path(repository.root), work.files)
    say(f"tokenzip: wrote {len(written)} file{'s' * (len(written) != 1)}")
    return 0


def _write_all(root: Path, files: Sequence[Proposed]) -> list[Path]:
    """Write new files below the root; if one cannot be written, those before it are removed again. Raises UsageError."""
    written: list[Path] = []
    try:
        for file in files:
            path = root / file.path
            _check_inside(root, path)
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "x", encoding="utf-8", newline="\n") as out:
                written.append(path)
                out.write(file.content)
    except OSError as error:
        for path in written:
            _take_back(root, path)
        raise UsageError(
            f"nothing was written: {error.filename}: {error.strerror}", hint="Make room there, or take another name."
        ) from error
    return written


def _take_back(root: Path, path: Path) -> None:
    """Remove a file that was written, and the folders above it that held nothing else."""
    with suppress(OSError):
        path.unlink()
        for folder in path.parents:
            if folder == root:
                return
            folder.rmdir()


def _check_inside(root: Path, path: Path) -> None:
    """No link on the way may lead out of the work tree."""
    real = os.path.realpath(path.parent)
    top = os.path.realpath(root)
    if os.path.commonpath([real, top]) != top:
        raise UsageError(f"{path.parent} leads out of the repository", hint="Nothing was written there.")
