"""The small words that several renderings share: states, counts, places, names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tokenzip.render.blocks import Block, Cell, Code, Paragraph, Section

Json = Mapping[str, Any]
Builder = Callable[[Json], Iterator[Block]]


def at_text(at: Json) -> str:
    """Which state an answer speaks of, in words: ``WORKTREE on 2ac8988, with changes``."""
    commit = (at.get("commit") or "")[:10]
    if at["rev"] in {"WORKTREE", "INDEX"}:
        base = f"on {commit}" if commit else "no commit yet"
        return f"{at['rev']} {base}" + (", with changes" if at.get("dirty") else "")
    return at["rev"] if commit and commit.startswith(at["rev"][:10]) else f"{at['rev']} = {commit}"


def counted(count: int, noun: str) -> str:
    """``1 file``, ``1,234 files``."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + ("es" if noun.endswith("s") else "s")
    return f"{count:,} {noun if count == 1 else plural}"


def shortened(text: str, most: int) -> str:
    """The text on one line, and its middle left out where it has more characters than that."""
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    head = most * 2 // 3
    return f"{text[:head].rstrip()} … {text[len(text) - (most - head - 3) :].lstrip()}"


def place(item: Json) -> str:
    """``file:line`` of an item, or just the file."""
    line, path = item.get("line"), item.get("file") or str(item["handle"]).partition("::")[0]
    return f"{path}:{line}" if line else str(path)


def own_name(item: Json) -> str:
    """The handle without the file, for lists that show the file beside it."""
    handle = str(item["handle"])
    return handle.partition("::")[2] or "(module level)"


def last(item: Json) -> str:
    return str(item["handle"]).rpartition("::")[2].rpartition(".")[2]


def language_of(path: str) -> str:
    """The name after a Markdown fence for a file of that suffix."""
    return {"py": "python", "pyi": "python", "js": "javascript", "jsx": "jsx", "ts": "typescript", "tsx": "tsx"}.get(
        path.rpartition(".")[2], ""
    )


def sources(items: Sequence[Json]) -> Iterator[Block]:
    for item in items:
        if "doc" in item or "source" in item:
            yield Section(item["handle"])
        if "doc" in item:
            yield Paragraph(item["doc"])
        if "source" in item:
            yield Code(item["source"], language_of(item["file"]))


def sizes(item: Json) -> tuple[Cell, ...]:
    return tuple(Cell(counted(item[f"{noun}s"], noun), "number") for noun in ("file", "line", "symbol"))
