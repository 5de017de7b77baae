"""Groups of modules that look alike: directories with a manifest, packages, or single files beside each other."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenzip import walk
from tokenzip.errors import UnknownSymbol, UsageError
from tokenzip.model import SymbolKey
from tokenzip.workflows.naming import placeholders

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

PACKAGE, FILE = "package", "file"
"""Kinds beside the manifests' names: a directory with an index file, a single source file."""
_INDEX = ("__init__.py", "index.ts", "index.tsx", "index.js", "index.mjs", "mod.rs")
_NOT_A_NAME = frozenset({"__init__", "__main__", "index", "main", "mod", "conftest", "setup", "_version", "version"})
_ASIDE = frozenset({
    "test", "tests", "__tests__", "spec", "specs", "docs", "doc", "docs_src", "example", "examples", "bench", "benches",
    "benchmark", "benchmarks", "fixtures", "e2e", "scripts", "playground", "playgrounds", "sandbox", "runtime-tests", "www",
    "website", "site",
})  # fmt: skip
"""Folders whose modules are no model for new ones, unless they are asked for."""
FEWEST = 2


@dataclass(frozen=True, slots=True)
class Group:
    """Modules of one kind in one directory."""

    folder: str
    kind: str
    """Name of the manifest, `PACKAGE` or `FILE`."""
    members: tuple[str, ...]
    """Their names: of directories, or of files without suffix."""
    suffix: str = ""
    """Of files."""

    def root(self, name: str) -> str:
        """The directory of a member; for files the one that all are in."""
        return self.folder if self.kind == FILE else posixpath.join(self.folder, name)


def groups(snapshot: Snapshot) -> list[Group]:
    """All groups, the most telling first: manifests before packages before files, then the larger ones."""
    found = [*_with_manifest(snapshot), *_packages_and_files(snapshot)]
    rank = {PACKAGE: 1, FILE: 2}
    return sorted(found, key=lambda group: (is_aside(group.folder), rank.get(group.kind, 0), -len(group.members), group.folder))


def is_aside(folder: str) -> bool:
    """Whether it lies in a folder beside the product."""
    return not _ASIDE.isdisjoint(folder.split("/"))


def _with_manifest(snapshot: Snapshot) -> list[Group]:
    found: dict[tuple[str, str], list[str]] = {}
    for module in snapshot.modules().all():
        if module.path and module.kind:
            folder, name = posixpath.split(module.path)
            found.setdefault((folder, module.kind), []).append(name)
    return [Group(folder, kind, tuple(sorted(names))) for (folder, kind), names in found.items()]


def _packages_and_files(snapshot: Snapshot) -> list[Group]:
    packages: dict[tuple[str, str], list[str]] = {}
    files: dict[tuple[str, str], list[str]] = {}
    manifests = {module.path for module in snapshot.modules().all()}
    for file in snapshot.files():
        if not file.is_source or file.is_test:
            continue
        folder, name = posixpath.split(file.path)
        stem, suffix = posixpath.splitext(name)
        if name in _INDEX and folder and folder not in manifests:
            parent, own = posixpath.split(folder)
            packages.setdefault((parent, name), []).append(own)
        elif stem not in _NOT_A_NAME and "." not in stem:
            files.setdefault((folder, suffix), []).append(stem)
    out = [Group(folder, PACKAGE, tuple(sorted(set(names)))) for (folder, _), names in packages.items()]
    out += [Group(folder, FILE, tuple(sorted(names)), suffix) for (folder, suffix), names in files.items()]
    return out


