"""Step schedules: the rate of each step, by its number from 0."""

from __future__ import annotations

from collections.abc import Callable

Schedule = Callable[[int], float]


def inverse_time(rate: float, decay: float = 0.0) -> Schedule:
    """Return rate / (1 + decay · step): Σ rates diverges and Σ rates² converges for decay > 0.

    These are the conditions of Robbins and Monro (1951). Without decay the rate is constant.
    """
    return lambda step: rate / (1.0 + decay * step)
