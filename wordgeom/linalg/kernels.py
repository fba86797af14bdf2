"""Kernels of linear algebra."""

from __future__ import annotations

from wordgeom.core.types import Array, Float64, Int32, Int64
from wordgeom.runtime.jit import kernel, summing_kernel

_PIECE = 8192  # columns of long rows whose products with several rows stay in a core's cache


@kernel
def split_rows(indptr: Int64, indices: Int32, edges: Int64, splits: Int64) -> None:
    """Set splits[t, r] to the index of row r's first entry in a column ≥ edges[t]."""
    for r in range(len(indptr) - 1):
        k = indptr[r]
        for t in range(len(edges)):
            while k < indptr[r + 1] and indices[k] < edges[t]:
                k += 1
            splits[t, r] = k


@kernel
def multiply_rows(
    splits: Int64, indices: Int32, data: Array, dense: Array, start: int, stop: int, out: Array
) -> None:
    """Set out[start:stop) to the rows of a sparse matrix (V × m) times dense (m × K).

    splits[t, r]: the first entry of row r in column tile t, from `split_rows`. Eight entries are
    added at a time, so that sums are loaded and stored an eighth as often.
    """
    width = dense.shape[1]
    for r in range(start, stop):
        for c in range(width):
            out[r, c] = 0
    for t in range(len(splits) - 1):
        for r in range(start, stop):
            row = out[r]
            k = splits[t, r]
            end = splits[t + 1, r]
            while k + 8 <= end:
                a0, a1, a2, a3 = data[k], data[k + 1], data[k + 2], data[k + 3]
                a4, a5, a6, a7 = data[k + 4], data[k + 5], data[k + 6], data[k + 7]
                x0, x1 = dense[indices[k]], dense[indices[k + 1]]
                x2, x3 = dense[indices[k + 2]], dense[indices[k + 3]]
                x4, x5 = dense[indices[k + 4]], dense[indices[k + 5]]
                x6, x7 = dense[indices[k + 6]], dense[indices[k + 7]]
                for c in range(width):
                    row[c] += ((a0 * x0[c] + a1 * x1[c]) + (a2 * x2[c] + a3 * x3[c])) + (
                        (a4 * x4[c] + a5 * x5[c]) + (a6 * x6[c] + a7 * x7[c])
                    )
                k += 8
            while k < end:
                value, line = data[k], dense[indices[k]]
                for c in range(width):
                    row[c] += value * line[c]
                k += 1


@kernel
def add_squares(indptr: Int64, indices: Int32, data: Array, rows: Array, columns: Array) -> None:
    """Add the sums of squared entries by row to rows (n), and by column to columns (m)."""
    for r in range(len(indptr) - 1):
        for k in range(indptr[r], indptr[r + 1]):
            square = float(data[k]) * float(data[k])
            rows[r] += square
            columns[indices[k]] += square


@summing_kernel
def multiply_long_rows(
    left: Array, right: tuple[Array, ...], start: int, stop: int, out: Float64
) -> None:
    """Set out (a × b) to left (a × N) times right (b rows of N), over the columns [start:stop).

    The sums of a piece have the dtype of the rows. Four rows are multiplied at a time, so that
    numbers of the right are loaded a quarter as often.
    """
    out[:] = 0.0
    zero = left.dtype.type(0)
    for first in range(start, stop, _PIECE):
        piece = slice(first, min(first + _PIECE, stop))
        for j in range(len(right)):
            other = right[j][piece]
            i = 0
            while i + 4 <= len(left):
                x0, x1 = left[i, piece], left[i + 1, piece]
                x2, x3 = left[i + 2, piece], left[i + 3, piece]
                s0, s1, s2, s3 = zero, zero, zero, zero
                for k in range(len(other)):
                    y = other[k]
                    s0 += x0[k] * y
                    s1 += x1[k] * y
                    s2 += x2[k] * y
                    s3 += x3[k] * y
                out[i, j] += s0
                out[i + 1, j] += s1
                out[i + 2, j] += s2
                out[i + 3, j] += s3
                i += 4
            while i < len(left):
                x0, s0 = left[i, piece], zero
                for k in range(len(other)):
                    s0 += x0[k] * other[k]
                out[i, j] += s0
                i += 1
