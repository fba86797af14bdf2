"""How much the gradient of an item changes with its vector, relative to other items.

The Hessian of the average distortion is a sum over pairs, so that its diagonal grows with the
number of pairs that an item is in. Neighbourhoods give some items many times as many pairs as
others. Repulsive pairs do not count: their curvature is small, and negative along the pair. An
item with few similar pairs has a least value, or the repulsive ones alone would throw it far.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.methods.mde.problem import Term

_LEAST = 0.5  # of the mean


def curvatures(terms: Sequence[Term], items: int) -> Float64:
    """Return the number of pairs of the first term at each item, relative to the mean (n)."""
    pairs = terms[0].pairs
    degrees = np.bincount(np.concatenate([pairs.left, pairs.right]), minlength=items)
    return np.asarray(np.maximum(degrees / degrees.mean(), _LEAST), np.float64)
