"""Kernels of neighbourhood measures: distances of some rows to all, and what ranks they give."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float32, Float64, Int64
from wordgeom.runtime.jit import kernel

_BLOCK = 512  # points: 100 dimensions of them fit in the L2 cache
_VALUES = 2048  # distances that fit in the L1 cache
_SCANNED = 48  # candidates, up to which scanning all distances is faster than sorting them


@kernel
def squared_distances(columns: Float32, norms: Float64, rows: Int64) -> Float64:
    """Return the squared distances (R × n) of some rows (R) to all points, inf to themselves.

    columns (d × n): the points, divided by norms (n). Each sum runs over the dimensions in their
    order, with IEEE rounding, so that equal points are at equal distances and d(i, j) = d(j, i).
    """
    d, n = columns.shape
    even = len(rows) + len(rows) % 2  # two rows at once: each number is loaded half as often
    found, own = np.zeros((even, n)), np.zeros((even, d))
    for r in range(len(rows)):
        for c in range(d):
            own[r, c] = columns[c, rows[r]] / norms[rows[r]]
    block = np.empty((d, _BLOCK))
    for first in range(0, n, _BLOCK):
        width = min(_BLOCK, n - first)
        for c in range(d):
            column, target = columns[c, first : first + width], block[c]
            for j in range(width):
                target[j] = column[j] / norms[first + j]
        for r in range(0, even, 2):
            sums = found[r, first : first + width], found[r + 1, first : first + width]
            _add_squares(block, own[r], own[r + 1], sums[0], sums[1])
    for r in range(len(rows)):
        found[r, rows[r]] = np.inf
    return found[: len(rows)]


@kernel
def _add_squares(
    block: Float64, first: Float64, second: Float64, sums: Float64, others: Float64
) -> None:
    """Add the squared differences of two points (d) and a block (d × ·) to their sums."""
    c, n = 0, len(sums)
    while c + 4 <= len(first):  # four dimensions at once: sums are loaded and stored less often
        p, q, r, s = first[c], first[c + 1], first[c + 2], first[c + 3]
        t, u, v, w = second[c], second[c + 1], second[c + 2], second[c + 3]
        a, b, e, f = block[c, :n], block[c + 1, :n], block[c + 2, :n], block[c + 3, :n]
        for j in range(n):
            g, h, i, k = a[j] - p, b[j] - q, e[j] - r, f[j] - s
            sums[j] = (((sums[j] + g * g) + h * h) + i * i) + k * k
            g, h, i, k = a[j] - t, b[j] - u, e[j] - v, f[j] - w
            others[j] = (((others[j] + g * g) + h * h) + i * i) + k * k
        c += 4
    while c < len(first):
        p, t, a = first[c], second[c], block[c, :n]
        for j in range(n):
            sums[j] += (a[j] - p) * (a[j] - p)
            others[j] += (a[j] - t) * (a[j] - t)
        c += 1


@kernel
def neighbourhood_sums(ours: Float64, theirs: Float64, k: int, sums: Float64) -> None:
    """Write the rank sums of rows (R × n) of squared distances to sums (R × 3).

    sums: Σ max(rank in theirs − k, 0) over the k nearest in ours; the same with the sides changed;
    the number of neighbours that both share. Ties are in random order: a neighbour has a
    probability of being among the k nearest, and the sums are expected values.
    """
    for r in range(len(ours)):
        sums[r, 0], sums[r, 2] = _one_side(ours[r], theirs[r], k)
        sums[r, 1], _ = _one_side(theirs[r], ours[r], k)


@kernel
def _one_side(near: Float64, far: Float64, k: int) -> tuple[float, float]:
    """Return the rank sum in `far` over the k nearest in `near`, and how many both share."""
    limit = _kth_smallest(near, k)
    less, equal = 0, 0
    for j in range(len(near)):
        less += near[j] < limit
        equal += near[j] == limit
    chosen = np.empty(less + equal, np.int64)
    count = 0
    for j in range(len(near)):
        if near[j] <= limit:
            chosen[count] = j
            count += 1
    before, same = _counts(far, chosen)
    late, shared = 0.0, 0.0
    for c in range(len(chosen)):
        share = 1.0 if near[chosen[c]] < limit else (k - less) / equal
        # Ranks before + 1 … before + same are equally likely; those after k count.
        after = min(max(before[c] + same[c] - k, 0), same[c])
        last = before[c] + same[c] - k
        late += share * (after * (2 * last - after + 1) / 2 / same[c])
        shared += share * ((same[c] - after) / same[c])
    return late, shared


@kernel
def _kth_smallest(values: Float64, k: int) -> float:
    smallest = np.full(k, np.inf)
    for value in values:
        if value < smallest[k - 1]:
            place = k - 1
            while place > 0 and smallest[place - 1] > value:
                smallest[place] = smallest[place - 1]
                place -= 1
            smallest[place] = value
    return float(smallest[k - 1])


@kernel
def _counts(values: Float64, chosen: Int64) -> tuple[Int64, Int64]:
    """Return how many values are less than each chosen one, and how many equal it."""
    less, equal = np.zeros(len(chosen), np.int64), np.zeros(len(chosen), np.int64)
    if len(chosen) <= _SCANNED:
        for first in range(0, len(values), _VALUES):
            part = values[first : first + _VALUES]
            for c in range(len(chosen)):
                own, below, same = values[chosen[c]], 0, 0
                for j in range(len(part)):
                    below += part[j] < own
                    same += part[j] == own
                less[c] += below
                equal[c] += same
        return less, equal
    ordered = np.sort(values)
    for c in range(len(chosen)):
        own = values[chosen[c]]
        less[c] = np.searchsorted(ordered, own, "left")
        equal[c] = np.searchsorted(ordered, own, "right") - less[c]
    return less, equal
