"""Parameters without annotation: as the overridden method says, as a fixture of pytest, as the own file passes them."""

from __future__ import annotations

import posixpath
from typing import Any

from tokenzip.languages.python.calls import Calls
from tokenzip.languages.python.ir import ASYNC, FIXTURE, GENERATOR, LOCAL, Function
from tokenzip.languages.python.types import SEQUENCES, Types, join


class Parameters(Calls):
    """What a parameter without annotation may be."""

    # ---- parameters without annotation

    def parameter(self, path: str, qualified: str, name: str) -> Types:
        """What an unannotated parameter is: as the base method says, or a test fixture of its name."""
        return self.lookup(  # type: ignore[no-any-return]
            self._key("parameter", path, qualified, name), self._parameter, path, qualified, name
        )

    def _parameter(self, path: str, qualified: str, name: str) -> Types:
        found = self.definition(path, qualified)
        if not isinstance(found, Function):
            return ()
        plain = qualified.rpartition(".")[2].partition("#")[0]
        if found.owner:
            types = self._parameter_of_base(path, found.owner, plain, name)
            if types:
                return types
        if (plain.startswith("test") or found.flags & FIXTURE) and not found.flags & LOCAL:
            return self.fixture(path, found.owner, name, qualified)
        for passed, values in found.passed:
            if passed == name:
                return self.all_passed(path, values)
        return ()

    def _parameter_of_base(self, path: str, cls: str, method: str, name: str) -> Types:
        above = self.member(path, cls, method, 1)
        for entry in above[2] if above is not None else ():
            function = self.definition(above[0], entry[1]) if above is not None and entry[0] == "def" else None
            if isinstance(function, Function) and above is not None:
                for parameter, annotation, star in function.parameters:
                    if parameter == name and annotation is not None and not star:
                        return self.ex(above[0], annotation)
        return ()

    def all_passed(self, path: str, values: Any) -> Types:
        """What is passed for a parameter, if all of it is known."""
        found: list[Types] = []
        for value in values:
            types = self.ex(path, value)
            if not types:
                return ()
            found.append(types)
        return tuple([item for item in join(found) if item[0] in ("F", "C", "I", "V", "L", "R", "T")])

    # ---- fixtures of pytest

    def fixture(self, path: str, cls: str, name: str, asking: str) -> Types:
        """What the fixture of that name gives, as pytest looks it up: class, module, conftest files upwards, plugins."""
        function = self.fixture_function(path, cls, name, asking)
        return self._fixture_value(*function) if function is not None else ()

    def fixture_function(self, path: str, cls: str, name: str, asking: str) -> tuple[str, str] | None:
        """(path, qualified name) of the fixture function, or None."""
        if cls:
            found = self.member(path, cls, name)
            for entry in found[2] if found is not None else ():
                if found is not None and entry[0] == "def" and entry[1] != asking and self._is_fixture(found[0], entry[1]):
                    return found[0], entry[1]
        own = self._fixture_in(path, name, path, asking)
        if own is not None:
            return own
        directory = path.rpartition("/")[0]
        above = self.lookup(("fixture", directory, name), self._fixture_above, directory, name)
        if above == (path, asking):  # a conftest's fixture that takes the one of the same name above it
            above = self._fixture_above(posixpath.dirname(directory), name) if directory else ()
        return above or None

    def _fixture_above(self, directory: str, name: str) -> tuple[str, str] | tuple[()]:
        """The fixture that tests in a directory get: of its conftest file or plugins, else of the directory above."""
        conftest = posixpath.join(directory, "conftest.py")
        function = self._fixture_in(conftest, name, "", "") or self._fixture_of_plugins(conftest, name)
        if function is not None:
            return function
        if not directory:
            return ()
        above = posixpath.dirname(directory)
        return self.lookup(("fixture", above, name), self._fixture_above, above, name)  # type: ignore[no-any-return]

    def _fixture_in(self, place: str, name: str, path: str, asking: str) -> tuple[str, str] | None:
        for binding in self.bindings(place, name):
            if binding[0] == "D" and binding[1:] != (path, asking) and self._is_fixture(binding[1], binding[2]):
                return binding[1], binding[2]
        return None

    def _fixture_of_plugins(self, conftest: str, name: str) -> tuple[str, str] | None:
        """A fixture of a module that a conftest names in ``pytest_plugins``."""
        plugins = self.lookup(("plugins", conftest), self._plugins, conftest)
        if not plugins:
            return None
        self.note("announced", f"fixture:{name}")
        for path in self.view.announcing(f"fixture:{name}"):
            if path in plugins:
                function = self._fixture_in(path, name, "", "")
                if function is not None:
                    return function
        return None

    def _plugins(self, conftest: str) -> frozenset[str]:
        """The plugin modules of a conftest, and those that they import by wildcard."""
        self.note("sym", conftest, "pytest_plugins")
        pending: list[str] = []
        for entry in self.interface(conftest).names.get("pytest_plugins", ()):
            for module in entry[1] if entry[0] == "plugins" else ():
                pending.extend(found[1] for found in self.resolve(module, 0, conftest) if found[0] == "M")
        paths: set[str] = set()
        while pending:
            path = pending.pop()
            if path in paths:
                continue
            paths.add(path)
            self.note("star", path)
            for module, level in self.interface(path).stars:
                pending.extend(found[1] for found in self.resolve(module, level, path) if found[0] == "M")
        return frozenset(paths)

    def _is_fixture(self, path: str, qualified: str) -> bool:
        found = self.definition(path, qualified)
        return isinstance(found, Function) and bool(found.flags & FIXTURE)

    def _fixture_value(self, path: str, qualified: str) -> Types:
        found = self.definition(path, qualified)
        types = self.returned(path, qualified)
        if not isinstance(found, Function):
            return ()
        if found.flags & ASYNC:
            types = self.awaited(types)
        is_iterator = any(item[0] == "X" and item[1] in SEQUENCES for item in types)
        return self.iterate(types) if found.flags & GENERATOR and is_iterator else types
