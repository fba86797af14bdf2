"""Latent semantic imputation of the firms, piece by piece: what the three experiments share."""

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
class Way:
    """How to impute; eta None solves exactly, else the paper's iteration stops below it."""

    delta: int = 8
    eta: float | None = None
    weights: Kind = "simplex"
    epsilon: float = 0.0


EXACT = Way()
# What the authors' program does: NNLS, a tenth of the least weight added to all, η = 1e-2.
PUBLISHED = Way(eta=1e-2, weights="nnls", epsilon=0.1)


@dataclass(frozen=True, eq=False)
class Imputed:
    """vectors (n × K) float64, known ones unchanged; reattached: entities cut off from anchors."""

    vectors: Float64
    reattached: int


def impute(points: Float64, known: Array, anchors: Float64, way: Way, using: Context) -> Imputed:
    """Return a vector of every entity.

    points (n × d); known (n) bool; anchors (p × K), the vectors of the known ones in their order.
    """
    points = np.ascontiguousarray(points)
    rows = np.flatnonzero(~known)
    graph = neighbour_graph(points, min(way.delta, len(points) - 1), using.pool)
    fitted = fit_weights(
        points, graph, rows, way.weights, way.epsilon, using.pool, using.progress
    ).matrix
    fitted, reattached = reattach(fitted, graph, rows, known)
    if way.eta is None:
        solved = solve_exact(fitted, known, anchors, using.pool, using.progress)
    else:
        solved = solve_power(fitted, known, anchors, way.eta, MAX_STEPS, using.pool, using.progress)
    vectors = np.empty((len(points), anchors.shape[1]))
    vectors[known], vectors[rows] = anchors, solved.vectors
    return Imputed(vectors, len(reattached))


def varied(way: Way, delta: int | None = None, eta: float | None = None) -> Way:
    """Return the way with another δ or η."""
    return replace(way, delta=delta or way.delta, eta=eta or way.eta)
