"""The kernel that turns counts into PMI, clips it and drops clipped entries."""

from __future__ import annotations

import math

import numpy as np

from wordgeom.core.types import Array, Float32, Float64, Int32, Int64
from wordgeom.runtime.jit import kernel


@kernel
def weight_rows(
    indptr: Int64, indices: Int32, counts: Array, first: int, rows: Float64, columns: Float64,
    shift: float, clip: bool, both: bool, out_indptr: Int64, out_indices: Int32, out: Float32,
    total: float = 0.0, drop: bool = True,
) -> int:  # fmt: skip
    """Write the weighted entries of the rows `first`, `first` + 1, … and return their number.

    rows, columns (V) float64: 1 / C_i· and 1 / p_j; an entry has the value
    log(C_ij rows_i columns_j) − shift. clip: raise negative values to 0; drop: drop them then;
    both: average the values of (i, j) and (j, i), each clipped first; total: S, to divide by
    −log(C_ij / S), or 0.
    """
    kept = 0
    out_indptr[0] = 0
    for r in range(len(indptr) - 1):
        i = first + r
        for k in range(indptr[r], indptr[r + 1]):
            j = indices[k]
            count = np.float64(counts[k])
            if count > 0.0:
                value = _information(count * rows[i] * columns[j], shift, clip)
                if both:
                    mirrored = _information(count * rows[j] * columns[i], shift, clip)
                    value = (value + mirrored) / 2.0
                if total > 0.0:
                    value = _normalised(value, count / total, shift)
            elif drop:
                continue
            else:
                value = 0.0
            if clip and drop and value <= 0.0:
                continue
            out_indices[kept] = j
            out[kept] = value
            kept += 1
        out_indptr[r + 1] = kept
    return kept


@kernel
def _information(ratio: float, shift: float, clip: bool) -> float:
    value = math.log(ratio) - shift
    return max(value, 0.0) if clip else value


@kernel
def _normalised(value: float, share: float, shift: float) -> float:
    """Return value / −log(share), the limit for a pair that has all counts."""
    if share < 1.0:
        return -value / math.log(share)
    return 1.0 if shift == 0.0 else 0.0
