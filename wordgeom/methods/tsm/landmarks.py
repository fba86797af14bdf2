"""Which items are embedded first: the most frequent, random ones, or far ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from wordgeom.core.types import Float32, Int64
from wordgeom.linalg.blas import one_thread
from wordgeom.methods.tsm.options import FREQUENCY, RANDOM
from wordgeom.runtime.context import Context

_ROWS = 8192  # rows of a product


def choose_landmarks(units: Float32, m: int, how: str, context: Context) -> Int64:
    """Return m of n rows, ascending; units (n × K) of length 1, most frequent first."""
    if how == FREQUENCY:
        return np.arange(m)
    if how == RANDOM:
        return np.sort(context.rng.choice(len(units), m, replace=False))
    places = context.progress.follow(
        _farthest_first(units, m, context), "landmarks", m, "items", lambda _: 1
    )
    return np.sort(np.fromiter(places, np.int64, m))


def _farthest_first(units: Float32, m: int, context: Context) -> Iterator[int]:
    """Yield row 0, then each time the row with the lowest largest cosine to those before."""
    blocks = [slice(at, at + _ROWS) for at in range(0, len(units), _ROWS)]
    nearest = np.full(len(units), -np.inf, np.float32)
    chosen = 0
    for _ in range(m):
        yield chosen
        with one_thread():
            cosines = list(context.pool.each(partial(_product, units, chosen), blocks))
        np.maximum(nearest, np.concatenate(cosines), out=nearest)
        nearest[chosen] = np.inf
        chosen = int(nearest.argmin())


def _product(units: Float32, row: int, block: slice) -> Float32:
    return np.asarray(units[block] @ units[row])
