"""INI, as setuptools reads setup.cfg: no interpolation, names of options keep their case."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tokenzip.languages.manifest.text import decode, normalised
from tokenzip.languages.manifest.values import Parsed, Values, at
from tokenzip.model import ParseProblem

_SECTION = re.compile(r"\[([^\]]+)\]\s*$")
_DELIMITER = re.compile(r"[=:]")


def parse_ini(source: bytes) -> Parsed:
    """Section -> option -> text; further lines of a value are joined by newlines."""
    sections: dict[str, dict[str, list[str]]] = {}
    options: dict[str, list[str]] | None = None
    value: list[str] | None = None
    problems: list[ParseProblem] = []
    for number, line in enumerate(decode(source).splitlines(), 1):
        text = line.strip()
        if not text or text[0] in "#;":
            continue
        if line[0].isspace() and value is not None:
            value.append(text)
        elif section := _SECTION.match(text):
            options, value = sections.setdefault(section[1], {}), None
        elif options is not None and (delimiter := _DELIMITER.search(text, 1)):
            value = options[text[: delimiter.start()].rstrip()] = [text[delimiter.end() :].lstrip()]
        else:
            value = None
            problems.append(ParseProblem(number, "neither section nor option"))
    values = {name: {key: "\n".join(v).strip() for key, v in body.items()} for name, body in sections.items()}
    return Parsed(values, tuple(problems))


def announce_ini(values: Values) -> Iterator[str]:
    name = at(values, "metadata", "name")
    if isinstance(name, str) and name and not name.startswith(("attr:", "file:")):
        yield f"package:{normalised(name)}"
