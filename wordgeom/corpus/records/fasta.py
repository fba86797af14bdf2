"""FASTA: headers that begin with `>`, each followed by a sequence over any number of lines.

Letters are upper-cased and `*`, the stop codon, is kept. Gaps (`-`) are counted and dropped, so
that an aligned sequence equals the unaligned one. Lines that begin with `;` are comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wordgeom.corpus.inputs.document_index import Record
from wordgeom.corpus.inputs.readers import Block, Source
from wordgeom.corpus.records.fields import SHOWN, fail, with_text

GAPS, EMPTY = "gaps in sequences", "records without a sequence"
_MARK = re.compile(rb"\n[>;]")
_SPACE = b" \t\r\n\v\f"
_LETTERS = bytes(range(65, 91)) + b"*"
_UPPER = bytes(range(256)).upper()
_LONGEST = 1 << 16  # bytes of a header's first word


def read_fasta(pieces: Iterator[Block], source: Source, *, ids: bool) -> Iterator[Block]:
    """Yield each record's sequence as a line; blocks may end within one.

    ids: record the first word of each header as its id. Raises InputError naming the line.
    """
    reader = _FastaReader(source, ids)
    for piece in pieces:
        text = reader.take(piece.text)
        if piece.last:
            text += reader.end()
        yield with_text(piece, text)


class _FastaReader:
    """Parser state between pieces; `_inside` is the kind of line in which the last piece ended."""

    def __init__(self, source: Source, ids: bool) -> None:
        self._source, self._ids = source, ids
        self._line = 1
        self._inside = b""  # "" at the start of a line, > or ; within one, s within a sequence
        self._header = b""
        self._records = 0
        self._length = 0  # of the record's sequence
        self._pending: list[Record] = []

    def take(self, text: bytes) -> bytes:
        """Return the output for the next bytes."""
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
                self._add_record()
            at = end
        self._flush()
        return b"".join(out)

    def end(self) -> bytes:
        """Return the end of the last record."""
        if self._inside == b">":
            self._add_record()
            self._flush()
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

    def _add_record(self) -> None:
        """Index the record whose header is complete."""
        line = self._line - (not self._inside)
        if not self._ids:
            if self._source.listed:
                self._pending.append(Record("", "", line))
            return
        words = self._header[1:].split(None, 1)
        if not words or self._header[1:2].isspace():
            fail(self._source.name, line, "has no id", "nothing after >", "correct the header")
        self._pending.append(Record(words[0].decode("utf-8", "replace"), "", line))

    def _flush(self) -> None:
        self._source.documents.add(self._pending)
        self._pending = []

    def _sequence(self, text: bytes, at: int, out: list[bytes]) -> int:
        """Append the sequence up to the next header or comment to `out`; return its end."""
        mark = _MARK.search(text, at)
        end = mark.start() + 1 if mark else len(text)
        raw = text[at:end].translate(_UPPER, _SPACE)
        sequence = raw.replace(b"-", b"")
        if sequence and not self._records:
            self._fail_without_header(text, at, end)
        if strange := sequence.translate(None, _LETTERS):
            self._fail_at_letter(text, at, strange[0])
        self._source.count(GAPS, len(raw) - len(sequence))
        self._length += len(sequence)
        out.append(sequence)
        return end

    def _fail_without_header(self, text: bytes, at: int, end: int) -> None:
        do = "FASTA begins with > and a name; or pass another --input-format"
        begin = text[at:end].lstrip(_SPACE)
        line = self._line + text.count(b"\n", at, end) - begin.count(b"\n")
        found = repr(begin[:SHOWN].split(b"\n")[0].decode("utf-8", "replace"))
        fail(self._source.name, line, "no header before the sequence", found, do)

    def _fail_at_letter(self, text: bytes, at: int, strange: int) -> None:
        line = self._line + text.count(b"\n", at, text.index(strange, at))
        found = repr(chr(strange)) if strange < 128 else f"0x{strange:02x}"
        do = "sequences consist of letters, * and -; check that this is FASTA"
        fail(self._source.name, line, "invalid character in a sequence", found, do)
