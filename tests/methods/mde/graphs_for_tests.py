"""Small problems: random pairs, and distortion functions that are smooth at 0."""

from __future__ import annotations

import numpy as np

from wordgeom.methods.mde.pairs import Pairs
from wordgeom.methods.mde.problem import Term


class Square:
    """w d²."""

    def at(self, distances, given, xp):
        return given * distances**2, 2.0 * given


class Bell:
    """w exp(−d²), which is repulsive."""

    def at(self, distances, given, xp):
        values = given * xp.exp(-(distances**2))
        return values, -2.0 * values


def random_pairs(rng, items, size):
    """`size` distinct pairs of items with random weights."""
    rows, columns = np.triu_indices(items, 1)
    chosen = np.sort(rng.choice(len(rows), size, replace=False))
    given = rng.random(size, np.float32) + np.float32(0.5)
    return Pairs(rows[chosen].astype(np.int32), columns[chosen].astype(np.int32), given)


def two_terms(rng, items=40, size=90):
    """Attraction and repulsion."""
    return [Term(random_pairs(rng, items, size), Square()),
            Term(random_pairs(rng, items, size // 2), Bell())]  # fmt: skip


def dense(pairs, items):
    """The Laplacian of the weights, dense."""
    weights = np.zeros((items, items))
    weights[pairs.left, pairs.right] = pairs.given
    weights += weights.T
    return np.diag(weights.sum(axis=1)) - weights
