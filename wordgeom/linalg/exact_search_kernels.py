"""Kernels of exact search: float32 distances select the pairs whose float64 distance is needed."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float32, Float64, Int32, Int64
from wordgeom.runtime.jit import kernel

_GROUP = 128  # products tested at once; only a group with a candidate is scanned one by one


@kernel
def squared_distance(points: Float64, i: int, j: int) -> float:
    """Return ‖x_i − x_j‖², summed in the same order for (i, j) and (j, i)."""
    d = points.shape[1]
    a = b = c = e = 0.0
    k = 0
    while k + 4 <= d:  # four sums: a single one would wait for each addition
        p, q = points[i, k] - points[j, k], points[i, k + 1] - points[j, k + 1]
        r, s = points[i, k + 2] - points[j, k + 2], points[i, k + 3] - points[j, k + 3]
        a += p * p
        b += q * q
        c += r * r
        e += s * s
        k += 4
    while k < d:
        p = points[i, k] - points[j, k]
        a += p * p
        k += 1
    return (a + b) + (c + e)


@kernel
def keep_nearest(
    products: Float32,
    query_norms: Float32,
    target_norms: Float32,
    scale: float,
    points: Float64,
    queries: Int64,
    targets: Int64,
    labels: Int64,
    rows: Int64,
    found: Int32,
    squared: Float64,
) -> None:
    """Insert the nearer targets of a block into rows (Q) of found and squared (· × k).

    products (Q × T): −2 zᵢᵀzⱼ; norms: ‖z‖², reduced by the rounding of a product, so that norms
    plus product are at most scale ‖xᵢ − xⱼ‖². A target that ties with the farthest neighbour comes
    after it, and is not inserted.
    """
    k = found.shape[1]
    for r in range(len(queries)):
        own, far = found[rows[r]], squared[rows[r]]
        worst = far[k - 1]
        if worst == 0.0:
            continue
        i = queries[r]
        limit = np.float32(_above(worst * scale) - query_norms[r])
        for start in range(0, len(targets), _GROUP):
            # Slices, indexed from 0, let the compiler vectorise the test.
            row, norms = products[r, start : start + _GROUP], target_norms[start : start + _GROUP]
            hits = 0
            for t in range(len(row)):
                hits += norms[t] + row[t] < limit
            if hits:
                for t in range(len(row)):
                    if norms[t] + row[t] < limit:
                        j = targets[start + t]
                        if labels[i] != labels[j]:
                            distance = squared_distance(points, i, j)
                            if distance < worst:
                                _insert(own, far, j, distance)
                                worst = far[k - 1]
                                limit = np.float32(_above(worst * scale) - query_norms[r])


@kernel
def _above(value: float) -> float:
    """Return slightly more than `value`: float32 may have rounded the smaller sums up."""
    return value * (1.0 + 1e-6) + 1e-37


@kernel
def _insert(found: Int32, squared: Float64, index: int, distance: float) -> None:
    place = len(found) - 1
    while place > 0 and squared[place - 1] > distance:
        squared[place], found[place] = squared[place - 1], found[place - 1]
        place -= 1
    squared[place], found[place] = distance, index


@kernel
def order_candidates(
    points: Float64, rows: Int64, candidates: Int64, found: Int32, squared: Float64
) -> None:
    """Insert the nearest of candidates (Q × c) into rows (Q) of found and squared (n × k).

    Candidates ascend in each row; −1: none.
    """
    k = found.shape[1]
    for q in range(len(candidates)):
        i = rows[q]
        for j in candidates[q]:
            if j >= 0 and j != i:
                distance = squared_distance(points, i, j)
                if distance < squared[i, k - 1]:
                    _insert(found[i], squared[i], j, distance)


@kernel
def _offer(best: Float64, edges: Int64, label: int, distance: float, low: int, high: int) -> None:
    """Make (low, high) the edge of a component if it is first by distance, low, high."""
    if distance > best[label]:
        return
    after = low > edges[label, 0] or (low == edges[label, 0] and high >= edges[label, 1])
    if distance == best[label] and after:
        return
    best[label] = distance
    edges[label, 0], edges[label, 1] = low, high


@kernel
def _offer_both(
    labels: Int64, best: Float64, edges: Int64, distance: float, i: int, j: int
) -> None:
    _offer(best, edges, labels[i], distance, min(i, j), max(i, j))
    _offer(best, edges, labels[j], distance, min(i, j), max(i, j))


@kernel
def cheapest_edges(
    labels: Int64,
    found: Int32,
    squared: Float64,
    places: Int64,
    best: Float64,
    edges: Int64,
) -> None:
    """Find the shortest edge of each component to another one, among the points' neighbours.

    Every edge is offered to both its components: they choose from one set of edges, and so their
    choices close no cycle. found, squared (n × k): ascending neighbours; places (n): the position
    of each point's first neighbour outside its component, advanced; best (components), edges
    (components × 2): receive the result.
    """
    k = found.shape[1]
    for i in range(len(labels)):
        own = labels[i]
        place = places[i]
        while place < k and (found[i, place] < 0 or labels[found[i, place]] == own):
            place += 1
        places[i] = place
        if place < k:
            _offer_both(labels, best, edges, squared[i, place], i, found[i, place])


@kernel
def offer_all(
    labels: Int64, queries: Int64, found: Int32, squared: Float64, best: Float64, edges: Int64
) -> None:
    """Offer the edge from each query to its nearest point outside its component."""
    for q in range(len(queries)):
        if found[q, 0] >= 0:
            _offer_both(labels, best, edges, squared[q, 0], queries[q], found[q, 0])
