"""Recognise files of other programs by their first bytes: archives, documents, PDF, UTF-16, UTF-32.

Signatures: zip's local header or end record (PKWARE APPNOTE, 4.3), tar's `ustar` (POSIX.1, pax),
`%PDF-` (ISO 32000-1, 7.5.2), 7-Zip (7zFormat.txt), RAR (its technical note), Compound File Binary
([MS-CFB] 2.2), pickles (Python's pickletools, PROTO), byte order marks (Unicode, 23.8).
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

CHECKED = 1 << 16  # bytes that suffice to recognise an encoding
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_PDF = re.compile(rb"%PDF-[0-9]")
_TAR_MAGIC = slice(257, 262)
_CFB = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # .doc, .xls and .ppt until Office 2007
_RTF = b"{\\rtf"
_PICKLE = re.compile(rb"\x80[\x02-\x05]")  # protocols 2 to 5: PROTO, the version
_PACKED = {b"7z\xbc\xaf\x27\x1c": "7-Zip", b"Rar!\x1a\x07": "RAR"}
_ZIP_ADVICE = "unpack it with unzip"
_AS_TEXT = "save it as text"
# Members of a zip archive that identify it; the last is in every file of Microsoft Office.
_MEMBERS = (
    ((b"xl/workbook", b"opendocument.spreadsheet"), "a workbook", "save it as TSV"),
    ((b"word/document", b"opendocument.text"), "a word-processor document", _AS_TEXT),
    ((b"ppt/presentation", b"opendocument.presentation"), "a presentation", _AS_TEXT),
    ((b"application/epub+zip",), "an e-book", "convert it to text"),
    ((b"[Content_Types].xml",), "an Office document", "save it as text, or a workbook as TSV"),
)
# Suffixes of the same files, for an archive without such a member.
_OF_OFFICE = (".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub")
# UTF-32 comes first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"), (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"), (codecs.BOM_UTF16_BE, "UTF-16"),
)  # fmt: skip
_ZEROS_SHARE = 8  # UTF-8 text has fewer than one zero byte in this many
_CONTROLS = frozenset(map(chr, [*range(9), *range(14, 27)]))
_CONTROLS_SHARE = 32  # text has fewer than one control character in this many


@dataclass(frozen=True)
class Foreign:
    """What a file is, for a message: `is {what}` or `looks like {what}`, and what to do.

    sure: whether a signature says so; found: the evidence otherwise.
    """

    what: str
    do: str
    sure: bool = True
    found: str = ""

    @property
    def line(self) -> str:
        """What is wrong: `is PDF`, `looks like UTF-16`."""
        return f"{'is' if self.sure else 'looks like'} {self.what}"


def recognise(start: bytes, name: str) -> Foreign | None:
    """Return what a file is, from its first bytes and its name; None for what may be text."""
    if start.startswith(ZIP):
        return _archive(start, name)
    if start[_TAR_MAGIC] == b"ustar" and 0 in start[: _TAR_MAGIC.start]:
        return Foreign("a tar archive", "unpack it with tar xf")
    if _PDF.match(start):
        return Foreign("PDF", "convert it with pdftotext")
    if start.startswith(_CFB):
        return Foreign("an Office document", "save it as text, or a workbook as TSV")
    for signature, name_of in _PACKED.items():
        if start.startswith(signature):
            return Foreign(f"a {name_of} archive", "unpack it with 7z x")
    if start.startswith(_RTF):
        return Foreign("RTF", _AS_TEXT)
    if _PICKLE.match(start):
        return Foreign("a Python pickle", "export it as text; gensim: save_word2vec_format")
    return wide_text(start)


def wide_text(start: bytes) -> Foreign | None:
    """Return the encoding of text in units of two or four bytes; None for other text."""
    start = start[:CHECKED]
    for mark, name in _MARKS:
        if start.startswith(mark):
            return Foreign(name, _iconv(name), sure=False, found=f"a {name} byte order mark")
    if _ZEROS_SHARE * start.count(0) <= len(start):
        return None
    encoding = _unmarked(start)
    if encoding:
        do = f"{_iconv(encoding)}, if it is text"
        return Foreign(encoding, do, sure=False, found="many zero bytes")
    return Foreign("binary data", "check that this is text", sure=False, found="many zero bytes")


def _iconv(encoding: str) -> str:
    return f"convert it with iconv -f {encoding} -t UTF-8"


def _archive(start: bytes, name: str) -> Foreign:
    for signs, what, do in _MEMBERS:
        if any(sign in start for sign in signs):
            return Foreign(what, do)
    suffix = next((s for s in _OF_OFFICE if name.lower().endswith(s)), "")
    if suffix:
        return Foreign(f"a zip archive named {suffix}", f"{_ZIP_ADVICE}, or save it again")
    return Foreign("a zip archive", _ZIP_ADVICE)


def _unmarked(start: bytes) -> str:
    """Return the encoding of text with many zero bytes and no mark, "" for binary data."""
    # Hardly any other data is valid UTF-32. In UTF-16, the second byte of ASCII and spaces is 0.
    little = start[1::2].count(0) >= start[::2].count(0)
    for form in ("UTF-32LE", "UTF-32BE", "UTF-16LE" if little else "UTF-16BE"):
        try:
            text = codecs.getincrementaldecoder(form)().decode(start)
        except UnicodeDecodeError:
            continue
        if text and _CONTROLS_SHARE * sum(char in _CONTROLS for char in text) <= len(text):
            return form
    return ""
