"""Gradle: programs, so only what is written in the usual forms can be said."""

from __future__ import annotations

import re

from tokenzip.languages.manifest.jsonc import blank
from tokenzip.languages.manifest.text import decode
from tokenzip.languages.manifest.values import Parsed, Values

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*+"|\'(?:[^\'\\\n]|\\.)*+\'|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/)?')
_SETTING = re.compile(
    r"""^[ \t]*+(rootProject\.name|group|version|description)[ \t]*+=?[ \t]*+["']([^"'\n$]*+)["']""", re.MULTILINE
)
_INCLUDE = re.compile(r"""^[ \t]*+include[ \t]*+\(?((?:\s*+["'][^"'\n]*+["']\s*+,?)++)""", re.MULTILINE)
_QUOTED = re.compile(r"""["']([^"'\n]*)["']""")
_DEPENDENCY = re.compile(
    r"""^[ \t]*+([a-z]\w*+)[ \t]*+\(?[ \t]*+(?:
        (project)[ \t]*+\([ \t]*+(?:path[ \t]*+[:=][ \t]*+)?["'](:[^"'\n]*+)["']
      | ["'](?!https?:)([^"'\s:]++:[^"'\s:]++(?::[^"'\n]*+)?)["'])""",
    re.MULTILINE | re.VERBOSE,
)
_NO_CONFIGURATION = frozenset({"id", "version", "include", "classpath", "exclude", "group"})


def parse_gradle(source: bytes) -> Parsed:
    """Settings by name, ``include``, ``dependencies`` [{configuration, notation}] and ``projects`` [{configuration, path}]."""
    text = _TOKEN.sub(blank, decode(source))
    values: Values = {}
    for setting in _SETTING.finditer(text):
        values.setdefault(setting[1], setting[2])
    included = [path[1] for found in _INCLUDE.finditer(text) for path in _QUOTED.finditer(found[1])]
    if included:
        values["include"] = included
    for found in _DEPENDENCY.finditer(text):
        if found[2]:
            values.setdefault("projects", []).append({"configuration": found[1], "path": found[3]})
        elif found[1] not in _NO_CONFIGURATION:
            values.setdefault("dependencies", []).append({"configuration": found[1], "notation": found[4]})
    return Parsed(values)
