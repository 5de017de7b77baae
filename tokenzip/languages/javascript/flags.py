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
_OF_WORD = {
    "static": STATIC, "private": PRIVATE, "protected": PROTECTED, "readonly": READONLY, "abstract": ABSTRACT, "async": ASYNC,
    "*": GENERATOR, "?": OPTIONAL, "declare": DECLARATION,
}  # fmt: skip


def of_words(words: set[str]) -> int:
    """The flags that modifiers stand for."""
    flags = 0
    for word in words:
        flags |= _OF_WORD.get(word, 0)
    return flags
