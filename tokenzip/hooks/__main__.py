"""``python -m tokenzip.hooks NAME ARGUMENTS``: what the block in a hook file starts; it needs no command line library."""

import sys

from tokenzip.hooks.running import main

sys.exit(main(sys.argv[1:]))
