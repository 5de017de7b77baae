"""The tools: the table of operations as MCP shows it, and what becomes of a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from tokenzip.budget import lay_out
from tokenzip.errors import Cancelled, TokenzipError
from tokenzip.server.alarms import Alarms
from tokenzip.server.arguments import Operation, as_meant, tool_entry
from tokenzip.server.call import Call, Withdrawn
from tokenzip.server.indexing import Elsewhere, Indexer
from tokenzip.server.journal import record_failure
from tokenzip.server.kept import Kept, noted
from tokenzip.server.memory import let_go_of_maps, resident_bytes
from tokenzip.server.protocol import INVALID_PARAMS, Fault, Json, page
from tokenzip.server.question import DEADLINE, PATIENCE, Answered, Question, as_result, error_answer
from tokenzip.server.workspace import Workspace

LARGE = 45 << 20
"""Bytes of memory above which caches are kept only while call follows call."""

SHORT_REST = 0.7
LONG_REST = 60.0
"""Seconds after a call when open repositories and their caches are let go: from a large process, from a small one."""

FEW = 100
"""Files that are indexed sooner than a child has started."""

MOST_CHILDREN = 2
"""Children that may index for one call: the first may have been at work for another revision."""

HARD_CAP = 20_000
"""Bytes of one answer. Clients cut, or hide in files, what is longer than 40,000 to 50,000."""

MOST_TOKENS = 6_000
"""The budget that stands for "as much as possible": about `HARD_CAP` bytes of JSON."""

Work = Callable[[Any, Json], Json]
"""From a repository and arguments to an answer."""


class Tools:
    """Operations as tools, asked of one workspace."""

    def __init__(
        self,
        operations: Mapping[str, Operation],
        workspace: Workspace,
        *,
        at: str | None = None,
        indexer: Indexer | None = None,
        patience: float = PATIENCE,
        deadline: float = DEADLINE,
    ) -> None:
        self.operations = operations
        self._workspace = workspace
        self._at = at
        self._indexer = indexer
        self._patience = patience
        self._deadline = deadline
        self._alarms = Alarms()
        self._kept = Kept()
        self._rest: int | None = None

    def list(self, call: Call, params: Json) -> Json:
        """Every tool, in one page, by name."""
        return page(params, "tools", (tool_entry(self.operations[name]) for name in sorted(self.operations)))

    def call(self, call: Call, params: Json) -> Json:
        """Run a tool. Wrong arguments are an answer, so that the model can mend them; an unknown tool is a protocol error."""
        name = params.get("name")
        operation = self.operations.get(name) if isinstance(name, str) else None
        if operation is None:
            raise Fault(INVALID_PARAMS, f"Unknown tool: {name}. Known: {', '.join(sorted(self.operations))}")
        arguments = params.get("arguments")
        if not isinstance(arguments, dict | None):
            return as_result(error_answer("usage", "arguments must be an object", _what_it_takes(operation)))
        return self.ask(call, operation, arguments or {}, as_result)

    def ask(self, call: Call, operation: Operation, arguments: Mapping[str, Any], as_result: Answered) -> Json:
        """The result that carries the answer of the operation, or the error that stands for it."""
        given = self._completed(operation, arguments)
        return as_result(self.answer(call, operation.name, given, as_result, partial(_ask_for_less, operation), self._kept))

    def answer(self, call: Call, name: str, arguments: Json, as_result: Answered, work: Work, kept: Kept | None = None) -> Json:
        """What `work` finds out about the repository of this moment. Alarms answer the call if that takes long.

        With `kept`, what comes too late is left there for the next call of the same name with the same arguments.
        """
        question = Question(call, name, arguments, as_result, kept=kept, patience=self._patience, deadline=self._deadline)
        answer = None
        try:
            with question.alarmed(self._alarms), self._watched():
                answer = self._outcome(question, name, work)
        except (Cancelled, Withdrawn):
            call.check()
            raise
        finally:
            question.end(answer)
        return answer

    def _outcome(self, question: Question, name: str, work: Work) -> Json:
        """An answer, whatever happens. Raises Cancelled and Withdrawn where nobody wants one."""
        try:
            question.join()
            return self._asked(question, name, work)
        except (Cancelled, Withdrawn):
            raise
        except TokenzipError as error:
            return error_answer(error.code, error.message, error.hint, error.candidates)
        except Exception as error:
            return _bug_answer(name, error)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """After the last call, keep what the next one can use only as long as it is small."""
        if self._rest is not None:
            self._alarms.call_off(self._rest)
        try:
            yield
        finally:
            let_go_of_maps(".mdb")
            held = resident_bytes()
            is_large = held is not None and held > LARGE
            self._rest = self._alarms.set_in(SHORT_REST if is_large else LONG_REST, self._workspace.release)

    def _asked(self, question: Question, name: str, work: Work) -> Json:
        """What `work` answers. Where it would have to index, a child does that first."""
        children = 0 if self._indexer is None else MOST_CHILDREN
        place = ""

        def is_for_a_child(total: int) -> bool:
            return self._indexer is not None and children > 0 and (total > FEW or self._indexer.is_at_work(place))

        question.index_elsewhere(is_for_a_child)
        while True:
            try:
                with self._workspace.lent() as repository:
                    place = repository.root or repository.git.common_dir
                    repository.progress = question.on_progress
                    question.root = repository.root
                    kept_answer = question.kept_answer(repository)
                    if kept_answer is not None:
                        return kept_answer
                    question.states.clear()
                    with noted(repository, question.states):
                        return work(repository, question.arguments)
            except Elsewhere:
                children = children - 1 if self._index(question, name, place) else 0

    def _index(self, question: Question, name: str, place: str) -> bool:
        """Whether a child has indexed what the question needs, or what another one needed."""
        assert self._indexer is not None
        try:
            job = self._indexer.job(place, name, question.arguments)
        except OSError:  # no more processes to be had
            return False
        question.follow(job)
        return job.succeeded

    def _completed(self, operation: Operation, arguments: Mapping[str, Any]) -> Json:
        """The arguments with the server's own defaults and bounds."""
        given = as_meant(operation, arguments)
        names = {parameter.name for parameter in operation.parameters}
        if self._at is not None and "at" in names:
            given.setdefault("at", self._at)
        tokens = given.get("max_tokens")
        if isinstance(tokens, int) and (tokens == 0 or tokens > MOST_TOKENS):
            given["max_tokens"] = MOST_TOKENS
        return given


