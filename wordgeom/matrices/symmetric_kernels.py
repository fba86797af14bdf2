"""Kernels that expand an upper triangle to the full symmetric matrix."""

from __future__ import annotations

from wordgeom.core.types import Array, Int32, Int64
from wordgeom.runtime.jit import kernel


@kernel
def count_expanded(indptr: Int64, indices: Int32, first: int, lengths: Int64) -> None:
    """Add to lengths[i] the entries of full row i that the stored rows `first`, … stand for."""
    for r in range(len(indptr) - 1):
        lengths[first + r] += indptr[r + 1] - indptr[r]
        for k in range(indptr[r], indptr[r + 1]):
            if indices[k] != first + r:
                lengths[indices[k]] += 1


@kernel
def expand(
    indptr: Int64, indices: Int32, data: Array, first: int, low: int, high: int,
    cursor: Int64, out_indices: Int32, out: Array,
) -> None:  # fmt: skip
    """Append the entries of the stored rows `first`, … to the rows [low, high) of the full matrix.

    cursor (V): the next free entry of each row. With blocks in order, the columns of a row ascend:
    the entries mirrored from earlier rows come before those of the row itself.
    """
    for r in range(len(indptr) - 1):
        i = first + r
        if i >= high:
            break
        begin, end = indptr[r], indptr[r + 1]
        if i >= low:
            at = cursor[i]
            for k in range(begin, end):
                out_indices[at] = indices[k]
                out[at] = data[k]
                at += 1
            cursor[i] = at
        least = max(low, i + 1)
        left, right = begin, end
        while left < right:  # the first entry in a column ≥ least
            middle = (left + right) // 2
            if indices[middle] < least:
                left = middle + 1
            else:
                right = middle
        while left < end and indices[left] < high:
            j = indices[left]
            out_indices[cursor[j]] = i
            out[cursor[j]] = data[left]
            cursor[j] += 1
            left += 1
