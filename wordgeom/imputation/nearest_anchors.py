"""Find the nearest anchor of each entity: in the graph if that suffices, else by search.

If the graph has approximate neighbours, the nearest anchor is approximate too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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
    points: Float64, known: Array, graph: Graph | None, pool: Pool
) -> NearestAnchors:
    """Return the nearest anchor of each of the points (n × d); known (n) marks the anchors."""
    minima = _RowMinima(len(points))
    if graph is not None:
        for start, part in pool.map(
            lambda block: (block[0], _scan_block(points, known, graph, *block)),
            _blocks(graph, points.shape[1]),
        ):
            minima.put(start, part)
    _search_rest(points, known, minima, pool)
    return NearestAnchors(minima.anchor, np.sqrt(minima.squared), minima.nearest)


class _RowMinima:
    """Minima over each entity's row of the graph: squared distances, inf without an anchor."""

    def __init__(self, n: int) -> None:
        self.anchor = np.full(n, NO_ANCHOR, np.int64)
        self.squared = np.full(n, np.inf)
        self.certain = np.zeros(n, np.bool_)
        self.nearest = np.zeros(n)

    def put(self, start: int, part: tuple[Array, ...]) -> None:
        """Store the results of `_scan_block` for the entities from `start` on."""
        rows = slice(start, start + len(part[0]))
        arrays = (self.anchor, self.squared, self.certain, self.nearest)
        for array, values in zip(arrays, part, strict=True):
            array[rows] = values


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
    points: Float64, known: Array, graph: Graph, start: int, stop: int
) -> tuple[Array, ...]:
    """Return the arrays of `_RowMinima` for a range of entities.

    A row's neighbours outside the tree are its nearest entities, so that an anchor nearer than
    one of them is certainly the nearest.
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


def _search_rest(points: Float64, known: Array, minima: _RowMinima, pool: Pool) -> None:
    """Search the nearest anchor of entities for which the graph leaves it uncertain."""
    anchors, unsure = np.flatnonzero(known), np.flatnonzero(~minima.certain)
    if len(anchors) == 1:  # a single anchor has no other anchor
        unsure = unsure[unsure != anchors[0]]
    minima.anchor[~minima.certain], minima.squared[~minima.certain] = NO_ANCHOR, np.nan
    if len(unsure):
        minima.anchor[unsure], minima.squared[unsure] = nearest_to(points, unsure, anchors, pool)
