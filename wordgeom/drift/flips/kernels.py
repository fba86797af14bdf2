"""Compiled loops over the passages of words."""

from __future__ import annotations

from wordgeom.core.types import Array, Float64, Int32, Int64
from wordgeom.runtime.jit import kernel


@kernel
def word_moments(
    indptr: Int64, indices: Int32, data: Array, lengths: Float64, weights: Float64, own: Float64,
    Z: Array, cells: Int64, times: Int64, G: Float64, owned: Float64, mass: Float64,
) -> None:  # fmt: skip
    """Add x_ij/N_i times Z_i to G (w × c × r), for w words (rows of Xᵀ).

    owned (w × c): the same times own_i; mass (w × T): times the weights, by time.
    """
    for j in range(len(indptr) - 1):
        for k in range(indptr[j], indptr[j + 1]):
            i = indices[k]
            cell = cells[i]
            value = data[k] / lengths[i]
            owned[j, cell] += value * own[i]
            mass[j, times[cell]] += value * weights[i]
            for a in range(G.shape[2]):
                G[j, cell, a] += value * Z[i, a]
