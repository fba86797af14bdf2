"""word2vec's text format: a line `V K`, then a line `word v1 … vK` for each word.

GloVe's text is the same without the first line. Numbers are written with up to nine significant
digits, which restore every float32 exactly (apart from the bits of a nan). They are parsed as
float64 and rounded to float32, as in Gensim.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np

from wordgeom.core.errors import FormatError
from wordgeom.core.formatting import plural
from wordgeom.core.types import Allocate, Float32, Int64
from wordgeom.vectors.word2vec_header import NUMBER, Header, decode

_BLOCK = 1 << 22
_ODD = 1 << 16  # numbers of a block left to the slower parser


def write_text(
    out: BinaryIO, words: Sequence[str], matrix: Float32, *, header: bool = True
) -> None:
    """Write the header line, if `header`, and a line for each word."""
    if header:
        out.write(b"%d %d\n" % matrix.shape)
    for lines in formatted(words, matrix):
        out.write(lines)


def formatted(words: Sequence[str], matrix: Float32) -> Iterator[memoryview]:
    """Yield a line `word v1 … vK` for each word, some lines at once, valid until the next ones."""
    from wordgeom.vectors.kernels import FLOAT_WIDTH, format_rows  # binary files need no Numba

    rows, numbers = matrix.shape
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
        yield buffer[: format_rows(joined, bounds, block, buffer)].data


def read_text(
    source: BinaryIO, header: Header, rows: int, allocate: Allocate = np.empty
) -> tuple[list[str], Float32]:
    """Return the first `rows` words and their vectors (rows × K). Raises FormatError."""
    matrix = allocate((rows, header.numbers), np.dtype(np.float32))
    words: list[str] = []
    text, offset = b"", header.start
    while len(words) < rows:
        text = text or source.read(_BLOCK) + source.readline()
        used = _take_lines(text, offset, words, matrix, header)
        if not used:
            raise _truncated(header, len(words), text)
        text, offset = text[used:], offset + used
    if rows == header.words:
        _check_end(text or source.read(_BLOCK) + source.readline(), source, header)
    if all(_ends_in_number(word) for word in words):
        found = f"{words[0].split()[-1]!r} before them"
        what = f"every line has more than the {header.numbers} numbers of the header"
        raise FormatError(what, where=header.path, found=found, do="correct its first line")
    return words, matrix


def _take_lines(text: bytes, offset: int, words: list[str], matrix: Float32, header: Header) -> int:
    """Parse complete lines at the start of `text`, at byte `offset`; return their length."""
    from wordgeom.vectors.kernels import parse_lines

    row, numbers = len(words), header.numbers
    most = min(len(matrix) - row, len(text) // (2 * numbers + 2) + 1)
    spans = np.empty((most, 2), np.int64)
    odd = np.empty((max(_ODD, 2 * numbers), 4), np.int64)
    raw = np.frombuffer(text, np.uint8)
    lines, used, odds, fields = parse_lines(raw, 0, len(text), matrix, row, spans, odd)
    _parse_odd(text, odd[:odds], matrix, header)
    for number, (first, last) in enumerate(spans[:lines].tolist(), row + 1):
        words.append(decode(text[first:last], header, number, offset + first))
    if fields >= 0:
        raise FormatError(
            f"line {row + lines + header.line} must have a word and {numbers} numbers",
            where=header.path,
            found=f"{fields} fields",
            do="correct it, or the first line",
        )
    return used


def _parse_odd(text: bytes, odd: Int64, matrix: Float32, header: Header) -> None:
    """Parse the numbers that the kernel skipped with Python's exact conversion."""
    for row, column, first, last in odd.tolist():
        token = text[first:last]
        if not NUMBER.fullmatch(token):
            raise FormatError(
                f"line {row + header.line} must have {header.numbers} numbers after its word",
                where=header.path,
                found=repr(token[:40].decode(errors="replace")),
                do="correct it, or the first line",
            )
        with np.errstate(over="ignore"):  # beyond float32 is infinite, as in Gensim
            matrix[row, column] = float(token)


def _check_end(text: bytes, source: BinaryIO, header: Header) -> None:
    """Raise FormatError for more than blank lines, or GloVe's <unk>, after the last word."""
    while text:
        for line in text.split(b"\n"):
            if line.strip() and not _is_glove_unknown(line, header):
                raise FormatError(
                    f"has data after the {plural(header.words, 'word')} of the header",
                    where=header.path,
                    found=repr(line.strip()[:40].decode(errors="replace")),
                    do="check its first line, or write it again",
                )
        text = source.read(_BLOCK) + source.readline()


def _is_glove_unknown(line: bytes, header: Header) -> bool:
    """Return whether a line is the vector of rare words, which GloVe's header does not count."""
    return line.startswith(b"<unk> ") and len(line.split()) == header.numbers + 1


def _ends_in_number(word: str) -> bool:
    parts = word.encode().split()
    return len(parts) > 1 and NUMBER.fullmatch(parts[-1]) is not None


def _truncated(header: Header, lines: int, rest: bytes) -> FormatError:
    found, do = f"{lines} complete lines", "copy or write it again"
    if rest.strip():  # it may have been truncated within a number
        found += ", the next without a line break"
        do = "copy it again, or add a line break if it is complete"
    what = f"truncated: the header declares {plural(header.words, 'word')}"
    return FormatError(what, where=header.path, found=found, do=do)
