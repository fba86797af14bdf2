"""Kernels of near pairs: the histogram of cosines, and sums over pairs above a threshold."""

from __future__ import annotations

import math

import numpy as np

from wordgeom.core.types import Float64, Int64
from wordgeom.runtime.jit import kernel

STEPS = 1 << 15  # bins of the cosines in an interval of 1


@kernel
def count_cosines(cosines: Float64, rows: Int64, first: int, counts: Int64) -> None:
    """Add the cosines (R × T) of words `rows` with words first … to counts (2 · STEPS + 1).

    Bin b counts the cosines in ((b − 1) / STEPS − 1, b / STEPS − 1]. A word with itself is left
    out.
    """
    for r in range(len(rows)):
        for j in range(cosines.shape[1]):
            if rows[r] != first + j:
                place = math.ceil((cosines[r, j] + 1.0) * STEPS)
                counts[min(max(place, 0), 2 * STEPS)] += 1


@kernel
def add_near_pairs(
    theirs: Float64, ours: Float64, tau: float, rows: Int64, first: int, sums: Float64
) -> None:
    """Add to sums (R × 4) what is near among words `rows` and words first …, by both cosines.

    theirs, ours (R × T): cosines in the reference and in the vectors. sums: differences of the
    angles of pairs near in the reference, and the numbers of pairs that are near in the reference,
    in the vectors and in both.
    """
    for r in range(len(rows)):
        for j in range(theirs.shape[1]):
            x, y = theirs[r, j], ours[r, j]
            if rows[r] == first + j:  # 1, or 0 for a zero vector, but for rounding
                x, y = np.rint(x), np.rint(y)
            near, kept = min(x, 1.0) > tau, min(y, 1.0) > tau
            if near:
                sums[r, 0] += abs(_angle(x) - _angle(y))
                sums[r, 1] += 1.0
                sums[r, 3] += kept
            sums[r, 2] += kept


@kernel
def add_angles(
    theirs: Float64, ours: Float64, rows: Int64, first: int, counts: Int64, nearest: Float64
) -> None:
    """Add the pairs of words `rows` and words first … to counts (B × B) of their angles.

    theirs, ours (R × T): cosines in the reference and in the vectors; counts: B bins of [0, π], by
    the angle in the reference, then in the vectors. A word with itself is left out. nearest (R × 2)
    becomes the largest reference cosine of a row so far, and the same pair's cosine in the vectors.
    """
    for r in range(len(rows)):
        for j in range(theirs.shape[1]):
            if rows[r] != first + j:
                x, y = theirs[r, j], ours[r, j]
                counts[_bin(x, len(counts)), _bin(y, len(counts))] += 1
                if x > nearest[r, 0]:
                    nearest[r, 0], nearest[r, 1] = x, y


@kernel
def _bin(cosine: float, bins: int) -> int:
    """Return the bin of the angle of a cosine, of equal bins of [0, π]."""
    return min(int(_angle(cosine) / math.pi * bins), bins - 1)


@kernel
def _angle(cosine: float) -> float:
    return math.acos(min(max(cosine, -1.0), 1.0))
