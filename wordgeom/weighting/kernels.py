"""The loop over counts that takes logarithms, clips and leaves out what was clipped away."""

from __future__ import annotations

import math

import numpy as np

from wordgeom._jit import kernel
from wordgeom.types import Array, Float32, Float64, Int32, Int64


@kernel
def weigh_rows(
    indptr: Int64, indices: Int32, counts: Array, first: int, rows: Float64, columns: Float64,
    shift: float, clip: bool, both: bool, out_indptr: Int64, out_indices: Int32, out: Float32,
) -> int:  # fmt: skip
    """Write the weighted entries of rows `first`, `first` + 1, … of counts.

    rows, columns (V) float64: 1 / C_i· and 1 / p_j, so that the value of an entry is
    log(C_ij rows_i columns_j) − shift. clip: keep what is positive. both: the mean of the values
    for (i, j) and (j, i), each clipped first.
    """
    kept = 0
    out_indptr[0] = 0
    for r in range(len(indptr) - 1):
        i = first + r
        for k in range(indptr[r], indptr[r + 1]):
            j = indices[k]
            count = np.float64(counts[k])
            if count <= 0.0:
                continue
            value = math.log(count * rows[i] * columns[j]) - shift
            if clip:
                value = max(value, 0.0)
            if both:
                mirrored = math.log(count * rows[j] * columns[i]) - shift
                if clip:
                    mirrored = max(mirrored, 0.0)
                value = (value + mirrored) / 2.0
            if clip and value <= 0.0:
                continue
            out_indices[kept] = j
            out[kept] = value
            kept += 1
        out_indptr[r + 1] = kept
    return kept
