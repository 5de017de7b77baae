"""All templates by name."""

from __future__ import annotations

import difflib

from tokenzip.errors import UnknownSymbol
from tokenzip.workflows.base import Template
from tokenzip.workflows.bugfix import BUG_FIX
from tokenzip.workflows.creating import CREATE_MODULE
from tokenzip.workflows.implementing import IMPLEMENT_FEATURE
from tokenzip.workflows.updating import UPDATE_MODULE
from tokenzip.workflows.upgrading import UPGRADE_FEATURE

TEMPLATES: dict[str, Template] = {
    template.name: template for template in (CREATE_MODULE, UPDATE_MODULE, IMPLEMENT_FEATURE, UPGRADE_FEATURE, BUG_FIX)
}


def template(name: str) -> Template:
    """The template of that name. Raises UnknownSymbol with the nearest names."""
    found = TEMPLATES.get(name.strip().lower().replace("_", "-").replace(" ", "-"))
    if found is None:
        near = difflib.get_close_matches(name, TEMPLATES, n=3, cutoff=0.4)
        raise UnknownSymbol(f"there is no workflow {name!r}", hint=f"There are {', '.join(TEMPLATES)}.", candidates=near)
    return found
