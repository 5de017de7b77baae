"""What each kind of manifest declares: name, version, dependencies, members of a workspace.

The values come from files of strangers: every one is checked before it is used.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tokenzip.languages.manifest import normalised
from tokenzip.model import Dependency

Values = Mapping[str, Any]
_SETUP_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class Declared:
    """What one manifest declares."""

    kind: str
    source: str = ""
    """Ecosystem, as in `Dependency.source`."""
    name: str = ""
    version: str = ""
    description: str = ""
    dependencies: tuple[Dependency, ...] = ()
    key: str = ""
    """How other manifests name it as a dependency."""
    local: tuple[str, ...] = ()
    """Directories that it depends on, relative to its own; with a leading slash: to its own or any above it."""
    members: tuple[str, ...] = ()
    """Patterns of workspace members, relative to its own directory; ``!`` takes away."""
    is_module: bool = True


def _table(value: Any) -> Values:
    return value if isinstance(value, Mapping) else {}


def _str(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _strs(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, (list, tuple)) else ()


def _tables(value: Any) -> Iterator[Values]:
    return (item for item in value if isinstance(item, Mapping)) if isinstance(value, (list, tuple)) else iter(())


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


_NPM_TABLES = (
    ("dependencies", False), ("peerDependencies", False), ("optionalDependencies", False), ("devDependencies", True),
)  # fmt: skip
_NPM_SAYS = frozenset({"name", "version", "scripts", "workspaces", "bin", *(key for key, _ in _NPM_TABLES)})


def _package_json(kind: str, values: Values) -> Declared:
    dependencies = tuple(
        Dependency(name, _str(wanted), dev, "npm")
        for key, dev in _NPM_TABLES
        for name, wanted in _table(values.get(key)).items()
    )
    workspaces = values.get("workspaces")
    return Declared(
        kind,
        "npm",
        _str(values.get("name")),
        _str(values.get("version")),
        _str(values.get("description")),
        dependencies,
        _str(values.get("name")),
        members=_strs(workspaces) or _strs(_at(workspaces, "packages")),
        is_module=not values or not _NPM_SAYS.isdisjoint(values),
    )


def _workspace_list(kind: str, values: Values) -> Declared:
    return Declared(kind, members=_strs(values.get("packages")), is_module=False)


_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(@\s*[^;\s]+|\([^)]*\)|[^;#]*)")
_DEV_GROUPS = re.compile(r"(?:dev|develop|development|tests?|testing|docs?|lint|typing|typecheck|ci|bench(?:marks?)?)$")


def _requirements(texts: Iterable[str], dev: bool) -> Iterator[Dependency]:
    """PEP 508 requirements; what is none (``-r file``, an address) is left out."""
    for text in texts:
        if found := _REQUIREMENT.match(text):
            yield Dependency(normalised(found[1]), found[2].strip().strip("()"), dev, "pip")


def _pyproject(kind: str, values: Values) -> Declared:
    project, poetry = _table(values.get("project")), _table(_at(values, "tool", "poetry"))
    named = project if project else poetry
    dependencies = [*_requirements(_strs(project.get("dependencies")), False)]
    for group, texts in _table(project.get("optional-dependencies")).items():
        dependencies += _requirements(_strs(texts), bool(_DEV_GROUPS.match(group)))
    for texts in _table(values.get("dependency-groups")).values():
        dependencies += _requirements(_strs(texts), True)
    dependencies += _poetry(poetry.get("dependencies"), False)
    dependencies += _poetry(poetry.get("dev-dependencies"), True)
    for group in _table(poetry.get("group")).values():
        dependencies += _poetry(_at(group, "dependencies"), True)
    return Declared(
        kind,
        "pip",
        _str(named.get("name")),
        _str(named.get("version")),
        _str(named.get("description")),
        tuple(dependencies),
        normalised(_str(named.get("name"))),
        members=_strs(_at(values, "tool", "uv", "workspace", "members")),
        is_module=not values or bool(named) or "build-system" in values or bool(dependencies),
    )


def _poetry(table: Any, dev: bool) -> Iterator[Dependency]:
    for name, wanted in _table(table).items():
        if name != "python":
            yield Dependency(normalised(name), _str(wanted) or _str(_at(wanted, "version")), dev, "pip")


def _setup_cfg(kind: str, values: Values) -> Declared:
    metadata, options = _table(values.get("metadata")), _table(values.get("options"))
    dependencies = [*_requirements(_str(options.get("install_requires")).split("\n"), False)]
    for group, texts in _table(values.get("options.extras_require")).items():
        dependencies += _requirements(_str(texts).split("\n"), bool(_DEV_GROUPS.match(group)))
    literal = {key: text for key, text in metadata.items() if not _str(text).startswith(("attr:", "file:"))}
    return Declared(
        kind,
        "pip",
        _str(literal.get("name")),
        _str(literal.get("version")),
        _str(literal.get("description") or literal.get("summary")),
        tuple(dependencies),
        normalised(_str(literal.get("name"))),
        is_module=not values or bool(metadata) or bool(options),
    )


def _setup_py(kind: str, values: Values) -> Declared:
    dependencies = [*_requirements(_strs(values.get("install_requires")), False)]
    for group, texts in _table(values.get("extras_require")).items():
        dependencies += _requirements(_strs(texts), bool(_DEV_GROUPS.match(group)))
    dependencies += _requirements(_strs(values.get("tests_require")), True)
    name, version, description = (_str(values.get(key)) for key in ("name", "version", "description"))
    return Declared(kind, "pip", name, version, description, tuple(dependencies), normalised(name))


def setup_keywords(source: bytes) -> Values:
    """The keywords of ``setup(...)`` that are literals or names of module-level literals. The file is never run."""
    try:
        tree = ast.parse(source[:_SETUP_BYTES])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    known: dict[str, Any] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            known[statement.targets[0].id] = _literal(statement.value, known)
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == "setup":
            return {keyword.arg: _literal(keyword.value, known) for keyword in call.keywords if keyword.arg}
    return {}


def _literal(node: ast.expr, known: Values) -> Any:
    if isinstance(node, ast.Name):
        return known.get(node.id)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return None


def _go_mod(kind: str, values: Values) -> Declared:
    replaced = _table(values.get("replace"))
    local = tuple(_str(path) for path in replaced.values() if _str(path).startswith(("./", "../")))
    dependencies = tuple(
        Dependency(path, _str(_at(wanted, "version")), False, "go")
        for path, wanted in _table(values.get("require")).items()
        if not _at(wanted, "indirect")
    )
    name = _str(values.get("module"))
    return Declared(kind, "go", name, dependencies=dependencies, key=name, local=local)


def _cargo(kind: str, values: Values) -> Declared:
    package, workspace = _table(values.get("package")), _table(values.get("workspace"))
    dependencies, local = [], []
    for table in (values, *_table(values.get("target")).values()):
        for key, dev in (("dependencies", False), ("build-dependencies", False), ("dev-dependencies", True)):
            for name, wanted in _table(_at(table, key)).items():
                version = _str(wanted) or _str(_at(wanted, "version"))
                if _at(wanted, "workspace") is True:
                    version = _str(_at(workspace, "dependencies", name)) or _str(
                        _at(workspace, "dependencies", name, "version")
                    )
                dependencies.append(Dependency(_str(_at(wanted, "package")) or name, version, dev, "cargo"))
                local += [path] if (path := _str(_at(wanted, "path"))) else []
    excluded = tuple(f"!{pattern}" for pattern in _strs(workspace.get("exclude")))
    return Declared(
        kind,
        "cargo",
        _str(package.get("name")),
        _str(package.get("version")) or _str(_at(workspace, "package", "version")),
        _str(package.get("description")),
        tuple(dependencies),
        _str(package.get("name")),
        tuple(local),
        _strs(workspace.get("members")) + excluded,
    )


_MAVEN_PROPERTY = re.compile(r"\$\{([^}]*)\}")


def _pom(kind: str, values: Values) -> Declared:
    properties = _table(values.get("properties"))

    def resolved(value: Any) -> str:
        return _MAVEN_PROPERTY.sub(lambda found: _str(properties.get(found[1])) or found[0], _str(value))

    def coordinate(entry: Values) -> str:
        return f"{resolved(entry.get('groupId'))}:{resolved(entry.get('artifactId'))}"

    group = values.get("groupId") or _at(values, "parent", "groupId")
    properties = {"project.version": values.get("version"), "project.groupId": group, **properties}
    dependencies = tuple(
        Dependency(coordinate(entry), resolved(_at(entry, "version")), _at(entry, "scope") == "test", "maven")
        for entry in _tables(values.get("dependencies"))
    )
    return Declared(
        kind,
        "maven",
        _str(values.get("artifactId")),
        resolved(values.get("version")) or resolved(_at(values, "parent", "version")),
        _str(values.get("description")),
        dependencies,
        coordinate({"groupId": group, "artifactId": values.get("artifactId")}),
        members=_strs(values.get("modules")),
    )


def _gradle(kind: str, values: Values) -> Declared:
    dependencies = []
    for entry in _tables(values.get("dependencies")):
        group, artifact, wanted = (*_str(entry.get("notation")).split(":"), "", "")[:3]
        dev = bool(re.match(r"(?:androidT|t)est", _str(entry.get("configuration"))))
        dependencies.append(Dependency(f"{group}:{artifact}", wanted, dev, "maven"))
    version, description = _str(values.get("version")), _str(values.get("description"))
    local = tuple(_str(entry.get("path")).replace(":", "/") for entry in _tables(values.get("projects")))
    return Declared(kind, "maven", "", version, description, tuple(dependencies), local=local)


def _gradle_settings(kind: str, values: Values) -> Declared:
    members = tuple(path.strip(":").replace(":", "/") for path in _strs(values.get("include")))
    return Declared(kind, "maven", _str(values.get("rootProject.name")), members=members, is_module=False)


READERS: dict[str, Callable[[str, Values], Declared]] = {
    "package.json": _package_json,
    "pnpm-workspace.yaml": _workspace_list,
    "lerna.json": _workspace_list,
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "setup.py": _setup_py,
    "go.mod": _go_mod,
    "Cargo.toml": _cargo,
    "pom.xml": _pom,
    "build.gradle": _gradle,
    "build.gradle.kts": _gradle,
    "settings.gradle": _gradle_settings,
    "settings.gradle.kts": _gradle_settings,
}
