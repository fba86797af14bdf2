"""Kernels over entities: fit reconstruction weights, and measure reconstruction errors."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Float64, Int32, Int64
from wordgeom.linalg.nnls_kernels import dot, solve_nnls
from wordgeom.runtime.jit import kernel


@kernel
def fit_rows(
    points: Float64,
    entities: Int64,
    indptr: Int64,
    indices: Int32,
    simplex: bool,
    epsilon: float,
    start: int,
    stop: int,
    data: Float64,
    counts: Int64,
) -> None:
    """Set the weights of rows start:stop of a sparse matrix (rows × n) with rows `entities`.

    counts[0] increases by rows with equal weights because all were 0, counts[1] by rows whose
    NNLS did not converge.
    """
    for r in range(start, stop):
        row = slice(indptr[r], indptr[r + 1])
        weights = data[row]
        vectors, target = _problem(points, entities[r], indices[row], simplex)
        if not solve_nnls(vectors, target, weights):
            counts[1] += 1
        if not _normalise(weights, epsilon):
            counts[0] += 1


@kernel
def _problem(
    points: Array, entity: int, neighbours: Array, simplex: bool
) -> tuple[Float64, Float64]:
    """Return the vectors (k × m) and the target (m) of an entity's NNLS problem.

    Simplex: a last coordinate √s is appended. Weights v = t w ≥ 0 of sum t then have the residual
    t² f(w) + s (1 − t)², where f(w) = ‖x_i − Σ w_j x_j‖². Its minimum over t, f s / (f + s),
    increases with f, so that v / t minimises f on the simplex, for any s > 0.
    """
    k, d = len(neighbours), points.shape[1]
    vectors, target = np.empty((k, d + simplex)), np.zeros(d + simplex)
    if not simplex:
        for c in range(d):
            target[c] = points[entity, c]
    trace = 0.0
    for j in range(k):
        for c in range(d):
            origin = points[entity, c] if simplex else 0.0
            vectors[j, c] = points[neighbours[j], c] - origin
            trace += vectors[j, c] ** 2
    if simplex:
        target[d] = np.sqrt(trace / max(k, 1))
        for j in range(k):
            vectors[j, d] = target[d]
    return vectors, target


@kernel
def _normalise(weights: Array, epsilon: float) -> bool:
    """Add epsilon × smallest positive weight to all, divide by the sum; False if all are 0."""
    least, total = np.inf, 0.0
    for weight in weights:
        total += weight
        if weight > 0:
            least = min(least, weight)
    if total == 0:
        weights[:] = 1.0 / max(len(weights), 1)
        return False
    total += len(weights) * epsilon * least
    for j in range(len(weights)):
        weights[j] = (weights[j] + epsilon * least) / total
    return True


@kernel
def measure_rows(
    points: Float64,
    entities: Int64,
    indptr: Int64,
    indices: Int32,
    data: Float64,
    start: int,
    stop: int,
    errors: Float64,
) -> None:
    """Set errors[start:stop] to ‖Σ w_ij (x_j − x_i)‖, which is ‖x_i − Σ w_ij x_j‖ for sum 1."""
    rest = np.empty(points.shape[1])
    for r in range(start, stop):
        rest[:] = 0.0
        for entry in range(indptr[r], indptr[r + 1]):
            for c in range(len(rest)):
                rest[c] += data[entry] * (points[indices[entry], c] - points[entities[r], c])
        errors[r] = np.sqrt(dot(rest, rest))
