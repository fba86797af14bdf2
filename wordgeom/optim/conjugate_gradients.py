"""Conjugate gradients for several right sides, from a start that is never made worse.

Hestenes and Stiefel (1952), preconditioned by the diagonal. Every iterate has a lower energy
½ xᵀAx − xᵀb than the one before, so that a run may end at any time. A may be singular where the
right sides lie in its range. Not for indefinite matrices.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wordgeom.core.types import Float64

_ROUNDING = 1e-12  # curvature relative to that of the diagonal


def solve(
    multiply: Callable[[Float64], Float64], diagonal: Float64, right: Float64,
    *, tol: float, most: int,
) -> Float64:  # fmt: skip
    """Return x (n × k) with ‖A x − right‖ ≤ tol ‖right‖ in each column, or after `most` steps.

    multiply: returns A times an array (n × k) in a new array, A positive semidefinite; diagonal
    (n): of A, and rows where it is 0 stay 0; right (n × k).
    """
    inverse = np.divide(1.0, diagonal, out=np.zeros(len(diagonal)), where=diagonal > 0.0)[:, None]
    x, residual, work = np.zeros(right.shape), right.copy(), np.empty(right.shape)
    enough = tol * np.sqrt(_inner(right, right))
    direction = inverse * residual
    energy = _inner(residual, direction)
    for _ in range(most):
        going = np.sqrt(_inner(residual, residual)) > enough
        if not going.any():
            break
        image = multiply(direction)
        curvature = _inner(direction, image)
        # Along the null space, where rounding of the right side lies too, A has no curvature.
        scale = _inner(direction, np.multiply(diagonal[:, None], direction, out=work))
        going &= (curvature > _ROUNDING * scale) & (energy > 0.0)
        step = np.divide(energy, curvature, out=np.zeros(len(energy)), where=going)
        x += np.multiply(step, direction, out=work)
        residual -= np.multiply(step, image, out=image)
        scaled = np.multiply(inverse, residual, out=image)
        after = _inner(residual, scaled)
        ratio = np.divide(after, energy, out=np.zeros(len(after)), where=going)
        direction *= ratio
        direction += scaled
        energy = after
    return x


def _inner(left: Float64, right: Float64) -> Float64:
    """Return the inner product of each column (k)."""
    return np.asarray(np.einsum("ij,ij->j", left, right))
