"""Putting the block into the hooks that git really runs here, taking it out again, and telling which of them are live."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenzip.hooks import block
from tokenzip.hooks.block import FRESH, KEPT_FOLDER, NAMES, Recipe
from tokenzip.hooks.running import log_file, marker

if TYPE_CHECKING:
    from tokenzip.repository import Repository

State = dict[str, Any]
"""``state`` (absent, installed, bypassed, refused), ``why``, ``hint``, ``hooks`` (name -> what), ``folder``, ``scope`` ..."""


def install(repository: Repository, *, outside: bool = False, named: str | None = None) -> State:
    """Put the block into git's effective hooks folder. Existing hooks stay, byte for byte, and are run after it.

    A folder outside the repository (a global ``core.hooksPath``) is written to only if `outside`. `named` is the folder that
    the user meant: it must be the repository's top, so that hooks never land in a repository around it.
    """
    place = _Place(repository)
    refusal = _refusal(place, outside=outside, named=named)
    if refusal is not None:
        return refusal
    recipe = Recipe.here(str(log_file(repository.config.home)))
    done: dict[str, str] = {}
    try:
        Path(recipe.log).parent.mkdir(parents=True, exist_ok=True)
        os.makedirs(place.effective, exist_ok=True)
        for name in NAMES:
            done[name] = _put_in(os.path.join(place.effective, name), name, recipe)
        marker(repository).write_bytes(b"tokenzip's hooks were installed for this repository\n")
    except OSError as error:
        return _refused(place, f"{error.strerror or error}: {error.filename or place.effective}", "make the folder writable")
    return {**status(repository), "hooks": done}


def uninstall(repository: Repository, *, outside: bool = False) -> State:
    """Take the block out of this repository's hooks; files that we made go, hooks that stood aside come back."""
    place = _Place(repository)
    folders = [folder for folder in place.folders() if outside or place.is_inside(folder)]
    done: dict[str, str] = {}
    try:
        for folder in folders:
            for name in NAMES:
                what = _take_out(os.path.join(folder, name), name)
                if what:
                    done[name] = what
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(folder, KEPT_FOLDER))
        marker(repository).unlink(missing_ok=True)
    except OSError as error:
        return _refused(place, f"{error.strerror or error}: {error.filename}", "make the folder writable")
    state = {**status(repository), "hooks": done}
    return {**state, "hint": ""} if state["state"] == "absent" else state  # nobody who takes them out wants to know how in


def status(repository: Repository) -> State:
    """Which of the three it is: absent, installed and live, or installed but bypassed (and by what)."""
    place = _Place(repository)
    hooks = {name: _hook_state(place, name) for name in NAMES}
    words = set(hooks.values())
    state: State = {
        "state": "absent", "why": "", "hint": "", "hooks": hooks, "folder": place.effective, "scope": place.scope,
        "origin": place.origin, "python": place.python(), "log": str(log_file(repository.config.home)),
        "pre_commit": repository.config.pre_commit,
    }  # fmt: skip
    if words == {"absent"}:
        if place.effective != place.own:
            state["why"] = place.where_from()
        state["hint"] = _how_to_install(place)
        return state
    why, hint = _bypassed_by(repository, place, hooks)
    state["state"] = "bypassed" if why else "installed"
    if not why and "absent" in words:
        why = "without " + ", ".join(name for name in NAMES if hooks[name] == "absent")
        hint = "tokenzip hooks install"
    state["why"], state["hint"] = why or f"in {place.effective}", hint
    return state


class _Place:
    """Where git takes hooks from here, and who says so."""

    def __init__(self, repository: Repository) -> None:
        git = repository.git
        self.repository = repository
        self.effective = os.path.normpath(git.hooks_folder())
        self.own = os.path.join(git.common_dir, "hooks")
        setting = git.setting("core.hooksPath")
        self.scope = setting.scope if setting else None
        self.origin = setting.origin if setting else None
        self._homes = [os.path.realpath(home) for home in (git.common_dir, git.git_dir, git.root) if home is not None]

    def folders(self) -> tuple[str, ...]:
        """All folders of this repository that may hold our block."""
        return tuple(dict.fromkeys((self.effective, self.own)))

    def is_inside(self, folder: str) -> bool:
        """Whether a folder really belongs to the repository, links followed."""
        real = os.path.realpath(folder)
        return any(real == home or real.startswith(home + os.sep) for home in self._homes)

    def where_from(self) -> str:
        scope = f"core.hooksPath, {self.scope} configuration, {self.origin}" if self.scope else "a link"
        return f"git takes its hooks from {self.effective} ({scope})"

    def python(self) -> str | None:
        """The interpreter that the first block found records."""
        for folder in self.folders():
            for name in NAMES:
                python = block.python_of(_content(os.path.join(folder, name)))
                if python is not None:
                    return python
        return None


def _hook_state(place: _Place, name: str) -> str:
    path = os.path.join(place.effective, name)
    if block.origin_of(_content(path)) is not None:
        return "installed" if os.access(path, os.X_OK) else "bypassed"
    if place.own != place.effective and block.origin_of(_content(os.path.join(place.own, name))) is not None:
        return "bypassed"
    return "absent"


