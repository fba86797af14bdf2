"""The loops of a k-core decomposition in linear time (Batagelj and Zaveršnik 2003)."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Int32, Int64
from wordgeom.runtime.jit import kernel


@kernel
def core_numbers(indptr: Int64, indices: Int32, core: Int64) -> None:
    """Put into core (V) the largest k for which a vertex is in a subgraph of degrees ≥ k.

    The graph is symmetric; a vertex's edge to itself is left out. Vertices stand in an array by
    degree; the first is taken, and each neighbour of higher degree moves one bin down.
    """
    V = len(core)
    for i in range(V):
        core[i] = 0
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] != i:
                core[i] += 1
    begin = np.zeros(V + 1, np.int64)  # where the vertices of each degree begin
    for i in range(V):
        begin[core[i] + 1 if core[i] < V else V] += 1
    for d in range(V):
        begin[d + 1] += begin[d]
    order, place, free = np.empty(V, np.int64), np.empty(V, np.int64), begin.copy()
    for i in range(V):
        place[i] = free[core[i]]
        order[place[i]] = i
        free[core[i]] += 1
    for at in range(V):
        i = order[at]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if core[j] > core[i]:
                first = begin[core[j]]
                other = order[first]
                if other != j:
                    order[first], order[place[j]] = j, other
                    place[other], place[j] = place[j], first
                begin[core[j]] += 1
                core[j] -= 1
