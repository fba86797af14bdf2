"""Detect files that are not text by their content: archives, workbooks, PDF, UTF-16.

Signatures: zip's local header or end record (PKWARE APPNOTE, 4.3), tar's `ustar` (POSIX.1, pax),
`%PDF-` (ISO 32000-1, 7.5.2).
"""

from __future__ import annotations

import re

from wordgeom.core.errors import InputError

_CHECKED = 1 << 16  # bytes
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_PDF = re.compile(rb"%PDF-[0-9]")
_TAR_MAGIC = slice(257, 262)
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# Members of a zip archive that identify it.
_MEMBERS = (
    ((b"xl/workbook", b"opendocument.spreadsheet"), "a workbook", "save it as TSV"),
    ((b"word/document", b"opendocument.text"), "a word-processor document", "save it as text"),
    ((b"application/epub+zip",), "an e-book", "convert it to text"),
)
_CONTROLS = bytes([*range(9), *range(14, 27)])
_CONTROLS_SHARE = 32  # fewer than one byte in this many is a control character in text


def reject_unsupported(start: bytes, name: str) -> None:
    """Raise InputError if the first bytes of a file are not text, naming its real format."""
    if start.startswith(_ZIP):
        what, do = next(
            (advice for signs, *advice in _MEMBERS if any(sign in start for sign in signs)),
            ["a zip archive", "unpack it with unzip"],
        )
        raise InputError(f"is {what}, not text", where=name, do=do)
    if start[_TAR_MAGIC] == b"ustar" and 0 in start[: _TAR_MAGIC.start]:
        raise InputError("is a tar archive, not text", where=name, do="unpack it with tar xf")
    if _PDF.match(start):
        raise InputError("is PDF, not text", where=name, do="convert it with pdftotext")
    _reject_utf16(start[:_CHECKED], name)


def is_binary(text: bytes) -> bool:
    """Return whether bytes that are not UTF-8 contain too many control characters for text."""
    start = text[:_CHECKED]
    return _CONTROLS_SHARE * (len(start) - len(start.translate(None, _CONTROLS))) > len(start)


def _reject_utf16(start: bytes, name: str) -> None:
    """Reject two-byte text, which would be read as single letters."""
    if start.startswith(_UTF16_MARKS) or 8 * start.count(0) > len(start):
        marked = start.startswith(_UTF16_MARKS)
        found = "a UTF-16 byte order mark" if marked else "many zero bytes"
        do = "convert it with iconv -f UTF-16 -t UTF-8" + ("" if marked else ", if it is text")
        raise InputError("looks like UTF-16 or binary data", where=name, found=found, do=do)
