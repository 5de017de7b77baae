"""Manifests in a tree -> the map of its modules.

A module is a directory with a manifest; the root is always one. A file belongs to the nearest module above it. What counts:

- Manifests below a folder of somebody else's code (`VENDORED`) never make a module. Those below a folder of test data
  (`TEST_DATA`) do so only if a workspace (npm, pnpm, lerna, Cargo, Maven, Gradle) lists them.
- A manifest that only sets options says nothing of a module: a package.json with nothing but ``type``, a pyproject.toml or
  setup.cfg with nothing but tools' tables. A broken manifest does make one: it was meant to be something.
- Several manifests in one directory make one module. `PRIORITY` says which one names it; the dependencies of all are taken.
"""

from __future__ import annotations

import fnmatch
import posixpath
from collections.abc import Callable, Iterable, Mapping

from tokenzip.languages.manifest import settings
from tokenzip.model import Dependency, Interface, Module
from tokenzip.modules.declared import READERS, Declared, Values, setup_keywords

PRIORITY = (
    "go.mod", "Cargo.toml", "pyproject.toml", "setup.cfg", "setup.py", "pom.xml", "build.gradle.kts", "build.gradle",
    "package.json",
)  # fmt: skip
"""Which manifest of a directory names the module. package.json comes last: beside another one it mostly holds tooling."""
_ORDER = PRIORITY + tuple(name for name in READERS if name not in PRIORITY)
MANIFESTS = frozenset(READERS)
"""Base names of the files that `detect` reads."""
_SUFFIXES = tuple(READERS)
VENDORED = frozenset({"node_modules", "bower_components", "site-packages", "dist-packages", "vendor", ".venv", "venv"})
TEST_DATA = frozenset({"fixtures", "__fixtures__", "fixture", "testdata", "test-data", "test_data", "__mocks__"})

InterfaceOf = Callable[[str], Interface]
SourceOf = Callable[[str], bytes]


def manifest_paths(paths: Iterable[str]) -> list[str]:
    """Those of the paths that `detect` reads, in the order given. Looks at base names only."""
    return [path for path in paths if path.endswith(_SUFFIXES) and path[path.rfind("/") + 1 :] in READERS]


