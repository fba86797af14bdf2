"""Kernels that select columns of stored rows."""

from __future__ import annotations

from wordgeom.core.types import Array, Int32, Int64
from wordgeom.runtime.jit import kernel


@kernel
def count_selected(
    indptr: Int64, indices: Int32, first: int, position: Int32, symmetric: bool, lengths: Int64
) -> None:
    """Add to lengths[r + 1] the number of entries that `select` writes to row r."""
    for r in range(len(indptr) - 1):
        i = first + r
        mirrored = symmetric and position[i] >= 0
        for k in range(indptr[r], indptr[r + 1]):
            j = indices[k]
            if position[j] >= 0:
                lengths[i + 1] += 1
            if mirrored and j != i:
                lengths[j + 1] += 1


@kernel
def select(
    indptr: Int64, indices: Int32, data: Array, first: int, position: Int32, symmetric: bool,
    cursor: Int64, out_indices: Int32, out: Array,
) -> None:  # fmt: skip
    """Append the entries in chosen columns to their rows.

    first: the first stored row; position[column]: its index among the chosen columns, or -1;
    cursor[row]: the next free entry; symmetric: an entry (i, j) stands for (j, i) as well. With
    blocks in order, the columns of a row ascend: the entries mirrored from earlier rows come
    before those of the row itself.
    """
    for r in range(len(indptr) - 1):
        i = first + r
        mirrored = symmetric and position[i] >= 0
        for k in range(indptr[r], indptr[r + 1]):
            j = indices[k]
            if position[j] >= 0:
                out_indices[cursor[i]], out[cursor[i]] = position[j], data[k]
                cursor[i] += 1
            if mirrored and j != i:
                out_indices[cursor[j]], out[cursor[j]] = position[i], data[k]
                cursor[j] += 1


@kernel
def count_kept(indptr: Int64, indices: Int32, rows: Int64, position: Int32, lengths: Int64) -> None:
    """Add to lengths[r + 1] the number of entries of stored row rows[r] in chosen columns."""
    for r in range(len(rows)):
        for k in range(indptr[rows[r]], indptr[rows[r] + 1]):
            if position[indices[k]] >= 0:
                lengths[r + 1] += 1


@kernel
def keep(
    indptr: Int64, indices: Int32, data: Array, rows: Int64, position: Int32,
    begins: Int64, out_indices: Int32, out: Array,
) -> None:  # fmt: skip
    """Write the entries of stored row rows[r] in chosen columns, from begins[r] on."""
    for r in range(len(rows)):
        at = begins[r]
        for k in range(indptr[rows[r]], indptr[rows[r] + 1]):
            column = position[indices[k]]
            if column >= 0:
                out_indices[at], out[at] = column, data[k]
                at += 1
