"""Loops that pick columns out of stored rows and put them in order."""

from __future__ import annotations

from wordgeom._jit import kernel


@kernel
def count_picked(indptr, indices, first, position, symmetric):  # type: ignore[no-untyped-def]
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
def pick(  # type: ignore[no-untyped-def]
    indptr, indices, data, first, position, symmetric, out_rows, out_columns, out
):
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
def count_rows(rows, lengths):  # type: ignore[no-untyped-def]
    """Add to lengths[r] the number of times that r is among `rows`."""
    for k in range(len(rows)):
        lengths[rows[k]] += 1


@kernel
def place(rows, columns, data, cursor, out_columns, out):  # type: ignore[no-untyped-def]
    """Put entries behind those of the same row that are there; cursor[r] is the next free place."""
    for k in range(len(rows)):
        at = cursor[rows[k]]
        out_columns[at] = columns[k]
        out[at] = data[k]
        cursor[rows[k]] = at + 1
