"""Keys of the inverted index: what a file is posted under, so that it is found again without looking at every file.

Facts that linking consulted are posted as they are (their first part is their kind), but for those about the file itself: a
changed file is linked again anyway. The other keys serve look-ups by answers.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from tokenzip.languages.base import stem_of
from tokenzip.model import Fact, LinkedFile
from tokenzip.store import LinkRecord, key_hash, link_record

_OWN_FACTS = frozenset({"sym", "def", "mem", "all", "star"})
OPEN_REASONS = frozenset({"dynamic", "ambiguous", "missing"})
"""Reasons of open references that may mean a symbol of the repository."""


def edge_key(path: str, qualified: str) -> int:
    """Posted for each other file with an edge to that symbol or file."""
    return key_hash("to", path, qualified)


def open_key(name: str) -> int:
    """Posted for each file with an open reference of that name which may mean a symbol of the repository."""
    return key_hash("open", name)


def name_key(name: str) -> int:
    """Posted for each file with a symbol of that simple name."""
    return key_hash("name", name)


def stem_key(stem: str) -> int:
    """Posted for each file that a language reads, and each directory, of that stem."""
    return key_hash("stem of", stem)


def announced_key(key: str) -> int:
    """Posted for each file whose interface announces that key."""
    return key_hash("announces", key)


def fact_key(fact: Fact) -> int:
    return key_hash(*fact)


def consulted_by(path: str, linked: LinkedFile) -> set[str]:
    """The other files whose interfaces linking looked at."""
    return {fact[1] for fact in linked.facts if fact[0] in _OWN_FACTS and fact[1] != path}


def keys_of_link(path: str, linked: LinkedFile) -> set[int]:
    """What a file is posted under for what it means."""
    return keys_of_facts(path, linked) | keys_of_record(path, link_record(linked))


def keys_of_facts(path: str, linked: LinkedFile) -> set[int]:
    """The part of `keys_of_link` that the facts tell."""
    return {key_hash(*fact) for fact in linked.facts if not (fact[0] in _OWN_FACTS and fact[1] == path)}


def keys_of_record(path: str, record: LinkRecord) -> set[int]:
    """The part of `keys_of_link` that the stored record tells: targets of edges, open names."""
    keys = {edge_key(edge.path, edge.qualified) for edge in record.edges if edge.path != path}
    keys.update(open_key(row.name) for row in record.open if row.reason in OPEN_REASONS)
    return keys


def keys_of_content(names: Iterable[str], announces: Iterable[str]) -> set[int]:
    """What a file is posted under for what it says."""
    return {name_key(name) for name in names} | {announced_key(key) for key in announces}


def stems_of(paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    """(path, key) for each path and each directory above any of them (a directory's path ends in a slash), once."""
    seen: set[str] = set()
    for path in paths:
        yield path, stem_key(stem_of(path))
        directory = posixpath.dirname(path)
        while directory and directory not in seen:
            seen.add(directory)
            yield directory + "/", stem_key(stem_of(directory))
            directory = posixpath.dirname(directory)
