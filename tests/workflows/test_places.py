"""From frames to files and symbols of one state."""

from __future__ import annotations

import pytest

from tokenzip.repository import Repository
from tokenzip.workflows.places import Place, locate
from tokenzip.workflows.traces import Frame


def place(
    project: Repository, file: str, line: int = 0, function: str = "", language: str = "python", at: str = "HEAD"
) -> Place:
    return locate(project.snapshot(at), [Frame(file, line, function, language)])[0]


@pytest.mark.parametrize(
    "file",
    [
        "shop/cart.py", "./shop/cart.py", "/app/shop/cart.py", "C:/work/project/shop/cart.py", "cart.py",
        "/srv/releases/7/src/shop/cart.py", "/usr/lib/python3.11/site-packages/shop/cart.py",
    ],
)  # fmt: skip
def test_a_path_is_matched_by_its_end(file: str, project: Repository) -> None:
    found = place(project, file, 9, "total")
    assert (found.key.handle, found.match) == ("shop/cart.py::Cart.total", "function")


@pytest.mark.parametrize(
    ("file", "language", "package"),
    [
        ("/usr/lib/python3.11/site-packages/pip/_vendor/shop/cart.py", "python", "pip"),
        ("/usr/lib/python3.11/json/decoder.py", "python", "python"),
        ("/usr/lib/python3.11/shop/cart.py", "python", "python"),
        ("<frozen importlib._bootstrap>", "python", "python"),
        ("<string>", "python", "<string>"),
        ("node:internal/modules/cjs/loader", "node", "node"),
        ("/app/node_modules/@scope/name/dist/a.js", "node", "@scope/name"),
        ("/app/node_modules/express/lib/router.js", "node", "express"),
        ("/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860/library/std/src/panicking.rs", "rust", "rust"),
        ("/root/.cargo/registry/src/index.crates.io-1/tokio-1.35.0/src/lib.rs", "rust", "tokio"),
        ("/root/go/pkg/mod/github.com/gin-gonic/gin@v1.9.0/context.go", "go", "github.com/gin-gonic/gin"),
        ("/usr/local/go/src/net/http/server.go", "go", "go"),
        ("java/lang/Thread.java", "jvm", "java.lang"),
        ("org/springframework/web/Servlet.java", "jvm", "org.springframework.web"),
        ("/elsewhere/app/lib/cart.py", "python", "lib/cart.py"),
    ],
)
def test_what_is_not_here_is_external_and_named(file: str, language: str, package: str, project: Repository) -> None:
    found = place(project, file, 3, "total" if "elsewhere" not in file else "other", language)
    assert (found.path, found.match, found.package) == ("", "external", package)


def test_a_line_without_a_name_lies_in_what_is_around_it(project: Repository) -> None:
    assert place(project, "shop/cart.py", 9).key.handle == "shop/cart.py::Cart.total"
    assert place(project, "shop/cart.py", 13, "add").key.handle == "shop/cart.py::checkout.add"
    assert place(project, "shop/cart.py", 1).key.handle == "shop/cart.py"
    assert place(project, "shop/prices.py", 5).key.qualified == "PRICES"


def test_the_line_is_that_of_the_revision(project: Repository) -> None:
    assert place(project, "shop/prices.py", 13, "price", at="HEAD~1").match == "function"
    found = place(project, "shop/prices.py", 13, "price")
    assert (found.key.handle, found.match) == ("shop/prices.py::price", "name")
    assert found.note == "line 13 is not in price at this revision; it is at 14-15"


def test_what_a_trace_shows_of_a_line_says_where_it_is_now(project: Repository) -> None:
    def found(line: int, text: str, function: str = "fetch", at: str = "HEAD") -> Place:
        return locate(project.snapshot(at), [Frame("/app/shop/prices.py", line, function, "python", text)])[0]

    same = found(11, "return PRICES[item]")
    assert (same.match, same.line, same.note) == ("function", 11, "")
    assert found(9, "return PRICES[item]", at="HEAD~1").match == "function"
    shifted = found(9, "return PRICES[item]")
    assert (shifted.match, shifted.line, shifted.is_certain) == ("text", 11, True)
    assert shifted.note == "line 9 of the trace is line 11 at this revision"
    gone = found(11, "return PRICES.get(item)")
    assert (gone.key.qualified, gone.match, gone.line, gone.is_certain) == ("fetch", "changed", 0, False)
    assert found(3, "return fetch(item)", "").line == 15, "without a function the file is enough, if the text is in one line"


def test_a_function_that_is_elsewhere_is_said_to_be(project: Repository) -> None:
    found = place(project, "shop/cart.py", 3, "fetch")
    assert (found.key.handle, found.match) == ("shop/prices.py::fetch", "moved")
    assert found.note == "shop/cart.py has no fetch at this revision; shop/prices.py::fetch is the only one of that name"
    assert place(project, "shop/cart.py", 9, "gone").note.startswith("no gone in shop/cart.py")
    assert "beyond the" in place(project, "shop/cart.py", 900).note


def test_constructors_go_by_their_class(project: Repository) -> None:
    assert place(project, "shop/cart.py", 6, "__init__").key.handle == "shop/cart.py::Cart.__init__"
    made = place(project, "/app/web/packages/view-list/src/index.ts", 1, "new ViewList", "node")
    assert (made.key.qualified, made.match) == ("ViewList", "function")


