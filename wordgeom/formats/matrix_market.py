"""MatrixMarket's coordinate format (Boisvert, Pozo, Remington 1996), plain or gzip-compressed.

A symmetric file stores the lower triangle. Numbers have enough digits to round-trip exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from wordgeom.core.errors import FormatError, InputError
from wordgeom.core.types import Array, Bytes, Float64, Int64
from wordgeom.formats import matrix_entries
from wordgeom.formats.entries import Block
from wordgeom.formats.line_window import LineWindow
from wordgeom.matrices.document_term import Stored
from wordgeom.storage.opening import unpacked
from wordgeom.vectors.word2vec_header import NUMBER

_BANNER = b"%%matrixmarket"
_MAX_HEAD = 1 << 12  # bytes of a banner or size line
_ODD = 1 << 16  # numbers per block that the kernel may leave to Python's parser
_FIELDS, _SHAPES = (b"real", b"integer", b"pattern"), (b"general", b"symmetric")


@dataclass(frozen=True)
class MarketFile:
    """A MatrixMarket file (entries.EntryFile); start: number of lines before the entries."""

    path: Path
    shape: tuple[int, int]
    entries: int
    symmetric: bool
    valued: bool
    start: int

    @classmethod
    def open(cls, path: Path) -> MarketFile:
        """Read banner and size. Raises FormatError; InputError for an unsupported kind."""
        with unpacked(path, "a .mtx file") as source:
            field, shape = _banner(_line(source), path)
            sizes, start = _sizes(source, path)
            return cls(path, sizes[:2], sizes[2], shape == b"symmetric", field != b"pattern", start)

    def blocks(self) -> Iterator[Block]:
        """Yield all stored entries. Raises FormatError."""
        with unpacked(self.path, "a .mtx file") as source:
            lines, seen = LineWindow(source, self.path), 0
            lines.skip(self.start)
            while block := _parse(lines, self):
                seen += len(block[0])
                yield block
        if seen != self.entries:
            what = f"the size line declares {self.entries:,} entries"
            do = "the file is truncated or was edited"
            raise FormatError(what, where=self.path, found=f"{seen:,}", do=do)


def write_market(out: BinaryIO, matrix: Stored, comment: str) -> None:
    """Write a matrix: `symmetric` if it is stored as a triangle, else `general`."""
    from wordgeom.formats.matrix_market_kernels import PLACE, write_entries

    kind, (rows, columns) = "symmetric" if matrix.symmetric else "general", matrix.shape
    out.write(f"%%MatrixMarket matrix coordinate real {kind}\n% {comment}\n".encode())
    out.write(f"{rows} {columns} {matrix.stored}\n".encode())
    for row, column, data in matrix_entries.blocks(matrix):
        which, tokens, bounds = _tokens(matrix, data)
        room = PLACE * len(row) + int((bounds[which + 1] - bounds[which]).sum())
        if matrix.symmetric:  # stores keep the upper triangle, the format the lower one
            row, column = column, row
        buffer = np.empty(room, np.uint8)
        used = write_entries(row + 1, column + 1, which, tokens, bounds, buffer)
        out.write(buffer[:used].data)


def _tokens(matrix: Stored, data: Array) -> tuple[Int64, Bytes, Int64]:
    """Return each entry's token number, the joined tokens and their offsets."""
    from wordgeom.vectors.kernels import FLOAT_WIDTH, format_rows

    if data.dtype == np.float32:  # mostly distinct, so that a table of tokens would not pay
        buffer, none = np.empty((FLOAT_WIDTH + 1) * len(data), np.uint8), np.empty(0, np.uint8)
        used = format_rows(none, np.zeros(len(data) + 1, np.int64), data[:, None], buffer)
        return np.arange(len(data)), *_table(buffer[:used].tobytes())
    distinct, which = np.unique(data, return_inverse=True)
    numbers = [repr(n).removesuffix(".0") for n in matrix_entries.values(matrix, distinct).tolist()]
    return which, *_table("".join(f" {n}\n" for n in numbers).encode())


