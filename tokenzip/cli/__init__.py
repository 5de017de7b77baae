"""The command line: the only package that touches click. A command checks its words, asks an operation and prints the answer.

Importing this package loads nothing of weight: click comes with a command line, git, the store and the parsers when a
command needs them.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line of this process and leave with its exit code."""
    if sys.argv[1:] == ["serve"]:
        # What agents start, and wait for: click would take a third of the time until the first answer.
        from tokenzip.server import serve_stdio

        serve_stdio()
    from tokenzip.cli.root import main as run

    run()
