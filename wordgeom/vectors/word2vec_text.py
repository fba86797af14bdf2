"""word2vec's text format: a line `V K`, then a line `word v1 … vK` for each word.

GloVe's text is the same without the first line. Numbers are written with up to nine significant
digits, which restore every float32 exactly (apart from the bits of a nan). They are parsed as
float64 and rounded to float32, as in Gensim.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

import numpy as np

from wordgeom.core.errors import FormatError
from wordgeom.core.types import Bytes, Float32, Int64
from wordgeom.vectors.word2vec_header import NUMBER, Header, decode

_BLOCK = 1 << 22
_ODD = 1 << 16  # numbers of a block left to the slower parser


def write_text(
    out: BinaryIO, words: Sequence[str], matrix: Float32, *, header: bool = True
) -> None:
    """Write the header line, if `header`, and a line for each word."""
    from wordgeom.vectors.kernels import FLOAT_WIDTH, format_rows  # binary files need no Numba

    rows, numbers = matrix.shape
    if header:
        out.write(b"%d %d\n" % (rows, numbers))
    step = max(1, _BLOCK // (FLOAT_WIDTH * numbers))
    buffer = np.empty(0, np.uint8)
    for first in range(0, rows, step):
        block = np.array(matrix[first : first + step], order="C")  # writable: one compiled type
        names = [word.encode() for word in words[first : first + step]]
        bounds = np.cumsum([0, *map(len, names)])
        need = int(bounds[-1]) + len(block) * (numbers * FLOAT_WIDTH + 1)
        if need > len(buffer):
            buffer = np.empty(need, np.uint8)
        joined = np.frombuffer(b"".join(names), np.uint8)
        out.write(buffer[: format_rows(joined, bounds, block, buffer)].data)


def read_text(source: BinaryIO, header: Header, rows: int) -> tuple[list[str], Float32]:
    """Return the first `rows` words and their vectors (rows × K). Raises FormatError."""
    matrix = np.empty((rows, header.numbers), np.float32)
    words: list[str] = []
    blocks = _Blocks(source, header.start)
    while len(words) < rows:
        if not _take_lines(blocks, words, matrix, header) and not blocks.read():
            raise _truncated(header, len(words), blocks.rest())
    if rows == header.words:
        _check_end(blocks, header)
    if all(_ends_in_number(word) for word in words):
        found = f"{words[0].split()[-1]!r} before them"
        what = f"every line has more than the {header.numbers} numbers of the header"
        raise FormatError(what, where=header.path, found=found, do="correct its first line")
    return words, matrix


class _Blocks:
    """A window on a file: text[at:stop] has been read but not used, and is at byte `offset`."""

    def __init__(self, source: BinaryIO, offset: int) -> None:
        self._source = source
        self.text: Bytes = np.empty(_BLOCK, np.uint8)
        self.at, self.stop, self.offset = 0, 0, offset

    def read(self) -> int:
        """Read more and return the number of bytes; only a long line enlarges the window."""
        rest = self.stop - self.at
        room = self.text if 2 * rest <= len(self.text) else np.empty(2 * len(self.text), np.uint8)
        room[:rest] = self.text[self.at : self.stop]
        count = self._source.readinto(room[rest:].data)  # type: ignore[attr-defined]
        self.text, self.at, self.stop = room, 0, rest + count
        return int(count)

    def use(self, at: int) -> None:
        """Drop the text before `at`."""
        self.offset += at - self.at
        self.at = at

    def rest(self) -> bytes:
        """Return the unused text."""
        return self.text[self.at : self.stop].tobytes()


def _take_lines(blocks: _Blocks, words: list[str], matrix: Float32, header: Header) -> int:
    """Parse the complete lines of the window and return their number."""
    from wordgeom.vectors.kernels import parse_lines

    row, numbers = len(words), header.numbers
    most = min(len(matrix) - row, (blocks.stop - blocks.at) // (2 * numbers + 2) + 1)
    spans = np.empty((most, 2), np.int64)
    odd = np.empty((max(_ODD, 2 * numbers), 4), np.int64)
    lines, at, odds, fields = parse_lines(
        blocks.text, blocks.at, blocks.stop, matrix, row, spans, odd
    )
    _parse_odd(blocks.text, odd[:odds], matrix, header)
    base = blocks.at
    data = blocks.text[base:at].tobytes()
    for number, (first, last) in enumerate((spans[:lines] - base).tolist(), row + 1):
        words.append(decode(data[first:last], header, number, blocks.offset + first))
    if fields >= 0:
        raise FormatError(
            f"line {row + lines + header.line} must have a word and {numbers} numbers",
            where=header.path,
            found=f"{fields} fields",
            do="correct it, or the first line",
        )
    blocks.use(at)
    return lines


def _parse_odd(text: Bytes, odd: Int64, matrix: Float32, header: Header) -> None:
    """Parse the numbers that the kernel skipped with Python's exact conversion."""
    for row, column, first, last in odd.tolist():
        token = text[first:last].tobytes()
        if not NUMBER.fullmatch(token):
            raise FormatError(
                f"line {row + header.line} must have {header.numbers} numbers after its word",
                where=header.path,
                found=repr(token[:40].decode(errors="replace")),
                do="correct it, or the first line",
            )
        with np.errstate(over="ignore"):  # beyond float32 is infinite, as in Gensim
            matrix[row, column] = float(token)


def _check_end(blocks: _Blocks, header: Header) -> None:
    """Raise FormatError for a file with more than blank lines after its last word."""
    while not blocks.rest().strip():
        blocks.use(blocks.stop)
        if not blocks.read():
            return
    raise FormatError(
        f"has data after the {header.words} words of the header",
        where=header.path,
        found=repr(blocks.rest().strip()[:40].decode(errors="replace")),
        do="check its first line, or write it again",
    )


def _ends_in_number(word: str) -> bool:
    parts = word.encode().split()
    return len(parts) > 1 and NUMBER.fullmatch(parts[-1]) is not None


def _truncated(header: Header, lines: int, rest: bytes) -> FormatError:
    found, do = f"{lines} complete lines", "copy or write it again"
    if rest.strip():  # it may have been truncated within a number
        found += ", the next without a line break"
        do = "copy it again, or add a line break if it is complete"
    what = f"truncated: the header announces {header.words} words"
    return FormatError(what, where=header.path, found=found, do=do)
