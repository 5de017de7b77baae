"""The words of contents: what is posted is found, over any number of segments and merges, and nothing else is."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tokenzip.model import BlobId
from tokenzip.store import Address, Store, WriteTransaction

TAG = b"lang"


def blob(number: int) -> BlobId:
    return BlobId(f"{number:040x}"[::-1])


def post(store: Store, contents: dict[BlobId, set[str]]) -> None:
    """Store records with these words."""
    holding: dict[str, list[int]] = {}
    for place, words in enumerate(contents.values()):
        for word in words:
            holding.setdefault(word, []).append(place)

    def work(writing: WriteTransaction) -> None:
        for one in contents:
            writing.put_blob(one, TAG, Address(1, 1))
        writing.post_words([(one, TAG) for one in contents], sorted(holding.items()))

    store.write(work)


@pytest.fixture
def filled(tmp_path: Path) -> tuple[Store, dict[BlobId, set[str]]]:
    """Many segments, small and large, with rare and frequent words."""
    store = Store(tmp_path)
    chance = random.Random(5)
    letters = "abcdefghijklmnopqrstuvwxyzäß"
    vocabulary = ["".join(chance.choices(letters, k=chance.randrange(2, 9))) for _ in range(3000)]
    everything: dict[BlobId, set[str]] = {}
    for write in range(30):
        contents = {
            blob(1000 * write + number): {"common", *chance.choices(vocabulary, k=chance.randrange(0, 60))}
            for number in range(300 if write == 3 else chance.randrange(1, 5))
        }
        post(store, contents)
        everything |= contents
    return store, everything


def test_finds_exactly_what_was_posted(filled: tuple[Store, dict[BlobId, set[str]]]) -> None:
    store, contents = filled
    with store.reading() as reading:
        numbers = {reading.document(one, TAG): words for one, words in contents.items()}
        assert len(numbers) == len(contents)
        assert 0 not in numbers
        holding: dict[str, set[int]] = {}
        for number, words in numbers.items():
            for word in words:
                holding.setdefault(word, set()).add(number)
        for word, expected in holding.items():
            found = reading.words.documents(word)
            assert set(found) == expected
            assert len(found) == len(expected)
        assert [(word, set(found)) for word, found in reading.words.postings()] == sorted(holding.items())
        listed = [word for text in reading.words.words() for word in text.split()]
        assert set(listed) == holding.keys()
        for prefix in ("a", "co", "common", "ß", "zzzz", next(iter(holding))[:3]):
            found_words = {word: set(numbers) for word, numbers in reading.words.beginning(prefix).items()}
            assert found_words == {word: numbers for word, numbers in holding.items() if word.startswith(prefix)}
        for absent in ("", "aaaaaaaaaa", "commo", "common\n", "zzzzzzzzzz", "\udcff", "x" * 5000):
            assert not reading.words.documents(absent)


def test_a_number_stays_when_the_record_is_written_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    post(store, {blob(1): {"one"}, blob(2): {"two"}})

    def again(writing: WriteTransaction) -> None:
        writing.put_blob(blob(2), TAG, Address(7, 7))
        writing.put_interface(blob(2), TAG, Address(8, 8))

    store.write(again)
    with store.reading() as reading:
        assert list(reading.words.documents("two")) == [reading.document(blob(2), TAG)]
        assert reading.blob_address(blob(2), TAG) == Address(7, 7)
        assert reading.interface_address(blob(2), TAG) == Address(8, 8)
        assert reading.document(blob(3), TAG) == 0
