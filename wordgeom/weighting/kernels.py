"""The loop over counts that takes logarithms, clips and leaves out what was clipped away."""

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
    """Write the weighted entries of rows `first`, `first` + 1, … of counts.

    rows, columns (V) float64: 1 / C_i· and 1 / p_j, so that the value of an entry is
    log(C_ij rows_i columns_j) − shift. clip: what is negative becomes 0; drop: and is left out.
    both: the mean of the values for (i, j) and (j, i), each clipped first. total: S, where values
    are divided by −log(C_ij / S); 0 where they are not.
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
    """Return value / −log(share); of a pair that is all there is, the limit."""
    if share < 1.0:
        return -value / math.log(share)
    return 1.0 if shift == 0.0 else 0.0
