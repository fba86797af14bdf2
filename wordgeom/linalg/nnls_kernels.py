"""Non-negative least squares by the active-set method (Lawson and Hanson 1974, ch. 23)."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.runtime.jit import kernel

_ROUNDING = 1e-13  # smaller slopes, relative to the terms of their difference, count as 0
_DEPENDENT = 1e-12  # a smaller share of a squared length outside the others' span is rounding
_STEPS = 10  # maximum steps per dimension


@kernel
def dot(left: Float64, right: Float64) -> float:
    """Return the inner product in four sums: a single one would wait for each addition."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    i = 0
    while i + 4 <= len(left):
        a += left[i] * right[i]
        b += left[i + 1] * right[i + 1]
        c += left[i + 2] * right[i + 2]
        d += left[i + 3] * right[i + 3]
        i += 4
    while i < len(left):
        a += left[i] * right[i]
        i += 1
    return (a + b) + (c + d)


@kernel
def solve_nnls(vectors: Float64, target: Float64, weights: Float64) -> bool:
    """Minimise ‖target − Σ weights_j vectors_j‖ over weights (k) ≥ 0; return whether it converged.

    vectors (k × m), target (m). Vectors that depend on others in use get exactly 0. Without
    convergence, weights are those of the last step.
    """
    k, room = len(vectors), min(vectors.shape)
    lengths = np.empty(k)
    for j in range(k):
        lengths[j] = np.sqrt(dot(vectors[j], vectors[j]))
    slopes, rejected = np.empty(k), np.empty(k, np.uint8)
    used, factor, solved = np.empty(room, np.int64), np.empty((room, room)), np.empty(room)
    rest = np.empty(len(target))
    count = 0
    weights[:] = 0.0
    for _ in range(_STEPS * (room + 1)):
        least = _slopes(vectors, target, lengths, weights, used[:count], rest, slopes)
        rejected[:] = 0
        rejected[used[:count]] = 1
        while True:
            j = _steepest(slopes, rejected, least)
            if j < 0 or count == room:  # with all dimensions used, a positive slope is rounding
                return True
            rejected[j] = 1
            used[count] = j
            if not _factor(vectors, lengths, used[: count + 1], factor):
                continue
            _solve(vectors, target, used[: count + 1], factor, solved)
            if solved[count] > 0:  # rounding can make the weight of a descent direction negative
                break
        count = _feasible(vectors, target, lengths, used, count + 1, factor, solved, weights)
    return False


@kernel
def _slopes(
    vectors: Array,
    target: Array,
    lengths: Array,
    weights: Array,
    used: Int64,
    rest: Array,
    slopes: Array,
) -> float:
    """Set slopes (k), for vectors of length 1, at the weights; return the threshold of rounding."""
    scale: float = np.sqrt(dot(target, target))
    for c in range(len(rest)):
        rest[c] = target[c]
    for j in used:
        scale += weights[j] * lengths[j]
        for c in range(len(rest)):
            rest[c] -= weights[j] * vectors[j, c]
    for j in range(len(vectors)):
        slopes[j] = dot(vectors[j], rest) / lengths[j] if lengths[j] > 0 else 0.0
    return _ROUNDING * scale


@kernel
def _steepest(slopes: Array, rejected: Array, least: float) -> int:
    """Return the index of the first steepest slope above `least` that is not rejected, or -1."""
    best = -1
    for j in range(len(slopes)):
        if rejected[j] == 0 and slopes[j] > least:
            least = slopes[j]
            best = j
    return best


@kernel
def _factor(vectors: Array, lengths: Array, used: Int64, factor: Array) -> bool:
    """Set the last row of the Cholesky factor of the Gram matrix; return False if singular."""
    i = len(used) - 1
    vector = vectors[used[i]]
    pivot = lengths[used[i]] ** 2
    for j in range(i):
        value = dot(vector, vectors[used[j]])
        for c in range(j):
            value -= factor[i, c] * factor[j, c]
        factor[i, j] = value / factor[j, j]
        pivot -= factor[i, j] ** 2
    if not pivot > _DEPENDENT * lengths[used[i]] ** 2:
        return False
    factor[i, i] = np.sqrt(pivot)
    return True


@kernel
def _solve(vectors: Array, target: Array, used: Int64, factor: Array, solved: Array) -> None:
    """Set solved to the unconstrained least-squares weights of the used vectors."""
    for i in range(len(used)):
        value = dot(vectors[used[i]], target)
        for c in range(i):
            value -= factor[i, c] * solved[c]
        solved[i] = value / factor[i, i]
    for i in range(len(used) - 1, -1, -1):
        value = solved[i]
        for r in range(i + 1, len(used)):
            value -= factor[r, i] * solved[r]
        solved[i] = value / factor[i, i]


@kernel
def _feasible(
    vectors: Array,
    target: Array,
    lengths: Array,
    used: Int64,
    count: int,
    factor: Array,
    solved: Array,
    weights: Array,
) -> int:
    """Move to the solution, dropping vectors whose weight reaches 0; return the number left."""
    while True:
        step, first = 1.0, -1
        for i in range(count):
            weight = weights[used[i]]
            if solved[i] <= 0 and weight <= step * (weight - solved[i]):
                step, first = weight / (weight - solved[i]), i
        for i in range(count):
            j = used[i]
            weights[j] = solved[i] if first < 0 else weights[j] + step * (solved[i] - weights[j])
        if first < 0:
            return count
        kept = 0
        for i in range(count):
            j = used[i]
            if i == first or weights[j] <= 0:
                weights[j] = 0.0
            else:
                used[kept] = j
                kept += 1
        for i in range(kept):
            _factor(vectors, lengths, used[: i + 1], factor)
        count = kept
        _solve(vectors, target, used[:count], factor, solved)
