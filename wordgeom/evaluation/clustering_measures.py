"""Agreement of clusters with classes: purity and the adjusted Rand index."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Int64


def purity(clusters: Array, classes: Array) -> float:
    """Return the share of items (n) that belong to the most common class of their cluster.

    Increases with the number of clusters (Manning, Raghavan and Schütze 2008, §16.3); nan if n = 0.
    """
    if not len(clusters):
        return np.nan
    pairs, sizes = _table(clusters, classes)
    order = np.argsort(pairs[:, 0], kind="stable")
    starts = np.flatnonzero(np.diff(pairs[order, 0], prepend=-1))
    return float(np.maximum.reduceat(sizes[order], starts).sum() / len(clusters))


def adjusted_rand(clusters: Array, classes: Array) -> float:
    """Return the adjusted Rand index: 0 expected by chance, 1 if clusters equal classes.

    (Σ C(n_ij, 2) − E) / (M − E), where E is the product of both margins' sums over C(n, 2) and M
    their mean (Hubert and Arabie 1985, eq. 5). 1 if both partitions are trivial; nan if n < 2.
    """
    n = len(clusters)
    if n < 2:
        return np.nan
    joint, rows, columns = (
        _pairs(sizes)
        for sizes in (_table(clusters, classes)[1], _counts(clusters), _counts(classes))
    )
    expected, most = rows * columns / (n * (n - 1) / 2), (rows + columns) / 2
    return 1.0 if most == expected else (joint - expected) / (most - expected)


def _pairs(sizes: Int64) -> float:
    return float(np.sum(sizes * (sizes - 1)) / 2)


def _counts(labels: Array) -> Int64:
    return np.unique(labels, return_counts=True)[1]


def _table(clusters: Array, classes: Array) -> tuple[Int64, Int64]:
    """Return the distinct pairs of cluster and class (m × 2) and their sizes (m)."""
    pairs, sizes = np.unique(np.column_stack([clusters, classes]), axis=0, return_counts=True)
    return pairs, sizes
