"""Choose among optimal NNLS weights those of least norm, the only ones that no order decides.

All minimisers v ≥ 0 of ‖A v − b‖ have the same A v = c. They are unique if the columns with slope
a_jᵀ(b − c) = 0 are independent, and certainly if those are the columns in use, which NNLS keeps
independent. Otherwise the weights are regularised as in locally linear embedding (Roweis and Saul
2000), where a share of the trace of AᵀA is added to its diagonal. Iterating this on the residual
(iterated Tikhonov regularisation) removes the bias: the result minimises ‖v‖ among the minimisers.
Every step has a unique solution, which does not depend on the order of the columns.

SciPy 1.17's NNLS returns weights that are not optimal for about 2 % of problems with many ties.
They are recognised by their slopes, and improved by proximal steps (Rockafellar 1976).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Float64

_SHARE = 1e-5  # of the trace
_LEVEL = 1e-10  # relative slopes below this are 0
_NEGLIGIBLE = 1e-7  # weights below this share of the largest are examined
_ROUNDING = 1e-13  # relative gradients below this are 0
_FIT = 1e-12  # relative residual at which iterations stop
_ITERATIONS, _PROXIMAL = 20, 100
_CHANGES = 10  # maximum changes of the active set per column


def least_norm(columns: Float64, target: Float64, found: Float64, optimal: bool) -> Float64:
    """Return the minimiser of least norm, given columns (m × k), target (m) and NNLS weights (k).

    optimal: whether the given weights are a minimiser. Raises RuntimeError where an active set does
    not converge.
    """
    if not columns.any():
        return found
    problem = _Problem.of(columns)
    fitted = columns @ (found if optimal else problem.nearest(target, found))
    weights, _ = problem.least(fitted)
    used = weights > _NEGLIGIBLE * weights.max()
    if (weights[~used] > 0.0).any():  # rounding of 0, if the others fit as well
        fewer = np.zeros_like(weights)
        fewer[used], fits = _Problem.of(columns[:, used]).least(fitted)
        weights = fewer if fits else weights
    return weights


def assess(slopes: Float64, scale: Float64, weights: Float64) -> tuple[Array, Array]:
    """Return which weights (edges) contradict optimality, and which leave the optimum open.

    slopes (edges): a_jᵀ(b − A v); scale (edges): ‖a_j‖ ‖b‖.
    """
    level, used = _LEVEL * scale, weights > 0.0
    wrong = (slopes > level) | (used & (slopes < -level))
    return wrong, ~used & (slopes >= -level)


@dataclass(frozen=True)
class _Problem:
    """Regularised least squares with weights ≥ 0.

    columns (m × k); gram (k × k): AᵀA + λ I; ridge: λ.
    """

    columns: Float64
    gram: Float64
    ridge: float

    @classmethod
    def of(cls, columns: Float64) -> _Problem:
        gram = columns.T @ columns
        ridge = _SHARE * float(np.trace(gram))
        gram[np.diag_indices_from(gram)] += ridge
        return cls(columns, gram, ridge)

    def nearest(self, target: Float64, start: Float64) -> Float64:
        """Return a minimiser of ‖A v − target‖, from a start ≥ 0, by proximal steps."""
        right, weights = target @ self.columns, start
        limit = _FIT**2 * (target @ target)
        for _ in range(_PROXIMAL):
            before = weights
            weights = _minimum(self.gram, right + self.ridge * before)
            change = self.columns @ (weights - before)
            if change @ change <= limit:
                break
        return weights

    def least(self, fitted: Float64) -> tuple[Float64, bool]:
        """Return the weights of least norm with A v = fitted, and whether they reached it."""
        goal, rest = np.zeros_like(fitted), fitted
        limit = _FIT**2 * (fitted @ fitted)
        for _ in range(_ITERATIONS):
            goal += rest
            weights = _minimum(self.gram, goal @ self.columns)
            rest = fitted - self.columns @ weights
            if rest @ rest <= limit:
                return weights, True
        return weights, False


def _minimum(gram: Float64, right: Float64) -> Float64:
    """Return the weights v ≥ 0 that minimise ½ vᵀ gram v − rightᵀ v, by active sets.

    gram (k × k) is positive definite. Lawson and Hanson's algorithm (1974, ch. 23), which starts
    at the positive part of the solution without constraints.
    """
    weights = np.maximum(np.linalg.solve(gram, right), 0.0)
    used = weights > 0.0
    least = _ROUNDING * float(np.abs(right).max())
    for _ in range(_CHANGES * len(right)):
        solved = _solved(gram, right, used)
        if (solved[used] > 0.0).all():
            weights = solved
            uphill = np.where(used, -np.inf, right - gram @ weights)
            best = int(uphill.argmax())
            if uphill[best] <= least:
                return weights
            used[best] = True
            continue
        negative = used & (solved <= 0.0)
        share = np.min(weights[negative] / (weights[negative] - solved[negative]))
        ends = negative & (weights <= share * (weights - solved))
        weights = weights + share * (solved - weights)
        used &= ~ends & (weights > 0.0)
        weights[~used] = 0.0
    raise RuntimeError("active set")


def _solved(gram: Float64, right: Float64, used: Array) -> Float64:
    """Return the solution on the weights in use, 0 elsewhere."""
    places = np.flatnonzero(used)
    solved = np.zeros_like(right)
    solved[places] = np.linalg.solve(gram[np.ix_(places, places)], right[places])
    return solved