def _bypassed_by(repository: Repository, place: _Place, hooks: Mapping[str, str]) -> tuple[str, str]:
    """Why the installed hooks do nothing, and what to do; two empty words if they are live."""
    idle = [name for name in NAMES if hooks[name] == "bypassed"]
    elsewhere = [name for name in idle if block.origin_of(_content(os.path.join(place.effective, name))) is None]
    if elsewhere:
        return f"{place.where_from()}, not from {place.own}", _how_to_install(place)
    if idle:
        return "not executable: " + ", ".join(idle), f"chmod +x {os.path.join(place.effective, idle[0])}"
    if not marker(repository).exists():
        return "they were copied from another repository", "tokenzip hooks install"
    python = place.python()
    if not (python and os.access(python, os.X_OK)) and shutil.which("tokenzip") is None:
        return f"the Python that they use is gone: {python}", "tokenzip hooks install, from the new environment"
    return "", ""


def _how_to_install(place: _Place) -> str:
    if place.is_inside(place.effective):
        return "tokenzip hooks install"
    return "tokenzip hooks install --outside writes there, for all repositories that use it; answers are the same without hooks"


def _refusal(place: _Place, *, outside: bool, named: str | None) -> State | None:
    git = place.repository.git
    top = git.root or git.git_dir
    if named is not None and os.path.realpath(named) not in {os.path.realpath(top), os.path.realpath(git.git_dir)}:
        return _refused(place, f"the repository around {os.path.abspath(named)} is {top}", f"name it: --repo {top}")
    if not outside and not place.is_inside(place.effective):
        return _refused(place, f"{place.where_from()}, outside this repository", _how_to_install(place))
    return None


def _refused(place: _Place, why: str, hint: str) -> State:
    return {**status(place.repository), "state": "refused", "why": why, "hint": hint}


# ---- one hook file


def _put_in(path: str, name: str, recipe: Recipe) -> str:
    """What was done: ``made``, ``added``, ``set aside``, ``brought up to date``, ``unchanged``, ``left alone ...``."""
    if not os.path.lexists(path):
        _write(path, FRESH + recipe.block(name, "made"), 0o755)
        return "made"
    found = os.lstat(path)
    if stat.S_ISDIR(found.st_mode):
        return "left alone: it is a folder"
    data = b"" if stat.S_ISLNK(found.st_mode) else _content(path)
    if block.origin_of(data) is None and not _takes_a_block(found, data):
        return _set_aside(path, name, recipe)
    changed = block.with_block(data, name, recipe)
    if changed == data:
        return "unchanged"
    _write(path, changed, stat.S_IMODE(found.st_mode))
    return "added" if block.origin_of(data) is None else "brought up to date"


def _takes_a_block(found: os.stat_result, data: bytes) -> bool:
    """A link leads to a file that is not the hook's alone; a hook that cannot be run is switched off, and stays so."""
    return stat.S_ISREG(found.st_mode) and bool(found.st_mode & 0o111) and block.is_shell(data)


def _set_aside(path: str, name: str, recipe: Recipe) -> str:
    """Keep the hook as it is in a folder beside, and put one of ours in its place that runs it. There is no moment without."""
    folder = os.path.join(os.path.dirname(path), KEPT_FOLDER)
    kept = os.path.join(folder, name)
    if os.path.lexists(kept):
        return f"left alone: {kept} is in the way"
    os.makedirs(folder, exist_ok=True)
    if os.path.islink(path):
        os.symlink(_seen_from_below(os.readlink(path)), kept)
    else:
        try:
            os.link(path, kept)
        except OSError:
            shutil.copy2(path, kept)
    _write(path, FRESH + recipe.block(name, "kept"), 0o755)
    return "set aside"


def _take_out(path: str, name: str) -> str:
    """What was done, empty if the hook is not ours."""
    data = b"" if os.path.islink(path) else _content(path)
    origin = block.origin_of(data)
    if origin is None:
        return ""
    rest = block.without_block(data)
    kept = os.path.join(os.path.dirname(path), KEPT_FOLDER, name)
    if rest == FRESH and origin == "kept" and os.path.lexists(kept):
        _bring_back(kept, path)
        return "brought back"
    if rest == FRESH and origin in ("made", "kept"):
        os.unlink(path)
        return "removed"
    _write(path, rest, stat.S_IMODE(os.stat(path).st_mode))
    return "taken out"


def _bring_back(kept: str, path: str) -> None:
    if not os.path.islink(kept):
        os.replace(kept, path)
        return
    scratch = path + ".tokenzip"
    os.symlink(_seen_from_above(os.readlink(kept)), scratch)
    os.replace(scratch, path)
    os.unlink(kept)


def _seen_from_below(target: str) -> str:
    return target if os.path.isabs(target) else os.path.join(os.pardir, target)


def _seen_from_above(target: str) -> str:
    return target if os.path.isabs(target) else target.removeprefix(os.pardir + os.sep)


def _content(path: str) -> bytes:
    """Bytes of a regular file (or what a link leads to), none if there is no such file."""
    try:
        return Path(path).read_bytes() if os.path.isfile(path) else b""
    except OSError:
        return b""


def _write(path: str, data: bytes, mode: int) -> None:
    """All at once: a git command that runs meanwhile sees the old hook or the new one."""
    scratch = path + ".tokenzip"
    with open(scratch, "wb") as file:
        file.write(data)
    os.chmod(scratch, mode)
    os.replace(scratch, path)
