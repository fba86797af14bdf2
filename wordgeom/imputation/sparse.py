"""Sparse matrices as SciPy's save_npz writes them, made dense: csr, csc, bsr, coo, dia.

Indices are held against the shape before one is used. Entries of one place are added up, as SciPy
does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import numpy as np

from wordgeom.errors import FormatError, InputError
from wordgeom.imputation.arrays import as_float64
from wordgeom.imputation.files import check_size
from wordgeom.types import Array, Float64, Int64

FORMAT = "format"
_WHOLE = "iu"  # kinds of whole numbers
_ENTRIES = 1 << 20  # of a block
Entries = Iterator[tuple[Int64, Int64, Array]]


class Members(Protocol):
    """The arrays of an archive, by name."""

    memory: int
    members: list[str]

    def array(self, member: str, kinds: str = ...) -> Array:
        """Return an array whose type is of the `kinds`."""


def read_sparse(archive: Members, path: Path) -> Float64:
    """Return the matrix (n × d) of an archive. Raises FormatError; InputError if it is too large.

    Needs --memory for n · d numbers, however few of them are stored.
    """
    rows, columns = _shape(archive, path)
    check_size(rows, columns, archive.memory, path)
    dense = np.zeros((rows, columns))
    cells = dense.ravel()
    with np.errstate(invalid="ignore", over="ignore"):  # sums that are not finite are told later
        for row, column, values in _entries(archive, path, rows, columns):
            np.add.at(cells, row * columns + column, values)
    return dense


def _shape(archive: Members, path: Path) -> tuple[int, int]:
    shape = [int(n) for n in archive.array("shape", _WHOLE).ravel()[:3]]
    if len(shape) != 2 or min(shape) < 0:
        do = "save a matrix: a row for each entity"
        found = f"a sparse array of shape {tuple(shape)}"
        raise InputError("must have two dimensions", where=path, found=found, do=do)
    return shape[0], shape[1]


def _entries(archive: Members, path: Path, rows: int, columns: int) -> Entries:
    """Yield entries as rows, columns and numbers, block by block."""
    kind = _format(archive)
    if kind == "coo":
        return _coordinates(archive, path, rows, columns)
    if kind == "dia":
        return _diagonals(archive, path, rows, columns)
    if kind == "csc":
        return ((r, c, values) for c, r, values in _compressed(archive, path, columns, rows))
    if kind in ("csr", "bsr"):
        return _compressed(archive, path, rows, columns)
    do = "save it as csr: scipy.sparse.save_npz(FILE, matrix.tocsr())"
    raise InputError("is of an unknown sparse format", where=path, found=repr(kind), do=do)


def _format(archive: Members) -> str:
    value = archive.array(FORMAT, "SU").ravel()[:1].astype("S8").tolist()
    return value[0].decode("ascii", "replace") if value else ""


def _compressed(archive: Members, path: Path, majors: int, minors: int) -> Entries:
    """Yield the entries of rows (or columns) that stand one after the other, in tiles if bsr."""
    tiles = _tiles(archive, path)
    height, width = tiles.shape[1:]
    starts, minor = _whole(archive, "indptr", path), _within(archive, "indices", minors, path)
    if len(starts) != majors // height + 1 or majors % height or minors % width:
        raise _broken(path, "indptr does not fit the shape")
    # SciPy may keep more room than it uses.
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any() or starts[-1] > len(minor):
        raise _broken(path, "indptr does not rise from 0 to the number of entries")
    if len(minor) != len(tiles) or (len(minor) and int(minor.max()) >= minors // width):
        raise _broken(path, "indices fit neither the shape nor the data")
    down, across = np.arange(height)[:, None], np.arange(width)
    stored, step = int(starts[-1]), max(1, _ENTRIES // (height * width))
    for first in range(0, stored, step):
        at = np.arange(first, min(first + step, stored))
        major = np.searchsorted(starts, at, side="right") - 1
        rows = major[:, None, None] * height + down
        columns = minor[at][:, None, None] * width + across
        rows, columns = np.broadcast_arrays(rows, columns)
        yield rows.ravel(), columns.ravel(), tiles[at].ravel()


def _tiles(archive: Members, path: Path) -> Float64:
    """Return entries as tiles (entries × height × width), of one number each but in bsr."""
    data = as_float64(archive.array("data"))
    tiles = data.reshape(-1, 1, 1) if data.ndim == 1 else data
    if tiles.ndim != 3 or 0 in tiles.shape[1:]:
        raise _broken(path, f"data of shape {data.shape}")
    return tiles


def _coordinates(archive: Members, path: Path, rows: int, columns: int) -> Entries:
    if "coords" in archive.members:
        both = _whole(archive, "coords", path, 2)
        if len(both) != 2:
            raise _broken(path, "coords are not rows and columns")
        row, column = _checked(both[0], rows, path), _checked(both[1], columns, path)
    else:
        row, column = _within(archive, "row", rows, path), _within(archive, "col", columns, path)
    values = as_float64(archive.array("data"))
    if not values.shape == row.shape == column.shape:
        raise _broken(path, "rows, columns and data are not equally many")
    for first in range(0, len(row), _ENTRIES):
        block = slice(first, first + _ENTRIES)
        yield row[block], column[block], values[block]


def _diagonals(archive: Members, path: Path, rows: int, columns: int) -> Entries:
    """Yield diagonals: number j of the one at offset k stands in row j − k, column j."""
    offsets, data = _whole(archive, "offsets", path), as_float64(archive.array("data"))
    if data.ndim != 2 or len(data) != len(offsets):
        raise _broken(path, "offsets and data do not fit each other")
    for offset, values in zip(offsets.tolist(), data, strict=True):
        column = np.arange(max(0, offset), max(0, min(columns, len(values), rows + offset)))
        yield column - offset, column, values[column]


def _whole(archive: Members, member: str, path: Path, axes: int = 1) -> Int64:
    """Return an array of whole numbers; those beyond int64 turn negative, and are refused."""
    array = archive.array(member, _WHOLE)
    if array.ndim != axes:
        raise _broken(path, f"{member} of {array.ndim} dimensions")
    return array.astype(np.int64)


def _within(archive: Members, member: str, limit: int, path: Path) -> Int64:
    return _checked(_whole(archive, member, path), limit, path)


def _checked(indices: Int64, limit: int, path: Path) -> Int64:
    if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < limit:
        raise _broken(path, f"an index is not below {limit:,}")
    return indices


def _broken(path: Path, found: str) -> FormatError:
    do = "write it again with scipy.sparse.save_npz"
    return FormatError("broken sparse matrix", where=path, found=found, do=do)
