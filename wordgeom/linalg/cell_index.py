"""An index of points by cells, for neighbours that need not all be the true ones.

Cells are those of the centres of k-means (faiss), on average 80 points to each. A point is compared
with the points of the few cells whose centres are nearest to it; for all points that look into a
cell, that is one product of blocks. (faiss's own scan of such cells takes twice as long.) Centres
are found on one thread and points are looked up in blocks of constant size: the same bytes at any
number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from wordgeom.core.types import Float32, Float64, Int32, Int64
from wordgeom.linalg import exact_search_kernels
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.exact_search import Searcher
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress

_Value = TypeVar("_Value")
RECALL = 0.985  # of the tuning points' neighbours, that their cells must hold
_POINTS, _MOST = 80, 1 << 14  # of a cell, on average; cells
_FARTHEST = 5  # a cell's points may be a fifth of all: below that, blocked products are cheaper
_ROWS = 8192  # of a block
_FIRST = 3  # cells
_TRAINING, _ROUNDS = 16, 5  # points for each centre, rounds of k-means
_GROUP = 64  # centres of a group, on average


class Cells:
    """The points of a searcher (n × d) in cells."""

    def __init__(self, searcher: Searcher, pool: Pool) -> None:
        self._searcher, self._pool = searcher, pool
        n = len(searcher.rows)
        self._count = max(1, min(n // _POINTS, _MOST))
        with one_thread():
            self._centres = pool.call(lambda: _centres(searcher.rows, self._count))
        nearest = self._blocks(lambda rows: self._look(rows, 1)[:, 0], np.arange(n))
        self._cell = np.concatenate(list(nearest))  # (n)
        # members[starts[c]:starts[c + 1]]: the points of cell c, ascending.
        self._members = np.argsort(self._cell, kind="stable")
        self._starts = np.searchsorted(self._cell[self._members], np.arange(self._count + 1))

    def probes(self, queries: Int64, neighbours: Int32) -> int | None:
        """Return how many cells must be looked at, or None where blocked products are cheaper.

        neighbours (Q × k): the true ones of the queries.
        """
        cells = self._cell[neighbours]  # (Q × k)
        needed = int(np.quantile(self._places(queries, cells), RECALL, method="higher")) + 1
        looked = np.concatenate(list(self._blocks(lambda rows: self._look(rows, needed), queries)))
        points = np.diff(self._starts)[looked].sum(axis=1).mean()
        return needed if points * _FARTHEST <= len(self._cell) else None

    def search(self, k: int, probes: int, progress: Progress | None) -> tuple[Int32, Float64]:
        """Return k neighbours (n × k) from the nearest `probes` cells, and squared distances."""
        n = len(self._cell)
        found, squared = np.full((n, k), -1, np.int32), np.full((n, k), np.inf)

        def run(queries: Int64) -> int:
            cells = self._look(queries, probes)
            # The nearest cells first: what they hold spares most of the rest a look in float64.
            for part in (cells[:, :_FIRST], cells[:, _FIRST:]):
                self._compare(queries, part, found, squared)
            return len(queries)

        # Points of one cell follow each other: they look into the same cells.
        blocks = self._blocks(run, self._members)
        shown = progress or Progress()
        for _ in shown.follow(blocks, "neighbours", n, "rows", lambda rows: rows):
            pass
        return found, squared

    def _places(self, queries: Int64, cells: Int64) -> Int64:
        """Return the place of each cell (Q × k) in the order in which a query looks at cells."""
        centres = self._centres.reconstruct_n(0, self._count)
        apart = np.einsum("ij,ij->i", centres, centres) - 2 * (
            self._searcher.rows[queries] @ centres.T
        )  # (Q × cells), each query's squared length aside
        own = np.take_along_axis(apart, cells, axis=1)
        nearer = [np.count_nonzero(apart < own[:, [k]], axis=1) for k in range(cells.shape[1])]
        return np.column_stack(nearer)

    def _compare(self, queries: Int64, cells: Int64, found: Int32, squared: Float64) -> None:
        """Compare each query with the points of its cells (Q × probes)."""
        if not cells.size:
            return
        searcher = self._searcher
        flat = cells.ravel()
        order = np.argsort(flat, kind="stable")
        looked, starts = np.unique(flat[order], return_index=True)
        askers = queries[order // cells.shape[1]]  # by cell
        labels = np.arange(len(self._cell))
        for cell, start, stop in zip(
            looked.tolist(), starts.tolist(), [*starts[1:].tolist(), len(flat)], strict=True
        ):
            rows = askers[start:stop]
            targets = self._members[self._starts[cell] : self._starts[cell + 1]]
            exact_search_kernels.keep_nearest(
                searcher.rows[rows] @ (-2.0 * searcher.rows[targets]).T,
                searcher.norms[rows], searcher.norms[targets], searcher.scale, searcher.points,
                rows, targets, labels, rows, found, squared,
            )  # fmt: skip

    def _look(self, queries: Int64, count: int) -> Int64:
        """Return the nearest `count` cells of each query, nearest first."""
        cells: Int64 = self._centres.search(self._searcher.rows[queries], count)[1]
        return cells

    def _blocks(self, function: Callable[[Int64], _Value], order: Int64) -> Iterator[_Value]:
        """Yield function(block) for blocks of the points in `order`, on the pool."""

        def run(start: int) -> _Value:
            _alone()
            return function(order[start : start + _ROWS])

        with one_thread():
            yield from self._pool.map(run, range(0, len(order), _ROWS))


def _centres(rows: Float32, count: int) -> Any:
    """Return the centres of rows (n × d) as a flat index of faiss, near ones under near numbers.

    Cells that are near to each other are asked for by the same points: in one block, one product.
    """
    _alone()
    centres = _means(rows, count)
    found = centres.reconstruct_n(0, count)
    groups = _means(found, max(1, count // _GROUP)).search(found, 1)[1][:, 0]
    centres.reset()
    centres.add(found[np.argsort(groups, kind="stable")])
    return centres


def _means(rows: Float32, count: int) -> Any:
    """Return the centres of k-means as a flat index of faiss."""
    import faiss

    means = faiss.Clustering(rows.shape[1], count)
    means.niter, means.max_points_per_centroid = _ROUNDS, _TRAINING
    means.min_points_per_centroid = 1  # no warning
    centres = faiss.IndexFlatL2(rows.shape[1])
    means.train(rows, centres)
    return centres


def _alone() -> None:
    """Let faiss run on the calling thread alone."""
    import faiss

    faiss.omp_set_num_threads(1)
