"""What a blob's bytes are: encodings by mark and by line, whole, cut and untrue."""

from __future__ import annotations

import pytest

from tokenzip.index import extract
from tokenzip.languages.content import as_utf8, original_offsets

DEFINITION = "def grüße(): pass\n"


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-32", "idna", "punycode", "rot13", "zip", "no-such"])
def test_a_coding_line_that_cannot_be_true_is_not_believed(codec: str) -> None:
    """A line that was read as ASCII cannot mean an encoding in which it would not be ASCII."""
    source = f"# coding: {codec}\n{DEFINITION}".encode()
    assert as_utf8(source, coding_line=True) == (source, None)
    ir = extract(source, "python")
    assert (ir.status, [row.name for row in ir.symbols]) == ("parsed", ["grüße"])


@pytest.mark.parametrize("codec", ["latin-1", "cp1252", "koi8-u", "shift_jis", "gb18030"])
def test_a_coding_line_is_followed(codec: str) -> None:
    text = f"# coding: {codec}\nx = '{'я' if codec in ('koi8-u', 'shift_jis', 'gb18030') else 'é'}'\n"
    utf8, found = as_utf8(text.encode(codec), coding_line=True)
    assert utf8.decode() == text
    assert found is not None


@pytest.mark.parametrize(("mark", "codec"), [(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")])
def test_utf_16_that_is_cut_in_a_character_keeps_what_came_before(mark: bytes, codec: str) -> None:
    source = mark + DEFINITION.encode(codec) + b"x"
    utf8, found = as_utf8(source)
    assert found == codec
    assert utf8.decode() == "\ufeff" + DEFINITION + "\ufffd"
    end = len(("\ufeff" + DEFINITION).encode())
    assert original_offsets(utf8, codec, [end]) == {end: len(source) - 1}
    assert [row.name for row in extract(source, "python").symbols] == ["grüße"]
