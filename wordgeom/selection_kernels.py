"""Loops that pick columns out of stored rows and put them in order."""

from __future__ import annotations

from wordgeom._jit import kernel
from wordgeom.types import Array, Int32, Int64


@kernel
def count_picked(
    indptr: Int64, indices: Int32, first: int, position: Int32, symmetric: bool
) -> int:
    """Return how many entries `pick` will write."""
    n = 0
    for r in range(len(indptr) - 1):
        mirrored = symmetric and position[first + r] >= 0
        for k in range(indptr[r], indptr[r + 1]):
            if position[indices[k]] >= 0:
                n += 1
            if mirrored and indices[k] != first + r:
                n += 1
    return n


@kernel
def pick(
    indptr: Int64, indices: Int32, data: Array, first: int, position: Int32, symmetric: bool,
    out_rows: Int32, out_columns: Int32, out: Array,
) -> None:  # fmt: skip
    """Write (row, place, value) of the entries in chosen columns; place is position[column].

    Stored rows begin with row `first`. symmetric: an entry (r, j) stands for (j, r) as well.
    """
    n = 0
    for r in range(len(indptr) - 1):
        i = first + r
        mirrored = symmetric and position[i] >= 0
        for k in range(indptr[r], indptr[r + 1]):
            j = indices[k]
            if position[j] >= 0:
                out_rows[n] = i
                out_columns[n] = position[j]
                out[n] = data[k]
                n += 1
            if mirrored and j != i:
                out_rows[n] = j
                out_columns[n] = position[i]
                out[n] = data[k]
                n += 1


@kernel
def count_rows(rows: Int32, lengths: Int64) -> None:
    """Add to lengths[r] the number of times that r is among `rows`."""
    for k in range(len(rows)):
        lengths[rows[k]] += 1


@kernel
def place(
    rows: Int32, columns: Int32, data: Array, cursor: Int64, out_columns: Int32, out: Array
) -> None:
    """Put entries behind those of the same row that are there; cursor[r] is the next free place."""
    for k in range(len(rows)):
        at = cursor[rows[k]]
        out_columns[at] = columns[k]
        out[at] = data[k]
        cursor[rows[k]] = at + 1
