"""The workflow templates: fixed sequences of queries with structured answers.

A template is a value (`base.Template`): its inputs, its steps in order, and for each step what it asks and what it gives.
Running it on a snapshot runs the steps, and nothing else. ``docs/workflows.md`` shows them all.
"""

from tokenzip.workflows.base import Input, Inputs, Result, Step, Template
from tokenzip.workflows.keeping import Kept, kept, key_of, state_of
from tokenzip.workflows.registry import TEMPLATES, template

__all__ = ["TEMPLATES", "Input", "Inputs", "Kept", "Result", "Step", "Template", "kept", "key_of", "state_of", "template"]
