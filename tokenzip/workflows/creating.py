"""create-module: the files of a new module after those of its siblings, the imports it will have, and what is in its way."""

from __future__ import annotations

import difflib
import fnmatch
import json
import posixpath
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tokenzip.errors import TokenzipError, UsageError
from tokenzip.items import Item
from tokenzip.model import Dependency, Progress
from tokenzip.workflows import around
from tokenzip.workflows.base import Input, Inputs, Result, Step, Template
from tokenzip.workflows.naming import filled, placeholders, style_of, styled
from tokenzip.workflows.siblings import FILE, PACKAGE, Group, Layout, choose, entry_of, layout, typical
from tokenzip.workflows.testing import TestHabits

if TYPE_CHECKING:
    from tokenzip.snapshot import Snapshot

SHOWN_CONTENT = 1200
"""Characters of a file's content that an answer shows; longer ones are named by the sibling that they are like."""
LARGEST = 20_000
MOST_FILES = 40
COMPARED = 12
"""Siblings whose contents are compared."""
_NAME = re.compile(r"[A-Za-z0-9_.@][\w.@-]*")
FIRST_VERSION = "0.1.0"


@dataclass(slots=True)
class Proposed:
    """A file of the new module."""

    path: str
    content: str
    like: str
    """The file of a sibling that it is made after."""
    why: str


