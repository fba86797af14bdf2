"""Plain sweeps: block power steps from the build-up, closed by Rayleigh and Ritz.

V ← G V (VᵀV)⁻¹ is exact least squares for ‖G − W Vᵀ‖² with V held. What it does to the span of V
is a step of the power method, which tends to the eigenvalues of largest magnitude, while eq. 9 of
Khalife et al. wants the largest. So K + p columns are carried, and of the Ritz pairs of G in their
span the K largest are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.ops import Operator, Ops, Tall
from wordgeom.core.types import Array, Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.gram import orthonormal, spectrum, symmetric_eigh


@dataclass(frozen=True)
class Swept:
    """vectors (V × k) orthonormal; values (k): their Ritz values, descending."""

    vectors: Tall
    values: Float64


def sweep(operator: Operator, held: Tall, ops: Ops) -> Tall:
    """Return G V (VᵀV)⁻¹ (V × k), V being `held`; directions that are rounding are left out."""
    values, Z = spectrum(held, ops)
    # V (VᵀV)⁻¹, first: rounding of G V is then that of its own size.
    with one_thread():
        inverse = (Z / values) @ Z.T
    return operator.multiply(ops.combine(held, inverse))


def ritz(operator: Operator, tall: Tall, K: int, ops: Ops) -> Swept:
    """Return the K largest Ritz pairs of G in the span of tall (V × k), or as many as it has."""
    basis = orthonormal(tall, ops)
    T = ops.inner(basis, operator.multiply(basis))
    values, Z = symmetric_eigh(T)  # ascending
    values, Z = values[::-1][:K], Z[:, ::-1][:, :K]
    return Swept(ops.combine(basis, np.ascontiguousarray(Z)), values)


def scaled(swept: Swept, K: int, eig: float, ops: Ops) -> Array:
    """Return (V × K) vectors times their Ritz values to the power `eig`.

    Columns of values that are not positive, and those that the span did not have, are 0.
    """
    there = np.flatnonzero(swept.values > 0.0)
    powers = np.zeros((len(swept.values), K))
    powers[there, there] = swept.values[there] ** eig
    made: Array = ops.to_numpy(ops.combine(swept.vectors, powers))
    return made
