"""Kernels of minimum-distortion embedding: pairs by item, their distances, and the gradient."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Int32, Int64
from wordgeom.runtime.jit import kernel, summing_kernel
from wordgeom.runtime.prefetch_kernels import LINE, prefetch

NARROW = 8  # columns up to which all vectors are likely to be in a cache
_AHEAD = 8  # entries; to prefetch their vectors takes a third off the time of wide ones


@kernel
def set_entries(ends: Int32, opposite: Int32, places: Int64, others: Int32, numbers: Int32) -> None:
    """Set the entries of each item: the other item of each pair, and the number of the pair.

    ends, opposite (p): the item whose entry a pair is, and the other one; places (n): the next
    entry of each item; overwritten.
    """
    for k in range(len(ends)):
        entry = places[ends[k]]
        others[entry], numbers[entry] = opposite[k], k
        places[ends[k]] = entry + 1


@kernel
def prefetch_four(vectors: Array, rows: Int32, first: int) -> None:
    """Prefetch the vectors of four rows, rows[first:first + 4]."""
    width, step = vectors.shape[1], LINE // vectors.itemsize
    for k in range(first, first + 4):
        start = np.int64(rows[k]) * width
        for c in range(0, width, step):
            prefetch(vectors, start + c)


@summing_kernel
def set_distances(
    indptr: Int64, others: Int32, vectors: Array, first: int, last: int, out: Array
) -> None:
    """Set out[k] to the distance of row i to row others[k], for the entries k of rows i.

    Differences are squared, not inner products subtracted: near pairs keep their digits. Four rows
    are read at a time, since one row alone is waited for.
    """
    width, zero = vectors.shape[1], out.dtype.type(0)
    stop = indptr[last] if width > NARROW else 0
    for i in range(first, last):
        here = vectors[i]
        k, end = indptr[i], indptr[i + 1]
        while k + 4 <= end:
            if k + _AHEAD + 4 <= stop:
                prefetch_four(vectors, others, k + _AHEAD)
            x0, x1 = vectors[others[k]], vectors[others[k + 1]]
            x2, x3 = vectors[others[k + 2]], vectors[others[k + 3]]
            s0, s1, s2, s3 = zero, zero, zero, zero
            for c in range(width):
                x = here[c]
                s0 += (x - x0[c]) * (x - x0[c])
                s1 += (x - x1[c]) * (x - x1[c])
                s2 += (x - x2[c]) * (x - x2[c])
                s3 += (x - x3[c]) * (x - x3[c])
            out[k], out[k + 1] = np.sqrt(s0), np.sqrt(s1)
            out[k + 2], out[k + 3] = np.sqrt(s2), np.sqrt(s3)
            k += 4
        while k < end:
            x0 = vectors[others[k]]
            s0 = zero
            for c in range(width):
                s0 += (here[c] - x0[c]) * (here[c] - x0[c])
            out[k] = np.sqrt(s0)
            k += 1


@summing_kernel
def add_pulls(
    indptr: Int64, others: Int32, slopes: Array, vectors: Array, first: int, last: int, out: Array
) -> None:
    """Add Σ_k slopes[k] (x_i − x_others[k]) to out[i], for rows i; no other row is written.

    slopes: those of the entries of rows [first:last) alone. Four entries are added at a time, so
    that the sums are loaded and stored a quarter as often.
    """
    width, start, stop = vectors.shape[1], indptr[first], indptr[last]
    for i in range(first, last):
        here, row = vectors[i], out[i]
        k, end = indptr[i], indptr[i + 1]
        while k + 4 <= end:
            if k + _AHEAD + 4 <= stop:
                prefetch_four(vectors, others, k + _AHEAD)
            at = k - start
            a0, a1, a2, a3 = slopes[at], slopes[at + 1], slopes[at + 2], slopes[at + 3]
            x0, x1 = vectors[others[k]], vectors[others[k + 1]]
            x2, x3 = vectors[others[k + 2]], vectors[others[k + 3]]
            for c in range(width):
                x = here[c]
                row[c] += (a0 * (x - x0[c]) + a1 * (x - x1[c])) + (
                    a2 * (x - x2[c]) + a3 * (x - x3[c])
                )
            k += 4
        while k < end:
            a0, x0 = slopes[k - start], vectors[others[k]]
            for c in range(width):
                row[c] += a0 * (here[c] - x0[c])
            k += 1


@summing_kernel
def add_gradient(
    indptr: Int64, others: Int32, slopes: Array, vectors: Array, first: int, last: int, out: Array
) -> None:
    """Add slopes[k] (x_i − x_j) to out[i], and subtract it from out[j], for the pairs k of rows i.

    Slopes are read in their order; out (n × m) belongs to the caller alone, and should fit a cache.
    """
    width = vectors.shape[1]
    for i in range(first, last):
        here, row = vectors[i], out[i]
        for k in range(indptr[i], indptr[i + 1]):
            j = others[k]
            there, other = vectors[j], out[j]
            slope = slopes[k]
            for c in range(width):
                pull = slope * (here[c] - there[c])
                row[c] += pull
                other[c] -= pull
