"""Random tiny projects full of cycles, and random edits of them and of real sources: what histories alone never show.

A project is held as pieces of text, so that an edit can take a whole file, one statement or one member of a class. Names,
modules and paths come from very short lists: shadowing, circular imports, re-exports, wildcards and missing definitions are the
rule here, not the exception.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Protocol, TypeVar

Piece = TypeVar("Piece")
Statement = tuple[str, ...]
"""One statement; for a class or function the header and what is in it, piece by piece."""


class Grammar(Protocol):
    """What a fuzzer must know of a language."""

    @property
    def paths(self) -> tuple[str, ...]: ...

    def statement(self, random: Random) -> Statement: ...

    def member(self, random: Random, header: str) -> str:
        """One more piece below that header."""
        ...

    def header(self, random: Random, header: str) -> str:
        """The header of the same name with other bases, parameters or return type."""
        ...

    def fixed(self, random: Random, path: str) -> str | None:
        """The whole text of a file that is not made of statements (a manifest), else None."""
        ...

    def text(self, statement: Statement) -> str: ...


_COMPONENT = """<script setup lang="ts">
{}</script>
<template><A :m="x.m"><B @n="f(g)" /></A></template>
"""


@dataclass
class Project:
    """A project that changes step by step; equal seeds give equal projects and equal edits."""

    grammar: Grammar
    random: Random
    files: dict[str, tuple[Statement, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in self.grammar.paths:
            if self.random.random() < 0.6:
                self.files[path] = self._file(path)
        self._before = dict(self.files)

    def sources(self) -> dict[str, str]:
        texts = {path: "\n".join(map(self.grammar.text, statements)) + "\n" for path, statements in self.files.items()}
        return {path: _COMPONENT.format(text) if path.endswith(".vue") else text for path, text in texts.items()}

    def step(self) -> None:
        """One to two edits; now and then a file goes back to what it was some steps before."""
        for _ in range(self.random.choice((1, 1, 2))):
            self._edit()
        if self.random.random() < 0.05:
            self._before = dict(self.files)

    def _edit(self) -> None:
        random, path = self.random, self.random.choice(self.grammar.paths)
        draw = random.random()
        if path not in self.files or draw < 0.06:
            self.files[path] = self._file(path)
        elif draw < 0.16:
            if len(self.files) > 3:
                del self.files[path]
        elif draw < 0.22:
            self._rename(path)
        elif draw < 0.26 and path in self._before:
            self.files[path] = self._before[path]
        elif self.grammar.fixed(random, path) is not None:
            self.files[path] = self._file(path)
        elif draw < 0.32:
            self._move_statement(path)
        elif draw < 0.5:
            self._edit_statement(path)
        else:
            self._edit_inside(path)

    def _file(self, path: str) -> tuple[Statement, ...]:
        fixed = self.grammar.fixed(self.random, path)
        if fixed is not None:
            return ((fixed,),)
        return tuple(self.grammar.statement(self.random) for _ in range(self.random.randint(2, 7)))

    def _rename(self, path: str) -> None:
        target = self.random.choice(self.grammar.paths)
        if target not in self.files and posixpath.splitext(target)[1] == posixpath.splitext(path)[1]:
            self.files[target] = self.files.pop(path)

    def _move_statement(self, path: str) -> None:
        target = self.random.choice(sorted(self.files))
        statements = list(self.files[path])
        if target == path or len(statements) < 2 or self.grammar.fixed(self.random, target) is not None:
            return
        moved = statements.pop(self.random.randrange(len(statements)))
        self.files[path] = tuple(statements)
        self.files[target] = (*self.files[target], moved)

    def _edit_statement(self, path: str) -> None:
        self.files[path] = _edited(self.random, self.files[path], lambda: self.grammar.statement(self.random), least=1)

    def _edit_inside(self, path: str) -> None:
        """Change a piece of a class or function, or its header alone: what nobody can see from its name."""
        statements, random, grammar = list(self.files[path]), self.random, self.grammar
        compound = [index for index, statement in enumerate(statements) if len(statement) > 1]
        if not compound:
            self._edit_statement(path)
            return
        index = random.choice(compound)
        header, *members = statements[index]
        if random.random() < 0.4:
            header = grammar.header(random, header)
        else:
            members = list(_edited(random, tuple(members), lambda: grammar.member(random, header), least=1))
        statements[index] = (header, *members)
        self.files[path] = tuple(statements)


def _edited(random: Random, pieces: tuple[Piece, ...], make: Callable[[], Piece], least: int) -> tuple[Piece, ...]:
    """One piece taken out, put in or replaced."""
    out = list(pieces)
    place, draw = random.randrange(len(out) + 1), random.random()
    if draw < 0.3 and len(out) > least:
        out.pop(min(place, len(out) - 1))
    elif draw < 0.65 or place == len(out):
        out.insert(place, make())
    else:
        out[place] = make()
    return tuple(out)


class PythonGrammar:
    """Packages and modules of one name, conftests, a `src` root; imports in every form among them."""

    paths = (
        "a.py", "b.py", "p/__init__.py", "p/a.py", "p/q.py", "p/q/__init__.py", "a/__init__.py", "conftest.py",
        "t/conftest.py",
        "t/test_x.py", "src/p/__init__.py", "src/b.py", "p/q.pyi", "pyproject.toml", "setup.cfg", "lib/b.py", "lib/p/c.py",
    )  # fmt: skip
    _names = ("A", "B", "f", "g", "x")
    _attributes = ("m", "n", "f", "A")
    _modules = ("a", "b", "p", "p.a", "p.q", ".a", ".b", ".", ".q", "..a", "a", "p", "p.a")

    def fixed(self, random: Random, path: str) -> str | None:
        root = random.choice(("src", "lib", ".", "p"))
        if path == "pyproject.toml":
            return random.choice(
                (
                    "[project]\nname = 'b'", f"[tool.setuptools]\npackage-dir = {{'' = '{root}'}}",
                    f"[tool.setuptools.packages.find]\nwhere = ['{root}']",
                    f"[tool.poetry]\npackages = [{{include = 'p', from = '{root}'}}]",
                    f"[tool.hatch.build.targets.wheel]\npackages = ['{root}/p']",
                    f"[tool.pytest.ini_options]\npythonpath = ['{root}']",
                )
            )  # fmt: skip
        if path == "setup.cfg":
            return random.choice(
                (f"[options]\npackage_dir =\n    = {root}", f"[options.packages.find]\nwhere = {root}", "[metadata]")
            )
        return None

    def text(self, statement: Statement) -> str:
        return "\n".join(statement)

    def statement(self, random: Random) -> Statement:
        return random.choices(
            (
                self._import_from,
                self._star,
                self._import,
                self._all,
                self._guarded,
                self._class,
                self._function,
                self._assignment,
            ),
            (25, 8, 5, 3, 5, 26, 19, 9),
        )[0](random)

    def header(self, random: Random, header: str) -> str:
        if header.startswith("class "):
            return f"{header[: header.index('(')]}({self._bases(random)}):"
        start, _, rest = header.rpartition("def ")
        return f"{start}def {rest[: rest.index('(')]}{self._signature(random)}"

    def member(self, random: Random, header: str) -> str:
        return self._class_member(random) if header.startswith("class ") else self._body(random)

    def _body(self, random: Random) -> str:
        expression = self._expression(random)
        result = random.choice(("y", "x", expression, expression, f"y.{random.choice(self._attributes)}()"))
        return f"    {random.choice(('y = ' + expression, expression, 'return ' + result, 'return ' + result))}"

    def _signature(self, random: Random) -> str:
        returns = random.choice(("", "", f" -> {self._name(random)}"))
        return f"({random.choice(('', 'x', f'x: {self._name(random)}', 'f', 'g'))}){returns}:"

    def _bases(self, random: Random) -> str:
        number = random.choice((0, 1, 1, 2))
        return ", ".join(self._expression(random, 1) if random.random() < 0.2 else self._name(random) for _ in range(number))

    def _class_member(self, random: Random) -> str:
        draw, name = random.random(), random.choice(self._attributes)
        if draw < 0.45:
            returns = random.choice(("", "", f" -> {self._name(random)}"))
            attribute = random.choice(self._attributes)
            result = random.choice(
                (
                    "self",
                    f"super().{attribute}()",
                    f"self.{attribute}",
                    f"self.{attribute}()",
                    self._expression(random),
                    f"x.{attribute}()",
                )
            )
            return (
                f"    def {name}(self, x: {self._name(random)} = None){returns}:\n"
                f"        self.{random.choice(self._attributes)} = {self._expression(random)}\n        return {result}"
            )
        if draw < 0.55:
            return f"    @property\n    def {name}(self):\n        return {self._expression(random)}"
        if draw < 0.75:
            return f"    {name}: {self._name(random)}"
        return f"    {name} = {self._expression(random)}"

    def _name(self, random: Random) -> str:
        return random.choice(self._names)

    def _expression(self, random: Random, longest: int = 2) -> str:
        text = self._name(random)
        for _ in range(random.randint(0, longest)):
            attribute = random.choice(self._attributes)
            text += random.choice(("()", f".{attribute}", f".{attribute}()"))
        return text

    def _import_from(self, random: Random) -> Statement:
        alias = random.choice(("", "", f" as {self._name(random)}"))
        return (f"from {random.choice(self._modules)} import {random.choice((*self._names, 'a', 'b', 'q'))}{alias}",)

    def _star(self, random: Random) -> Statement:
        return (f"from {random.choice(self._modules)} import *",)

    def _import(self, random: Random) -> Statement:
        return (f"import {random.choice(('a', 'b', 'p', 'p.a', 'p.q.b', 'os', 'n.z', 'p.q as x'))}",)

    def _all(self, random: Random) -> Statement:
        return (f"__all__ = [{', '.join(repr(self._name(random)) for _ in range(random.randint(0, 4)))}]",)

    def _guarded(self, random: Random) -> Statement:
        imported = f"from {random.choice(self._modules)} import {self._name(random)} as x"
        return (f"try:\n    {imported}\nexcept ImportError:\n    x = {self._expression(random)}",)

    def _class(self, random: Random) -> Statement:
        members = (self._class_member(random) for _ in range(random.randint(1, 3)))
        return (f"class {random.choice('AB')}({self._bases(random)}):", *members)

    def _function(self, random: Random) -> Statement:
        decorator = random.choice(("", "", f"@{self._expression(random, 1)}\n", "import pytest\n@pytest.fixture\n"))
        header = f"{decorator}def {random.choice(('f', 'g', 'h', 'x', 'test_f'))}{self._signature(random)}"
        return (header, *(self._body(random) for _ in range(random.randint(1, 3))))

    def _odd(self, random: Random) -> Statement:
        """What needs other facts than names and calls: unpacking, containers, generics, attributes set from outside ..."""
        name, other, attribute, value = (
            self._name(random),
            self._name(random),
            random.choice(self._attributes),
            self._expression(random),
        )
        return (
            random.choice(
                (
                    f"{name}.{attribute} = {value}", f"{name}, {other} = {value}, {self._expression(random)}",
                    f"{name} = [{value}, {other}]", f"{name} = {{'k': {value}}}",
                    f"for {name} in {value}: {name}.{attribute}()",
                    f"with {value} as {name}: {name}.{attribute}()",
                    f"{name} = {other} if {value} else {self._expression(random)}",
                    f"{name} = property({value})", f"from typing import TypeVar\n{name} = TypeVar('{name}', bound={other})",
                    f"if isinstance({name}, {other}): {name}.{attribute}()", f"{name} = {other}[0].{attribute}()",
                    f"async def {random.choice('fgh')}():\n    return (await {value}).{attribute}()",
                    f"{name} = lambda x: {value}",
                    f"import dataclasses\n@dataclasses.dataclass\nclass {random.choice('AB')}:\n    {attribute}: {other}",
                    f"pytest_plugins = ['{random.choice(self._modules).lstrip('.') or 'p'}']", f"del {name}",
                    f"__all__ += {random.choice(self._modules).lstrip('.') or 'a'}.__all__",
                    f"def __getattr__(name):\n    return {value}", f"{name} = super({other}, {value}).{attribute}",
                    f"class {random.choice('AB')}({other}[{name}], metaclass=x):\n    def __enter__(self): return {value}",
                )
            ),
        )  # fmt: skip

    def _assignment(self, random: Random) -> Statement:
        return (f"{self._name(random)}{random.choice(('', f': {self._name(random)}'))} = {self._expression(random)}",)


class TypeScriptGrammar:
    """Barrels, both module systems, tsconfig paths with `extends`, workspaces with `exports` maps."""

    paths = (
        "src/a.ts", "src/b.ts", "src/index.ts", "src/p/index.ts", "src/p/a.tsx", "src/p.ts", "src/c.js", "src/d.mjs",
        "src/a.d.ts", "src/B.vue", "tsconfig.json", "tsconfig.base.json",
        "package.json", "packages/core/package.json", "packages/core/src/index.ts",
        "packages/core/src/a.ts", "packages/core/index.js", "packages/app/package.json", "packages/app/src/main.ts",
        "packages/app/tsconfig.json",
    )  # fmt: skip
    _names = ("A", "B", "f", "g", "x")
    _attributes = ("m", "n", "f", "A")
    _modules = (
        "./a", "./b", ".", "./p", "./p/a", "../b", "..", "../a", "./index", "./c", "./c.js", "./a.js", "./d.mjs", "./B.vue",
        "@/a", "@/p",
        "@/p/a", "~core", "@t/core", "@t/core", "@t/core/a", "@t/app", "src/b", "b", "react",
    )  # fmt: skip

    def fixed(self, random: Random, path: str) -> str | None:
        base = posixpath.basename(path)
        if base == "package.json":
            return json.dumps(self._package(random, posixpath.dirname(path)))
        if base.startswith("tsconfig"):
            return self._tsconfig(random, path)
        return None

    def text(self, statement: Statement) -> str:
        return "\n".join((*statement, "}")) if statement[0].endswith("{") else "\n".join(statement)

    def statement(self, random: Random) -> Statement:
        return random.choices(
            (
                self._import, self._re_export, self._star, self._class, self._interface, self._function, self._constant,
                self._object, self._default, self._common, self._namespace, self._odd,
            ),
            (26, 10, 9, 22, 5, 13, 8, 5, 3, 8, 2, 9),
        )[0](random)  # fmt: skip

    def header(self, random: Random, header: str) -> str:
        if "function " in header:
            return f"{header[: header.index('(')]}{self._signature(random)}"
        kind = "interface" if "interface " in header else "class"
        start, _, rest = header.partition(f"{kind} ")
        return f"{start}{kind} {rest.split()[0]}{self._bases(random, kind)} {{"

    def member(self, random: Random, header: str) -> str:
        if "function " in header:
            return self._body(random)
        return self._signature_member(random) if "interface " in header else self._class_member(random)

    def _body(self, random: Random) -> str:
        expression = self._expression(random)
        result = random.choice(("y", "x", expression, expression, f"y.{random.choice(self._attributes)}()"))
        return f"  {random.choice(('var y = ' + expression, expression, 'return ' + result, 'return ' + result))};"

    def _signature(self, random: Random) -> str:
        returns = random.choice(("", "", f": {self._name(random)}"))
        return f"({random.choice(('', 'x', f'x: {self._name(random)}'))}){returns} {{"

    def _bases(self, random: Random, kind: str) -> str:
        name = self._name(random)
        return random.choice(("", f" extends {name}", f" extends {name}", f" implements {name}" if kind == "class" else ""))

    def _signature_member(self, random: Random) -> str:
        return f"  {random.choice(self._attributes)}{random.choice((':', '():'))} {self._name(random)};"

    def _class_member(self, random: Random) -> str:
        draw, name = random.random(), random.choice(self._attributes)
        if draw < 0.5:
            attribute = random.choice(self._attributes)
            returns = random.choice(("", "", f": {self._name(random)}"))
            result = random.choice(
                (
                    "this",
                    f"super.{attribute}()",
                    f"this.{attribute}",
                    f"this.{attribute}()",
                    self._expression(random),
                    f"x.{attribute}()",
                )
            )
            static = random.choice(("", "", "", "static ", "async ", "get "))
            parameters = "" if static == "get " else f"x: {self._name(random)}"
            return (
                f"  {static}{name}({parameters}){returns} {{ this.{attribute} = {self._expression(random)}; return {result}; }}"
            )
        if draw < 0.6:
            return f"  constructor(private {name}: {self._name(random)}) {{ super(); }}"
        if draw < 0.8:
            return f"  {name}: {self._name(random)};"
        return f"  {name} = {random.choice((self._expression(random), f'() => {self._expression(random)}'))};"

    def _name(self, random: Random) -> str:
        return random.choice(self._names)

    def _module(self, random: Random) -> str:
        return random.choice(self._modules[:6] if random.random() < 0.6 else self._modules)

    def _expression(self, random: Random, longest: int = 2) -> str:
        text = random.choice((self._name(random), self._name(random), f"new {random.choice('AB')}()"))
        for _ in range(random.randint(0, longest)):
            attribute = random.choice(self._attributes)
            text += random.choice(("()", f".{attribute}", f".{attribute}()"))
        return text

    def _import(self, random: Random) -> Statement:
        name, other, module = self._name(random), self._name(random), self._module(random)
        form = random.choice(
            (
                f"import {{ {name} }}", f"import {{ {name} }}", f"import {{ {name} as {other} }}",
                f"import {{ default as {name} }}", f"import {name}",
                f"import * as {name}", f"import type {{ {name} }}", f"import {name}, {{ {other} }}",
            )
        )  # fmt: skip
        return (f"{form} from '{module}';",)

    def _re_export(self, random: Random) -> Statement:
        name, other = self._name(random), self._name(random)
        names = random.choice((name, f"{name} as {other}", f"default as {name}", f"{name} as default"))
        return (f"export {{ {names} }} from '{self._module(random)}';",)

    def _star(self, random: Random) -> Statement:
        return (f"export *{random.choice(('', '', '', f' as {self._name(random)}'))} from '{self._module(random)}';",)

    def _class(self, random: Random) -> Statement:
        export = random.choice(("export ", "export ", "", "export default "))
        members = (self._class_member(random) for _ in range(random.randint(1, 3)))
        return (f"{export}class {random.choice('AB')}{self._bases(random, 'class')} {{", *members)

    def _interface(self, random: Random) -> Statement:
        members = (self._signature_member(random) for _ in range(2))
        return (f"export interface {random.choice('AB')}{self._bases(random, 'interface')} {{", *members)

    def _function(self, random: Random) -> Statement:
        export = random.choice(("export ", "export ", "", "export default "))
        header = f"{export}function {random.choice('fgh')}{self._signature(random)}"
        return (header, *(self._body(random) for _ in range(random.randint(1, 3))))

    def _constant(self, random: Random) -> Statement:
        annotation = random.choice(("", "", f": {self._name(random)}"))
        value = random.choice((self._expression(random), f"(x: {self._name(random)}) => x.{random.choice(self._attributes)}()"))
        return (f"{random.choice(('export ', ''))}const {self._name(random)}{annotation} = {value};",)

    def _object(self, random: Random) -> Statement:
        first, second = random.choice(self._attributes), random.choice(self._attributes)
        return (
            f"export const {self._name(random)} = {{ {first}() {{ return {self._expression(random)}; }}, "
            f"{second}: {self._expression(random)} }};",
        )

    def _default(self, random: Random) -> Statement:
        return (
            random.choice((f"export default {self._expression(random)};", f"export {{ {self._name(random)} as default }};")),
        )

    def _common(self, random: Random) -> Statement:
        name, module = self._name(random), self._module(random)
        return (
            random.choice(
                (
                    f"const {name} = require('{module}');", f"const {{ {name} }} = require('{module}');",
                    f"module.exports = {self._expression(random)};", f"module.exports = {{ {name} }};",
                    f"exports.{name} = {self._expression(random)};", f"module.exports = require('{module}');",
                    f"A.prototype.{random.choice(self._attributes)} = function () {{ return {self._expression(random)}; }};",
                    f"import('{module}').then((x) => x.{name}());",
                )
            ),
        )  # fmt: skip

    def _odd(self, random: Random) -> Statement:
        """What needs other facts than names and calls: destructuring, spreads, generics, ambient declarations ..."""
        name, other, attribute, value = (
            self._name(random),
            self._name(random),
            random.choice(self._attributes),
            self._expression(random),
        )
        return (
            random.choice(
                (
                    f"{name}.{attribute} = {value};", f"export const {{ {name}, {attribute}: {other} }} = {value};",
                    f"export const {name} = [{value}, {other}];",
                    f"export const {name} = {{ ...{value}, {attribute}: {other} }};",
                    f"for (const {name} of {value}) {name}.{attribute}();", f"{name}[{value}].{attribute}();",
                    f"Object.assign({name}.prototype, {value});", f"export type {name} = {other} | {self._name(random)};",
                    f"export type {name}<T extends {other}> = T['{attribute}'];",
                    f"export enum {name} {{ {attribute}, B = 2 }}",
                    f"if ({name} instanceof {other}) {name}.{attribute}();", f"declare global {{ const {name}: {other}; }}",
                    f"declare module '{self._module(random)}' {{ function f(): {name}; class A {{ m(): {other}; }} }}",
                    f"export async function f() {{ return (await {value}).{attribute}(); }}", f"export = {name};",
                    f"export function g<T extends {name}>(x: T): T {{ return x.{attribute}(); }}",
                    f"declare const {name}: typeof {other};",
                    f"export default class extends {name} {{ {attribute}() {{ return super.{attribute}(); }} }}",
                    f"Object.keys({name}).forEach((k) => {name}[k].{attribute}());",
                    f"const {name} = {value} as unknown as {other};",
                    f"import {name} = require('{self._module(random)}');", f"export import {name} = {other}.{attribute};",
                    f"@{name}\nclass B {{ @{other}() {attribute}() {{ return {value}; }} }}", f"{name}.prototype = {value};",
                    f"module.exports.{name} = {value};", f"exports = module.exports = {value};", f"export {{ {name} }};",
                )
            ),
        )  # fmt: skip

    def _namespace(self, random: Random) -> Statement:
        member = f"export const {random.choice(self._attributes)} = {self._expression(random)};"
        return (f"export namespace {random.choice('AB')} {{\n  {member}\n}}",)

    def _package(self, random: Random, directory: str) -> dict[str, object]:
        name = {"": "root", "packages/core": "@t/core", "packages/app": "@t/app"}[directory]
        package: dict[str, object] = {"name": random.choice((name, name, name, "@t/core", "b"))}
        if not directory:
            package["workspaces"] = random.choice((["packages/*"], ["packages/core"], {"packages": ["packages/*"]}, []))
        package.update(
            random.choice(
                (
                    {"main": "./index.js"}, {"main": "src/index.ts"}, {"types": "./src/index.ts", "main": "missing.js"}, {},
                    {"exports": "./src/index.ts"}, {"exports": {".": {"types": "./src/a.ts", "default": "./index.js"}}},
                    {"exports": {".": "./src/index.ts", "./*": "./src/*.ts"}}, {"exports": {"./a": "./src/a.ts"}},
                    {"module": "./src/a.ts"},
                )
            )
        )  # fmt: skip
        return package

    def _tsconfig(self, random: Random, path: str) -> str:
        up = "../../" if path.startswith("packages/") else "./"
        options = random.choice(
            (
                {"baseUrl": ".", "paths": {"@/*": ["src/*"], "~core": ["packages/core/src/index.ts"]}},
                {"baseUrl": ".", "paths": {"@/*": ["src/p/*",
                "src/*"]}}, {"paths": {"~core": ["./src/a"], "@/*": ["./src/*"]}},
                {"baseUrl": "src"}, {"baseUrl": "."}, {},
            )
        )  # fmt: skip
        config: dict[str, object] = {"compilerOptions": options}
        if path != "tsconfig.base.json" and random.random() < 0.6:
            config["extends"] = random.choice((f"{up}tsconfig.base.json", f"{up}tsconfig.base", "./missing.json"))
            if random.random() < 0.6:
                del config["compilerOptions"]
        return "// settings\n" + json.dumps(config)


GRAMMARS: Mapping[str, Grammar] = {"python": PythonGrammar(), "typescript": TypeScriptGrammar()}


@dataclass(frozen=True)
class RealEdits:
    """Random edits of real sources, by patterns over lines: no parser that could share our mistakes."""

    suffix: str
    definition: str
    member: str
    subclass: str
    returning: str
    importing: str
    expressions: tuple[str, ...]
    new_member: str
    """Text of a further member, with ``{name}``."""
    star: str
    """Text of a wildcard import or re-export, with ``{module}``."""
    index: str
    """Base name of the file that stands for its directory."""

    def step(self, random: Random, sources: dict[str, str]) -> None:
        """One to three edits, in place."""
        for _ in range(random.choice((1, 1, 3))):
            path = random.choice(sorted(path for path in sources if path.endswith(self.suffix)))
            random.choice(
                (
                    self._rename_definition, self._rename_definition, self._rename_member, self._other_base, self._other_result,
                    self._drop_import, self._add_member, self._add_member, self._add_star, self._move_file, self._remove_file,
                    self._into_folder, self._shadow_import, self._import_more,
                )
            )(random, sources, path)  # fmt: skip

    def _line(self, random: Random, sources: dict[str, str], path: str, pattern: str) -> tuple[list[str], int] | None:
        lines = sources[path].split("\n")
        places = [index for index, line in enumerate(lines) if re.search(pattern, line)]
        return (lines, random.choice(places)) if places else None

    def _replace(
        self, random: Random, sources: dict[str, str], path: str, pattern: str, change: Callable[[re.Match[str]], str]
    ) -> None:
        found = self._line(random, sources, path, pattern)
        if found is not None:
            lines, index = found
            lines[index] = re.sub(pattern, change, lines[index], count=1)
            sources[path] = "\n".join(lines)

    def _rename_definition(self, random: Random, sources: dict[str, str], path: str) -> None:
        self._replace(random, sources, path, self.definition, lambda match: f"{match[1]}{match[2]}_z")

    def _rename_member(self, random: Random, sources: dict[str, str], path: str) -> None:
        self._replace(random, sources, path, self.member, lambda match: f"{match[1]}{match[2]}_z")

    def _other_base(self, random: Random, sources: dict[str, str], path: str) -> None:
        names = [match[2] for match in re.finditer(self.definition, sources[random.choice(sorted(sources))], re.MULTILINE)]
        self._replace(
            random, sources, path, self.subclass, lambda match: f"{match[1]}{random.choice([*names, 'Missing'])}{match[3]}"
        )

    def _other_result(self, random: Random, sources: dict[str, str], path: str) -> None:
        self._replace(random, sources, path, self.returning, lambda match: f"{match[1]}{random.choice(self.expressions)}")

    def _drop_import(self, random: Random, sources: dict[str, str], path: str) -> None:
        self._replace(random, sources, path, self.importing, lambda match: "" if match.end() == len(match.string) else match[0])

    def _add_member(self, random: Random, sources: dict[str, str], path: str) -> None:
        found = self._line(random, sources, path, r"^(export )?(default )?(abstract )?class \w+.*[:{]$")
        if found is not None:
            lines, index = found
            called = re.findall(r"\.(\w+)\(", sources[random.choice(sorted(sources))]) or ["m"]
            lines.insert(index + 1, self.new_member.format(name=random.choice(called)))
            sources[path] = "\n".join(lines)

    def _add_star(self, random: Random, sources: dict[str, str], path: str) -> None:
        other = random.choice(sorted(sources))
        stem = posixpath.basename(other).partition(".")[0]
        sources[path] = (
            self.star.format(module=random.choice((".", f"./{stem}" if "'" in self.star else f".{stem}")))
            + "\n"
            + sources[path]
        )

    def _move_file(self, random: Random, sources: dict[str, str], path: str) -> None:
        target = path.removesuffix(self.suffix) + "_moved" + self.suffix
        if not path.endswith(self.index) and target not in sources:
            sources[target] = sources.pop(path)

    def _remove_file(self, random: Random, sources: dict[str, str], path: str) -> None:
        if sum(other.endswith(self.suffix) for other in sources) > 5:
            del sources[path]

    def _into_folder(self, random: Random, sources: dict[str, str], path: str) -> None:
        target = posixpath.join(path.removesuffix(self.suffix), self.index)
        if not path.endswith(self.index) and target not in sources:
            sources[target] = sources.pop(path) if random.random() < 0.5 else ""

    def _shadow_import(self, random: Random, sources: dict[str, str], path: str) -> None:
        names = re.findall(r"^(?:from|import) (\w+)|from ['\"](?:\./)?(\w+)", sources[path], re.MULTILINE)
        if names:
            name = next(filter(None, random.choice(names)))
            directory = random.choice(("", posixpath.dirname(path)))
            sources.setdefault(posixpath.join(directory, name + self.suffix), "")

    def _import_more(self, random: Random, sources: dict[str, str], path: str) -> None:
        names = re.findall(self.definition, sources[random.choice(sorted(sources))], re.MULTILINE)
        name = random.choice(names)[1] if names else "zz"
        pattern = r"^(from [\w.]+ import \w+)$|^(import (?:type )?\{ \w+)(?= )"
        self._replace(random, sources, path, pattern, lambda match: f"{match[0]}, {name}")


REAL_EDITS = {
    "python": RealEdits(
        suffix=".py",
        definition=r"^((?:async )?def |class )(\w+)",
        member=r"^(    (?:async )?def )(\w+)",
        subclass=r"^(class \w+\()([\w.]+)(\):)$",
        returning=r"^(\s+return )(\w.*)$",
        importing=r"^(from|import) .*\w$",
        expressions=("self", "None", "super().foo()", "self.get()", "Missing()"),
        new_member="    def {name}(self): return self",
        star="from {module} import *",
        index="__init__.py",
    ),
    "typescript": RealEdits(
        suffix=".ts",
        definition=r"^((?:export )?(?:default )?(?:abstract )?(?:function|class|const|interface|type) )(\w+)",
        member=r"^(  (?:static |async |public |private )?)(\w+)(?=\()",
        subclass=r"(class \w+ extends )([\w.]+)()",
        returning=r"^(\s+return )(\w.*)$",
        importing=r"^(import|export) .*from .*$",
        expressions=("this", "undefined", "super.foo()", "this.get()", "new Missing()"),
        new_member="  {name}() {{ return this }}",
        star="export * from '{module}'",
        index="index.ts",
    ),
}
