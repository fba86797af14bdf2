"""Maximum likelihood factor analysis of a correlation matrix: Lawley and Maxwell 1971, ch. 4.

In Σ = LᵀL + Ψ, with L (r × p) and Ψ diagonal, the optimal L given Ψ is explicit. With it, the
eigenvalues e of RΣ⁻¹ are those of Ψ^-½ R Ψ^-½, except that those of the r largest that exceed 1
become 1. The uniquenesses Ψ are found by minimising Σ (e − log e − 1) = tr RΣ⁻¹ − log |RΣ⁻¹| − p.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Float64
from wordgeom.linalg.blas import one_thread

# R's factanal bounds uniquenesses by FACTANAL. A word with r loadings of variance 1 and noise of
# variance σ² has the uniqueness σ² / (r + σ²), which is .0025 for σ² = .01 and r = 4. It violates
# the bound, so the test would reject even if the model holds. A bound need only keep Ψ above 0.
LOWER_BOUND = 1e-5
FACTANAL = 5e-3
_MAX_ITERATIONS = 1000  # of L-BFGS-B
_FLAT = 1e-4  # gradient by log ψ whose effect on the statistic is below its printed precision


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model of p variables.

    discrepancy: tr RΣ⁻¹ − log |RΣ⁻¹| − p; uniquenesses (p); eigenvalues (p) of RΣ⁻¹, ascending, r
    of them 1; converged: whether the optimiser reached a stationary point.
    """

    discrepancy: float
    uniquenesses: Float64
    eigenvalues: Float64
    converged: bool


def fit(correlations: Float64, r: int, bound: float = LOWER_BOUND) -> Fit:
    """Return the model of r factors (0 < r < p) of a correlation matrix (p × p) of full rank.

    bound: lower bound of the uniquenesses. The optimiser starts where factanal does, at
    (1 − r/2p) / diag R⁻¹, but varies log ψ: for small ψ the gradient by ψ is so steep that L-BFGS-B
    would need several times as many steps.
    """
    from scipy.optimize import minimize

    p = len(correlations)
    start = (1.0 - 0.5 * r / p) / np.diag(np.linalg.inv(correlations))
    low = np.log(bound)
    with one_thread():
        optimum = minimize(
            lambda logs: _discrepancy(correlations, logs, r)[:2],
            np.clip(np.log(start), low, 0.0), method="L-BFGS-B", jac=True, bounds=[(low, 0.0)] * p,
            options={"maxiter": _MAX_ITERATIONS, "maxfun": 20 * _MAX_ITERATIONS, "maxcor": 20,
                     "ftol": 1e-12, "gtol": 1e-8},
        )  # fmt: skip
        value, gradient, eigenvalues = _discrepancy(correlations, optimum.x, r)
    # The line search may fail within rounding of the minimum, which counts as convergence.
    held = ((optimum.x <= low) & (gradient > 0.0)) | ((optimum.x >= 0.0) & (gradient < 0.0))
    flat = float(np.abs(np.where(held, 0.0, gradient)).max()) <= _FLAT
    return Fit(value, np.exp(optimum.x), eigenvalues, bool(optimum.success) or flat)


def _discrepancy(correlations: Float64, logs: Float64, r: int) -> tuple[float, Float64, Array]:
    """Return the discrepancy at log ψ, its gradient (p) and the eigenvalues (p) of RΣ⁻¹."""
    p = len(logs)
    scale = np.exp(-0.5 * logs)
    values, V = np.linalg.eigh(correlations * scale[:, None] * scale)
    common = np.maximum(values[p - r :], 1.0)
    e = np.concatenate((values[: p - r], values[p - r :] / common))
    gradient = V[:, p - r :] ** 2 @ (common - 1.0) + 1.0 - np.diag(correlations) * scale**2
    return float(np.sum(e - np.log(e) - 1.0)), gradient, np.sort(e)
