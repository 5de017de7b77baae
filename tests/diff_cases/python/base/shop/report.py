"""Lists for people."""

import sys

from shop.models import Cart
from shop.pricing import best_discount, shipping, total_price, with_tax


def summary(cart: Cart) -> str:
    lines = [f"{item.label(30)}: {with_tax(item.price)}" for item in cart.items]
    lines.append(f"total {total_price(cart, best_discount(len(cart.items)))}")
    return "\n".join(lines)


def send(cart: Cart, weight: int) -> str:
    cost = shipping(weight)
    return f"{cart.owner}: {cost} for {weight} kg"


def main() -> None:
    cart = Cart(sys.argv[1])
    print(summary(cart))


if __name__ == "__main__":
    main()
