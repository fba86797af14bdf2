"""FASTA: headers that begin with `>`, and sequences over any number of lines.

Letters become capitals; `*`, the stop codon, stays; gaps (`-`) are dropped and counted, since a
sequence that was aligned is the same sequence. Lines that begin with `;` are comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wordgeom.corpus.inputs.document_index import Record
from wordgeom.corpus.inputs.readers import Block, Source
from wordgeom.corpus.records.fields import SHOWN, converted, refuse

GAPS, EMPTY = "gaps in sequences", "records without a sequence"
_MARK = re.compile(rb"\n[>;]")
_SPACE = b" \t\r\n\v\f"
_LETTERS = bytes(range(65, 91)) + b"*"
_UPPER = bytes(range(256)).upper()
_LONGEST = 1 << 16  # bytes of a header's first word


def read_fasta(pieces: Iterator[Block], source: Source, *, ids: bool) -> Iterator[Block]:
    """Yield each record's sequence as a line; blocks may end within one.

    ids: note the first word of each header, not only its line where that is asked for. Raises
    InputError naming the line.
    """
    reader = _Fasta(source, ids)
    for piece in pieces:
        text = reader.take(piece.text)
        if piece.last:
            text += reader.end()
        yield converted(piece, text)


class _Fasta:
    """What was read so far: `inside` is the line that the last piece ended in."""

    def __init__(self, source: Source, ids: bool) -> None:
        self._source, self._ids = source, ids
        self._line = 1
        self._inside = b""  # "" at the beginning of a line, else > or ; or s, a sequence
        self._header = b""
        self._records = 0
        self._length = 0  # of the record's sequence
        self._noted: list[Record] = []

    def take(self, text: bytes) -> bytes:
        """Return what becomes of the next bytes."""
        out: list[bytes] = []
        at = 0
        while at < len(text):
            first = self._inside or (text[at : at + 1] if text[at] in b">;" else b"s")
            if first == b">" and not self._inside:
                out.append(self._begin())
            if first == b"s":
                end = self._sequence(text, at, out)
            else:
                end = text.find(b"\n", at) + 1 or len(text)
                if first == b">" and len(self._header) < _LONGEST:
                    self._header += text[at : min(end, at + _LONGEST)]
            self._line += text.count(b"\n", at, end)
            self._inside = b"" if text[end - 1] == 10 else first
            if first == b">" and not self._inside:
                self._note()
            at = end
        self._hand_on()
        return b"".join(out)

    def end(self) -> bytes:
        """Return what ends the last record."""
        if self._inside == b">":
            self._note()
            self._hand_on()
        return self._close()

    def _begin(self) -> bytes:
        self._header = b""
        ended = self._close()
        self._records += 1
        self._length = 0
        return ended

    def _close(self) -> bytes:
        if not self._records:
            return b""
        self._source.count(EMPTY, self._length == 0)
        return b"\n"

    def _note(self) -> None:
        """Note the record whose header was read."""
        line = self._line - (not self._inside)
        if not self._ids:
            if self._source.listed:
                self._noted.append(Record("", "", line))
            return
        words = self._header[1:].split(None, 1)
        if not words or self._header[1:2].isspace():
            refuse(self._source.name, line, "has no id", "nothing after >", "correct the header")
        self._noted.append(Record(words[0].decode("utf-8", "replace"), "", line))

    def _hand_on(self) -> None:
        self._source.documents.add(self._noted)
        self._noted = []

    def _sequence(self, text: bytes, at: int, out: list[bytes]) -> int:
        """Take a sequence up to the next header or comment; return its end."""
        mark = _MARK.search(text, at)
        end = mark.start() + 1 if mark else len(text)
        raw = text[at:end].translate(_UPPER, _SPACE)
        sequence = raw.replace(b"-", b"")
        if sequence and not self._records:
            do = "FASTA begins with > and a name; or name another --input-format"
            begin = text[at:end].lstrip(_SPACE)
            line = self._line + text.count(b"\n", at, end) - begin.count(b"\n")
            found = repr(begin[:SHOWN].split(b"\n")[0].decode("utf-8", "replace"))
            refuse(self._source.name, line, "no header before the sequence", found, do)
        if strange := sequence.translate(None, _LETTERS):
            self._refuse(text, at, strange[0])
        self._source.count(GAPS, len(raw) - len(sequence))
        self._length += len(sequence)
        out.append(sequence)
        return end

    def _refuse(self, text: bytes, at: int, strange: int) -> None:
        line = self._line + text.count(b"\n", at, text.index(strange, at))
        found = repr(chr(strange)) if strange < 128 else f"0x{strange:02x}"
        do = "letters, * and - are known; check that this is FASTA"
        refuse(self._source.name, line, "no letter of a sequence", found, do)