class CreateModule:
    """One run."""

    def __init__(self, snapshot: Snapshot, inputs: Inputs, progress: Progress) -> None:
        self.snapshot = snapshot
        written = inputs["name"].strip().strip("/")
        self.scope = posixpath.dirname(written) if written.startswith("@") else ""
        if self.scope:
            written = posixpath.basename(written)
        self.name = posixpath.basename(written)
        if not _NAME.fullmatch(self.name) or self.name in (".", "..") or ".." in written.split("/"):
            raise UsageError(f"{inputs['name']!r} is no name for a module", hint="Take letters, digits, - and _; not - first.")
        self.group: Group = choose(snapshot, written, inputs.get("kind", ""))
        if self.group.kind == FILE:
            self.name = self.name.removesuffix(self.group.suffix)
        self.wanted: list[str] = list(inputs.get("dependencies", ()))
        self.layout: Layout = Layout({}, 0)
        self.files: list[Proposed] = []
        self.edges: list[Item] = []
        self.packages: list[Dependency] = []
        self.internal: list[Dependency] = []
        self.conflicts: list[Item] = []

    # ---- the steps

    def learn(self) -> None:
        """How the siblings look."""
        self.layout = layout(self.snapshot, self.group)

    def depend(self) -> None:
        """What the dependencies are: modules of the repository, or packages that some module declares."""
        declared = _declared(self.snapshot)
        entry = self._entry()
        for text in self.wanted:
            try:
                found = around.area(self.snapshot, text)
            except UsageError:
                known = declared.get(text.lower())
                if known is not None:
                    self.packages.append(known)
                    self.edges.append({"from": entry, "package": known.name, "range": known.range, "kind": "imports"})
                else:
                    modules = [name for each in self.snapshot.modules().all() for name in (each.name, each.path)]
                    near = difflib.get_close_matches(text, [*declared, *modules], 3, 0.6)
                    self.conflicts.append({"what": "unknown dependency", "name": text, "candidates": near})
                continue
            target = entry_of(self.snapshot, found.paths) or found.path
            edge: Item = {"from": entry, "to": target, "kind": "imports", "as": self._import_name(entry, target, found)}
            self.edges.append(edge)
            if found.module.path == found.path and found.module.manifest and not found.module.is_root:
                self.internal.append(Dependency(found.module.name, self._range_of(found.module.name), False, ""))

    def propose(self) -> None:
        """The files, with contents where the siblings agree on them."""
        root = self.group.root(self.name)
        for shape, files in list(self.layout.files.items())[:MOST_FILES]:
            folder, base = posixpath.split(shape)
            path = posixpath.join(root, folder, filled(base, self.name))
            why = f"{len(files)} of {self.layout.members}"
            self.files.append(Proposed(path, self._content(path, files), self._like(files), why))
        entry = self._entry()
        has_manifest = self.group.kind not in (FILE, PACKAGE)  # then its tests are among its files
        test = TestHabits(self.snapshot).path_for(entry) if entry and not has_manifest else None
        if test is not None and test not in {file.path for file in self.files}:
            self.files.append(Proposed(test, "", "", f"where tests of {posixpath.splitext(entry)[1]} files are"))

    def check(self) -> None:
        """What is in the way: paths, names, the style of names, workspaces that do not take it in."""
        paths = set(self.snapshot.paths())
        folded = {path.casefold(): path for path in paths}
        for file in self.files:
            if file.path in paths or self.snapshot.is_directory(file.path):
                self.conflicts.append({"what": "exists", "path": file.path})
            elif other := folded.get(file.path.casefold()):
                self.conflicts.append({"what": "differs in case only", "path": file.path, "from": other})
        root = self.group.root(self.name)
        if self.group.kind != FILE and self.snapshot.is_directory(root):
            self.conflicts.append({"what": "exists", "path": root})
        for module in self.snapshot.modules().named(self._full_name()):
            if module.path != root and module.name == self._full_name():
                self.conflicts.append({"what": "name taken", "name": module.name, "path": module.path or "."})
        style = style_of(self.group.members)
        if style and styled(self.name, style) != self.name:
            self.conflicts.append({"what": "named unlike its siblings", "style": style, "suggestion": styled(self.name, style)})
        if self.group.kind == "package.json":
            self._check_workspaces(root)

    # ---- names

    def _entry(self) -> str:
        """The file of the new module that others import."""
        root = self.group.root(self.name)
        example = typical(self.layout)
        for shape, files in self.layout.files.items():
            there = [path for name, path in files if name == example]
            if there and entry_of(self.snapshot, self._paths_of(example)) == there[0]:
                folder, base = posixpath.split(shape)
                return posixpath.join(root, folder, filled(base, self.name))
        return ""

    def _paths_of(self, member: str) -> list[str]:
        own = (path for files in self.layout.files.values() for name, path in files if name == member)
        return [path for path in own if (file := self.snapshot.file(path)) is not None and file.is_source]

    def _full_name(self) -> str:
        """The name in the manifest: with the scope that siblings have."""
        if self.scope:
            return f"{self.scope}/{self.name}"
        modules = [module for name in self.group.members if (module := self.snapshot.modules().at(self.group.root(name)))]
        shapes = Counter(placeholders(module.name, posixpath.basename(module.path)) for module in modules)
        shape, count = min(shapes.items(), key=lambda pair: (-pair[1], pair[0]), default=("{name}", 0))
        return re.sub(r"\{[^{}]+\}", self.name, shape) if count * 2 >= len(modules) else self.name

    def _import_name(self, entry: str, target: str, found: around.Area) -> str:
        """How a file imports another: as siblings do, by package, dotted path or relative path."""
        if target.endswith((".py", ".pyi")):
            parts = posixpath.splitext(target)[0].removesuffix("/__init__").split("/")
            while (
                len(parts) > 1 and self.snapshot.tree_file("/".join(parts[:1]) + "/__init__.py") is None and parts[0] == "src"
            ):
                parts = parts[1:]
            return ".".join(parts)
        if found.module.path != self.snapshot.modules().module_of(self.group.root(self.name)).path and found.module.manifest:
            return found.module.name
        relative = posixpath.relpath(posixpath.splitext(target)[0].removesuffix("/index"), posixpath.dirname(entry) or ".")
        return relative if relative.startswith(".") else f"./{relative}"

    def _range_of(self, name: str) -> str:
        """The range by which siblings ask for a module of the repository."""
        ranges: Counter[str] = Counter()
        for member in self.group.members:
            manifest = self._json_of(posixpath.join(self.group.root(member), "package.json"))
            for section in ("dependencies", "devDependencies", "peerDependencies"):
                wanted = manifest.get(section)
                if isinstance(wanted, dict):
                    ranges.update(
                        str(value) for key, value in wanted.items() if key == name or str(value).startswith("workspace:")
                    )
        return min(ranges, key=lambda each: (-ranges[each], each), default="*")

    # ---- contents

    def _like(self, files: Any) -> str:
        example = typical(self.layout)
        paths = dict(files)
        return str(paths.get(example) or next(iter(paths.values())))

    def _content(self, path: str, files: Any) -> str:
        """The manifest after the siblings', and what at least half of the siblings have word for word."""
        if posixpath.basename(path) == "package.json" == self.group.kind:
            return self._package_json(files)
        if posixpath.basename(path) == self.group.kind:
            return self._manifest(files)
        texts = Counter(self._shape_of(member, each) for member, each in list(files)[:COMPARED])
        shape, count = min(texts.items(), key=lambda pair: (-pair[1], pair[0]), default=("", 0))
        is_shared = count > 1 and count * 2 >= min(len(files), COMPARED)
        return filled(shape, self.name) if is_shared else ""

    def _shape_of(self, member: str, path: str) -> str:
        source = self._text(path)
        return placeholders(source, member) if len(source) <= LARGEST else ""

    def _text(self, path: str) -> str:
        try:
            return self.snapshot.source(path).decode("utf-8")
        except (TokenzipError, UnicodeDecodeError):
            return ""

    def _json_of(self, path: str) -> dict[str, Any]:
        try:
            value = json.loads(self._text(path)) if self.snapshot.tree_file(path) is not None else {}
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def _package_json(self, files: Any) -> str:
        """The fields that at least half of the siblings have, with the value that most of them have."""
        manifests = [(member, self._json_of(path)) for member, path in list(files)[:COMPARED]]
        order = dict.fromkeys(key for _, manifest in manifests for key in manifest)
        out: dict[str, Any] = {}
        for key in order:
            values = [(member, manifest[key]) for member, manifest in manifests if key in manifest]
            if len(values) * 2 < len(manifests):
                continue
            if key == "name":
                out[key] = self._full_name()
            elif key in ("dependencies", "devDependencies", "peerDependencies", "description", "keywords"):
                continue
            else:
                shared = _prevailing([placeholders(json.dumps(value), member) for member, value in values])
                if shared is not None:
                    out[key] = json.loads(filled(shared, self.name))
                elif key == "version":
                    out[key] = FIRST_VERSION
        wanted = {each.name: each.range or "*" for each in (*self.packages, *self.internal)}
        if wanted:
            out["dependencies"] = dict(sorted(wanted.items()))
        return json.dumps(out, indent=2, ensure_ascii=False) + "\n"

    def _manifest(self, files: Any) -> str:
        """The manifest of the typical sibling under the new name, with the wanted dependencies in the place of its own."""
        like = self._like(files)
        member = next(name for name, path in files if path == like)
        text = filled(placeholders(self._text(like), member), self.name)
        text = re.sub(r'(?m)^(version\s*=\s*)"[^"\n]*"', rf'\g<1>"{FIRST_VERSION}"', text, count=1)
        text = re.sub(r'(?m)^(description\s*=\s*)"[^"\n]*"', r'\g<1>""', text, count=1)
        if self.group.kind == "pyproject.toml":
            wanted = ", ".join(json.dumps(f"{each.name}{each.range}") for each in (*self.packages, *self.internal))
            text = re.sub(r"(?ms)^dependencies\s*=\s*\[.*?^?\]", f"dependencies = [{wanted}]", text, count=1)
        return text

    def _check_workspaces(self, root: str) -> None:
        patterns = self._json_of("package.json").get("workspaces")
        file = "package.json"
        if isinstance(patterns, dict):
            patterns = patterns.get("packages")
        if self.snapshot.tree_file("pnpm-workspace.yaml") is not None:
            file = "pnpm-workspace.yaml"
            patterns = re.findall(r"""(?m)^\s*-\s*["']?([^"'\s#]+)""", self._text(file))
        if not isinstance(patterns, list) or not patterns:
            return
        globs = [str(each).removeprefix("./").rstrip("/") for each in patterns]
        if not any(fnmatch.fnmatchcase(root, each) for each in globs if not each.startswith("!")):
            self.conflicts.append({"what": "not in the workspace", "file": file, "path": root, "patterns": globs[:10]})

    # ---- the answer

    def result(self) -> Result:
        members = self.group.members
        summary: Item = {
            "name": self._full_name() if self.group.kind != FILE else self.name,
            "path": self.group.root(self.name)
            if self.group.kind != FILE
            else posixpath.join(self.group.folder, self.name + self.group.suffix),
            "kind": self.group.kind,
            "siblings": {"in": self.group.folder or ".", "count": len(members), "typical": typical(self.layout)},
            "files": len(self.files),
            "conflicts": len(self.conflicts),
        }
        if style := style_of(members):
            summary["style"] = style
        result = Result(
            summary=summary,
            parts={
                "conflicts": self.conflicts,
                "files": [_file_item(file) for file in self.files],
                "imports": self.edges,
                "siblings": [{"path": self._sibling_path(name)} for name in members],
            },
        )
        if len(self.layout.files) > MOST_FILES:
            result.complete = {
                "why": f"the siblings share {len(self.layout.files)} files; the first {MOST_FILES} are proposed",
                "unresolved": 0,
            }
        example = typical(self.layout)
        if example and self.group.kind == FILE:
            result.calls.append({"tool": "query_file", "arguments": {"path": self._sibling_path(example)}})
        elif example and self.snapshot.modules().at(self.group.root(example)) is not None:
            result.calls.append({"tool": "query_module", "arguments": {"module": self.group.root(example)}})
        return result

    def _sibling_path(self, name: str) -> str:
        return posixpath.join(self.group.folder, name + self.group.suffix) if self.group.kind == FILE else self.group.root(name)


