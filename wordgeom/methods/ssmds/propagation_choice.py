"""Choose the strength of propagation by cross-validation inside the supervised pairs.

The folds are of words, not of pairs: a pair is held out if one of its words is, and trained on if
none is. Held-out pairs so have a word whose vector no score has moved directly, like most pairs of
other sets. With folds of pairs, moving supervised words alone would look better than it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from wordgeom.core.types import Float64, Int64
from wordgeom.evaluation.similarity import spearman
from wordgeom.methods.ssmds.propagation import Strength, pulls
from wordgeom.transforms.fit.axis_weights import axis_weights
from wordgeom.transforms.fit.scored_pairs import ScoredPairs, unit

METRICS = (0.0, 3.0, 10.0, 30.0)
DISPLACEMENTS = (0.0, 0.3, 3.0, 30.0)
POWERS = (1, 2, 3)
_FOLDS, _REPEATS = 5, 3
_LEAST = 3  # pairs of a fold, for a correlation
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
    folds = list(word_folds(pairs, len(units), seed))
    if not folds:
        return Choice(None, np.nan, np.nan, 0)
    plain = [spearman(held.cosines(original), held.scores) for _, held in folds]
    cases = [(train, held, v) for train, held in folds for v in METRICS]
    correlations = list(each(partial(_held_out, units), cases))
    means = np.array(correlations).reshape(len(folds), len(grid)).mean(axis=0)
    best, before = int(means.argmax()), float(np.mean(plain))
    after = float(means[best])
    return Choice(grid[best] if after > before else None, before, after, len(folds))


def word_folds(
    pairs: ScoredPairs, words: int, seed: int
) -> Iterator[tuple[ScoredPairs, ScoredPairs]]:
    """Yield the training and the held-out pairs of each usable fold of the words."""
    rng = np.random.default_rng(seed)
    for _ in range(_REPEATS):
        fold: Int64 = rng.permutation(words) % _FOLDS
        for number in range(_FOLDS):
            held = (fold[pairs.left] == number) | (fold[pairs.right] == number)
            parts = [pairs.part(np.flatnonzero(which)) for which in (~held, held)]
            if all(len(part.scores) >= _LEAST and np.ptp(part.scores) for part in parts):
                yield parts[0], parts[1]


def _held_out(units: Float64, case: _Case) -> list[float]:
    """Return the correlations of held-out pairs with one metric, in the order of the grid."""
    train, held, v = case
    anchors = unit(units * axis_weights(units, train, v))
    found = []
    for power in POWERS:
        similar = (anchors @ anchors.T) ** power
        for pulled in pulls(anchors, train, power, DISPLACEMENTS):
            correlation = spearman(held.cosines(anchors + similar @ pulled), held.scores)
            found.append(correlation if np.isfinite(correlation) else -1.0)
    return found
