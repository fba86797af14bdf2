"""Original distances of random pairs of vectors, or of all pairs."""

from __future__ import annotations

import numpy as np

from wordgeom.methods.mde.graphs.keys import to_pairs
from wordgeom.methods.mde.graphs.neighbours import Points
from wordgeom.methods.mde.graphs.sampling import random_keys
from wordgeom.methods.mde.pairs import Pairs


def distances(points: Points, number: int, rng: np.random.Generator) -> Pairs:
    """Return the distances of `number` random pairs of points, or of all where there are fewer."""
    u = len(points.rows)
    keys = random_keys(u, number, rng, np.empty(0, np.int64))
    left, right = np.divmod(keys, u)
    given = points.distances(left, right)
    # Rows ascend, so that their pairs have the order of the points'.
    return to_pairs(points.rows[left] * points.items + points.rows[right], points.items, given)
