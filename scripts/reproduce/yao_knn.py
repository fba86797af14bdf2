"""Leave-one-out accuracy of k nearest neighbours (§5.1), with intervals.

The class with most votes wins; ties go to the class of the nearest neighbour. With weighted votes,
a neighbour at distance d has 1/d votes, as with scikit-learn's `distance`; one at distance 0
outvotes all others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.evaluation.answers import Answers, Measure, Score, difference, scores

KS = (2, 5, 8, 10, 15, 20, 30)
RESAMPLES = 5000
_SEED = 1


def _accuracy(given: Array, gold: Array) -> float:
    return float(np.mean(given == gold))


ACCURACY = Measure("accuracy", _accuracy)


@dataclass(frozen=True)
class Vote:
    """The distance between neighbours, and whether it weights votes."""

    cosine: bool = False
    weighted: bool = False


PLAIN = Vote()


def neighbours(vectors: Float64, cosine: bool) -> tuple[Int64, Float64]:
    """Return, for each of n vectors, the others and their distances, nearest first (n × n−1).

    Ties are in order of rows. cosine: Euclidean distance of vectors scaled to length 1.
    """
    n = len(vectors)
    if cosine:
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = vectors / np.where(norms > 0, norms, 1)
    distances = np.array([np.linalg.norm(vectors - row, axis=1) for row in vectors])
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, : n - 1]
    return order, np.take_along_axis(distances, order, axis=1)


def predict(classes: Array, near: Float64, weighted: bool) -> Array:
    """Return predictions (n) from neighbours' classes and distances (n × k), nearest first."""
    votes = np.ones(near.shape)
    if weighted:
        zero = near == 0
        votes = np.divide(1, near, out=np.ones_like(near), where=~zero)
        votes[zero.any(axis=1)] = zero[zero.any(axis=1)]
    same = classes[:, :, None] == classes[:, None, :]
    counts = np.einsum("ijk,ik->ij", same, votes)
    # Sums of the same votes in another order differ by rounding errors, and are ties.
    best = counts >= counts.max(axis=1, keepdims=True) * (1 - 1e-12)
    winner = np.argmax(best, axis=1)
    return np.take_along_axis(classes, winner[:, None], axis=1)[:, 0]


def classify(vectors: Float64, sectors: Array, items: Int64, k: int, vote: Vote) -> Answers:
    """Return the predictions of each vector's sector by its k nearest neighbours.

    vectors (n × K); sectors (n); items (n): numbers of the firms, ascending, which pair answers.
    """
    order, near = neighbours(vectors, vote.cosine)
    k = min(k, len(vectors) - 1)
    given = predict(sectors[order[:, :k]], near[:, :k], vote.weighted)
    return Answers("sectors", f"k = {k}", (ACCURACY,), items, given, sectors)


def only(answers: Answers, items: Int64) -> Answers:
    """Return the answers for some of the items; their neighbours are among all items."""
    at = answers.at(items)
    given, gold = answers.given[at], answers.gold[at]
    return Answers(answers.task, answers.name, answers.measures, items, given, gold)


def accuracy(answers: Answers) -> Score:
    """Return the accuracy with its 95 % interval from a bootstrap over firms."""
    return scores(answers, RESAMPLES, _SEED)[0]


def gain(before: Answers, after: Answers) -> Score:
    """Return after − before on common firms, with its paired 95 % interval."""
    return difference(before, after, ACCURACY, RESAMPLES, _SEED)
