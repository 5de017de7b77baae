"""``python -m tokenzip``: the command line, for an interpreter whose scripts are not on PATH."""

from tokenzip.cli import main

main()
