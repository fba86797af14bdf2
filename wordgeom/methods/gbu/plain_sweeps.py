"""Plain sweeps: block power iterations from the build-up, followed by a Rayleigh–Ritz step.

V ← G V (VᵀV)⁻¹ is the exact minimum of ‖G − W Vᵀ‖² over W for fixed V. On the span of V this is a
step of the power method, which converges to the eigenvalues of largest magnitude, while eq. 9 of
Khalife et al. asks for the algebraically largest. Sweeps therefore iterate on K + p columns, and
the K largest Ritz pairs of G in their span are the result.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.ops import Operator, Ops, Tall
from wordgeom.core.types import Array, Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.gram import orthonormal, spectrum, symmetric_eigh


@dataclass(frozen=True)
class RitzPairs:
    """vectors (V × k): orthonormal Ritz vectors; values (k): their Ritz values, descending."""

    vectors: Tall
    values: Float64


def sweep(operator: Operator, tall: Tall, ops: Ops) -> Tall:
    """Return G V (VᵀV)⁻¹ for V (V × k)."""
    # The factor comes first, so that rounding errors stay relative to the result.
    return operator.multiply(factor(tall, ops))


def factor(tall: Tall, ops: Ops) -> Tall:
    """Return V (VᵀV)⁻¹ for V (V × k); directions at rounding error are dropped."""
    values, Z = spectrum(tall, ops)
    with one_thread():
        inverse = (Z / values) @ Z.T
    return ops.combine(tall, inverse)


def ritz(operator: Operator, tall: Tall, K: int, ops: Ops) -> RitzPairs:
    """Return the K largest Ritz pairs of G in the span of `tall` (V × k), fewer if k < K."""
    basis = orthonormal(tall, ops)
    T = ops.inner(basis, operator.multiply(basis))
    values, Z = symmetric_eigh(T)  # ascending
    values, Z = values[::-1][:K], Z[:, ::-1][:, :K]
    return RitzPairs(ops.combine(basis, np.ascontiguousarray(Z)), values)


def scaled(pairs: RitzPairs, K: int, eig: float, ops: Ops) -> Array:
    """Return Ritz vectors times their values to the power `eig` (V × K).

    Columns without a positive Ritz value are 0.
    """
    positive = np.flatnonzero(pairs.values > 0.0)
    powers = np.zeros((len(pairs.values), K))
    powers[positive, positive] = pairs.values[positive] ** eig
    vectors: Array = ops.to_numpy(ops.combine(pairs.vectors, powers))
    return vectors
