"""Manifests and settings: what package.json, tsconfig.json, pyproject.toml, go.mod, pom.xml ... say at their top level.

One language for each *format*, told apart by file name in the registry: content alone cannot tell INI from TOML
(``[bdist_wheel]`` / ``universal = 1`` is both) nor say which of them a broken file was meant to be.

`Interface.names` holds the parsed top level as it is written: plain dicts, lists, strings, finite numbers, booleans and None
(dates as strings), at most `MAX_DEPTH` levels deep. There are no symbols and no body. `Interface.announces` holds

- ``package:NAME`` for npm, Python (normalised as PEP 503 says) and Cargo packages. The same name may come from several
  ecosystems, and ``name`` in a JSON file that is not a package.json announces too: whoever asks looks at the file name;
- ``module:PATH`` for Go modules.

Messages are our own and not the parsers', because those differ between versions of Python and the answer must not.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.parsers import expat

from tokenzip.languages.base import Evaluator, NoEdges, View
from tokenzip.model import FileIR, Interface, ParseProblem, Status, SymbolDetail, SymbolRow

VERSION = 1
MAX_BYTES = 1_000_000
"""A larger file is skipped: no known manifest comes near, and the parsers below are not linear on hostile input."""
MAX_DEPTH = 64
"""Levels of nesting. Deeper ones are refused before a recursive parser sees them."""
_MAX_PROBLEMS = 10

Values = dict[str, Any]


TOOLS = "tool"
"""The table of ``pyproject.toml`` in which each tool has a table of its own."""


class _Malformed(Exception):
    """The file as a whole cannot be read."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.problem = ParseProblem(line, message)


