"""Extrapolation of what grows with a text: words, entries, bytes and seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from statistics import fmean, median

_DAMPING = 0.5  # of the change of the exponent, from one doubling to the next
_STEP = math.log(2)


def power_law(sizes: Sequence[float], values: Sequence[float], size: float) -> float:
    """Return the value at `size` of what grows as a power of it, as words do (Heaps' law).

    The exponent is that between two sizes: the next ones, or beyond all of them the last. It
    changes with size, as vocabularies saturate: there, the change seen so far continues, halved at
    each doubling. It stays within [0, 2].
    """
    x = [math.log(one) for one in sizes]
    y = [math.log(max(one, 1e-9)) for one in values]
    slopes = [(y[k + 1] - y[k]) / (x[k + 1] - x[k]) for k in range(len(x) - 1)]
    slope = slopes[-1]
    change = (slopes[-1] - slopes[-2]) * _STEP / (x[-1] - x[-2]) if len(slopes) > 1 else 0.0
    at, level, goal = x[-1], y[-1], math.log(size)
    for k in range(len(x) - 1):
        if goal < x[k + 1]:  # between two sizes, or below the first
            return math.exp(y[k + 1] - slopes[k] * (x[k + 1] - goal))
    while at < goal - 1e-12:
        step = min(_STEP, goal - at)
        change *= _DAMPING
        slope = min(max(slope + change * step / _STEP, 0.0), 2.0)
        level, at = level + slope * step, at + step
    return math.exp(level)


def bounded_power(
    sizes: Sequence[float], values: Sequence[float], size: float, bounds: tuple[float, float]
) -> float:
    """Return the value at `size` of a power of it with an exponent within bounds.

    The exponent is that from the first to the last size. The bounds are for values with noise, such
    as memory, some of which an allocator keeps: a free exponent would magnify that.
    """
    least = [max(one, 1.0) for one in values]
    slope = math.log(least[-1] / least[0]) / math.log(sizes[-1] / sizes[0])
    return least[-1] * math.pow(size / sizes[-1], min(max(slope, bounds[0]), bounds[1]))


def line(sizes: Sequence[float], values: Sequence[float], size: float) -> float:
    """Return the value at `size` of what grows in proportion, after a start, such as seconds.

    The slope is the median of those between two sizes (Theil and Sen), at least 0: a pilot that
    another program slowed down does not decide it. The line goes through the mean of the values.
    """
    pairs = combinations(zip(sizes, values, strict=True), 2)
    slopes = [(v - u) / (b - a) for (a, u), (b, v) in pairs if b > a]
    rise = max(median(slopes), 0.0) if slopes else 0.0
    return fmean(values) + rise * (size - fmean(sizes))
