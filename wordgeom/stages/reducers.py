"""The reductions that `compress` chooses from, by name.

A reduction takes vectors (V × D), a dimension K and a context, and returns (V × r) float32, r ≤ K.
Only the directions of its vectors matter: compressed vectors have the norms of the original ones.
`svd-unit` is the SVD of the unit vectors, in which rare words weigh as much as frequent ones.
A new one is an entry here, and a name in `vectors/options.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wordgeom.core.types import Float32
from wordgeom.runtime.context import Context
from wordgeom.vectors.norms import with_norms
from wordgeom.vectors.reduction import svd

Reducer = Callable[[Float32, int, Context], Float32]
REDUCERS: dict[str, Reducer] = {
    "svd": lambda matrix, K, context: svd(matrix, K, context.pool),
    "svd-unit": lambda matrix, K, context: svd(_units(matrix), K, context.pool),
}


def _units(matrix: Float32) -> Float32:
    return with_norms(matrix, np.ones(len(matrix)))
