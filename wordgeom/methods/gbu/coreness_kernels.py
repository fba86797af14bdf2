"""k-core decomposition in linear time (Batagelj and Zaveršnik 2003)."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Int32, Int64
from wordgeom.runtime.jit import kernel


@kernel
def core_numbers(indptr: Int64, indices: Int32, core: Int64) -> None:
    """Write the core number of each vertex to core (V): the largest k with it in a k-core.

    The graph is symmetric; self-loops are ignored. Vertices are sorted into bins by degree. The
    first is removed repeatedly, and each neighbour of higher degree moves down one bin.
    """
    V = len(core)
    for i in range(V):
        core[i] = 0
        for e in range(indptr[i], indptr[i + 1]):
            if indices[e] != i:
                core[i] += 1
    begin = np.zeros(V + 1, np.int64)  # start of each degree's bin
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
