"""The command line: the only package that touches click. A command checks its words, asks an operation and prints the answer.

Importing this package loads click and nothing else of weight: git, the store and the parsers come when a command needs them.
"""

from tokenzip.cli.root import main

__all__ = ["main"]