@dataclass(frozen=True, slots=True)
class Parsed:
    """The top level of a manifest, and what could not be read of it."""

    values: Values
    problems: tuple[ParseProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest format as a `Language`: a parser, and which of the values are names to be found by."""

    name: str
    filenames: tuple[str, ...]
    parse: Callable[[bytes], Parsed]
    announce: Callable[[Values], Iterator[str]]
    family: str = "manifest"
    version: int = VERSION
    suffixes: tuple[str, ...] = ()
    is_source: bool = False

    def extract(self, source: bytes) -> FileIR:
        """Interface without symbols or body; `failed` or `partial` with the line if the file is malformed."""
        lines = source.count(b"\n") + (1 if source and not source.endswith(b"\n") else 0)
        if len(source) > MAX_BYTES:
            return FileIR("skipped", lines, reason=f"larger than {MAX_BYTES:,} bytes")
        try:
            parsed = self.parse(source)
        except _Malformed as error:
            return FileIR("failed", lines, problems=(error.problem,), reason=error.problem.message)
        values, problems = plain(parsed.values), parsed.problems[:_MAX_PROBLEMS]
        status: Status = "partial" if problems else "parsed"
        reason = problems[0].message if problems else None
        announces = tuple(sorted(set(self.announce(values))))
        return FileIR(status, lines, _interface(values, announces), problems=problems, reason=reason)

    def describe(self, source: bytes, symbols: Sequence[SymbolRow]) -> tuple[SymbolDetail, ...]:
        return ()

    def evaluator(self, view: View) -> Evaluator:
        return NoEdges()

    def is_test(self, path: str) -> bool:
        return False


def _interface(values: Values, announces: tuple[str, ...]) -> Interface:
    """Top-level keys as names; what is in the table of tools by its dotted table and key, each entry a fact of its own: what
    a linter is told must not make every file of a project be linked again."""
    tools = values.get(TOOLS)
    if not isinstance(tools, dict):
        return Interface(names=values, announces=announces)
    names = {key: value for key, value in values.items() if key != TOOLS}
    return Interface(names, members=dict(_flattened(TOOLS, tools)), announces=announces)


def _flattened(name: str, table: Values) -> Iterator[tuple[str, Values]]:
    """A table and those in it by their dotted names, each with its plain values."""
    yield name, {key: value for key, value in table.items() if not isinstance(value, dict)}
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flattened(f"{name}.{key}", value)


def settings(interface: Interface) -> Values:
    """Everything that a manifest says, nested as it is written there."""
    values = dict(interface.names)
    for name, table in interface.members.items():
        here = values
        for key in name.split("."):
            here = here.setdefault(key, {})
        here.update(table)
    return values


def plain(values: Mapping[str, Any]) -> Values:
    """The same values as types that any serialiser keeps: see the module's docstring. What is too deep becomes None."""
    return {_text(key): _plain(value, MAX_DEPTH) for key, value in values.items()}


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -(1 << 63) <= value < (1 << 63) else _text(hex(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth == 0:
        return None
    if isinstance(value, dict):
        return {_text(str(key)): _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple([_plain(item, depth - 1) for item in value])
    return str(value)


def _text(text: str) -> str:
    r"""The text with lone surrogates (``"\ud800"`` in JSON) replaced: they cannot be written as UTF-8."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def decode(source: bytes) -> str:
    """Text by byte order mark, else UTF-8, else Latin-1."""
    if source.startswith((b"\xff\xfe", b"\xfe\xff")):
        return source.decode("utf-16", "replace")
    try:
        return source.decode("utf-8-sig")
    except UnicodeDecodeError:
        return source.decode("latin-1")


def _line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _refuse_depth(tokens: Iterator[re.Match[str]], text: str) -> None:
    depth = 0
    for token in tokens:
        if token[0] in "{[":
            depth += 1
            if depth > MAX_DEPTH:
                raise _Malformed(_line_of(text, token.start()), f"nested deeper than {MAX_DEPTH} levels")
        elif token[0] in "}]":
            depth -= 1


# JSON, also with comments and trailing commas, as tsconfig.json may be written

_JSON_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|[\[\]{}]')
_NOT_NEWLINE = re.compile(r"[^\n]")
_TRAILING_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|,(?=\s*+[}\]])')


def parse_json(source: bytes) -> Parsed:
    """An object of JSON or JSONC. Raises `_Malformed`."""
    text = decode(source)
    if text.count("{") + text.count("[") > MAX_DEPTH:
        _refuse_depth(_JSON_TOKEN.finditer(text), text)
    try:
        value = _loads(text)
    except ValueError:
        text = _TRAILING_COMMA.sub(lambda found: " " if found[0] == "," else found[0], _JSON_TOKEN.sub(_blank, text))
        try:
            value = _loads(text)
        except json.JSONDecodeError as error:
            raise _Malformed(error.lineno, "not valid JSON") from None
        except ValueError:
            raise _Malformed(1, "a number is too long") from None
    if not isinstance(value, dict):
        raise _Malformed(1, "not a JSON object")
    return Parsed(value)


def _loads(text: str) -> Any:
    return json.loads(text, strict=False)


def _blank(token: re.Match[str]) -> str:
    """Comments as blanks of the same length, so that positions stay."""
    return _NOT_NEWLINE.sub(" ", token[0]) if token[0][0] == "/" else token[0]


def _announce_json(values: Values) -> Iterator[str]:
    name = values.get("name")
    if isinstance(name, str) and name and "compilerOptions" not in values:
        yield f"package:{name}"


# TOML

_TOML_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)|'
    r"'''(?:[^']|'(?!''))*+(?:'''|\Z)|"
    r'"(?:[^"\\\n]|\\.)*+"?|'
    r"'[^'\n]*+'?|#[^\n]*|[\[\]{}]",
    re.DOTALL,
)
_LONG_KEY = re.compile(rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MAX_DEPTH}}}""")
_TOML_LINE = re.compile(r"at line (\d+)")
_TOML_HEADER = re.compile(r"[ \t]*\[")
_TOML_ROUNDS = 8
"""Broken tables that are left out one by one before the file is given up."""


def parse_toml(source: bytes) -> Parsed:
    """The tables that can be read: a table with a fault in it is left out and reported. Raises `_Malformed`."""
    text = decode(source).replace("\r\n", "\n")
    _refuse_depth(_TOML_TOKEN.finditer(text), text)
    if long := _LONG_KEY.search(text):  # the time that tomllib needs grows faster than the square of a key's parts
        raise _Malformed(_line_of(text, long.start()), f"a key has more than {MAX_DEPTH} parts")
    lines = text.split("\n")
    problems: list[ParseProblem] = []
    for _ in range(_TOML_ROUNDS):
        try:
            return Parsed(tomllib.loads("\n".join(lines)), tuple(problems))
        except ValueError as error:
            found = _TOML_LINE.search(str(error))
            line = min(int(found[1]), len(lines)) if found else len(lines)
            problems.append(ParseProblem(line, "not valid TOML"))
            _blank_table(lines, line)
    raise _Malformed(problems[0].line, problems[0].message)


def _blank_table(lines: list[str], line: int) -> None:
    """Empties the table that holds the 1-based line."""
    begin = line - 1
    while begin > 0 and not _TOML_HEADER.match(lines[begin]):
        begin -= 1
    end = begin + 1 if line - 1 < begin else line
    while end < len(lines) and not _TOML_HEADER.match(lines[end]):
        end += 1
    lines[begin:end] = [""] * (end - begin)


def _announce_toml(values: Values) -> Iterator[str]:
    for table in (values.get("project"), _at(values, "tool", "poetry")):
        name = table.get("name") if isinstance(table, dict) else None
        if isinstance(name, str) and name:
            yield f"package:{normalised(name)}"
    crate = _at(values, "package", "name")
    if isinstance(crate, str) and crate:
        yield f"package:{crate}"


def normalised(name: str) -> str:
    """The name of a Python distribution as PEP 503 compares it: ``Zope.Interface`` is ``zope-interface``."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


# INI, as setuptools reads setup.cfg: no interpolation, names of options keep their case

_INI_SECTION = re.compile(r"\[([^\]]+)\]\s*$")
_INI_DELIMITER = re.compile(r"[=:]")


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
        elif section := _INI_SECTION.match(text):
            options, value = sections.setdefault(section[1], {}), None
        elif options is not None and (delimiter := _INI_DELIMITER.search(text, 1)):
            value = options[text[: delimiter.start()].rstrip()] = [text[delimiter.end() :].lstrip()]
        else:
            value = None
            problems.append(ParseProblem(number, "neither section nor option"))
    values = {name: {key: "\n".join(v).strip() for key, v in body.items()} for name, body in sections.items()}
    return Parsed(values, tuple(problems))


def _announce_ini(values: Values) -> Iterator[str]:
    name = _at(values, "metadata", "name")
    if isinstance(name, str) and name and not name.startswith(("attr:", "file:")):
        yield f"package:{normalised(name)}"


# YAML, as far as workspace files use it: block mappings and sequences, flow lists of scalars, comments

_YAML_KEY = re.compile(
    r"""("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'|[^\s"'#\[\]{}&*!|>%@`,-][^#]*?|-[^\s#][^#]*?)\s*:(?=\s|$)\s*(.*)$"""
)
_YAML_COMMENT = re.compile(r"""(?:"(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'|[^"'\s]|(?<!\s)["']|\s(?!\s*#))*+""")
_YAML_ITEM = re.compile(r"""\s*("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'|[^,\[\]{}"']+)\s*(?:,|$)""")
_YAML_LINE = 2_000
"""Longer lines are left out: the patterns above are quadratic in the length of a line."""
_YAML_WORDS: dict[str, Any] = {"": None, "~": None, "null": None, "true": True, "false": False}


def parse_yaml(source: bytes) -> Parsed:
    """Block mappings and sequences of scalars and flow lists; every line that is anything else is reported and left out."""
    root: Values = {}
    stack: list[tuple[int, Any]] = [(-1, root)]
    waiting: tuple[int, Values, str] | None = None  # a key whose value begins on the next line
    problems: list[ParseProblem] = []
    for number, line in enumerate(decode(source).splitlines(), 1):
        if len(line) > _YAML_LINE:
            problems.append(ParseProblem(number, f"longer than {_YAML_LINE:,} characters"))
            continue
        found = _YAML_COMMENT.match(line)
        text = found[0].rstrip() if found else line
        body = text.lstrip(" ")
        if not body or body[0] == "#" or body in ("---", "..."):
            continue
        indent, dash = len(text) - len(body), body == "-" or body.startswith("- ")
        if waiting is not None and (indent > waiting[0] or (dash and indent == waiting[0])) and len(stack) <= MAX_DEPTH:
            _, parent, key = waiting
            container: Any = [] if dash else {}
            parent[key] = container
            stack.append((indent, container))
        waiting = None
        while len(stack) > 1 and (
            stack[-1][0] > indent or (stack[-1][0] == indent and isinstance(stack[-1][1], list) and not dash)
        ):
            stack.pop()
        level, holder = stack[-1]
        pair = None if dash else _YAML_KEY.match(body)
        if level not in (indent, -1) or (level == -1 and indent != 0):
            problems.append(ParseProblem(number, "not understood"))
        elif dash and isinstance(holder, list) and (item := _yaml_value(body[1:].strip())) is not _YAML_UNKNOWN:
            holder.append(item)
        elif pair and isinstance(holder, dict) and (item := _yaml_value(pair[2])) is not _YAML_UNKNOWN:
            key = str(_yaml_scalar(pair[1]))
            holder[key] = item
            waiting = (indent, holder, key) if not pair[2] else None
        else:
            problems.append(ParseProblem(number, "not understood"))
    return Parsed(root, tuple(problems))


_YAML_UNKNOWN = object()


def _yaml_value(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        items, position, inner = [], 0, text[1:-1].rstrip().removesuffix(",")
        while position < len(inner):
            found = _YAML_ITEM.match(inner, position)
            if found is None:
                return _YAML_UNKNOWN
            items.append(_yaml_scalar(found[1].strip()))
            position = found.end()
        return items
    if text == "{}":
        return {}
    if text[:1] in ("[", "{", "&", "*", "!", "|", ">", "%", "@", "`") or _YAML_KEY.match(text):
        return _YAML_UNKNOWN
    return _yaml_scalar(text)


def _yaml_scalar(text: str) -> Any:
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) >= 2 and text[0] == text[-1] == '"':
        try:
            return json.loads(text, strict=False)
        except ValueError:
            return text[1:-1]
    return _YAML_WORDS.get(text.lower(), text)


# go.mod: https://go.dev/ref/mod#go-mod-file

_GO_WORD = re.compile(r'"((?:[^"\\]|\\.)*+)"|`([^`]*)`|([^\s"`()]+|[()])')


def parse_go_mod(source: bytes) -> Parsed:
    """``module``, ``go``, ``toolchain``: text. ``require``: path -> {version, indirect}. ``replace``: old -> new path."""
    values: Values = {}
    problems: list[ParseProblem] = []
    block = ""
    for number, line in enumerate(decode(source).splitlines(), 1):
        code, _, comment = line.partition("//")
        words = [next(group for group in found.groups() if group is not None) for found in _GO_WORD.finditer(code)]
        if not words:
            continue
        if block:
            if words == [")"]:
                block = ""
            elif not _go_directive(values, block, words, comment):
                problems.append(ParseProblem(number, f"not a line of {block}"))
        elif len(words) == 2 and words[1] == "(":
            block = words[0]
        elif not _go_directive(values, words[0], words[1:], comment):
            problems.append(ParseProblem(number, "not a directive of go.mod"))
    return Parsed(values, tuple(problems))


def _go_directive(values: Values, verb: str, words: list[str], comment: str) -> bool:
    if verb in ("module", "go", "toolchain") and len(words) == 1:
        values[verb] = words[0]
    elif verb == "require" and len(words) == 2:
        values.setdefault(verb, {})[words[0]] = {"version": words[1], "indirect": comment.strip().startswith("indirect")}
    elif verb == "replace" and "=>" in words[1:-1]:
        values.setdefault(verb, {})[words[0]] = words[words.index("=>") + 1]
    elif verb in ("exclude", "retract", "godebug", "tool", "ignore") and words:
        values.setdefault(verb, []).append(" ".join(words))
    else:
        return False
    return True


def _announce_go(values: Values) -> Iterator[str]:
    if isinstance(values.get("module"), str):
        yield f"module:{values['module']}"


# pom.xml

_XML_SPACE = re.compile(r"\s+")


def parse_pom(source: bytes) -> Parsed:
    """Children of the root element: an element of elements is a dict, a plural one (``modules/module``) a list, others text.

    A document type is refused: with it come entities, and with them bombs and files of the machine.
    """
    builder = _XmlBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.StartDoctypeDeclHandler = lambda *_: builder.refuse(parser.CurrentLineNumber, "has a document type")
    builder.line = lambda: parser.CurrentLineNumber
    try:
        parser.Parse(source, True)
    except (expat.ExpatError, LookupError, ValueError):
        line = parser.CurrentLineNumber
        problem = ParseProblem(line, "not well-formed XML")
        values = builder.so_far()
        if not values:
            raise _Malformed(*problem) from None
        return Parsed(values, (problem,))
    values = builder.so_far()
    if builder.root not in ("project", "settings"):
        raise _Malformed(1, "not a Maven project")
    return Parsed(values)


class _XmlBuilder:
    """Turns expat's events into dicts, lists and text, without recursion."""

    line: Callable[[], int]

    def __init__(self) -> None:
        self.root = ""
        self._stack: list[tuple[str, list[tuple[str, Any]], list[str]]] = []
        self._children: list[tuple[str, Any]] = []

    def start(self, tag: str, attributes: object) -> None:
        tag = tag.rpartition(":")[2]
        if len(self._stack) >= MAX_DEPTH:
            self.refuse(self.line(), f"nested deeper than {MAX_DEPTH} levels")
        if not self._stack:
            self.root = tag
        self._stack.append((tag, [], []))

    def text(self, text: str) -> None:
        if self._stack:
            self._stack[-1][2].append(text)

    def end(self, tag: str) -> None:
        tag, children, texts = self._stack.pop()
        if self._stack:
            self._stack[-1][1].append((tag, _xml_value(tag, children, texts)))
        else:
            self._children = children

    def refuse(self, line: int, message: str) -> None:
        raise _Malformed(line, message)

    def so_far(self) -> Values:
        """Finished children of the root element."""
        return dict(self._stack[0][1] if self._stack else self._children)


def _xml_value(tag: str, children: list[tuple[str, Any]], texts: list[str]) -> Any:
    if not children:
        return _XML_SPACE.sub(" ", "".join(texts)).strip()
    if all(tag in (name + "s", name.removesuffix("y") + "ies") for name, _ in children):
        return [value for _, value in children]
    return dict(children)


def _announce_nothing(values: Values) -> Iterator[str]:
    yield from ()


# Gradle: programs, so only what is written in the usual forms can be said

_GRADLE_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*+"|\'(?:[^\'\\\n]|\\.)*+\'|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?')
_GRADLE_SETTING = re.compile(
    r"""^[ \t]*+(rootProject\.name|group|version|description)[ \t]*+=?[ \t]*+["']([^"'\n$]*+)["']""", re.MULTILINE
)
_GRADLE_INCLUDE = re.compile(r"""^[ \t]*+include[ \t]*+\(?((?:\s*+["'][^"'\n]*+["']\s*+,?)++)""", re.MULTILINE)
_GRADLE_QUOTED = re.compile(r"""["']([^"'\n]*)["']""")
_GRADLE_DEPENDENCY = re.compile(
    r"""^[ \t]*+([a-z]\w*+)[ \t]*+\(?[ \t]*+(?:
        (project)[ \t]*+\([ \t]*+(?:path[ \t]*+[:=][ \t]*+)?["'](:[^"'\n]*+)["']
      | ["'](?!https?:)([^"'\s:]++:[^"'\s:]++(?::[^"'\n]*+)?)["'])""",
    re.MULTILINE | re.VERBOSE,
)
_GRADLE_NO_CONFIGURATION = frozenset({"id", "version", "include", "classpath", "exclude", "group"})


def parse_gradle(source: bytes) -> Parsed:
    """Settings by name, ``include``, ``dependencies`` [{configuration, notation}] and ``projects`` [{configuration, path}]."""
    text = _GRADLE_TOKEN.sub(_blank, decode(source))
    values: Values = {}
    for setting in _GRADLE_SETTING.finditer(text):
        values.setdefault(setting[1], setting[2])
    included = [path[1] for found in _GRADLE_INCLUDE.finditer(text) for path in _GRADLE_QUOTED.finditer(found[1])]
    if included:
        values["include"] = included
    for found in _GRADLE_DEPENDENCY.finditer(text):
        if found[2]:
            values.setdefault("projects", []).append({"configuration": found[1], "path": found[3]})
        elif found[1] not in _GRADLE_NO_CONFIGURATION:
            values.setdefault("dependencies", []).append({"configuration": found[1], "notation": found[4]})
    return Parsed(values)


JSON = Manifest(
    "json",
    ("package.json", "tsconfig.json", "tsconfig.*.json", "tsconfig-*.json", "jsconfig.json", "lerna.json"),
    parse_json,
    _announce_json,
)
TOML = Manifest("toml", ("pyproject.toml", "Cargo.toml"), parse_toml, _announce_toml)
INI = Manifest("ini", ("setup.cfg",), parse_ini, _announce_ini)
YAML = Manifest("yaml", ("pnpm-workspace.yaml",), parse_yaml, _announce_nothing)
GO_MOD = Manifest("go.mod", ("go.mod",), parse_go_mod, _announce_go)
POM = Manifest("pom", ("pom.xml",), parse_pom, _announce_nothing)
GRADLE = Manifest(
    "gradle", ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"), parse_gradle, _announce_nothing
)
