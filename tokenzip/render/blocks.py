"""A small document model, and its two writers: aligned text for terminals and pipes, and Markdown."""

from __future__ import annotations

import html
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Cell(NamedTuple):
    """One piece of a row: its text and what it means, from which each writer decides how it looks."""

    text: str
    role: str = ""
    """``name`` (can be typed back), ``place``, ``number``, ``dim``, ``code``, ``remark``, ``good``, ``bad``, ``warn``."""


@dataclass(frozen=True, slots=True)
class Title:
    """What the answer is about, and beside it which state it speaks of."""

    cells: tuple[Cell, ...]
    aside: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    text: str


@dataclass(frozen=True, slots=True)
class Rows:
    """Lines whose cells stand below each other. Code and remarks give way when the terminal is narrow.

    A row of one cell among longer ones is a heading for those below it.
    """

    rows: tuple[tuple[Cell, ...], ...]
    header: tuple[str, ...] = ()
    """Column names, for the Markdown table."""
    is_headed: bool = False
    """Whether text shows the column names too, for columns that do not speak for themselves."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: str


@dataclass(frozen=True, slots=True)
class Code:
    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark about the answer: what is missing, what was cut, what to ask next."""

    text: str


@dataclass(frozen=True, slots=True)
class Fold:
    """Details under a heading: Markdown shows them when asked to, text always."""

    text: str
    blocks: tuple[Title | Section | Rows | Paragraph | Code | Note, ...]


Block = Title | Section | Rows | Paragraph | Code | Note | Fold


@dataclass(frozen=True, slots=True)
class Style:
    """What the reader's end can show."""

    color: bool = False
    width: int | None = None
    """Columns of the terminal; None for a pipe or a file, where nothing is cut."""
    unicode: bool = True


PLAIN = Style()
_ANSI = {
    "name": "1", "place": "36", "dim": "2", "number": "", "code": "2", "good": "32", "bad": "31", "warn": "33",
    "remark": "2", "section": "1;34", "note": "2",
}  # fmt: skip
_GIVES_WAY = frozenset({"code", "remark"})
_ASCII = str.maketrans({"…": "...", "→": "->", "←": "<-", "·": "-", "–": "-", "≥": ">=", "×": "x"})


def shown(text: str, style: Style = PLAIN) -> str:
    """The text as it can be printed: plain ASCII signs if need be, and escaped bytes of odd file names, control characters and
    the signs that turn the direction of text, which would make a name read as another.
    """
    text = re.sub("[\udc80-\udcff]", lambda match: f"\\x{ord(match[0]) - 0xDC00:02x}", text)
    text = re.sub(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]",
        lambda match: match[0].encode("unicode_escape", "replace").decode(),
        text,
    )
    return text if style.unicode else text.translate(_ASCII)


def on_one_line(text: str, style: Style = PLAIN) -> str:
    """The text of a cell as it can be printed: line feeds and tabs, which file names may have, escaped too."""
    return shown(text, style).replace("\n", "\\n").replace("\t", "\\t")


