"""Maximum likelihood factor analysis of a correlation matrix: Lawley and Maxwell 1971, ch. 4.

With Σ = LᵀL + Ψ, L (r × p) and Ψ diagonal, the best L for given Ψ is known: of the eigenvalues e of
Ψ^-½ R Ψ^-½ the r largest, those above 1, become 1 in Ψ^-½ R Ψ^-½ against Σ, and the others stay.
What is left is a search over the uniquenesses Ψ for the least Σ (e − log e − 1), which is
tr RΣ⁻¹ − log |RΣ⁻¹| − p.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Float64
from wordgeom.linalg.blas import one_thread

# R's factanal stops at FACTANAL. A word of r loadings and noise, all of variance 1 and σ², has the
# uniqueness σ² / (r + σ²): .0025 at σ² = .01 and r = 4, which lies outside, and the test rejects
# every such table whether the model holds or not. The bound only has to keep Ψ away from 0.
LOWER_BOUND = 1e-5
FACTANAL = 5e-3
_ROUNDS = 1000  # of L-BFGS-B
_STEEP = 1e-4  # a slope by log ψ below it moves the statistic by less than it is printed with


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model of p variables.

    discrepancy: tr RΣ⁻¹ − log |RΣ⁻¹| − p; uniquenesses (p); eigenvalues (p) of RΣ⁻¹, ascending,
    r of which are 1; converged: whether the search ended where there is no way down.
    """

    discrepancy: float
    uniquenesses: Float64
    eigenvalues: Float64
    converged: bool


def fit(correlations: Float64, r: int, least: float = LOWER_BOUND) -> Fit:
    """Return the model of r factors (0 < r < p) of a correlation matrix (p × p) of full rank.

    least: the bound of uniquenesses. The search begins where factanal's does, at
    (1 − r/2p) / diag R⁻¹, but goes by log ψ: where ψ is small, the slope by ψ itself is so steep
    that L-BFGS-B needs several times as many steps.
    """
    from scipy.optimize import minimize

    p = len(correlations)
    first = (1.0 - 0.5 * r / p) / np.diag(np.linalg.inv(correlations))
    low = np.log(least)
    with one_thread():
        found = minimize(
            lambda logs: _discrepancy(correlations, logs, r)[:2],
            np.clip(np.log(first), low, 0.0), method="L-BFGS-B", jac=True, bounds=[(low, 0.0)] * p,
            options={"maxiter": _ROUNDS, "maxfun": 20 * _ROUNDS, "maxcor": 20, "ftol": 1e-12,
                     "gtol": 1e-8},
        )  # fmt: skip
        value, slope, left = _discrepancy(correlations, found.x, r)
    # The search may give up a rounding away from the bottom, which is as good as success.
    held = ((found.x <= low) & (slope > 0.0)) | ((found.x >= 0.0) & (slope < 0.0))
    flat = float(np.abs(np.where(held, 0.0, slope)).max()) <= _STEEP
    return Fit(value, np.exp(found.x), left, bool(found.success) or flat)


def _discrepancy(correlations: Float64, logs: Float64, r: int) -> tuple[float, Float64, Array]:
    """Return the discrepancy at log ψ, its slope (p) and the eigenvalues (p) of RΣ⁻¹."""
    p = len(logs)
    scale = np.exp(-0.5 * logs)
    values, V = np.linalg.eigh(correlations * scale[:, None] * scale)
    common = np.maximum(values[p - r :], 1.0)
    left = np.concatenate((values[: p - r], values[p - r :] / common))
    slope = V[:, p - r :] ** 2 @ (common - 1.0) + 1.0 - np.diag(correlations) * scale**2
    return float(np.sum(left - np.log(left) - 1.0)), slope, np.sort(left)
