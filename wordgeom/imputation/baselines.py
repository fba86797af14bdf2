"""What imputation is held against: simpler ways to a vector for an entity that has none.

Each predicts the vectors of hidden entities from those of visible ones; both are positions among
the p entities that have one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from wordgeom.core.types import Float64, Int64
from wordgeom.evaluation.cross_validation import standardised
from wordgeom.evaluation.estimators import deterministic_estimators
from wordgeom.linalg.nearest_neighbours import nearest_to
from wordgeom.runtime.pool import Pool

# predict(hidden, visible) → (hidden × K) float64
Predict = Callable[[Int64, Int64], Float64]
_ALPHAS = tuple(10.0**power for power in range(-2, 7))
_WORK = 5 * 10**10  # operations of a fit, about: some ten seconds


def mean_vector(anchors: Float64) -> Predict:
    """Return what predicts the mean of the visible vectors; anchors (p × K)."""

    def predict(hidden: Int64, visible: Int64) -> Float64:
        return np.tile(anchors[visible].mean(axis=0), (len(hidden), 1))

    return predict


def nearest_anchor(points: Float64, entities: Int64, anchors: Float64, pool: Pool) -> Predict:
    """Return what predicts the vector of the visible entity that is nearest.

    points (n × d); entities (p): the rows of `points` whose vectors are anchors (p × K).
    """

    def predict(hidden: Int64, visible: Int64) -> Float64:
        found, _ = nearest_to(points, entities[hidden], entities[visible], pool)
        predicted: Float64 = anchors[np.searchsorted(entities, found)]
        return predicted

    return predict


def ridge(points: Float64, entities: Int64, anchors: Float64, seed: int) -> Predict:
    """Return what predicts by ridge regression of vectors on standardised points.

    The penalty is the best of nine decades for the visible entities, each left out once (Golub,
    Heath and Wahba 1979). It learns from no more entities than `ridge_rows` tells.
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
    """Return how many of the entities a ridge regression may learn from: it takes n d min(n, d)."""
    if entities * columns * min(entities, columns) <= _WORK:
        return entities
    long = _WORK // columns**2
    return max(2, long if long >= columns else math.isqrt(_WORK // columns))
