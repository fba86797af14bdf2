"""The vectors whose thresholded similarities are L (eq. 7–9), without an n × n array.

G = L + τ/(1 − τ) s sᵀ with s_i = √max(L_ii, 0) has rank d + 1 at most. In an orthonormal basis of
L's eigenvectors and s it is a matrix of d + 1 rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.ops import Ops
from wordgeom.core.types import Float64
from wordgeom.linalg.gram import orthonormal
from wordgeom.methods.tsm.factors import Factors


@dataclass(frozen=True)
class Embedding:
    """Vectors of least squares.

    vectors (n × d) float64, columns beyond the rank 0; eigenvalues (≤ d + 1): of G, descending.
    """

    vectors: Float64
    eigenvalues: Float64
    rank: int


def embed(L: Factors, threshold: float, d: int, ops: Ops) -> Embedding:
    """Return the least-squares solution of eq. 7 for L."""
    basis = ops.to_numpy(L.basis).astype(np.float64)
    diagonal = np.square(basis) @ L.weights
    s = np.sqrt(np.maximum(diagonal, 0.0))
    every = ops.tall(np.column_stack((basis, s)), np.float64)
    axes = orthonormal(every, ops)
    turned = ops.inner(axes, every)
    outer, column = turned[:, :-1], turned[:, -1:]
    G = (outer * L.weights) @ outer.T + threshold / (1.0 - threshold) * (column @ column.T)
    values, vectors = ops.eigh_top((G + G.T) / 2.0, len(G))
    used = values[:d]
    rank = int((used > 0.0).sum())
    scaled = vectors[:, :d] * np.sqrt(np.maximum(used, 0.0))
    out = np.zeros((len(basis), d))
    out[:, : len(used)] = ops.to_numpy(ops.combine(axes, scaled))
    return Embedding(out, values, rank)