def test_files_that_fit_equally_are_told_apart_by_the_function_or_not_at_all(project: Repository) -> None:
    found = place(project, "/app/src/index.ts", 4, "show", "node")
    assert found.key.handle == "web/packages/view-item/src/index.ts::show"
    unclear = place(project, "/app/src/index.ts", 1, "", "node")
    assert (unclear.match, unclear.is_here) == ("ambiguous", False)
    assert unclear.candidates == ("web/packages/view-item/src/index.ts", "web/packages/view-list/src/index.ts")


def test_frames_of_one_trace_help_each_other(project: Repository) -> None:
    frames = [Frame("/app/src/index.ts", 4, "", "node"), Frame("/app/src/view-list.test.ts", 3, "", "node")]
    first, second = locate(project.snapshot("HEAD"), frames)
    assert (first.path, second.path) == (
        "web/packages/view-list/src/index.ts",
        "web/packages/view-list/src/view-list.test.ts",
    )


def test_a_file_at_the_top_is_believed_only_with_a_reason(project: Repository) -> None:
    assert place(project, "/app/manage.py", 5, "main").path == "manage.py"
    assert place(project, "/app/manage.py", 8).path == "manage.py"
    assert place(project, "/usr/bin/other/manage.py", 300, "run").match == "external"
    beside = locate(
        project.snapshot("HEAD"), [Frame("/app/manage.py", 300, "", "python"), Frame("/app/shop/cart.py", 9, "", "python")]
    )
    assert beside[0].path == "manage.py"


def test_a_compiled_script_is_found_by_the_function(project: Repository) -> None:
    found = place(project, "/app/web/packages/view-list/dist/index.js", 99, "ViewList.render", "node")
    assert (found.key.handle, found.match) == ("web/packages/view-list/src/index.ts::ViewList.render", "name")
    assert "compiled" in found.note
    assert place(project, "/app/packages/view-list/dist/index.js", 99, "other", "node").match == "external"


def test_a_module_of_the_workspace_is_no_foreign_package(project: Repository) -> None:
    found = place(project, "/app/node_modules/@shop/view-list/src/index.ts", 3, "ViewList.render", "node")
    assert found.key.handle == "web/packages/view-list/src/index.ts::ViewList.render"


@pytest.mark.parametrize(
    ("file", "language", "path"),
    [
        ("/app/go/cart/cart.go", "go", "go/cart/cart.go"),
        ("github.com/acme/shop/go/cart/cart.go", "go", "go/cart/cart.go"),
        ("src/main.rs", "rust", "rust/src/main.rs"),
        ("com/acme/Shop.java", "jvm", "jvm/src/main/java/com/acme/Shop.java"),
        ("com/acme/cart/Cart.kt", "jvm", "jvm/src/main/kotlin/Cart.kt"),
    ],
)
def test_languages_without_symbols_are_mapped_to_files(file: str, language: str, path: str, project: Repository) -> None:
    found = place(project, file, 3, "total", language)
    assert found.path == path
    assert found.match == ("file" if found.symbol is None else "function")


def test_a_class_of_another_package_is_not_ours(project: Repository) -> None:
    assert place(project, "org/other/Cart.kt", 3, "total", "jvm").match == "external"


# What does not agree is said, and makes nothing certain.


@pytest.mark.parametrize(
    ("file", "line", "function", "handle", "match", "note"),
    [
        ("shop/cart.py", 99, "", "shop/cart.py", "beyond", "line 99 is beyond the 16 lines"),
        ("shop/cart.py", 99, "nobody", "shop/cart.py", "beyond", "line 99 is beyond the 16 lines"),
        ("shop/cart.py", 99, "total", "shop/cart.py::Cart.total", "name", "line 99 is not in total"),
        ("shop/cart.py", 9, "nobody", "shop/cart.py::Cart.total", "other", "no nobody in shop/cart.py"),
        ("shop/cart.py", 1, "nobody", "shop/cart.py", "other", "no nobody in shop/cart.py"),
    ],
)
def test_a_line_and_a_function_that_are_not_there(
    file: str, line: int, function: str, handle: str, match: str, note: str, project: Repository
) -> None:
    found = place(project, file, line, function)
    assert (found.key.handle, found.match, found.is_certain) == (handle, match, False)
    assert found.note.startswith(note)
    assert found.line in (0, line)


@pytest.mark.parametrize(
    ("file", "language", "would_be"),
    [
        ("shop/carts.py", "python", "shop/carts.py"),
        ("it fails in shop/carts.py", "python", "shop/carts.py"),
        ("/app/web/packages/view-list/src/gone.ts", "node", "web/packages/view-list/src/gone.ts"),
        ("C:/work/web/packages/view-list/src/gone.ts", "node", "web/packages/view-list/src/gone.ts"),
    ],
)
def test_a_file_that_would_be_here_and_is_not(file: str, language: str, would_be: str, project: Repository) -> None:
    found = place(project, file, 3, "other", language)
    assert (found.match, found.is_here, found.candidates) == ("missing", False, (would_be,))
    assert found.note == f"there is no {would_be} at this revision"


def test_the_other_frames_tell_where_a_file_would_be(project: Repository) -> None:
    frames = [Frame("/srv/app/shop/cart.py", 9, "total", "python"), Frame("/srv/app/new/thing.py", 3, "f", "python")]
    assert [each.match for each in locate(project.snapshot(), frames)] == ["function", "missing"]
    assert place(project, "/srv/app/new/thing.py", 3, "f").match == "external"
