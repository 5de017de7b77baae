"""``python -m tokenzip.server``: the stdio server for a launcher that has no ``tokenzip`` on its path."""

from tokenzip.server.stdio import serve_stdio

serve_stdio()