def columns(text: str) -> int:
    """Terminal columns that the text takes: wide characters count twice, combining ones not at all."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def write_text(blocks: Iterable[Block], style: Style = PLAIN) -> str:
    """The document as lines for a terminal (or a pipe, without a width)."""
    lines: list[str] = []
    last: Block | None = None
    for block in _unfolded(blocks):
        if (
            lines
            and not isinstance(block, (Rows, Paragraph, Code))
            and not (isinstance(block, Note) and isinstance(last, Note))
        ):
            lines.append("")
        last = block
        lines.extend(_text_lines(block, style))
        if isinstance(block, Title):
            lines.append("")
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(_without_double_blanks(lines)) + "\n"


def _unfolded(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, Fold):
            yield Section(block.text)
            yield from block.blocks
        else:
            yield block


def _without_double_blanks(lines: Sequence[str]) -> list[str]:
    return [line for place, line in enumerate(lines) if line or (place and lines[place - 1])]


def _text_lines(block: Block, style: Style) -> list[str]:
    match block:
        case Title():
            return _title_lines(block, style)
        case Section():
            return [painted(block.text, "section", style)]
        case Rows():
            return _row_lines([*_heading(block), *block.rows], style)
        case Paragraph():
            return [f"  {line}".rstrip() for line in _wrapped(block.text, style, 2)]
        case Code():
            return [f"  {shown(line, style)}".rstrip() for line in block.text.splitlines()]
        case Note():
            return [painted(line, "note", style) for line in _wrapped(block.text, style, 0)]
        case Fold():
            return []  # laid open before


def _title_lines(title: Title, style: Style) -> list[str]:
    head = "  ".join(_painted(on_one_line(cell.text, style), cell.role, style) for cell in title.cells if cell.text)
    if not title.aside:
        return [head]
    plain = columns("  ".join(on_one_line(cell.text, style) for cell in title.cells if cell.text))
    aside = shown(title.aside, style)
    if style.width is not None and plain + 2 + columns(aside) > style.width:
        return [head, painted(aside, "dim", style)]
    return [f"{head}  {painted(aside, 'dim', style)}"]


def _heading(block: Rows) -> Iterator[tuple[Cell, ...]]:
    """The column names as a row, where text shows them; numbers have theirs above their last digits."""
    if block.is_headed and any(block.header):
        roles = (cell.role for cell in block.rows[0])
        yield tuple(Cell(name, "number" if role == "number" else "dim") for name, role in zip(block.header, roles, strict=True))


def _row_lines(rows: Sequence[Sequence[Cell]], style: Style, indent: int = 2) -> list[str]:
    table = [row for row in rows if len(row) > 1] or rows
    widths = [_column_width(table, column, style) for column in range(max((len(row) for row in rows), default=0))]
    lines = []
    for row in rows:
        parts: list[str] = []
        used = indent
        for column, cell in enumerate(row):
            text = on_one_line(cell.text, style)
            if cell.role in _GIVES_WAY and style.width is not None:
                text = _cut(text, style.width - used, style)
            padding = " " * max(0, widths[column] - columns(text))
            last = all(not later.text for later in row[column + 1 :])
            painted_text = _painted(text, cell.role, style)
            parts.append(padding + painted_text if cell.role == "number" else painted_text + ("" if last else padding))
            used += max(widths[column], columns(text)) + 2
            if last:
                break
        lines.append((" " * indent + "  ".join(parts)).rstrip())
    return lines


def _column_width(rows: Sequence[Sequence[Cell]], column: int, style: Style) -> int:
    cells = (row[column] for row in rows if column < len(row))
    return max((columns(on_one_line(cell.text, style)) for cell in cells if cell.role not in _GIVES_WAY), default=0)


def _cut(text: str, room: int, style: Style) -> str:
    """The text in at most `room` columns; nothing if that would say nothing."""
    if columns(text) <= room:
        return text
    sign = "…" if style.unicode else "..."
    if room < 12:
        return ""
    out = ""
    for character in text:
        if columns(out + character) > room - len(sign):
            break
        out += character
    return out.rstrip() + sign


def _wrapped(text: str, style: Style, indent: int) -> list[str]:
    width = max(20, min(style.width or 100, 100) - indent)
    lines: list[str] = []
    for line in shown(text, style).splitlines():
        lines.extend(textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) or [""])
    return lines


def painted(text: str, role: str, style: Style) -> str:
    """The text, made printable, in the color of its role."""
    return _painted(shown(text, style), role, style)


def _painted(text: str, role: str, style: Style) -> str:
    code = _ANSI.get(role, "") if style.color else ""
    return f"\x1b[{code}m{text}\x1b[0m" if code and text else text


def write_markdown(blocks: Iterable[Block]) -> str:
    """The document as Markdown: headings (of the second level on, so that it fits into others), tables and lists."""
    parts: list[str] = []
    for block in blocks:
        match block:
            case Title():
                parts.append("## " + " ".join(_markdown_cell(cell) for cell in block.cells if cell.text))
                if block.aside:
                    parts.append(f"*{_escaped(block.aside)}*")
            case Section():
                parts.append(f"### {_escaped(block.text)}")
            case Rows():
                parts.append(_markdown_rows(block))
            case Paragraph():
                parts.append(_escaped(block.text))
            case Code():
                fence = "`" * max(3, max((len(run) for run in re.findall("`+", block.text)), default=0) + 1)
                parts.append(f"{fence}{block.language}\n{shown(block.text)}\n{fence}")
            case Note():
                parts.append(f"> {_escaped(block.text)}".replace("\n", "\n> "))
            case Fold():
                summary = html.escape(shown(block.text), quote=False)
                parts.append(f"<details><summary>{summary}</summary>\n\n{write_markdown(block.blocks)}\n</details>")
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown_rows(block: Rows) -> str:
    if not block.header:
        return "\n".join("- " + " ".join(_markdown_cell(cell) for cell in row if cell.text) for row in block.rows)
    parts: list[str] = []
    table: list[Sequence[Cell]] = []
    for row in block.rows:
        if len(row) > 1 or len(block.header) == 1:
            table.append(row)
            continue
        parts.append(_markdown_table(block.header, table))
        parts.append(f"**{_markdown_cell(row[0])}**")
        table = []
    return "\n\n".join(part for part in (*parts, _markdown_table(block.header, table)) if part)


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """A table of the columns in which something stands."""
    if not rows:
        return ""
    used = [column for column in range(len(header)) if any(column < len(row) and row[column].text.strip() for row in rows)]
    lines = ["| " + " | ".join(header[column] for column in used) + " |", "| " + " | ".join("---" for _ in used) + " |"]
    for row in rows:
        cells = [_markdown_cell(row[column]).strip().replace("|", "\\|") if column < len(row) else "" for column in used]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _markdown_cell(cell: Cell) -> str:
    text = on_one_line(cell.text)
    if cell.role in {"name", "place", "code"} and text:
        return f"`` {text} ``" if "`" in text else f"`{text}`"
    if cell.role == "bad" and text:
        return f"**{_escaped(text)}**"
    return _escaped(text)


def _escaped(text: str) -> str:
    return re.sub(r"([\\*_<>\[\]])", r"\\\1", shown(text))
