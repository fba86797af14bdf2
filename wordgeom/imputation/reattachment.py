"""Unknown entities that zero weights cut off from every anchor, joined again by the tree's edges.

Yao et al. (2019, Theorem 4.1) take weights to be above 0 wherever the graph has an edge; least
squares give most edges 0. An unknown that no chain of weights leads to an anchor from has no
vector: I − W_qq is singular. With weights on its tree's edges it has one, for the tree joins all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.types import Array, Csr, Int64
from wordgeom.imputation.graph import Graph

TREE_WEIGHT = 1e-3  # the least weight of a tree's edge, before the row is normalised again
_NONE = 1e-9  # a weight as small as this leads nowhere: what it lets in is lost in rounding


def reattach(
    weights: Csr, graph: Graph, rows: Int64, known: NDArray[np.bool_]
) -> tuple[Csr, Int64]:
    """Return weights by which all unknowns reach an anchor, and the entities whose rows changed.

    weights (q × n) of the unknown entities `rows`, ascending, in the graph's pattern, as
    `fit_weights` returns them; known (n), at least one of them true.
    """
    lost = ~_reached(weights, rows, known)
    if not lost.any():
        return weights, np.empty(0, np.int64)
    degrees = np.diff(weights.indptr)
    entry_rows = np.repeat(np.arange(weights.rows), degrees)
    shift = np.repeat(graph.indptr[rows] - weights.indptr[:-1], degrees)
    tree = graph.tree[np.arange(weights.nnz) + shift] != 0
    raised = lost[entry_rows] & tree
    data = np.where(raised, np.maximum(weights.data, TREE_WEIGHT), weights.data)
    sums = np.bincount(entry_rows, data, minlength=weights.rows)
    data[lost[entry_rows]] /= sums[entry_rows[lost[entry_rows]]]
    return Csr(weights.indptr, weights.indices, data, weights.columns), rows[lost]


def _reached(weights: Csr, rows: Int64, known: NDArray[np.bool_]) -> Array:
    """(q) Tell from which unknowns a way along weights leads to an anchor, searching from there."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order

    n = weights.columns
    kept = weights.data > _NONE
    readers = np.repeat(rows, np.diff(weights.indptr))[kept]
    # All anchors are one vertex, n: whoever reads any of them is a step away from it.
    read = np.where(known[weights.indices], n, weights.indices)[kept]
    edges = csr_matrix((np.ones(len(read), np.int8), (read, readers)), (n + 1, n + 1))
    found = breadth_first_order(edges, n, return_predecessors=False)
    reached = np.zeros(n + 1, bool)
    reached[found] = True
    return np.asarray(reached[rows])
