"""`model.Flag` as plain numbers: combining enum members costs a hundred times more, and the walk does it for every symbol."""

from tokenzip.model import Flag

ASYNC = int(Flag.ASYNC)
STATIC = int(Flag.STATIC)
PROPERTY = int(Flag.PROPERTY)
ABSTRACT = int(Flag.ABSTRACT)
GENERATOR = int(Flag.GENERATOR)
OVERLOAD = int(Flag.OVERLOAD)
EXPORTED = int(Flag.EXPORTED)
DEFAULT_EXPORT = int(Flag.DEFAULT_EXPORT)
PRIVATE = int(Flag.PRIVATE)
PROTECTED = int(Flag.PROTECTED)
READONLY = int(Flag.READONLY)
LOCAL = int(Flag.LOCAL)
OPTIONAL = int(Flag.OPTIONAL)
DECLARATION = int(Flag.DECLARATION)
