"""Find the nearest anchor of each entity: in the graph if that suffices, else by search.

If the graph has approximate neighbours, the nearest anchor is approximate too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.imputation.graph import Graph
from wordgeom.linalg.nearest_neighbours import nearest_to
from wordgeom.runtime.pool import Pool

NO_ANCHOR = -1
_NUMBERS = 1 << 20  # differences per block


@dataclass(frozen=True, eq=False)
class NearestAnchors:
    """The nearest others of each of n entities.

    anchor (n): nearest anchor, or NO_ANCHOR; distance (n): to it, nan without one; neighbour (n):
    distance to the nearest entity, 0 without a graph.
    """

    anchor: Int64
    distance: Float64
    neighbour: Float64


def nearest_anchors(
    points: Float64, known: Array, graph: Graph | None, order: Int64, pool: Pool
) -> NearestAnchors:
    """Return the nearest anchor of each of the points (n × d); known (n) marks the anchors.

    order (n): entities, the first preferred in ties.
    """
    n = len(points)
    if graph is None:
        found = [np.full(n, NO_ANCHOR), np.full(n, np.inf), np.zeros(n, np.bool_), np.zeros(n)]
    else:
        scan = partial(_scan_block, points, known, graph, np.argsort(order))
        parts = pool.map(lambda block: scan(*block), _blocks(graph, points.shape[1]))
        found = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    anchor, squared, certain, neighbour = found
    _search_rest(points, order[known[order]], anchor, squared, ~certain, pool)
    return NearestAnchors(anchor, np.sqrt(squared), neighbour)


def _blocks(graph: Graph, columns: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of entities, sized so that a block computes about _NUMBERS differences."""
    start, n = 0, len(graph.indptr) - 1
    most = max(1, _NUMBERS // columns)
    while start < n:
        limit = graph.indptr[start] + most
        stop = max(start + 1, int(np.searchsorted(graph.indptr, limit, "right")) - 1)
        yield start, stop
        start = stop


def _scan_block(
    points: Float64, known: Array, graph: Graph, rank: Int64, start: int, stop: int
) -> tuple[Array, ...]:
    """Return minima over the rows [start:stop) of the graph.

    Anchors, NO_ANCHOR without one; their squared distances, inf without one; whether they are
    certain; distances to the nearest entities. A row's neighbours outside the tree are its nearest
    entities, so that an anchor nearer than one of them is certainly the nearest.
    """
    part = slice(graph.indptr[start], graph.indptr[stop])
    lengths, starts = np.diff(graph.indptr[start : stop + 1]), graph.indptr[start:stop] - part.start
    others, owner = graph.indices[part], np.repeat(np.arange(stop - start), lengths)
    apart = points[others] - points[start + owner]
    squared = np.einsum("ij,ij->i", apart, apart)
    anchored = np.where(known[others], squared, np.inf)
    best = np.minimum.reduceat(anchored, starts)
    reach = np.maximum.reduceat(np.where(graph.tree[part] != 0, -np.inf, squared), starts)
    certain = best < reach
    first = np.flatnonzero((anchored == best[owner]) & np.isfinite(anchored))
    first = first[np.lexsort((rank[others[first]], owner[first]))]
    rows, which = np.unique(owner[first], return_index=True)
    anchor = np.full(stop - start, NO_ANCHOR, np.int64)
    anchor[rows] = others[first[which]]
    return anchor, best, certain, np.sqrt(np.minimum.reduceat(squared, starts))


def _search_rest(
    points: Float64, anchors: Int64, anchor: Int64, squared: Float64, unsure: Array, pool: Pool
) -> None:
    """Search the nearest of the anchors (p) for entities whose graph leaves it `unsure` (n)."""
    anchor[unsure], squared[unsure] = NO_ANCHOR, np.nan
    asked = np.flatnonzero(unsure)
    if len(anchors) == 1:  # a single anchor has no other anchor
        asked = asked[asked != anchors[0]]
    if len(asked):
        anchor[asked], squared[asked] = nearest_to(points, asked, anchors, pool)
