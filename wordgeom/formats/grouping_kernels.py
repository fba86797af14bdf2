"""Kernels over unordered entries of a sparse matrix: group by row, test symmetry."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.types import Array, Int32, Int64
from wordgeom.runtime.jit import kernel


@kernel
def group_rows(
    rows: Int32, columns: Int32, values: Array, lengths: Int64, cursors: Int64,
    to_columns: Int32, to_values: Array,
) -> None:  # fmt: skip
    """Write columns and values row by row (counting sort); set lengths (V) to entries per row."""
    lengths[:] = 0
    for k in range(len(rows)):
        lengths[rows[k]] += 1
    at = 0
    for row in range(len(lengths)):
        cursors[row] = at
        at += lengths[row]
    for k in range(len(rows)):
        at = cursors[rows[k]]
        to_columns[at] = columns[k]
        to_values[at] = values[k]
        cursors[rows[k]] = at + 1


@kernel
def asymmetry(
    rows: Int64, columns: Int64, units: Int64, x: NDArray[np.uint64], y: NDArray[np.uint64]
) -> Any:
    """Return xᵀCy − yᵀCx modulo 2^64, for integer entries of C."""
    total = np.uint64(0)
    for k in range(len(rows)):
        row, column = rows[k], columns[k]
        total += np.uint64(units[k]) * (x[row] * y[column] - x[column] * y[row])
    return total
