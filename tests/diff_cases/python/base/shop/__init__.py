"""A small shop."""

from shop.models import Cart, Item
from shop.pricing import total_price

__all__ = ["Cart", "Item", "total_price"]
