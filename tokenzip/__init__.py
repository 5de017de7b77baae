"""tokenzip: a git-native code graph for coding agents and the people who work with them."""

__version__ = "0.1.0"
