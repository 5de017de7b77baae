"""Single-file components: where the scripts of a Vue or Svelte file lie, and what its markup uses.

All but the scripts is blanked, byte for byte, so that the offsets and lines of what the walk finds are those of the file. The
markup adds what it shows plainly: a component whose script exports none is a symbol of its own (the markup), tags are
references to imported components, and the expressions of bindings use and call names of the script. What else a template
compiler knows (slots, the types of loop variables) is not read.

https://vuejs.org/api/sfc-spec.html, https://svelte.dev/docs/svelte/svelte-files
"""

from __future__ import annotations

import bisect
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tokenzip.languages.javascript import flags as bits
from tokenzip.languages.javascript.modules import Modules
from tokenzip.languages.javascript.scopes import ABSENT, Definition
from tokenzip.languages.syntax import Node

Framework = Literal["vue", "svelte"]
_ATTRIBUTES = rb"""((?:[^>"']|"[^"]*"|'[^']*'){0,200}+)"""
"""At most so many characters and values: a file of unfinished tags must not be read to its end at each of them."""
_SECTIONS = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(?P<name>script|style)\b" + _ATTRIBUTES + rb">(?P<text>.*?)(?:</(?P=name)\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_LANGUAGE = re.compile(rb"""\s(?:lang|type)\s*=\s*["']?([\w/+.-]+)""")
_SCRIPTS: dict[bytes, Literal["javascript", "typescript", "tsx"]] = {
    b"ts": "typescript", b"typescript": "typescript", b"text/typescript": "typescript", b"tsx": "tsx",
    b"js": "javascript", b"jsx": "javascript", b"javascript": "javascript", b"text/javascript": "javascript",
    b"module": "javascript", b"text/babel": "javascript",
}  # fmt: skip
_NOT_NEWLINE = re.compile(rb"[^\r\n]")
_TAG = re.compile(r"<([A-Za-z][\w.-]*)")
# Where markup holds expressions: {{ a }} and the directives :a="", @a="", #a="", v-a="" of Vue; { a } of Svelte.
_EXPRESSIONS = {
    "vue": re.compile(
        r"\{\{(?P<text>[^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\}|\s(?:v-|[:@#])[\w.:\[\]-]*\s*=\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)')",
        re.DOTALL,
    ),
    "svelte": re.compile(r"\{(?P<text>[^{}]*(?:\{[^{}]*\}[^{}]*)*)\}"),
}
_STRING = re.compile(r"""\'(?:\\.|[^\'\\])*\'|"(?:\\.|[^"\\])*\"""")
_CHAIN = re.compile(r"(?<![\w$.])([A-Za-z_$][\w$]*)((?:\s*\??\.\s*[A-Za-z_$][\w$]*)*)(\s*(?:\?\.)?\()?")
_STORE = re.compile(rb"(?<![\w$.])\$([A-Za-z_]\w*)")


@dataclass(slots=True)
class Component:
    """One single-file component, taken apart."""

    framework: Framework
    source: bytes
    script: bytes
    """The source with everything but its scripts blanked."""
    markup: bytes
    """The source with scripts, styles and comments blanked."""
    grammar: Literal["javascript", "typescript", "tsx"]

    def add_to(self, walk: Modules, root: Node) -> None:
        """Adds the component and what its markup uses to a walk over `script`, before definitions get their names."""
        for name in self._given():
            walk.add_name(name, ("v", ABSENT, None))
        shown = self.markup.decode("utf-8", "surrogateescape")
        if not shown.strip():
            return
        component = _exported(walk, root) or self._define(walk)
        lines = _Lines(shown)
        for name, at in self._tags(shown):
            self._refer_to_tag(walk, component, name, lines.of(at))
        for text, at in self._expressions(shown):
            for found in _CHAIN.finditer(_STRING.sub(lambda string: " " * len(string[0]), text)):
                self._use(walk, component, found, lines.of(at + found.start()))

    def digest(self, known: int) -> int:
        """The content hash of the component: that of its symbol, and its markup without layout."""
        return zlib.crc32(b" ".join(self.markup.split()), known)

    def _given(self) -> Iterator[str]:
        """Names that the compiler makes."""
        if self.framework == "svelte":  # $name is the value of the store `name`
            for name in dict.fromkeys(_STORE.findall(self.script)):
                yield "$" + name.decode("ascii", "replace")

    def _define(self, walk: Modules) -> Definition:
        """The symbol of a component that is not written as an export: it stands where its markup does."""
        definition = Definition("default", "class", None, len(walk.definitions))
        start, end = _largest_stretch(self.source, self.markup)
        definition.start = definition.name_start = definition.name_end = start
        definition.end = end
        opening = self.source.find(b">", start, end)
        definition.head_end = end if opening < 0 or self.framework == "svelte" else opening + 1
        definition.name_line = self.source.count(b"\n", 0, start) + 1
        definition.flags = bits.EXPORTED | bits.DEFAULT_EXPORT
        walk.definitions.append(definition)
        walk.add_export("default", ("d", definition.order))
        return definition

    def _tags(self, shown: str) -> Iterator[tuple[str, int]]:
        for found in _TAG.finditer(shown):
            name = found[1]
            if self.framework == "vue" and "-" in name:
                name = "".join(part[:1].upper() + part[1:] for part in name.split("-"))
            if not name[0].islower() or "." in name:
                yield name, found.start()

    def _expressions(self, shown: str) -> Iterator[tuple[str, int]]:
        for found in _EXPRESSIONS[self.framework].finditer(shown):
            group = found.lastgroup
            assert group is not None, "every alternative has a group"
            yield found[group], found.start(group)

    def _refer_to_tag(self, walk: Modules, component: Definition, name: str, line: int) -> None:
        first, *members = name.split(".")
        if first in walk.names:
            value = walk.make("g", first)
            for member in members:
                value = walk.make("a", value, member)
            walk.refs.append((component.order, "j", value, line, (members or [first])[-1]))

    def _use(self, walk: Modules, component: Definition, found: re.Match[str], line: int) -> None:
        first, called = found[1], bool(found[3])
        members = [member.strip() for member in re.split(r"\??\.", found[2])[1:]]
        if first not in walk.names and self.framework == "svelte":
            first = first.removeprefix("$")
        if first not in walk.names:
            # a member of the component's options, of the instance, a loop variable: by name it may be some definition here
            if any(one.name == first and not one.hidden for one in walk.definitions):
                walk.refs.append((component.order, "c", ABSENT, line, first))
            return
        value = walk.make("g", first)
        if members or not called:
            walk.refs.append((component.order, "r", value, line, first))
        for member in members:
            value = walk.make("a", value, member)
        if called:
            walk.refs.append((component.order, "c", value, line, (members or [first])[-1]))


def take_apart(framework: Framework, source: bytes) -> Component:
    """The scripts and the markup of a component, given in UTF-8."""
    script, markup = bytearray(_blank(source)), bytearray(source)
    grammar: Literal["javascript", "typescript", "tsx"] = "javascript"
    for found in _SECTIONS.finditer(source):
        markup[found.start() : found.end()] = _blank(found[0])
        if (found["name"] or b"").lower() != b"script":
            continue
        language = _LANGUAGE.search(b" " + found[2])
        written = _SCRIPTS.get(language[1].lower() if language is not None else b"js")
        if written is None:
            continue  # data, a template, a language that is not read
        script[found.start("text") : found.end("text")] = found["text"]
        if grammar == "javascript":
            grammar = written
    return Component(framework, source, bytes(script), bytes(markup), grammar)


def _blank(text: bytes) -> bytes:
    return _NOT_NEWLINE.sub(b" ", text)


def _exported(walk: Modules, root: Node) -> Definition | None:
    """The definition behind the default export of the script; made here if that is an expression (``defineComponent(...)``)."""
    entries = walk.exports.get("default", [])
    for entry in entries:
        if entry[0] == "d":
            return walk.definitions[entry[1]]
        if entry[0] == "v" and entry[2] is not None:
            return walk.definitions[entry[2]]
        if entry[0] == "l":
            for inner in walk.names.get(entry[1], ()):
                if inner[0] == "d":
                    return walk.definitions[inner[1]]
    statement = next((node for node in root.named_children if node.type == "export_statement" and _is_default(node)), None)
    if not entries or statement is None or entries[0][0] != "v":
        return None
    definition = walk.define("default", "constant", statement)
    definition.flags |= bits.EXPORTED | bits.DEFAULT_EXPORT
    entries[0] = ("v", entries[0][1], definition.order)
    return definition


def _is_default(node: Node) -> bool:
    return any(child.type == "default" for child in node.children)


def _largest_stretch(source: bytes, markup: bytes) -> tuple[int, int]:
    """Where most of the markup lies between two sections that are something else."""
    bounds = [0, *(at for found in _SECTIONS.finditer(source) for at in found.span()), len(source)]
    stretches = [(start, end) for start, end in zip(bounds[::2], bounds[1::2], strict=True) if markup[start:end].strip()]
    start, end = max(stretches, key=lambda stretch: stretch[1] - stretch[0])
    text = source[start:end]
    return start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())


class _Lines:
    """Line numbers of places in a text."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def of(self, offset: int) -> int:
        return bisect.bisect_right(self._starts, offset)
