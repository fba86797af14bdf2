"""Regression of scores on the cosines of pairs, and on first-order changes of these cosines.

For unit vectors u and a pair t = (i, j) with cosine c = u_i·u_j, moving the words by Δ_i and Δ_j
changes the cosine by a_t·Δ_i + b_t·Δ_j with a_t = u_j − c u_i and b_t = u_i − c u_j; scaling
coordinate k by exp(θ_k / 2) changes it by φ_t·θ with φ_tk = u_ik u_jk − ½ c (u_ik² + u_jk²).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from wordgeom.core.types import Float64, Int64

_LEAST_SLOPE = 0.3  # of the fitted slope, relative to that of the cosines alone


@dataclass(frozen=True)
class ScoredPairs:
    """Pairs of u words: left, right (m) int64, positions below u; scores (m) float64."""

    left: Int64
    right: Int64
    scores: Float64

    def part(self, which: Int64) -> ScoredPairs:
        """Return some of the pairs."""
        return replace(
            self, left=self.left[which], right=self.right[which], scores=self.scores[which]
        )

    def cosines(self, vectors: Float64) -> Float64:
        """Return the cosines (m) of nonzero vectors (u × K)."""
        units = unit(vectors)
        return np.asarray(np.einsum("ij,ij->i", units[self.left], units[self.right]))


def unit(vectors: Float64) -> Float64:
    """Return vectors (n × K) of length 1; zero vectors stay zero."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0)[:, None])


def tangents(units: Float64, pairs: ScoredPairs) -> tuple[Float64, Float64]:
    """Return the gradients (m × K) of the cosines in the left and in the right word."""
    u, v = units[pairs.left], units[pairs.right]
    c = pairs.cosines(units)[:, None]
    return v - c * u, u - c * v


def axis_slopes(units: Float64, pairs: ScoredPairs) -> Float64:
    """Return the derivatives (m × K) of the cosines in the log weights of the coordinates."""
    u, v = units[pairs.left], units[pairs.right]
    return np.asarray(u * v - 0.5 * pairs.cosines(units)[:, None] * (u * u + v * v))


def displacement_covariance(units: Float64, pairs: ScoredPairs, power: int) -> Float64:
    """Return the covariances (m × m) of the changes of cosines under the prior of Δ.

    The coordinates of Δ are independent, with covariance (u_i·u_k)^power between two words.
    """
    A, B = tangents(units, pairs)
    K = (units @ units.T) ** power
    i, j = pairs.left, pairs.right
    mixed = K[np.ix_(i, j)] * (A @ B.T)
    same = K[np.ix_(i, i)] * (A @ A.T) + K[np.ix_(j, j)] * (B @ B.T)
    return np.asarray(same + mixed + mixed.T)


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
