"""An index of points by cells, for neighbours that need not all be the true ones (faiss).

Cells are those of the centres of k-means, 40 points to each. Centres are found on one thread and
points are looked up in blocks of constant size: the same bytes at any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from wordgeom.linalg import search_kernels
from wordgeom.linalg.blas import one_thread
from wordgeom.pool import Pool
from wordgeom.progress import Progress
from wordgeom.types import Array, Float32, Float64, Int32, Int64

RECALL = 0.985  # of the tuning points' neighbours, that their cells must hold
_POINTS, _MOST = 40, 1 << 14  # of a cell, on average; cells
_DEAREST = 10  # a point looked at in a cell costs as much as ten in a blocked product
_ROWS = 4096  # of a block
_TRAINING, _ROUNDS = 16, 5  # points for each centre, rounds of k-means
_SPARE = 4  # neighbours more than asked for: float64 may order the last ones otherwise


class Cells:
    """Points (n × d), finite, in cells."""

    def __init__(self, points: Float64, pool: Pool) -> None:
        import faiss

        self._points, self._pool = points, pool
        centred = points - points.mean(axis=0)
        largest = float(np.abs(centred).max(initial=0.0))
        self._rows: Float32 = (centred / (largest or 1.0)).astype(np.float32)
        n, d = points.shape
        self._count = min(n // _POINTS, _MOST)
        self._coarse = faiss.IndexFlatL2(d)
        self._index = faiss.IndexIVFFlat(self._coarse, d, self._count)
        clustering = self._index.cp
        clustering.niter, clustering.max_points_per_centroid = _ROUNDS, _TRAINING
        clustering.min_points_per_centroid = 1  # no warning
        pool.call(self._train)
        # The cell of each point (n).
        self._cell: Int64 = np.concatenate(
            list(self._blocks(lambda rows: self._coarse.search(rows, 1)[1][:, 0]))
        )
        pointer = faiss.swig_ptr
        self._index.add_core(n, pointer(self._rows), None, pointer(self._cell))

    def probes(self, queries: Int64, neighbours: Int32) -> int | None:
        """Return how many cells must be looked at, or None where blocked products are cheaper.

        neighbours (Q × k): the true ones of the queries.
        """
        most = self._count // _DEAREST
        if not most:
            return None
        looked = self._blocks(lambda rows: self._coarse.search(rows, most)[1], queries)
        order = np.concatenate(list(looked))  # (Q × most), nearest cell first
        same = order[:, :, None] == self._cell[neighbours][:, None, :]  # (Q × most × k)
        places = np.where(same.any(axis=1), same.argmax(axis=1), most)
        needed = int(np.quantile(places, RECALL, method="higher")) + 1
        sizes = np.bincount(self._cell, minlength=self._count)
        points = sizes[order[:, :needed]].sum(axis=1).mean()  # that a query is compared with
        return needed if needed <= most and points * _DEAREST <= len(self._rows) else None

    def search(self, k: int, probes: int, progress: Progress | None) -> tuple[Int32, Float64]:
        """Return k neighbours (n × k) from the nearest `probes` cells, and squared distances."""
        self._index.nprobe = probes
        n = len(self._points)
        found, squared = np.full((n, k), -1, np.int32), np.full((n, k), np.inf)
        # Points of one cell follow each other: the cells that they look at stay in the cache.
        order = np.argsort(self._cell, kind="stable")
        blocks = self._blocks(lambda rows: self._index.search(rows, k + 1 + _SPARE)[1], order)
        start = 0
        shown = progress or Progress()
        for candidates in shown.follow(blocks, "neighbours", n, "rows", len):
            rows = order[start : start + len(candidates)]
            search_kernels.order_candidates(
                self._points, rows, np.sort(candidates, axis=1), found, squared
            )
            start += len(candidates)
        return found, squared

    def _train(self) -> None:
        _alone()
        with one_thread():
            self._index.train(self._rows)

    def _blocks(
        self, function: Callable[[Float32], Array], order: Int64 | None = None
    ) -> Iterator[Array]:
        """Yield function(rows) for blocks of all points, or of those in `order`, on the pool."""
        order = np.arange(len(self._rows)) if order is None else order

        def run(start: int) -> Array:
            _alone()
            return function(self._rows[order[start : start + _ROWS]])

        with one_thread():
            yield from self._pool.map(run, range(0, len(order), _ROWS))


def _alone() -> None:
    """Let faiss run on the calling thread alone."""
    import faiss

    faiss.omp_set_num_threads(1)
