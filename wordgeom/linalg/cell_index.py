"""An inverted-file index for approximate nearest neighbours.

The cells are those of k-means (faiss), with 80 points on average. A point is compared with the
points of the few cells whose centres are nearest; all points that probe a cell take one blocked
product (faiss's own scan of the cells takes twice as long). k-means runs on one thread and points
are searched in blocks of constant size, which gives the same bytes at any number of threads.
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
RECALL = 0.985  # share of the tuning points' neighbours that the probed cells must contain
_POINTS, _MAX_CELLS = 80, 1 << 14  # points of a cell, on average
_MIN_SAVING = 5  # probe at most a fifth of all points: beyond that, blocked products are cheaper
_ROWS = 8192  # rows of a block
_FIRST = 3  # cells
_TRAINING, _ROUNDS = 16, 5  # points per centre and iterations of k-means
_GROUP = 64  # centres of a group, on average


class Cells:
    """The points of a searcher (n × d), assigned to cells."""

    def __init__(self, searcher: Searcher, pool: Pool) -> None:
        self._searcher, self._pool = searcher, pool
        n = len(searcher.rows)
        self._count = max(1, min(n // _POINTS, _MAX_CELLS))
        with one_thread():
            self._centres = pool.call(lambda: _centres(searcher.rows, self._count))
        nearest = self._blocks(lambda rows: self._probed(rows, 1)[:, 0], np.arange(n))
        self._cell = np.concatenate(list(nearest))  # (n)
        # members[starts[c]:starts[c + 1]] are the points of cell c, ascending.
        self._members = np.argsort(self._cell, kind="stable")
        self._starts = np.searchsorted(self._cell[self._members], np.arange(self._count + 1))

    def probes(self, queries: Int64, neighbours: Int32) -> int | None:
        """Return the number of cells to probe, or None where blocked products are cheaper.

        neighbours (Q × k): the true neighbours of the queries.
        """
        cells = self._cell[neighbours]  # (Q × k)
        needed = int(np.quantile(self._ranks(queries, cells), RECALL, method="higher")) + 1
        blocks = self._blocks(lambda rows: self._probed(rows, needed), queries)
        points = np.diff(self._starts)[np.concatenate(list(blocks))].sum(axis=1).mean()
        return needed if points * _MIN_SAVING <= len(self._cell) else None

    def search(
        self, k: int, probes: int, progress: Progress | None, rows: Int64 | None = None
    ) -> tuple[Int32, Float64]:
        """Return k neighbours (rows × k) from the nearest `probes` cells, and squared distances.

        rows: points that search, all by default.
        """
        n = len(self._cell)
        places = np.full(n, -1)
        if rows is None:
            rows = np.arange(n)
        places[rows] = np.arange(len(rows))
        found, squared = np.full((len(rows), k), -1, np.int32), np.full((len(rows), k), np.inf)

        def run(queries: Int64) -> int:
            cells = self._probed(queries, probes)
            # The nearest cells first: their points spare most of the others a float64 distance.
            for part in (cells[:, :_FIRST], cells[:, _FIRST:]):
                self._compare(queries, part, places[queries], found, squared)
            return len(queries)

        # In order of cells: the points of a cell probe the same cells.
        blocks = self._blocks(run, self._members[places[self._members] >= 0])
        shown = progress or Progress()
        for _ in shown.follow(blocks, "neighbours", len(rows), "rows", lambda rows: rows):
            pass
        return found, squared

    def _ranks(self, queries: Int64, cells: Int64) -> Int64:
        """Return the rank of each cell (Q × k) by distance from its query."""
        centres = self._centres.reconstruct_n(0, self._count)
        distances = np.einsum("ij,ij->i", centres, centres) - 2 * (
            self._searcher.rows[queries] @ centres.T
        )  # (Q × cells), squared, less each query's squared norm
        own = np.take_along_axis(distances, cells, axis=1)
        nearer = [np.count_nonzero(distances < own[:, [k]], axis=1) for k in range(cells.shape[1])]
        return np.column_stack(nearer)

    def _compare(
        self, queries: Int64, cells: Int64, places: Int64, found: Int32, squared: Float64
    ) -> None:
        """Compare each query with the points of its cells (Q × probes); places: rows of `found`."""
        if not cells.size:
            return
        searcher = self._searcher
        flat = cells.ravel()
        order = np.argsort(flat, kind="stable")
        distinct, starts = np.unique(flat[order], return_index=True)
        owners = order // cells.shape[1]  # numbers of queries, by cell
        labels = np.arange(len(self._cell))
        for cell, start, stop in zip(
            distinct.tolist(), starts.tolist(), [*starts[1:].tolist(), len(flat)], strict=True
        ):
            rows = queries[owners[start:stop]]
            targets = self._members[self._starts[cell] : self._starts[cell + 1]]
            exact_search_kernels.keep_nearest(
                searcher.rows[rows] @ (-2.0 * searcher.rows[targets]).T,
                searcher.norms[rows], searcher.norms[targets], searcher.scale, searcher.points,
                rows, targets, labels, places[owners[start:stop]], found, squared,
            )  # fmt: skip

    def _probed(self, queries: Int64, count: int) -> Int64:
        """Return the nearest `count` cells of each query, nearest first."""
        cells: Int64 = self._centres.search(self._searcher.rows[queries], count)[1]
        return cells

    def _blocks(self, function: Callable[[Int64], _Value], order: Int64) -> Iterator[_Value]:
        """Yield function(block) for blocks of the points in `order`, on the pool."""

        def run(start: int) -> _Value:
            _single_thread()
            return function(order[start : start + _ROWS])

        with one_thread():
            yield from self._pool.map(run, range(0, len(order), _ROWS))


def _centres(rows: Float32, count: int) -> Any:
    """Return the k-means centres of rows (n × d) as a flat faiss index, near ones adjacent.

    The same points probe cells that are near each other: then one block needs one product.
    """
    _single_thread()
    centres = _means(rows, count)
    found = centres.reconstruct_n(0, count)
    groups = _means(found, max(1, count // _GROUP)).search(found, 1)[1][:, 0]
    centres.reset()
    centres.add(found[np.argsort(groups, kind="stable")])
    return centres


def _means(rows: Float32, count: int) -> Any:
    """Return k-means centres as a flat faiss index."""
    import faiss

    means = faiss.Clustering(rows.shape[1], count)
    means.niter, means.max_points_per_centroid = _ROUNDS, _TRAINING
    means.min_points_per_centroid = 1  # no warning
    centres = faiss.IndexFlatL2(rows.shape[1])
    means.train(rows, centres)
    return centres


def _single_thread() -> None:
    """Make faiss run on the calling thread alone."""
    import faiss

    faiss.omp_set_num_threads(1)
