"""Monotone fits: the ascending or descending sequence nearest to given values."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64, Int64


def monotone_fit(
    values: Float64, groups: Int64, weights: Float64, *, ascending: bool = True
) -> Float64:
    """Return fitted values (n), one per group and monotone in its number, by weighted squares.

    values (n); groups (n) int64, from 0 without gaps: the ranks of what orders the values, equal
    for ties, which get one fitted value; weights (n) > 0. Pools adjacent violators (Kruskal 1964,
    secondary treatment of ties).
    """
    from sklearn.isotonic import isotonic_regression  # slow to import

    total = np.bincount(groups, weights)
    means = np.bincount(groups, weights * values) / total
    fitted = isotonic_regression(means, sample_weight=total, increasing=ascending)
    return np.asarray(fitted, np.float64)[groups]
