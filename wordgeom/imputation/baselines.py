"""Baselines of the validation: mean vector, nearest anchor, ridge regression.

Each predicts the vectors of hidden anchors from those of visible ones. Both are given as
positions among the p anchors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Float64, Int64
from wordgeom.evaluation.cross_validation import standardised
from wordgeom.evaluation.estimators import deterministic_estimators
from wordgeom.linalg.nearest_neighbours import nearest_to
from wordgeom.runtime.pool import Pool

# predict(hidden, visible) → (hidden × K) float64
Predict = Callable[[Int64, Int64], Float64]


@dataclass(frozen=True)
class Baseline:
    """A further baseline: what the report calls it, how it is made, and a note on it.

    make: returns the predictor, given the numbers (p) of the anchors in the order of their names.
    """

    name: str
    make: Callable[[Int64], Predict]
    note: str


_ALPHAS = tuple(10.0**power for power in range(-2, 7))
_WORK = 5 * 10**10  # operations of a ridge fit, about ten seconds


def mean_vector(anchors: Float64) -> Predict:
    """Return a predictor of the mean visible vector; anchors (p × K)."""

    def predict(hidden: Int64, visible: Int64) -> Float64:
        return np.tile(anchors[visible].mean(axis=0), (len(hidden), 1))

    return predict


def nearest_anchor(points: Float64, entities: Int64, anchors: Float64, pool: Pool) -> Predict:
    """Return a predictor of the vector of the nearest visible anchor.

    points (n × d); entities (p): rows of `points` whose vectors are anchors (p × K).
    """

    def predict(hidden: Int64, visible: Int64) -> Float64:
        found, _ = nearest_to(points, entities[hidden], entities[visible], pool)
        predicted: Float64 = anchors[np.searchsorted(entities, found)]
        return predicted

    return predict


def ridge(points: Float64, entities: Int64, anchors: Float64, seed: int) -> Predict:
    """Return a predictor by ridge regression of vectors on standardised points.

    Leave-one-out cross-validation chooses the penalty among nine decades (Golub, Heath and Wahba
    1979). The training set has at most `ridge_rows` anchors, drawn at random.
    """
    from sklearn.linear_model import RidgeCV

    def predict(hidden: Int64, visible: Int64) -> Float64:
        most = ridge_rows(len(visible), points.shape[1])
        if most < len(visible):
            drawn = np.random.default_rng(seed).choice(len(visible), most, replace=False)
            visible = visible[np.sort(drawn)]
        learned, asked = standardised(points[entities[visible]], points[entities[hidden]])
        with deterministic_estimators():
            model = RidgeCV(alphas=_ALPHAS).fit(learned, anchors[visible])
            predicted = model.predict(asked)
        return np.asarray(predicted, np.float64).reshape(len(hidden), -1)

    return predict


def ridge_rows(entities: int, columns: int) -> int:
    """Return the number of entities a ridge regression can afford, at n d min(n, d) operations."""
    if entities * columns * min(entities, columns) <= _WORK:
        return entities
    long = _WORK // columns**2
    return max(2, long if long >= columns else math.isqrt(_WORK // columns))
