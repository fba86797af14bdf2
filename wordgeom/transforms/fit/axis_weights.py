"""Weights of the axes of a space that make cosines follow the scores of pairs.

Scaling coordinate k of unit vectors by exp(θ_k / 2) changes the cosine c of u_i and u_j by φ·θ, to
first order, with φ_k = u_ik u_jk − ½ c (u_ik² + u_jk²). With a Gaussian prior on θ, the regression
of the scores on c and φ has an exact solution.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.transforms.fit.score_regression import coefficients
from wordgeom.transforms.fit.scored_pairs import ScoredPairs

_MOST = np.log(10.0)  # of the logarithm of a weight


def axis_weights(units: Float64, pairs: ScoredPairs, prior: Float64) -> Float64:
    """Return the weights exp(θ / 2) (K) of the axes, at most tenfold and at least a tenth.

    The bound is far beyond where the first-order change holds; few pairs may ask for any weight.
    units (u × K): unit vectors of the words; prior (K × K): the covariance of θ, positive definite,
    in units of the variance of the noise.
    """
    root = np.linalg.cholesky(prior)
    A = axis_slopes(units, pairs) @ root
    small = np.eye(len(prior)) + A.T @ A

    def solve(right: Float64) -> Float64:  # (A Aᵀ + I)⁻¹, with K equations instead of m
        return np.asarray(right - A @ np.linalg.solve(small, A.T @ right))

    alpha = coefficients(solve, pairs.cosines(units), pairs.scores)
    logarithms = 0.5 * (root @ (A.T @ alpha))
    return np.exp(np.clip(logarithms, -_MOST, _MOST))


def axis_slopes(units: Float64, pairs: ScoredPairs) -> Float64:
    """Return the derivatives (m × K) of the cosines in the log weights of the coordinates."""
    u, v = units[pairs.left], units[pairs.right]
    return np.asarray(u * v - 0.5 * pairs.cosines(units)[:, None] * (u * u + v * v))
