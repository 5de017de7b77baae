from shop.models import Cart, Item
from shop.pricing import total_price, with_tax


def make_cart():
    cart = Cart("ada")
    cart.add(Item("pen", 100))
    return cart


def test_total_price():
    assert total_price(make_cart()) == 119


def test_with_tax():
    assert with_tax(100) == 119
