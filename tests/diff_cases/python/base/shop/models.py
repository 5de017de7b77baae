"""What is sold, and what it is put into."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Optional

MAX_ITEMS = 50


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


class Printable:
    """Knows how to show itself."""

    def show(self) -> str:
        return repr(self)


class Limited:
    def is_full(self) -> bool:
        return False


@dataclass
class Item(Printable):
    """One thing for sale."""

    name: str
    price: int
    size: Size = Size.SMALL
    tags: list[str] = field(default_factory=list)

    def label(self, width: int = 20, *, upper: bool = False) -> str:
        """The name, cut to a width."""
        text = self.name[:width]
        # shouting sells
        return text.upper() if upper else text

    @property
    def is_free(self) -> bool:
        return self.price == 0

    def matches(self, words: list[str]) -> bool:
        found = [word for word in words if word in self.name or word in self.tags]
        return len(found) == len(words)


class Cart(Printable, Limited):
    """A list of items with a limit."""

    def __init__(self, owner: str, limit: int = MAX_ITEMS) -> None:
        self.owner = owner
        self.limit = limit
        self.items: list[Item] = []

    def add(self, item: Item, count: int = 1) -> int:
        """Put an item in, and say how many there are."""
        for _ in range(count):
            if self.is_full():
                raise OverflowError(f"{self.owner} has too much")
            self.items.append(item)
        return len(self.items)

    def remove(self, name: str) -> Optional[Item]:
        for place, item in enumerate(self.items):
            if item.name == name:
                return self.items.pop(place)
        return None

    def is_full(self) -> bool:
        return len(self.items) >= self.limit

    def _sorted(self) -> list[Item]:
        return sorted(self.items, key=lambda item: (item.price, item.name))

    def cheapest(self) -> Item:
        return self._sorted()[0]
