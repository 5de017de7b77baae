"""The laws of the design with a store and git below: real histories, random edit scripts, kills, crowds, and equal bytes.

``TOKENZIP_FUZZ=N`` makes the random ones N times as long, as in `test_laws.py`.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fuzz_projects import GRAMMARS, Project
from history import clone, git, hermetic_environment

import tokenzip
from tokenzip.diff import diff
from tokenzip.operations import OPERATIONS
from tokenzip.repository import Repository
from tokenzip.snapshot import Snapshot

DEPTH = int(os.environ.get("TOKENZIP_FUZZ", "1"))
HISTORIES = ("httpx", "flask", "redux", "immer")
Answer = dict[str, Any]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own store for each test, and none of the machine's settings of git."""
    for name, value in hermetic_environment().items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "home"
    monkeypatch.setenv("TOKENZIP_HOME", str(folder))
    return folder


def opened(path: Path, home: Path) -> Repository:
    """The repository over the store in `home`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOKENZIP_HOME", str(home))
        return tokenzip.repo(str(path))


def digest_from_scratch(path: Path, rev: str, empty: Path) -> str:
    """The digest of a revision in a store that knows nothing else; the store is thrown away."""
    try:
        return opened(path, empty).snapshot(rev).digest()
    finally:
        shutil.rmtree(empty, ignore_errors=True)


def tags(path: Path) -> list[str]:
    """Oldest first."""
    return git("tag", "--sort=creatordate", cwd=path).split()


def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command line in a process of its own."""
    return subprocess.run(
        (sys.executable, "-m", "tokenzip", *arguments),
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


# Law 2: overlay = scratch.


@pytest.mark.parametrize("name", HISTORIES)
def test_every_release_over_a_random_route_equals_scratch(name: str, tmp_path: Path, home: Path) -> None:
    path = clone(name, tmp_path / name)
    releases = tags(path)
    assert len(releases) >= 25
    route = Random(name).sample(releases, len(releases))
    repository = opened(path, home)
    assert_rich(repository.snapshot("HEAD"))
    overlaid = {tag: repository.snapshot(tag).digest() for tag in route}
    wrong = [tag for tag in releases if overlaid[tag] != digest_from_scratch(path, tag, tmp_path / "empty")]
    assert not wrong


@pytest.mark.parametrize("language", GRAMMARS)
@pytest.mark.parametrize("seed", range(2 * DEPTH))
def test_random_commits_equal_scratch(language: str, seed: int, tmp_path: Path, home: Path) -> None:
    """Commits, what is staged and what lies in the work tree are one and the same graph if their files are."""
    path = tmp_path / "project"
    git("init", "--quiet", str(path))
    project = Project(GRAMMARS[language], Random(seed))
    commits = {}
    repository = opened(path, home)
    for number in range(12):
        write(path, project.sources())
        dirty = repository.snapshot("WORKTREE").digest()
        git("add", "--all", "--force", cwd=path)
        staged = repository.snapshot("INDEX").digest()
        git("commit", "--quiet", "--allow-empty", "--message", f"step {number}", cwd=path)
        commits[git("rev-parse", "HEAD", cwd=path).strip()] = committed = repository.snapshot("HEAD").digest()
        assert (dirty, staged) == (committed, committed), number
        project.step()
    for commit, digest in commits.items():
        assert digest == digest_from_scratch(path, commit, tmp_path / "empty"), commit


@pytest.mark.parametrize("name", ["httpx", "redux"])
def test_a_pinned_answer_is_what_a_fresh_clone_says(name: str, tmp_path: Path, home: Path) -> None:
    path = clone(name, tmp_path / name)
    releases = tags(path)
    for tag in Random(3).sample(releases, 3):
        commit = git("rev-parse", f"{tag}^{{commit}}", cwd=path).strip()
        fresh = tmp_path / f"fresh-{tag}"
        git("clone", "--quiet", "--branch", tag, str(path), str(fresh))
        pinned = answers(opened(path, home), commit)
        there = opened(fresh, tmp_path / f"home-{tag}")
        assert answers(there, commit) == pinned
        at_work = answers(there, "WORKTREE")
        assert [without_place(answer) for answer in at_work] == [without_place(answer) for answer in pinned]


def assert_rich(snapshot: Snapshot) -> None:
    """That there is something to compare: a graph of files that could be read."""
    assert not [file.path for file in snapshot.files() if file.status == "failed"]
    assert sum(len(snapshot.file_edges(path)) for path in snapshot.paths()) > 100


def write(path: Path, sources: Mapping[str, str]) -> None:
    """Make the work tree hold just these files."""
    for entry in path.iterdir():
        if entry.name != ".git":
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    for name, text in sources.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def questions(repository: Repository, rev: str) -> Iterator[tuple[str, Answer]]:
    """Calls about what is most depended on in that revision, and some more."""
    snapshot = repository.snapshot(rev)
    handles = sorted(symbol.handle for file in snapshot.files() for symbol in file.symbols)
    chosen = Random(len(handles))
    yield "query_repo_structure", {}
    for handle in chosen.sample(handles, min(8, len(handles))):
        yield "query_symbol", {"handle": handle}
        yield "get_dependants", {"handle": handle, "depth": 2}
        yield "get_dependencies", {"handle": handle}
        yield "query_file", {"path": handle.partition("::")[0]}
        yield "search_symbols", {"query": handle.rpartition(".")[2].rpartition(":")[2]}
        yield "get_impact_analysis", {"handles": [handle]}


def answers(repository: Repository, rev: str) -> list[Answer]:
    """Answers without a bound: where one is cut depends on the length of everything in it, the revision's name too."""
    unbounded = {"at": rev, "max_tokens": 0}
    return [OPERATIONS[name].run(repository, {**arguments, **unbounded}) for name, arguments in questions(repository, rev)]


def without_place(answer: Answer) -> Answer:
    """The answer without what names the revision: that differs between a commit and a work tree that holds the same."""
    return {key: value for key, value in answer.items() if key not in ("at", "next", "token_count")}


# Law 3: diff(a, a) is empty; diff(a, b) and diff(b, a) mirror each other.


@pytest.mark.parametrize("name", HISTORIES)
def test_diff_of_equal_snapshots_is_empty_and_swapped_ones_mirror(name: str, tmp_path: Path, home: Path) -> None:
    path = clone(name, tmp_path / name)
    releases = tags(path)
    repository = opened(path, home)
    for before, after in zip(releases[::4], releases[1::4], strict=False):
        old, new = repository.snapshot(before), repository.snapshot(after)
        assert diff(old, old) == ()
        forward, backward = diff(old, new), diff(new, old)
        assert sorted(map(repr, map(mirrored, forward))) == sorted(map(repr, map(seen, backward))), (before, after)


MIRROR = {"added": "removed", "removed": "added"}


def seen(change: Any) -> tuple[object, ...]:
    """What a change says but for its direction: ends, and the aspects in an order of their own."""
    old, new = (None, change.key) if change.change == "added" else (change.old_key, change.key)
    if change.change == "removed":
        old, new = change.key, None
    return (old, new, sorted(change.aspects))


def mirrored(change: Any) -> tuple[object, ...]:
    old, new, aspects = seen(change)
    return (new, old, sorted(MIRROR.get(aspect, aspect) for aspect in aspects))  # type: ignore[attr-defined]


# Law 4: killed at any moment, the store opens, and the next run ends in the same digest.


def test_a_killed_index_ends_in_the_same_digest(tmp_path: Path, home: Path) -> None:
    path = clone("flask", tmp_path / "flask")
    releases = tags(path)[-8:]
    began = time.monotonic()
    assert run("index", *releases, cwd=path, TOKENZIP_HOME=str(tmp_path / "undisturbed")).returncode == 0
    whole = time.monotonic() - began
    random = Random(7)
    for _ in range(10 * DEPTH):
        command = (sys.executable, "-m", "tokenzip", "index", *releases)
        process = subprocess.Popen(
            command, cwd=path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(random.uniform(0, whole))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if random.random() < 0.3:
            shutil.rmtree(home, ignore_errors=True)
    repository = opened(path, home)
    digests = [repository.snapshot(tag).digest() for tag in releases]
    assert digests == [digest_from_scratch(path, tag, tmp_path / "empty") for tag in releases]


# Law 5: readers beside a writer; writers in turn.


def test_index_hook_and_server_share_one_store(tmp_path: Path, home: Path) -> None:
    path = clone("httpx", tmp_path / "httpx")
    releases = tags(path)
    linked = tmp_path / "linked"
    git("worktree", "add", "--quiet", "--detach", str(linked), releases[5], cwd=path)
    commands = [
        (path, ("index", *releases[:12])),
        (linked, ("index", *releases[8:20])),
        (path, ("hooks", "run", "post-commit")),
        (linked, ("diff", releases[20], releases[24], "--format", "json")),
        (path, ("map", "--at", releases[30], "--format", "json")),
    ]
    crowd = [
        subprocess.Popen(
            (sys.executable, "-m", "tokenzip", *arguments), cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for cwd, arguments in commands
    ]
    served = serve(path, [("query_repo_structure", {"at": tag}) for tag in releases[10:16]])
    for process, (_, arguments) in zip(crowd, commands, strict=True):
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, (arguments, errors.decode())
    assert all("error" not in answer for answer in served)
    repository = opened(path, home)
    digests = {tag: repository.snapshot(tag).digest() for tag in releases[::6]}
    assert digests == {tag: digest_from_scratch(path, tag, tmp_path / "empty") for tag in digests}


def serve(path: Path, calls: list[tuple[str, Answer]]) -> list[Answer]:
    """What a server over stdio answers to these calls."""
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages: list[Answer] = [{"id": 0, "method": "initialize", "params": client}, {"method": "notifications/initialized"}]
    messages += [
        {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls, 1)
    ]
    process = subprocess.Popen(
        (sys.executable, "-m", "tokenzip", "serve"),
        cwd=path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    replies: dict[int, Answer] = {}
    with process:
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
        while len(replies) < len(calls) + 1:
            line = process.stdout.readline()
            assert line, "the server ended"
            reply = json.loads(line)
            replies[reply["id"]] = reply
        process.stdin.close()
    return [json.loads(replies[number]["result"]["content"][0]["text"]) for number in range(1, len(calls) + 1)]


# Law 6: a hook never changes what git does.


def test_hooks_change_nothing_about_what_git_does(tmp_path: Path, home: Path) -> None:
    plain, hooked = clone("redux", tmp_path / "plain"), clone("redux", tmp_path / "hooked")
    done = run("init", cwd=hooked)
    assert done.returncode == 0, done.stderr.decode()
    git("checkout", "--quiet", "--", ".", cwd=hooked)
    git("clean", "--quiet", "--force", "-d", cwd=hooked)
    home_is_a_file = tmp_path / "file"
    home_is_a_file.write_text("")
    for environment in ({}, {"TOKENZIP_HOME": str(home_is_a_file)}, {"PATH": "/usr/bin:/bin"}):
        assert script(plain, environment) == script(hooked, environment)


def script(path: Path, environment: Mapping[str, str]) -> list[str]:
    """Ids that a session of ordinary git work ends in: edits, a broken import, a merge, a rebase."""
    source = next(file for file in sorted((path / "src").iterdir()) if file.name.startswith("createStore"))
    seen = []

    def work(*arguments: str) -> None:
        git(*arguments, cwd=path, env=environment)
        seen.append(git("rev-parse", "HEAD", "HEAD^{tree}", cwd=path))

    work("checkout", "--quiet", "-B", "topic", "main")
    for number in range(3):
        source.write_text(source.read_text() + f"\nexport const added{number} = {number};\n")
        work("commit", "--quiet", "--all", "--message", f"edit {number}")
    git("rm", "--quiet", str(source), cwd=path)
    work("commit", "--quiet", "--message", "break every import of it")
    work("checkout", "--quiet", "-B", "other", "main~2")
    work("merge", "--quiet", "--no-edit", "--strategy", "ours", "topic")
    work("checkout", "--quiet", "topic")
    work("rebase", "--quiet", "--onto", "main~1", "main~2", "topic")
    work("checkout", "--quiet", "main")
    return seen


# Law 7: byte-identical answers.


def test_answers_are_equal_byte_for_byte_in_any_process(tmp_path: Path) -> None:
    commands = (
        ("map",), ("search", "client"), ("callers", "Client.request"), ("impact", "Client.send", "--depth", "3"),
        ("show", "Client"), ("diff", "v0.27.0", "v0.28.1"), ("deps", "httpx/_client.py"), ("export",),
        ("trace", "get", "Client.send"),
    )  # fmt: skip
    printed = []
    for seed, folder in (("0", "one"), ("1", "two/deeper"), ("4711", "three")):
        place = tmp_path / folder
        place.parent.mkdir(parents=True, exist_ok=True)
        path = clone("httpx", place)
        store = str(tmp_path / f"home-{seed}")
        outcomes = []
        for command in commands:
            for form in ("json", "text"):
                done = run(
                    *command,
                    *(("--format", form) if command[0] != "export" else ()),
                    cwd=path,
                    TOKENZIP_HOME=store,
                    PYTHONHASHSEED=seed,
                )
                outcomes.append((command, form, done.returncode, done.stdout))
        printed.append(outcomes)
    assert all(code == 0 for _, _, code, _ in printed[0]), [outcome for outcome in printed[0] if outcome[2]]
    for other in printed[1:]:
        for expected, actual in zip(printed[0], other, strict=True):
            assert actual == expected


# Law 8: every bound that cuts an answer is declared in it.


@pytest.mark.parametrize("name", ["httpx", "redux"])
def test_a_cut_answer_says_so_and_goes_on_where_it_stopped(name: str, tmp_path: Path, home: Path) -> None:
    repository = opened(clone(name, tmp_path / name), home)
    for operation, arguments in questions(repository, "HEAD"):
        if not any(parameter.name == "cursor" for parameter in OPERATIONS[operation].parameters):
            continue
        whole = OPERATIONS[operation].run(repository, {**arguments, "at": "HEAD", "max_tokens": 0})
        if "items" not in whole:
            continue
        assert whole["truncated"] is None
        assert list(paged(repository, operation, {**arguments, "at": "HEAD", "max_tokens": 400})) == whole["items"]


def paged(repository: Repository, operation: str, arguments: Answer) -> Iterator[Answer]:
    """The items of an answer, page after page, each within its budget; a budget too small for any item is raised."""
    cursor: str | None = None
    budget = arguments["max_tokens"]
    while True:
        going_on = {"cursor": cursor} if cursor else {}
        answer = OPERATIONS[operation].run(repository, {**arguments, **going_on, "max_tokens": budget})
        assert answer["token_count"] <= budget or not answer["items"]
        yield from answer["items"]
        if answer["truncated"] is None:
            return
        if answer["items"]:
            cursor = answer["truncated"]["cursor"]
        else:
            assert answer["truncated"]["cursor"] is None, "a page must get on"
            budget *= 2
