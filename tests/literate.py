"""Reads Markdown pages whose sources say beside each line what tokenzip must find there, and checks it.

A page is a list of cases: each ``## heading`` with the fenced blocks below it, one per file (``title=`` names it)::

    ## A method through an annotated parameter

    ```python title=pkg/a.py
    from pkg.b import C

    def f(c: C):
        c.m()           # -> calls pkg/b.py::C.m (typed)
    ```

Expectations stand in the last comment of a line, several apart by ``;``:

======================================  ============================================================================
``-> KIND HANDLE [(TIER)] [from NAME]``  an edge of that kind from this line to the handle (``::f``: in this same file); with
                                        `from`, out of that symbol (``<module>``: module level)
``!> KIND HANDLE``                      no such edge; ``!> KIND *``: no edge of that kind from this line at all
``?> REASON NAME``                      an open reference with that reason
``= KIND [FLAG ...] NAME``              a symbol with that qualified name and kind whose name stands in this line, with (at
                                        least) these flags; ``!flag``: without it
======================================  ============================================================================

A heading that ends in ``(skip: why)`` is a known gap: the case must fail, else the page is out of date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tokenzip.languages import registry
from tokenzip.link import Linker, MemoryView
from tokenzip.model import FileIR, Flag, LinkedFile, qualified_names

_FENCE = re.compile(r"^(`{3,})(\w*)[^\n]*?\btitle=(\S+)[^\n]*\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^## +(.+?)\s*$", re.MULTILINE)
_SKIP = re.compile(r"\s*\(skip: (.+)\)$")
_COMMENT = re.compile(r"(?:#|//|/\*|<!--)\s*((?:->|!>|\?>|=) .*?)\s*(?:\*/|-->)?\s*$")
_EDGE = re.compile(r"(->|!>) (\w+) (\S+)(?: \((exact|typed)\))?(?: from (\S+))?$")


@dataclass
class Case:
    """One heading of a page."""

    page: Path
    title: str
    skip: str | None
    files: dict[str, str] = field(default_factory=dict)

    def failures(self) -> list[str]:
        """What is not as the page says; empty if all is."""
        return _Check(self).run()


def cases(folder: Path) -> Iterator[Case]:
    """All cases of all pages below a folder, in order."""
    for page in sorted(folder.rglob("*.md")):
        text = page.read_text()
        headings = list(_HEADING.finditer(text))
        for at, heading in enumerate(headings):
            end = headings[at + 1].start() if at + 1 < len(headings) else len(text)
            title = heading.group(1)
            skip = _SKIP.search(title)
            case = Case(page, _SKIP.sub("", title), skip.group(1) if skip else None)
            for fence in _FENCE.finditer(text, heading.end(), end):
                case.files[fence.group(3)] = fence.group(4)
            yield case


class _Check:
    def __init__(self, case: Case) -> None:
        self.case = case
        self.irs = {path: _extract(path, text) for path, text in case.files.items()}
        self.linked = link_all(self.irs)
        self.found: list[str] = []

    def run(self) -> list[str]:
        expectations = 0
        for path, text in self.case.files.items():
            for number, line in enumerate(text.splitlines(), 1):
                comment = _COMMENT.search(line)
                for expectation in comment.group(1).split(";") if comment else ():
                    expectations += 1
                    self._check(path, number, expectation.strip())
        if not expectations:
            self.found.append("the case expects nothing")
        self.found.extend(dangling(self.irs, self.linked))
        if link_all(dict(reversed(self.irs.items()))) != self.linked:
            self.found.append("the result depends on the order in which the files were linked")
        return self.found

    def _check(self, path: str, line: int, expectation: str) -> None:
        if expectation.startswith("?>"):
            self._check_unresolved(path, line, expectation)
        elif expectation.startswith("="):
            self._check_symbol(path, line, expectation)
        elif edge := _EDGE.match(expectation):
            self._check_edge(path, line, expectation, *edge.groups())
        else:
            self.found.append(f"{path}:{line}: cannot read {expectation!r}")

    def _check_edge(
        self, path: str, line: int, expectation: str, sign: str, kind: str, handle: str, tier: str | None, source: str | None
    ) -> None:
        names = qualified_names(self.irs[path].symbols)
        here = [edge for edge in self.linked[path].edges if edge.line == line and edge.kind == kind]
        handles = []
        for edge in here:
            target = f"{edge.path}::{edge.qualified}" if edge.qualified else edge.path
            origin = names[edge.source] if edge.source >= 0 else "<module>"
            if (tier in (None, edge.tier)) and (source in (None, origin)):
                handles.append(target)
        wanted = path + handle if handle.startswith("::") else handle
        if sign == "!>":
            if (handle == "*" and here) or wanted in handles:
                self.found.append(f"{path}:{line}: forbidden edge is there: {expectation!r}")
        elif wanted not in handles:
            seen = [f"{edge.path}::{edge.qualified} ({edge.tier})" for edge in here]
            open_ones = [row[3:] for row in self.linked[path].unresolved if row.line == line]
            self.found.append(f"{path}:{line}: no {expectation!r}; {kind}: {seen}; unresolved: {open_ones}")

    def _check_unresolved(self, path: str, line: int, expectation: str) -> None:
        _, reason, name = [*expectation.split(), ""][:3]
        here = [row for row in self.linked[path].unresolved if row.line == line]
        if not any(row.reason == reason and row.name == name for row in here):
            self.found.append(f"{path}:{line}: no {expectation!r}; unresolved: {[row[1:] for row in here]}")

    def _check_symbol(self, path: str, line: int, expectation: str) -> None:
        _, kind, *flags, name = expectation.split()
        symbols = self.irs[path].symbols
        for qualified, row in zip(qualified_names(symbols), symbols, strict=True):
            if row.name_line == line and qualified == name and row.kind == kind:
                shown = Flag(row.flags)
                for flag in flags:
                    bit = Flag[flag.lstrip("!").upper()]
                    if bool(shown & bit) == flag.startswith("!"):
                        self.found.append(f"{path}:{line}: {name} has {shown!r}, not {flag}")
                return
        here = [
            (row.kind, qualified)
            for qualified, row in zip(qualified_names(symbols), symbols, strict=True)
            if row.name_line == line
        ]
        self.found.append(f"{path}:{line}: no {expectation!r}; symbols: {here}")


def dangling(irs: dict[str, FileIR], linked: dict[str, LinkedFile]) -> list[str]:
    """Edges whose target does not exist, whatever a case expects."""
    names = {path: {"", *qualified_names(ir.symbols)} for path, ir in irs.items()}
    return [
        f"{path}:{edge.line}: {edge.kind} leads to {edge.path}::{edge.qualified}, which does not exist"
        for path, result in linked.items()
        for edge in result.edges
        if edge.qualified not in names.get(edge.path, ())
    ]


def _extract(path: str, text: str) -> FileIR:
    language = registry.for_path(path)
    if language is None:
        raise ValueError(f"no language reads {path}")
    return language.extract(text.encode())


def link_all(irs: dict[str, FileIR]) -> dict[str, LinkedFile]:
    """Every file of a project in memory, linked in the order given."""
    linker = Linker(MemoryView(irs))
    return {path: linker.link(path, ir) for path, ir in irs.items()}
