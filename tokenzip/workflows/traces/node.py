"""Stacks of JavaScript: Node and other V8s, browsers, bundlers."""

from __future__ import annotations

import re
from urllib.parse import unquote

from tokenzip.workflows.traces.lines import slashed
from tokenzip.workflows.traces.model import Draft, Failure, Frame

_LOCATION = re.compile(r"(\S.{0,600}?):(\d{1,9})(?::(\d{1,9}))?$")
_FIREFOX = re.compile(r"([\w$.<>/*\[\] -]{0,200})@((?:https?|file|webpack|resource)\S{1,600}?):(\d{1,9}):(\d{1,9})$")
_RAISED = re.compile(
    r"(?:Uncaught(?: \(in promise\))? |Unhandled \w{1,40}:? )?([A-Za-z_$][\w$.]{0,100})(?: \[[\w.]{1,60}\])?(?:: (.*))?$"
)
_NESTED = re.compile(r"(?:\[(cause|errors?)\]|(Caused by)): ?\[?\s*(.*)$")
_SOURCE = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte)(?:$|\?)")
_SCHEME = re.compile(
    r"(?:webpack(?:-internal)?://[^/]*/|https?://[^/]+/|file://|ng://|rsc://|turbopack://[^/]*/|\(?[\w-]+\)/\./)"
)
_LOST = re.compile(r"\.\.\. (\d{1,6}) lines matching")
_NO_NAME = frozenset({"<anonymous>", "Object.<anonymous>", "eval", "anonymous"})


class Stacks:
    """``    at name (file:line:column)``."""

    def __init__(self) -> None:
        self.others = 0
        self._groups: list[list[Draft]] = []
        self._open: Draft | None = None
        self._header = Draft()

    def read(self, line: str, bare: str) -> bool:
        if "at " in line and (place := _after_at(line, bare)) is not None:
            return self._read_frame(place)
        if "@" in bare and (found := _FIREFOX.match(bare)):
            self._add(Frame(path_of(found[2]), int(found[3]), _name(found[1]), "node"))
            return True
        if "[cause]" in line or "[error" in line or bare.startswith("Caused by"):
            return self._read_nested(bare, line)
        if "lines matching" in line and self._open is not None and (found := _LOST.search(line)):
            self._open.hidden += int(found[1])
            return True
        self._read_header(bare)
        return False

    def _read_frame(self, place: str) -> bool:
        name, location = _parted(place)
        found = _LOCATION.match(location)
        if found is None:
            is_native = location in {"<anonymous>", "native"} or location.startswith("index ")
            if is_native and name:
                self._add(Frame("", 0, _name(name), "node"))
            return is_native
        path = path_of(found[1])
        is_internal = path.startswith(("node:", "internal/", "<anonymous>"))
        if not (is_internal or _SOURCE.search(found[1]) or (found[3] and path.startswith("/"))):
            return False
        self._add(Frame("" if path == "<anonymous>" else path, int(found[2]), _name(name), "node"))
        return True

    def _add(self, frame: Frame) -> None:
        if self._open is None:
            self._begin(self._header, [])
        assert self._open is not None
        self._open.add(frame)

    def _begin(self, draft: Draft, group: list[Draft]) -> None:
        """Open a failure: of its own, or caused by the one before it."""
        self._open = draft
        self._header = Draft()
        if not group:
            self._groups.append(group)
        group.append(draft)

    def _read_nested(self, bare: str, line: str) -> bool:
        at = max(line.find("[cause]"), line.find("[error"), line.find("Caused by"))
        found = _NESTED.match(line[at:])
        if found is None or self._open is None:
            return False
        raised = _RAISED.match(found[3])
        relation = "member" if (found[1] or "").startswith("error") else "cause"
        draft = Draft(relation=relation)
        if raised is not None:
            draft.type, draft.message = raised[1], (raised[2] or "").strip()
        self._begin(draft, self._groups[-1])
        return True

    def _read_header(self, bare: str) -> None:
        found = _RAISED.match(bare)
        if found is None or not (found[1].endswith(("Error", "Exception")) or (found[2] and bare.startswith("Uncaught"))):
            return
        fresh = Draft(type=found[1], message=(found[2] or "").strip())
        if self._open is not None and self._groups[-1][-1].relation == "member":
            fresh.relation = "member"
            self._begin(fresh, self._groups[-1])
            return
        self._open, self._header = None, fresh

    def failures(self) -> list[Failure]:
        return [draft.finished() for group in self._groups for draft in reversed(group) if not draft.is_empty]


def _after_at(line: str, bare: str) -> str | None:
    """What follows ``at``: at the beginning of a line, or after what a log put there."""
    if bare.startswith("at "):
        return bare[3:].strip()
    if not line.rstrip().endswith(")"):
        return None
    paren = line.rfind(" (")
    at = line.rfind(" at ", 0, paren + 1)
    return line[at + 4 :].strip() if at >= 0 else None


def _parted(place: str) -> tuple[str, str]:
    """Name and location of ``name (location)`` or of a bare location."""
    place = place.removeprefix("async ").rstrip(" {,")
    if not place.endswith(")"):
        return "", place
    name, paren, location = place.partition(" (")
    if not paren:
        return "", place.strip("()")
    location = location[:-1]
    if location.startswith("eval at"):
        inner = re.search(r"\(([^()]{1,600}:\d{1,9}:\d{1,9})\)", location)
        location = inner[1] if inner else location
    return name, location


def _name(written: str) -> str:
    name = re.sub(r" \[as [^\]]{0,200}\]$", "", written.strip().removeprefix("async ").removesuffix("/<"))
    name = name.removeprefix("async*")
    if name in _NO_NAME or name.endswith(".<anonymous>"):
        return name.removesuffix("<anonymous>").rstrip(".") if name not in _NO_NAME else ""
    for owner in ("Object.", "Module.", "exports.", "module.exports."):
        name = name.removeprefix(owner)
    return name


def path_of(location: str) -> str:
    """The path in a location: without the scheme, host and query of URLs."""
    text = slashed(location)
    if text.startswith("node:"):
        return text
    while found := _SCHEME.match(text):
        text = text[found.end() :]
    text = text.partition("?")[0]
    if "%" in text:
        text = unquote(text)
    text = re.sub(r"^/(?=[A-Za-z]:/)", "", text)
    return text.removeprefix("./")
