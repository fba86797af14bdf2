"""A symmetric matrix of low rank, F diag(w) Fᵀ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.ops import Ops, Tall
from wordgeom.core.types import Float32, Float64
from wordgeom.linalg.gram import symmetric_eigh


@dataclass(frozen=True)
class Factors:
    """L = F diag(w) Fᵀ; basis: F (n × k), on the device; weights: w (k)."""

    basis: Tall
    weights: Float64


def weighted_basis(L: Factors) -> Float32:
    """Return F diag(w) (n × k), for factors on the CPU."""
    return np.asarray(L.basis * L.weights.astype(np.float32))


def start_of(points: Tall, d: int, threshold: float, ops: Ops) -> Factors:
    """Return the first L, of rank d + 1, from the SVD of points (n × K) float32 (eq. 10, 17)."""
    _, axes = symmetric_eigh(ops.inner(points, points))
    projected = ops.to_numpy(ops.combine(points, axes[:, ::-1][:, :d]))
    lengths = np.sqrt(np.einsum("ij,ij->i", projected, projected, dtype=np.float64))
    basis = np.column_stack((projected, lengths.astype(np.float32)))
    weights = np.ones(basis.shape[1])
    weights[-1] = -threshold
    return Factors(ops.tall(basis, np.float32), weights)
