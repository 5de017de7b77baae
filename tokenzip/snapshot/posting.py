"""When words of contents get into the store's index: many contents at a time.

The words of a file take as much room as all the rest that is stored of a change to it, and most versions are never searched.
So new contents wait, the latest of each path, and a search reads those that wait as it reads uncommitted files. What was
replaced while it waited is never posted: a search at that old revision reads it.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokenzip.git import GitRepository
from tokenzip.index import Source, cut, language_tag, words_of_blob
from tokenzip.model import BlobId
from tokenzip.snapshot.graph import Snapshot
from tokenzip.store import WriteTransaction, pack_value, unpack_value

_AT_ONCE = 256
"""Contents that wait at most: reading as many takes the first search of a process about a tenth of a second."""
_WAITING = "paths without words"

Content = tuple[BlobId, str]
"""A blob and the language that it is read as."""


def post_in_time(writing: WriteTransaction, git: GitRepository, head: Snapshot, paths: Iterable[str]) -> None:
    """Let the new contents at some paths of `head` wait; post all that wait when they are many."""
    value = writing.meta(_WAITING)
    before: tuple[int, ...] = () if value is None else unpack_value(value)
    waiting = {*before, *map(writing.paths.intern, paths)}
    if len(waiting) > _AT_ONCE:
        files = [head.tree_file(path) for path in sorted(map(writing.paths.path, waiting))]
        post(writing, git, [(file.blob, file.language) for file in files if file is not None and file.language is not None])
        waiting = set()
    if waiting != set(before):
        writing.put_meta(_WAITING, pack_value(sorted(waiting)))


def post(writing: WriteTransaction, git: GitRepository, contents: Iterable[Content]) -> None:
    """Post the words of contents that are not posted yet. What git no longer holds is left out."""
    distinct = dict.fromkeys((blob, language) for blob, language in contents)
    fresh = [(blob, language) for blob, language in distinct if not writing.document(blob, language_tag(language))]
    sizes = git.blob_sizes([blob for blob, _ in fresh])
    sources = [Source("", blob, language, size) for (blob, language), size in zip(fresh, sizes, strict=True)]
    found = {source: words for source in sources if (words := words_of_blob(git, source)) is not None}
    if found:
        blobs = [(source.blob, language_tag(source.language)) for source in found]
        writing.post_words(blobs, sorted(cut(found).postings()))
