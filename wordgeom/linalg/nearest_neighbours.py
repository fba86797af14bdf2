"""Nearest neighbours of all points, exact or by an index where that is cheaper.

Blocked products cost n² d. An inverted-file index (faiss) costs its cells and, for each point, the
points of the nearest cells. The number of cells to probe is measured on a sample whose neighbours
are computed exactly: few where the data have clusters or lie near a surface, most where all
distances are similar. The choice depends on the data alone, never on timings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Float64, Int32, Int64
from wordgeom.linalg.cell_index import Cells
from wordgeom.linalg.exact_search import Searcher
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress

EXACT_ROWS = 50_000  # up to this number of points, blocked products are cheaper than an index
AUTO, EXACT = "auto", "exact"
_TUNING, _VALIDATION = 4000, 1000  # points that choose the number of cells, and measure the recall


@dataclass(frozen=True)
class Neighbours:
    """The k nearest neighbours of each point, by distance, then index, without the point itself.

    indices (n × k); squared (n × k): squared distances; recall: the share that is at most as far as
    the true k-th, 1 where `exact`, else measured on evenly spaced points; longer(rows, k): the same
    search for k neighbours of some rows, −1 and inf where it finds fewer.
    """

    indices: Int32
    squared: Float64
    longer: Callable[[Int64, int], tuple[Int32, Float64]]
    exact: bool = True
    recall: float = 1.0


def nearest(
    points: Float64, k: int, pool: Pool, progress: Progress | None = None, *, how: str = AUTO
) -> Neighbours:
    """Return the k < n neighbours of finite points (n × d); how: AUTO or EXACT."""
    searcher = Searcher(points, pool)
    if how == EXACT or len(points) <= EXACT_ROWS:
        return _by_products(searcher, k, progress)
    return _by_index(searcher, k, pool, progress) or _by_products(searcher, k, progress)


def nearest_to(
    points: Float64, queries: Int64, targets: Int64, pool: Pool, progress: Progress | None = None
) -> tuple[Int64, Float64]:
    """Return each query's nearest other point among the targets, and the squared distance.

    queries, targets: rows of points (n × d); the first of tied targets is returned. −1 and inf
    where there is none.
    """
    found, squared = Searcher(points, pool).nearest(
        1, queries=queries, targets=targets, progress=progress, what="nearest anchors"
    )
    return found[:, 0].astype(np.int64), squared[:, 0]


def _by_products(searcher: Searcher, k: int, progress: Progress | None) -> Neighbours:
    def longer(rows: Int64, k: int) -> tuple[Int32, Float64]:
        return searcher.nearest(k, queries=rows, progress=progress, what="ties")

    return Neighbours(*searcher.nearest(k, progress=progress), longer)


def _by_index(
    searcher: Searcher, k: int, pool: Pool, progress: Progress | None
) -> Neighbours | None:
    """Return neighbours by an index, or None where it would have to probe too many cells."""
    # Two samples: the one that chooses the number of cells would overestimate the recall.
    n = len(searcher.points)
    tuning, validation = _even(n, _TUNING, 0), _even(n, _VALIDATION, 1)
    cells = Cells(searcher, pool)
    probes = cells.probes(tuning, searcher.nearest(k, queries=tuning)[0])
    if probes is None:
        return None

    def longer(rows: Int64, k: int) -> tuple[Int32, Float64]:
        return cells.search(k, probes, progress, rows)

    found, squared = cells.search(k, probes, progress)
    short = np.flatnonzero(found[:, -1] < 0)  # the probed cells held fewer than k other points
    if len(short):
        found[short], squared[short] = searcher.nearest(k, queries=short)
    _, true = searcher.nearest(k, queries=validation)
    hits = squared[validation] <= true[:, -1:]  # tied neighbours are as good as one another
    return Neighbours(found, squared, longer, False, float(hits.mean()))


def _even(n: int, most: int, offset: int) -> Int64:
    """Return up to `most` of n rows, evenly spaced from `offset`."""
    step = max(2, n // most)
    return np.arange(offset, n, step)[:most]