class ModuleMap:
    """The modules of one tree, and which of them a path belongs to."""

    def __init__(self, modules: Iterable[Module], internal: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self._by_path = {module.path: module for module in sorted(modules, key=lambda module: module.path)}
        self._internal = internal or {}
        self._of_directory: dict[str, Module] = dict(self._by_path)

    def all(self) -> tuple[Module, ...]:
        """Every module, by path; the root first."""
        return tuple(self._by_path.values())

    def module_of(self, path: str) -> Module:
        """The module of a file or directory: the nearest one above it (or at it)."""
        module = self._of_directory.get(path)
        climbed: list[str] = []
        while module is None:
            path = path[: path.rfind("/")] if "/" in path else ""
            climbed.append(path)
            module = self._of_directory.get(path)
        for directory in climbed:
            self._of_directory[directory] = module
        return module

    def at(self, path: str) -> Module | None:
        """The module whose directory is `path`."""
        return self._by_path.get(path)

    def named(self, name: str) -> tuple[Module, ...]:
        """The modules that answer to a name: by full name, else by path, else by the last part of either."""
        exact = tuple(module for module in self._by_path.values() if module.name == name)
        if exact or (at := self._by_path.get(name.strip("/"))) is None:
            return exact or tuple(m for m in self._by_path.values() if name in (_last(m.name), _last(m.path)))
        return (at,)

    def internal(self, module: Module) -> tuple[Module, ...]:
        """The modules of this tree that the manifest of `module` declares as dependencies, by path."""
        return tuple(self._by_path[path] for path in self._internal.get(module.path, ()))


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def detect(paths: Iterable[str], interface: InterfaceOf, source: SourceOf | None = None, *, root_name: str = ".") -> ModuleMap:
    """The modules of a tree with these files (or only these manifests).

    `interface` gives a manifest's interface, `source` the bytes of a setup.py, whose keywords no interface holds (without it
    such a module is named after its folder). `root_name` names a root that no manifest names.
    """
    found = _by_directory(manifest_paths(paths))
    declared = {directory: _read(directory, names, interface, source) for directory, names in found.items()}
    members = _Members(declared)
    chosen = {path: what for path, what in declared.items() if _is_module(path, what, members)}
    chosen.setdefault("", [])
    names = {path: _name(path, what, declared.get(path, []), root_name) for path, what in chosen.items()}
    own: dict[tuple[str, str], str] = {}
    for path in sorted(chosen):
        for manifest in chosen[path]:
            if manifest.key:
                own.setdefault((manifest.source, manifest.key), path)
    modules = [_module(path, names[path], what, _parent(path, chosen), own) for path, what in chosen.items()]
    internal = {path: _internal(path, what, own, chosen) for path, what in chosen.items()}
    return ModuleMap(modules, internal)


def _by_directory(paths: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        directory, name = posixpath.split(path)
        if VENDORED.isdisjoint(directory.split("/")):
            found.setdefault(directory, []).append(name)
    return found


def _read(directory: str, names: list[str], interface: InterfaceOf, source: SourceOf | None) -> list[Declared]:
    out: list[Declared] = []
    for name in sorted(names, key=_ORDER.index):
        path = posixpath.join(directory, name)
        values: Values
        if name == "setup.py":
            values = setup_keywords(source(path)) if source is not None else {}
        else:
            values = settings(interface(path))
        out.append(READERS[name](name, values))
    return out


class _Members:
    """Which directories are listed by a workspace above them."""

    def __init__(self, declared: Mapping[str, list[Declared]]) -> None:
        self._patterns = [
            (directory, pattern) for directory, what in declared.items() for manifest in what for pattern in manifest.members
        ]

    def __contains__(self, path: str) -> bool:
        listed = False
        for directory, pattern in self._patterns:
            positive = pattern.removeprefix("!")
            if _matches(path, posixpath.normpath(posixpath.join(directory, positive))):
                listed = positive == pattern
        return listed


def _matches(path: str, pattern: str) -> bool:
    """Whether a directory fits a glob in which ``*`` stays within one part and ``**`` stands for any number of them."""
    parts, globs = path.split("/"), pattern.split("/")
    fits = [True] + [False] * len(parts)
    for glob in globs:
        if glob == "**":
            for index in range(1, len(fits)):
                fits[index] = fits[index] or fits[index - 1]
        else:
            fits = [False] + [fits[index] and fnmatch.fnmatchcase(part, glob) for index, part in enumerate(parts)]
    return fits[-1]


def _is_module(path: str, what: list[Declared], members: _Members) -> bool:
    if path == "":
        return True
    if not any(manifest.is_module for manifest in what):
        return False
    return TEST_DATA.isdisjoint(path.split("/")) or path in members


def _name(path: str, what: list[Declared], declared: list[Declared], root_name: str) -> str:
    named = next((manifest.name for manifest in what if manifest.is_module and manifest.name), "")
    settings = next((manifest.name for manifest in declared if manifest.name), "")
    return named or settings or _last(path) or root_name


def _module(path: str, name: str, what: list[Declared], parent: str | None, own: Mapping[tuple[str, str], str]) -> Module:
    ranked = sorted((manifest for manifest in what if manifest.is_module), key=lambda manifest: not manifest.name)
    first = ranked[0] if ranked else None
    same = [manifest for manifest in ranked if first is not None and manifest.source == first.source]
    return Module(
        path=path,
        name=name,
        manifest=posixpath.join(path, first.kind) if first else None,
        kind=first.kind if first else None,
        is_root=path == "",
        parent=parent,
        version=next((manifest.version for manifest in same if manifest.version), ""),
        description=next((manifest.description for manifest in same if manifest.description), ""),
        dependencies=_dependencies(ranked, own),
    )


def _parent(path: str, chosen: Mapping[str, object]) -> str | None:
    if path == "":
        return None
    directory = posixpath.dirname(path)
    while directory and directory not in chosen:
        directory = posixpath.dirname(directory)
    return directory


def _dependencies(manifests: list[Declared], own: Mapping[tuple[str, str], str]) -> tuple[Dependency, ...]:
    """Those of all manifests, each package once; modules of this tree left out."""
    out: dict[tuple[str, str], Dependency] = {}
    for manifest in manifests:
        for dependency in manifest.dependencies:
            key = (dependency.source, dependency.name)
            if key not in own and (key not in out or (out[key].dev and not dependency.dev)):
                out[key] = dependency
    return tuple(sorted(out.values(), key=lambda dependency: (dependency.dev, dependency.source, dependency.name)))


def _internal(
    path: str, what: list[Declared], own: Mapping[tuple[str, str], str], chosen: Mapping[str, object]
) -> tuple[str, ...]:
    targets = {own.get((dependency.source, dependency.name), path) for manifest in what for dependency in manifest.dependencies}
    for manifest in what:
        for local in manifest.local:
            targets.add(_climb(path, local[1:], chosen) if local.startswith("/") else _joined(path, local))
    return tuple(sorted(target for target in targets if target in chosen and target != path))


def _joined(directory: str, relative: str) -> str:
    path = posixpath.normpath(posixpath.join(directory, relative))
    return "" if path == "." else path


def _climb(directory: str, relative: str, chosen: Mapping[str, object]) -> str:
    while directory and _joined(directory, relative) not in chosen:
        directory = posixpath.dirname(directory)
    return _joined(directory, relative)
