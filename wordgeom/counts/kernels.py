"""The counting loops: an inverted index, rows in a sparse accumulator, sorted rows from it.

A row is accumulated in a dense array of V + 1 cells. Cells are grouped by GROUP, and a byte for
each group records whether it was used, so that a sparse row is read out in ascending order without
a scan of all cells and without sorting. The loops contain no data-dependent branches, since
mispredictions would cost more than the rest.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Bytes, Int32, Int64
from wordgeom.runtime.jit import kernel
from wordgeom.runtime.prefetch_kernels import prefetch

GROUP_BITS = 3
GROUP = 1 << GROUP_BITS
_PREFETCH_AHEAD = 12  # occurrences; prefetching their windows halves the time of a count


@kernel
def histogram(ids: Int32, begin: int, end: int, counts: Int64) -> None:
    """Add the number of occurrences of each id in ids[begin:end] to counts."""
    for place in range(begin, end):
        counts[ids[place]] += 1


@kernel
def invert(ids: Int32, begin: int, end: int, cursors: Int64, places: Int32) -> None:
    """Write each position in [begin, end) to places[cursors[id]++]; skip the id V."""
    nowhere = len(cursors)
    for place in range(begin, end):
        word = ids[place]
        if word != nowhere:
            places[cursors[word]] = place
            cursors[word] += 1


@kernel
def emit_row(
    begin: int, cells: Int64, touched: Bytes, groups: Int64, found: Int32, indices: Int32,
    values: Array, n: int,
) -> int:  # fmt: skip
    """Move the nonzero cells from `begin` to indices[n:] and values[n:], and clear them.

    touched: a byte for each group, viewed as int64 (eight groups) in `groups`. Returns the new n.
    """
    eights = 0
    for eight in range((begin >> GROUP_BITS) >> 3, len(groups)):
        found[eights] = eight
        eights += groups[eight] != 0
    many = 0
    place = len(found) // 2  # the list of groups follows the list of eights
    for k in range(eights):
        eight = found[k]
        for group in range(8 * eight, 8 * eight + 8):
            found[place + many] = group
            many += touched[group]
        groups[eight] = 0
    for k in range(place, place + many):
        first = found[k] << GROUP_BITS
        for column in range(first, first + GROUP):
            value = cells[column]
            indices[n] = column
            values[n] = value
            n += value != 0
            cells[column] = 0
    return n


@kernel
def add_sums(
    row: int, upper: bool, indices: Int32, values: Array, begin: int, end: int, row_sums: Int64,
    column_sums: Int64,
) -> None:  # fmt: skip
    """Add a row's entries to the sums of the full matrix; `upper`: each entry counts twice."""
    total = np.int64(0)
    for k in range(begin, end):
        value = np.int64(values[k])
        total += value
        column_sums[indices[k]] += value
    if upper and end > begin and indices[begin] == row:
        column_sums[row] -= np.int64(values[begin])
    row_sums[row] += total


@kernel
def sum_rows(
    indptr: Int64, indices: Int32, values: Array, first: int, upper: bool, row_sums: Int64,
    column_sums: Int64,
) -> None:  # fmt: skip
    """Add rows, numbered from `first`, to the sums of the full matrix."""
    for k in range(len(indptr) - 1):
        begin, end = indptr[k], indptr[k + 1]
        add_sums(first + k, upper, indices, values, begin, end, row_sums, column_sums)


