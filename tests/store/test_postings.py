"""The inverted index: what is added is found, over any number of segments and merges."""

import random

from tokenzip.store import Store, key_hash


def test_finds_what_was_added_over_many_segments(tmp_path):
    store = Store(tmp_path)
    chance = random.Random(7)
    expected: dict[int, set[int]] = {}
    for _ in range(40):
        pairs = [
            (chance.choice([5, 2**32 - 1, chance.randrange(2**32)]), chance.randrange(1, 500))
            for _ in range(chance.randrange(1, 900))
        ]
        for number, path in pairs:
            expected.setdefault(number, set()).add(path)
        store.write(lambda writing, pairs=pairs: writing.post(pairs))
    with store.reading() as reading:
        for number, paths in expected.items():
            assert reading.postings.paths([number]) == paths
        assert reading.postings.paths([1, 6]) == expected.get(1, set()) | expected.get(6, set())
        assert list(reading.postings.pairs()) == sorted((number, path) for number, paths in expected.items() for path in paths)


def test_a_hash_with_many_paths_stays_whole(tmp_path):
    store = Store(tmp_path)
    store.write(lambda writing: writing.post([(9, path) for path in range(1, 5000)] + [(8, 1), (10, 2)]))
    with store.reading() as reading:
        assert reading.postings.paths([9]) == set(range(1, 5000))
        assert reading.postings.paths([8]) == {1}
        assert reading.postings.paths([10]) == {2}
        assert reading.postings.paths([11]) == set()


def test_key_hash_does_not_depend_on_the_process():
    assert key_hash("sym", "a.py", "f") == 50476978
    assert key_hash("a", "bc") != key_hash("ab", "c")
    assert 0 <= key_hash("odd\udcff") < 2**26


def test_what_a_whole_tree_brought_in_is_not_written_again_for_a_few_commits(tmp_path):
    store = Store(tmp_path)
    for first in (0, 10_000, 20_000):
        pairs = [(number, 1) for number in range(first, first + 9_000)]
        store.write(lambda writing, pairs=pairs: writing.post_sorted(iter(pairs)))
    with store.reading() as reading:
        large = [key for number in (1, 2, 3) for key, _ in reading.postings._segments.chunks(number)]
    for commit in range(60):
        store.write(lambda writing, commit=commit: writing.post([(50_000 + commit, 2), (commit, 3)]))
    with store.reading() as reading:
        assert [key for number in (1, 2, 3) for key, _ in reading.postings._segments.chunks(number)] == large
        assert len(reading.postings._segments.live()) <= 13
        assert reading.postings.paths([7]) == {1, 3}
        assert len(list(reading.postings.pairs())) == 27_000 + 120
