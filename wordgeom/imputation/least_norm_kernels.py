"""Kernels of least_norm.py: regularised NNLS by active sets, on the Gram matrix of a row.

The active set is solved by a Cholesky factor, row by row: one more weight adds a row, and one fewer
changes only the rows below its own.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Bytes, Float64, Int64
from wordgeom.runtime.jit import kernel, summing_kernel

_SHARE = 1e-5  # of the trace
_NEGLIGIBLE = 1e-7  # weights below this share of the largest are examined
_ROUNDING = 1e-13  # relative gradients below this are 0
_FIT = 1e-12  # relative residual at which iterations stop
_ITERATIONS, _PROXIMAL = 20, 100
_CHANGES = 10  # maximum changes of the active set per weight


@kernel
def make_least(
    rows: Int64, wrong: Array, vectors: Float64, targets: Float64, indptr: Int64, weights: Float64
) -> int:
    """Replace the weights (edges) of rows by the minimisers of least norm, 0 if not converged.

    wrong (all rows): whether the given weights are no minimiser; vectors (edges × m); targets
    (all rows × m). Returns the number of rows that did not converge.
    """
    unconverged = 0
    for row in rows:
        part = slice(indptr[row], indptr[row + 1])
        if not _least_norm(vectors[part], targets[row], weights[part], wrong[row]):
            weights[part] = 0.0
            unconverged += 1
    return unconverged


@kernel
def _least_norm(vectors: Float64, target: Float64, weights: Float64, wrong: bool) -> bool:
    """Replace the weights (k) of vectors (k × m) for one target; return whether it converged."""
    gram, ridge = _regularised(vectors)
    if ridge == 0.0:
        return True
    if wrong and not _approach(gram, ridge, vectors, target, weights):
        return False
    fitted = _combine(vectors, weights)
    found = np.zeros_like(weights)
    converged, fits = _iterate(gram, vectors, fitted, found)
    if not converged:
        return False
    weights[:] = found
    used = np.flatnonzero(found > _NEGLIGIBLE * found.max())
    if found.sum() > found[used].sum():  # rounding of 0, if the others fit as well
        fewer = np.zeros(len(used))
        gram, ridge = _regularised(vectors[used])
        converged, fits = _iterate(gram, vectors[used], fitted, fewer)
        if converged and fits:
            weights[:] = 0.0
            weights[used] = fewer
    return converged


@kernel
def _regularised(vectors: Float64) -> tuple[Float64, float]:
    """Return the Gram matrix (k × k) plus λ I, and λ."""
    k = len(vectors)
    gram = np.empty((k, k))
    for i in range(k):
        for j in range(i + 1):
            gram[i, j] = gram[j, i] = _dot(vectors[i], vectors[j])
    ridge = _SHARE * np.trace(gram)
    for i in range(k):
        gram[i, i] += ridge
    return gram, ridge


@kernel
def _approach(
    gram: Float64, ridge: float, vectors: Float64, target: Float64, weights: Float64
) -> bool:
    """Move weights to a minimiser of ‖Σ w_j a_j − target‖ by proximal steps."""
    right = _products(vectors, target)
    limit = _FIT**2 * _dot(target, target)
    used = np.zeros(len(weights), np.uint8)
    for _ in range(_PROXIMAL):
        before = weights.copy()
        if not _minimise(gram, right + ridge * before, weights, used):
            return False
        change = _combine(vectors, weights - before)
        if _dot(change, change) <= limit:
            break
    return True


@kernel
def _iterate(
    gram: Float64, vectors: Float64, fitted: Float64, weights: Float64
) -> tuple[bool, bool]:
    """Set weights to those of least norm with Σ w_j a_j = fitted, by iterated regularisation.

    Returns whether the active sets converged, and whether the weights fit.
    """
    goal, rest = np.zeros_like(fitted), fitted
    limit = _FIT**2 * _dot(fitted, fitted)
    used = np.zeros(len(weights), np.uint8)
    for _ in range(_ITERATIONS):
        goal += rest
        if not _minimise(gram, _products(vectors, goal), weights, used):
            return False, False
        rest = fitted - _combine(vectors, weights)
        if _dot(rest, rest) <= limit:
            return True, True
    return True, False


@kernel
def _minimise(gram: Float64, right: Float64, weights: Float64, used: Bytes) -> bool:
    """Set weights v ≥ 0 to the minimum of ½ vᵀ gram v − rightᵀ v; return whether it was reached.

    gram (k × k) is positive definite. Lawson and Hanson's algorithm (1974, ch. 23). It starts with
    the active set `used` (k), or, if that is empty, at the positive part of the solution without
    constraints.
    """
    k = len(right)
    lower, places = np.empty((k, k)), np.empty(k, np.int64)
    if not used.any():
        weights[:] = 0.0
        solved = _solve(gram, right, np.arange(k), k, 0, lower)
        for i in range(k):
            weights[i], used[i] = max(solved[i], 0.0), solved[i] > 0.0
    size = done = 0
    for i in range(k):
        if used[i]:
            places[size] = i
            size += 1
    least = _ROUNDING * np.abs(right).max()
    for _ in range(_CHANGES * k):
        solved = _solve(gram, right, places, size, done, lower)
        if size == 0 or solved[:size].min() > 0.0:
            weights[:] = 0.0
            weights[places[:size]] = solved[:size]
            best = _steepest(gram, right, weights, used, least)
            if best < 0:
                return True
            places[size], used[best], done = best, 1, size
            size += 1
        else:
            size, done = _step(solved, places, size, weights, used)
    return False


@kernel
def _steepest(gram: Float64, right: Float64, weights: Float64, used: Bytes, least: float) -> int:
    """Return the unused weight of the steepest descent, −1 if none exceeds `least`."""
    best, most = -1, least
    for i in range(len(right)):
        if not used[i]:
            slope = right[i] - _dot(gram[i], weights)
            if slope > most:
                best, most = i, slope
    return best


@kernel
def _step(
    solved: Float64, places: Int64, size: int, weights: Float64, used: Bytes
) -> tuple[int, int]:
    """Move weights towards the solution until the first is 0, and drop it from the active set.

    Returns the size of the set, and how many of its first places stay where they are.
    """
    share = 1.0
    for p in range(size):
        if solved[p] <= 0.0:
            before = weights[places[p]]
            share = min(share, before / (before - solved[p]) if before > 0.0 else 0.0)
    left, first = 0, size
    for p in range(size):
        i = places[p]
        before = weights[i]
        ends = solved[p] <= 0.0 and before <= share * (before - solved[p])
        weights[i] = before + share * (solved[p] - before)
        if ends or (weights[i] <= 0.0 < share):
            weights[i], used[i] = 0.0, 0
            first = min(first, p)
        else:
            places[left] = i
            left += 1
    return left, first


@kernel
def _solve(
    gram: Float64, right: Float64, places: Int64, size: int, done: int, lower: Float64
) -> Float64:
    """Return the solution (k) on the first `size` places, in their order.

    lower (k × k): the Cholesky factor, whose first `done` rows are valid.
    """
    solved = np.empty(len(right))
    for p in range(done, size):
        for q in range(p):
            rest = gram[places[p], places[q]] - _dot(lower[p, :q], lower[q, :q])
            lower[p, q] = rest / lower[q, q]
        lower[p, p] = np.sqrt(gram[places[p], places[p]] - _dot(lower[p, :p], lower[p, :p]))
    for p in range(size):
        solved[p] = (right[places[p]] - _dot(lower[p, :p], solved[:p])) / lower[p, p]
    for p in range(size - 1, -1, -1):
        solved[p] /= lower[p, p]
        for q in range(p):
            solved[q] -= solved[p] * lower[p, q]
    return solved


@kernel
def _products(vectors: Float64, target: Float64) -> Float64:
    """Return the product of each vector (k × m) with the target."""
    right = np.empty(len(vectors))
    for j in range(len(vectors)):
        right[j] = _dot(vectors[j], target)
    return right


@kernel
def _combine(vectors: Float64, weights: Float64) -> Float64:
    """Return Σ w_j a_j."""
    total = np.zeros(vectors.shape[1])
    for j in range(len(vectors)):
        if weights[j] != 0.0:
            total += weights[j] * vectors[j]
    return total


@summing_kernel
def _dot(a: Float64, b: Float64) -> float:
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total
