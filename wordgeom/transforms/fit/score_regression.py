"""Regression of the scores of pairs on their cosines and on a Gaussian change of these."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wordgeom.core.types import Float64

_LEAST_SLOPE = 0.3  # of the fitted slope, relative to that of the cosines alone


def coefficients(solve: Callable[[Float64], Float64], cosines: Float64, scores: Float64) -> Float64:
    """Return α (m), so that covariances times α are the expected changes of cosines.

    The model is y = β₀ + β₁ c + f + ε for the scores y. solve: returns (C + I)⁻¹ B for B (m × n),
    where C (m × m) is the covariance of f in units of the variance of ε. The change of a cosine is
    f / β₁, whatever the unit of the scores. Zero where scores do not rise with cosines.
    """
    if np.ptp(scores) == 0 or np.ptp(cosines) == 0:
        return np.zeros_like(cosines)
    plain = np.mean((cosines - cosines.mean()) * scores) / cosines.var()
    if plain <= 0:
        return np.zeros_like(cosines)
    F = np.column_stack((np.ones_like(cosines), cosines))
    solved = solve(np.column_stack((scores, F)))
    beta = np.linalg.solve(F.T @ solved[:, 1:], F.T @ solved[:, 0])
    slope = max(beta[1], _LEAST_SLOPE * plain)
    return np.asarray((solved[:, 0] - solved[:, 1:] @ beta) / slope)
