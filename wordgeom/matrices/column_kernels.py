"""Loops that select columns out of stored rows and put them in order."""

from __future__ import annotations

from wordgeom.core.types import Array, Int32, Int64
from wordgeom.runtime.jit import kernel


@kernel
def count_selected(
    indptr: Int64, indices: Int32, first: int, position: Int32, symmetric: bool, lengths: Int64
) -> None:
    """Add to lengths[r + 1] how many entries `select` puts into row r."""
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
    """Put the entries in chosen columns behind those of the same row that are there.

    Stored rows begin with row `first`; position[column] is a column's place among the chosen, or
    -1; cursor[row] is the next free place. symmetric: an entry (i, j) stands for (j, i) as well.
    Given in order, a row's columns ascend: row x of a triangle is met as the mirror image of the
    rows before it, then as itself.
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