@kernel
def count_rows(
    ids: Int32, places: Int32, starts: Int64, first: int, last: int, weights: Int32 | Int64,
    upper: bool, cells: Int64, touched: Bytes, groups: Int64, found: Int32, indices: Int32,
    values: Array, lengths: Int64, row_sums: Int64, column_sums: Int64,
) -> int:  # fmt: skip
    """Count rows first ≤ row < last from the occurrences of their words.

    ids int32, with at least `window` ids on either side of each position; places[starts[w] :
    starts[w + 1]] are the positions of word w; weights (2 window + 1) by distance, 0 at the centre,
    int32 if possible, since int64 products take twice the time; upper: only columns ≥ row.
    Returns the number of entries written.
    """
    width = len(weights)
    window = width // 2
    nowhere = len(lengths)  # the id of a token without a row
    end = len(places) - 1
    n = 0
    groups[:] = 0
    for row in range(first, last):
        low = row if upper else 0
        for k in range(starts[row], starts[row + 1]):
            ahead = places[min(k + _PREFETCH_AHEAD, end)]
            prefetch(ids, ahead - window)
            prefetch(ids, ahead + window)
            begin = places[k] - window
            for distance in range(width):
                column = ids[begin + distance]
                cells[column] += weights[distance] * np.int32(column >= low)
                touched[column >> GROUP_BITS] = 1
        cells[nowhere] = 0
        before = n
        n = emit_row(low, cells, touched, groups, found, indices, values, n)
        lengths[row] = n - before
        add_sums(row, upper, indices, values, before, n, row_sums, column_sums)
    return n


@kernel
def gather_row(
    offsets: Int64, from_indices: Int32, from_values: Array, matrix: int, k: int, sign: int,
    cells: Int64, touched: Bytes,
) -> None:  # fmt: skip
    """Add sign times row k of a matrix to the cells."""
    for e in range(offsets[matrix, k], offsets[matrix, k + 1]):
        column = from_indices[e]
        cells[column] += sign * np.int64(from_values[e])
        touched[column >> GROUP_BITS] = 1


@kernel
def merge_rows(
    offsets: Int64, from_indices: Int32, from_values: Array, first: int, upper: bool, cells: Int64,
    touched: Bytes, groups: Int64, found: Int32, indices: Int32, values: Array, lengths: Int64,
    row_sums: Int64, column_sums: Int64,
) -> int:  # fmt: skip
    """Sum the same rows of several matrices.

    offsets (matrices × rows + 1): of each matrix's rows in from_indices and from_values; `first`:
    the number of the first row. Returns the number of entries written.
    """
    n = 0
    groups[:] = 0
    for k in range(offsets.shape[1] - 1):
        row = first + k
        for matrix in range(offsets.shape[0]):
            gather_row(offsets, from_indices, from_values, matrix, k, 1, cells, touched)
        before = n
        n = emit_row(0, cells, touched, groups, found, indices, values, n)
        lengths[row] = n - before
        add_sums(row, upper, indices, values, before, n, row_sums, column_sums)
    return n


@kernel
def negative_column(offsets: Int64, from_indices: Int32, k: int, cells: Int64) -> int:
    """Return the first column of row k with a negative cell, -1 if there is none."""
    lowest = -1
    for matrix in range(1, offsets.shape[0]):
        for e in range(offsets[matrix, k], offsets[matrix, k + 1]):
            column = from_indices[e]
            if cells[column] < 0 and (lowest < 0 or column < lowest):
                lowest = column
    return lowest


@kernel
def subtract_rows(
    offsets: Int64, from_indices: Int32, from_values: Array, first: int, upper: bool,
    negative: Int64, cells: Int64, touched: Bytes, groups: Int64, found: Int32, indices: Int32,
    values: Array, lengths: Int64, row_sums: Int64, column_sums: Int64,
) -> int:  # fmt: skip
    """Subtract rows of all matrices from the same rows of the first one.

    As `merge_rows`; negative (3): set to row, column and value of the first negative count, after
    which nothing is written and the cells are clear.
    """
    n = 0
    groups[:] = 0
    for k in range(offsets.shape[1] - 1):
        row = first + k
        for matrix in range(offsets.shape[0]):
            sign = 1 if matrix == 0 else -1
            gather_row(offsets, from_indices, from_values, matrix, k, sign, cells, touched)
        column = negative_column(offsets, from_indices, k, cells)
        if column >= 0:
            negative[0], negative[1], negative[2] = row, column, cells[column]
            cells[:] = 0
            touched[:] = 0
            return 0
        before = n
        n = emit_row(0, cells, touched, groups, found, indices, values, n)
        lengths[row] = n - before
        add_sums(row, upper, indices, values, before, n, row_sums, column_sums)
    return n
