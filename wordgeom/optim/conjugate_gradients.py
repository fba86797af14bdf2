"""Conjugate gradients for several right sides, from a start that is never made worse.

Hestenes and Stiefel (1952), preconditioned by the diagonal. Every iterate has a lower energy
½ xᵀAx − xᵀb than the one before, so that a run may end at any time. A may be singular where the
right sides lie in its range. Not for indefinite matrices.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wordgeom.core.types import Array, Float64

# Curvature relative to that of the diagonal, by the bytes of a number.
_ROUNDING = {4: 1e-6, 8: 1e-12}
_ROWS = 1 << 13  # whose inner products are summed in the dtype of the arrays


def solve(
    multiply: Callable[[Array], Array], diagonal: Float64, right: Array,
    *, tol: float, most: int, start: Array | None = None,
) -> Array:  # fmt: skip
    """Return x (n × k) with ‖A x − right‖ ≤ tol ‖right‖ in each column, or after `most` steps.

    multiply: returns A times an array (n × k) in a new array, A positive semidefinite; diagonal
    (n): of A, and rows where it is 0 do not change; right and start (n × k; zero if None), in
    float32 or float64, as x and all arrays of its size.
    """
    kind = right.dtype.type
    inverse = np.divide(1.0, diagonal, out=np.zeros(len(diagonal)), where=diagonal > 0.0)
    inverse, own = (np.asarray(each, kind)[:, None] for each in (inverse, diagonal))
    x, residual, work = np.zeros_like(right), right.copy(), np.empty_like(right)
    if start is not None:
        x += start
        residual -= multiply(x)
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
        scale = _inner(direction, np.multiply(own, direction, out=work))
        going &= (curvature > _ROUNDING[kind().nbytes] * scale) & (energy > 0.0)
        step = np.divide(energy, curvature, out=np.zeros(len(energy)), where=going).astype(kind)
        x += np.multiply(step, direction, out=work)
        residual -= np.multiply(step, image, out=image)
        scaled = np.multiply(inverse, residual, out=image)
        after = _inner(residual, scaled)
        ratio = np.divide(after, energy, out=np.zeros(len(after)), where=going)
        direction *= ratio.astype(kind)
        direction += scaled
        energy = after
    return x


def _inner(left: Array, right: Array) -> Float64:
    """Return the inner product of each column (k), summed in float64."""
    total = np.zeros(left.shape[1])
    for start in range(0, len(left), _ROWS):
        rows = slice(start, start + _ROWS)
        total += np.einsum("ij,ij->j", left[rows], right[rows])
    return total
