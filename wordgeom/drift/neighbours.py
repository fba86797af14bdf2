"""Nearest neighbours of words at a time."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64, Int64
from wordgeom.linalg.exact_search import Searcher
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress


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
