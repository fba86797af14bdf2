"""Weights of the axes of a space that make cosines follow the scores of pairs.

Scaling coordinate k of unit vectors by exp(θ_k / 2) changes the cosine c of u_i and u_j by φ·θ, to
first order, with φ_k = u_ik u_jk − ½ c (u_ik² + u_jk²). With a Gaussian prior on θ, the regression
of the scores on c and φ is solved exactly, by m equations for m pairs.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.transforms.fit.scored_pairs import ScoredPairs

_LEAST_SLOPE = 0.3  # of the fitted slope, relative to that of the cosines alone


def axis_weights(units: Float64, pairs: ScoredPairs, variance: float) -> Float64:
    """Return the weights (r) of the principal axes, all 1 for a variance of 0.

    units (u × r): unit vectors of the supervised words.
    """
    rank = np.arange(1.0, units.shape[1] + 1)
    prior = variance * np.minimum(rank[:, None], rank) / np.maximum(rank[:, None], rank)
    slopes = axis_slopes(units, pairs)
    alpha = coefficients(slopes @ prior @ slopes.T, pairs.cosines(units), pairs.scores)
    return np.asarray(np.exp(0.5 * (prior @ (slopes.T @ alpha))))


def axis_slopes(units: Float64, pairs: ScoredPairs) -> Float64:
    """Return the derivatives (m × K) of the cosines in the log weights of the coordinates."""
    u, v = units[pairs.left], units[pairs.right]
    return np.asarray(u * v - 0.5 * pairs.cosines(units)[:, None] * (u * u + v * v))


def coefficients(covariance: Float64, cosines: Float64, scores: Float64) -> Float64:
    """Return α (m), so that covariances times α are the expected changes of cosines.

    The model is y = β₀ + β₁ c + f + ε for the scores y, with f of the given covariance (m × m) in
    units of the variance of ε; the change of a cosine is f / β₁, whatever the unit of the scores.
    Zero where scores do not rise with cosines.
    """
    if np.ptp(scores) == 0 or np.ptp(cosines) == 0:
        return np.zeros_like(cosines)
    plain = np.mean((cosines - cosines.mean()) * scores) / cosines.var()
    if plain <= 0:
        return np.zeros_like(cosines)
    F = np.column_stack((np.ones_like(cosines), cosines))
    solved = np.linalg.solve(covariance + np.eye(len(scores)), np.column_stack((scores, F)))
    beta = np.linalg.solve(F.T @ solved[:, 1:], F.T @ solved[:, 0])
    slope = max(beta[1], _LEAST_SLOPE * plain)
    return np.asarray((solved[:, 0] - solved[:, 1:] @ beta) / slope)