def _ask_for_less(operation: Operation, repository: Any, arguments: Json) -> Json:
    """The answer of the operation, asked for less until it is below the hard cap.

    Only the operation knows which items matter least and how to go on after them.
    """
    answer = operation.run(repository, arguments)
    budget = 0
    for _ in range(3):
        size = _size(answer)
        if size <= HARD_CAP:
            return answer
        budget = int(budget * HARD_CAP / size * 0.9) if budget else min(arguments.get("max_tokens", MOST_TOKENS), MOST_TOKENS)
        answer = operation.run(repository, {**arguments, "max_tokens": max(budget, 1)})
    if _size(answer) <= HARD_CAP:
        return answer
    return error_answer("too_large", f"The answer is larger than {HARD_CAP} bytes", "Ask for a part, or without source.")


def _size(answer: Json) -> int:
    return len(lay_out(answer).encode(errors="surrogatepass"))


def _what_it_takes(operation: Operation) -> str:
    return f"{operation.name} takes {', '.join(parameter.name for parameter in operation.parameters)}."


def _bug_answer(tool: str, error: Exception) -> Json:
    """A bug looks different from a mistake, and the session lives on."""
    path = record_failure(tool, error)
    hint = f"This is a bug in tokenzip; the details are in {path}." if path else "This is a bug in tokenzip."
    return error_answer("bug", f"{tool} failed: {type(error).__name__}: {error}", hint)
