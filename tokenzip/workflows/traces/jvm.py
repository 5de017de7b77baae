"""Stack traces of Java, Kotlin and other languages of the JVM."""

from __future__ import annotations

import itertools
import re

from tokenzip.workflows.traces.model import Draft, Failure, Frame

_FRAME = re.compile(
    r"at ([\w.$/@<>+-]{1,500})"
    r"\(((?:[\w$-]{1,200}\.(?:java|kt|kts|groovy|scala|clj))(?::(\d{1,9}))?|Native Method|Unknown Source|<generated>)\)"
)
_RAISED = re.compile(r"((?:[A-Za-z_$][\w$]{0,100}\.){0,20}[A-Za-z_$][\w$]{0,100})(?:: (.*))?$")
_THREAD = re.compile(r'Exception in thread "[^"]{0,200}" (.*)$')
_MORE = re.compile(r"\.\.\. (\d{1,6}) (?:more|common frames omitted)")
_NESTED = (("Caused by: ", "cause"), ("Suppressed: ", "suppressed"), ("Wrapped by: ", "wrapped"))


class StackTraces:
    """``at package.Class.method(File.java:12)``."""

    def __init__(self) -> None:
        self.others = 0
        self._groups: list[list[Draft]] = []
        self._open: Draft | None = None
        self._header = Draft()

    def read(self, line: str, bare: str) -> bool:
        if "at " in line and (found := _FRAME.search(line)):
            self._add(found)
            return True
        if self._open is not None and "..." in line and (found := _MORE.search(line)):
            self._open.hidden += int(found[1])
            return True
        for word, relation in _NESTED:
            if word in line and self._open is not None:
                self._begin_nested(line[line.find(word) + len(word) :], relation)
                return True
        self._read_header(bare)
        return False

    def _add(self, found: re.Match[str]) -> None:
        if self._open is None:
            self._open, self._header = self._header, Draft()
            self._groups.append([self._open])
        package, name = _parted(found[1].rpartition("/")[2])
        file = found[2].partition(":")[0]
        is_known = "." in file
        path = "/".join([*package.split("."), file]) if package and is_known else file if is_known else ""
        self._open.add(Frame(path, int(found[3] or 0), name, "jvm"))

    def _begin_nested(self, text: str, relation: str) -> None:
        found = _RAISED.match(text.strip())
        self._open = Draft(relation=relation)
        if found is not None:
            self._open.type, self._open.message = found[1], (found[2] or "").strip()
        self._groups[-1].append(self._open)

    def _read_header(self, bare: str) -> None:
        threaded = _THREAD.search(bare) if "Exception in thread" in bare else None
        found = _RAISED.match(threaded[1] if threaded else bare)
        if found is None or not (threaded or found[1].endswith(("Exception", "Error", "Throwable", "Failure"))):
            return
        self._open = None
        self._header = Draft(type=found[1], message=(found[2] or "").strip())

    def failures(self) -> list[Failure]:
        return [draft.finished() for group in self._groups for draft in _root_first(group) if not draft.is_empty]


def _root_first(group: list[Draft]) -> list[Draft]:
    """What caused the rest first, what was suppressed last. A trace that says ``Wrapped by`` has that order already."""
    suppressed = [draft for draft in group if draft.relation == "suppressed"]
    chain = [draft for draft in group if draft.relation != "suppressed"]
    if any(draft.relation == "wrapped" for draft in chain):
        for earlier, later in itertools.pairwise(chain):
            earlier.relation = "cause" if later.relation == "wrapped" else ""
        chain[-1].relation = ""
        return chain + suppressed
    return chain[::-1] + suppressed


def _parted(qualified: str) -> tuple[str, str]:
    """Package, and class with method: closures and synthetic classes go by the method around them."""
    owner, _, method = qualified.rpartition(".")
    package, _, nested = owner.rpartition(".")
    parts = [part for part in nested.split("$") if part and not part.isdigit() and not part.startswith(("Lambda", "sam"))]
    lambda_of = re.match(r"(?:lambda\$|access\$)([A-Za-z_]\w*)?", method)
    is_closure = method in ("invoke", "invokeSuspend") and "$" in nested
    if method in ("<init>", "<clinit>") or is_closure or (lambda_of is not None and not lambda_of[1]):
        method = ""
    elif lambda_of is not None:
        method = lambda_of[1] or ""
    names = [*parts, *([method.partition("$")[0]] if method else [])]
    return package, ".".join(names)
