"""Nearest neighbours of all points among themselves: exact, or by an index where that is cheaper.

Blocked products cost n² d; an inverted-file index (faiss) costs its cells and then, for each point,
the points of the nearest few. How many cells are needed is measured before they are searched, on
points whose neighbours are found exactly: few where data have clusters or lie near a surface, most
of them where all distances are alike. The choice hangs on the data alone, never on a clock.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Float64, Int32, Int64
from wordgeom.linalg.exact_search import Searcher
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress

EXACT_ROWS = 50_000  # up to so many points blocked products are cheaper than any index
AUTO, EXACT = "auto", "exact"
_TUNING, _JUDGING = 4000, 1000  # points whose neighbours are found exactly, to choose and to judge


@dataclass(frozen=True)
class Neighbours:
    """The k nearest neighbours of each point, by distance, then index; no point is its own.

    indices (n × k); squared (n × k): squared distances; recall: the share of the true neighbours
    that was found, 1 where `exact`, else measured on points drawn evenly.
    """

    indices: Int32
    squared: Float64
    exact: bool = True
    recall: float = 1.0


def nearest(
    points: Float64, k: int, pool: Pool, progress: Progress | None = None, *, how: str = AUTO
) -> Neighbours:
    """Return the neighbours of points (n × d), finite; k < n; how: auto or exact."""
    searcher = Searcher(points, pool)
    if how == EXACT or len(points) <= EXACT_ROWS:
        return Neighbours(*searcher.nearest(k, progress=progress))
    return _by_index(searcher, k, pool, progress) or Neighbours(
        *searcher.nearest(k, progress=progress)
    )


def nearest_to(
    points: Float64, queries: Int64, targets: Int64, pool: Pool, progress: Progress | None = None
) -> tuple[Int64, Float64]:
    """Return for each query the nearest other point among the targets, and its squared distance.

    queries, targets: rows of points (n × d), the targets ascending. −1 and inf where there is none.
    """
    found, squared = Searcher(points, pool).nearest(
        1, queries=queries, targets=targets, progress=progress, what="nearest anchors"
    )
    return found[:, 0].astype(np.int64), squared[:, 0]


def _by_index(
    searcher: Searcher, k: int, pool: Pool, progress: Progress | None
) -> Neighbours | None:
    """Return neighbours by an index, or None where it would have to look at too many cells."""
    from wordgeom.linalg.cell_index import Cells

    # Two samples: what chose the number of cells must not judge it too.
    n = len(searcher.points)
    tuning, judging = _even(n, _TUNING, 0), _even(n, _JUDGING, 1)
    cells = Cells(searcher, pool)
    probes = cells.probes(tuning, searcher.nearest(k, queries=tuning)[0])
    if probes is None:
        return None
    found, squared = cells.search(k, probes, progress)
    true, _ = searcher.nearest(k, queries=judging)
    hits = (found[judging][:, :, None] == true[:, None, :]).any(axis=1)
    return Neighbours(found, squared, False, float(hits.mean()))


def _even(n: int, most: int, offset: int) -> Int64:
    """Return up to `most` rows of n, evenly spaced, from `offset` on."""
    step = max(2, n // most)
    return np.arange(offset, n, step)[:most]
