"""Read the layouts of scipy.sparse.save_npz: csr, csc, bsr, coo, dia.

Every index is checked against the shape before use. csr, csc and coo are read in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from wordgeom.core.errors import FormatError, InputError
from wordgeom.core.types import Array, Int64
from wordgeom.formats.entries import BLOCK, Block
from wordgeom.formats.npy import as_float64
from wordgeom.formats.npz import Archive

FORMAT = "format"
Entries = Iterator[Block]
_INTEGERS = "iu"  # dtype kinds


def shape(archive: Archive, path: Path) -> tuple[int, int]:
    """Return (rows, columns). Raises FormatError; InputError unless there are two dimensions."""
    found = [int(n) for n in archive.array("shape", _INTEGERS).ravel()[:3]]
    if len(found) != 2 or min(found) < 0:
        text = f"a sparse array of shape {tuple(found)}"
        raise InputError("must have two dimensions", where=path, found=text, do="save a matrix")
    return found[0], found[1]


def entries(archive: Archive, path: Path, rows: int, columns: int) -> Entries:
    """Yield blocks of entries: row and column indices, values. Raises FormatError, InputError."""
    kind = _format(archive)
    if kind == "csc":
        return ((r, c, values) for c, r, values in _compressed(archive, path, columns, rows))
    readers = {"csr": _compressed, "bsr": _bsr_entries, "coo": _coo_entries, "dia": _dia_entries}
    if kind not in readers:
        do = "save it as csr: scipy.sparse.save_npz(FILE, matrix.tocsr())"
        raise InputError(f"unknown sparse format {kind!r}", where=path, do=do)
    return readers[kind](archive, path, rows, columns)


def _format(archive: Archive) -> str:
    value = archive.array(FORMAT, "SU").ravel()[:1].astype("S8").tolist()
    return value[0].decode("ascii", "replace") if value else ""


def _compressed(archive: Archive, path: Path, majors: int, minors: int) -> Entries:
    """Yield the entries of csr, or with majors and minors swapped, of csc."""
    with archive.items("indices", _INTEGERS) as indices, archive.items("data") as data:
        if len(indices.header.shape) != 1 or indices.header.shape != data.header.shape:
            raise _broken(path, "indices and data of different shapes")
        starts = _row_starts(archive, path, majors, indices.header.shape[0])
        for first, count in _blocks(int(starts[-1])):
            major = np.searchsorted(starts, np.arange(first, first + count), side="right") - 1
            minor = _checked(indices.take(count).astype(np.int64), minors, path)
            yield major, minor, as_float64(data.take(count))


def _row_starts(archive: Archive, path: Path, majors: int, stored: int) -> Int64:
    """Return indptr, checked against `stored` entries, of which SciPy may leave some unused."""
    starts = _integers(archive, "indptr", path)
    if len(starts) != majors + 1:
        raise _broken(path, f"indptr of length {len(starts):,} for {majors:,} rows or columns")
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any() or starts[-1] > stored:
        raise _broken(path, "indptr that does not increase from 0 to the number of entries")
    return starts


def _bsr_entries(archive: Archive, path: Path, rows: int, columns: int) -> Entries:
    """Yield the entries of bsr, from tiles (tiles × height × width)."""
    tiles = as_float64(archive.array("data"))
    if tiles.ndim != 3 or 0 in tiles.shape[1:]:
        raise _broken(path, f"data of shape {tiles.shape}")
    height, width = tiles.shape[1:]
    across = _checked(_integers(archive, "indices", path), columns // width, path)
    if len(across) != len(tiles) or rows % height or columns % width:
        raise _broken(path, "indices that do not match the shape or the data")
    starts = _row_starts(archive, path, rows // height, len(tiles))
    for first, count in _blocks(int(starts[-1]), max(1, BLOCK // (height * width))):
        at = np.arange(first, first + count)
        major = np.searchsorted(starts, at, side="right") - 1
        row = major[:, None, None] * height + np.arange(height)[:, None]
        column = across[at][:, None, None] * width + np.arange(width)
        row, column = np.broadcast_arrays(row, column)
        yield row.ravel(), column.ravel(), tiles[at].ravel()


def _coo_entries(archive: Archive, path: Path, rows: int, columns: int) -> Entries:
    if "coords" in archive.members:
        yield from _coords_entries(archive, path, rows, columns)
        return
    pieces = archive.items
    with (
        pieces("row", _INTEGERS) as row,
        pieces("col", _INTEGERS) as column,
        pieces("data") as data,
    ):
        same = row.header.shape == column.header.shape == data.header.shape
        if not same or len(data.header.shape) != 1:
            raise _broken(path, "row, col and data of different lengths")
        for _, count in _blocks(data.header.shape[0]):
            yield (
                _checked(row.take(count).astype(np.int64), rows, path),
                _checked(column.take(count).astype(np.int64), columns, path),
                as_float64(data.take(count)),
            )


def _coords_entries(archive: Archive, path: Path, rows: int, columns: int) -> Entries:
    """Yield the entries of coo with one array of indices, `coords` (2 × entries)."""
    both, values = _integers(archive, "coords", path, 2), as_float64(archive.array("data"))
    if len(both) != 2 or values.shape != both[0].shape:
        raise _broken(path, "coords that do not match the data")
    row, column = _checked(both[0], rows, path), _checked(both[1], columns, path)
    for first, count in _blocks(len(values)):
        block = slice(first, first + count)
        yield row[block], column[block], values[block]


def _dia_entries(archive: Archive, path: Path, rows: int, columns: int) -> Entries:
    """Yield the entries of dia: data[d, j] is in row j − offsets[d] and column j."""
    offsets, data = _integers(archive, "offsets", path), as_float64(archive.array("data"))
    if data.ndim != 2 or len(data) != len(offsets):
        raise _broken(path, "offsets and data of different lengths")
    for offset, values in zip(offsets.tolist(), data, strict=True):
        column = np.arange(max(0, offset), max(0, min(columns, len(values), rows + offset)))
        yield column - offset, column, values[column]


def _blocks(stored: int, size: int = BLOCK) -> Iterator[tuple[int, int]]:
    """Yield the start and length of each block of entries."""
    for first in range(0, stored, size):
        yield first, min(size, stored - first)


def _integers(archive: Archive, member: str, path: Path, axes: int = 1) -> Int64:
    """Return an array as int64; overflow makes numbers negative, which later checks reject."""
    array: Array = archive.array(member, _INTEGERS)
    if array.ndim != axes:
        raise _broken(path, f"{member} of shape {array.shape}")
    return array.astype(np.int64)


def _checked(indices: Int64, limit: int, path: Path) -> Int64:
    if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < limit:
        raise _broken(path, f"an index not between 0 and {limit - 1:,}")
    return indices


def _broken(path: Path, found: str) -> FormatError:
    do = "write it again with scipy.sparse.save_npz"
    return FormatError(f"broken sparse matrix: {found}", where=path, do=do)
