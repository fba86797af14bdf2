"""Weights that reconstruct points from their neighbours (eq. 14), without a sum to keep."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64, Int32
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress

_NUMBERS = 1 << 21  # gathered at once


def reconstruction_weights(
    points: Float64, neighbours: Int32, penalty: float, pool: Pool, progress: Progress
) -> Float64:
    """Return w (n × k): (N Nᵀ + penalty diag ‖x_j‖²) w = N x_i, N the neighbours of x_i.

    points (n × K), nonzero; neighbours (n × k): rows of points.
    """
    n, k = neighbours.shape
    rows = max(1, _NUMBERS // (k * max(points.shape[1], k)))
    out = np.empty((n, k))

    def run(start: int) -> int:
        block = slice(start, start + rows)
        near = points[neighbours[block]]  # (b × k × K)
        gram = near @ near.transpose(0, 2, 1)
        squares = np.einsum("bii->bi", gram)
        squares *= 1.0 + penalty  # a view: the diagonal is changed
        right = near @ points[block][:, :, None]
        out[block] = np.linalg.solve(gram, right)[:, :, 0]
        return len(near)

    with one_thread():
        done = pool.map(run, range(0, n, rows))
        for _ in progress.follow(done, "weights", n, "rows", lambda size: size):
            pass
    return out
