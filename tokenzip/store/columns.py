"""Columns of integers made small, as record forms keep them: differences, and numbers by how lately they were used.

Part of the store's format (`environment.FORMAT`): change a form here, and the format number changes with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_RECENT = 60
"""Targets of edges that are named by how long ago they were used."""


def deltas(numbers: Sequence[int]) -> list[int]:
    return [number - before for number, before in zip(numbers, (0, *numbers), strict=False)]


def minus(numbers: Sequence[int], bases: Sequence[int]) -> list[int]:
    return [number - base for number, base in zip(numbers, bases, strict=True)]


def plus(numbers: Sequence[int], bases: Sequence[int]) -> list[int]:
    return [number + base for number, base in zip(numbers, bases, strict=True)]


def by_recency(numbers: Iterable[int]) -> list[int]:
    """Numbers that are given in order of first use, so that a new one among them leaves the others as they are.

    0: the next new one; up to `_RECENT`: used that many different ones ago; above: itself, after `_RECENT`.
    """
    recent: list[int] = []
    out: list[int] = []
    count = 0
    for number in numbers:
        if number == count:
            count += 1
            out.append(0)
        elif number in recent:
            place = recent.index(number)
            del recent[place]
            out.append(1 + place)
        else:
            out.append(1 + _RECENT + number)
        recent.insert(0, number)
        del recent[_RECENT:]
    return out


def from_recency(codes: Iterable[int]) -> list[int]:
    """The numbers that `by_recency` was given."""
    recent: list[int] = []
    out: list[int] = []
    count = 0
    for code in codes:
        if code == 1:
            number = recent[0]
        elif 0 < code <= _RECENT:
            number = recent.pop(code - 1)
            recent.insert(0, number)
        else:
            if code == 0:
                number = count
                count += 1
            else:
                number = code - 1 - _RECENT
            recent.insert(0, number)
            del recent[_RECENT:]
        out.append(number)
    return out
