"""Settings: ``.tokenzip/config.json`` of a checkout and the environment, read into one frozen record.

The file is made by ``tokenzip init`` and holds only what differs from the defaults::

    {"store": "local", "hooks": {"pre-commit": "block"}, "jobs": 2}

A variable of the environment wins over the file: ``TOKENZIP_HOME TOKENZIP_STORE TOKENZIP_PRE_COMMIT TOKENZIP_JOBS``.
A setting that is not understood never stops a question: it is left at its default and reported in `Config.problems`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

FOLDER = ".tokenzip"
FILE = "config.json"
STORES = ("shared", "local")
PRE_COMMIT = ("warn", "block", "off")


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one checkout."""

    home: Path
    """Folder of everything that tokenzip keeps for this user: stores and logs."""
    store: str = "shared"
    """``shared``: one store for all clones and worktrees of a repository, under `home`; ``local``: in ``.tokenzip/db``."""
    pre_commit: str = "warn"
    """What the pre-commit hook does about breakage: ``warn``, ``block`` the commit, or ``off``."""
    jobs: int = 0
    """Processes that parse at the same time; 0 means one for each processor."""
    source: Path | None = None
    """The file that was read; None if there is none."""
    problems: tuple[str, ...] = ()
    """Settings that were not understood, in words."""

    @property
    def logs(self) -> Path:
        """Folder of the log files."""
        return self.home / "logs"


def cache_home(environment: Mapping[str, str] = os.environ) -> Path:
    """``TOKENZIP_HOME`` (seen from the current folder if it is relative), else the user's cache folder of the system."""
    explicit = environment.get("TOKENZIP_HOME")
    if explicit:
        return Path(os.path.abspath(_expanded(explicit)))
    if sys.platform == "win32":
        base = environment.get("LOCALAPPDATA")
        return (Path(base) if base else _expanded("~/AppData/Local")) / "tokenzip"
    if sys.platform == "darwin":
        return _expanded("~/Library/Caches/tokenzip")
    base = environment.get("XDG_CACHE_HOME")
    return (Path(base) if base and Path(base).is_absolute() else _expanded("~/.cache")) / "tokenzip"


def _expanded(path: str) -> Path:
    """With the home folder in the place of ``~``; as it stands where nobody knows that folder."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def load(checkouts: Sequence[str | Path] = (), environment: Mapping[str, str] = os.environ) -> Config:
    """The settings of the first of these folders that has a file of settings (a linked worktree names its main one second)."""
    config = Config(home=cache_home(environment))
    for checkout in checkouts:
        path = Path(checkout) / FOLDER / FILE
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, UnicodeDecodeError) as error:
            config = replace(config, source=path, problems=(f"{path} cannot be read ({error})",))
            break
        config = _with_file(replace(config, source=path), text)
        break
    return _with_environment(config, environment)


def _with_file(config: Config, text: str) -> Config:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        return replace(config, problems=(f"{config.source} is not JSON ({error})",))
    if not isinstance(values, dict):
        return replace(config, problems=(f"{config.source} does not hold an object",))
    hooks = values.pop("hooks", {})
    if isinstance(hooks, dict):
        values.update({f"hooks.{name.replace('_', '-')}": value for name, value in hooks.items()})  # either spelling
    for name, value in values.items():
        config = _with_value(config, name, value, f"{name} in {config.source}")
    return config


def _with_environment(config: Config, environment: Mapping[str, str]) -> Config:
    for variable, name in (
        ("TOKENZIP_STORE", "store"),
        ("TOKENZIP_PRE_COMMIT", "hooks.pre-commit"),
        ("TOKENZIP_JOBS", "jobs"),
    ):
        text = environment.get(variable)
        if text:
            value: Any = int(text) if name == "jobs" and text.isdecimal() else text
            config = _with_value(config, name, value, variable)
    return config


def _with_value(config: Config, name: str, value: Any, where: str) -> Config:
    problem = ""
    if name == "store" and value in STORES:
        config = replace(config, store=value)
    elif name == "hooks.pre-commit" and value in PRE_COMMIT:
        config = replace(config, pre_commit=value)
    elif name == "jobs" and isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        config = replace(config, jobs=value)
    elif name in {"store", "hooks.pre-commit", "jobs"}:
        allowed = {"store": ", ".join(STORES), "hooks.pre-commit": ", ".join(PRE_COMMIT), "jobs": "a number, 0 for all"}
        problem = f"{where} is {value!r}; it may be {allowed[name]}"
    else:
        problem = f"{where} is not a setting"
    return replace(config, problems=(*config.problems, problem)) if problem else config


def write(checkout: str | Path, values: Mapping[str, Any]) -> Path:
    """Merge these values into the checkout's file of settings, keeping what it holds. Raises OSError.

    A file that is not a JSON object is left alone and reported by ValueError.
    """
    path = Path(checkout) / FOLDER / FILE
    held: dict[str, Any] = {}
    if path.exists():
        held = json.loads(path.read_text(encoding="utf-8-sig"))
        if not isinstance(held, dict):
            raise ValueError(f"{path} does not hold an object")
    merged = {**held, **values}
    if merged != held or not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_suffix(".json.new")
        scratch.write_text(json.dumps(merged, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        scratch.replace(path)
    return path
