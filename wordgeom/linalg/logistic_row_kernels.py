"""The hot loop of logistic sweeps: each row's minimiser of a quadratic bound of the loss.

The bound is logistic_rows.py's. Its system is (D + Σ w_j z_j z_jᵀ) x = b with the diagonal
D = a d + λ, solved by conjugate gradients in the coordinates D^½ x, where D is I.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wordgeom.core.types import Array, Float64, Int32, Int64
from wordgeom.linalg.row_solver_kernels import conjugate_gradients
from wordgeom.runtime.jit import summing_kernel

_Real = np.floating[Any]
_SMALL = 1e-2  # |x| below which the curvature is that at 0, to 1e-5
# In float32, since a Python number would make single precision double.
_ONE, _TWO, _FOUR, _EIGHTH = (np.float32(x) for x in (1.0, 2.0, 4.0, 0.125))
_THIRD, _FIFTH, _SEVENTH, _NINTH, _ELEVENTH = (np.float32(1.0 / n) for n in (3, 5, 7, 9, 11))


@summing_kernel
def solve_logistic_rows(
    indptr: Int64, indices: Int32, counts: Array, other: Array, loads: Float64, columns: Float64,
    diagonal: Float64, pull: Float64, ridges: Float64, shift: float, expect: bool,
    low: int, high: int, tol: float, most: int, nearby: int, x: Array, losses: Float64,
    steps: Int32,
) -> None:  # fmt: skip
    """Minimise the bounds of the rows [low, high), which touch the loss at x, and overwrite x.

    counts (nnz); other (m × K): z; loads (V): a_i; columns (m): b_j; diagonal (K): d; pull (K);
    ridges (V): λ_i; shift: β; x (V × K); expect: the bounds touch the loss at log(C_ij / a_i b_j)
    instead. Iterates to a residual of tol ‖b‖, or `most` steps; 0 leaves x. losses (V): of the rows
    before; nearby: maximum of gathered rows.
    """
    K = other.shape[1]
    room = 0
    for i in range(low, high):
        room = max(room, indptr[i + 1] - indptr[i])
    weights = np.empty(room, other.dtype)
    room = min(room, nearby)
    gathered, in_turn = np.empty((room, K), other.dtype), np.arange(room).astype(indices.dtype)
    b, r, scale = (np.empty(K, other.dtype), np.empty(K, other.dtype), np.empty(K, other.dtype))
    for i in range(low, high):
        begin, end = indptr[i], indptr[i + 1]
        pairs, n = indices[begin:end], end - begin
        rows, places = other, pairs
        if n <= room:
            _gather(other, pairs, gathered)
            rows, places = gathered, in_turn[:n]
        loss = _bound(rows, places, counts[begin:end], x[i], shift, weights)
        if expect:
            _expect(counts[begin:end], loads[i], columns, pairs, weights)
        for k in range(K):
            own = loads[i] * diagonal[k] + ridges[i]
            loss += own * x[i, k] * x[i, k] + 2.0 * loads[i] * pull[k] * x[i, k]
            scale[k] = 1.0 / np.sqrt(own)
        losses[i], steps[i] = loss, 0
        if most == 0:
            continue
        _sum_up(rows, places, counts[begin:end], weights, shift, b)
        for k in range(K):
            b[k] = scale[k] * (b[k] - loads[i] * pull[k])
            x[i, k] /= scale[k]
        steps[i] = conjugate_gradients(rows, places, weights[:n], scale, b, x[i], r, tol, most)
        for k in range(K):
            x[i, k] *= scale[k]


@summing_kernel
def _gather(other: Array, pairs: Int32, gathered: Array) -> None:
    """Copy some rows of `other` (m × K) to the first of `gathered`."""
    for t in range(len(pairs)):
        for k in range(other.shape[1]):
            gathered[t, k] = other[pairs[t], k]


@summing_kernel
def _bound(
    rows: Array, places: Int32, counts: Array, x: Array, shift: float, weights: Array
) -> float:  # fmt: skip
    """Set weights to w_j; return Σ C_j softplus(−x·z_j − β)."""
    zero = np.zeros(1, x.dtype)[0]
    for t in range(len(places)):
        z, along = rows[places[t]], zero
        for k in range(len(x)):
            along += z[k] * x[k]
        weights[t] = along + shift
    loss = 0.0
    for t in range(len(places)):  # apart from the products, so that it is vectorised
        along, count = weights[t], counts[t]
        size = abs(along)
        decay = np.exp(-size)
        weights[t] = count * _curvature(size, decay)
        loss += count * (max(-along, zero) + _log_of_one_and(decay))
    return loss


@summing_kernel
def _sum_up(
    rows: Array, places: Int32, counts: Array, weights: Array, shift: float, b: Array
) -> None:  # fmt: skip
    """Set b to Σ (C_j / 4 − w_j β) z_j."""
    b[:] = np.zeros(1, b.dtype)[0]
    for t in range(len(places)):
        z, pull = rows[places[t]], counts[t] * 0.25 - weights[t] * shift
        for k in range(len(b)):
            b[k] += pull * z[k]


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
