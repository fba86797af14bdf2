"""The connected components of a graph of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordgeom.core.types import Int64
from wordgeom.methods.mde.pairs import Pairs


def component_of(pairs: Pairs, n: int) -> Int64:
    """Return the component (n) of each item: 0 is the largest, ties by first item."""
    from scipy.sparse.csgraph import connected_components

    _, labels = connected_components(adjacency(pairs, n), directed=False)
    order = np.argsort(-np.bincount(labels), kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return np.asarray(places[labels])


def adjacency(pairs: Pairs, n: int) -> Any:
    """Return the pairs as a sparse array of SciPy (n × n), with what is given about them.

    An explicit 0 is an edge of length 0.
    """
    import scipy.sparse

    parts = (pairs.given.astype(np.float64), (pairs.left, pairs.right))
    return scipy.sparse.coo_array(parts, shape=(n, n)).tocsr()