def _file_item(file: Proposed) -> Item:
    item: Item = {"path": file.path, "why": file.why}
    if file.like:
        item["like"] = file.like
    if file.content and len(file.content) <= SHOWN_CONTENT:
        item["content"] = file.content
    elif file.content:
        item["characters"] = len(file.content)
    return item


def _prevailing(values: list[str]) -> str | None:
    """The value that more than half have."""
    value, count = min(Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))
    return value if count * 2 > len(values) or len(values) == 1 else None


def _declared(snapshot: Snapshot) -> dict[str, Dependency]:
    """External packages that modules of the repository declare, each with the range that most of them ask for."""
    ranges: dict[str, Counter[tuple[str, str, str]]] = {}
    for module in snapshot.modules().all():
        for each in module.dependencies:
            ranges.setdefault(each.name.lower(), Counter())[(each.name, each.range, each.source)] += 1
    out: dict[str, Dependency] = {}
    for name, counts in ranges.items():
        (real, range_, source), _ = min(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        out[name] = Dependency(real, range_, False, source)
    return out


CREATE_MODULE = Template(
    name="create-module",
    summary="Before a module is made: files after its siblings' layout, its imports, what is in the way; writes nothing",
    inputs=(
        Input("name", "of the new module, or its path", required=True),
        Input("kind", "package.json, pyproject.toml ..., package (a directory), file, or the directory of its siblings"),
        Input("dependencies", "modules of the repository or packages that it will import", is_list=True),
    ),
    steps=(
        Step(
            "learn",
            "query_repo_structure: modules of that kind; what at least half of them have",
            "siblings",
            CreateModule.learn,
        ),
        Step("depend", "query_module for each dependency", "imports", CreateModule.depend),
        Step("propose", "query_file of the siblings' files: contents that they share", "files", CreateModule.propose),
        Step("check", "query_file and query_module for each path and name", "conflicts", CreateModule.check),
    ),
    begin=CreateModule,
)
