"""Sparse matrices as SciPy's save_npz writes them: csr, csc, bsr, coo, dia.

Indices are held against the shape before one is used. What csr, csc and coo hold is read piece by
piece.
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
_INTEGERS = "iu"  # kinds of whole numbers


def shape(archive: Archive, path: Path) -> tuple[int, int]:
    """Return rows and columns. Raises FormatError; InputError for another number of dimensions."""
    found = [int(n) for n in archive.array("shape", _INTEGERS).ravel()[:3]]
    if len(found) != 2 or min(found) < 0:
        text = f"a sparse array of shape {tuple(found)}"
        raise InputError("must have two dimensions", where=path, found=text, do="save a matrix")
    return found[0], found[1]


def entries(archive: Archive, path: Path, rows: int, columns: int) -> Entries:
    """Yield blocks of entries: rows, columns, numbers. Raises FormatError; InputError."""
    kind = _format(archive)
    if kind == "coo":
        return _coo_entries(archive, path, rows, columns)
    if kind == "dia":
        return _dia_entries(archive, path, rows, columns)
    if kind == "csc":
        return ((r, c, values) for c, r, values in _compressed(archive, path, columns, rows))
    if kind == "csr":
        return _compressed(archive, path, rows, columns)
    if kind == "bsr":
        return _bsr_entries(archive, path, rows, columns)
    do = "save it as csr: scipy.sparse.save_npz(FILE, matrix.tocsr())"
    raise InputError("is of an unknown sparse format", where=path, found=repr(kind), do=do)


def _format(archive: Archive) -> str:
    value = archive.array(FORMAT, "SU").ravel()[:1].astype("S8").tolist()
    return value[0].decode("ascii", "replace") if value else ""


def _compressed(archive: Archive, path: Path, majors: int, minors: int) -> Entries:
    """Yield the entries of rows (or columns) that stand one after the other."""
    with archive.items("indices", _INTEGERS) as indices, archive.items("data") as data:
        if len(indices.header.shape) != 1 or indices.header.shape != data.header.shape:
            raise _broken(path, "indices and data do not fit each other")
        starts = _row_starts(archive, path, majors, indices.header.shape[0])
        for first, count in _blocks(int(starts[-1])):
            major = np.searchsorted(starts, np.arange(first, first + count), side="right") - 1
            minor = _checked(indices.take(count).astype(np.int64), minors, path)
            yield major, minor, as_float64(data.take(count))


def _row_starts(archive: Archive, path: Path, majors: int, stored: int) -> Int64:
    """Return where each row begins among `stored` entries; the last may have more room."""
    starts = _integers(archive, "indptr", path)
    if len(starts) != majors + 1:
        raise _broken(path, "indptr does not fit the shape")
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any() or starts[-1] > stored:
        raise _broken(path, "indptr does not rise from 0 to the number of entries")
    return starts


def _bsr_entries(archive: Archive, path: Path, rows: int, columns: int) -> Entries:
    """Yield the entries of tiles (tiles × height × width)."""
    tiles = as_float64(archive.array("data"))
    if tiles.ndim != 3 or 0 in tiles.shape[1:]:
        raise _broken(path, f"data of shape {tiles.shape}")
    height, width = tiles.shape[1:]
    across = _within(archive, "indices", columns // width, path)
    if len(across) != len(tiles) or rows % height or columns % width:
        raise _broken(path, "indices fit neither the shape nor the data")
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
            raise _broken(path, "rows, columns and data are not equally many")
        for _, count in _blocks(data.header.shape[0]):
            yield (
                _checked(row.take(count).astype(np.int64), rows, path),
                _checked(column.take(count).astype(np.int64), columns, path),
                as_float64(data.take(count)),
            )


def _coords_entries(archive: Archive, path: Path, rows: int, columns: int) -> Entries:
    """Yield the entries of a matrix whose places are one array (2 × entries)."""
    both, values = _integers(archive, "coords", path, 2), as_float64(archive.array("data"))
    if len(both) != 2 or values.shape != both[0].shape:
        raise _broken(path, "coords are not rows and columns of the data")
    row, column = _checked(both[0], rows, path), _checked(both[1], columns, path)
    for first, count in _blocks(len(values)):
        block = slice(first, first + count)
        yield row[block], column[block], values[block]


def _dia_entries(archive: Archive, path: Path, rows: int, columns: int) -> Entries:
    """Yield diagonals: number j of the one at offset k stands in row j − k, column j."""
    offsets, data = _integers(archive, "offsets", path), as_float64(archive.array("data"))
    if data.ndim != 2 or len(data) != len(offsets):
        raise _broken(path, "offsets and data do not fit each other")
    for offset, values in zip(offsets.tolist(), data, strict=True):
        column = np.arange(max(0, offset), max(0, min(columns, len(values), rows + offset)))
        yield column - offset, column, values[column]


def _blocks(stored: int, size: int = BLOCK) -> Iterator[tuple[int, int]]:
    """Yield where each block of entries begins, and how many it has."""
    for first in range(0, stored, size):
        yield first, min(size, stored - first)


def _integers(archive: Archive, member: str, path: Path, axes: int = 1) -> Int64:
    """Return an array of whole numbers; those beyond int64 turn negative, and are refused."""
    array: Array = archive.array(member, _INTEGERS)
    if array.ndim != axes:
        raise _broken(path, f"{member} of {array.ndim} dimensions")
    return array.astype(np.int64)


def _within(archive: Archive, member: str, limit: int, path: Path) -> Int64:
    return _checked(_integers(archive, member, path), limit, path)


def _checked(indices: Int64, limit: int, path: Path) -> Int64:
    if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < limit:
        raise _broken(path, f"an index is not below {limit:,}")
    return indices


def _broken(path: Path, found: str) -> FormatError:
    do = "write it again with scipy.sparse.save_npz"
    return FormatError("broken sparse matrix", where=path, found=found, do=do)
