"""Orders and what becomes of them."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple, Protocol

try:
    import ujson as json
except ImportError:
    import json


class Line(NamedTuple):
    item: str
    count: int = 1


class Sink(Protocol):
    def write(self, text: str) -> None: ...


class Step(ABC):
    retries = 3
    title: str

    @abstractmethod
    def run(self, order: Order) -> bool: ...

    def undo(self, order: Order) -> None:
        order.log.append(f"undo {self.title}")


class Order:
    _next_number = 1

    def __init__(self, customer, lines=(), *, express=False):
        self.customer = customer
        self.lines = list(lines)
        self.express = express
        self.log = []
        self._state = "new"

    @classmethod
    def from_mapping(cls, values):
        return cls(values["customer"], [Line(**line) for line in values.get("lines", ())])

    @staticmethod
    def number_of(text):
        return int(text.removeprefix("#").strip()) if text else 0

    @property
    def state(self):
        """Where it stands."""
        return self._state

    @state.setter
    def state(self, value):
        self.log.append((self._state, value))
        self._state = value

    def __len__(self):
        return sum(line.count for line in self.lines)

    def advance(self, steps, /, sink=None, *args, **options):
        for step in steps:
            if not step.run(self):
                step.undo(self)
                return False
            if sink is not None:
                sink.write(str(step))
        return True

    def totals(self):
        for line in self.lines:
            yield line.item, line.count

    class Meta:
        table = "orders"


@contextlib.contextmanager
def opened(path: str, mode: str = "r") -> Iterator[Order]:
    with open(path, mode) as file:
        yield Order(file.readline().strip())


def sort_key(order): return (order.customer, len(order), "express" if order.express else 'slow')


def dump(order: Order) -> str:
    return json.dumps({"customer": order.customer, "lines": order.lines})
