"""Random pairs, uniform and without replacement."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Int64
from wordgeom.methods.mde.graphs.keys import distinct, keys_of, to_keys, to_pairs
from wordgeom.methods.mde.pairs import Pairs

_DENSE = 4  # all pairs are listed where they are at most this many times those in question
_MORE = 1.1  # pairs to draw for each missing one, since some are drawn twice


def dissimilar(similar: Pairs, n: int, number: int, rng: np.random.Generator) -> Pairs:
    """Return `number` random pairs of n items that are not similar, or all where there are fewer.

    Their weight is 1.
    """
    keys = random_keys(n, number, rng, keys_of(similar, n))
    return to_pairs(keys, n, np.ones(len(keys)))


def random_keys(n: int, number: int, rng: np.random.Generator, without: Int64) -> Int64:
    """Return the keys of random pairs of n items, ascending; all where there are too few.

    without: ascending keys of pairs that are not drawn.
    """
    total = n * (n - 1) // 2
    number = min(number, total - len(without))
    if total <= _DENSE * (number + len(without)):
        keys = np.setdiff1d(_every(n), without, assume_unique=True)
        if number == len(keys):
            return keys
        return np.sort(rng.permutation(keys)[:number])
    # All pairs are alike in what follows, so that each set of pairs is as likely as any other.
    drawn = np.empty(0, np.int64)
    while len(drawn) < number:
        one, other = rng.integers(0, n, (2, int(_MORE * (number - len(drawn))) + 16))
        keys = np.sort(to_keys(one, other, n)[one != other])  # ascending ones are looked up faster
        drawn = distinct(np.concatenate((drawn, keys[~within(keys, without)])))
    return np.delete(drawn, rng.choice(len(drawn), len(drawn) - number, replace=False))


def _every(n: int) -> Int64:
    """Return the keys of all pairs of n items, ascending."""
    left, right = np.triu_indices(n, 1)
    return to_keys(left, right, n)


def within(keys: Int64, ascending: Int64) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return whether each key occurs among the ascending ones."""
    if not len(ascending):
        return np.zeros(len(keys), bool)
    places = np.searchsorted(ascending, keys)
    return np.asarray(ascending[np.minimum(places, len(ascending) - 1)] == keys)
