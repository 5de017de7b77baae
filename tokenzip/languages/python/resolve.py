"""Where imports lead: modules, packages and namespace packages of the snapshot, and names through re-exports and wildcards."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any

from tokenzip.languages.base import View
from tokenzip.languages.evaluation import Lookups
from tokenzip.languages.python.builtin_names import STDLIB_MODULES
from tokenzip.languages.python.types import Types, join
from tokenzip.model import Interface

Binding = tuple[Any, ...]
"""``("D", path, qualified)`` a definition, ``("W", path, qualified)`` a variable (``U``: one without a symbol), or one of the
`types` tags M N Y Z."""


class Modules(Lookups):
    """Look-ups of modules and of module-level names."""

    def __init__(self, view: View) -> None:
        super().__init__(view)
        self._interfaces: dict[str, Interface] = {}
        self._modules: dict[str, Types] = {}

    def interface(self, path: str) -> Interface:
        """The interface of a file of this view. The caller notes the fact."""
        known = self._interfaces.get(path)
        if known is None:
            known = self._interfaces[path] = self.view.interface(path)
        return known

    # ---- modules

    def module_at(self, base: str) -> Types:
        """The module whose path without suffix is `base`: a package, a source, a stub, else a directory."""
        self.note("path", base)
        known = self._modules.get(base)
        if known is None:
            known = self._modules[base] = self._module_at(base)
        return known

    def _module_at(self, base: str) -> Types:
        for name in ("/__init__.py", ".py", "/__init__.pyi", ".pyi"):
            path = base + name if base else name[1:]
            if self.view.is_file(path):
                return (("M", path),)
        return (("N", base),) if self.view.is_directory(base) else ()

    def is_package(self, directory: str) -> bool:
        """Whether a directory is a regular package."""
        self.note("path", directory)
        return self.view.is_file(posixpath.join(directory, "__init__.py"))

    def submodule(self, module: Binding, name: str) -> Types:
        """The module `name` below a package or namespace package."""
        if module[0] == "M" and not is_init(module[1]):
            return ()
        base = module_base(module[1]) if module[0] == "M" else module[1]
        return self.module_at(f"{base}/{name}" if base else name)

    def resolve(self, module: str, level: int, path: str) -> Types:
        """What ``import module`` in the file at `path` finds: M or N; Y if it lies outside the project, Z if it is missing."""
        directory = path.rpartition("/")[0]
        return self.lookup(("module", module, level, directory), self._resolve, module, level, directory)  # type: ignore[no-any-return]

    def _resolve(self, module: str, level: int, directory: str) -> Types:
        if not level:
            return self._absolute(module, directory)
        for _ in range(level - 1):
            if not directory:
                return (("Z", module),)
            directory = posixpath.dirname(directory)
        base = posixpath.join(directory, *module.split(".")) if module else directory
        return self.module_at(base) or (("Z", module),)

    def _absolute(self, module: str, directory: str) -> Types:
        first, *rest = module.split(".")
        found = self.lookup(("top", first, directory), self._top, first, directory)
        if not found:
            return (("Y", module),)
        for name in rest:
            below = self.submodule(found[0], name)
            if not below:
                return self._beyond(found[0], name, module)
            found = below
        return found  # type: ignore[no-any-return]

    def _beyond(self, module: Binding, name: str, written: str) -> Types:
        """A submodule that is not there: of a namespace it may lie outside, in a package it is missing."""
        return (("Y", written),) if module[0] == "N" else (("Z", written),)

    def _top(self, name: str, directory: str) -> Types:
        """The top-level module or package that files in `directory` import as `name`: nearest import root first."""
        self.note("stem", name)
        located = frozenset(self.view.with_stem(name))
        if not located:
            return ()
        is_standard = name in STDLIB_MODULES
        namespace: Types = ()
        for root in self.lookup(("roots", directory), self._roots, directory):
            if is_standard and root not in ("", "src"):
                continue
            base = posixpath.join(root, name)
            if not (base in located or base + ".py" in located or base + ".pyi" in located):
                continue
            found = self.module_at(base)
            if found and found[0][0] == "M":
                return found
            namespace = namespace or found
        if namespace and not is_standard:
            return namespace
        return () if is_standard else self._only_package(sorted(located))

    def _only_package(self, located: list[str]) -> Types:
        """The one regular package of that name that lies in no other package, wherever it is: it will be installed."""
        found: list[Binding] = []
        for base in located:
            if self.is_package(base) and not self.is_package(posixpath.dirname(base)):
                found.extend(self.module_at(base))
        return (found[0],) if len(found) == 1 else ()

    def _roots(self, directory: str) -> tuple[str, ...]:
        """Directories from which imports in `directory` may start, nearest first; a package's own directory is none."""
        roots: list[str] = []
        while True:
            if not directory or not self.is_package(directory):
                roots.extend([directory, posixpath.join(directory, "src")])
            for configured in self.lookup(("configured", directory), self._configured_roots, directory):
                roots.append(configured)
            if not directory:
                return tuple(dict.fromkeys(roots))
            directory = posixpath.dirname(directory)

    def _configured_roots(self, directory: str) -> tuple[str, ...]:
        """Import roots that the manifest in a directory declares."""
        roots: list[str] = []
        pyproject = posixpath.join(directory, "pyproject.toml")
        tables = self.interface(pyproject).members
        for name, key in _ROOT_SETTINGS:
            self.note("mem", pyproject, name, key)
            roots.extend(_roots_in(tables.get(name, {}).get(key)))
        setup = posixpath.join(directory, "setup.cfg")
        for section in ("options", "options.packages.find"):
            self.note("sym", setup, section)
            table = self.interface(setup).names.get(section)
            if isinstance(table, dict):
                roots.extend(_roots_of_setup(section, table))
        joined = [posixpath.normpath(posixpath.join(directory, root)) for root in roots if isinstance(root, str)]
        return tuple(["" if root == "." else root for root in joined if not root.startswith("..")])

    # ---- names

    def bindings(self, path: str, name: str) -> tuple[Binding, ...]:
        """What a module-level name of a file is bound to, through imports and wildcards; empty if it has no such name."""
        interface = self.interface(path)
        entries = interface.names.get(name)
        if entries is None:
            if not interface.stars:
                self._facts.update((("sym", path, name), ("star", path)))
                return ()
        elif len(entries) == 1 and entries[0][0] != "import":
            self._facts.add(("sym", path, name))
            return (_named_by(entries[0], path, name),)
        return self.lookup(("bindings", path, name), self._bindings, path, name)  # type: ignore[no-any-return]

    def _bindings(self, path: str, name: str) -> tuple[Binding, ...]:
        self.note("sym", path, name)
        interface = self.interface(path)
        entries = interface.names.get(name)
        if entries is None:
            return self._by_wildcard(path, name, interface)
        found: list[tuple[Binding, ...]] = []
        for entry in entries:
            found.append(self.imported(path, entry) if entry[0] == "import" else (_named_by(entry, path, name),))
        known = join(found)
        inside = tuple([binding for binding in known if binding[0] not in ("Y", "Z")])
        return inside or known

    def _by_wildcard(self, path: str, name: str, interface: Interface) -> tuple[Binding, ...]:
        self.note("star", path)
        for module, level in reversed(interface.stars):
            for found in self.resolve(module, level, path):
                if found[0] == "M" and found[1] != path and self._star_gives(found[1], name):
                    bindings = self.bindings(found[1], name)
                    if bindings:
                        return bindings
        return ()

    def _star_gives(self, path: str, name: str) -> bool:
        self.note("sym", path, "__all__")
        exported = self.interface(path).names.get("__all__")
        if exported and exported[0][0] == "all":
            _, names, is_complete = exported[0]
            return name in names or (not is_complete and not name.startswith("_"))
        return not name.startswith("_")

    def imported(self, path: str, expression: Any) -> tuple[Binding, ...]:
        """What an import expression in a file is bound to."""
        _, module, level, name = expression
        found = self.resolve(module, level, path)
        if name is None:
            return found
        target = found[0]
        dotted = f"{module}.{name}" if module else name
        if target[0] in ("Y", "Z"):
            return ((target[0], dotted),)
        if target[0] == "M" and target[1] != path:
            bindings = self.bindings(target[1], name)
            if bindings:
                return bindings
            if self.interface(target[1]).names.get(name):
                return ()
        below = self.submodule(target, name)
        if below:
            return below
        if target[0] == "N":
            return (("Y", dotted),)
        return () if self.is_open(target[1]) else (("Z", dotted),)

    def is_open(self, path: str) -> bool:
        """Whether a module may have names that its text does not show: ``__getattr__``, or a wildcard from outside."""
        return self.lookup(("open", path), self._is_open, path)  # type: ignore[no-any-return]

    def _is_open(self, path: str) -> bool:
        self.note("sym", path, "__getattr__")
        self.note("star", path)
        interface = self.interface(path)
        if interface.names.get("__getattr__"):
            return True
        for module, level in interface.stars:
            for found in self.resolve(module, level, path):
                if found[0] != "M" or (found[1] != path and self.is_open(found[1])):
                    return True
        return False


