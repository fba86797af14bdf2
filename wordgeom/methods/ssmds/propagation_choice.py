"""Choose the strength of propagation by cross-validation inside the supervised pairs.

The folds are of words, not of pairs, so that held-out pairs have a word whose vector no score has
moved directly, like most pairs of other sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.evaluation.cross_validation import word_folds
from wordgeom.evaluation.similarity import spearman
from wordgeom.methods.ssmds.propagation import Strength, pulls, smooth_axis_weights
from wordgeom.transforms.fit.scored_pairs import ScoredPairs, unit

METRICS = (0.0, 3.0, 10.0, 30.0)
DISPLACEMENTS = (0.0, 0.3, 3.0, 30.0)
POWERS = (1, 2, 3)
_FOLDS, _REPEATS = 5, 3
_Case = tuple[ScoredPairs, ScoredPairs, float]  # pairs to train on, held-out pairs, a metric's v
_Each = Callable[[Callable[[_Case], list[float]], Sequence[_Case]], Iterable[list[float]]]


@dataclass(frozen=True)
class Choice:
    """The best strength, None if none improves held-out pairs, and what was found.

    before, after: mean Spearman correlations of held-out pairs, nan without a usable fold; folds:
    the number of usable ones.
    """

    strength: Strength | None
    before: float
    after: float
    folds: int


def choose(
    units: Float64, pairs: ScoredPairs, original: Float64, seed: int, each: _Each = map
) -> Choice:
    """Return the strength with the best mean correlation of held-out pairs.

    units (u × r): unit vectors of the supervised words on the principal axes; original (u × K): the
    vectors as they were, whose cosines are the baseline; each: calls a function for each of many
    cases, and returns the values in their order.
    """
    grid = [Strength(v, s, p) for v in METRICS for p in POWERS for s in DISPLACEMENTS]
    ends = pairs.left, pairs.right, pairs.scores
    parts = word_folds(*ends, folds=_FOLDS, repeats=_REPEATS, seed=seed)
    folds = [(pairs.part(train), pairs.part(held)) for train, held in parts]
    if not folds:
        return Choice(None, np.nan, np.nan, 0)
    plain = [spearman(held.cosines(original), held.scores) for _, held in folds]
    cases = [(train, held, v) for train, held in folds for v in METRICS]
    correlations = list(each(partial(_held_out, units), cases))
    means = np.array(correlations).reshape(len(folds), len(grid)).mean(axis=0)
    best, before = int(means.argmax()), float(np.mean(plain))
    after = float(means[best])
    return Choice(grid[best] if after > before else None, before, after, len(folds))


def _held_out(units: Float64, case: _Case) -> list[float]:
    """Return the correlations of held-out pairs with one metric, in the order of the grid."""
    train, held, v = case
    anchors = unit(units * smooth_axis_weights(units, train, v))
    found = []
    for power in POWERS:
        similar = (anchors @ anchors.T) ** power
        for pulled in pulls(anchors, train, power, DISPLACEMENTS):
            correlation = spearman(held.cosines(anchors + similar @ pulled), held.scores)
            found.append(correlation if np.isfinite(correlation) else -1.0)
    return found
