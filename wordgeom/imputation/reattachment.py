"""Reattach unknown entities that zero weights cut off from every anchor.

Yao et al. (2019, Theorem 4.1) assume positive weights on all edges of the graph, but least squares
sets most to 0. If no chain of weights connects an unknown entity to an anchor, I − W_qq is
singular. Raising the weights of its tree edges connects it, because the tree spans all entities.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.types import Array, Csr, Int64
from wordgeom.imputation.graph import Graph

TREE_WEIGHT = 1e-3  # minimum weight of a tree edge before the row is normalised again
_NEGLIGIBLE = 1e-9  # smaller weights do not connect: their contribution is lost in rounding


def reattach(
    weights: Csr, graph: Graph, rows: Int64, known: NDArray[np.bool_]
) -> tuple[Csr, Int64]:
    """Return weights that connect all unknowns to an anchor, and the entities of changed rows.

    weights (q × n): from `fit_weights`, for the unknown entities `rows`, ascending; known (n): at
    least one is true.
    """
    lost = ~_reached(weights, rows, known)
    if not lost.any():
        return weights, np.empty(0, np.int64)
    entry_rows = weights.entry_rows
    changed = lost[entry_rows]
    raised = changed & (graph.rows(rows).data != 0)
    data = np.where(raised, np.maximum(weights.data, TREE_WEIGHT), weights.data)
    sums = np.bincount(entry_rows, data, minlength=weights.rows)
    data[changed] /= sums[entry_rows[changed]]
    return Csr(weights.indptr, weights.indices, data, weights.columns), rows[lost]


def _reached(weights: Csr, rows: Int64, known: NDArray[np.bool_]) -> Array:
    """Return which unknowns (q) are connected to an anchor, by breadth-first search from it."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order

    n = weights.columns
    used = weights.data > _NEGLIGIBLE
    targets = rows[weights.entry_rows[used]]
    # All anchors are merged into one vertex, n.
    sources = np.where(known[weights.indices], n, weights.indices)[used]
    edges = csr_matrix((np.ones(len(sources), np.int8), (sources, targets)), (n + 1, n + 1))
    found = breadth_first_order(edges, n, return_predecessors=False)
    reached = np.zeros(n + 1, bool)
    reached[found] = True
    return np.asarray(reached[rows])
