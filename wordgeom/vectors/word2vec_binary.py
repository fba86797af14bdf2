"""word2vec's binary format: a line `V K`, then a word, a space and K little-endian float32 each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

import numpy as np

from wordgeom.core.errors import FormatError
from wordgeom.core.formatting import plural, several
from wordgeom.core.types import Allocate, Float32
from wordgeom.vectors.word2vec_header import Header, decode

_BLOCK = 1 << 22
_FLOAT = np.dtype("<f4")


def write_binary(out: BinaryIO, words: Sequence[str], matrix: Float32) -> None:
    """Write all records as Gensim does, without a line break after a record."""
    rows, numbers = matrix.shape
    out.write(b"%d %d\n" % (rows, numbers))
    step = max(1, _BLOCK // (4 * numbers))
    for first in range(0, rows, step):
        block = np.ascontiguousarray(matrix[first : first + step], dtype=_FLOAT)
        for word, vector in zip(words[first : first + step], block, strict=True):
            out.write(word.encode() + b" ")
            out.write(vector.data)


def read_binary(
    source: BinaryIO, header: Header, rows: int, allocate: Allocate = np.empty
) -> tuple[list[str], Float32]:
    """Return the first `rows` words and their vectors (rows × K). Raises FormatError."""
    matrix = allocate((rows, header.numbers), _FLOAT)
    words: list[str] = []
    data, offset = b"", header.start
    while True:
        used = _take_records(data, offset, words, matrix, header)
        data, offset = data[used:], offset + used
        if len(words) == rows:
            break
        # Doubling the read keeps records longer than a block linear.
        more = source.read(max(_BLOCK, len(data)))
        if not more:
            raise _truncated(header, len(words))
        data += more
    if rows == header.words and (data + source.read(1)) not in (b"", b"\n"):
        raise FormatError(
            f"has data after its {plural(rows, 'word')} of {header.numbers} numbers",
            where=header.path,
            found=several(header.size - offset, "more byte", "more bytes"),
            do="check its first line, or write it again",
        )
    return words, matrix.astype(np.float32, copy=False)


def _take_records(
    data: bytes, offset: int, words: list[str], matrix: Float32, header: Header
) -> int:
    """Append the complete records at the start of `data`; return their size in bytes."""
    at, width = 0, 4 * header.numbers
    while len(words) < len(matrix):
        first = at
        while data[first : first + 1] == b"\n":  # word2vec's C program ends a record with one
            first += 1
        space = data.find(b" ", first)
        if space < 0 or space + 1 + width > len(data):
            break
        number = len(words)
        if space == first:
            what = f"word {number + 1} at byte {offset + first} is empty"
            raise FormatError(what, where=header.path, do="write the vectors again")
        words.append(decode(data[first:space], header, number + 1, offset + first))
        matrix[number] = np.frombuffer(data, _FLOAT, header.numbers, space + 1)
        at = space + 1 + width
    return at


def _truncated(header: Header, found: int) -> FormatError:
    words = plural(header.words, "word")
    return FormatError(
        f"truncated: the header declares {words} of {header.numbers} numbers",
        where=header.path,
        found=f"{found:,} complete",
        do="copy or write it again",
    )
