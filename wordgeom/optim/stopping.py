"""When an optimisation has settled: its last values hardly differ."""

from __future__ import annotations

from collections.abc import Sequence


def settled(values: Sequence[float], tol: float, span: int) -> bool:
    """Return whether the last `span` steps changed the value by at most tol, relatively.

    values: before the first step and after each. tol 0: never.
    """
    if len(values) <= span or tol <= 0.0:
        return False
    before = values[-1 - span]
    return abs(before - values[-1]) <= tol * abs(before)
