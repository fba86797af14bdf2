"""A Gaussian process on averages: constant × Matérn 5/2 + white noise, by maximal likelihood."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.evaluation.cross_validation import Fit, standardised

MAX_TEXTS = 5000  # texts to learn from: time grows with their cube
_KERNEL = ("scale", "length", "noise")
_SQUARES = 12  # n × n matrices of float64 alive at once, gradients with them


def fit_bytes(n: int) -> int:
    """Return about how much memory a fit to n texts takes."""
    return _SQUARES * 8 * n * n


def gaussian_process(means: Float64, targets: Float64) -> Fit:
    """Return how to fit a fold of means (n × K) and targets (n).

    Both are standardised by what is learned from; two texts at random are then about √(2K) apart.
    One ascent of the likelihood, from scale 1, length √K and noise 1: no randomness.
    """
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    root = float(np.sqrt(means.shape[1]))

    def fit(learned: Int64, asked: Int64) -> tuple[Array, str]:
        x, y = standardised(means[learned], means[asked])
        remarks: list[str] = []
        kernel = ConstantKernel(1.0, (1e-3, 1e5)) * Matern(
            root, (1e-2 * root, 1e3 * root), nu=2.5
        ) + WhiteKernel(1.0, (1e-5, 1e2))
        model = GaussianProcessRegressor(kernel, optimizer=_ascent(remarks), normalize_y=True)
        model.fit(x, targets[learned])
        return model.predict(y), " and ".join(remarks)

    return fit


def _ascent(remarks: list[str]) -> Callable[..., tuple[Float64, float]]:
    """Return scikit-learn's own optimiser, but one that remarks where that would warn."""
    from scipy.optimize import minimize

    def run(objective: Any, start: Float64, bounds: Float64) -> tuple[Float64, float]:
        found = minimize(objective, start, method="L-BFGS-B", jac=True, bounds=bounds)
        if not found.success:
            remarks.append("did not converge")
        at_bound = np.isclose(bounds, found.x[:, None]).any(axis=1)
        if at_bound.any():
            names = [name for name, at in zip(_KERNEL, at_bound, strict=True) if at]
            remarks.append(f"ended at a bound of {' and '.join(names)}")
        return found.x, found.fun

    return run
