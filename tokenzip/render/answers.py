"""How each answer reads: from its JSON to a small document."""

from __future__ import annotations

from collections.abc import Iterator

from tokenzip.render.blocks import Block, Cell, Note, Paragraph, Rows, Title
from tokenzip.render.changes import diff_text, impact_text
from tokenzip.render.context import context_text
from tokenzip.render.orientation import file_text, map_text, module_text
from tokenzip.render.past import conflicts_text, history_text
from tokenzip.render.queries import query_text
from tokenzip.render.relations import relations_text, search_text, symbol_text, trace_text
from tokenzip.render.words import Builder, Json, at_text, counted
from tokenzip.render.workflows import workflow_text, workflows_text


def document(tool: str, answer: Json) -> list[Block]:
    """The document of an answer of that operation: its own blocks, then what every answer has to say."""
    if (answer.get("truncated") or {}).get("shown") == 0:  # its own blocks would say that there is none
        return [*_what_fits(answer), *remarks(answer)]
    try:
        blocks = [*BUILDERS[tool](answer)]
    except KeyError:
        if not (answer.get("left_out") or answer.get("truncated")):
            raise
        blocks = [*_what_fits(answer)]
    return [*blocks, *remarks(answer)]


def _what_fits(answer: Json) -> Iterator[Block]:
    """An answer whose budget was too small for the parts that its own text is made of: the state, the numbers, the names."""
    handles = [item["handle"] for name in ("items", "changes", "run") for item in answer.get(name, ()) if "handle" in item]
    subject = [Cell(handle, "name") for handle in _subjects(answer)]
    yield Title(tuple(subject) or (Cell("only a part fits", "dim"),), at_text(answer["at"]) if "at" in answer else "")
    numbers = [counts for name in ("summary", "counts") if isinstance(counts := answer.get(name), dict)]
    words = [f"{name.replace('_', ' ')} {value:,}" for each in numbers for name, value in each.items() if type(value) is int]
    if words:
        yield Paragraph(", ".join(words))
    yield Rows(tuple((Cell(handle, "name"),) for handle in handles))


def _subjects(answer: Json) -> Iterator[str]:
    """What the answer is about, as far as that is left of it."""
    for name in SUBJECTS:
        subject = answer.get(name)
        for each in subject if isinstance(subject, list) else [subject]:
            if isinstance(each, str) or (isinstance(each, dict) and "handle" in each):
                yield each if isinstance(each, str) else each["handle"]


def remarks(answer: Json) -> Iterator[Block]:
    """What is missing from the answer, and why."""
    truncated = answer.get("truncated")
    if truncated:
        rest = f"; go on with --cursor {truncated['cursor']}" if truncated.get("cursor") else ""
        if not truncated["shown"]:
            rest = "; give more --max-tokens"
        yield Note(f"{truncated['shown']} of {truncated['total']} shown{rest}")
    for name, count in answer.get("left_out", {}).items():
        yield Note(_left_out(name, count))
    complete = answer.get("complete", True)
    if complete is False:
        yield Note("May be incomplete.")
    elif complete is not True:
        places = complete.get("places", ())
        more = ", …" if complete.get("unresolved", 0) > len(places) else ""
        count = f"{counted(complete['unresolved'], 'open reference')}: " if complete.get("unresolved") else ""
        yield Note(f"May be incomplete. {count}{complete['why']}" + (f" ({', '.join(places)}{more})" if places else ""))


def _left_out(name: str, count: int) -> str:
    if name == "fields":
        return f"{counted(count, 'part')} left out"
    if name in SUBJECTS:
        return f"{counted(count, 'detail')} left out"
    return f"{count:,} more of {name.replace('_', ' ')} left out"


SUBJECTS = ("of", "symbol", "file", "module", "workflow")
"""Fields that say what an answer is about."""
BUILDERS: dict[str, Builder] = {
    "diff_commits": diff_text,
    "execute_workflow_template": workflow_text,
    "find_conflicts": conflicts_text,
    "get_context_for_files": context_text,
    "get_dependants": relations_text("dependant", backward=True),
    "get_dependencies": relations_text("dependency", backward=False),
    "get_git_history": history_text,
    "get_impact_analysis": impact_text,
    "get_workflow": workflows_text,
    "query": query_text,
    "query_file": file_text,
    "query_module": module_text,
    "query_repo_structure": map_text,
    "query_symbol": symbol_text,
    "search_symbols": search_text,
    "trace_path": trace_text,
}
