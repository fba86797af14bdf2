"""The hot loop of logistic sweeps: each row's minimiser of a quadratic bound of the loss.

The bound is logistic_rows.py's. Its system is (D + Σ w_j z_j z_jᵀ) x = b with the diagonal
D = a d + λ, solved by conjugate gradients in the coordinates D^½ x, where D is I.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wordgeom.core.types import Array, Float64, Int32, Int64
from wordgeom.linalg.row_solver_kernels import conjugate_gradients
from wordgeom.linalg.row_sum_kernels import CHUNK, add_some_twice, multiply_some
from wordgeom.runtime.jit import summing_kernel

_Real = np.floating[Any]
_SMALL = 1e-2  # |x| below which the curvature is that at 0, to 1e-5
# In float32, since a Python number would make single precision double.
_ONE, _TWO, _FOUR, _EIGHTH, _QUARTER = (np.float32(x) for x in (1.0, 2.0, 4.0, 0.125, 0.25))
_THIRD, _FIFTH, _SEVENTH, _NINTH, _ELEVENTH = (np.float32(1.0 / n) for n in (3, 5, 7, 9, 11))


@summing_kernel
def solve_logistic_rows(
    indptr: Int64, indices: Int32, counts: Array, other: Array, loads: Float64, columns: Float64,
    diagonal: Float64, pull: Float64, ridges: Float64, shift: float, expect: bool,
    low: int, high: int, tol: float, most: int, x: Array, losses: Float64, steps: Int32,
) -> None:  # fmt: skip
    """Minimise the bounds of the rows [low, high), which touch the loss at x, and overwrite x.

    counts (nnz); other (m × K): z; loads (V): a_i; columns (m): b_j; diagonal (K): d; pull (K);
    ridges (V): λ_i; shift: β; x (V × K); expect: the bounds touch the loss at log(C_ij / a_i b_j)
    instead. Iterates to a residual of tol ‖b‖, or `most` steps; 0 leaves x. losses (V): of the rows
    before.
    """
    K = other.shape[1]
    room = 0
    for i in range(low, high):
        room = max(room, indptr[i + 1] - indptr[i])
    zero = np.zeros(1, other.dtype)[0]
    room_for_weights = np.empty(room, other.dtype)
    b, r, scale = np.empty(K, other.dtype), np.empty(K, other.dtype), np.empty(K, other.dtype)
    for i in range(low, high):
        row = slice(indptr[i], indptr[i + 1])
        pairs, weights = indices[row], room_for_weights[: row.stop - row.start]
        b[:] = zero
        r[:] = zero
        loss = _set_up(
            other, pairs, counts[row], x[i], loads[i], columns, shift, expect, most > 0,
            weights, b, r,
        )  # fmt: skip
        for k in range(K):
            own = loads[i] * diagonal[k] + ridges[i]
            loss += own * x[i, k] * x[i, k] + 2.0 * loads[i] * pull[k] * x[i, k]
            scale[k] = 1.0 / np.sqrt(own)
        losses[i], steps[i] = loss, 0
        if most == 0:
            continue
        for k in range(K):
            b[k] = scale[k] * (b[k] - loads[i] * pull[k])
            x[i, k] /= scale[k]
            r[k] = x[i, k] + scale[k] * r[k]
        steps[i] = conjugate_gradients(other, pairs, weights, scale, b, x[i], r, tol, most)
        for k in range(K):
            x[i, k] *= scale[k]


@summing_kernel
def _set_up(
    other: Array, pairs: Int32, counts: Array, x: Array, load: float, columns: Float64,
    shift: float, expect: bool, solving: bool, weights: Array, b: Array, image: Array,
) -> float:  # fmt: skip
    """Set weights to w_j; return Σ C_j softplus(−x·z_j − β).

    solving: add Σ (C_j / 4 − w_j β) z_j to b, and Σ w_j z_j z_jᵀ x to image.
    """
    loss = 0.0
    along, pulls = np.empty(CHUNK, b.dtype), np.empty(CHUNK, b.dtype)
    for start in range(0, len(pairs), CHUNK):
        chunk = slice(start, min(start + CHUNK, len(pairs)))
        some, of_chunk = counts[chunk], weights[chunk]
        multiply_some(other, pairs[chunk], x, along)
        loss += _touch(some, along, shift, of_chunk)
        if not solving:
            continue
        if expect:
            _expect(some, load, columns, pairs[chunk], of_chunk)
        for t in range(len(some)):
            along[t] *= of_chunk[t]
            pulls[t] = some[t] * _QUARTER - of_chunk[t] * shift
        add_some_twice(other, pairs[chunk], along, image, pulls, b)
    return loss


@summing_kernel
def _touch(counts: Array, along: Array, shift: float, weights: Array) -> float:
    """Set weights to w_j of bounds that touch the loss at x·z_j + β; return the loss of pairs.

    along: x·z_j.
    """
    loss, zero = 0.0, np.zeros(1, along.dtype)[0]
    for t in range(len(counts)):
        at, count = along[t] + shift, counts[t]
        size = abs(at)
        decay = np.exp(-size)
        weights[t] = count * _curvature(size, decay)
        loss += count * (max(-at, zero) + _log_of_one_and(decay))
    return loss


@summing_kernel
def _expect(
    counts: Array, load: float, columns: Float64, pairs: Int32, weights: Array
) -> None:  # fmt: skip
    """Set weights to w_j of bounds that touch the loss at log(C_j / load b_j)."""
    for t in range(len(pairs)):
        size = abs(np.log(counts[t] / (load * columns[pairs[t]])))
        weights[t] = counts[t] * _curvature(size, np.exp(-size))


@summing_kernel
def _curvature(size: _Real, decay: _Real) -> _Real:
    """Return h(t) = tanh(t/2) / 4t of size |t| and decay e^−|t|."""
    return _EIGHTH if size < _SMALL else (_ONE - decay) / ((_ONE + decay) * _FOUR * size)


@summing_kernel
def _log_of_one_and(decay: _Real) -> _Real:
    """Return log(1 + decay) of 0 ≤ decay ≤ 1, to 2e-7: 2 artanh(y) of y = decay / (2 + decay)."""
    y = decay / (_TWO + decay)
    s = y * y
    series = _SEVENTH + s * (_NINTH + s * _ELEVENTH)
    return _TWO * y * (_ONE + s * (_THIRD + s * (_FIFTH + s * series)))
