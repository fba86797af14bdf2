"""The minimum spanning tree of points under Euclidean distance (Borůvka 1926).

Each component takes its cheapest edge to another one, until one is left. Edges are ordered by
distance, lower end, upper end, so that the tree is unique. Lists of nearest neighbours hold most of
the edges. Where a point's list lies wholly inside its component, all that is outside is farther
than the list's last: only if that could be cheaper than what its component has is it searched for.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.linalg import exact_search_kernels
from wordgeom.linalg.exact_search import Searcher
from wordgeom.linalg.nearest_neighbours import Neighbours
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress

_SPOKESMEN = 16  # points of a component that search, where the tree need not be the least


def spanning_tree(
    points: Float64, neighbours: Neighbours, pool: Pool, progress: Progress | None = None
) -> Int64:
    """Return the edges (n − 1 × 2), lower end first, in order of their ends.

    Exact where the neighbours are; else the tree of their lists' edges, whose components are then
    joined where up to 16 points of each are nearest to others.
    """
    n = len(points)
    searcher = Searcher(points, pool)
    labels, places = np.arange(n), np.zeros(n, np.int64)
    tree = np.empty((0, 2), np.int64)
    count = n
    while count > 1:
        best, edges = np.full(count, np.inf), np.full((count, 2), n, np.int64)
        exact_search_kernels.cheapest_edges(
            labels, neighbours.indices, neighbours.squared, places, best, edges
        )
        queries, waiting = _unsure(neighbours, labels, places, best)
        if len(queries):
            bounds = np.nextafter(best[labels[queries]], np.inf)  # what is as cheap counts too
            found, squared = searcher.nearest(
                1, queries=queries, labels=labels, bounds=bounds, progress=progress, what="tree"
            )
            exact_search_kernels.offer_all(labels, queries, found, squared, best, edges)
        best[waiting] = np.inf
        tree = _unique(np.concatenate((tree, edges[np.isfinite(best)])), n)
        count, labels = _components(tree, n)
    return tree


def _unsure(
    neighbours: Neighbours, labels: Int64, places: Int64, best: Float64
) -> tuple[Int64, Int64]:
    """Return the points that must search for their component, by component, and who waits (0 or 1).

    One component, that of most such points, sits the round out: the others' edges reach it.
    """
    done = places == neighbours.indices.shape[1]
    if neighbours.exact:
        unsure = np.flatnonzero(done & (neighbours.squared[:, -1] <= best[labels]))
    else:
        unsure = _spokesmen(np.flatnonzero(done & np.isinf(best[labels])), labels)
    if not len(unsure):
        return unsure, unsure
    waiting = int(np.bincount(labels[unsure]).argmax())
    kept = unsure[labels[unsure] != waiting]
    return kept[np.argsort(labels[kept], kind="stable")], np.array([waiting])


def _spokesmen(points: Int64, labels: Int64) -> Int64:
    """Return up to 16 of each component's points, evenly spaced."""
    order = points[np.argsort(labels[points], kind="stable")]
    _, starts, sizes = np.unique(labels[order], return_index=True, return_counts=True)
    rank = np.arange(len(order)) - np.repeat(starts, sizes)
    step = np.repeat(-(-sizes // _SPOKESMEN), sizes)
    return np.asarray(order[rank % step == 0])


def _unique(edges: Int64, n: int) -> Int64:
    """Return each edge once, in order of their ends."""
    keys = np.unique(edges[:, 0] * n + edges[:, 1])
    return np.column_stack((keys // n, keys % n))


def _components(tree: Int64, n: int) -> tuple[int, Array]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(tree), np.int8)
    graph = coo_array((ones, (tree[:, 0], tree[:, 1])), shape=(n, n))
    count, labels = connected_components(graph, directed=False)
    return int(count), labels.astype(np.int64)
