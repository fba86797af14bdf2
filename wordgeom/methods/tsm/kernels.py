"""Kernels of the update of Z, on tiles of its upper triangle."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float32, Float64, Int32, Int64
from wordgeom.runtime.jit import kernel, summing_kernel


@summing_kernel
def project_tile(
    L: Float32,
    older: Float32,
    newer: Float32,
    stride: int,
    first: int,
    momentum: float,
    shift: float,
    sums: Float64,
) -> None:
    """Replace a tile of `older`, Z_{t−1}, by min(0, L) + shift + momentum (Z_t − Z_{t−1}).

    L (r × c); older, newer: flat arrays in which row k of the tile begins at first + k stride;
    sums (2): increased by Σ max(0, L)² and Σ min(0, L).
    """
    rows, width = L.shape
    weight, addend, zero = np.float32(momentum), np.float32(shift), np.float32(0.0)
    for r in range(rows):
        begin = first + r * stride
        low = L[r]
        past, now = older[begin : begin + width], newer[begin : begin + width]
        squares, total = zero, zero
        for c in range(width):
            below = min(low[c], zero)
            above = low[c] - below
            squares += above * above
            total += below
            past[c] = below + addend + weight * (now[c] - past[c])
        sums[0] += squares
        sums[1] += total


@summing_kernel
def extrapolate_tile(
    L: Float32, past: Float32, momentum: float, shift: float, sums: Float64
) -> None:
    """Replace a tile of L_{t−1} by min(0, L + momentum (L − L_{t−1})) + shift.

    L, past (r × c); sums (2): increased by Σ max(0, L)² and Σ min(0, L).
    """
    weight, addend, zero = np.float32(momentum), np.float32(shift), np.float32(0.0)
    for r in range(len(L)):
        low, tile = L[r], past[r]
        squares, total = zero, zero
        for c in range(len(low)):
            below = min(low[c], zero)
            above = low[c] - below
            squares += above * above
            total += below
            tile[c] = min(low[c] + weight * (low[c] - tile[c]), zero) + addend
        sums[0] += squares
        sums[1] += total


@kernel
def place_similar(
    indptr: Int64,
    indices: Int32,
    data: Float32,
    cursor: Int64,
    L: Float32,
    column: int,
    out: Float32,
    stride: int,
    first: int,
    sums: Float64,
) -> None:
    """Write the entries of S into a tile of Z, and correct the sums of `project_tile` for them.

    indptr, indices, data: the rows of S; cursor (r): each row's next entry, advanced past the tile;
    L (r × c): the tile's L, whose first column is `column`; sums (2): become Σ (Z − L)² and Σ Z of
    the update without momentum or shift.
    """
    rows, width = L.shape
    for r in range(rows):
        k, begin = cursor[r], first + r * stride
        while k < indptr[r + 1] and indices[k] < column + width:
            c = indices[k] - column
            below = min(L[r, c], np.float32(0.0))
            above = L[r, c] - below
            apart = data[k] - L[r, c]
            sums[0] += float(apart) * apart - float(above) * above
            sums[1] += float(data[k]) - below
            out[begin + c] = data[k]
            k += 1
        cursor[r] = k


@kernel
def restore_similar(
    indptr: Int64, indices: Int32, data: Float32, column: int, out: Float32, stride: int
) -> None:
    """Write the entries of S into a whole panel, flat, whose first column is `column`."""
    for r in range(len(indptr) - 1):
        for k in range(indptr[r], indptr[r + 1]):
            out[r * stride + indices[k] - column] = data[k]
