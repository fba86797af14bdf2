"""What a distortion function is, and what all of them share.

A distortion function is a frozen dataclass in a file of its own; its fields are its parameters. It
says f and f′ at distances in [0, FAR]; `at` divides f′ by the distance, since the gradient of the
average distortion is a sum of f′(d)/d · (xᵢ − xⱼ). Barriers are infinite at 0, which tells a solver
that vectors coincide, and constant up to NEAR. The limits keep all other results within the range
of float32.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

Numbers = Any  # (b), an array of NumPy or a tensor of Torch

NEAR = 1e-5  # where a barrier stops to rise, except at 0
FAR = 1e9  # distances beyond count as this
LEAST = 1e-12  # divisors below count as this
_SMALLEST = 1e-30  # bases of powers below count as this
_LIMIT = 41.0  # |log| of a power: 6e17


class Distortion(ABC):
    """A distortion function of the distances of pairs."""

    name: ClassVar[str]
    least: ClassVar[float] = LEAST  # distances below count as this when f′ is divided by them
    barrier: ClassVar[bool] = False  # whether f is infinite at 0
    divides: ClassVar[bool] = False  # whether it needs deviations above 0

    def at(self, distances: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers]:
        """Return f and f′(d)/d (b each) at distances d ≥ 0 (b); f′(d)/d is 0 at d = 0.

        given (b): weights > 0, or deviations ≥ 0; xp: numpy or torch. The result has the dtype of
        the distances.
        """
        d = xp.clip(distances, 0.0, FAR)
        f, derivative = self.values(d, given, xp)
        if self.barrier:
            f = xp.where((d > 0.0) | (given <= 0.0), f, xp.inf)
        return f, xp.where(d > 0.0, derivative / xp.clip(d, self.least, None), 0.0)

    @abstractmethod
    def values(self, d: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers]:
        """Return f and f′ (b each) at distances 0 ≤ d ≤ FAR, both finite."""


def power(base: Numbers, exponent: float, xp: Any) -> Numbers:
    """Return base^exponent (b) of bases in [0, FAR], between 1e-18 and 1e18 or exactly 0."""
    if exponent == 1.0:
        return base
    if exponent == 2.0:
        return base * base
    if exponent == 1.5:  # the default of log1p: three times as fast as by logarithms
        return base * xp.sqrt(base)
    logs = exponent * xp.log(xp.clip(base, _SMALLEST, None))
    raised = xp.exp(xp.clip(logs, -_LIMIT, _LIMIT))
    return xp.where(base > 0.0, raised, 0.0) if exponent > 0.0 else raised
