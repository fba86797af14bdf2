"""MatrixMarket's coordinate format (Boisvert, Pozo, Remington 1996), plain or gzip-compressed.

A symmetric file stores the lower triangle. Numbers have enough digits to round-trip exactly.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from wordgeom.core.errors import FormatError, InputError
from wordgeom.core.types import Array
from wordgeom.formats import matrix_entries
from wordgeom.formats.entries import Block
from wordgeom.matrices.document_term import Stored
from wordgeom.storage.opening import unpacked

_BANNER = b"%%matrixmarket"
_MAX_HEAD = 1 << 12  # bytes of a banner or size line
_BLOCK = 1 << 22  # bytes read at once
_MAX_LINE = 1 << 20  # bytes of a line that a block does not end
_FIELDS, _SHAPES = (b"real", b"integer", b"pattern"), (b"general", b"symmetric")
_BLANK = bytes([*range(9, 14), *range(28, 33)])  # what NumPy takes for white space
_INDICES = np.dtype([("row", np.int64), ("column", np.int64)])
_VALUED = np.dtype([*_INDICES.descr, ("value", np.float64)])


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
        seen, number = 0, self.start + 1
        with unpacked(self.path, "a .mtx file") as source:
            for _ in range(self.start):
                _line(source)
            while raw := _whole_lines(source, self.path, number):
                entries = self._parse(raw, number)
                seen, number = seen + len(entries), number + raw.count(b"\n")
                if len(entries):
                    values = entries["value"] if self.valued else np.ones(len(entries))
                    yield entries["row"] - 1, entries["column"] - 1, values
        if seen != self.entries:
            what = f"the size line declares {self.entries:,} entries"
            do = "the file is truncated or was edited"
            raise FormatError(what, where=self.path, found=f"{seen:,}", do=do)

    def _parse(self, raw: bytes, number: int) -> Array:
        """Return the entries of some lines, of which `number` is the first. Raises FormatError."""
        dtype = _VALUED if self.valued else _INDICES
        try:
            entries = _load(io.BytesIO(raw), dtype)
        except ValueError:
            lines = raw.split(b"\n")
            at = _first_malformed(lines, dtype)
            wanted = "a row, a column and a number" if self.valued else "a row and a column"
            where, found = f"{self.path} line {number + at}", repr(_excerpt(lines[at].strip()))
            raise FormatError(f"must contain {wanted}", where=where, found=found) from None
        for name, limit in zip(("row", "column"), self.shape, strict=True):
            places = entries[name]
            if places.min(initial=1) < 1 or places.max(initial=0) > limit:
                at = int(np.argmax((places < 1) | (places > limit)))
                filled = (
                    n for n, line in enumerate(raw.split(b"\n"), number) if line.strip(_BLANK)
                )
                where = f"{self.path} line {next(islice(filled, at, None))}"
                what = f"a {name} is not between 1 and {limit:,}"
                raise FormatError(what, where=where, found=f"{places[at]:,}")
        return entries


def write_market(out: BinaryIO, matrix: Stored, comment: str, threads: int) -> None:
    """Write a matrix: `symmetric` if it is stored as a triangle, else `general`."""
    import scipy.io
    import scipy.sparse
    from threadpoolctl import threadpool_limits

    kind, (rows, columns) = "symmetric" if matrix.symmetric else "general", matrix.shape
    banner = f"%%MatrixMarket matrix coordinate real {kind}\n"
    out.write(f"{banner}% {comment}\n{rows} {columns} {matrix.stored}\n".encode())
    scipy.io.mminfo(io.StringIO(f"{banner}1 1 0\n"))  # loads the library, to limit its threads
    with threadpool_limits(threads, user_api="scipy"):
        for row, column, data in matrix_entries.blocks(matrix):
            if matrix.symmetric:  # stores keep the upper triangle, the format the lower one
                row, column = column, row
            # Counts remain integers, because SciPy writes large floats with an exponent.
            values = data if matrix.denominator == 1 else matrix_entries.values(matrix, data)
            block = scipy.sparse.coo_array((values, (row, column)), matrix.shape)
            text = io.BytesIO()
            scipy.io.mmwrite(text, block, symmetry="general")
            out.write(text.getvalue().split(b"\n", 3)[3])  # without the head of the block


def _banner(line: bytes, path: Path) -> tuple[bytes, bytes]:
    words = line.removeprefix(b"\xef\xbb\xbf").lower().split()
    if len(words) != 5 or words[:2] != [_BANNER, b"matrix"]:
        what = "the first line must be %%MatrixMarket matrix coordinate …"
        raise FormatError(what, where=path, found=repr(_excerpt(line.strip())))
    if words[2] != b"coordinate" or words[3] not in _FIELDS or words[4] not in _SHAPES:
        found = b" ".join(words[2:]).decode(errors="replace")
        do = "write it as coordinate real general or symmetric (scipy.io.mmwrite)"
        raise InputError(f"unsupported MatrixMarket kind {found!r}", where=path, do=do)
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


def _excerpt(raw: bytes) -> str:
    return raw[:40].decode(errors="replace")


def _whole_lines(source: BinaryIO, path: Path, number: int) -> bytes:
    """Return the next lines, from line `number` on, none at the end. Raises FormatError."""
    raw, rest = source.read(_BLOCK), source.readline(_MAX_LINE)
    raw += rest
    if len(rest) == _MAX_LINE and not rest.endswith(b"\n"):
        *lines, last = raw.split(b"\n")
        where, what = f"{path} line {number + len(lines)}", f"line of {len(last):,} bytes or more"
        raise FormatError(what, where=where)
    return raw


def _load(lines: Iterable[bytes], dtype: np.dtype[Any]) -> Array:
    """Return the entries of lines, each of which has the fields of `dtype`. Raises ValueError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # all lines may be blank
        warnings.simplefilter("error", DeprecationWarning)  # NumPy 1.26 reads 1.7 as an integer
        return np.loadtxt(lines, dtype, comments=None, encoding="ascii", ndmin=1)


def _first_malformed(lines: list[bytes], dtype: np.dtype[Any]) -> int:
    """Return the index of the first line that cannot be loaded; there is one."""
    low, high = 0, len(lines)  # lines[:low] can be loaded, lines[low:high] cannot
    while high - low > 1:
        middle = (low + high) // 2
        try:
            _load(lines[low:middle], dtype)
            low = middle
        except ValueError:
            high = middle
    return low
