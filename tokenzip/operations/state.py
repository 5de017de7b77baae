"""How things stand: what the store holds of a repository, how much of it was understood, and whether that is still true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tokenzip.errors import TokenzipError
from tokenzip.items import Item
from tokenzip.operations.structure import language_items
from tokenzip.operations.survey import Survey, survey

if TYPE_CHECKING:
    from tokenzip.repository import Repository
    from tokenzip.snapshot import Snapshot

REFS = 200
"""Refs that a status looks up; the others are only counted."""
ANCESTORS = 500
"""Commits behind HEAD that a status looks at to find an indexed one."""


def status(repository: Repository) -> dict[str, Any]:
    """The state of the store for this repository. Indexes nothing and makes no store."""
    head = repository.git.head()
    answer: dict[str, Any] = {
        "repository": repository.root or repository.git.common_dir,
        "head": {"commit": head, "branch": repository.git.head_branch()},
        "store": _store(repository),
    }
    if not answer["store"]["exists"]:
        answer["freshness"] = {
            "state": "behind" if head else "fresh",
            "why": "nothing is indexed yet" if head else "no commits yet",
        }
        return answer
    answer["freshness"] = _freshness(repository, head)
    submodules = list(_submodules(repository))
    if submodules:
        answer["submodules"] = submodules
    answer["refs"] = _refs(repository)
    if head is not None and repository.is_indexed(head):
        answer["coverage"] = coverage(repository.snapshot(head))
    return answer


def _store(repository: Repository) -> Item:
    folder = repository.store.folder
    item: Item = {"folder": str(folder), "kind": repository.config.store, "exists": folder.is_dir()}
    if item["exists"]:
        with repository.store.reading() as reading:
            item["snapshots"] = reading.entries("snapshot")
            item["files"] = reading.entries("blob")
        item["bytes"] = repository.store.file_bytes
    return item


def _freshness(repository: Repository, head: str | None) -> Item:
    """``fresh``: HEAD is indexed; ``behind``: an older commit is; ``unknown``: nothing that HEAD descends from is."""
    if head is None:
        return {"state": "fresh", "why": "no commits yet"}
    try:
        for distance, (commit, _) in enumerate(repository.git.ancestors(head, ANCESTORS)):
            if repository.is_indexed(commit):
                if not distance:
                    return {"state": "fresh", "why": "HEAD is indexed"}
                return {"state": "behind", "why": f"the nearest indexed commit is {commit[:10]}", "commits": distance}
    except TokenzipError as error:
        return {"state": "unknown", "why": error.message}
    return {"state": "unknown", "why": f"none of the last {ANCESTORS} commits is indexed"}


def _submodules(repository: Repository) -> Iterator[Item]:
    """The repositories inside this one: which commit HEAD wants of each, whether it is there to be asked, and whether its files
    are part of the graph."""
    git = repository.git
    joined = git.joints(git.joined(git.resolve("HEAD")[1])) if git.head() is not None else {}
    for submodule in git.submodules():
        item: Item = {"path": submodule.path, "commit": submodule.commit, "joined": submodule.path in joined}
        in_graph = "in the graph of HEAD" if item["joined"] else "not in the graph of HEAD: its commit is not here"
        if not submodule.is_there:
            yield {**item, "state": "absent", "why": f"not checked out; {in_graph}"}
        elif submodule.found == submodule.commit:
            yield {**item, "state": "here", "why": in_graph}
        else:
            at = submodule.found[:10] if submodule.found else "no commit"
            yield {**item, "state": "elsewhere", "why": f"checked out at {at}; {in_graph}"}


def _refs(repository: Repository) -> Item:
    tips = repository.git.ref_tips()
    looked_at = sorted(tips.items())[:REFS]
    indexed = []
    for name, commit in looked_at:
        try:
            known = repository.is_indexed(commit)
        except TokenzipError:
            known = False
        if known:
            indexed.append({"ref": name, "commit": commit})
    return {"total": len(tips), "looked_at": len(looked_at), "indexed": indexed}


def coverage(snapshot: Snapshot) -> Item:
    """What became of every file of a snapshot, with the reasons, and how many references have a known target."""
    with snapshot.reading():
        seen = survey(snapshot)
        reasons: dict[str, dict[str, int]] = {}
        for (status, reason), count in sorted((+seen.reasons).items(), key=lambda pair: (pair[0][0], -pair[1], pair[0][1])):
            reasons.setdefault(status, {})[reason] = count
        return {
            "commit": snapshot.at.commit,
            "files": seen.total.files,
            "status": dict(sorted((+seen.statuses).items())),
            "reasons": reasons,
            "languages": language_items(seen),
            "references": _references(seen),
            "problems": [_problems(snapshot, path) for path in sorted(+seen.faulty)],
        }


def _problems(snapshot: Snapshot, path: str) -> Item:
    file = snapshot.file(path)
    assert file is not None, "a counted file exists"
    first = [{"line": problem.line, "message": problem.message} for problem in file.problems[:3]]
    return {"file": path, "status": file.status, "count": len(file.problems), "problems": first}


def _references(seen: Survey) -> Item:
    resolved, unresolved = sum(seen.resolved.values()), sum(seen.unresolved.values())
    share = round(resolved / (resolved + unresolved), 3) if resolved + unresolved else 1.0
    return {"resolved": resolved, "unresolved": unresolved, "share": share}


SAMPLE = 40
"""Files that a check of the store works out again."""


def sample_differences(repository: Repository, rev: str = "HEAD") -> Iterator[tuple[str, str]]:
    """Files of a sample, evenly spread over a revision, for which the store differs from what their bytes say now.

    Gives (path, what differs); a last pair with an empty path says in words how many were compared.
    """
    snapshot = repository.snapshot(rev)
    with snapshot.reading():
        paths = [file.path for file in snapshot.files() if file.is_source and file.status in {"parsed", "partial"}]
        step = max(1, len(paths) // SAMPLE)
        sample = paths[::step]
        for path in sample:
            kept, now = snapshot.ir(path), snapshot.extract(path)
            if (kept.status, kept.symbols) != (now.status, now.symbols) or kept.interface not in (
                now.interface,
                type(now.interface)(),
            ):
                yield path, "symbols"
            elif snapshot.link(path).edges != snapshot.relink(path).edges:
                yield path, "edges"
    yield "", f"{len(sample)} of {len(paths)} files"
