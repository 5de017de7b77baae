"""A small project in several languages that the tests of workflows share; they only read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from gitrepo import Repo, shared_repo

from tokenzip.operations import OPERATIONS
from tokenzip.repository import Repository
from tokenzip.repository import repo as open_repository

PRICES = (
    "class PriceError(Exception):\n"
    "    pass\n\n\n"
    'PRICES = {"tea": 3}\n\n\n'
    "def fetch(item: str) -> int:\n"
    "    if not item:\n"
    '        raise PriceError(f"an item without a name has no price: {item}")\n'
    "    return PRICES[item]\n\n\n"
    "def price(item: str) -> int:\n"
    "    return fetch(item)\n"
)
CART = (
    "from shop.prices import price\n\n\n"
    "class Cart:\n"
    "    def __init__(self, items: list[str]) -> None:\n"
    "        self.items = items\n\n"
    "    def total(self) -> int:\n"
    "        return sum(price(item) for item in self.items)\n\n\n"
    "def checkout(cart: Cart) -> int:\n"
    "    def add() -> int:\n"
    "        return cart.total()\n\n"
    "    return add()\n"
)
FILES = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1.0"\ndependencies = ["requests>=2", "click>=8"]\n',
    "manage.py": "from shop.cart import Cart, checkout\n\n\ndef main() -> None:\n    checkout(Cart([]))\n\n\nmain()\n",
    "shop/__init__.py": "",
    "shop/prices.py": PRICES,
    "shop/cart.py": CART,
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total() -> None:\n    assert Cart(['tea']).total() == 3\n",
    "tests/conftest.py": (
        "import pytest\nfrom shop.cart import Cart\n\n\n@pytest.fixture\ndef cart() -> Cart:\n    return Cart([])\n"
    ),
    "web/package.json": '{"name": "web", "version": "1.0.0", "workspaces": ["packages/*"]}\n',
    "web/packages/view-list/package.json": (
        '{\n  "name": "@shop/view-list",\n  "version": "1.0.0",\n  "type": "module",\n  "license": "MIT",\n'
        '  "dependencies": {"left-pad": "^1.0.0"}\n}\n'
    ),
    "web/packages/view-list/src/index.ts": "export class ViewList {\n  render(): string {\n    return ''\n  }\n}\n",
    "web/packages/view-list/src/view-list.test.ts": "import { ViewList } from './index'\n\nnew ViewList().render()\n",
    "web/packages/view-list/tsconfig.json": '{ "extends": "../../tsconfig.json" }\n',
    "web/packages/view-item/package.json": (
        '{\n  "name": "@shop/view-item",\n  "version": "1.0.0",\n  "type": "module",\n  "license": "MIT"\n}\n'
    ),
    "web/packages/view-item/src/index.ts": (
        "import { ViewList } from '@shop/view-list'\n\n"
        "export function show(list: ViewList): string {\n  return list.render()\n}\n"
    ),
    "web/packages/view-item/tsconfig.json": '{ "extends": "../../tsconfig.json" }\n',
    "go/cart/cart.go": "package cart\n\nfunc Total() int {\n\treturn 1\n}\n",
    "rust/src/main.rs": "fn main() {\n    panic!()\n}\n",
    "jvm/src/main/java/com/acme/Shop.java": "package com.acme;\n\nclass Shop {\n  void open() {}\n}\n",
    "jvm/src/main/kotlin/Cart.kt": "package com.acme.cart\n\nfun total() = 1\n",
}


@pytest.fixture(scope="package")  # its environment is that of the process until it ends
def project_repo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    with shared_repo(tmp_path_factory, "project") as repo:
        shorter = PRICES.replace("    if not item:\n", "").replace(
            PRICES[PRICES.index("        raise") : PRICES.index("    return P")], ""
        )
        repo.commit({**FILES, "shop/prices.py": shorter}, "shop")
        repo.commit(FILES, "refuse items without a name")
        open_repository(str(repo.path)).snapshot("HEAD")
        yield repo


@pytest.fixture
def project(project_repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repository:
    for name, value in project_repo.environment.items():
        if name == "TOKENZIP_HOME" or name.startswith("GIT_CONFIG"):
            monkeypatch.setenv(name, value)
    return open_repository(str(project_repo.path))


Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(project: Repository) -> Run:
    """Run a template: ``run("bug-fix", "trace=...", at="HEAD~1")``."""

    def run(name: str, *inputs: str, **common: Any) -> dict[str, Any]:
        arguments = {"name": name, "inputs": list(inputs), "max_tokens": 0, **common}
        return OPERATIONS["execute_workflow_template"].run(project, arguments)

    return run
