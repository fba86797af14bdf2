"""The nearest entity with a vector of its own, for each entity: from the graph where that tells it.

Where the graph's neighbours come from an index, which may miss some, the nearest anchor among
those that it found is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.imputation.graph import Graph
from wordgeom.linalg.nearest_neighbours import nearest_to
from wordgeom.runtime.pool import Pool

NO_ANCHOR = -1  # the anchor of an entity that has none
_NUMBERS = 1 << 20  # of a block's differences


@dataclass(frozen=True, eq=False)
class NearestAnchors:
    """What is nearest to each of n entities, itself aside.

    anchor (n): the nearest anchor, NONE where there is none; distance (n) to it, then nan;
    neighbour (n): the distance to the nearest entity of all, 0 without a graph.
    """

    anchor: Int64
    distance: Float64
    neighbour: Float64


def nearest_anchors(
    points: Float64, known: Array, graph: Graph | None, pool: Pool
) -> NearestAnchors:
    """Return what is nearest to each of the points (n × d), of which some are `known` (n)."""
    local = _RowMinima(len(points))
    if graph is not None:
        for start, part in pool.map(
            lambda block: (block[0], _scan_block(points, known, graph, *block)),
            _blocks(graph, points.shape[1]),
        ):
            local.put(start, part)
    _search_rest(points, known, local, pool)
    return NearestAnchors(local.anchor, np.sqrt(local.squared), local.nearest)


class _RowMinima:
    """What is seen from each entity's row of the graph: squares of distances, inf where none."""

    def __init__(self, n: int) -> None:
        self.anchor = np.full(n, NO_ANCHOR, np.int64)
        self.squared = np.full(n, np.inf)
        self.certain = np.zeros(n, np.bool_)
        self.nearest = np.zeros(n)

    def put(self, start: int, part: tuple[Array, ...]) -> None:
        """Take what `_look` found of the entities from `start` on."""
        rows = slice(start, start + len(part[0]))
        own = (self.anchor, self.squared, self.certain, self.nearest)
        for whole, found in zip(own, part, strict=True):
            whole[rows] = found


def _blocks(graph: Graph, columns: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of entities whose neighbours' numbers are so many, of one entity at least."""
    start, n = 0, len(graph.indptr) - 1
    most = max(1, _NUMBERS // columns)
    while start < n:
        limit = graph.indptr[start] + most
        stop = max(start + 1, int(np.searchsorted(graph.indptr, limit, "right")) - 1)
        yield start, stop
        start = stop


def _scan_block(
    points: Float64, known: Array, graph: Graph, start: int, stop: int
) -> tuple[Array, ...]:
    """Return, for a range of entities, what `_Local` holds: the nearest anchor in the row, ….

    Whatever is not in a row is at least as far as all of it but the tree's neighbours: an anchor
    that is nearer than one of these is certain to be the nearest of all.
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
    rows, which = np.unique(owner[first], return_index=True)
    anchor = np.full(stop - start, NO_ANCHOR, np.int64)
    anchor[rows] = others[first[which]]
    return anchor, best, certain, np.sqrt(np.minimum.reduceat(squared, starts))


def _search_rest(points: Float64, known: Array, local: _RowMinima, pool: Pool) -> None:
    """Find the nearest anchors of those entities whose row of the graph does not tell it."""
    anchors, unsure = np.flatnonzero(known), np.flatnonzero(~local.certain)
    if len(anchors) == 1:  # it has no other: only for the rest is it the nearest
        unsure = unsure[unsure != anchors[0]]
    local.anchor[~local.certain], local.squared[~local.certain] = NO_ANCHOR, np.nan
    if len(unsure):
        local.anchor[unsure], local.squared[unsure] = nearest_to(points, unsure, anchors, pool)
