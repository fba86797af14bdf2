"""The power penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from wordgeom.methods.mde.distortions.distortion import LEAST, Distortion, Numbers, power


@dataclass(frozen=True)
class Power(Distortion):
    """w d^α; convex from α = 1, not differentiable at 0 below α = 1. The default is quadratic."""

    name: ClassVar[str] = "power"
    exponent: float = 2.0

    def values(self, d: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers]:
        """Return f and f′ (b each)."""
        a = self.exponent
        if a == 1.0:
            return given * d, given + 0.0 * d
        return given * power(d, a, xp), (a * given) * power(xp.clip(d, LEAST, None), a - 1.0, xp)
