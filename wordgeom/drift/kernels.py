"""Compiled loops over the entries of words."""

from __future__ import annotations

from wordgeom.core.types import Array, Float32, Float64, Int32, Int64
from wordgeom.runtime.jit import kernel


@kernel
def row_squares(indptr: Int64, data: Array, out: Float64) -> None:
    """Set out (p) to the sum of squares of each row."""
    for j in range(len(out)):
        total = 0.0
        for k in range(indptr[j], indptr[j + 1]):
            total += float(data[k]) ** 2
        out[j] = total


@kernel
def sum_by_time(
    indptr: Int64, indices: Int32, data: Array, Z: Float32, codes: Int32, out: Float32
) -> None:
    """Add x_ij z_i to out[time of i, j] (T × w × r+1) for w rows of Xᵀ."""
    for j in range(len(indptr) - 1):
        for k in range(indptr[j], indptr[j + 1]):
            value, z = data[k], Z[indices[k]]
            row = out[codes[indices[k]], j]
            for c in range(len(z)):
                row[c] += value * z[c]