def _named_by(entry: Any, path: str, name: str) -> Binding:
    """The definition or variable that an entry of a name stands for, which is no import."""
    kind = entry[0]
    if kind == "def":
        return ("D", path, entry[1])
    named = entry[2] if kind in ("value", "bound") and len(entry) > 2 else name
    return ("U" if kind == "bound" else "W", path, named)


def is_init(path: str) -> bool:
    """Whether a file is the one that makes its directory a package."""
    return path.endswith(("__init__.py", "__init__.pyi")) and path.rpartition("/")[2].startswith("__init__")


def module_base(path: str) -> str:
    """The path of a module without suffix; of a package, its directory."""
    return path.rpartition("/")[0] if is_init(path) else path.rpartition(".")[0]


_ROOT_SETTINGS = (
    ("tool.setuptools.package-dir", ""),
    ("tool.setuptools.packages.find", "where"),
    ("tool.pytest.ini_options", "pythonpath"),
    ("tool.hatch.build", "sources"),
    ("tool.pyright", "extraPaths"),
    ("tool.mypy", "mypy_path"),
    ("tool.pdm.build", "package-dir"),
    ("tool.poetry", "packages"),
)
"""Tables and keys of ``pyproject.toml`` in which build backends, test runners and type checkers are told import roots."""


def _roots_in(value: Any) -> Iterator[str]:
    """Roots in one setting: a path, several in one text, a list of paths, or of tables with ``from``."""
    if isinstance(value, str):
        yield from value.replace(":", " ").split()
    elif isinstance(value, tuple):
        for item in value:
            root = item.get("from") if isinstance(item, dict) else item
            if isinstance(root, str):
                yield root


def _roots_of_setup(section: str, table: dict[str, Any]) -> list[str]:
    """Import roots in ``setup.cfg``: ``package_dir`` with an empty name, ``where``."""
    if section == "options.packages.find":
        where = table.get("where")
        return [where.strip()] if isinstance(where, str) else []
    roots = []
    package_dir = table.get("package_dir")
    for line in package_dir.splitlines() if isinstance(package_dir, str) else ():
        name, _, root = line.partition("=")
        if not name.strip() and root.strip():
            roots.append(root.strip())
    return roots
