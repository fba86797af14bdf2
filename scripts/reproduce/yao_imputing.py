"""Latent semantic imputation of the firms, shared by the three experiments."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from wordgeom.core.types import Array, Float64
from wordgeom.imputation.graph import neighbour_graph
from wordgeom.imputation.reattachment import reattach
from wordgeom.imputation.solve import solve_exact, solve_power
from wordgeom.imputation.weights import Kind, fit_weights
from wordgeom.runtime.context import Context

MAX_STEPS = 100_000


@dataclass(frozen=True)
class Method:
    """Settings of the imputation; eta: the paper's stopping criterion, None to solve exactly."""

    delta: int = 8
    eta: float | None = None
    weights: Kind = "simplex"
    epsilon: float = 0.0


EXACT = Method()
# The settings of the authors' program: NNLS, ε = .1 of the smallest weight added to all, η = 1e-2.
PUBLISHED = Method(eta=1e-2, weights="nnls", epsilon=0.1)


@dataclass(frozen=True, eq=False)
class Imputed:
    """vectors (n × K) float64, known ones unchanged; reattached: entities cut off from anchors."""

    vectors: Float64
    reattached: int


def impute(
    points: Float64, known: Array, anchors: Float64, method: Method, context: Context
) -> Imputed:
    """Return vectors of all entities.

    points (n × d); known (n) bool; anchors (p × K): vectors of the known entities, in order.
    """
    points = np.ascontiguousarray(points)
    rows = np.flatnonzero(~known)
    graph = neighbour_graph(points, min(method.delta, len(points) - 1), context.pool)
    fitted = fit_weights(points, graph, rows, method.weights, method.epsilon, context).matrix
    fitted, reattached = reattach(fitted, graph, rows, known)
    if method.eta is None:
        solved = solve_exact(fitted, known, anchors, context.pool, context.progress)
    else:
        solved = solve_power(
            fitted, known, anchors, method.eta, MAX_STEPS, context.pool, context.progress
        )
    vectors = np.empty((len(points), anchors.shape[1]))
    vectors[known], vectors[rows] = anchors, solved.vectors
    return Imputed(vectors, len(reattached))


def varied(method: Method, delta: int | None = None, eta: float | None = None) -> Method:
    """Return the settings with another δ or η."""
    return replace(method, delta=delta or method.delta, eta=eta or method.eta)
