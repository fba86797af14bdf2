"""Nearest neighbours of words at a time, and the words that are attested near it.

Elsewhere a word's vector is an extrapolation of its polynomial.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Csr, Float64, Int64
from wordgeom.linalg.exact_search import Searcher
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress

_SHARE = 10  # a tenth of all documents counts as near a time


def nearest_words(
    units: Float64, rows: Int64, k: int, pool: Pool, progress: Progress, what: str
) -> list[list[int]]:
    """Return for each of the rows its k nearest neighbours by cosine, the nearest first.

    units (p × r): unit vectors, or zeros for words that neither have nor are neighbours.
    """
    nonzero = np.flatnonzero(units.any(axis=1))
    k = min(k, len(nonzero) - 1)
    if k < 1 or not len(rows):
        return [[] for _ in rows]
    searcher = Searcher(units, pool)
    nearest, _ = searcher.nearest(k, queries=rows, targets=nonzero, progress=progress, what=what)
    return [
        near.tolist() if units[row].any() else []
        for row, near in zip(rows.tolist(), nearest, strict=True)
    ]


def attested(X: Csr, times: Float64, time: float) -> Array:
    """Return a mask (p) of the words in the tenth of documents X (n × p) nearest to a time.

    times (n). Documents at the same distance as the last of the tenth all count.
    """
    distance = np.abs(times - time)
    limit = np.sort(distance)[max(0, len(times) // _SHARE - 1)]
    mask = np.zeros(X.columns, bool)
    mask[X.select(np.flatnonzero(distance <= limit)).indices] = True
    return mask
