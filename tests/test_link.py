"""The linker: faults stay with their file and mend, and a change of interface names the facts it touches."""

from __future__ import annotations

import pytest

from tokenzip.index import extract
from tokenzip.languages.base import Wanted
from tokenzip.languages.python.edges import PythonEvaluator
from tokenzip.link import FAULT, Linker, MemoryView, changed_facts, structural_facts
from tokenzip.model import EMPTY_INTERFACE, FileIR, Interface


def project(**files: str) -> dict[str, FileIR]:
    return {name.replace("__", "/") + ".py": extract(source.encode(), "python") for name, source in files.items()}


def test_a_fault_stays_with_its_file_and_keeps_what_it_consulted(monkeypatch: pytest.MonkeyPatch) -> None:
    files = project(a="from b import f\nf()\n", b="def f():\n    pass\n", c="from b import f\nf()\n")
    real = PythonEvaluator.link

    def fail_after_linking(self: PythonEvaluator, path: str, ir: FileIR, wanted: Wanted | None = None) -> object:
        linked = real(self, path, ir, wanted)
        if path == "a.py":
            raise KeyError(path)
        return linked

    monkeypatch.setattr(PythonEvaluator, "link", fail_after_linking)
    linker = Linker(MemoryView(files))
    broken, sound = linker.link("a.py", files["a.py"]), linker.link("c.py", files["c.py"])
    assert [row.detail for row in broken.unresolved] == [f"{FAULT}: KeyError"]
    assert ("sym", "b.py", "f") in broken.facts
    assert {edge.qualified for edge in sound.edges if edge.kind == "calls"} == {"f"}


def test_equal_interfaces_touch_nothing() -> None:
    interface = extract(b"def f():\n    return 1\n", "python").interface
    assert changed_facts("a.py", interface, interface) == set()


def test_a_comment_or_a_shifted_line_leaves_the_interface_equal() -> None:
    before = extract(b"def f(a: int) -> int:\n    return a\n", "python").interface
    after = extract(b"# new\n\n\ndef f(a: int) -> int:\n    # why\n    print(a)\n    return a\n", "python").interface
    assert before == after


def test_each_part_of_an_interface_has_its_fact() -> None:
    old = Interface({"n": 1, "same": 2}, {"f": 1}, {"C": {"m": 1, "kept": 2}}, ("x",), ("package:a",))
    new = Interface({"n": 2, "same": 2, "more": 3}, {"f": 2}, {"C": {"m": 2, "kept": 2}, "D": {"x": 1}}, (), ("package:b",))
    assert changed_facts("p", old, new) == {
        ("sym", "p", "n"),
        ("sym", "p", "more"),
        ("def", "p", "f"),
        ("mem", "p", "C", "m"),
        ("all", "p", "C"),
        ("all", "p", "D"),
        ("mem", "p", "D", "x"),
        ("def", "p", "D"),
        ("star", "p"),
        ("announced", "package:a"),
        ("announced", "package:b"),
    }
    assert changed_facts("p", new, EMPTY_INTERFACE) >= {("sym", "p", "same"), ("mem", "p", "C", "kept")}


def test_a_path_that_begins_answers_to_all_its_bases() -> None:
    assert structural_facts(["a/b.d.ts"], [], ["a"]) == {
        ("path", "a/b.d.ts"),
        ("path", "a/b.d"),
        ("path", "a/b"),
        ("stem", "b"),
        ("path", "a"),
        ("stem", "a"),
    }
    assert ("path", "p") in structural_facts([], ["p/__init__.py"], [])
