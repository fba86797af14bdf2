"""The reductions that `compress` chooses from, by name.

A reduction takes vectors (V × D), a dimension K and a context, and returns (V × r) float32, r ≤ K.
Only the directions of its vectors matter: compressed vectors have the norms of the original ones.
`svd-unit` is the SVD of the unit vectors, in which rare words weigh as much as frequent ones. `tsm`
matches the thresholded similarities of the unit vectors (Saul 2022). A new one is an entry here,
and a name in `vectors/options.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import InputError, RankError
from wordgeom.core.types import Float32
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.norms import with_norms
from wordgeom.vectors.options import TSM
from wordgeom.vectors.reduction import svd

_PENALTY = 0.1  # on reconstruction weights: less keeps angles better, and fewer neighbours
MATCHED = 10_000  # vectors that tsm matches; of more, as many landmarks, and extends to the others
_TRIED = 3 * MATCHED  # vectors of a trial: enough of them are extended to
_SHARE, _MOST_SHARE = 0.01, 0.1  # of the pairs
_SIMILAR = 50  # others that are similar to a vector, on average
_NEIGHBOURS = 128  # that reconstruct a vector, at most: the time of the weights is cubic
_UPDATES = 100  # later ones gain little: docs/guide/compress.md


@dataclass(frozen=True)
class Reducer:
    """A reduction, and on how many vectors `--reducer best` tries it.

    most: of more vectors, on as many drawn ones before on all; None: on all.
    """

    reduce: Callable[[Vectors, int, Context], Float32]
    most: int | None = None


def _matched(vectors: Vectors, K: int, context: Context) -> Float32:
    """Return the vectors of tsm; raises InputError where they cannot be matched."""
    from wordgeom.methods.tsm import method, options

    units = Vectors(vectors.words, _units(vectors.matrix))
    rows = int(np.count_nonzero(units.matrix.any(axis=1)))
    share = _similar_share(min(rows, MATCHED))
    how = options.Options(dim=K, sparsity=1.0 - share, updates=_UPDATES)
    if rows > MATCHED:
        near = min(2 * K, _NEIGHBOURS)
        how = how.but(
            landmarks=MATCHED, landmark_choice=options.RANDOM, neighbours=near,
            weight_penalty=_PENALTY,
        )  # fmt: skip
    try:
        made = method.fit({"vectors": units}, how, context)
    except (InputError, RankError) as error:
        do = "lower --dim, or choose another --reducer"
        raise InputError(f"tsm: {error.what}", found=error.found, do=do) from error
    return np.ascontiguousarray(made.vectors[:, : made.statistics["effective_rank"]])


def _similar_share(rows: int) -> float:
    """Return the share of the pairs that are similar: the nearest neighbours must be among them."""
    return min(max(_SHARE, _SIMILAR / max(rows, 1)), _MOST_SHARE)


def _units(matrix: Float32) -> Float32:
    return with_norms(matrix, np.ones(len(matrix)))


REDUCERS = {
    "svd": Reducer(lambda vectors, K, context: svd(vectors.matrix, K, context.pool)),
    "svd-unit": Reducer(lambda vectors, K, context: svd(_units(vectors.matrix), K, context.pool)),
    TSM: Reducer(_matched, _TRIED),
}
