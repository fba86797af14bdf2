"""The Euclidean minimum spanning tree of points (Borůvka 1926).

Each component takes its shortest edge to another one, until one component is left. Edges are
ordered by distance, lower end, upper end, so that the tree is unique. The nearest neighbours
contain most edges. Where all neighbours of a point are in its own component, every other point is
farther than the last neighbour, and is searched for only if it could be nearer than the
component's best edge.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.linalg import exact_search_kernels
from wordgeom.linalg.exact_search import Searcher
from wordgeom.linalg.nearest_neighbours import Neighbours
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress

_SEARCHERS = 16  # points of a component that search, for an approximate tree


def spanning_tree(
    points: Float64, neighbours: Neighbours, pool: Pool, progress: Progress | None = None
) -> Int64:
    """Return the edges (n − 1 × 2), lower end first, in order of their ends.

    Exact if the neighbours are exact. Otherwise it is the tree of the neighbours' edges, whose
    components are joined by the shortest edges of up to 16 points of each.
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
        queries, waiting = _queries(neighbours, labels, places, best)
        if len(queries):
            bounds = np.nextafter(best[labels[queries]], np.inf)  # ties count too
            found, squared = searcher.nearest(
                1, queries=queries, labels=labels, bounds=bounds, progress=progress, what="tree"
            )
            exact_search_kernels.offer_all(labels, queries, found, squared, best, edges)
        best[waiting] = np.inf
        tree = _unique(np.concatenate((tree, edges[np.isfinite(best)])), n)
        count, labels = _components(tree, n)
    return tree


def _queries(
    neighbours: Neighbours, labels: Int64, places: Int64, best: Float64
) -> tuple[Int64, Int64]:
    """Return the points that must search, by component, and the component that waits (0 or 1).

    The component with the most such points skips the round: the edges of the others reach it.
    """
    done = places == neighbours.indices.shape[1]
    if neighbours.exact:
        points = np.flatnonzero(done & (neighbours.squared[:, -1] <= best[labels]))
    else:
        points = _sample(np.flatnonzero(done & np.isinf(best[labels])), labels)
    if not len(points):
        return points, points
    waiting = int(np.bincount(labels[points]).argmax())
    queries = points[labels[points] != waiting]
    return queries[np.argsort(labels[queries], kind="stable")], np.array([waiting])


def _sample(points: Int64, labels: Int64) -> Int64:
    """Return up to 16 of each component's points, evenly spaced."""
    order = points[np.argsort(labels[points], kind="stable")]
    _, starts, sizes = np.unique(labels[order], return_index=True, return_counts=True)
    rank = np.arange(len(order)) - np.repeat(starts, sizes)
    step = np.repeat(-(-sizes // _SEARCHERS), sizes)
    return np.asarray(order[rank % step == 0])


def _unique(edges: Int64, n: int) -> Int64:
    """Return the distinct edges, in order of their ends."""
    keys = np.unique(edges[:, 0] * n + edges[:, 1])
    return np.column_stack((keys // n, keys % n))


def _components(tree: Int64, n: int) -> tuple[int, Array]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(tree), np.int8)
    graph = coo_array((ones, (tree[:, 0], tree[:, 1])), shape=(n, n))
    count, labels = connected_components(graph, directed=False)
    return int(count), labels.astype(np.int64)
