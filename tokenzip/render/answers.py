"""How each answer reads: from its JSON to a small document."""

from __future__ import annotations

from collections.abc import Iterator

from tokenzip.render.blocks import Block, Cell, Note, Rows, Title
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
    try:
        blocks = [*BUILDERS[tool](answer)]
    except KeyError:
        if not (answer.get("left_out") or answer.get("truncated")):
            raise
        blocks = [*_what_fits(answer)]
    return [*blocks, *remarks(answer)]


def _what_fits(answer: Json) -> Iterator[Block]:
    """An answer whose budget was too small for the parts that its own text is made of: the state and the names."""
    handles = [item["handle"] for name in ("items", "changes", "run") for item in answer.get(name, ()) if "handle" in item]
    yield Title((Cell("the budget is too small for more", "dim"),), at_text(answer["at"]) if "at" in answer else "")
    yield Rows(tuple((Cell(handle, "name"),) for handle in handles))


def remarks(answer: Json) -> Iterator[Block]:
    """What is missing from the answer, and why."""
    truncated = answer.get("truncated")
    if truncated:
        rest = f"; go on with --cursor {truncated['cursor']}" if truncated.get("cursor") else ""
        yield Note(f"{truncated['shown']} of {truncated['total']} shown{rest}")
    for name, count in answer.get("left_out", {}).items():
        yield Note(f"{counted(count, 'part')} left out" if name == "fields" else f"{count:,} more of {name} left out")
    complete = answer.get("complete", True)
    if complete is False:
        yield Note("May be incomplete.")
    elif complete is not True:
        places = complete.get("places", ())
        more = ", …" if complete.get("unresolved", 0) > len(places) else ""
        count = f"{counted(complete['unresolved'], 'open reference')}: " if complete.get("unresolved") else ""
        yield Note(f"May be incomplete. {count}{complete['why']}" + (f" ({', '.join(places)}{more})" if places else ""))


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
