"""Names in the styles that repositories write them in: ``rate-limit``, ``rate_limit``, ``rateLimit``, ``RateLimit``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
STYLES = ("kebab-case", "snake_case", "camelCase", "PascalCase")


def styled(name: str, style: str) -> str:
    """The name in one of `STYLES`."""
    words = [word.lower() for word in _WORD.findall(name)]
    if style == "kebab-case":
        return "-".join(words)
    if style == "snake_case":
        return "_".join(words)
    if style == "PascalCase":
        return "".join(word.capitalize() for word in words)
    return "".join(words[:1] + [word.capitalize() for word in words[1:]])


def fits(name: str, style: str) -> bool:
    return styled(name, style) == name


def style_of(names: Iterable[str]) -> str:
    """The style of most of the names, as far as it shows; empty where every name is of one word or none prevails."""
    telling = [name for name in names if len(_WORD.findall(name)) > 1]
    counts = Counter(style for name in telling for style in STYLES if fits(name, style))
    if not counts:
        return ""
    style, count = min(counts.items(), key=lambda pair: (-pair[1], STYLES.index(pair[0])))
    return style if count * 2 > len(telling) else ""


def placeholders(text: str, name: str) -> str:
    """The text with the name, in whatever style, replaced by ``{style}``."""
    for style in (*STYLES,):
        form = styled(name, style)
        if form:
            text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(form)}(?![A-Za-z0-9])", "{" + style + "}", text)
    return re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", "{name}", text) if not fits_any(name) else text


def fits_any(name: str) -> bool:
    return any(fits(name, style) for style in STYLES)


def filled(text: str, name: str) -> str:
    """The text with a name in the place of each placeholder."""
    for style in STYLES:
        text = text.replace("{" + style + "}", styled(name, style))
    return text.replace("{name}", name)
