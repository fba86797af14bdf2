"""The neighbourhood graph: minimum spanning tree plus k-NN (Yao et al. 2019, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Bytes, Csr, Float64, Int32, Int64, offsets
from wordgeom.imputation import graph_kernels
from wordgeom.linalg.nearest_neighbours import AUTO, nearest
from wordgeom.linalg.spanning_tree import spanning_tree
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress


@dataclass(frozen=True)
class Graph:
    """In-neighbours of each entity.

    indptr (n + 1); indices (edges): row i lists the in-neighbours of i, ascending; tree (edges):
    1 for edges of the spanning tree; exact: whether tree and neighbours are exact; recall: share
    of the true nearest neighbours found.
    """

    indptr: Int64
    indices: Int32
    tree: Bytes
    exact: bool = True
    recall: float = 1.0

    def rows(self, entities: Int64) -> Csr:
        """Return the rows of some entities, ascending; their data are the tree flags."""
        n = len(self.indptr) - 1
        return Csr(self.indptr, self.indices, self.tree, n).select(entities)


def neighbour_graph(
    points: Float64, delta: int, pool: Pool, progress: Progress | None = None, *, how: str = AUTO
) -> Graph:
    """Return the graph of points (n × d) under Euclidean distance, with in-degrees ≥ delta < n.

    Tree edges are in both directions; a row with fewer than delta of them is filled up with the
    nearest other entities. how: as in `linalg.nearest_neighbours.nearest`.
    """
    neighbours = nearest(points, delta, pool, progress, how=how)
    tree = spanning_tree(points, neighbours, pool, progress)
    # Both directions, sorted by target, then source.
    targets, sources = np.concatenate((tree, tree[:, ::-1])).T
    order = np.lexsort((sources, targets))
    degrees = np.bincount(targets, minlength=len(points))
    starts, indptr = offsets(degrees), offsets(np.maximum(degrees, delta))
    indices, flags = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.uint8)
    graph_kernels.fill_rows(
        starts, sources[order].astype(np.int32), neighbours.indices, indptr, indices, flags
    )
    return Graph(indptr, indices, flags, neighbours.exact, neighbours.recall)
