"""Kernels that share ties, and merge tree edges and nearest neighbours into rows of the graph."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Bytes, Float64, Int32, Int64
from wordgeom.runtime.jit import kernel

_TIE = 1e-12  # squared distances that differ by less, relatively, are equal but for rounding


@kernel
def cut_rows(
    starts: Int64, tree: Int32, nearest: Int32, squared: Float64, delta: int, cuts: Float64
) -> None:
    """Set cuts (n) to the squared distance of the last neighbour that a row needs.

    A row needs its neighbours in the tree, then the nearest others until it has delta; −1 where the
    tree suffices. tree[starts[i]:starts[i + 1]]: tree neighbours of i, ascending; nearest, squared
    (n × k): by distance.
    """
    for i in range(len(starts) - 1):
        own = tree[starts[i] : starts[i + 1]]
        size = len(own)
        cuts[i] = -1.0
        for place in range(nearest.shape[1]):
            if size >= delta:
                break
            if not _holds(own, nearest[i, place]):
                cuts[i] = squared[i, place]
                size += 1


@kernel
def share_ties(
    rows: Int64, squared: Float64, cuts: Float64, zeros: Float64, extents: Int64, tied: Int32
) -> None:
    """Set the extents of rows to the neighbours up to the cut and tied with it, and tied to these.

    squared (rows × k): ascending; cuts, extents, tied (n); zeros (n): squared distances up to which
    an entity is identical.
    """
    for r in range(len(rows)):
        i = rows[r]
        high = cuts[i] * (1.0 + _TIE) + zeros[i]
        low = cuts[i] * (1.0 - _TIE) - zeros[i]
        extents[i] = tied[i] = 0
        if cuts[i] < 0.0:
            continue
        for distance in squared[r]:
            if not distance <= high or np.isinf(distance):
                break
            extents[i] += 1
            tied[i] += distance >= low


@kernel
def add_lengths(
    rows: Int64, starts: Int64, tree: Int32, nearest: Int32, extents: Int64, lengths: Int64
) -> None:
    """Set lengths (n) to the neighbours of rows in the tree or within their extents."""
    for r in range(len(rows)):
        i = rows[r]
        own = tree[starts[i] : starts[i + 1]]
        lengths[i] = len(own)
        for place in range(extents[i]):
            lengths[i] += not _holds(own, nearest[r, place])


@kernel
def fill_rows(
    rows: Int64, starts: Int64, tree: Int32, nearest: Int32, extents: Int64,
    order: Int64, indptr: Int64, indices: Int32, flags: Bytes,
) -> None:  # fmt: skip
    """Fill rows with their neighbours in the tree and within their extents, sorted.

    Entity i of the input is entity order[i] of the result: indptr, indices, flags.
    """
    for r in range(len(rows)):
        i = rows[r]
        own = tree[starts[i] : starts[i + 1]]
        begin, end = indptr[order[i]], indptr[order[i] + 1]
        row = np.empty(end - begin, np.int64)  # twice the neighbour, plus 1 for an edge of the tree
        size = 0
        for j in own:
            row[size] = 2 * order[j] + 1
            size += 1
        for place in range(extents[i]):
            j = nearest[r, place]
            if not _holds(own, j):
                row[size] = 2 * order[j]
                size += 1
        row.sort()
        for place in range(size):
            indices[begin + place] = row[place] // 2
            flags[begin + place] = row[place] % 2


@kernel
def _holds(ascending: Int32, value: int) -> bool:
    """Return whether an ascending array contains a value."""
    place = np.searchsorted(ascending, value)
    return bool(place < len(ascending) and ascending[place] == value)
