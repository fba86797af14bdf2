"""A line search for the strong Wolfe conditions: Nocedal and Wright (2006), algorithms 3.5, 3.6."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_DECREASE, _CURVATURE = 1e-4, 0.9  # c₁ and c₂, as usual for quasi-Newton directions
_MOST = 30  # evaluations
_NEAR_END = 0.1  # of an interval, where an interpolated step is not trusted
_GROWTH = 4.0  # of a step that may be longer


@dataclass(frozen=True)
class Point:
    """A step along the line: value and slope there, and what the caller wants to keep."""

    step: float
    value: float
    slope: float
    kept: Any

    @property
    def finite(self) -> bool:
        """Whether value and slope are numbers."""
        return math.isfinite(self.value) and math.isfinite(self.slope)


Probe = Callable[[float], Point]


def wolfe_step(probe: Probe, start: Point, first: float) -> Point | None:
    """Return a point that meets the strong Wolfe conditions, or the best decrease found.

    start: the point at step 0, whose slope is negative; first: the step to try first. Returns None
    where no step decreases the value: rounding, or a direction that is not one of descent.
    """
    low, step = start, first
    for k in range(_MOST):
        point = probe(step)
        if not _decreases(point, start) or (k and point.value >= low.value):
            return _zoom(probe, start, low, point, _MOST - k - 1)
        if abs(point.slope) <= -_CURVATURE * start.slope:
            return point
        if point.slope >= 0.0:
            return _zoom(probe, start, point, low, _MOST - k - 1)
        low, step = point, _GROWTH * step
    return low


def _zoom(probe: Probe, start: Point, low: Point, high: Point, most: int) -> Point | None:
    """Return a point between `low`, the best so far, and `high`, as `wolfe_step` does."""
    for _ in range(most):
        step = _interpolated(low, high)
        if step in (low.step, high.step):  # the interval has no number inside
            break
        point = probe(step)
        if not _decreases(point, start) or point.value >= low.value:
            high = point
            continue
        if abs(point.slope) <= -_CURVATURE * start.slope:
            return point
        if point.slope * (high.step - low.step) >= 0.0:
            high = low
        low = point
    return None if low is start else low


def _decreases(point: Point, start: Point) -> bool:
    wanted = start.value + _DECREASE * point.step * start.slope
    return point.finite and point.value <= wanted


def _interpolated(low: Point, high: Point) -> float:
    """Return the minimum of the cubic through both points, or the middle where it is not inside."""
    width = high.step - low.step
    middle = low.step + 0.5 * width
    if not high.finite:
        return low.step + 0.1 * width
    d1 = low.slope + high.slope - 3.0 * (low.value - high.value) / (low.step - high.step)
    square = d1 * d1 - low.slope * high.slope
    if square < 0.0:
        return middle
    d2 = math.copysign(math.sqrt(square), width)
    below = high.slope - low.slope + 2.0 * d2
    if below == 0.0:
        return middle
    step = high.step - width * (high.slope + d2 - d1) / below
    ends = sorted((low.step + _NEAR_END * width, high.step - _NEAR_END * width))
    return step if ends[0] <= step <= ends[1] else middle
