"""The kernel that merges tree edges and nearest neighbours into rows of the graph."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Bytes, Int32, Int64
from wordgeom.runtime.jit import kernel


@kernel
def fill_rows(
    starts: Int64, tree: Int32, nearest: Int32, indptr: Int64, indices: Int32, flags: Bytes
) -> None:
    """Fill each row with its neighbours in the tree, then the nearest others, and sort it.

    tree[starts[i]:starts[i + 1]]: tree neighbours of i, ascending; nearest (n × δ): by distance;
    indptr: row lengths are the larger of δ and the degree in the tree.
    """
    for i in range(len(indptr) - 1):
        own = tree[starts[i] : starts[i + 1]]
        row = indices[indptr[i] : indptr[i + 1]]
        size = len(own)
        row[:size] = own
        for j in nearest[i]:
            if size < len(row) and not _holds(own, j):
                row[size] = j
                size += 1
        row.sort()
        for place in range(len(row)):
            flags[indptr[i] + place] = np.uint8(_holds(own, row[place]))


@kernel
def _holds(ascending: Int32, value: int) -> bool:
    """Return whether an ascending array contains a value."""
    place = np.searchsorted(ascending, value)
    return bool(place < len(ascending) and ascending[place] == value)
