"""Items that a step threw far from all others.

Attraction falls with distance, so that such an item would take hundreds of steps to return.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array
from wordgeom.methods.mde.pairs import Pairs

_SHARE, _TIMES = 0.99, 1.5  # a stray is this many times as far out as this share of the items


def without_strays(vectors: Array, similar: Pairs) -> Array:
    """Return vectors (n × m) with each stray at the mean of the similar items that are none.

    A stray without such an item stays: it belongs to a component of its own.
    """
    apart = np.linalg.norm(vectors - np.median(vectors, axis=0), axis=1)
    stray = apart > _TIMES * np.quantile(apart, _SHARE)
    if not stray.any():
        return vectors
    sums, number = np.zeros(vectors.shape), np.zeros(len(vectors))
    for one, other in ((similar.left, similar.right), (similar.right, similar.left)):
        back = stray[one] & ~stray[other]
        np.add.at(sums, one[back], vectors[other[back]])
        np.add.at(number, one[back], 1.0)
    moved, placed = vectors.copy(), number > 0
    moved[placed] = sums[placed] / number[placed, None]
    return moved
