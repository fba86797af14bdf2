"""Dissimilar pairs of a map: each item with those nearest to it, and a random share of the others.

Most of the repulsion of an item is that of the few items close to it, which uniform pairs rarely
contain. All pairs of nearest items are taken instead, and random pairs stand for the rest. Weights
are those by which the sum over the sample estimates the sum over all dissimilar pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from wordgeom.core.types import Array, Int64
from wordgeom.methods.mde.graphs.keys import distinct, keys_of, merged, to_keys, to_pairs
from wordgeom.methods.mde.graphs.sampling import random_keys, within
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.runtime.pool import Pool

_BLOCK = 1 << 13  # items whose nearest are searched at once


@dataclass(frozen=True)
class Sample:
    """How dissimilar pairs of n items are drawn.

    nearest: number of nearest items of each; random: number of random pairs; each: weight of a
    dissimilar pair; given: dissimilar pairs of a file, which stay; without: ascending keys of the
    pairs that are not drawn, which are those and the similar ones.
    """

    items: int
    nearest: int
    random: int
    each: float
    given: Pairs
    without: Int64

    def less(self, hidden: Int64) -> Sample:
        """Return the sample without the pairs of some keys."""
        used = ~np.isin(keys_of(self.given, self.items), hidden)
        return replace(self, given=self.given.chosen(used), without=_united(self.without, hidden))

    def uniform(self, keys: Int64) -> Pairs:
        """Return drawn pairs (p) with weights by which they stand for all."""
        return to_pairs(keys, self.items, np.full(len(keys), self._share(len(keys), 0)))

    def drawn(self, vectors: Array, rng: np.random.Generator, pool: Pool) -> Pairs:
        """Return the pairs for vectors (n × m), which are finite."""
        near = nearest_keys(vectors, self.nearest, pool)
        near = near[~within(near, self.without)]
        other = random_keys(self.items, self.random, rng, _united(near, self.without))
        weights = np.repeat(
            (self.each, self._share(len(other), len(near))), (len(near), len(other))
        )
        keys = np.concatenate((near, other))
        order = np.argsort(keys, kind="stable")
        drawn = to_pairs(keys[order], self.items, weights[order])
        return merged(self.given, drawn, self.items)

    def _share(self, number: int, near: int) -> float:
        """Return the weight of each of some random pairs, which stand for all but the near ones."""
        total = self.items * (self.items - 1) // 2 - len(self.without)
        return self.each * (total - near) / max(1, number)


def nearest_keys(vectors: Array, k: int, pool: Pool) -> Int64:
    """Return the keys, ascending, of each row (n × m) with its k nearest; m should be small."""
    from scipy.spatial import KDTree

    n = len(vectors)
    tree = KDTree(vectors)

    def found(first: int) -> Int64:
        rows = np.arange(first, min(first + _BLOCK, n))
        others = tree.query(vectors[rows], min(k + 1, n))[1]
        rows = np.repeat(rows, others.shape[1])
        others = others.ravel()
        apart = rows != others  # of equal rows, a row may be not its own nearest
        return distinct(to_keys(rows[apart], others[apart], n))

    return distinct(np.concatenate(list(pool.map(found, range(0, n, _BLOCK)))))


def _united(one: Int64, other: Int64) -> Int64:
    return distinct(np.concatenate((one, other)))
