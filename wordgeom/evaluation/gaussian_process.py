"""Gaussian process regression: constant × Matérn 5/2 + white noise, by maximum likelihood."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.evaluation.cross_validation import Fit, standardised

MAX_TEXTS = 5000  # in a training set: time grows with the cube
_PARAMETERS = ("scale", "length", "noise")
_SQUARES = 12  # n × n float64 matrices in memory at once, including gradients


def fit_bytes(n: int) -> int:
    """Return the approximate memory in bytes of a fit to n texts."""
    return _SQUARES * 8 * n * n


def gaussian_process(means: Float64, targets: Float64) -> Fit:
    """Return the function that fits one fold of means (n × K) and targets (n).

    Both are standardised by the training set; two random texts are then about √(2K) apart. The
    likelihood is maximised once, from scale 1, length √K and noise 1, without random restarts.
    """
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    root = float(np.sqrt(means.shape[1]))

    def fit(train: Int64, test: Int64) -> tuple[Array, str]:
        x, y = standardised(means[train], means[test])
        problems: list[str] = []
        kernel = ConstantKernel(1.0, (1e-3, 1e5)) * Matern(
            root, (1e-2 * root, 1e3 * root), nu=2.5
        ) + WhiteKernel(1.0, (1e-5, 1e2))
        model = GaussianProcessRegressor(kernel, optimizer=_optimiser(problems), normalize_y=True)
        model.fit(x, targets[train])
        return model.predict(y), " and ".join(problems)

    return fit


def _optimiser(problems: list[str]) -> Callable[..., tuple[Float64, float]]:
    """Return scikit-learn's default optimiser, recording problems instead of warning."""
    from scipy.optimize import minimize

    def run(objective: Any, start: Float64, bounds: Float64) -> tuple[Float64, float]:
        optimum = minimize(objective, start, method="L-BFGS-B", jac=True, bounds=bounds)
        if not optimum.success:
            problems.append("did not converge")
        at_bound = np.isclose(bounds, optimum.x[:, None]).any(axis=1)
        if at_bound.any():
            names = [name for name, at in zip(_PARAMETERS, at_bound, strict=True) if at]
            problems.append(f"hit a bound on {' and '.join(names)}")
        return optimum.x, optimum.fun

    return run
