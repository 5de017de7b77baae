"""`gc`: copy what live snapshots need into a new generation of the store and leave the rest behind.

Records are rewritten in path order, so that neighbours share packs again. Postings are a superset by design: those of paths
that no live snapshot has are dropped, older keys of living paths stay until a full index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tokenzip.git import GitRepository
from tokenzip.index import analysis_tag, language_tag
from tokenzip.languages import registry
from tokenzip.model import BlobId, TreeId
from tokenzip.snapshot.posting import Content, post
from tokenzip.snapshot.tree import NO_LINK, StoredTree, TreeFile, write_nodes
from tokenzip.store import Address, ReadTransaction, Store, WriteTransaction


@dataclass(frozen=True, slots=True)
class Collected:
    """What a `gc` kept."""

    snapshots: int
    bytes_before: int
    bytes_after: int
    formats: tuple[Leftover, ...] = ()
    """What older formats of the store had left."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """The store of an older format."""

    name: str
    bytes: int
    kept: str | None
    """Why it was kept; None if it was removed."""


def collect(store: Store, live: Iterable[tuple[GitRepository, TreeId]]) -> Collected:
    """Keep the snapshots of the live trees (each with a repository that holds it); drop everything else."""
    before = store.file_bytes
    trees = {tree: git for git, tree in live}
    kept = 0

    def copy(old: ReadTransaction, new: WriteTransaction) -> None:
        nonlocal kept
        kept = _Copy(old, new).run(trees)

    store.rewrite(copy)
    return Collected(kept, before, store.file_bytes)


@dataclass
class _Copy:
    old: ReadTransaction
    new: WriteTransaction
    links: dict[Address, Address] = field(default_factory=lambda: {NO_LINK: NO_LINK})
    contents: dict[tuple[BlobId, str], GitRepository] = field(default_factory=dict)
    """What live snapshots hold, each with a repository that has it."""
    records: dict[tuple[BlobId, str], Address] = field(default_factory=dict)
    interfaces: dict[tuple[BlobId, str], Address] = field(default_factory=dict)

    def run(self, trees: Mapping[TreeId, GitRepository]) -> int:
        live = {
            tree: root
            for tree in trees
            if (root := self.old.snapshot_root(tree, analysis_tag())) is not None and not self.old.absent(tree, analysis_tag())
        }
        paths: set[str] = set()
        for tree, root in live.items():
            files = [file for file in StoredTree(trees[tree], tree).files(self.old, root) if file.language is not None]
            self._copy_contents(files, trees[tree])
            self._copy_links(files)
            paths.update(file.path for file in files)
            addresses = _Addresses({file.path: self.links[file.link or NO_LINK] for file in files})
            self.new.put_snapshot(tree, analysis_tag(), write_nodes(trees[tree], self.new, tree, addresses))
        self._copy_postings(paths)
        self._copy_words()
        for key in ("users", "asked", "latest"):
            value = self.old.meta(key)
            if value is not None and not (key == "latest" and TreeId(value.hex()) not in live):
                self.new.put_meta(key, value)
        return len(live)

    def _copy_contents(self, files: Iterable[TreeFile], git: GitRepository) -> None:
        records: dict[tuple[BlobId, str], bytes] = {}
        interfaces: dict[tuple[BlobId, str], bytes] = {}
        for file in files:
            assert file.language is not None
            key, tag = (file.blob, file.language), language_tag(file.language)
            if key in self.contents:
                continue
            self.contents[key] = git
            address, beside = self.old.blob_address(file.blob, tag), self.old.interface_address(file.blob, tag)
            record = self.old.record(address) if address is not None else None
            interface = self.old.record(beside) if beside is not None else None
            if record is not None:
                records[key] = record
                if interface is not None:
                    interfaces[key] = interface
        self.records.update(zip(records, self.new.put_records(list(records.values())), strict=True))
        self.interfaces.update(zip(interfaces, self.new.put_records(list(interfaces.values())), strict=True))

    def _copy_links(self, files: Iterable[TreeFile]) -> None:
        fresh: dict[Address, bytes] = {}
        for file in files:
            if file.link is not None and file.link not in self.links and file.link not in fresh:
                fresh[file.link] = self.old.record(file.link) or b""
        addresses = self.new.put_records(list(fresh.values()))
        self.links.update(zip(fresh, addresses, strict=True))

    def _copy_postings(self, paths: set[str]) -> None:
        directories = {path[: at + 1] for path in paths for at, letter in enumerate(path) if letter == "/"}
        living = paths | directories
        ids: dict[int, int] = {}
        for number, path in self.old.paths.all():
            if path in living:
                ids[number] = self.new.paths.intern(path)
        self.new.post_sorted((key, ids[number]) for key, number in self.old.postings.pairs() if number in ids)

    def _copy_words(self) -> None:
        """Take the words over, post those that wait, and say of each content where all of it lies."""
        numbers = {content: self.old.document(content[0], language_tag(content[1])) for content in self.records}
        posted = [content for content, number in numbers.items() if number]
        places = {numbers[content]: place for place, content in enumerate(posted, 1)}
        self.new.load_words(len(posted), _renumbered(self.old.words.postings(), places))
        self.new.put_blobs(
            (
                (blob, language_tag(language)),
                address,
                places.get(numbers[blob, language], 0),
                self.interfaces.get((blob, language)),
            )
            for (blob, language), address in self.records.items()
        )
        waiting: dict[GitRepository, list[Content]] = {}
        for content, number in numbers.items():
            if not number and registry.is_searched(content[1]):
                waiting.setdefault(self.contents[content], []).append(content)
        for git, contents in waiting.items():
            post(self.new, git, contents)


def _renumbered(postings: Iterable[tuple[str, Sequence[int]]], places: Mapping[int, int]) -> Iterator[tuple[str, list[int]]]:
    for word, numbers in postings:
        kept = sorted(places[number] for number in numbers if number in places)
        if kept:
            yield word, kept


@dataclass(frozen=True)
class _Addresses:
    links: Mapping[str, Address]

    def unchanged(self, directory: str, tree: TreeId) -> Address | None:
        return None

    def before(self, directory: str) -> Address | None:
        return None

    def link(self, path: str) -> Address:
        return self.links.get(path, NO_LINK)
