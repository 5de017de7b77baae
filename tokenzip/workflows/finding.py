"""What a description in words is about: symbols, with how well they fit it.

A description says the most in its first sentence, names things as code writes them, and uses plain words that happen to be
names too (``app``, ``g``): these are no names unless they are written so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from tokenzip import walk
from tokenzip.model import Symbol
from tokenzip.workflows.siblings import is_aside

if TYPE_CHECKING:
    from tokenzip.search import Hit
    from tokenzip.snapshot import Snapshot

_LOOKED_AT = 40
"""Hits of a search that are weighed."""
_SUMMARY = 0.5
"""Weight of what the first sentence finds by itself, beside what all of them find."""
_LEAST = 0.45
"""Part of the best one's fit that a symbol needs."""
_SENTENCE = re.compile(r"(?:[.!?:;](?=\s)|\n)")


def about(
    snapshot: Snapshot,
    text: str,
    names: Collection[str],
    *,
    module: str | None = None,
    inside: Callable[[str], bool] | None = None,
) -> dict[Symbol, float]:
    """The symbols that a text is about, best first, with their fit from 0 to 1; `names` are those that it writes as code.

    Of several of one name the best is told of: who overrides a method is found from it. Tests are left out, and so are
    examples, documents and the like unless `inside` says where to look.
    """
    summary = _SENTENCE.split(text.strip(), maxsplit=1)[0]
    fits: dict[Symbol, float] = {}
    for part, weight in ((text, 1.0), (summary, _SUMMARY)):
        found = _weighed(_hits(snapshot, part, module, inside), names)
        best = max(found.values(), default=0.0) or 1.0
        for hit, score in found.items():
            fits[hit.symbol] = fits.get(hit.symbol, 0.0) + weight * score / best
    top = max(fits.values(), default=0.0) or 1.0
    of_name: dict[str, Symbol] = {}
    for symbol in sorted(fits, key=lambda symbol: (-round(fits[symbol], 6), symbol.key)):
        of_name.setdefault(symbol.name, symbol)
    return {symbol: fits[symbol] / top for symbol in of_name.values() if fits[symbol] >= top * _LEAST}


def _hits(snapshot: Snapshot, text: str, module: str | None, inside: Callable[[str], bool] | None) -> list[Hit]:
    from tokenzip.search import search

    hits = search(snapshot, text, module=module, limit=_LOOKED_AT * (3 if inside is not None else 1))
    return [
        hit
        for hit in hits
        if (inside(hit.symbol.path) if inside is not None else not is_aside(hit.symbol.path))
        and not walk.is_test(snapshot, hit.symbol.key)
    ]


def _weighed(hits: Collection[Hit], names: Collection[str]) -> Mapping[Hit, float]:
    """The hits with their scores; a plain word that is a name weighs no more than the best of what is found otherwise."""
    most = max((hit.score for hit in hits if not _is_chance(hit, names)), default=0.0)
    return {hit: min(hit.score, most / 2) if _is_chance(hit, names) and most else hit.score for hit in hits}


def _is_chance(hit: Hit, names: Collection[str]) -> bool:
    return hit.why.startswith("exact name") and hit.symbol.name not in names
