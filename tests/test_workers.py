"""Worker processes: results in order, crashes told apart from faults, no trace of the caller's main module."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from gitrepo import Repo

from tokenzip.workers import Pool, WorkersUnusable

# Functions travel by name, so workers are given ones of the standard library.


def test_results_come_in_the_order_of_the_tasks():
    with Pool(2, int) as pool:
        tasks = [[number, number + 1] for number in range(50)]
        assert list(pool.map(sum, tasks, max)) == [2 * number + 1 for number in range(50)]
        assert list(pool.map(sum, tasks[:3], max)) == [1, 3, 5]


def test_what_the_work_raises_is_raised():
    with Pool(2, int) as pool, pytest.raises(TypeError):
        list(pool.map(sum, [[1], ["x"], [2]], max))


def test_an_item_that_kills_its_worker_is_found_and_the_others_are_done():
    with Pool(2, int) as pool:
        tasks = [[b"\x80\x04N."], [b"\x80\x04N.", KILL, b"\x80\x04N."], [b"\x80\x04N."]]
        assert list(pool.map(_load_all, tasks, _answer_for)) == ["lived", "lived", "died", "lived", "lived"]


KILL = b"kill"


def _load_all(items):
    if KILL in items:
        os.kill(os.getpid(), 9)
    return "lived"


def _answer_for(task):
    assert task == [KILL]
    return "died"


def test_workers_that_cannot_start_are_an_error_of_their_own():
    with Pool(1, os._exit, 3) as pool, pytest.raises(WorkersUnusable, match="ended with 3"):
        list(pool.map(sum, [[1]], max))


def test_leaving_early_leaves_no_process_behind():
    with Pool(2, int) as pool:
        results = pool.map(sum, [[number] for number in range(1000)], max)
        assert next(results) == 0
        processes = [worker._process for worker in pool._workers]
    assert processes
    assert all(process.poll() is not None for process in processes)


@pytest.mark.parametrize("how", ["standard input", "file without a guard"])
def test_a_script_of_any_kind_may_index(how: str, repo: Repo, tmp_path: Path):
    repo.commit({"a.py": "def f():\n    pass\n", "b.py": "from a import f\nf()\n"})
    script = textwrap.dedent(
        f"""
        import tokenzip
        snapshot = tokenzip.repo({str(repo.path)!r}).snapshot("HEAD")
        print([edge.source.handle for edge in snapshot.edges_to(snapshot.resolve_handle("f"))])
        """
    )
    file = tmp_path / "script.py"
    file.write_text(script)
    command = [sys.executable, "-"] if how == "standard input" else [sys.executable, str(file)]
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=True)
    assert done.stdout == "['b.py', 'b.py']\n"
