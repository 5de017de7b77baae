"""What a file means in its project: `link` is pure, and reads interfaces of other files only, never their link results.

So there is no cascade: when files change, the facts whose answers differ (`changed_facts`) name every other file that has to
be linked again, and one round is enough.
"""

from __future__ import annotations

import logging
import posixpath
import sys
from collections.abc import Iterable, Mapping
from operator import itemgetter

from tokenzip.languages import registry
from tokenzip.languages.base import Evaluator, View, Wanted, path_facts, stem_of
from tokenzip.model import EMPTY_INTERFACE, Fact, FileIR, Interface, LinkedFile, UnresolvedRow

_ORDER = itemgetter(0, 3, 1, 2, 4, 5, 6)
"""By source symbol, in it by line. Plain tuples: comparing named ones costs three times as much."""
_LOG = logging.getLogger(__name__)
_NOTHING = LinkedFile()
FAULT = "fault in linking"
"""Begins the detail of the one open reference that stands for a file whose linking failed."""


UNREAD_NAME = "<unread>"


def unread(why: str, facts: frozenset[Fact] = frozenset()) -> LinkedFile:
    """What stands for a source of which nobody knows what it uses: one open reference of a name that no code can have."""
    return LinkedFile(unresolved=(UnresolvedRow(-1, "references", 1, UNREAD_NAME, "dynamic", why),), facts=facts)


UNREAD = unread("not read")
"""Of a source that was skipped, or that the extractor failed on."""

_REST = UnresolvedRow(-1, "references", 1, UNREAD_NAME, "dynamic", "read in part")
"""Of a source of which a part could not be read: beside what the other parts use."""


RECURSION = 20_000
"""Frames that evaluation may nest. Its depth follows the code it reads (a re-export of a re-export ...), is bounded by
counts in the languages, and costs no C stack since Python 3.11."""


class Linker:
    """Links the files of one view. Keeps an evaluator for each language family, and with it what was worked out so far."""

    def __init__(self, view: View) -> None:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION))
        self.view = view
        self._evaluators: dict[str, Evaluator] = {}

    def link(self, path: str, ir: FileIR, wanted: Wanted | None = None) -> LinkedFile:
        """Edges, open references and consulted facts of the file; empty for a manifest, `UNREAD` for a source without body.

        What is not `wanted` may be left out.
        """
        language = registry.for_path(path)
        if language is None:
            return _NOTHING
        if ir.body is None:
            return UNREAD if registry.is_source(language.name) else _NOTHING
        evaluator = self._evaluators.get(language.family)
        if evaluator is None:
            evaluator = self._evaluators[language.family] = language.evaluator(self.view)
        try:
            linked = evaluator.link(path, ir, wanted)
            if ir.status == "partial":
                linked = LinkedFile(linked.edges, (*linked.unresolved, _REST), linked.facts)
            return _canonical(linked)
        except Exception as error:  # one file that cannot be linked must not end the run, nor pass for one without edges
            _LOG.exception("linking %s failed", path)
            facts = frozenset(evaluator.facts)
            del self._evaluators[language.family]
            return unread(f"{FAULT}: {type(error).__name__}", facts)

    def forget(self) -> None:
        """Give up all that was worked out. Evaluators refer to themselves: only a look for cycles would free them otherwise,
        and that took a fifth of the time of linking a large tree."""
        for evaluator in self._evaluators.values():
            vars(evaluator).clear()
        self._evaluators.clear()


def _canonical(linked: LinkedFile) -> LinkedFile:
    """The same edges in one order, each once: by source symbol, and in it by line."""
    edges = sorted(set(linked.edges), key=_ORDER)
    return LinkedFile(tuple(edges), tuple(sorted(linked.unresolved)), linked.facts)


def changed_facts(path: str, old: Interface, new: Interface) -> set[Fact]:
    """The keys whose answer differs between two interfaces of one path (an absent file is `EMPTY_INTERFACE`)."""
    facts: set[Fact] = {("sym", path, name) for name in _differing(old.names, new.names)}
    facts.update(("def", path, qualified) for qualified in _differing(old.definitions, new.definitions))
    for cls in _differing(old.members, new.members):
        before, after = old.members.get(cls, {}), new.members.get(cls, {})
        facts.update(("mem", path, cls, name) for name in _differing(before, after))
        facts.add(("all", path, cls))
        if (cls in old.members) != (cls in new.members):
            facts.add(("def", path, cls))
    if old.stars != new.stars:
        facts.add(("star", path))
    facts.update(("announced", key) for key in set(old.announces) ^ set(new.announces))
    return facts


def _differing(old: Mapping[str, object], new: Mapping[str, object]) -> Iterable[str]:
    if old == new:
        return ()
    return [key for key in old.keys() | new.keys() if key not in old or key not in new or old[key] != new[key]]


def structural_facts(begun: Iterable[str], ended: Iterable[str], directories: Iterable[str]) -> set[Fact]:
    """The keys whose answer differs because files begin or end to exist, or `directories` do."""
    facts: set[Fact] = set()
    for path in (*begun, *ended):
        facts.update(path_facts(path))
        facts.add(("stem", stem_of(path)))
    for directory in directories:
        facts.add(("path", directory))
        facts.add(("stem", stem_of(directory)))
    return facts


class MemoryView:
    """A whole project held in memory: the plain form of `View`, for tests and for linking a tree from scratch."""

    def __init__(self, files: Mapping[str, FileIR]) -> None:
        self._files = files
        self._directories = {""}
        self._stems: dict[str, set[str]] = {}
        self._announcing: dict[str, set[str]] = {}
        for path, ir in files.items():
            self._add(path, ir)

    def _add(self, path: str, ir: FileIR) -> None:
        self._stems.setdefault(stem_of(path), set()).add(path)
        for key in ir.interface.announces:
            self._announcing.setdefault(key, set()).add(path)
        directory = posixpath.dirname(path)
        while directory and directory not in self._directories:
            self._directories.add(directory)
            self._stems.setdefault(stem_of(directory), set()).add(directory)
            directory = posixpath.dirname(directory)

    def interface(self, path: str) -> Interface:
        ir = self._files.get(path)
        return ir.interface if ir is not None else EMPTY_INTERFACE

    def is_file(self, path: str) -> bool:
        return path in self._files

    def is_directory(self, path: str) -> bool:
        return path in self._directories

    def with_stem(self, stem: str) -> tuple[str, ...]:
        return tuple(sorted(self._stems.get(stem, ())))

    def announcing(self, key: str) -> tuple[str, ...]:
        return tuple(sorted(self._announcing.get(key, ())))
