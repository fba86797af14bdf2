"""The weighted quadratic loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from wordgeom.methods.mde.distortions.distortion import Distortion, Numbers, power


@dataclass(frozen=True)
class Weighted(Distortion):
    """(δ − d)² / δ^exponent: 1 is Sammon's map, 2 Kamada and Kawai's and PyMDE's; 0 for δ = 0."""

    name: ClassVar[str] = "weighted"
    divides: ClassVar[bool] = True
    exponent: float = 2.0

    def values(self, d: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers]:
        """Return f and f′ (b each)."""
        over = d - given
        weight = xp.where(given > 0.0, power(given, -self.exponent, xp), 0.0)
        return weight * over * over, 2.0 * weight * over
