"""Kernels of the joins of vectors by their cosines: histogram, count and collect."""

from __future__ import annotations

from wordgeom.core.types import Float32, Int32, Int64
from wordgeom.runtime.jit import kernel

_GROUP = 128  # products tested at once; only a group with a hit is scanned one by one


@kernel
def count_bins(products: Float32, counts: Int64) -> None:
    """Count the products (r × c) of columns > row in equal bins of [−1, 1]."""
    bins = len(counts)
    for r in range(len(products)):
        row = products[r]
        for c in range(r + 1, len(row)):
            place = int((row[c] + 1.0) * (bins / 2.0))
            counts[min(max(place, 0), bins - 1)] += 1


@kernel
def count_above(products: Float32, threshold: float, counts: Int64) -> None:
    """Set counts (r) to the number of products (r × c) above the threshold, by row."""
    for r in range(len(products)):
        row = products[r]
        hits = 0
        for c in range(len(row)):
            hits += row[c] > threshold
        counts[r] = hits


@kernel
def collect_above(
    products: Float32, threshold: float, first: int, ends: Int64, indices: Int32, data: Float32
) -> None:
    """Write the products (r × c) above the threshold, row r up to ends[r]; columns from `first`."""
    for r in range(len(products)):
        k = ends[r - 1] if r else 0
        for start in range(0, products.shape[1], _GROUP):
            row = products[r, start : start + _GROUP]
            hits = 0
            for c in range(len(row)):
                hits += row[c] > threshold
            if hits:
                for c in range(len(row)):
                    if row[c] > threshold:
                        indices[k] = first + start + c
                        data[k] = row[c]
                        k += 1
