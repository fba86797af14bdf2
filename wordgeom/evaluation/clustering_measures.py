"""Agreement of clusters with classes: purity and the adjusted Rand index."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array


def purity(clusters: Array, classes: Array) -> float:
    """Return the share of items (n) that belong to the most common class of their cluster.

    Increases with the number of clusters (Manning, Raghavan and Schütze 2008, §16.3); nan if n = 0.
    """
    from sklearn.metrics.cluster import contingency_matrix

    if not len(clusters):
        return np.nan
    table = contingency_matrix(classes, clusters)  # classes × clusters
    return float(table.max(axis=0).sum() / len(clusters))


def adjusted_rand(clusters: Array, classes: Array) -> float:
    """Return the adjusted Rand index: 0 expected by chance, 1 if clusters equal classes.

    Hubert and Arabie (1985), eq. 5. 1 if both partitions are trivial; nan if n < 2.
    """
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(classes, clusters)) if len(clusters) >= 2 else np.nan
