"""Panics of Go and Rust."""

from __future__ import annotations

import re

from tokenzip.workflows.traces.lines import slashed
from tokenzip.workflows.traces.model import Draft, Failure, Frame

_GO_PLACE = re.compile(r"(\S[^\n]{0,600}?\.(?:go|s)):(\d{1,9})(?: \+0x[0-9a-f]{1,16})?$")
_GO_TEST = re.compile(r"(\S{1,300}_test\.go):(\d{1,9}): ?(.*)$")
_GOROUTINE = re.compile(r"goroutine \d{1,12}(?: [\w= ]{0,60})? \[([^\]]{1,100})\]:$")
_GO_CALL = re.compile(r"(?:created by )?([\w./~%@·-]{1,400}(?:[\w.·()*\[\]{}…-]{0,300}))$")


class Goroutines:
    """``panic:`` and the stacks of goroutines; failures of `go test`."""

    def __init__(self) -> None:
        self.others = 0
        self._done: list[Draft] = []
        self._open: Draft | None = None
        self._is_other = False
        self._before = ""
        self._test = ""

    def read(self, line: str, bare: str) -> bool:
        before, self._before = self._before, bare
        if bare.startswith(("panic: ", "fatal error: ")):
            kind, _, message = bare.partition(": ")
            self._open = Draft(type=kind, message=re.sub(r" \[recovered[^\]]{0,40}\]$", "", message))
            self._done.append(self._open)
            self._is_other = False
            return True
        if bare.startswith("goroutine ") and _GOROUTINE.match(bare):
            self._begin_goroutine()
            return True
        if bare.startswith("--- FAIL: "):
            self._test = bare[10:].partition(" ")[0].partition("/")[0]
            return True
        if ".go:" in bare and (found := _GO_PLACE.match(bare)):
            return self._read_place(found, before)
        if "_test.go:" in bare and self._test and (found := _GO_TEST.match(bare)):
            draft = Draft(type="test failure", message=found[3].strip())
            draft.add(Frame(slashed(found[1]), int(found[2]), self._test, "go"))
            self._done.append(draft)
            return True
        return False

    def _begin_goroutine(self) -> None:
        """The first one is what failed; the others only wait."""
        if self._open is not None and not self._open.frames:
            return
        if self._open is None:
            self._open = Draft(type="goroutine")
            self._done.append(self._open)
            return
        self.others += 1
        self._is_other = True

    def _read_place(self, found: re.Match[str], before: str) -> bool:
        if self._open is None:
            if not before.endswith(")"):
                return False
            self._open = Draft()
            self._done.append(self._open)
        if not self._is_other and not before.startswith("created by "):
            self._open.add(Frame(slashed(found[1]), int(found[2]), _go_name(before), "go"))
        return True

    def failures(self) -> list[Failure]:
        return [draft.finished() for draft in self._done if not draft.is_empty]


def _go_name(call: str) -> str:
    """``Server.Handle`` for ``example.com/app.(*Server).Handle(0xc000, ...)``; a closure goes by the function around it."""
    call = _without_arguments(call.removeprefix("created by ").partition(" in goroutine ")[0])
    name = call.rpartition("/")[2].partition(".")[2]
    name = re.sub(r"\[\.\.\.\]|\(\*?([\w]+)\)", r"\1", name)
    parts = [part for part in name.split(".") if not re.fullmatch(r"func\d+|\d+|gowrap\d+|-fm", part)]
    return ".".join(part.removesuffix("-fm") for part in parts)


def _without_arguments(call: str) -> str:
    """The call without its last pair of parentheses, whatever is in it."""
    if not call.endswith(")"):
        return call
    depth = 0
    for place in range(len(call) - 1, -1, -1):
        depth += (call[place] == ")") - (call[place] == "(")
        if not depth:
            return call[:place]
    return call


_PANICKED = re.compile(r"thread '([^']{0,200})'(?: \(\d{1,12}\))? panicked at (.*)$")
_RUST_PLACE = re.compile(r"(\S.{0,600}?\.rs):(\d{1,9})(?::\d{1,9})?:?$")
_RUST_CALL = re.compile(r"\d{1,5}: +(?:0x[0-9a-f]{1,16} - )?(\S.{0,600})$")


class Panics:
    """``thread 'main' panicked at``, with or without a backtrace."""

    def __init__(self) -> None:
        self.others = 0
        self._done: list[Draft] = []
        self._open: Draft | None = None
        self._wants_message = False
        self._function = ""
        self._raised: Frame | None = None

    def read(self, line: str, bare: str) -> bool:
        if "panicked at " in bare and (found := _PANICKED.search(bare)):
            self._begin(found[2])
            return True
        if self._wants_message and bare:
            self._wants_message = False
            if self._open is not None and not bare.startswith(("stack backtrace", "note: ")):
                self._open.message = bare
                return True
        if bare[:1].isdigit() and (found := _RUST_CALL.match(bare)):
            self._function = found[1]
            return False
        if bare.startswith("at ") and ".rs" in bare and (found := _RUST_PLACE.match(bare[3:].strip())):
            if self._open is None:
                self._open = Draft()
                self._done.append(self._open)
            self._open.add(Frame(_rust_path(found[1]), int(found[2]), _rust_name(self._function), "rust"))
            self._function = ""
            return True
        return False

    def _begin(self, rest: str) -> None:
        """The place of a panic, and in older versions the message before it."""
        self._open = Draft(type="panic")
        self._done.append(self._open)
        head, comma, tail = rest.rpartition(", ")
        if comma and rest.startswith("'") and (found := _RUST_PLACE.match(tail)):
            self._open.message = head.strip("'")
        else:
            found = _RUST_PLACE.match(rest)
            self._wants_message = True
        if found is not None:
            self._open.add(Frame(_rust_path(found[1]), int(found[2]), "", "rust"))

    def failures(self) -> list[Failure]:
        return [_without_repetition(draft).finished() for draft in self._done if not draft.is_empty]


def _without_repetition(draft: Draft) -> Draft:
    """The place of the panic stands in the backtrace again, with its function."""
    first = draft.frames[0] if draft.frames else None
    if first is not None and not first.function:
        for place, frame in enumerate(list(draft.frames)[1:]):
            if (frame.file, frame.line) == (first.file, first.line):
                kept = list(draft.frames)[1:]
                draft.frames.clear()
                draft.frames.extend([kept[place], *kept[:place], *kept[place + 1 :]] if place else kept)
                break
    return draft


def _rust_path(path: str) -> str:
    return slashed(path).removeprefix("./")


def _rust_name(written: str) -> str:
    """``Cart::total`` as ``Cart.total``: without crate and modules, hashes, closures and type parameters."""
    name = re.sub(r"::h[0-9a-f]{16}$", "", written)
    found = re.match(r"<(.{1,300}?) as .{1,300}?>::(.*)$", name)
    if found is not None:
        name = f"{found[1]}::{found[2]}"
    for _ in range(6):
        name, count = re.subn(r"<[^<>]{0,300}>", "", name)
        if not count:
            break
    parts = [part for part in name.split("::") if part and not part.startswith("{")]
    return ".".join([part for part in parts[:-1] if part[:1].isupper()][-1:] + parts[-1:])
