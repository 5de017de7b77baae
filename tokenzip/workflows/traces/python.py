"""Tracebacks of Python: chained, grouped, of tests run by pytest, and of notebooks."""

from __future__ import annotations

import re
from dataclasses import replace

from tokenzip.workflows.traces.lines import slashed
from tokenzip.workflows.traces.model import Draft, Failure, Frame

_FRAME = re.compile(r'File "([^"]{1,1000})", line (\d{1,9})(?:, in (\S.{0,300}))?')
_CELL = re.compile(r"(?<!\w)File ([^\s(\"']\S{0,600}?):(\d{1,9})(?:, in ([\w.<>]{1,200}))?")
"""As IPython prints it."""
_BEGIN = "Traceback (most recent call last)"
_RAISED = re.compile(r"((?:[A-Za-z_]\w{0,100}\.){0,20}[A-Za-z_]\w{0,100})(?::\s?(.*))?$")
_MEMBER = re.compile(r"\+-{4,} (?:\d{1,6}|\.{3}) -{4,}\s*$")
_LINKS = {
    "The above exception was the direct cause of the following exception": "cause",
    "During handling of the above exception, another exception occurred": "context",
}
_NO_NAME = frozenset({"<module>", "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"})
_TYPE_ENDINGS = ("Error", "Exception", "Warning", "Exit", "Interrupt", "Iteration", "Group", "Failed")


class Tracebacks:
    """``Traceback (most recent call last):``, whatever stands before each line."""

    def __init__(self) -> None:
        self.others = 0
        self._done: list[Draft] = []
        self._open: Draft | None = None
        self._column = 0
        """Where lines of the open traceback begin: what logs and groups put before them ends here."""
        self._expects_text = False

    def read(self, line: str, bare: str) -> bool:
        is_text, self._expects_text = self._expects_text, False
        if "File " in line and self._read_frame(line):
            return True
        if is_text and self._read_text(line):
            return True
        if _BEGIN in line:
            self._begin(_beginning(line))
            return True
        if "above exception" in line:
            return self._read_link(line)
        if "+-" in line and (found := _MEMBER.search(line)):
            self._begin(found.start() + 2)
            return True
        return self._open is not None and self._read_raised(self._open, line, bare)

    def _begin(self, column: int) -> None:
        if self._open is not None and self._open.frames:
            self._end()
        self._open = Draft(outermost_first=True, depth=column)
        self._column = column

    def _end(self) -> None:
        if self._open is not None and not self._open.is_empty:
            self._done.append(self._open)
        self._open = None

    def _read_frame(self, line: str) -> bool:
        found = _FRAME.search(line) or _CELL.search(line)
        if found is None:
            return False
        column = max(0, found.start() - 2)
        if self._open is None:
            self._begin(column)
        assert self._open is not None
        self._column = self._open.depth = column
        name = (found[3] or "").strip()
        name = re.sub(r"\(.*", "", name)
        self._open.add(Frame(slashed(found[1]), int(found[2]), "" if name in _NO_NAME else name, "python"))
        self._expects_text = True
        return True

    def _read_text(self, line: str) -> bool:
        """The line of source below a frame, which stands four columns in."""
        text = line[self._column :]
        if self._open is None or not self._open.frames or not text.startswith("    ") or text[4:5] in ("", " "):
            return False
        self._open.frames[-1] = replace(self._open.frames[-1], text=text.strip())
        return True

    def _read_raised(self, draft: Draft, line: str, bare: str) -> bool:
        """The line that ends a traceback: the type and the message."""
        own = line[self._column :]
        found = _RAISED.match(own) if own[:1].strip() else None
        if found is None and not own.startswith(" ") and bare.startswith(_first_word(bare)):
            found = _RAISED.match(bare)
            if found is not None and not _is_type(found[1]):
                found = None
        if found is None or (not draft.frames and not _is_type(found[1])):
            return False
        draft.type, draft.message = found[1], (found[2] or "").strip()
        self._end()
        return True

    def _read_link(self, line: str) -> bool:
        for sentence, relation in _LINKS.items():
            if sentence in line:
                self._end()
                if self._done:
                    self._done[-1].relation = relation
                return True
        return False

    def failures(self) -> list[Failure]:
        self._end()
        return [draft.finished() for draft in _members_first(self._done)]


