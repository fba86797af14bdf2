"""Exact nearest neighbours by blocked products: float32 selects candidates, float64 decides.

A product of two blocks gives all their distances in float32. Its rounding error is bounded (Higham
2002, §3.1: |fl(aᵀb) − aᵀb| ≤ γ_d |a|ᵀ|b|), so that a pair is excluded safely where its float32
distance exceeds that of the farthest neighbour by more than the bound. The distances of the few
other pairs are summed from the differences in float64. The result is that of float64, including
the order of ties.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float32, Float64, Int32, Int64
from wordgeom.linalg import exact_search_kernels
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress

_QUERIES, _TARGETS = 512, 2048  # rows of a block: 4 MB of products
_UNIT = 2.0**-24  # float32's rounding
_OTHER = 16  # roundings besides those of a product: of the points, the norms and the sums


class Searcher:
    """Points (n × d), float64 and finite, prepared for exact searches among them."""

    def __init__(self, points: Float64, pool: Pool) -> None:
        self.points, self._pool = points, pool
        centred = points - points.mean(axis=0)
        largest = float(np.abs(centred).max(initial=0.0))
        # A power of two is exact; the squares of float32 then neither overflow nor underflow.
        factor = 2.0 ** -np.frexp(largest * np.sqrt(points.shape[1]))[1] if largest else 1.0
        self.scale = float(factor**2)
        centred *= factor
        self.rows: Float32 = centred.astype(np.float32)
        slack = 1.0 - (points.shape[1] + _OTHER) * _UNIT
        norms = np.einsum("ij,ij->i", centred, centred) * slack
        self.norms: Float32 = norms.astype(np.float32)

    def nearest(
        self,
        k: int,
        *,
        queries: Int64 | None = None,
        targets: Int64 | None = None,
        labels: Int64 | None = None,
        bounds: Float64 | None = None,
        progress: Progress | None = None,
        what: str = "neighbours",
    ) -> tuple[Int32, Float64]:
        """Return the k targets nearest to each query, (Q × k), and squared distances (Q × k).

        Ordered by distance, then by the order of the targets; −1 and inf where there are fewer.
        queries, targets: rows, all by default; labels (n): points with the same label are not
        neighbours, by default each has its own; bounds (Q): upper limits of the squared distance.
        """
        every = np.arange(len(self.points))
        queries, targets, labels = (
            every if rows is None else rows for rows in (queries, targets, labels)
        )
        found = np.full((len(queries), k), -1, np.int32)
        squared = np.full((len(queries), k), np.inf)
        if bounds is not None:
            squared[:] = bounds[:, None]
        doubled = -2.0 * self.rows[targets]  # (T × d)
        norms = self.norms[targets]

        def run(start: int) -> int:
            rows = np.arange(start, min(start + _QUERIES, len(queries)))
            chosen = queries[rows]
            left, left_norms = self.rows[chosen], self.norms[chosen]
            for first in range(0, len(targets), _TARGETS):
                part = slice(first, first + _TARGETS)
                exact_search_kernels.keep_nearest(
                    left @ doubled[part].T, left_norms, norms[part], self.scale,
                    self.points, chosen, targets[part], labels, rows, found, squared,
                )  # fmt: skip
            return len(chosen)

        starts = range(0, len(queries), _QUERIES)
        with one_thread():
            done = self._pool.map(run, starts)
            shown = progress or Progress()
            for _ in shown.follow(done, what, len(queries), "rows", lambda rows: rows):
                pass
        squared[found < 0] = np.inf
        return found, squared
