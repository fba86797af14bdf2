"""Files that are no text, told by what they hold: archives, workbooks, PDF, text in two-byte units.

By their signatures: zip's local header or end (PKWARE's APPNOTE, 4.3), tar's `ustar` (POSIX.1,
pax), `%PDF-` (ISO 32000-1, 7.5.2).
"""

from __future__ import annotations

import re

from wordgeom.core.errors import InputError

_LOOKED_AT = 1 << 16  # bytes
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_PDF = re.compile(rb"%PDF-[0-9]")
_TAR_MARK = slice(257, 262)
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# What the members of a zip tell of it.
_MEMBERS = (
    ((b"xl/workbook", b"opendocument.spreadsheet"), "a workbook", "save it as TSV"),
    ((b"word/document", b"opendocument.text"), "a document of a word processor", "save it as text"),
    ((b"application/epub+zip",), "an e-book", "convert it to text"),
)
_CONTROLS = bytes([*range(9), *range(14, 27)])
_CONTROLS_SHARE = 32  # text has fewer than one in so many


def refuse_foreign(begin: bytes, name: str) -> None:
    """Refuse what begins as no text does. Raises InputError telling what it is."""
    if begin.startswith(_ZIP):
        what, do = next(
            (told for signs, *told in _MEMBERS if any(sign in begin for sign in signs)),
            ["a zip archive", "unpack it: unzip"],
        )
        raise InputError(f"is {what}, not text", where=name, do=do)
    if begin[_TAR_MARK] == b"ustar" and 0 in begin[: _TAR_MARK.start]:
        raise InputError("is a tar archive, not text", where=name, do="unpack it: tar xf")
    if _PDF.match(begin):
        raise InputError("is PDF, not text", where=name, do="convert it: pdftotext")
    _refuse_utf16(begin[:_LOOKED_AT], name)


def is_binary(text: bytes) -> bool:
    """Tell whether bytes that are not UTF-8 hold too many control characters for any text."""
    begin = text[:_LOOKED_AT]
    return _CONTROLS_SHARE * (len(begin) - len(begin.translate(None, _CONTROLS))) > len(begin)


def _refuse_utf16(begin: bytes, name: str) -> None:
    """Refuse text in two-byte units, which would be read as single letters."""
    if begin.startswith(_UTF16_MARKS) or 8 * begin.count(0) > len(begin):
        marked = begin.startswith(_UTF16_MARKS)
        found = "a mark of UTF-16" if marked else "many zero bytes"
        do = "convert it: iconv -f UTF-16 -t UTF-8" + ("" if marked else ", if it is text")
        raise InputError("looks like UTF-16 or no text at all", where=name, found=found, do=do)