def _table(lines: bytes) -> tuple[Bytes, Int64]:
    """Return lines as bytes, and the offset of each."""
    texts = np.frombuffer(lines, np.uint8)
    ends = np.flatnonzero(texts == ord("\n")) + 1
    return texts, np.concatenate((np.zeros(1, np.int64), ends))


def _banner(line: bytes, path: Path) -> tuple[bytes, bytes]:
    words = line.removeprefix(b"\xef\xbb\xbf").lower().split()
    if len(words) != 5 or words[:2] != [_BANNER, b"matrix"]:
        what = "the first line must be %%MatrixMarket matrix coordinate …"
        raise FormatError(what, where=path, found=repr(_excerpt(line.strip())))
    if words[2] != b"coordinate" or words[3] not in _FIELDS or words[4] not in _SHAPES:
        found = b" ".join(words[2:]).decode(errors="replace")
        do = "write it as coordinate real general or symmetric (scipy.io.mmwrite)"
        raise InputError("unsupported MatrixMarket kind", where=path, found=found, do=do)
    return words[3], words[4]


def _sizes(source: BinaryIO, path: Path) -> tuple[tuple[int, int, int], int]:
    """Return (rows, columns, entries), and the number of their line."""
    number = 2
    while (line := _line(source)).startswith(b"%") or line.isspace():
        number += 1
    fields = line.split()
    if len(fields) != 3 or not all(f.isdigit() and len(f) <= 18 for f in fields):
        found, where = repr(_excerpt(line.strip())), f"{path} line {number}"
        raise FormatError("must list rows, columns and entries", where=where, found=found)
    rows, columns, entries = map(int, fields)
    return (rows, columns, entries), number


def _line(source: BinaryIO) -> bytes:
    """Return at most _MAX_HEAD bytes of the next line, and skip the rest of it."""
    line = rest = source.readline(_MAX_HEAD)
    while rest and not rest.endswith(b"\n"):
        rest = source.readline(_MAX_HEAD)
    return line


def _parse(lines: LineWindow, file: MarketFile) -> Block | None:
    """Return the entries of the next lines, None at the end of the file."""
    from wordgeom.formats.matrix_market_kernels import parse_entries

    while lines.read():
        most = lines.stop // 4 + 1  # the shortest line is `1 1\n`
        row, column = (np.empty(most, np.int64) for _ in range(2))
        values = np.empty(most)
        odd = np.empty((_ODD, 4), np.int64)
        n, count, odds, at, fine = parse_entries(
            lines.text, 0, lines.stop, file.valued, row, column, values, odd
        )
        _convert_exactly(lines, odd[:odds], values)
        row, column = row[:n], column[:n]
        _check_places(row, column, file, lines)
        if not fine:
            raise _malformed(lines, at, lines.number + count)
        lines.advance(at, count)
        if n:
            return row - 1, column - 1, values[:n]
    return None


def _convert_exactly(lines: LineWindow, odd: Int64, values: Float64) -> None:
    """Parse the numbers that the kernel left, with Python's exact conversion."""
    for entry, line, first, last in odd.tolist():
        token = lines.text[first:last].tobytes()
        if not NUMBER.fullmatch(token):
            where = f"{lines.path} line {lines.number + line}"
            raise FormatError("not a number", where=where, found=repr(_excerpt(token)))
        values[entry] = float(token)


def _check_places(row: Int64, column: Int64, file: MarketFile, lines: LineWindow) -> None:
    for places, limit, name in ((row, file.shape[0], "row"), (column, file.shape[1], "column")):
        bad = (places < 1) | (places > limit)
        if bad.any():
            at = int(np.argmax(bad))
            where = f"{lines.path}, at or after line {lines.number}"
            what = f"a {name} is not between 1 and {limit:,}"
            raise FormatError(what, where=where, found=f"{places[at]:,}")


def _malformed(lines: LineWindow, at: int, number: int) -> FormatError:
    line = lines.text[at : at + 60].tobytes().partition(b"\n")[0]
    what = "must contain a row, a column and a number"
    return FormatError(what, where=f"{lines.path} line {number}", found=repr(_excerpt(line)))


def _excerpt(raw: bytes) -> str:
    return raw[:40].decode(errors="replace")
