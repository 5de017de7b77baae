"""The law of overlays in its plainest form: relink what changed and whatever consulted a fact that changed, nothing else.

This is the specification that `tokenzip.snapshot` meets with a store and git below it; here everything lies in memory, so that
thousands of random steps take seconds.
"""

from __future__ import annotations

import functools
import logging
import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from random import Random

from tokenzip.languages import registry
from tokenzip.languages.base import path_facts
from tokenzip.link import FAULT, Linker, MemoryView, changed_facts, structural_facts
from tokenzip.model import EMPTY_INTERFACE, Fact, FileIR, LinkedFile

Files = Mapping[str, FileIR]
logging.getLogger("tokenzip.link").disabled = True  # `scratch` tells of faults in one line; a traceback may have 20,000


@functools.lru_cache(maxsize=20_000)
def _extract(language: str, text: str) -> FileIR:
    ir = registry.get(language).extract(text.encode("utf-8", "surrogateescape"))
    assert ir.status != "failed", f"{language}: {ir.reason}\n{text}"
    return ir


def extract_all(sources: Mapping[str, str]) -> dict[str, FileIR]:
    """What each file of a known language says."""
    named = ((path, registry.name_for_path(path), text) for path, text in sources.items())
    return {path: _extract(language, text) for path, language, text in named if language is not None}


def scratch(files: Files, order: Iterable[str] | None = None) -> dict[str, LinkedFile]:
    """Every file linked in a fresh view, in the given order (sorted by default). No file may fail to be linked."""
    linker = Linker(MemoryView(files))
    links = {path: linker.link(path, files[path]) for path in (sorted(files) if order is None else order)}
    for path, linked in links.items():
        faults = [row.detail for row in linked.unresolved if row.detail.startswith(FAULT)]
        assert not faults, f"{path}: {faults[0]}"
    return links


@dataclass(frozen=True)
class Step:
    """What one change of the project asked for."""

    changed: frozenset[str]
    """Paths that begin, end or have other content."""
    facts: frozenset[Fact]
    """Keys whose answer differs."""
    relinked: tuple[str, ...] = ()


class Overlay:
    """A project that follows its changes, linking again only what it has to."""

    def __init__(self, files: Files) -> None:
        self.files = dict(files)
        self.links = scratch(files)

    def advance(self, files: Files, random: Random | None = None) -> Step:
        """Follow to `files`; those to link again are taken in a random order if there is a `random`."""
        step = difference(self.files, files)
        todo = [path for path in sorted(files) if path in step.changed or not self.links[path].facts.isdisjoint(step.facts)]
        if random is not None:
            random.shuffle(todo)
        kept = {path: linked for path, linked in self.links.items() if path in files}
        self.links = kept | scratch(files, todo)
        self.files = dict(files)
        return Step(step.changed, step.facts, tuple(todo))


def difference(old: Files, new: Files) -> Step:
    """What differs between two states of a project, as paths and as fact keys."""
    changed = {path for path in old.keys() | new.keys() if old.get(path) is not new.get(path)}
    facts: set[Fact] = set()
    for path in changed:
        facts |= changed_facts(path, _interface(old, path), _interface(new, path))
    begun, ended = new.keys() - old.keys(), old.keys() - new.keys()
    facts |= structural_facts(begun, ended, directories(old) ^ directories(new))
    return Step(frozenset(changed), frozenset(facts))


def _interface(files: Files, path: str):  # type: ignore[no-untyped-def]
    return files[path].interface if path in files else EMPTY_INTERFACE


def directories(paths: Iterable[str]) -> set[str]:
    """All folders that hold one of the paths, however deep."""
    found: set[str] = set()
    for path in paths:
        directory = posixpath.dirname(path)
        while directory and directory not in found:
            found.add(directory)
            directory = posixpath.dirname(directory)
    return found


def stale(actual: Mapping[str, LinkedFile], expected: Mapping[str, LinkedFile]) -> list[str]:
    """Paths whose edges or open references differ from what they should be."""
    return [
        path
        for path, linked in expected.items()
        if (actual[path].edges, actual[path].unresolved) != (linked.edges, linked.unresolved)
    ]


@dataclass
class Ablation:
    """A worse overlay, which forgets some of the facts: the test of the test. It must go wrong."""

    keep: Callable[[Fact, Negatives], bool]
    links: dict[str, LinkedFile] = field(default_factory=dict)
    facts: dict[str, frozenset[Fact]] = field(default_factory=dict)
    wrong_steps: int = 0

    def begin(self, files: Files, links: Mapping[str, LinkedFile]) -> None:
        negatives = Negatives(files)
        self.links = dict(links)
        self.facts = {path: self._kept(linked, negatives) for path, linked in links.items()}

    def advance(self, step: Step, links: Mapping[str, LinkedFile], negatives: Negatives) -> None:
        """Follow a step, taking the right result (`links`) for whatever the remaining facts say to link again."""
        for path in self.links.keys() - links.keys():
            del self.links[path], self.facts[path]
        for path, linked in links.items():
            if path in step.changed or path not in self.links or not self.facts[path].isdisjoint(step.facts):
                self.links[path] = linked
                self.facts[path] = self._kept(linked, negatives)
        self.wrong_steps += bool(stale(self.links, links))

    def _kept(self, linked: LinkedFile, negatives: Negatives) -> frozenset[Fact]:
        return frozenset(fact for fact in linked.facts if self.keep(fact, negatives))


class Negatives:
    """Tells look-ups that found something from those that did not, in one state of a project."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._view = MemoryView(files)
        self._paths = {fact for path in files for fact in path_facts(path)} | {("path", it) for it in directories(files)}

    def __contains__(self, fact: Fact) -> bool:
        kind, *rest = fact
        if kind == "path":
            return fact not in self._paths
        if kind == "stem":
            return not self._view.with_stem(rest[0])
        if kind == "announced":
            return not self._view.announcing(rest[0])
        interface = self._view.interface(rest[0])
        if kind == "sym":
            return rest[1] not in interface.names
        if kind == "def":
            return rest[1] not in interface.definitions
        if kind == "mem":
            return rest[2] not in interface.members.get(rest[1], {})
        return False
