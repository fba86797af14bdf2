"""Similar pairs of vectors: each with its nearest neighbours (§4.3.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.linalg.nearest_neighbours import nearest
from wordgeom.methods.mde.graphs.keys import mutual
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress

COSINE, EUCLIDEAN = "cosine", "euclidean"
METRICS = (COSINE, EUCLIDEAN)


@dataclass(frozen=True)
class Points:
    """The items that have a place: rows (u) of the n items, ascending, and their points (u × d)."""

    items: int
    rows: Int64
    points: Float64

    def distances(self, left: Array, right: Array) -> Float64:
        """Return the distances (p) of two lists of positions in `rows`, a block at a time."""
        found = np.empty(len(left))
        for start in range(0, len(left), 1 << 14):
            part = slice(start, start + (1 << 14))
            apart = self.points[left[part]] - self.points[right[part]]
            found[part] = np.sqrt(np.einsum("ij,ij->i", apart, apart))
        return found


@dataclass(frozen=True)
class Neighbourhood:
    """The similar pairs; recall: of the search for neighbours, 1 where it was exact."""

    pairs: Pairs
    recall: float


def points_of(vectors: Array, metric: str) -> Points:
    """Return the points of finite vectors (n × d); metric: COSINE or EUCLIDEAN.

    For cosines, the vectors are scaled to length 1, so that ‖u − v‖² = 2 − 2 cos; zero vectors have
    no direction and are left out.
    """
    points = vectors.astype(np.float64)
    rows = np.arange(len(points))
    if metric == COSINE:
        largest = np.abs(points).max(axis=1, initial=0.0)
        rows = np.flatnonzero(largest > 0.0)
        points = points[rows] / largest[rows, None]  # the squares of tiny numbers would vanish
        points /= np.sqrt(np.einsum("ij,ij->i", points, points))[:, None]
    return Points(len(vectors), rows, points)


def neighbours(
    points: Points, k: int, pool: Pool, progress: Progress | None = None
) -> Neighbourhood:
    """Return each point with its k nearest neighbours, or with all where there are fewer.

    The weight is 2 where both are neighbours of one another, else 1. Ties go to the lower row.
    """
    u = len(points.rows)
    found = nearest(points.points, min(k, u - 1), pool, progress)
    rows = points.rows[np.repeat(np.arange(u), found.indices.shape[1])]
    chosen = points.rows[found.indices.ravel()]
    return Neighbourhood(mutual(rows, chosen, points.items), found.recall)
