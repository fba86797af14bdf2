"""Assigns stored entries to blocks."""

from __future__ import annotations

from wordgeom.core.types import Array, Int32, Int64
from wordgeom.runtime.jit import kernel


@kernel
def gather(
    indptr: Int64, indices: Int32, data: Array, first: int,
    place: Int64, owner: Int64, starts: Int64, begins: Int64, children: Int64, overlap: int,
    low: int, high: int, inner: bool, write: bool,
    cursor: Int64, rows: Int32, columns: Int32, values: Array,
) -> None:  # fmt: skip
    """Count, or write, the entries of blocks [low, high) among stored rows; cursor[p] advances.

    first: the first stored row; place (V): position of each word; owner (V): block of each
    position. The rest is as in plan.py. inner: include entries between a block's own words. Indices
    are local to the block: overlap first, then its own words; the row is never below the column.
    """
    for r in range(len(indptr) - 1):
        for e in range(indptr[r], indptr[r + 1]):
            one, other = place[first + r], place[indices[e]]
            early, late = min(one, other), max(one, other)
            p = owner[late]
            if low <= p < high:
                width = overlap if p > 0 else 0
                column = -1
                if owner[early] == p:
                    if inner:
                        column = width + early - starts[p]
                elif begins[p] <= early < begins[p] + overlap:
                    column = early - begins[p]
                if column >= 0:
                    if write:
                        rows[cursor[p]] = width + late - starts[p]
                        columns[cursor[p]] = column
                        values[cursor[p]] = data[e]
                    cursor[p] += 1
            end = starts[p + 1] - overlap  # where the overlap with later blocks begins
            if early >= end:
                for q in range(max(children[p, 0], low), min(children[p, 1], high)):
                    if write:
                        rows[cursor[q]] = late - end
                        columns[cursor[q]] = early - end
                        values[cursor[q]] = data[e]
                    cursor[q] += 1


@kernel
def count_first(indptr: Int64, indices: Int32, first: int, place: Int64, size: int) -> int:
    """Return the entries that stored rows give to the first `size` positions, both triangles."""
    entries = 0
    for r in range(len(indptr) - 1):
        one = place[first + r]
        if one < size:
            for e in range(indptr[r], indptr[r + 1]):
                other = place[indices[e]]
                if other < size:
                    entries += 1 if one == other else 2
    return entries
