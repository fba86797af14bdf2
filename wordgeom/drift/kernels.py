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


@kernel
def add_contexts(
    words: Int64, indptr: Int64, rows: Int32, counts: Float32, chosen: Array, places: Int64,
    c_indptr: Int64, c_indices: Int32, c_counts: Float32, out: Float64,
) -> None:  # fmt: skip
    """Add the co-occurrences of words (w) with M contexts to out (w × M).

    indptr, rows, counts: the passages of every word; chosen (n): passages that count; places (V):
    of words among the contexts, or −1; c_…: passages reduced to contexts (n × M).
    """
    for k in range(len(words)):
        w = words[k]
        for i in range(indptr[w], indptr[w + 1]):
            if chosen[rows[i]]:
                x, r = float(counts[i]), rows[i]
                for e in range(c_indptr[r], c_indptr[r + 1]):
                    out[k, c_indices[e]] += x * float(c_counts[e])
                if places[w] >= 0:  # a token does not co-occur with itself
                    out[k, places[w]] -= x
