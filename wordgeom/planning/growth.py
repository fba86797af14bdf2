"""Extrapolation of what grows with a text: words, entries, bytes and seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence

_DAMPING = 0.5  # of the change of the exponent, from one doubling to the next
_STEP = math.log(2)


def power_law(sizes: Sequence[float], values: Sequence[float], size: float) -> float:
    """Return the value at `size` of what grows as a power of it, as words do (Heaps' law).

    The exponent is that between the last two sizes. It changes with size, as vocabularies saturate:
    the change seen so far continues, halved at each doubling. It stays within [0, 2].
    """
    x = [math.log(one) for one in sizes]
    y = [math.log(max(one, 1e-9)) for one in values]
    slopes = [(y[k + 1] - y[k]) / (x[k + 1] - x[k]) for k in range(len(x) - 1)]
    slope = slopes[-1]
    change = (slopes[-1] - slopes[-2]) * _STEP / (x[-1] - x[-2]) if len(slopes) > 1 else 0.0
    at, level, goal = x[-1], y[-1], math.log(size)
    while at < goal - 1e-12:
        step = min(_STEP, goal - at)
        change *= _DAMPING
        slope = min(max(slope + change * step / _STEP, 0.0), 2.0)
        level, at = level + slope * step, at + step
    return math.exp(level)


def line(sizes: Sequence[float], values: Sequence[float], size: float) -> float:
    """Return the value at `size` of what grows in proportion, after a start: seconds and memory.

    The line goes through the last value; its slope is that from the first to the last, at least 0.
    """
    rise = (values[-1] - values[0]) / (sizes[-1] - sizes[0]) if sizes[-1] > sizes[0] else 0.0
    return values[-1] + max(rise, 0.0) * (size - sizes[-1])
