"""The nearest neighbours of the words on a map, in as few bits as their row numbers take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Bytes, Int64
from wordgeom.linalg.nearest_neighbours import nearest
from wordgeom.plot.map.words import Space
from wordgeom.runtime.pool import Pool, available_cpus

MOST = 10  # neighbours of a word


@dataclass(frozen=True, eq=False)
class Near:
    """The k nearest words of each of n, the nearest first.

    rows (n × k): n for none; cosines (n × k), None by distance; recall: of a sample.
    """

    rows: Int64
    cosines: Array | None
    recall: float


def near_words(space: Space) -> Near:
    """Return up to ten neighbours of each word among the n of the map; zero vectors have none."""
    n = len(space.points)
    k = min(MOST, n - 1)
    valid = np.flatnonzero(space.points.any(axis=1)) if space.cosine else np.arange(n)
    rows, squared = np.full((n, k), n), np.full((n, k), np.inf)
    found = min(k, len(valid) - 1)
    recall = 1.0
    if found > 0:
        with Pool(available_cpus()) as pool:
            result = nearest(space.points[valid], found, pool)
        rows[valid, :found], squared[valid, :found] = valid[result.indices], result.squared
        recall = result.recall
    return Near(rows, 1 - squared / 2 if space.cosine else None, recall)


def packed(rows: Int64, bits: int) -> bytes:
    """Return whole numbers below 2^bits, each in `bits` bits, the highest first."""
    flat = rows.ravel()
    planes: Bytes = np.empty((len(flat), bits), np.uint8)
    for bit in range(bits):
        planes[:, bit] = (flat >> (bits - 1 - bit)) & 1
    return np.packbits(planes).tobytes()
