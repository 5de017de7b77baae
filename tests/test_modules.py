"""The module map: which directories are modules, what they are called, what they declare, and what belongs to them."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest

from tokenzip.languages import registry
from tokenzip.model import EMPTY_INTERFACE, Dependency, Interface
from tokenzip.modules import ModuleMap, detect, manifest_paths


def modules_of(files: Mapping[str, str], **options: str) -> ModuleMap:
    def interface(path: str) -> Interface:
        language = registry.for_path(path)
        return language.extract(files[path].encode()).interface if language is not None else EMPTY_INTERFACE

    return detect(files, interface, lambda path: files[path].encode(), **options)


def names(found: ModuleMap) -> dict[str, str]:
    return {module.path: module.name for module in found.all()}


def test_a_root_without_a_manifest_is_a_module() -> None:
    found = modules_of({"a.py": "", "docs/b.md": ""}, root_name="project")
    (root,) = found.all()
    assert (root.path, root.name, root.manifest, root.kind, root.is_root, root.parent) == (
        "",
        "project",
        None,
        None,
        True,
        None,
    )
    assert found.module_of("docs/b.md") is root
    assert found.module_of("nowhere/at/all.py") is root


@pytest.mark.parametrize(
    ("path", "text", "name", "version"),
    [
        ("package.json", '{"name": "@s/a", "version": "1.0.0"}', "@s/a", "1.0.0"),
        ("pyproject.toml", '[project]\nname = "My.App"\nversion = "1"', "My.App", "1"),
        ("pyproject.toml", '[tool.poetry]\nname = "app"\nversion = "2"', "app", "2"),
        ("setup.cfg", "[metadata]\nname = app\nversion = attr: app.__version__", "app", ""),
        ("setup.py", "import os\nV = '3'\nfrom setuptools import setup\nsetup(name='app', version=V, **x)", "app", "3"),
        ("setup.py", "this is no Python", "here", ""),
        ("go.mod", "module example.org/app\n", "example.org/app", ""),
        ("Cargo.toml", '[package]\nname = "app"\nversion.workspace = true\n[workspace.package]\nversion = "4"', "app", "4"),
        (
            "pom.xml",
            "<project><parent><version>5</version></parent><artifactId>app</artifactId></project>",
            "app",
            "5",
        ),
        ("build.gradle", "version = '6'", "here", "6"),
        ("build.gradle.kts", 'version = "7"', "here", "7"),
    ],
)
def test_each_kind_of_manifest(path: str, text: str, name: str, version: str) -> None:
    found = modules_of({f"here/{path}": text, "here/src/a.x": "", "b.x": ""})
    module = found.module_of("here/src/a.x")
    assert (module.path, module.kind, module.manifest) == ("here", path, f"here/{path}")
    assert (module.name, module.version, module.parent) == (name, version, "")
    assert found.module_of("here") is module
    assert found.module_of("b.x").path == ""


def test_gradle_is_named_by_its_settings() -> None:
    found = modules_of({"build.gradle": "", "settings.gradle": "rootProject.name = 'app'\ninclude ':lib:core'"})
    assert names(found) == {"": "app"}


def test_nested_modules_know_their_parents() -> None:
    found = modules_of(
        {
            "package.json": '{"name": "root"}',
            "a/package.json": '{"name": "a"}',
            "a/x/y/package.json": '{"name": "y"}',
            "a/x/f.js": "",
        }
    )
    assert {module.path: module.parent for module in found.all()} == {"": None, "a": "", "a/x/y": "a"}
    assert found.module_of("a/x/f.js").name == "a"
    assert found.module_of("a/x/y/z/g.js").name == "y"


def test_vendored_code_makes_no_modules_and_test_data_only_as_workspace_members() -> None:
    found = modules_of(
        {
            "package.json": '{"name": "root", "workspaces": ["fixtures/*", "!fixtures/no"]}',
            "node_modules/x/package.json": '{"name": "x"}',
            "vendor/y/go.mod": "module y",
            "fixtures/yes/package.json": '{"name": "yes"}',
            "fixtures/no/package.json": '{"name": "no"}',
            "test/fixtures/z/package.json": '{"name": "z"}',
        }
    )
    assert names(found) == {"": "root", "fixtures/yes": "yes"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pnpm-workspace.yaml", "packages:\n  - 'fixtures/**'\n"),
        ("lerna.json", '{"packages": ["fixtures/*/core"]}'),
        ("Cargo.toml", '[workspace]\nmembers = ["fixtures/*/core"]'),
        ("settings.gradle", "include ':fixtures:x:core'"),
    ],
)
def test_every_kind_of_workspace_lists_members(path: str, text: str) -> None:
    assert "fixtures/x/core" in names(modules_of({path: text, "fixtures/x/core/setup.py": ""}))


def test_manifests_that_only_set_options_make_no_module() -> None:
    found = modules_of(
        {
            "dist/package.json": '{"type": "commonjs"}',
            "tests/pyproject.toml": "[tool.ruff]\nline-length = 1",
            "docs/setup.cfg": "[flake8]\nmax = 1",
            "broken/package.json": "{",
        }
    )
    assert names(found) == {"": ".", "broken": "broken"}


def test_several_manifests_in_one_directory_make_one_module() -> None:
    found = modules_of(
        {
            "package.json": '{"name": "tooling", "devDependencies": {"prettier": "^3"}}',
            "pyproject.toml": '[build-system]\nrequires = ["setuptools"]',
            "setup.cfg": "[metadata]\nname = app\ndescription = text\n[options]\ninstall_requires =\n  click>=8",
        }
    )
    (module,) = found.all()
    assert (module.name, module.kind, module.description) == ("app", "setup.cfg", "text")
    assert module.dependencies == (Dependency("click", ">=8", False, "pip"), Dependency("prettier", "^3", True, "npm"))


def test_options_of_tools_do_not_hide_a_manifest_of_another_kind() -> None:
    (module,) = modules_of({"pyproject.toml": "[tool.black]", "package.json": '{"name": "app"}'}).all()
    assert (module.name, module.kind) == ("app", "package.json")


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "package.json",
            '{"dependencies": {"a": "^1"}, "devDependencies": {"a": "1", "b": "2"}, "peerDependencies": {"c": "*"}}',
            [("a", "^1", False), ("c", "*", False), ("b", "2", True)],
        ),
        (
            "pyproject.toml",
            '[project]\nname="x"\ndependencies = ["A_b[c] >= 1 ; python_version < \'4\'", "u @ git+https://x"]\n'
            '[project.optional-dependencies]\ndev = ["d (>2)"]\nextra = ["e"]\n'
            '[dependency-groups]\nlint = ["f==1", {include-group = "g"}]',
            [("a-b", ">= 1", False), ("e", "", False), ("u", "@ git+https://x", False), ("d", ">2", True), ("f", "==1", True)],
        ),
        (
            "pyproject.toml",
            '[tool.poetry.dependencies]\npython = "^3"\na = {version = "^1"}\n[tool.poetry.group.dev.dependencies]\nb = "2"',
            [("a", "^1", False), ("b", "2", True)],
        ),
        ("setup.py", "setup(install_requires=['a>1'], tests_require=['b'])", [("a", ">1", False), ("b", "", True)]),
        ("go.mod", "module m\nrequire (\n a.b/c v1\n d.e/f v2 // indirect\n)", [("a.b/c", "v1", False)]),
        (
            "Cargo.toml",
            '[package]\nname="x"\n[dependencies]\na = "1"\nr = {package = "real", version = "2"}\n[dev-dependencies]\nb = "3"',
            [("a", "1", False), ("real", "2", False), ("b", "3", True)],
        ),
        (
            "pom.xml",
            "<project><artifactId>x</artifactId><properties><v>9</v></properties><dependencies><dependency><groupId>g</groupId>"
            "<artifactId>a</artifactId><version>${v}</version></dependency><dependency><groupId>g</groupId>"
            "<artifactId>t</artifactId><scope>test</scope></dependency></dependencies></project>",
            [("g:a", "9", False), ("g:t", "", True)],
        ),
        (
            "build.gradle",
            "dependencies {\n implementation 'g:a:1'\n testImplementation 'g:b:2'\n}",
            [("g:a", "1", False), ("g:b", "2", True)],
        ),
    ],
)
def test_dependencies(path: str, text: str, expected: list[tuple[str, str, bool]]) -> None:
    (module,) = modules_of({path: text}).all()
    assert [(one.name, one.range, one.dev) for one in module.dependencies] == expected


def test_modules_of_the_tree_are_internal_and_no_external_dependencies() -> None:
    found = modules_of(
        {
            "package.json": '{"name": "root", "workspaces": ["p/*"]}',
            "p/a/package.json": '{"name": "@s/a", "dependencies": {"@s/b": "workspace:*", "left": "1"}}',
            "p/b/package.json": '{"name": "@s/b"}',
            "py/x/pyproject.toml": '[project]\nname = "x"\ndependencies = ["Y.z"]',
            "py/y/pyproject.toml": '[project]\nname = "y_z"',
            "c/one/Cargo.toml": '[package]\nname = "one"\n[dependencies]\nrenamed = {path = "../two"}',
            "c/two/Cargo.toml": '[package]\nname = "two"',
            "g/settings.gradle": "include ':m', ':n'",
            "g/m/build.gradle": "dependencies {\n api project(':n')\n}",
            "g/n/build.gradle": "",
        }
    )
    internal = {module.path: [other.path for other in found.internal(module)] for module in found.all()}
    assert {path: others for path, others in internal.items() if others} == {
        "p/a": ["p/b"],
        "py/x": ["py/y"],
        "c/one": ["c/two"],
        "g/m": ["g/n"],
    }
    module = found.at("p/a")
    assert module is not None
    assert [one.name for one in module.dependencies] == ["left"]


def test_modules_are_found_by_name_path_and_last_part() -> None:
    found = modules_of(
        {"p/core/package.json": '{"name": "@s/core"}', "q/core/setup.py": "", "r/package.json": '{"name": "r2"}'}
    )
    assert [module.path for module in found.named("@s/core")] == ["p/core"]
    assert [module.path for module in found.named("r")] == ["r"]
    assert [module.path for module in found.named("core")] == ["q/core"]
    assert found.named("nothing") == ()


def test_values_of_the_wrong_type_do_no_harm() -> None:
    for path, text in {
        "package.json": '{"name": 1, "dependencies": [], "workspaces": {"packages": 3}, "devDependencies": {"a": {}}}',
        "pyproject.toml": 'project = 1\ntool = "x"\ndependency-groups = []',
        "Cargo.toml": 'package = []\nworkspace = 1\ndependencies = {a = 1}\ntarget = {x = "y"}',
        "setup.cfg": "[options]\ninstall_requires =\n -r x\n",
        "pom.xml": "<project><dependencies>text</dependencies><modules/><parent>x</parent></project>",
        "setup.py": "from setuptools import *\nsetup(name=name(), install_requires={1: 2})",
    }.items():
        assert len(modules_of({path: text}).all()) == 1, path


def test_only_base_names_are_looked_at() -> None:
    assert manifest_paths(["a/package.json", "xpackage.json", "b/Cargo.toml.bak", "setup.py/x", "go.mod"]) == [
        "a/package.json",
        "go.mod",
    ]


def test_a_hundred_thousand_paths_are_quick() -> None:
    paths = [f"src/d{number % 997}/e{number % 31}/file{number}.py" for number in range(100_000)] + ["src/d1/setup.py"]
    begin = time.process_time()
    found = detect(paths, lambda path: EMPTY_INTERFACE)
    counted = sum(found.module_of(path).path == "src/d1" for path in paths)
    assert time.process_time() - begin < 2  # measured: 0.1 s
    assert counted > 100