def _beginning(line: str) -> int:
    grouped = line.find("Exception Group " + _BEGIN)
    return grouped if grouped >= 0 else line.find(_BEGIN)


def _first_word(text: str) -> str:
    return text.split(":", 1)[0]


def _is_type(name: str) -> bool:
    last = name.rpartition(".")[2]
    return last.endswith(_TYPE_ENDINGS) or ("." in name and last[:1].isupper())


def _members_first(drafts: list[Draft]) -> list[Draft]:
    """The members of a group of exceptions before the group: they are its causes."""
    out: list[Draft] = []
    groups: list[Draft] = []
    for draft in drafts:
        while groups and groups[-1].depth >= draft.depth:
            out.append(groups.pop())
        if groups and not draft.relation:
            draft.relation = "member"
        if draft.type.endswith("ExceptionGroup"):
            groups.append(draft)
        else:
            out.append(draft)
    return out + groups[::-1]


_PLACE = re.compile(r"(\S[^:\n]{0,400}\.pyi?):(\d{1,9}):?(?: in ([\w.<>]{1,200})\s*\S?|\s+([A-Za-z_][\w.]{0,100})|\s*)$")
_SAID = re.compile(r"E\s{2,}(.*)$")
_HEADER = re.compile(r"_{3,}\s(?:ERROR (?:at \w+ of|collecting) )?([\w./:\[\]<>=, -]{1,300})\s_{3,}$")
_DEFINITION = re.compile(r"(?:async )?def (\w{1,200})\(")
_SUMMARY = re.compile(r"(?:FAILED|ERROR) (\S{1,400}\.py)(?:::(\S{1,300}))?(?: - (.*))?$")


class Pytest:
    """What pytest prints of failed tests, in its long and its short form; also boxes of rich."""

    def __init__(self) -> None:
        self.others = 0
        self._done: list[Draft] = []
        self._named: list[Draft] = []
        self._open = Draft(outermost_first=True)
        self._function = ""

    def read(self, line: str, bare: str) -> bool:
        if bare.startswith("___") and _HEADER.match(bare):
            self._end()
            return True
        if ".py" in bare:
            if found := _PLACE.match(bare):
                self._add(found)
                return True
            if found := _SUMMARY.match(bare):
                self._add_summary(found)
                return True
        if bare.startswith("E ") and (found := _SAID.match(bare)):
            self._read_said(found[1])
            return True
        if not self._function and "def " in bare and (found := _DEFINITION.match(bare)):
            self._function = found[1]
        return False

    def _add(self, found: re.Match[str]) -> None:
        name = found[3] or self._function
        self._open.add(Frame(slashed(found[1]), int(found[2]), "" if name in _NO_NAME else name, "python"))
        self._function = ""
        if found[4]:
            self._open.type = self._open.type or found[4]
            self._end()

    def _read_said(self, text: str) -> None:
        """The first of the lines that tell what went wrong."""
        if self._open.type or self._open.message:
            return
        raised = _RAISED.match(text)
        if raised is not None and _is_type(raised[1]):
            self._open.type, self._open.message = raised[1], (raised[2] or "").strip()
        elif text.startswith("assert"):
            self._open.type, self._open.message = "AssertionError", text.strip()
        else:
            self._open.message = text.strip()

    def _add_summary(self, found: re.Match[str]) -> None:
        name = re.sub(r"\[.*", "", found[2] or "").replace("::", ".")
        draft = Draft(outermost_first=True)
        raised = _RAISED.match(found[3] or "")
        if raised is not None and _is_type(raised[1]):
            draft.type, draft.message = raised[1], (raised[2] or "").strip()
        else:
            draft.message = (found[3] or "").strip()
        draft.add(Frame(slashed(found[1]), 0, name, "python"))
        self._named.append(draft)

    def _end(self) -> None:
        if self._open.frames:
            self._done.append(self._open)
        self._open = Draft(outermost_first=True)
        self._function = ""

    def failures(self) -> list[Failure]:
        self._end()
        return [draft.finished() for draft in self._done or self._named]
