"""The neighbourhood graph: minimum spanning tree plus k-NN (Yao et al. 2019, Algorithm 1).

Algorithm 1 fills a row up with the nearest others until it has δ neighbours, and leaves ties open.
Here, all entities that are as far as the last one are neighbours too, up to a limit. Beyond it, and
in the tree, an order of the entities that does not depend on the table decides (`name_order`), so
that the graph does not depend on the order of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Bytes, Csr, Float64, Int32, Int64, offsets
from wordgeom.imputation import graph_kernels
from wordgeom.imputation.identical import identical_limits
from wordgeom.linalg.nearest_neighbours import AUTO, Neighbours, nearest
from wordgeom.linalg.spanning_tree import spanning_tree
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress

MOST = 64  # nearest neighbours of a row with ties, unless 2 δ is more
_ROWS = 1 << 16  # rows searched for ties at once


@dataclass(frozen=True)
class Graph:
    """In-neighbours of each entity.

    indptr (n + 1); indices (edges): row i lists the in-neighbours of i, ascending; tree (edges):
    1 for edges of the spanning tree; exact: whether tree and neighbours are exact; recall: share
    of the true nearest neighbours found; tied (n): neighbours as far as the last one, 0 where none
    had to be added; excluded (n): 1 where more were tied than the limit. None: no ties.
    """

    indptr: Int64
    indices: Int32
    tree: Bytes
    exact: bool = True
    recall: float = 1.0
    tied: Int32 | None = None
    excluded: Bytes | None = None

    def rows(self, entities: Int64) -> Csr:
        """Return the rows of some entities, ascending; their data are the tree flags."""
        n = len(self.indptr) - 1
        return Csr(self.indptr, self.indices, self.tree, n).select(entities)


def neighbour_graph(
    points: Float64,
    delta: int,
    pool: Pool,
    progress: Progress | None = None,
    *,
    how: str = AUTO,
    order: Int64 | None = None,
) -> Graph:
    """Return the graph of points (n × d) under Euclidean distance, with in-degrees ≥ delta < n.

    Tree edges are in both directions; a row with fewer than delta of them is filled up with the
    nearest other entities and those tied with the last. how: as in
    `linalg.nearest_neighbours.nearest`; order (n): entities, the first preferred in ties.
    """
    n = len(points)
    if order is None:
        order = np.arange(n)
    else:
        points = points[order]
    # One neighbour more than needed shows ties.
    neighbours = nearest(points, min(delta + 1, n - 1), pool, progress, how=how)
    tree = spanning_tree(points, neighbours, pool, progress)
    # Both directions, sorted by target, then source.
    targets, sources = np.concatenate((tree, tree[:, ::-1])).T
    by_target = np.lexsort((sources, targets))
    starts = offsets(np.bincount(targets, minlength=n))
    rows = _Rows(starts, sources[by_target].astype(np.int32), identical_limits(points))
    return rows.graph(neighbours, delta, order)


@dataclass(frozen=True)
class _Rows:
    """The rows' neighbours in the tree, ascending, and limits (n) of distances that are 0."""

    starts: Int64
    tree: Int32
    zeros: Float64

    def graph(self, neighbours: Neighbours, delta: int, order: Int64) -> Graph:
        """Return the graph of the entities in their `order`."""
        n, k = len(self.zeros), neighbours.indices.shape[1]
        cuts, extents = np.empty(n), np.empty(n, np.int64)
        tied, excluded = np.empty(n, np.int32), np.zeros(n, np.uint8)
        every = np.arange(n)
        graph_kernels.cut_rows(
            self.starts, self.tree, neighbours.indices, neighbours.squared, delta, cuts
        )
        graph_kernels.share_ties(every, neighbours.squared, cuts, self.zeros, extents, tied)
        most = max(MOST, 2 * delta)
        lists = [(every, neighbours.indices)]
        more = np.flatnonzero(extents == k)  # their lists may end among ties
        if k < n - 1 and len(more):
            lists[0] = (rest := np.flatnonzero(extents < k), neighbours.indices[rest])
            for start in range(0, len(more), _ROWS):
                rows = more[start : start + _ROWS]
                found, squared = neighbours.longer(rows, min(most + 1, n - 1))
                graph_kernels.share_ties(rows, squared, cuts, self.zeros, extents, tied)
                excluded[rows] = extents[rows] > most
                tied[rows] -= excluded[rows]
                extents[rows] = np.minimum(extents[rows], most)
                lists.append((rows, found[:, : extents[rows].max()].copy()))
        lengths = np.empty(n, np.int64)
        for rows, found in lists:
            graph_kernels.add_lengths(rows, self.starts, self.tree, found, extents, lengths)
        needed = np.maximum(np.diff(self.starts), delta)
        tied[(lengths == needed) & (excluded == 0)] = 0
        return self._filled(lists, extents, lengths, order, neighbours, (tied, excluded))

    def _filled(
        self,
        lists: list[tuple[Int64, Int32]],
        extents: Int64,
        lengths: Int64,
        order: Int64,
        neighbours: Neighbours,
        ties: tuple[Int32, Bytes],
    ) -> Graph:
        """Return the graph whose rows have the lengths, relabelled."""
        rank = np.argsort(order)
        indptr = offsets(lengths[rank])
        indices, flags = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.uint8)
        for rows, found in lists:
            graph_kernels.fill_rows(
                rows, self.starts, self.tree, found, extents, order, indptr, indices, flags
            )
        tied, excluded = ties
        return Graph(
            indptr, indices, flags, neighbours.exact, neighbours.recall, tied[rank], excluded[rank]
        )
