"""Linear reduction: vectors projected on the directions in which they are longest or vary most.

The singular vectors of X (n × D) are the eigenvectors of XᵀX, computed in float64. No other linear
map into K dimensions has a smaller squared error (Eckart and Young 1936).
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float32
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.pool import Pool
from wordgeom.vectors.postprocess import Moments

_ROWS = 2048  # of a block, constant: sums have one order


def svd(matrix: Float32, K: int, pool: Pool) -> Float32:
    """Return vectors (n × D) projected on their K leading singular vectors, (n × r), r ≤ K.

    Columns beyond the rank are left out.
    """
    return _projected(matrix, K, pool, centre=False)


def pca(matrix: Float32, K: int, pool: Pool) -> Float32:
    """Return centred vectors (n × D) projected on their K principal components, (n × r), r ≤ K."""
    return _projected(matrix, K, pool, centre=True)


def _projected(matrix: Float32, K: int, pool: Pool, *, centre: bool) -> Float32:
    D = matrix.shape[1]
    starts = range(0, len(matrix), _ROWS)
    with one_thread():
        parts = pool.map(lambda at: Moments.of(matrix[at : at + _ROWS]), starts)
        moments = sum(parts, Moments(0, np.zeros(D), np.zeros((D, D))))
        leading = moments.components(K, centre=centre)
        made = np.empty((len(matrix), len(leading.directions)), np.float32)

        def project(at: int) -> None:
            made[at : at + _ROWS] = (matrix[at : at + _ROWS] - leading.mean) @ leading.directions.T

        for _ in pool.map(project, starts):
            pass
    return made
