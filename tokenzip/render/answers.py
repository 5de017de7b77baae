"""How each answer reads: from its JSON to a small document."""

from __future__ import annotations

from collections.abc import Iterator

from tokenzip.render.blocks import Block, Note
from tokenzip.render.changes import diff_text, impact_text
from tokenzip.render.context import context_text
from tokenzip.render.orientation import file_text, map_text, module_text
from tokenzip.render.past import conflicts_text, history_text
from tokenzip.render.queries import query_text
from tokenzip.render.relations import relations_text, search_text, symbol_text, trace_text
from tokenzip.render.words import Builder, Json, counted
from tokenzip.render.workflows import workflow_text, workflows_text


def document(tool: str, answer: Json) -> list[Block]:
    """The document of an answer of that operation: its own blocks, then what every answer has to say."""
    return [*BUILDERS[tool](answer), *remarks(answer)]


def remarks(answer: Json) -> Iterator[Block]:
    """What is missing from the answer, and why."""
    truncated = answer.get("truncated")
    if truncated:
        rest = f"; go on with --cursor {truncated['cursor']}" if truncated.get("cursor") else ""
        yield Note(f"{truncated['shown']} of {truncated['total']} shown{rest}")
    for name, count in answer.get("left_out", {}).items():
        yield Note(f"{count} left out of {name}")
    complete = answer.get("complete", True)
    if complete is not True:
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
