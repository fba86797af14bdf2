"""The sparse matrix S of thresholded similarities (eq. 3), in panels of its upper triangle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Csr, Float32, Float64, Int64
from wordgeom.linalg.thresholded_join import pair_counts, thresholded_join
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress


@dataclass(frozen=True)
class Similarities:
    """S_ij = max(0, x_i·x_j − τ ‖x_i‖ ‖x_j‖) of n vectors.

    panels: float32, as `thresholded_join` returns them; threshold: τ; degrees (n): entries of each
    row, 1 for one without similar others; total: Σ (x_i·x_j − τ ‖x_i‖ ‖x_j‖) of all pairs (eq. 18).
    """

    panels: list[Csr]
    threshold: float
    degrees: Int64
    total: float

    @property
    def rows(self) -> int:
        """The number of vectors."""
        return len(self.degrees)

    @property
    def positive(self) -> int:
        """The number of positive entries of the whole matrix."""
        return int(self.degrees.sum())

    @property
    def square(self) -> float:
        """‖S‖² of the whole matrix."""
        total, start = 0.0, 0
        for panel in self.panels:
            start += panel.rows
            squares = np.square(panel.data, dtype=np.float64)
            total += float(squares.sum() + squares[panel.indices >= start].sum())
        return total

    @property
    def nbytes(self) -> int:
        """The memory of the panels."""
        return sum(p.indptr.nbytes + p.indices.nbytes + p.data.nbytes for p in self.panels)


def similarities(
    points: Float64, threshold: float, pool: Pool, progress: Progress | None = None
) -> Similarities:
    """Return S of nonzero points (n × K), float64."""
    norms = lengths(points)
    panels = thresholded_join(unit_rows(points), threshold, pool, progress)
    start = 0
    for panel in panels:
        stop = start + panel.rows
        _weigh(panel, norms[start:stop], norms, threshold)
        start = stop
    every = points.sum(axis=0)
    total = float(every @ every) - threshold * float(norms.sum()) ** 2
    return Similarities(panels, threshold, pair_counts(panels, len(points)), total)


def lengths(points: Float64) -> Float64:
    """Return the lengths (n) of points (n × K)."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", points, points)))


def unit_rows(points: Float64) -> Float32:
    """Return nonzero points (n × K) scaled to length 1."""
    return (points / lengths(points)[:, None]).astype(np.float32)


def _weigh(panel: Csr, own: Float64, norms: Float64, threshold: float) -> None:
    """Turn the cosines of a panel into entries of S, in place; own (r), norms (n)."""
    panel.data[:] = (
        (panel.data.astype(np.float64) - threshold) * own[panel.entry_rows] * norms[panel.indices]
    )