def choose(snapshot: Snapshot, name: str, kind: str) -> Group:
    """The group that a new module belongs to: by the directory in its name, by the kind, else the most telling one.

    Raises UsageError where there is none.
    """
    known = groups(snapshot)
    folder = posixpath.dirname(name.strip().strip("/"))
    place = kind.strip().strip("/") if "/" in kind or snapshot.is_directory(kind.strip().strip("/") or "-") else ""
    if folder or place:
        inside = [
            group for group in known if group.folder == (folder or place) and (place or not kind or _is_kind(group, kind))
        ]
        if inside:
            return next((group for group in inside if len(group.members) >= FEWEST), inside[0])
        there = folder or place
        near = sorted({group.folder for group in known if group.folder}, key=lambda each: (each.count("/"), each))[:5]
        raise UnknownSymbol(f"no modules are in {there} to learn from", hint="Name a directory that has some.", candidates=near)
    fitting = [group for group in known if not kind or _is_kind(group, kind)]
    chosen = next((group for group in fitting if len(group.members) >= FEWEST), fitting[0] if fitting else None)
    if chosen is None:
        kinds = list(dict.fromkeys(group.kind for group in known))
        raise UsageError(
            f"there is no module of kind {kind!r} to learn from" if kind else "there is no module to learn from",
            hint=f"kind is one of {', '.join(kinds)}, or a directory." if kinds else "The repository has no sources yet.",
            candidates=kinds,
        )
    return chosen


def _is_kind(group: Group, kind: str) -> bool:
    wanted = kind.strip().lower()
    names = {group.kind.lower(), group.suffix.lower().removeprefix(".")} - {""}
    aliases = {
        "npm": {"package.json"}, "python": {"pyproject.toml", "setup.py", "setup.cfg", "py"}, "go": {"go.mod"},
        "cargo": {"cargo.toml"}, "rust": {"cargo.toml"}, "maven": {"pom.xml"}, "gradle": {"build.gradle", "build.gradle.kts"},
        "typescript": {"ts", "tsx", "package.json"}, "javascript": {"js", "mjs", "package.json"}, "module": {"file"},
        "directory": {"package"}, "folder": {"package"},
    }  # fmt: skip
    return wanted in names or bool(names & aliases.get(wanted, set()))


@dataclass(frozen=True, slots=True)
class Layout:
    """The files that at least half of the members of a group have, with placeholders for their name."""

    files: Mapping[str, Sequence[tuple[str, str]]]
    """Path below the member's directory -> (member, path of its file)."""
    members: int


def layout(snapshot: Snapshot, group: Group) -> Layout:
    """How the members of a group look."""
    roots = {group.root(name): name for name in group.members}
    found: dict[str, list[tuple[str, str]]] = {}
    if group.kind == FILE:
        found["{name}" + group.suffix] = [(name, posixpath.join(group.folder, name + group.suffix)) for name in group.members]
        return Layout(found, len(group.members))
    nested = {module.path for module in snapshot.modules().all()}
    for path in snapshot.paths():
        root = _root_of(path, roots)
        if root is None or any(other in nested and other != root for other in _between(root, path)):
            continue
        below = path[len(root) + 1 :]
        folder, base = posixpath.split(below)
        shape = posixpath.join(folder, placeholders(base, roots[root]))
        found.setdefault(shape, []).append((roots[root], path))
    common = {shape: files for shape, files in found.items() if len(files) * 2 >= len(group.members)}
    return Layout(dict(sorted(common.items(), key=lambda pair: (pair[0].count("/"), pair[0]))), len(group.members))


def _root_of(path: str, roots: Mapping[str, str]) -> str | None:
    folder = posixpath.dirname(path)
    while folder:
        if folder in roots:
            return folder
        folder = posixpath.dirname(folder)
    return None


def _between(root: str, path: str) -> list[str]:
    """The directories from a file up to that root."""
    out: list[str] = []
    folder = posixpath.dirname(path)
    while folder != root:
        out.append(folder)
        folder = posixpath.dirname(folder)
    return out


def typical(layout_: Layout) -> str:
    """The member that has most of the common files."""
    counts = Counter(name for files in layout_.files.values() for name, _ in files)
    return min(counts, key=lambda name: (-counts[name], name)) if counts else ""


def entry_of(snapshot: Snapshot, paths: Sequence[str]) -> str:
    """The file by which others import a module: its index, the one nearest to its top; else its first source."""
    ranked = sorted(
        (path for path in paths if not walk.is_test(snapshot, SymbolKey(path))),
        key=lambda path: (posixpath.basename(path) not in _INDEX, path.count("/"), path),
    )
    return ranked[0] if ranked else ""
