"""Which file a module specifier means, from the snapshot alone."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from tokenzip.languages.evaluation import Lookups
from tokenzip.languages.javascript.names import NODE_MODULES

_TYPED = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".d.mts", ".d.cts")
_PLAIN = (".js", ".jsx", ".mjs", ".cjs")
_OTHERS = (".vue", ".svelte", ".json")
_FROM_TYPED = _TYPED + _PLAIN + _OTHERS
_FROM_PLAIN = _PLAIN + _TYPED + _OTHERS
# What a written suffix may stand for (TypeScript handbook, "module resolution": the suffix of the output is written).
_OUTPUT = {
    ".js": (".ts", ".tsx", ".d.ts", ".jsx"), ".jsx": (".tsx", ".d.ts"), ".mjs": (".mts", ".d.mts"), ".cjs": (".cts", ".d.cts"),
}  # fmt: skip
_CONDITIONS = ("types", "source", "development", "import", "module", "node", "browser", "default", "require", "production")
_BUILD_FOLDERS = frozenset({
    "dist", "lib", "build", "out", "es", "esm", "cjs", "umd", "types", "typings", "module", "commonjs", "output",
    "lib-esm", "dist-src", "bundles", "compiled", "es2015", "esnext", "mjs", "node", "browser",
})  # fmt: skip
_OUTPUT_FOLDERS = frozenset({"dist", "build", "out"})
_SOURCE_FOLDERS = ("src", "source", "lib", "")
_SUFFIXES = (".d.ts", ".d.mts", ".d.cts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_MAX_EXTENDS = 8
_EXTERNAL = ("external", "")
_MISSING = ("missing", "")
PathMap = tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]
"""(base folder, (pattern, targets) ...): ``compilerOptions.paths`` of one settings file."""
Resolution = tuple[str, str]
"""("file", path), ("external", "") or ("missing", ""): it should be in the repository and is not."""


class Resolver(Lookups):
    """Module resolution. Every look-up is noted, misses too: one ``path`` fact answers for all suffixes of a base."""

    def resolve(self, specifier: str, path: str) -> Resolution:
        directory = path.rpartition("/")[0]
        typed = path.endswith((".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"))
        found: Resolution = self.lookup(("resolve", specifier, directory, typed), self._resolve, specifier, directory, typed)
        return found

    def _resolve(self, specifier: str, directory: str, typed: bool) -> Resolution:
        specifier = specifier.split("?", 1)[0]
        if specifier.startswith((".", "/")):
            if specifier.startswith("/"):
                return _EXTERNAL
            base = posixpath.normpath(posixpath.join(directory, specifier))
            if base.startswith(".."):
                return _EXTERNAL
            found = self.file_at("" if base == "." else base, typed) or self._built(base, typed)
            return ("file", found) if found is not None else _MISSING
        if specifier.startswith("#"):
            found = self._imports_map(specifier, directory, typed)
            return ("file", found) if found is not None else _MISSING
        found = self._by_paths(specifier, directory, typed)
        if found is None and (specifier.startswith("node:") or specifier in NODE_MODULES):
            return _EXTERNAL
        if found is None:
            found = self._package(specifier, directory, typed)
        return ("file", found) if found is not None else _EXTERNAL

    # Files

    def file_at(self, base: str, typed: bool) -> str | None:
        """The file that a path without or with a suffix names: itself, with a suffix, or the index of a directory."""
        view = self.view
        stem, suffix = _split(base)
        self.note("path", stem if suffix else base)
        if suffix in _OUTPUT:
            outputs = [stem + other for other in _OUTPUT[suffix]]
            for candidate in [*outputs, base] if typed else [base, *outputs]:
                if view.is_file(candidate):
                    return candidate
        elif base and view.is_file(base):
            return base
        for other in _FROM_TYPED if typed else _FROM_PLAIN:
            if base and view.is_file(base + other):
                return base + other
        if suffix:
            self.note("path", base)
        return self._directory(base, typed) if view.is_directory(base) else None

    def _directory(self, base: str, typed: bool) -> str | None:
        manifest = posixpath.join(base, "package.json")
        for field in ("source", "types", "typings", "module", "main"):
            target = self._field(manifest, field)
            if isinstance(target, str) and target.strip("./"):
                found = self._target(target, base, typed)
                if found is not None:
                    return found
        index = posixpath.join(base, "index")
        self.note("path", index)
        for suffix in _FROM_TYPED if typed else _FROM_PLAIN:
            if self.view.is_file(index + suffix):
                return index + suffix
        return None

    def _field(self, manifest: str, name: str) -> Any:
        self.note("sym", manifest, name)
        return self.view.interface(manifest).names.get(name)

    def _built(self, path: str, typed: bool) -> str | None:
        """What a path into a build folder (``../dist/index.js``) is built from, where only the source is in the repository."""
        parts = path.split("/")
        for position, part in enumerate(parts[:-1]):
            if part in _OUTPUT_FOLDERS:
                return self._from_source("/".join(parts[position:]), "/".join(parts[:position]), typed)
        return None

    # tsconfig paths

    def _by_paths(self, specifier: str, directory: str, typed: bool) -> str | None:
        config = self._nearest_config(directory)
        if config is None:
            return None
        for base, paths in self.lookup(("paths", config), self._path_maps, config):
            for pattern, targets in paths:
                rest = _match(pattern, specifier)
                if rest is None:
                    continue
                for target in targets:
                    found = self.file_at(_join(base, target.replace("*", rest, 1)), typed)
                    if found is not None:
                        return found
        for base in self.lookup(("baseUrl", config), self._base_url, config):
            found = self.file_at(_join(base, specifier), typed)
            if found is not None:
                return found
        return None

    def _nearest_config(self, directory: str) -> str | None:
        found: str | None = self.lookup(("config", directory), self._find_config, directory)
        return found

    def _find_config(self, directory: str) -> str | None:
        while True:
            for name in ("tsconfig", "jsconfig"):
                base = posixpath.join(directory, name)
                self.note("path", base)
                if self.view.is_file(base + ".json"):
                    return base + ".json"
            if not directory:
                return None
            directory = posixpath.dirname(directory)

    def _configs(self, config: str, seen: set[str]) -> Iterator[str]:
        """A settings file, those that it extends and, if it is only a list of others, those."""
        if config in seen or len(seen) > _MAX_EXTENDS * 2:
            return
        seen.add(config)
        yield config
        directory = posixpath.dirname(config)
        extends = self._field(config, "extends")
        for target in [extends] if isinstance(extends, str) else extends if isinstance(extends, (list, tuple)) else ():
            found = self._extended(str(target), directory)
            if found is not None:
                yield from self._configs(found, seen)
        references = self._field(config, "references")
        for reference in references if isinstance(references, (list, tuple)) else ():
            path = reference.get("path") if isinstance(reference, Mapping) else None
            if isinstance(path, str):
                base = _join(directory, path)
                self.note("path", base)
                found = base if self.view.is_file(base) else posixpath.join(base, "tsconfig.json")
                self.note("path", found.removesuffix(".json"))
                if posixpath.dirname(found) == directory and self.view.is_file(found):
                    yield from self._configs(found, seen)

    def _extended(self, target: str, directory: str) -> str | None:
        if target.startswith("."):
            bases = [_join(directory, target)]
        else:
            name, rest = _package_name(target)
            bases = [posixpath.join(posixpath.dirname(one), rest or "tsconfig.json") for one in self._manifests(name)]
        for base in bases:
            for candidate in (base, base + ".json", posixpath.join(base, "tsconfig.json")):
                self.note("path", candidate.removesuffix(".json"))
                if self.view.is_file(candidate):
                    return candidate
        return None

    def _options(self, config: str) -> Mapping[str, Any]:
        options = self._field(config, "compilerOptions")
        return options if isinstance(options, Mapping) else {}

    def _path_maps(self, config: str) -> tuple[PathMap, ...]:
        found = []
        for one in self._configs(config, set()):
            options = self._options(one)
            paths = options.get("paths")
            if not isinstance(paths, Mapping):
                continue
            base_url = options.get("baseUrl")
            base = posixpath.dirname(one)
            if isinstance(base_url, str):
                base = _join(base, base_url)
            else:
                inherited = self._base_url(one)
                base = inherited[0] if inherited else base
            rows = [
                (str(pattern), tuple(str(target).replace("${configDir}/", "") for target in targets))
                for pattern, targets in paths.items()
                if isinstance(targets, (list, tuple))
            ]
            rows.sort(key=lambda row: (-len(row[0].split("*", 1)[0]), "*" in row[0], row[0]))
            found.append((base, tuple(rows)))
            break
        return tuple(found)

    def _base_url(self, config: str) -> tuple[str, ...]:
        for one in self._configs(config, set()):
            base_url = self._options(one).get("baseUrl")
            if isinstance(base_url, str):
                return (_join(posixpath.dirname(one), base_url),)
        return ()

    # Packages

    def _manifests(self, name: str) -> tuple[str, ...]:
        self.note("announced", f"package:{name}")
        found = self.view.announcing(f"package:{name}")
        return tuple(path for path in found if posixpath.basename(path) == "package.json")

    def _package(self, specifier: str, directory: str, typed: bool) -> str | None:
        ambient = self._ambient_module(specifier)
        if ambient is not None:
            return ambient
        name, rest = _package_name(specifier)
        manifests = self._manifests(name)
        if not manifests:
            return None
        near = sorted(manifests, key=lambda path: (-_shared(path, directory), path.count("/"), path))
        return self._in_package(posixpath.dirname(near[0]), near[0], rest, typed)

    def _ambient_module(self, specifier: str) -> str | None:
        self.note("announced", f"js-module:{specifier}")
        found = self.view.announcing(f"js-module:{specifier}")
        return None if len(found) != 1 else found[0] if self._is_ambient(found[0]) else None

    def _is_ambient(self, path: str) -> bool:
        return path.endswith((".d.ts", ".d.mts", ".d.cts"))

    def _in_package(self, base: str, manifest: str, rest: str, typed: bool) -> str | None:
        exports = self._field(manifest, "exports")
        if exports is not None:
            for target in _export_targets(exports, "./" + rest if rest else "."):
                found = self._target(target, base, typed)
                if found is not None:
                    return found
        if not rest:
            return self._main(base, typed)
        return self.file_at(_join(base, rest), typed) or self._from_source(rest, base, typed)

    def _main(self, base: str, typed: bool) -> str | None:
        found = self._directory(base, typed)
        if found is not None:
            return found
        for folder in _SOURCE_FOLDERS:
            found = self.file_at(posixpath.join(base, folder, "index"), typed)
            if found is not None:
                return found
        return None

    def _target(self, target: str, base: str, typed: bool) -> str | None:
        """A file that a manifest names: itself, or (where only the source is in the repository) what it is built from."""
        clean = posixpath.normpath(target.removeprefix("./"))
        if clean.startswith("..") or "*" in clean:
            return None
        path = posixpath.join(base, clean)
        self.note("path", _split(path)[0])
        if self.view.is_file(path):
            return path
        if _split(clean)[1] == "":
            found = self.file_at(path, typed)
            if found is not None:
                return found
        return self._from_source(clean, base, typed)

    def _from_source(self, built: str, base: str, typed: bool) -> str | None:
        """``dist/esm/a/b.js`` -> ``src/a/b.ts``: leading folders of a build are dropped one by one."""
        stem, _ = _split(built)
        parts = stem.split("/")
        dropped = 0
        while dropped < len(parts) and (dropped == 0 or parts[dropped - 1] in _BUILD_FOLDERS):
            rest = "/".join(parts[dropped:])
            for folder in _SOURCE_FOLDERS:
                if not folder and not dropped:
                    continue
                found = self.file_at(posixpath.join(base, folder, rest), typed)
                if found is not None:
                    return found
            dropped += 1
        if len(parts) - dropped < 1 or parts[0] in _BUILD_FOLDERS:
            return self._entry_source(base, parts, typed)
        return None

    def _entry_source(self, base: str, parts: list[str], typed: bool) -> str | None:
        """A bundle (``dist/name.mjs``) is built from the entry of the source."""
        if len([part for part in parts[:-1] if part not in _BUILD_FOLDERS]) > 0:
            return None
        for folder in ("src", "source"):
            found = self.file_at(posixpath.join(base, folder, "index"), typed)
            if found is not None:
                return found
        return None

    def _imports_map(self, specifier: str, directory: str, typed: bool) -> str | None:
        while True:
            manifest = posixpath.join(directory, "package.json")
            imports = self._field(manifest, "imports")
            if isinstance(imports, Mapping):
                for target in _export_targets(imports, specifier):
                    if target.startswith("."):
                        found = self._target(target, directory, typed)
                    else:
                        found = self._package(target, directory, typed)
                    if found is not None:
                        return found
                return None
            if not directory:
                return self._by_paths(specifier, directory, typed)
            directory = posixpath.dirname(directory)


def _split(path: str) -> tuple[str, str]:
    """(path without a suffix of the family, that suffix)."""
    for suffix in _SUFFIXES:
        if path.endswith(suffix) and not path.endswith("/" + suffix):
            return path[: -len(suffix)], suffix
    return path, ""


def _join(base: str, path: str) -> str:
    joined = posixpath.normpath(posixpath.join(base, path))
    return "" if joined == "." else joined


def _package_name(specifier: str) -> tuple[str, str]:
    """(package, path inside it)"""
    parts = specifier.split("/")
    count = 2 if specifier.startswith("@") else 1
    return "/".join(parts[:count]), "/".join(parts[count:])


def _shared(path: str, directory: str) -> int:
    """How many leading folders two paths have in common."""
    count = 0
    for one, other in zip(posixpath.dirname(path).split("/"), directory.split("/"), strict=False):
        if one != other or not one:
            break
        count += 1
    return count


def _match(pattern: str, specifier: str) -> str | None:
    """What the star of a pattern stands for (empty for a pattern without one), or None if it does not match."""
    if "*" not in pattern:
        return "" if pattern == specifier else None
    head, tail = pattern.split("*", 1)
    if len(specifier) >= len(head) + len(tail) and specifier.startswith(head) and specifier.endswith(tail):
        return specifier[len(head) : len(specifier) - len(tail)]
    return None


def _export_targets(exports: Any, subpath: str) -> list[str]:
    """The targets of a subpath in an ``exports`` or ``imports`` map, best condition first (nodejs.org/api/packages.html)."""
    if isinstance(exports, str) or not isinstance(exports, Mapping):
        return _conditional(exports) if subpath == "." else []
    if not any(str(key).startswith((".", "#")) for key in exports):
        return _conditional(exports) if subpath == "." else []
    if subpath in exports:
        return _conditional(exports[subpath])
    best: tuple[int, list[str]] = (-1, [])
    for key, value in exports.items():
        rest = _match(str(key), subpath) if "*" in str(key) else None
        if rest is not None and len(str(key)) > best[0]:
            best = (len(str(key)), [target.replace("*", rest) for target in _conditional(value)])
    return best[1]


def _conditional(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, (list, tuple)):
        return [target for one in value for target in _conditional(one)]
    if not isinstance(value, Mapping):
        return []
    keys = [key for key in _CONDITIONS if key in value] + [key for key in value if key not in _CONDITIONS]
    return [target for key in keys for target in _conditional(value[key])]
